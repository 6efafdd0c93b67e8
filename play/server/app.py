"""The application: every request comes in here, is checked, and goes to what answers it."""

import asyncio
import re
import sys
import traceback
from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from play.server.allowance import Allowance, address_of
from play.server.api import Api
from play.server.desk import Desk
from play.server.documented import OPERATIONS, TABLE
from play.server.log import Log
from play.server.log_check import damage_lines
from play.server.matches import Matches
from play.server.openapi import document
from play.server.operations import Operation, Request
from play.server.pages import Pages, as_file, send_file
from play.server.problems import ANYONE, Problem, as_problem, error_reply, json_messages
from play.server.requests import words_of
from play.server.retention import MOST_OF_ONE
from play.server.worker import Worker
from solver.errors import Ttt4Error

_DYNAMIC = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/?#]+)(?::[0-9]+)?")
_PREFLIGHT = [
    *ANYONE,
    (b"access-control-allow-methods", b"GET, HEAD, POST"),
    (b"access-control-allow-headers", b"content-type, last-event-id"),
    (b"access-control-max-age", b"86400"),
]


class App:
    """The ASGI application."""

    def __init__(
        self, desk: Desk, log_path: str, *,
        limit: float | None = None, hosts: Collection[str] = (), most_of_one: int = MOST_OF_ONE,
    ) -> None:  # fmt: skip
        """Serve a desk's games, keep matches in a log, and answer to `hosts` besides addresses and localhost.

        An address gets `limit` units of work a second, and may have begun `most_of_one` matches that are kept.
        """
        self.desk = desk
        allowance = Allowance(limit)
        self.worker = Worker(*desk.settings, allowance)
        self.api = Api(desk, self.worker, allowance)
        self.log = Log(log_path, most_of_one=most_of_one)
        for line in damage_lines(self.log.check(), log_path):
            print(f"Error: {line}", file=sys.stderr)
        self._hosts = {"localhost", *(host.lower() for host in hosts)}
        self._good_hosts: set[bytes] = set()
        self._pages = Pages()
        self._openapi = as_file(document(OPERATIONS, allowance, most_of_one), "application/json", ANYONE)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, or the server's start and end."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        started = False

        async def sending(message: Any) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            self._require_own_host(scope)
            if scope["path"] == "/api/position" and scope["method"] == "GET":
                await self.api.lookup.handle(scope, receive, send)
                return
            await self._answer(scope, receive, sending)
            return
        except Ttt4Error as error:
            problem = as_problem(error)
        except asyncio.CancelledError:  # only an ending server does that, when it has waited long enough
            problem = Problem(503, "ending", "the server is ending: try again soon", wait=1.0)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            problem = Problem(500, "failed", "this should not have happened; the server's log says more")
        if not started:
            operation, _ = TABLE.at(scope["path"]).get(scope["method"], (None, None))
            await _send(error_reply(problem, everywhere=operation is None or operation.everywhere), send)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        path, method = scope["path"], scope["method"]
        described = path == "/api/openapi.json"
        if described and method in ("GET", "HEAD"):
            await send_file(self._openapi, scope, send)
            return
        operations = TABLE.at(path)
        file = None if operations else self._pages.find(path)
        if file and method in ("GET", "HEAD"):
            await send_file(file, scope, send)
            return
        if not operations and not file and not described:
            raise Problem(404, "not-found", f"there is nothing at {path[:80]!r}")
        if method == "OPTIONS" and any(operation.everywhere for operation, _ in operations.values()):
            await _send(
                ({"type": "http.response.start", "status": 204, "headers": _PREFLIGHT}, {"type": "http.response.body"}),
                send,
            )
            return
        if "GET" in operations:
            operations.setdefault("HEAD", operations["GET"])
        if method not in operations:
            allowed = ", ".join(sorted(operations) or ("GET", "HEAD"))
            raise Problem(
                405,
                "wrong-method",
                f"{method} does nothing here: use {allowed}",
                headers=[(b"allow", allowed.encode())],
            )
        operation, named = operations[method]
        self._require_own_origin(operation, scope)
        words = words_of(scope["query_string"], operation.query)
        reply = await operation.run(self.api, Request(scope, receive, send, address_of(scope), named, words))
        if reply is not None:
            everyone = ANYONE if operation.everywhere else []
            headers = [*_DYNAMIC, *everyone, *reply.headers]
            await _send(json_messages(reply.status, reply.body, headers), send)

    async def _live(self, receive: Any, send: Any) -> None:
        """Start and end with the server."""
        await receive()
        self.api.matches = Matches(self.log, self.desk, self.worker)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.api.matches.close()
        await self.worker.close()
        self.log.close()
        self.desk.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _require_own_host(self, scope: Any) -> None:
        """Raise Problem unless the request was meant for this server, and not for a name that somebody gave it."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) > 1:
            raise Problem(400, "several-hosts", f"the request names {len(hosts)} hosts: send one Host header")
        host = hosts[0] if hosts else b""
        if host in self._good_hosts:
            return
        if not self._is_own(host):
            raise Problem(421, "wrong-host", "this server has another name; start it with --allow-host to add one")
        if len(self._good_hosts) < 64:
            self._good_hosts.add(host)

    def _is_own(self, host: bytes) -> bool:
        found = _HOST.fullmatch(host.decode("latin-1").lower())
        if not found:
            return False
        with suppress(ValueError):
            ip_address(found[1].strip("[]"))  # which cannot be made to mean another machine later, as a name can
            return True
        return found[1] in self._hosts

    def _require_own_origin(self, operation: Operation, scope: Any) -> None:
        """Raise Problem if a page of another origin wants to change something."""
        if operation.method != "POST" or operation.everywhere:
            return
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
            raise Problem(403, "foreign-origin", "pages of other origins may not play here")


async def _send(messages: tuple[dict[str, Any], dict[str, Any]], send: Any) -> None:
    for message in messages:
        await send(message)
