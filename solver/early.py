"""The first thing that a command does: let a signal end it in one line. Nothing is imported here that takes time."""

import os
import signal

LINES = {signal.SIGINT: "Interrupted.", signal.SIGTERM: "Terminated.", signal.SIGHUP: "Hung up."}


def leave_on_signals() -> None:
    """Let a signal end the process at once, in one line; signals that the parent process ignores stay ignored."""
    for number in LINES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)


def leave(number: int, frame: object) -> None:
    """End the process in one line, with the exit code of a signal."""
    for each in LINES:  # so that no other signal says a line of its own
        signal.signal(each, signal.SIG_IGN)
    try:  # noqa: SIM105 - contextlib would have to be imported
        os.write(2, f"{LINES[signal.Signals(number)]}\n".encode())
    except OSError:
        pass  # nobody listens
    os._exit(128 + number)
