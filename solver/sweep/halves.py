"""The compiled twin of the index's first step: which halves there are, and where each one leads.

solver/index/places.py says what a half is. Here all halves of a layer (all with as many X's) are collected
at once, and for each of them and each cell that X can claim next, the half that this makes.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from solver.games.lines import Game
from solver.index.symmetry import Symmetry
from solver.kernels.bits import carried, next_mask, permuting
from solver.kernels.jit import jit


class Board(NamedTuple):
    """What the kernels know of a game."""

    cells: int
    misere: bool
    lines: np.ndarray  # int64[line]
    group: np.ndarray  # int64[symmetry, cell]
    images: np.ndarray  # the tables that apply each symmetry


def board(game: Game, group: "tuple[Symmetry, ...]") -> Board:
    """The game and its symmetries, as kernels take them."""
    return Board(game.cells, game.misere, np.array(game.lines, np.int64), np.array(group, np.int64), permuting(group))


class LayerHalves(NamedTuple):
    """The halves of one layer, each kind in ascending order. Halves that no game reaches are left out."""

    open: np.ndarray
    finished: np.ndarray


def all_halves(board: Board) -> list[LayerHalves]:
    """Return the halves of each layer that has pages, by the number of X's."""
    return [layer_halves(board, xs) for xs in range((board.cells + 1) // 2 + 1)]


def layer_halves(board: Board, xs: int) -> LayerHalves:
    """Return all halves with this many X's."""
    found = np.empty(comb(board.cells, xs), np.int64)
    found = found[: _collect(board.cells, xs, board.images, found)]
    # The cells that all lines of a half share. A game ends with this half only if there is one: the last cell claimed.
    common = np.full(len(found), -1)
    for line in board.lines:
        common[found & line == line] &= line
    return LayerHalves(found[common == -1], found[common > 0])


def children(board: Board, parents: np.ndarray, following: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
    """For each half and cell: where the half that X makes by claiming it stands in `following`.

    And the number of a symmetry that takes it there. Both are -1 where the cell is not free, or ends the game.
    """
    place = np.full((len(parents), board.cells), -1, np.int64)
    turn = np.full((len(parents), board.cells), -1, np.int64)
    _lead(parents, following, board.images, place, turn)
    return place, turn


@jit("int64(int64, int64, uint32[:,:,::1], int64[::1])")
def _collect(cells, xs, images, found):
    """The sets of `xs` cells that no symmetry makes smaller, in order; gives how many there are."""
    total = 0
    half = (1 << xs) - 1
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
def _lead(parents, following, images, place, turn):
    for i in range(len(parents)):
        for cell in range(place.shape[1]):
            if parents[i] >> cell & 1:
                continue
            half = parents[i] | 1 << cell
            child, which = carried(half, images, 0), 0
            for g in range(1, len(images)):
                image = carried(half, images, g)
                if image < child:
                    child, which = image, g
            low, high = 0, len(following)
            while low < high:
                middle = (low + high) >> 1
                if following[middle] < child:
                    low = middle + 1
                else:
                    high = middle
            if low < len(following) and following[low] == child:
                place[i, cell], turn[i, cell] = low, which
