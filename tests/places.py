"""What stands at a place, found the slow way: the tests' counterpart of `Index.locate` and `rank`."""

from solver.games.lines import Game
from solver.index.places import o_count_when, unrank


def position_at(game: Game, empty: int, half: int, place: int) -> tuple[int, int]:
    """X's cells and O's cells at a place."""
    return half, unrank(half, game.cells, o_count_when(game, empty), place)
