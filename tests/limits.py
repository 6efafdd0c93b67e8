"""Run something that may take too long, or too much memory, and say what was wrong with it."""

import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

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


def faults(forked: Any, path: Path, cases: Iterable[tuple[str, bytes]], fault: Callable[[str], str]) -> str:
    """What is wrong with how a forked child reads a file of each content at a path; `fault` is told its name."""
    at = path.with_name("at")

    def all_of() -> str:
        found = []
        for name, content in cases:
            at.write_text(name)
            path.write_bytes(content)
            found += [f"{name}: {said}"] if (said := fault(name)) else []
        return "\n".join(found)

    ended, said = forked(all_of)
    return said + (f"{at.read_text()}: the child ended with {ended}" if ended else "")


def _peak() -> int:
    """The most memory that this process has used since it was set back, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) << 10
