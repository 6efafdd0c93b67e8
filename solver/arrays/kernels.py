"""Compiled code for many positions at once: where moves lead, which position stands for which, and their scores.

A position is X's cells and O's, as masks; X is to move if there are as many of one as of the other. A position's
**key** is X's cells, shifted by the number of cells, and O's, so keys sort by X's cells first. TAKEN, LINE, FULL or
UNMADE in place of a key or a row says why a move leads to no open position. On 32 cells a key is negative if X has the
last one; it is no such number even then, because O does not have that cell as well.
"""

from typing import NamedTuple

import numpy as np

from solver.games.lines import Game
from solver.index.places import UNREACHED
from solver.index.symmetry import Symmetry
from solver.kernels.bits import CHOOSE, bit_count, carried, permuting
from solver.kernels.jit import helper, jit

TAKEN = -1
"""The cell is taken."""

LINE = -2
"""The move completes a line: it wins, or loses in misère."""

FULL = -3
"""The move fills the board, without a line: a draw."""

UNMADE = -4
"""Nobody makes the move, as far as was asked."""

ABSENT = -128
"""No score: no game reaches the position."""

UNREAD = -127
"""No score yet: the page of the position's half is not there."""


class KernelLines(NamedTuple):
    """What these kernels know of a game."""

    cells: int
    misere: bool
    lines: np.ndarray  # int64[line]
    through: np.ndarray  # int64[cell, i]: the lines through a cell, then zeros
    images: np.ndarray  # tables that apply each symmetry to a set: see solver/kernels/bits.py


def is_key(keys: np.ndarray) -> np.ndarray:
    """Return which numbers are keys."""
    found: np.ndarray = (keys >= 0) | (keys < UNMADE)
    return found


