"""Which version of the program this is, so that machines that work on one build can be sure to have the same."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from solver.errors import ScratchError
from solver.kernels.cache import source_digest


class OtherVersion(ScratchError):
    """A worker whose program is not the one that asks."""

    def __init__(self, here: str, there: str, worker: str = "a worker") -> None:
        """Carry the versions as `source_version` gives them."""
        super().__init__(here, there, worker)
        self.here, self.there, self.worker = here, there, worker

    def __str__(self) -> str:
        return (
            f"{self.worker} has another version of ttt4 ({self.there}) than this machine ({self.here}): install the "
            "same on all"
        )


@cache
def source_version() -> str:
    """Return a digest of the solver's source."""
    return source_digest(Path(str(files("solver"))))


def in_version(version: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function, if this is the version that the caller has; else raise OtherVersion."""
    if source_version() != version:
        raise OtherVersion(version, source_version())
    return function(*arguments)
