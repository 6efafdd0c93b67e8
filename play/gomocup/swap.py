"""The opening rule swap2: which three stones to begin with, and which colour to take.

Whoever places the first three stones lets the other side choose its colour, so the best ones are those that promise
both sides as much. Whoever chooses takes the colour that promises more, which is at least half of the points. Placing
two more stones would hand the choice back, and so promises half at most: it is never chosen.
"""

from collections.abc import Callable

from solver.games.lines import Game

_OPENINGS = (
    ((0, 0), (2, 1), (3, -3)), ((-4, -4), (-4, -3), (1, -2)), ((0, 0), (1, 3), (-4, 2)), ((4, -4), (3, -2), (0, 1)),
    ((-5, 0), (-5, 1), (-1, 3)), ((0, 0), (1, 1), (-3, 4)), ((5, 5), (4, 4), (2, -1)), ((0, 0), (0, 1), (5, 3)),
)  # fmt: skip
"""Stones of the first colour, the second and the first, as offsets from the middle."""


def openings(game: Game) -> list[tuple[int, ...]]:
    """Return the cells of three stones, for each opening that fits on the board and does not end the game."""
    row, column = game.rows // 2, game.columns // 2
    placed = [[(row + down, column + right) for right, down in opening] for opening in _OPENINGS]
    spread = [0, game.cells // 2, game.cells - 1]
    found = [[_cell(game, *place) for place in places] for places in placed] + [[*spread]]
    whole = [tuple(cell for cell in cells if cell is not None) for cells in found]
    return [cells for cells in whole if len(set(cells)) == 3 and not _ends(game, cells)]


def most_even(game: Game, share: Callable[[int, int], float]) -> tuple[int, ...]:
    """Return the opening whose share is nearest to a half; `share` tells it for the side to move, the second colour."""
    return min(openings(game), key=lambda cells: abs(share(*colours(cells)) - 0.5), default=())


def colours(cells: tuple[int, ...]) -> tuple[int, int]:
    """Return the stones of the second colour and of the first, which were placed in turn."""
    second, first = (sum(1 << cell for cell in cells[start::2]) for start in (1, 0))
    return second, first


def _cell(game: Game, row: int, column: int) -> int | None:
    inside = 0 <= row < game.rows and 0 <= column < game.columns
    return game.cells_by_square.get(row * game.columns + column) if inside else None


def _ends(game: Game, cells: tuple[int, ...]) -> bool:
    second, first = colours(cells)
    return bool(game.completed(second) or game.completed(first)) or len(cells) == game.cells
