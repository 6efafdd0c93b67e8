"""How the positions of each kind of game are laid out in layers and pages: what a store must know of its index.

solver/index/places.py has the index of games of lines, and solver/duel/index.py that of the duel.
"""

from typing import Any

from solver.games.board import BoardGame
from solver.games.lines import Game
from solver.index import places


def page_size(game: BoardGame[Any], empty: int) -> int:
    """Return how many places a page has when so many cells are empty; 0 if no such positions are stored."""
    if isinstance(game, Game):  # only those with X to move are
        return places.page_size(game, empty) if empty in range(game.cells % 2, game.cells + 1, 2) else 0
    return int(_of_duel().page_size(game, empty))


def first_layer(game: BoardGame[Any]) -> int:
    """Return the number of the layer at the end of the game, where a build begins; the empty board's is 0."""
    return (game.cells + 1) // 2 if isinstance(game, Game) else stored_plies(game)


def stored_plies(game: BoardGame[Any]) -> int:
    """Return how many stones are on the fullest boards that a store knows: of a book, few."""
    return game.cells if isinstance(game, Game) else int(_of_duel().last_layer(game))


def _of_duel() -> Any:
    from solver.duel import index  # only now: games of lines do without

    return index
