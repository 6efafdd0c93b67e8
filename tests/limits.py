"""Run something that may take too long, or too much memory, and say what was wrong with it."""

import signal
from collections.abc import Callable
from pathlib import Path

SECONDS, BYTES = 5, 300 << 20


def wrong_with(action: Callable[[], object], allowed: tuple[type[BaseException], ...]) -> BaseException | str | None:
    """The error that an action raises, if it is one of those allowed; what else is wrong, in words; None if nothing.

    An action that takes more than SECONDS of processor time ends this process with SIGPROF.
    """
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak of memory back to what is in use
    before = _peak()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    error: BaseException | str | None = None
    try:
        action()
    except allowed as refusal:
        error = refusal
    except BaseException as other:
        error = repr(other)[:200]
    signal.setitimer(signal.ITIMER_PROF, 0)
    return "it took too much memory" if _peak() - before > BYTES else error


def _peak() -> int:
    """The most memory that this process has used since it was set back, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) << 10
