"""Seats: who may move for a side. A token proves it, and follows from the match's key, so that none is stored."""

import base64
import hashlib
import hmac

from play.server.problems import Problem

KEY_BYTES, TOKEN_BYTES = 16, 18
_SCHEME = [(b"www-authenticate", b"Bearer")]


def token_of(key: bytes, match: bytes, side: str) -> str:
    """Return the token of a side's seat in a match."""
    return base64.urlsafe_b64encode(_digest(key, b"seat", match, side.encode())[:TOKEN_BYTES]).decode()


def rematch_of(key: bytes, match: bytes) -> bytes:
    """Return the id of the match that follows a match: the same for both players, whoever asks first."""
    return _digest(key, b"rematch", match)[: len(match)]


def seat_of(key: bytes, match: bytes, people: set[str], header: str | None) -> str:
    """Return the side whose token a request has; raise Problem if it has none of this match."""
    if header is None:
        message = "only players may do this: send the seat's token as Authorization: Bearer TOKEN"
        raise Problem(401, "no-token", message, headers=_SCHEME)
    scheme, _, token = header.partition(" ")
    given = token.strip().encode() if scheme.lower() == "bearer" else b""
    seats = [side for side in sorted(people) if hmac.compare_digest(token_of(key, match, side).encode(), given)]
    if not seats:
        raise Problem(401, "wrong-token", "this token does not belong to a seat in this match", headers=_SCHEME)
    return seats[0]


def _digest(key: bytes, *parts: bytes) -> bytes:
    return hmac.digest(key, b"\0".join(parts), hashlib.sha256)
