"""Compiled code for the index's first step: all halves of a layer, and the half that each move of X leads to.

solver/index/places.py defines half and layer.
"""

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from solver.errors import SolversDisagree
from solver.games.lines import Game
from solver.index.symmetry import Symmetry, orbit_counts
from solver.kernels.bits import carried, next_mask, permuting
from solver.kernels.jit import jit


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


def all_halves(game: KernelGame) -> list[LayerHalves]:
    """Return the halves of every layer that has pages, indexed by the number of X's."""
    counts = orbit_counts([tuple(map(int, g)) for g in game.group])
    return [_layer_halves(game, x_count, counts[x_count]) for x_count in range((game.cells + 1) // 2 + 1)]


def canonical_sets(game: KernelGame, size: int, count: int) -> np.ndarray:
    """Return all sets of so many cells that no symmetry makes smaller; their number is known independently."""
    found = np.empty(comb(game.cells, size), np.int64)
    found = found[: _collect(game.cells, size, game.images, found)]
    if len(found) != count:
        raise SolversDisagree(f"found {len(found):,} sets of {size} cells, but Burnside's lemma counts {count:,}")
    return found


def _layer_halves(game: KernelGame, x_count: int, count: int) -> LayerHalves:
    """Return all halves with `x_count` X's, whose number is known independently."""
    found = canonical_sets(game, x_count, count)
    # The cells that all lines of a half share. A game can end with this half only if there is such a
    # cell, the last one claimed. A half without lines keeps -1.
    common = np.full(len(found), -1)
    for line in game.lines:
        common[found & line == line] &= line
    return LayerHalves(found[common == -1], found[common > 0])


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
    """Write to `found`, in ascending order, the sets that no symmetry makes smaller; return their number."""
    total = 0
    half = (1 << x_count) - 1
    while half < 1 << cells:
        g = 1
        while g < len(images) and carried(half, images, g) >= half:
            g += 1
        if g == len(images):
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
