"""Compile the kernels that a build of a game of lines takes, or load them from the cache."""

import subprocess
import sys
from contextlib import suppress

from solver.child import child_command
from solver.kernels.cache import is_cached


def compile_kernels() -> None:
    """Import all kernels, which compiles them or loads them from the cache.

    If nothing is cached, a second process compiles half of them: one process compiles one kernel at a time.
    """
    other = None
    if "solver.proof.check" not in sys.modules and not is_cached("search/alphabeta.search"):
        command = child_command("import solver.proof.check, solver.sweep.tally, solver.sweep.halves")
        quiet = subprocess.DEVNULL
        with suppress(OSError):  # the second process only saves time
            other = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        import solver.sweep.pages

        if other is not None:
            other.wait()
        import solver.proof.prove  # noqa: F401  (and with it every other kernel)
    finally:
        if other is not None:
            other.kill()
            other.wait()
