"""Serving: bind an address, and run the application on it until a signal ends it."""

import asyncio
import gc
import json
import logging
import resource
import signal
import socket
import threading
import webbrowser
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from ipaddress import ip_address
from types import FrameType
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from play.server.allowance import address_of, is_loopback
from play.server.problems import Problem, error_dict
from solver.early import LINES
from solver.errors import Ttt4Error

_FILES = 16_384
"""How many files and connections the server may have open, if the system allows it."""

_BACKLOG = 2048

_MOST_HEAD_BYTES = 64 << 10
"""How much of a request's head may come after its first part."""

_SLOWEST = 20.0
"""How many seconds a request may take to come, head and body."""

_STALLED = 30.0
"""After how many seconds a client who takes nothing of what waits for it is let go."""


MOST_CONNECTIONS = 256
"""How many connections one address may have, if it is not this machine's or the reverse proxy's."""


class CannotListen(Ttt4Error):
    """The address cannot be bound."""

    kind = "cannot-listen"


class _Protocol(HttpToolsProtocol):
    """HTTP, with our shape of error for what is not HTTP at all, and an end to streams that nobody reads."""

    _open: ClassVar[Counter[str]] = Counter()
    """The connections of each address."""

    _patience: asyncio.TimerHandle | None = None
    _coming: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _incomplete = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_request()
        self._address = address_of({"client": self.client})
        self._open[self._address] += 1
        if self._open[self._address] > MOST_CONNECTIONS and not self._is_trusted():
            message = f"your address has {MOST_CONNECTIONS} connections: close some"
            self._refuse(Problem(503, "too-many-connections", message))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._incomplete = True

    def on_headers_complete(self) -> None:
        """Let a host that the target names count besides the Host header, unless they are the same."""
        if b"://" in self.url and not self.url.startswith(b"/"):
            named = (b"host", self.url.split(b"/")[2])
            if named not in self.headers:
                self.headers.append(named)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._incomplete = False
        self._cancel_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._cancel_waiting()
        self._open[self._address] -= 1
        if not self._open[self._address]:
            del self._open[self._address]

    def _is_trusted(self) -> bool:
        return is_loopback(self._address) or (self.client or ("",))[0] == self.config.forwarded_allow_ips

    def _await_request(self) -> None:
        """Give a request a while to come whole; afterwards uvicorn's own time for idle connections counts."""
        self._coming = self.loop.call_later(_SLOWEST, self.transport.abort)

    def _cancel_waiting(self) -> None:
        if self._coming:
            self._coming.cancel()
            self._coming = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._patience = self.loop.call_later(_STALLED, self.transport.abort)  # to close would wait for the client

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._patience:
            self._patience.cancel()

    def shutdown(self) -> None:
        super().shutdown()
        if self.cycle is not None and self.cycle.chunked_encoding:  # a stream, which has no end of its own
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            (self.transport.abort if self.flow.write_paused else self.transport.close)()

    def data_received(self, data: bytes) -> None:
        scope = self.scope
        super().data_received(data)
        if self._incomplete and self._coming is None:  # most requests come in one piece, and need no timer
            self._await_request()
        if scope is None or scope is not self.scope or (self.cycle is not None and self.cycle.scope is scope):
            self._head_bytes = 0
            return
        self._head_bytes += len(data)  # of a head that had begun before, and goes on
        if self._head_bytes > _MOST_HEAD_BYTES:
            self._refuse(Problem(431, "too-large", f"the headers are larger than {_MOST_HEAD_BYTES:,} bytes"))

    def send_400_response(self, msg: str) -> None:
        self._refuse(Problem(400, "bad-request", "this is not a valid HTTP request"))

    def _refuse(self, problem: Problem) -> None:
        body = json.dumps(error_dict(problem)).encode()
        status = HTTPStatus(problem.status)
        head = f"HTTP/1.1 {status} {status.phrase}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a socket that listens, and its address as a URL; raise CannotListen."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no address has such a name"
        raise CannotListen(f"cannot listen on {host}, port {port}: {why}") from error
    name, port = listening.getsockname()[:2]
    if ip_address(name.partition("%")[0]).is_unspecified:  # all addresses, of which this machine's own works here
        host = "::1" if ":" in name else "127.0.0.1"
    return listening, f"http://{f'[{host}]' if ':' in host else host}:{port}"


def run(
    app: Any, listening: socket.socket, *,
    ready: Callable[[], None], open_at: str | None = None, proxy: str | None = None,
) -> None:  # fmt: skip
    """Run an application on a socket until a signal comes; `ready` is called when it answers."""
    _allow_files()
    gc.freeze()  # what was loaded stays, so that no collection looks at it again
    if open_at:
        threading.Timer(0.3, webbrowser.open, [open_at]).start()
    server = server_of(app, proxy)
    with server.handling_signals():
        ready()
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that the first signal ends, with all that it has begun, and that heeds no other meanwhile."""

    _ended_by: signal.Signals | None = None

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle signals in the body; after it, let the one that ended the server do what it would have done.

        The others are then ignored. Those that the parent process ignores stay ignored.
        """
        handlers = {number: signal.getsignal(number) for number in LINES}
        ours = [number for number, handler in handlers.items() if handler is not signal.SIG_IGN]
        try:
            for number in ours:
                signal.signal(number, self.handle_exit)
            yield
        finally:
            for number in ours:
                signal.signal(number, signal.SIG_IGN if self._ended_by else handlers[number])
        if self._ended_by and callable(handler := handlers[self._ended_by]):
            handler(self._ended_by, None)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals as they are: uvicorn would handle two, and in the event loop."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End for a signal."""
        self._ended_by = self._ended_by or signal.Signals(sig)
        self.should_exit = True


def server_of(app: Any, proxy: str | None = None) -> _Server:
    """Return a server of an application, not yet started; it believes a reverse proxy who asks."""
    config = uvicorn.Config(
        app, http=_Protocol, loop="uvloop", ws="none", lifespan="on", log_level="error", access_log=False,
        server_header=False, proxy_headers=proxy is not None, forwarded_allow_ips=proxy or "",
        timeout_graceful_shutdown=1, backlog=_BACKLOG,
    )  # fmt: skip
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    return _Server(config)


def _is_news(record: logging.LogRecord) -> bool:
    """Tell whether a line belongs in the log: that a server which ends waits for no search is no error."""
    return not str(record.msg).startswith("Cancel ")


def _allow_files() -> None:
    """Let the process have as many connections as the system allows, up to a bound."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
