"""Ctrl-C and SIGTERM: one line, and exit code 130 or 143, from the first moment of a command to its last.

Until a command begins its work, a signal ends the process at once: nothing has been done yet. While it works, a
signal raises an exception, so that it can clean up. When it has ended its work, signals are ignored.

While a module is imported, a signal ends the process at once, too: an exception that comes out of nowhere is
swallowed there or turned into another one, above all while numba is loaded and compiles. A command has nothing to
clean up while it imports.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LINES = {signal.SIGINT: "Interrupted.", signal.SIGTERM: "Terminated."}


class Terminated(KeyboardInterrupt):
    """SIGTERM: whatever cleans up after Ctrl-C does so after this, too."""


def leave_on_signals() -> None:
    """Let a signal end the process at once, in one line; signals that the parent process ignores stay ignored."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let signals raise KeyboardInterrupt or Terminated in the body, and be ignored afterwards.

    Where `leave_on_signals` was not called, as in a program that calls a command itself, nothing changes.
    """
    ours = [number for number in _SIGNALS if signal.getsignal(number) is _leave]
    try:
        for number in ours:
            signal.signal(number, _raise)
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_IGN)


def ending(error: KeyboardInterrupt) -> tuple[str, int]:
    """Return the line and the exit code for a command that a signal has ended."""
    number = signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT
    return _LINES[number], 128 + number


def _leave(number: int, frame: FrameType | None) -> None:
    with suppress(OSError):
        os.write(2, f"{_LINES[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


def _raise(number: int, frame: FrameType | None) -> None:
    if _importing(frame):
        _leave(number, frame)
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
