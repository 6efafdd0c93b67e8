"""The games that a server offers, and what it says of each."""

import json
import os
from typing import Any

from play.players.roster import set_rules_of
from play.server.desk import Desk
from solver.folders import find_store, shared_folders
from solver.games.board import DEFAULT_GAME, BoardGame, cells_of
from solver.games.files import games_with_names
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.wide import WideRules
from solver.store.sealed import signed_for

OFFERED = (
    "4,4,4", "3,3,3", "4,4,3", "4,5,4", "5,5,4", "5,5,5", "6,7,4", "8,8,5", "15,15,5", "3,3,3,misere", "4,4,4,misere",
    "duel", "duel,4,4",
)  # fmt: skip
"""The boards that are listed; any other can be asked for."""

MULTIPLAYER = ("3p:5,5,4",)
"""The listed games of more than two sides."""


class GameList:
    """The games that are listed: some boards, the games with names, and those of the operator's own."""

    def __init__(self, desk: Desk) -> None:
        """List what a desk serves."""
        self._desk = desk
        self._folders: list[str] = []
        self._changed: list[int] = []
        self._json = b""

    def as_json(self) -> bytes:
        """Return the list, made again only when a file has come or gone in a folder of stores."""
        if not self._json or self._changed != [_changed_at(folder) for folder in self._folders]:
            self._folders = _folders_of_stores(self._desk)
            self._changed = [_changed_at(folder) for folder in self._folders]
            self._json = json.dumps(games_served(self._desk)).encode()
        return self._json


def games_served(desk: Desk) -> list[dict[str, Any]]:
    """Return the games that are listed."""
    named = dict(games_with_names())
    found = []
    for name in dict.fromkeys((*OFFERED, *named, *(run.game for run in desk.runs.values()))):
        game = desk.game(name)
        listed = {**_shape(game), "about": named.get(name, ""), "store": has_store(desk, game)}
        runs = [each for each, run in desk.runs.items() if run.game == game.notation]
        found.append({**listed, "runs": runs} if runs else listed)
    for name in MULTIPLAYER:
        rules = set_rules_of(desk.rules(name), "a board")
        found.append({**_shape(rules.game), "name": name, "sides": list(rules.sides), "about": "", "store": False})
    return [*found, *({"name": name, "cells": None, "about": "", "store": False} for name in desk.own)]


def has_store(desk: Desk, game: BoardGame[Any]) -> bool:
    """Tell whether there is a file where a game's store would be, and it is not signed as another game's."""
    store, live, _ = desk.settings
    if live or game.cells > game.solvable_cells:
        return False
    path = find_store(game, store)
    return os.path.exists(path) and signed_for(path) in (None, "", game.name)


def _folders_of_stores(desk: Desk) -> list[str]:
    """Return the folders in which a store that a desk uses is, or may come to be."""
    store, live, _ = desk.settings
    if live:
        return []
    named = os.path.dirname(os.path.abspath(find_store(parse_game(DEFAULT_GAME), store)))
    return [named, os.path.dirname(named), *shared_folders()]


def _changed_at(folder: str) -> int:
    """Return when a file came or went in a folder; 0 if there is no such folder."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def game_facts(game: BoardGame[Any], symmetries: int | None, store: dict[str, Any] | None) -> dict[str, Any]:
    """Return what a game is, cell by cell and line by line, and what its store says of itself."""
    names = [game.cell_name(cell) for cell in range(game.cells)]
    return {
        **_shape(game),
        "sides": list(game.marks),
        "squares": list(game.squares),
        "cell_names": names,
        "lines": [[names[cell] for cell in cells_of(line)] for line in game.lines] if isinstance(game, Game) else [],
        "symmetries": symmetries,
        "store": store,
    }


def wide_facts(rules: WideRules) -> dict[str, Any]:
    """Return what a game on a wide board is, of which neither cells nor lines are listed."""
    game = rules.game
    return {
        "name": game.name, "rows": game.rows, "columns": game.columns, "cells": game.cells, "misere": game.misere,
        "sides": list(rules.sides), "store": None,
    }  # fmt: skip


def _shape(game: BoardGame[Any]) -> dict[str, Any]:
    return {
        "name": game.notation, "rows": game.rows, "columns": game.columns, "cells": game.cells,
        "misere": isinstance(game, Game) and game.misere, "scale": game.scale,
    }  # fmt: skip
