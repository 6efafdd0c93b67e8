"""Problems: everything the server refuses, with its status, in the one shape that every error has.

    {"error": "bad-board", "message": "cell 'b2' is taken: choose an empty one", "statusCode": 400}

400 malformed, 401 not your seat, 404 not there, 405 wrong method, 409 no longer so, 410 damaged, 413 too large, 415 not
JSON, 421 a host that this server is not, 429 too many requests, 431 headers too large, 500 a store that cannot be
used, 503 busy.
"""

import json
import math
import sys
from typing import Any

from play.match import MatchOver, NothingToUndo, OutOfTurn
from play.puzzles import NoPuzzle
from play.server.log_rows import LogDamaged, LogFailed, MatchDamaged
from solver.advice import with_advice
from solver.errors import StoreError, Ttt4Error

Headers = list[tuple[bytes, bytes]]

ANYONE: Headers = [(b"access-control-allow-origin", b"*")]
"""The header that lets pages of any origin read an answer."""

_STATUS: dict[type[Ttt4Error], int] = {
    OutOfTurn: 409, MatchOver: 409, NothingToUndo: 409, NoPuzzle: 404, StoreError: 500,
    MatchDamaged: 410, LogDamaged: 503, LogFailed: 503,
}  # fmt: skip


class Problem(Ttt4Error):
    """An error of HTTP: a request that cannot be answered as it is, whatever the game."""

    def __init__(
        self, status: int, kind: str, message: str, *, wait: float = 0.0, headers: Headers | None = None, **more: Any
    ) -> None:
        """Carry the status, one word for programs, and after how many seconds a retry makes sense."""
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = [*(headers or []), *([(b"retry-after", b"%d" % math.ceil(wait))] if wait else [])]
        self.more = more


def as_problem(error: Ttt4Error) -> Problem:
    """Return the problem that an error of ours is to whoever asked."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, StoreError):  # its message has paths of this machine
        print(f"Error: {with_advice(error)}", file=sys.stderr)
        return Problem(500, error.kind, "the store of this game cannot be used; the server's log says why")
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 400)
    return Problem(status, error.kind, str(error))


def error_dict(problem: Problem) -> dict[str, Any]:
    """Return a problem as JSON has it."""
    return {"error": problem.kind, "message": str(problem), "statusCode": problem.status, **problem.more}


def error_reply(problem: Problem, *, everywhere: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the two messages that answer a request with a problem; `everywhere` lets pages of any origin read it."""
    body = json.dumps(error_dict(problem)).encode()
    anyone = ANYONE if everywhere else []
    return json_messages(problem.status, body, [(b"cache-control", b"no-store"), *anyone, *problem.headers])


def json_messages(status: int, body: bytes, headers: Headers) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the messages that answer a request with JSON."""
    own = [*typed_and_long(body), *headers]
    return (
        {"type": "http.response.start", "status": status, "headers": own},
        {"type": "http.response.body", "body": body},
    )


def typed_and_long(body: bytes) -> Headers:
    """Return the headers that say that a body is JSON, and how long it is."""
    return [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
