"""Code of the user's own, named MODULE:NAME: a player, or the rules of a game.

It is loaded only because a command line or a program names it, never because a file does.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from solver.errors import Ttt4Error
from solver.text import printable


class OwnCodeError(Ttt4Error):
    """Code of the user's own that cannot be loaded, or that failed; `__cause__` is its own exception."""

    kind = "bad-code"
    exit_code = 2


def is_own(name: str) -> bool:
    """Tell whether a name has the form MODULE:NAME."""
    module, colon, attribute = name.strip().partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def load_own(name: str) -> Any:
    """Return what MODULE:NAME names; modules in the current folder are found too."""
    module, _, attribute = name.strip().partition(":")
    try:
        with _current_folder_first():
            return getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # it is not our code
        raise OwnCodeError(f"cannot load {name!r}: {one_line(error)}") from error


@contextmanager
def _current_folder_first() -> Iterator[None]:
    """Find modules in the current folder, as `python -m` does; afterwards only those that are nowhere else."""
    folder = os.getcwd()
    added = folder not in sys.path
    if added:
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        if added:
            sys.path.remove(folder)
            sys.path.append(folder)


def one_line(error: BaseException) -> str:
    """Return an exception of foreign code as at most 60 characters of one line."""
    try:
        said = str(error).split("\n")[0]
    except Exception:  # even this is not our code
        said = "it does not say why"
    text = printable(f"{type(error).__name__}: {said}")
    return text if len(text) <= 60 else f"{text[:57]}..."
