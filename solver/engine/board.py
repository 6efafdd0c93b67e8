"""The engine's board, compiled: what is counted of lines and cells, and kept up to date with every move.

A line is *open* for a side while the other has no stone in it, and *misses* the cells in it that are empty. Each cell
has, for each side, the numbers of open lines through it that miss one to five cells. `place` and `take_back` update
everything that judging a position needs.

Of the arrays, `c` is what the game says (solver/engine/tables.py fills it), and `s` the state of one search.
"""

from solver.engine import CELLS_MOST
from solver.kernels.jit import helper, jit

import numpy as np  # isort: skip  (solver.kernels sets numba's cache folder first)

u = np.uintp
"""An index that is never negative: without it, each access would be tested for one that counts from the end."""

WORDS = 7
"""Sets of cells take so many words of 64 bits."""

KINDS = 5
"""Lines that miss up to so many cells are counted."""

FIELD = 12
"""Bits of each count; a cell's five counts stand in one number, those of lines that miss fewest highest."""

PLIES_MOST = 120
"""How deep a search goes."""

# Of `s`: single values, then tables.
NODES, LIMIT, STOP, EMPTY, MISERE, KEY, BEST, CELLS, WIDTH = range(9)
OPEN = 16
"""OPEN + 8 * side + missing: how many lines are open for a side and miss so many cells."""
WEIGHT = 32
"""WEIGHT + missing: what such a line is worth to the side to move; WEIGHT + 8 + missing, to the other."""
WORTH = 48
"""WORTH + missing: how much such a line through a cell speaks for claiming it."""
UNIT = 64
"""UNIT + missing: one line in a cell's counts."""
TAKEN = 80
BARRED = 88
"""Cells that are not tried at the root."""
CELL = 96
"""CELL + 4 * cell: its counts for each side, and its history for each side."""
ZOBRIST = CELL + 4 * CELLS_MOST
PLY = ZOBRIST + 2 * CELLS_MOST
"""PLY + ply * PLY_SIZE: near cells, cells that stop forks, two killers, the number of moves, and the moves."""
DEFENCE, KILLER, MOVES = WORDS, 2 * WORDS, 2 * WORDS + 2
PLY_SIZE = MOVES + CELLS_MOST + 1
LINE = PLY + PLY_SIZE * (PLIES_MOST + 2)
"""LINE + 4 * line: stones of each side, the exclusive or of its empty cells, and its length."""

# Of `c`: where the lines through each cell are listed, cells near each cell, then lists.
THROUGH = 0
NEAR = CELLS_MOST + 1
LISTS = NEAR + 2 * WORDS * CELLS_MOST
"""For each cell, its lines: the line's place in `s`, and where its cells stand in `c`, from which to which. A cell
stands there as the place in `s` that it has."""

ONE, TWO = 4 * FIELD, 3 * FIELD
"""By how much a cell's counts are shifted to have that of lines that miss one cell, and two, lowest."""

COUNT = (1 << FIELD) - 1
"""What is kept of them then, to have one count alone."""


@helper
def count_lines(c, s, at, side, missing, change):
    """Add to, or take from, the counts of a line's cells one line that misses so many."""
    if missing <= KINDS:
        unit = change * s[u(UNIT + missing)]
        for i in range(c[u(at + 1)], c[u(at + 2)]):
            s[u(c[u(i)] + side)] += unit
        s[u(OPEN + 8 * side + missing)] += change


@helper
def place(c, s, cell, side):
    """Put a stone of a side on an empty cell."""
    for at in range(c[u(THROUGH + cell)], c[u(THROUGH + cell + 1)], 3):
        line = c[u(at)]
        own, other, length = s[u(line + side)], s[u(line + 1 - side)], s[u(line + 3)]
        s[u(line + side)] = own + 1
        s[u(line + 2)] ^= cell
        if other == 0:
            missing = length - own
            if missing - 1 <= KINDS:
                unit = s[u(UNIT + missing - 1)] - s[u(UNIT + missing)]
                for i in range(c[u(at + 1)], c[u(at + 2)]):
                    s[u(c[u(i)] + side)] += unit
                s[u(OPEN + 8 * side + missing - 1)] += 1
                if missing <= KINDS:
                    s[u(OPEN + 8 * side + missing)] -= 1
            if own == 0:
                count_lines(c, s, at, 1 - side, length, -1)
        elif own == 0:
            count_lines(c, s, at, 1 - side, length - other, -1)
    s[u(TAKEN + (cell >> 6))] |= 1 << (cell & 63)
    s[KEY] ^= s[u(ZOBRIST + 2 * cell + side)]
    s[EMPTY] -= 1


@helper
def take_back(c, s, cell, side):
    """Take a stone of a side away, which was put there last."""
    for at in range(c[u(THROUGH + cell)], c[u(THROUGH + cell + 1)], 3):
        line = c[u(at)]
        own, other, length = s[u(line + side)] - 1, s[u(line + 1 - side)], s[u(line + 3)]
        s[u(line + side)] = own
        s[u(line + 2)] ^= cell
        if other == 0:
            missing = length - own
            if missing - 1 <= KINDS:
                unit = s[u(UNIT + missing)] - s[u(UNIT + missing - 1)]
                for i in range(c[u(at + 1)], c[u(at + 2)]):
                    s[u(c[u(i)] + side)] += unit
                s[u(OPEN + 8 * side + missing - 1)] -= 1
                if missing <= KINDS:
                    s[u(OPEN + 8 * side + missing)] += 1
            if own == 0:
                count_lines(c, s, at, 1 - side, length, 1)
        elif own == 0:
            count_lines(c, s, at, 1 - side, length - other, 1)
    s[u(TAKEN + (cell >> 6))] &= ~(1 << (cell & 63))
    s[KEY] ^= s[u(ZOBRIST + 2 * cell + side)]
    s[EMPTY] += 1


@helper
def step(c, s, ply, cell):
    """Fill in what is near after a move, for the next ply."""
    here, there = PLY + ply * PLY_SIZE, PLY + (ply + 1) * PLY_SIZE
    near = NEAR + 2 * WORDS * cell
    for word in range(WORDS):
        close = (c[u(near + 2 * word)] & 0xFFFFFFFF) | c[u(near + 2 * word + 1)] << 32
        s[u(there + word)] = s[u(here + word)] | close


@jit("void(int32[::1], int64[::1], int64, int64)")
def put(c, s, cell, side):
    """Put a stone on a cell, for what is set up before a search."""
    place(c, s, cell, side)


@jit("void(int32[::1], int64[::1], int64, int64)")
def lift(c, s, cell, side):
    """Take away a stone that `put` put there last."""
    take_back(c, s, cell, side)
