"""Commands wait for compiled code as long as it takes, unless `--time` was given, and show that they do."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from click.core import ParameterSource

from solver.cli.progress_line import ProgressLine
from solver.kernels.loading import Patience, patient
from solver.proof.progress import Progress

_SHOWN_AFTER = 1.0
"""After how many seconds progress is shown: cached code is there sooner."""


@contextmanager
def waiting_for_compiled() -> Iterator[Patience | None]:
    """Wait for compiled code in what follows, with progress on standard error; not if `--time` was given."""
    line = ProgressLine()

    def tell(what: str, seconds: float) -> None:
        if seconds > _SHOWN_AFTER:
            line(Progress(what, detail=f"{seconds:.0f} s"))

    patience = None if time_was_given() else Patience(tell, line.clear)
    with patient(patience):
        yield patience


def time_was_given() -> bool:
    """Tell whether the current command was given `--time`."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source("seconds") is ParameterSource.COMMANDLINE
