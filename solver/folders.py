"""Where files live: the stores, games as they are played, and the compiled code's cache.

A store's path is the one given, else TTT4_STORE, else in `data/` of the checkout that one is standing
in, else in the user's data folder. A game's file, if it is named alone, is looked for in `games/` of both,
and then in that of the installed package.
"""

import os

from solver.games.lines import DEFAULT_GAME, Game


def store_path(game: Game, given: str | os.PathLike[str] | None = None) -> str:
    """Where the game's store is, or would be written."""
    named = named_store(given)
    if named:
        return named
    return os.path.join(_checkout() or _user_folder("XDG_DATA_HOME", ".local/share") or "", store_name(game))


def named_store(given: str | os.PathLike[str] | None = None) -> str | None:
    """The path that the user named, if any, so that no other will do."""
    return os.fspath(given) if given else os.environ.get("TTT4_STORE") or None


def build_command(game: Game | None, path: str | os.PathLike[str], *, force: bool = False) -> str:
    """What to type to have the store of a game at a path; of the default game if it is not known."""
    from shlex import join  # only now: most answers name no command

    words = ["ttt4-solve", "build"]
    if game and game.name != DEFAULT_GAME:
        words += ["--game", game.notation]
    if not game or os.fspath(path) != store_path(game):
        words += ["--store", os.fspath(path)]
    return join([*words, "--force"] if force else words)


def store_name(game: Game) -> str:
    """The file name of a game's store: `4x4x4.ttt4`."""
    return game.name.replace(",misere", "-misere").replace(",", "x") + ".ttt4"


def cache_folder() -> str | None:
    """The folder for what can be made again at any time; None if the user has none."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def games_folder() -> str | None:
    """The folder for games as they are played; None if the user has none."""
    folder = _user_folder("XDG_STATE_HOME", ".local/state")
    return folder and os.path.join(folder, "games")


def definition_folders() -> list[str]:
    """Where the file of a game that is named alone may be: the checkout, the user's, and that which is installed."""
    from sysconfig import get_path  # only now: most games are named by numbers

    installed = os.path.join(get_path("data"), "share", "ttt4")
    folders = _checkout(), _user_folder("XDG_DATA_HOME", ".local/share"), installed
    return [os.path.join(folder, "games") for folder in folders if folder]


def _checkout() -> str | None:
    """`data/` of the checkout around the current folder, if there is one."""
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
