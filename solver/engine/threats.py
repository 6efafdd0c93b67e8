"""Threats on the engine's board, compiled: cells that complete a line, forks, and what stops those.

A line that misses one cell is a threat to complete it (a *four* in gomoku). A *fork* is a cell that leaves a side with
two such lines, and not with the same cell missing: one move cannot answer both.
"""

from solver.engine.board import CELL, CELLS, COUNT, ONE, TAKEN, THROUGH, TWO, WORDS, u
from solver.kernels.bits import lowest
from solver.kernels.jit import helper


@helper
def find_gaps(c, s, side, last):
    """Return the cell that completes a line of a side, and another such cell or -1; `last` was its last move, or -1."""
    first = -1
    if last >= 0:
        for at in range(c[THROUGH + last], c[THROUGH + last + 1], 3):
            line = c[at]
            if s[line + 1 - side] == 0 and s[line + 3] - s[line + side] == 1:
                gap = s[line + 2]
                if first < 0:
                    first = gap
                elif gap != first:
                    return first, gap
        if first >= 0:
            return first, -1
    for cell in range(s[CELLS]):
        if s[TAKEN + (cell >> 6)] >> (cell & 63) & 1 == 0 and s[CELL + 4 * cell + side] >> ONE:
            if first >= 0:
                return first, cell
            first = cell
    return first, -1


@helper
def forks(c, s, cell, side):
    """Tell whether claiming a cell leaves a side with two lines that miss one cell each, and not the same."""
    gap = -1
    for at in range(c[u(THROUGH + cell)], c[u(THROUGH + cell + 1)], 3):
        line = c[u(at)]
        if s[u(line + 1 - side)] == 0 and s[u(line + 3)] - s[u(line + side)] == 2:
            other = s[u(line + 2)] ^ cell
            if gap < 0:
                gap = other
            elif other != gap:
                return True
    return False


@helper
def find_fork(c, s, side, near, start):
    """Return the first cell from number `start` on that makes a fork for a side, or -1.

    `near` is where the cells stand that can.
    """
    for word in range(start >> 6, WORDS):
        cells = s[u(near + word)] & ~s[u(TAKEN + word)]
        if word == start >> 6:
            cells &= -1 << (start & 63)
        while cells:
            bit = lowest(cells)
            cells &= cells - 1
            cell = word << 6 | bit
            if (s[u(CELL + 4 * cell + side)] >> TWO & COUNT) >= 2 and forks(c, s, cell, side):
                return cell
    return -1


@helper
def find_defences(c, s, side, near, defence):
    """Fill in the cells that stop all forks of a side, and return how many forks there are."""
    found, cell = 0, find_fork(c, s, side, near, 0)
    while cell >= 0:
        stop_fork(c, s, cell, side, defence, found)
        found += 1
        cell = find_fork(c, s, side, near, cell + 1)
    return found


@helper
def stop_fork(c, s, cell, side, defence, found):
    """Keep of the cells in `defence` those that stop one more fork: its cell, and its gaps if there are but two."""
    one, two, more = -1, -1, False
    for at in range(c[THROUGH + cell], c[THROUGH + cell + 1], 3):
        line = c[at]
        if s[line + 1 - side] == 0 and s[line + 3] - s[line + side] == 2:
            gap = s[line + 2] ^ cell
            if one < 0:
                one = gap
            elif gap != one:
                if two < 0:
                    two = gap
                elif gap != two:
                    more = True
    for word in range(WORDS):
        mask = 0
        if cell >> 6 == word:
            mask |= 1 << (cell & 63)
        if not more:
            if one >> 6 == word:
                mask |= 1 << (one & 63)
            if two >> 6 == word:
                mask |= 1 << (two & 63)
        s[defence + word] = mask if found == 0 else s[defence + word] & mask
