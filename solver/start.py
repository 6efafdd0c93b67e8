"""The entry points of the commands: what happens before anything is loaded, and at the very end.

Loading a command takes up to half a second, in which Python would answer Ctrl-C with a traceback. So signals
are taken care of before anything else is imported, and then the command's module is loaded, by its name.
"""

from solver.early import leave_on_signals

leave_on_signals()

import gc  # noqa: E402 - from here on, a signal ends the command in one line

gc.disable()  # until a command is loaded: what loading makes is kept, and looking for garbage in it costs a tenth

import os  # noqa: E402
import sys  # noqa: E402
from importlib import import_module  # noqa: E402
from typing import NoReturn  # noqa: E402

from solver.cli.streams import prepare_streams, require_open  # noqa: E402
from solver.errors import Ttt4Error, refusal_of  # noqa: E402


def solve() -> None:
    """Run `ttt4-solve`."""
    _run("solver.cli.main")


def query() -> None:
    """Run `ttt4-query`."""
    _run("oracle.cli.main")


def play() -> None:
    """Run `ttt4-play`."""
    _run("play.cli.main")


def brain() -> None:
    """Run `pbrain-ttt4`, which is `ttt4-play engine`."""
    _run("play.cli.engine", "engine")


def _run(module: str, command: str = "main") -> None:
    """Run a command in a module."""
    prepare_streams()
    try:
        require_open(1)
        run = getattr(import_module(module), command)
        gc.freeze()
        gc.enable()
        run()
    except SystemExit as end:
        _leave(end.code if isinstance(end.code, int) else int(end.code is not None))
    except Exception as error:
        refusal = error if isinstance(error, Ttt4Error) else refusal_of(error)
        if refusal is None:
            raise
        from solver.text import printable

        print(f"Error: {printable(str(refusal))}", file=sys.stderr)
        _leave(refusal.exit_code)


def _leave(code: int) -> NoReturn:
    """End the process without taking the interpreter down, which lasts up to 0.2 s."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:
        pass  # the last result was written, and the reader has read enough
    except OSError as error:
        if not code:  # else the reason is told already
            print(f"Error: cannot write to standard output: {error.strerror}", file=sys.stderr)
        code = code or 1
    os._exit(code)
