"""Compiled code of the lab: values of positions, and which cells complete a line.

A value is a result on average, 1 for a win, 0 for a draw and -1 for a loss, for the player who is being graded. It is
worked out from the last ply to the first, ply by ply: `value` holds what is known of all rows of a walk
(solver/arrays/walk.py), and `child` the rows that the moves of one ply lead to.
"""

from solver.arrays.kernels import FULL, LINE, TAKEN, completes
from solver.kernels.bits import bit_count
from solver.kernels.jit import helper, jit

NEVER = 1 << 20
"""More plies than any game has."""


@helper
def _result(after, line, foul, value):
    """Return what a move brings the player: `line` if it completes a line, `foul` on a taken cell."""
    if after >= 0:
        return value[after]
    if after == LINE:
        return line
    return 0.0 if after == FULL else foul


@jit("void(int64, int32[:,::1], float64[:,::1], float64, float64, float64[::1])")
def mean(first, child, chances, line, foul, value):
    """Write the values of rows in which moves have these chances; whoever claims a taken cell loses."""
    for i in range(len(child)):
        total = 0.0
        for cell in range(child.shape[1]):
            if chances[i, cell] > 0:
                total += chances[i, cell] * _result(child[i, cell], line, foul, value)
        value[first + i] = total


@jit("void(int64, int32[:,::1], float64, float64[::1])")
def least(first, child, line, value):
    """Write the values of rows in which the opponent makes the move that is worst for the player."""
    for i in range(len(child)):
        worst = 2.0
        for cell in range(child.shape[1]):
            if child[i, cell] >= 0 or child[i, cell] == LINE or child[i, cell] == FULL:
                worst = min(worst, _result(child[i, cell], line, 0.0, value))
        value[first + i] = worst


@jit("void(int64, int32[:,::1], float64[:,::1], boolean, float64, float64, int32[::1])")
def soonest(first, child, chances, moves, line, enough, plies):
    """Write how many plies it takes at least until the player has `enough` or less; NEVER if that cannot be.

    If the player `moves`, only moves that have a chance are made; and if not, all.
    """
    for i in range(len(child)):
        fewest = NEVER
        for cell in range(child.shape[1]):
            after = child[i, cell]
            if moves and chances[i, cell] <= 0:
                continue
            if after >= 0:
                fewest = min(fewest, 1 + plies[after])
            elif after == LINE:
                fewest = min(fewest, 1 if line <= enough else NEVER)
            elif after == FULL:
                fewest = min(fewest, 1 if enough >= 0 else NEVER)
            elif after == TAKEN and moves:
                fewest = 1
        plies[first + i] = fewest


@jit("void(int64, int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def find_threats(cells, through, x, o, own, other):
    """Write, for each position, the cells on which the side to move completes a line, and those on which the other."""
    for i in range(len(x)):
        x_moves = bit_count(x[i]) == bit_count(o[i])
        mine, theirs = (x[i], o[i]) if x_moves else (o[i], x[i])
        own[i] = other[i] = 0
        for cell in range(cells):
            if (mine | theirs) >> cell & 1:
                continue
            if completes(mine | 1 << cell, cell, through):
                own[i] |= 1 << cell
            if completes(theirs | 1 << cell, cell, through):
                other[i] |= 1 << cell
