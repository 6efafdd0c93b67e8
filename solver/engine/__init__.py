"""Strong play where nothing can be solved: a compiled search with an estimate at its leaves."""

from solver.games.lines import Game

CELLS_MOST = 400
"""The largest board that the engine takes."""

LINES_MOST = (1 << 12) - 1
"""How many lines may go through a cell: so many can be counted."""


def takes(game: Game) -> bool:
    """Tell whether the engine can play a game."""
    return game.cells <= CELLS_MOST and max(map(len, game.lines_through)) <= LINES_MOST
