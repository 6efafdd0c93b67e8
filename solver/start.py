"""The entry points of the three commands: what happens before anything is loaded, and at the very end.

Loading a command takes up to half a second, in which Python would answer Ctrl-C with a traceback. So signals
are taken care of first (solver/cli/signals.py), and only then is the command's module loaded, by its name.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module

from solver.cli.signals import leave_on_signals


def solve() -> None:
    """Be the command `ttt4-solve`."""
    _run("solver.cli.main")


def query() -> None:
    """Be the command `ttt4-query`."""
    _run("oracle.cli.main")


def play() -> None:
    """Be the command `ttt4-play`."""
    _run("play.cli")


def _run(module: str) -> None:
    """Run the command in a module, and end without taking the interpreter down, which lasts up to 0.2 s."""
    leave_on_signals()
    try:
        import_module(module).main()
    except SystemExit as end:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError):
                stream.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)
