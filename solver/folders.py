"""Where files live: the stores, and the compiled code's cache.

A store's path is the one given, else TTT4_STORE, else in `data/` of the checkout that one is standing
in, else in the user's data folder.
"""

import os
import shlex
from pathlib import Path

from solver.game import DEFAULT_GAME, Game


def store_path(game: Game, given: str | os.PathLike[str] | None = None) -> Path:
    """Where the game's store is, or would be written."""
    named = given or os.environ.get("TTT4_STORE")
    if named:
        return Path(named)
    return (_checkout() or _user_folder("XDG_DATA_HOME", ".local/share") or Path()) / store_name(game)


def build_command(game: Game | None, path: Path, *, force: bool = False) -> str:
    """What to type to have the store of a game at a path; of the default game if it is not known."""
    named = ["--game", game.name] if game and game.name != DEFAULT_GAME else []
    return shlex.join(["ttt4-solve", "build", *named, "--store", str(path), *(["--force"] if force else [])])


def store_name(game: Game) -> str:
    """The file name of a game's store: `4x4x4.ttt4`."""
    return game.name.replace(",misere", "-misere").replace(",", "x") + ".ttt4"


def cache_folder() -> Path | None:
    """The folder for what can be made again at any time; None if the user has none."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def _checkout() -> Path | None:
    """`data/` of the checkout around the current folder, if there is one."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # somebody deleted it
        return None
    for folder in (here, *here.parents):
        if all((folder / room).is_dir() for room in ("solver", "oracle", "play", "data")):
            return folder / "data"
    return None


def _user_folder(variable: str, below_home: str) -> Path | None:
    named = os.environ.get(variable)
    if named and Path(named).is_absolute():
        return Path(named) / "ttt4"
    home = Path(os.path.expanduser("~"))
    if home.is_absolute():
        return home / below_home / "ttt4"
    return None