def sides(keys: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X's cells and O's, given their keys."""
    full = (1 << cells) - 1
    return keys >> cells & full, keys & full


def kernel_lines(game: Game, group: tuple[Symmetry, ...] | None = None) -> KernelLines:
    """Return a game, and the symmetries under which positions count as equal (without any, none do), for kernels."""
    most = max(map(len, game.lines_through), default=0)
    through = np.zeros((game.cells, most + 1), np.int64)
    for cell, lines in enumerate(game.lines_through):
        through[cell, : len(lines)] = lines
    images = permuting(group or (tuple(range(game.cells)),))
    return KernelLines(game.cells, game.misere, np.array(game.lines, np.int64), through, images)


@helper
def _smallest(x, o, images):
    """Return the smallest image of a position, comparing X's cells first, and the id of a symmetry that gives it."""
    best_x, best_o, best = carried(x, images, 0), carried(o, images, 0), 0
    for g in range(1, len(images)):
        image = carried(x, images, g)
        if image <= best_x:
            other = carried(o, images, g)
            if image < best_x or other < best_o:
                best_x, best_o, best = image, other, g
    return best_x, best_o, best


@helper
def completes(own, cell, through):
    """Return whether a set that contains the cell holds a whole line through it."""
    i = 0
    while through[cell, i]:
        if through[cell, i] & own == through[cell, i]:
            return True
        i += 1
    return False


@jit("void(int64, int64[:,::1], uint32[:,:,::1], int64[::1], int64[::1], boolean[:,::1], int64[:,::1])")
def expand(cells, through, images, x, o, made, keys):
    """Write, for each open position and each cell, the key of the canonical position that claiming it leads to."""
    full = (1 << cells) - 1
    for i in range(len(x)):
        taken = x[i] | o[i]
        x_moves = bit_count(x[i]) == bit_count(o[i])
        for cell in range(cells):
            if taken >> cell & 1:
                keys[i, cell] = TAKEN
                continue
            if not made[i, cell]:
                keys[i, cell] = UNMADE
                continue
            x_after, o_after = x[i], o[i]
            if x_moves:
                x_after |= 1 << cell
            else:
                o_after |= 1 << cell
            if completes(x_after if x_moves else o_after, cell, through):
                keys[i, cell] = LINE
            elif x_after | o_after == full:
                keys[i, cell] = FULL
            else:
                image_x, image_o, _ = _smallest(x_after, o_after, images)
                keys[i, cell] = image_x << cells | image_o


@helper
def _found(key, sorted_keys):
    """Return the index of a key, or of the first larger one."""
    low, high = 0, len(sorted_keys)
    while low < high:
        middle = (low + high) >> 1
        if sorted_keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@jit("void(int64[:,::1], int64[::1], int64, int32[:,::1])")
def number_children(keys, following, first, child):
    """Write the row of each key, where `following` holds the keys of the rows from `first` on; copy what is no key."""
    for i in range(keys.shape[0]):
        for cell in range(keys.shape[1]):
            key = keys[i, cell]
            child[i, cell] = first + _found(key, following) if key >= 0 or key < UNMADE else key


@jit("void(int64, uint32[:,:,::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def canonical(cells, images, x, o, keys, symmetry_ids):
    """Write the key of each position's canonical form, and the id of a symmetry that leads to it."""
    for i in range(len(x)):
        image_x, image_o, symmetry_ids[i] = _smallest(x[i], o[i], images)
        keys[i] = image_x << cells | image_o


@jit("void(uint32[:,:,::1], int64[::1], int64[::1], int32[::1])")
def count_images(images, x, o, counts):
    """Write how many different positions are images of each."""
    for i in range(len(x)):
        same = 0
        for g in range(len(images)):
            same += carried(x[i], images, g) == x[i] and carried(o[i], images, g) == o[i]
        counts[i] = len(images) // same


@jit("void(int64, boolean, int8[::1], int32[:,::1], int8[::1], int8[:,::1])")
def score_moves(cells, misere, ply, child, score, scores):
    """Write the score of each move, for the side that makes it, from the scores of the rows it leads to.

    Rows are taken from the last to the first. Where `score` is ABSENT, it is set to the best move's.
    """
    for i in range(len(ply) - 1, -1, -1):
        best = ABSENT
        for cell in range(cells):
            after = child[i, cell]
            if after >= 0:
                reached = -score[after]
            elif after == LINE:
                reached = cells - ply[i]
                if misere:
                    reached = -reached
            elif after == FULL:
                reached = 0
            else:
                scores[i, cell] = ABSENT
                continue
            scores[i, cell] = reached
            best = max(best, reached)
        if score[i] == ABSENT:
            score[i] = best


@helper
def _half_of(x, images):
    """Return the smallest image of a set, and the id of the first symmetry that gives it."""
    half, best = carried(x, images, 0), 0
    for g in range(1, len(images)):
        image = carried(x, images, g)
        if image < half:
            half, best = image, g
    return half, best


@helper
def _place(half, o):
    """Return the place of O's cells in a page of the half: solver/index/places.py defines it."""
    place, i = 0, 1
    while o:
        low = o & -o
        place += CHOOSE[bit_count(low - 1 & ~half), i]
        o ^= low
        i += 1
    return place


@helper
def _common_cells(own, lines):
    """Return the cells that all lines in a set share; -1 if it holds none."""
    common = -1
    for line in lines:
        if line & own == line:
            common &= line
    return common


@jit(
    "int64(int64, boolean, int64[::1], uint32[:,:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int8[::1], "
    "int8[::1], int64[::1])"
)
def look_up(cells, misere, lines, images, x, o, halves, starts, pages, scores, missing):
    """Write the score of each position whose score is UNREAD, for the side to move; ABSENT if no game reaches it.

    The page of halves[i], where X is to move, begins at starts[i] in `pages`. Write to `missing` the halves of
    positions whose page is not there, which stay UNREAD; return how many there are.
    """
    full, count = (1 << cells) - 1, 0
    for i in range(len(x)):
        if scores[i] != UNREAD:
            continue
        scores[i] = ABSENT
        x_count, o_count = bit_count(x[i]), bit_count(o[i])
        x_moves = x_count == o_count
        taken = x[i] | o[i]
        if x[i] & o[i] or taken & ~full or not (x_moves or x_count == o_count + 1):
            continue
        x_common, o_common = _common_cells(x[i], lines), _common_cells(o[i], lines)
        if x_common != -1 or o_common != -1:
            last = o_common if x_moves else x_common  # of the side that moved last: one of these cells ended the game
            if (x_common if x_moves else o_common) == -1 and last != 0:
                lost = cells + 1 - x_count - o_count
                scores[i] = lost if misere else -lost
            continue
        if taken == full:
            scores[i] = 0
            continue
        half, g = _half_of(x[i], images)
        at = _found(half, halves)
        if at == len(halves) or halves[at] != half:
            missing[count] = half
            count += 1
            scores[i] = UNREAD
            continue
        image = carried(o[i], images, g)
        if x_moves:
            scores[i] = pages[starts[at] + _place(half, image)]
            continue
        worst, rest = 127, full & ~(half | image)
        while rest:
            low = rest & -rest
            rest ^= low
            worst = min(worst, pages[starts[at] + _place(half, image | low)])
        scores[i] = -worst if worst != UNREACHED else ABSENT
    return count
