"""The games that a server offers, and what it says of each."""

import os
from typing import Any

from play.players.roster import set_rules_of
from play.server.desk import Desk
from solver.folders import find_store
from solver.games.board import BoardGame, cells_of
from solver.games.files import games_with_names
from solver.games.lines import Game
from solver.games.wide import WideRules
from solver.store.sealed import signed_for

OFFERED = (
    "4,4,4", "3,3,3", "4,4,3", "4,5,4", "5,5,4", "5,5,5", "6,7,4", "8,8,5", "15,15,5", "3,3,3,misere", "4,4,4,misere",
    "duel", "duel,4,4",
)  # fmt: skip
"""The boards that are listed; any other can be asked for."""

MULTIPLAYER = ("3p:5,5,4",)
"""The listed games of more than two sides."""


def games_served(desk: Desk) -> list[dict[str, Any]]:
    """Return the games that are listed: some boards, the games with names, and those of the operator's own."""
    named = dict(games_with_names())
    found = []
    for name in (*OFFERED, *named):
        game = desk.game(name)
        found.append({**_shape(game), "about": named.get(name, ""), "store": has_store(desk, game)})
    found += [
        {**_shape(game), "about": "", "store": has_store(desk, game)}
        for game in map(desk.game, dict.fromkeys(run.game for run in desk.runs.values()))
        if game.notation not in (*OFFERED, *named)
    ]
    for name in MULTIPLAYER:
        rules = set_rules_of(desk.rules(name), "a board")
        found.append({**_shape(rules.game), "name": name, "sides": list(rules.sides), "about": "", "store": False})
    for listed in found:
        runs = [name for name, run in desk.runs.items() if run.game == listed["name"]]
        listed.update({"runs": runs} if runs else {})
    return [*found, *({"name": name, "cells": None, "about": "", "store": False} for name in desk.own)]


def has_store(desk: Desk, game: BoardGame[Any]) -> bool:
    """Tell whether there is a file where a game's store would be, and it is not signed as another game's."""
    store, live, _ = desk.settings
    if live or game.cells > game.solvable_cells:
        return False
    path = find_store(game, store)
    return os.path.exists(path) and signed_for(path) in (None, "", game.name)


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
