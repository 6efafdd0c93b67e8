"""Compiled code for the index's first step: all halves of a layer, and the half that each move of X leads to.

solver/index/places.py defines half and layer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from solver.errors import SolversDisagree
from solver.games.lines import Game
from solver.index.symmetry import Symmetry, orbit_counts
from solver.kernels.bits import carried, next_mask, permuting
from solver.kernels.jit import jit

_NO_HALVES = np.empty(0, np.int64)

_AT_ONCE = 1 << 16
"""How many halves are compared with the lines at a time."""


class KernelGame(NamedTuple):
    """What the kernels know about a game."""

    cells: int
    misere: bool
    lines: np.ndarray  # int64[line]
    group: np.ndarray  # int64[symmetry_id, cell]
    images: np.ndarray  # tables that apply each symmetry to a set: see solver/kernels/bits.py


class LayerHalves(NamedTuple):
    """The halves of one layer, each kind in ascending order. Halves that no game reaches are left out."""

    open: np.ndarray
    finished: np.ndarray


def kernel_game(game: Game, group: Sequence[Symmetry]) -> KernelGame:
    """Return the game and its symmetries in the form that kernels take."""
    lines, permutations = np.array(game.lines, np.int64), np.array(group, np.int64)
    return KernelGame(game.cells, game.misere, lines, permutations, permuting(group))


def set_counts(game: KernelGame) -> list[int]:
    """Return, for each size, how many sets of cells no symmetry makes smaller, by Burnside's lemma."""
    return orbit_counts([tuple(map(int, g)) for g in game.group])


def all_halves(game: KernelGame) -> list[LayerHalves]:
    """Return the halves of every layer that has pages, indexed by the number of X's."""
    counts, halves = set_counts(game), list[LayerHalves]()
    for x_count in range((game.cells + 1) // 2 + 1):
        # A half that a game reaches is an open one with a cell more: the last one claimed.
        reached = not halves or len(halves[-1].open)
        halves.append(layer_halves(game, x_count, counts) if reached else LayerHalves(_NO_HALVES, _NO_HALVES))
    return halves


def layer_halves(game: KernelGame, x_count: int, counts: Sequence[int]) -> LayerHalves:
    """Return all halves with `x_count` X's, given the game's `set_counts`."""
    found = canonical_sets(game, x_count, counts[x_count])
    is_open, is_finished = np.empty(len(found), np.bool_), np.empty(len(found), np.bool_)
    for start in range(0, len(found), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        # The cells that all lines of a half share. A game can end with this half only if there is such a
        # cell, the last one claimed. A half without lines keeps -1.
        halves = found[part]
        common = np.full(len(halves), -1)
        for line in game.lines:
            common[halves & line == line] &= line
        is_open[part], is_finished[part] = common == -1, common > 0
    return LayerHalves(found[is_open], found[is_finished])


def canonical_sets(game: KernelGame, size: int, count: int) -> np.ndarray:
    """Return all sets of so many cells that no symmetry makes smaller; their number is known independently."""
    found = np.empty(count, np.int64)
    total = _collect(game.cells, size, game.images, found)
    if total != count:
        more = "more than " if total > count else ""
        raise SolversDisagree(
            f"found {more}{min(total, count):,} sets of {size} cells, but Burnside's lemma counts {count:,}"
        )
    return found


def children(game: KernelGame, parents: np.ndarray, following: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each half and each cell that can be added to it, the resulting half and how to reach it.

    The first array holds the half's index in `following`, the second the id of a symmetry that maps
    X's cells to it. Both are -1 where the cell is taken or the move ends the game.
    """
    child_indexes = np.full((len(parents), game.cells), -1, np.int64)
    symmetry_ids = np.full((len(parents), game.cells), -1, np.int64)
    _find_children(parents, following, game.images, child_indexes, symmetry_ids)
    return child_indexes, symmetry_ids


@jit("int64(int64, int64, uint32[:,:,::1], int64[::1])")
def _collect(cells, x_count, images, found):
    """Write to `found`, in ascending order, the sets that no symmetry makes smaller; return their number.

    Stop at the first that `found` has no room for, and count it.
    """
    total = 0
    half = (1 << x_count) - 1
    while half < 1 << cells:
        g = 1
        while g < len(images) and carried(half, images, g) >= half:
            g += 1
        if g == len(images):
            if total == len(found):
                return total + 1
            found[total] = half
            total += 1
        if half == 0:
            break
        half = next_mask(half)
    return total


@jit("void(int64[::1], int64[::1], uint32[:,:,::1], int64[:,::1], int64[:,::1])")
def _find_children(parents, following, images, child_indexes, symmetry_ids):
    for i in range(len(parents)):
        for cell in range(child_indexes.shape[1]):
            if parents[i] >> cell & 1:
                continue
            claimed = parents[i] | 1 << cell
            child, symmetry_id = carried(claimed, images, 0), 0
            for g in range(1, len(images)):
                image = carried(claimed, images, g)
                if image < child:
                    child, symmetry_id = image, g
            low, high = 0, len(following)
            while low < high:
                middle = (low + high) >> 1
                if following[middle] < child:
                    low = middle + 1
                else:
                    high = middle
            if low < len(following) and following[low] == child:
                child_indexes[i, cell], symmetry_ids[i, cell] = low, symmetry_id
