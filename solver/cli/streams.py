"""Standard streams as a command finds them: closed, full, or for ASCII only.

Standard output is for results, and a command whose results cannot be written has failed. Standard error is for
talk, and what cannot be said there changes nothing.
"""

import io
import os
import sys
from contextlib import suppress
from select import POLLERR, POLLHUP, poll
from typing import Any

from solver.errors import Ttt4Error

_NAMES = ("input", "output", "error")
_closed: set[int] = set()


class _Talk(io.FileIO):
    """Standard error, unbuffered: what cannot be written is lost."""

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        with suppress(OSError):
            while rest and (written := super().write(rest)):  # None: it would have to wait
                rest = rest[written:]
        return len(data)


def prepare_streams() -> None:
    """Reserve the numbers of closed streams, and escape characters that a stream cannot encode."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # which takes the lowest number, that of the closed stream
            _closed.add(stream)
    if 0 in _closed:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it stays open for as long as the process runs
    if 1 not in _closed and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    encoding = getattr(sys.stderr, "encoding", None)
    talk: Any = _Talk(2, "w", closefd=False)
    sys.stderr = io.TextIOWrapper(talk, encoding, "backslashreplace", write_through=True)


def reader_left() -> bool:
    """Tell whether standard output is a pipe that nobody reads any more."""
    pipe = poll()
    pipe.register(1, 0)
    return any(event & (POLLERR | POLLHUP) for _, event in pipe.poll(0))


def require_open(stream: int) -> None:
    """Raise Ttt4Error if a standard stream was closed when the command began."""
    if stream in _closed:
        raise Ttt4Error(f"standard {_NAMES[stream]} is closed")
