"""What to type about an error: the sentence that a command adds to a message."""

import os
from typing import Any

from solver.errors import NotAStore, StoreDamaged, StoreError, StoreMissing, StoreOutdated, Ttt4Error
from solver.folders import partial_path, store_path
from solver.games.board import DEFAULT_GAME, BoardGame
from solver.text import shown


def with_advice(error: Ttt4Error) -> str:
    """Return an error's message, and what to type about it if a command can help."""
    return f"{error}; {advice}" if (advice := _advice(error)) else str(error)


def build_command(game: BoardGame[Any] | None, path: str | os.PathLike[str], *, force: bool = False) -> str:
    """Return the command that builds a game's store at a path; of the default game if it is not known."""
    from shlex import join  # only now: most answers name no command

    words = ["ttt4-solve", "build"]
    if game and game.name != DEFAULT_GAME:
        words += ["--game", game.notation]
    if not game or os.fspath(path) != store_path(game):
        words += ["--store", os.fspath(path)]
    return join([*words, "--force"] if force else words)


def _advice(error: Ttt4Error) -> str:
    if error.unnamed_game:
        return f"add --game {shown(error.unnamed_game)[1:-1]}"
    if not isinstance(error, StoreError) or not error.path:
        return ""
    game = error.game if isinstance(error.game, BoardGame) else None
    if isinstance(error, StoreMissing):
        begun = os.path.exists(partial_path(error.path))
        return f"{'resume its interrupted build' if begun else 'build it'}: {build_command(game, error.path)}"
    if isinstance(error, StoreDamaged | StoreOutdated) and not isinstance(error, NotAStore):
        return f"rebuild it: {build_command(game, error.path, force=True)}"
    return "name another path with --store"
