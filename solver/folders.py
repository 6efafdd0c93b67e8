"""Where files live: the stores, games as they are played, game files, and the cache of compiled code.

A store that is named, by the caller or by TTT4_STORE, is looked for there; the name may be a file's, or that
of a folder in which each game has its file. Otherwise there are two usual places: `data/` of the checkout
around the current folder, if there is one, and the user's data folder. A store is read from the first that has
it, and written to the first. Where there is none, and no file was named, what ttt4 ships serves, if it ships
one. A game file that is named without a path is looked for in `games/` of both, and then among what is shipped.
"""

import os
from collections.abc import Iterator
from typing import Any

from solver.games.board import BoardGame


def store_path(game: BoardGame[Any], given: str | os.PathLike[str] | None = None) -> str:
    """Return the path at which the game's store is built."""
    return _named(game, given) or next(_usual(game), store_name(game))


def find_store(game: BoardGame[Any], given: str | os.PathLike[str] | None = None) -> str:
    """Return the path of the game's store; if there is none, the path at which it would be built."""
    named = _named(game, given)
    if named and (named == _given(given) or os.path.exists(named)):
        return named
    usual = () if named else _usual(game)
    return next(filter(os.path.exists, usual), "") or _shipped(game) or store_path(game, given)


def is_named(given: str | os.PathLike[str] | None = None) -> bool:
    """Tell whether the user named a store or a folder of stores, so that no usual place will do."""
    return bool(_given(given))


def store_name(game: BoardGame[Any]) -> str:
    """Return the file name of a game's store: `4x4x4.ttt4`, `duel-4x4.ttt4`."""
    return f"{_file_stem(game.name)}.ttt4"


def proof_paths(game: str) -> list[str]:
    """Return the paths at which there may be a proof of the game with that name: `proofs/7x7x5.json`."""
    folders = dict.fromkeys(os.path.abspath(folder) for folder in shared_folders())
    paths = [os.path.join(folder, "proofs", f"{_file_stem(game)}.json") for folder in folders]
    return list(filter(os.path.exists, paths))


def partial_path(store: str | os.PathLike[str]) -> str:
    """Return the path of the journal of an unfinished build, beside its store."""
    return f"{os.fspath(store)}.partial"


def in_data_folder(path: str) -> bool:
    """Tell whether a path is right in one of the usual places, where every file by a store's name is ours."""
    folder, name = os.path.split(os.path.abspath(path))
    return name.endswith(".ttt4") and folder in map(os.path.abspath, _data_folders())


def cache_folder() -> str | None:
    """Return the folder for what can be made again at any time; None if the user has none."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def games_folder() -> str | None:
    """Return the folder for games as they are played; None if the user has none."""
    folder = _user_folder("XDG_STATE_HOME", ".local/state")
    return folder and os.path.join(folder, "games")


def matches_path() -> str | None:
    """Return the file for the server's games; None if the user has no folder for it."""
    folder = _user_folder("XDG_STATE_HOME", ".local/state")
    return folder and os.path.join(folder, "matches.sqlite")


def definition_folders() -> list[str]:
    """Return the folders in which a game file may be."""
    return [os.path.join(folder, "games") for folder in shared_folders()]


def shared_folders() -> list[str]:
    """Return the folders of what the project ships: the checkout's, the user's, and the installed package's."""
    from sysconfig import get_path  # only now: most commands need nothing from there

    return [*_data_folders(), os.path.join(get_path("data"), "share", "ttt4")]


def _file_stem(name: str) -> str:
    return name.replace(",misere", "-misere").replace("duel,", "duel-").replace(",", "x")


def _given(given: str | os.PathLike[str] | None) -> str | None:
    return os.fspath(given) if given else os.environ.get("TTT4_STORE")


def _named(game: BoardGame[Any], given: str | os.PathLike[str] | None) -> str | None:
    named = _given(given)
    if named and (os.path.isdir(named) or named.endswith(os.sep)):
        return os.path.join(named, store_name(game))
    return named or None


def _usual(game: BoardGame[Any]) -> Iterator[str]:
    return (os.path.join(folder, store_name(game)) for folder in _data_folders())


def _shipped(game: BoardGame[Any]) -> str:
    """Return the path of a store that the installed package has; an empty text if it has none."""
    if not game.shipped:
        return ""
    return next(filter(os.path.exists, (os.path.join(folder, store_name(game)) for folder in shared_folders())), "")


def _data_folders() -> list[str]:
    """Return the checkout's `data/` and the user's data folder, as far as they exist."""
    return [folder for folder in (_checkout(), _user_folder("XDG_DATA_HOME", ".local/share")) if folder]


def _checkout() -> str | None:
    """Return `data/` of the checkout around the current folder, if there is one."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # somebody deleted it
        return None
    while True:
        if all(os.path.isdir(os.path.join(folder, room)) for room in ("solver", "oracle", "play", "data")):
            return os.path.join(folder, "data")
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _user_folder(variable: str, below_home: str) -> str | None:
    named = os.environ.get(variable)
    if named and os.path.isabs(named):
        return os.path.join(named, "ttt4")
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        return os.path.join(home, below_home, "ttt4")
    return None
