"""The command that starts a second Python process of ours: the only place that names the interpreter."""

import sys


def child_command(code: str, *arguments: str) -> list[str]:
    """Return the command that runs `code` in another Python process.

    With `-P` that process imports nothing from the current folder, which may be anybody's.
    """
    return [sys.executable, "-P", "-c", code, *arguments]
