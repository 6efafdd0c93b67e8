"""What tests of the duel share: a game, a position, searches and margins, given the naive twin and its board."""

from typing import Any

import naive

from solver.duel.live import LiveDuel
from solver.games.duel import Duel, DuelPosition
from solver.kinds import kind_of


def game_of(duel: naive.Duel) -> Duel:
    return Duel(duel.rows, duel.columns)


def at(duel: naive.Duel, board: str) -> DuelPosition:
    return DuelPosition(game_of(duel), *naive.tiles(board))


def geometric(duel: naive.Duel) -> list[naive.Permutation]:
    """The symmetries of the rectangle."""
    return naive.geometric(naive.Game(duel.rows, duel.columns, 1))


def exact(duel: naive.Duel, board: str) -> int:
    """The margin of a position for the side to move."""
    return naive.margin(duel, board, naive.turn(board))


def moves_of(duel: naive.Duel, board: str) -> dict[int, int]:
    """The margin of each move, for the side that makes it."""
    side = naive.turn(board)
    return {
        cell: -naive.margin(duel, naive.placed(duel, board, cell, side), naive.rival(side))
        for cell in naive.placings(duel, board, side)
    }


def fresh(duel: naive.Duel, table_bits: int = 12) -> Any:
    """A compiled search with an empty table."""
    from solver.duel.search import DuelSearch

    game = game_of(duel)
    return DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=table_bits)


def live(duel: naive.Duel, seconds: float = 60.0) -> LiveDuel:
    game = game_of(duel)
    return LiveDuel(game, kind_of(game).symmetries(game), seconds)
