"""The positions that play meets, found ply by ply from the empty board."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from solver.arrays.kernels import KernelLines, expand, is_key, number_children, sides
from solver.errors import TooLarge

Moves = Callable[[int, np.ndarray, np.ndarray], np.ndarray | None]
"""Returns which moves are made: bool[n, cells], for a ply and the positions met there; None if all are."""


class Walk(NamedTuple):
    """The open positions that were met: a row each, in the order of their plies, then of their keys."""

    x: np.ndarray
    o: np.ndarray
    child: np.ndarray
    """int32[n, cells]: the row that each move leads to, or TAKEN, LINE, FULL or UNMADE (solver/arrays/kernels.py)."""
    first: np.ndarray
    """The first row of each ply, and at the end the number of rows."""

    @property
    def ply(self) -> np.ndarray:
        """The number of stones in each row."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int8), np.diff(self.first))


def walk(game: KernelLines, most: int, moves: Moves = lambda ply, x, o: None) -> Walk:
    """Return the positions that some moves lead to; raise TooLarge if there are more than `most`.

    Positions count as equal under the symmetries that `game` has; with the identity alone, none do.
    """
    cells = game.cells
    keys, plies = np.zeros(1, np.int64), list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
    first, total = [0], 0
    while len(keys) and len(plies) < cells:
        x, o = sides(keys, cells)
        total += len(keys)
        made = moves(len(plies), x, o)
        if made is None:
            made = np.ones((len(keys), cells), np.bool_)
        after = np.empty((len(keys), cells), np.int64)
        expand(cells, game.through, game.images, x, o, np.ascontiguousarray(made), after)
        keys = _different(after)
        if total + len(keys) > most:
            raise TooLarge(f"play meets more than {most:,} positions")
        child = np.empty(after.shape, np.int32)
        number_children(after, keys, total, child)
        plies.append((x, o, child))
        first.append(total)
    x, o, child = (np.concatenate(arrays) for arrays in zip(*plies, strict=True))
    return Walk(x, o, child, np.array(first, np.int64))


def _different(after: np.ndarray) -> np.ndarray:
    """Return the keys that occur, each once, in ascending order."""
    keys = np.sort(after[is_key(after)])
    different: np.ndarray = keys[np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]]
    return different
