"""The page: its files, read once, compressed, and sent with headers that let nothing foreign in."""

import gzip
import hashlib
import mimetypes
from importlib.resources import files
from typing import Any, NamedTuple

from play.server.problems import Headers

SAFE: Headers = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]

ADDRESSES = ("/", "/play", "/explore", "/puzzles", "/match", "/api")
"""Where the page is: these, and what is below them, but for what the API answers."""


class File(NamedTuple):
    """A file of the page, as it is sent."""

    body: bytes
    zipped: bytes
    headers: Headers
    etag: bytes


class Pages:
    """The files of the page."""

    def __init__(self) -> None:
        """Read all of them."""
        found = [each for each in files("play.pages").iterdir() if not each.name.startswith("__")]
        self._files = {f"/static/{each.name}": as_file(each.read_bytes(), _kind_of(each.name)) for each in found}

    def find(self, path: str) -> File | None:
        """Return the file at a path; None if there is none."""
        if path in self._files:
            return self._files[path]
        first = "/" + path.removeprefix("/").partition("/")[0]
        elsewhere = path.startswith(("/api/", "//"))
        return self._files["/static/index.html"] if first in ADDRESSES and not elsewhere else None


async def send_file(file: File, scope: Any, send: Any) -> None:
    """Answer a request with a file."""
    asked = dict(scope["headers"])
    headers = [*file.headers, *SAFE]
    if file.etag in asked.get(b"if-none-match", b""):
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body"})
        return
    body = file.body
    if b"gzip" in asked.get(b"accept-encoding", b""):
        body = file.zipped
        headers.append((b"content-encoding", b"gzip"))
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def as_file(body: bytes, kind: str, more: Headers = []) -> File:  # noqa: B006 - it is never changed
    """Return what is sent for a file of some kind, with headers of its own."""
    etag = b'W/"%s"' % hashlib.blake2b(body, digest_size=9).hexdigest().encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"etag", etag),
        (b"cache-control", b"no-cache"),
        (b"vary", b"accept-encoding"),
        *more,
    ]
    return File(body, gzip.compress(body, 9), headers, etag)


def _kind_of(name: str) -> str:
    kind = {"js": "text/javascript"}.get(name.rpartition(".")[2]) or mimetypes.guess_type(name)[0] or "text/plain"
    return f"{kind}; charset=utf-8"
