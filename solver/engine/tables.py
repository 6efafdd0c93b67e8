"""A game of lines as the arrays that the engine's kernels take: solver/engine/board.py says what stands where."""

import random
from collections.abc import Sequence

import numpy as np

from solver.engine import CELLS_MOST, LINES_MOST, takes
from solver.engine.board import (
    CELL,
    CELLS,
    EMPTY,
    FIELD,
    KILLER,
    KINDS,
    LIMIT,
    LINE,
    LISTS,
    MISERE,
    MOVES,
    NEAR,
    OPEN,
    PLIES_MOST,
    PLY,
    PLY_SIZE,
    THROUGH,
    UNIT,
    WEIGHT,
    WIDTH,
    WORDS,
    WORTH,
    ZOBRIST,
)
from solver.errors import GameError
from solver.games.board import cells_of
from solver.games.lines import Game

_WORTHS = (0, 0, 80, 18, 4, 1)
_OWN = (0, 0, 40, 18, 3, 0)
_OTHERS = (0, 0, 20, 8, 3, 0)
"""By how many cells a line misses: what it says for claiming a cell, and what it is worth to each side."""

_WIDTH = 24
"""How many moves are tried in a position below the root, the most promising ones."""

_REACH = 2
"""How many rows and columns from a stone the cells are that are tried."""


def tables_of(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Return what the kernels know of a game, and the state of its empty board."""
    if not takes(game):
        raise GameError(
            f"game {game.name!r} is too large for the engine: it takes {CELLS_MOST} cells, and {LINES_MOST} lines "
            f"through a cell, at most"
        )
    c, lines = _lists(game)
    s = np.zeros(LINE + 4 * len(lines), np.int64)
    s[CELLS] = s[EMPTY] = game.cells
    s[MISERE], s[LIMIT], s[WIDTH] = game.misere, 1 << 62, _WIDTH
    numbers = random.Random(1)
    s[ZOBRIST : ZOBRIST + 2 * CELLS_MOST] = [numbers.getrandbits(63) for _ in range(2 * CELLS_MOST)]
    for ply in range(PLIES_MOST + 2):
        s[PLY + ply * PLY_SIZE + KILLER : PLY + ply * PLY_SIZE + MOVES] = -1
    sign = -1 if game.misere else 1
    for missing in range(1, KINDS + 1):
        s[UNIT + missing] = 1 << FIELD * (KINDS - missing)
        s[WEIGHT + missing], s[WEIGHT + 8 + missing] = sign * _OWN[missing], sign * _OTHERS[missing]
        s[WORTH + missing] = _WORTHS[missing]
    for number, cells in enumerate(lines):
        _open(s, LINE + 4 * number, cells)
    return c, s


def near_cells(game: Game) -> list[int]:
    """Return, for each cell, the cells to try once it has a stone: those close by that share a line with it."""
    near = []
    for cell, square in enumerate(game.squares):
        shared = 0
        for line in game.lines_through[cell]:
            shared |= line
        row, column = divmod(square, game.columns)
        near.append(sum(1 << other for other in cells_of(shared) if _is_close(game, other, row, column)))
    return near


def words_of(cells: int) -> list[int]:
    """Return a set of cells as words of 64 bits, with a sign."""
    words = [cells >> 64 * word & (1 << 64) - 1 for word in range(WORDS)]
    return [word - (1 << 64) if word >> 63 else word for word in words]


def _lists(game: Game) -> tuple[np.ndarray, list[list[int]]]:
    """Return the lines through each cell, the cells near each, and the cells of each line."""
    lines = [list(cells_of(line)) for line in game.lines]
    number = {line: i for i, line in enumerate(game.lines)}
    start = LISTS + 3 * sum(map(len, lines))
    ends = [start]
    for cells in lines:
        ends.append(ends[-1] + len(cells))
    c = np.zeros(ends[-1], np.int32)
    c[start:] = [CELL + 4 * cell for cells in lines for cell in cells]
    at = LISTS
    for cell, through in enumerate(game.lines_through):
        c[THROUGH + cell] = at
        for line in through:
            i = number[line]
            c[at : at + 3] = LINE + 4 * i, ends[i], ends[i + 1]
            at += 3
    c[THROUGH + game.cells : NEAR] = at
    near = np.array([words_of(cells) for cells in near_cells(game)], np.int64)
    c[NEAR : NEAR + 2 * WORDS * game.cells] = near.view(np.int32).ravel()
    return c, lines


def _open(s: np.ndarray, at: int, cells: Sequence[int]) -> None:
    """Fill in an empty line."""
    s[at + 3] = len(cells)
    for cell in cells:
        s[at + 2] ^= cell
    if len(cells) <= KINDS:
        for side in (0, 1):
            s[OPEN + 8 * side + len(cells)] += 1
            for cell in cells:
                s[CELL + 4 * cell + side] += s[UNIT + len(cells)]


def _is_close(game: Game, cell: int, row: int, column: int) -> bool:
    other_row, other_column = divmod(game.squares[cell], game.columns)
    return max(abs(other_row - row), abs(other_column - column)) <= _REACH
