"""Ctrl-C, SIGTERM and SIGHUP: one line and exit code 130, 143 or 129, from a command's first moment to its last.

Until a command begins its work, a signal ends the process at once: nothing has been done yet. While it works, a
signal raises an exception, so that it can clean up. When it has ended its work, signals are ignored.

While a module is imported, a signal ends the process at once, too: an exception that comes out of nowhere is
swallowed there or turned into another one, above all while numba is loaded and compiles. A command has nothing to
clean up while it imports.

Where Python calls code that must not raise, a finalizer or what other modules have registered for forks, it drops what
is raised. Then the signal is sent again.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from solver.early import LINES, leave

_SOON = 0.01
"""After how many seconds a signal is sent again: by then Python is out of where it was lost."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: whatever cleans up after Ctrl-C does so after this, too."""

    def __init__(self, number: int) -> None:
        """Carry the signal's number."""
        super().__init__()
        self.number = number


@contextmanager
def interruptible() -> Iterator[None]:
    """Let signals raise KeyboardInterrupt or Terminated in the body, and be ignored afterwards.

    Where `leave_on_signals` (solver/early.py) was not called, as in a program that calls a command, nothing changes.
    """
    ours = [number for number in LINES if signal.getsignal(number) is leave]
    dropped = sys.unraisablehook
    try:
        if ours:
            sys.unraisablehook = _send_again
        for number in ours:
            signal.signal(number, _raise)
        yield
    finally:
        while any(signal.getsignal(number) is not signal.SIG_IGN for number in ours):
            with suppress(KeyboardInterrupt):  # one more, while the first ends the command
                for number in ours:
                    signal.signal(number, signal.SIG_IGN)
        sys.unraisablehook = dropped


def ending(error: KeyboardInterrupt) -> tuple[str, int]:
    """Return the line and the exit code for a command that a signal has ended."""
    number = error.number if isinstance(error, Terminated) else signal.SIGINT
    return LINES[signal.Signals(number)], 128 + number


def _raise(number: int, frame: FrameType | None) -> None:
    if _importing(frame):
        leave(number, frame)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


def _send_again(dropped: "sys.UnraisableHookArgs") -> None:
    error = dropped.exc_value
    if not isinstance(error, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    from threading import Timer  # only now: it happens hardly ever

    again = Timer(_SOON, os.kill, (os.getpid(), ending(error)[1] - 128))
    again.daemon = True
    again.start()


def _importing(frame: FrameType | None) -> bool:
    while frame:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
