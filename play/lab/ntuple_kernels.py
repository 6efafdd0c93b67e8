"""Compiled code of the n-tuple learner: what moves are worth to it, and how it learns from whole games.

A tuple is some cells. Its **index** has a digit for each of its cells, in base 3: 0 if the cell is empty, 1 if it is
the mover's, 2 if it is the opponent's. `powers[cell, i]` is what a digit 1 in a cell adds to the index of tuple i, or 0
if the cell is not in the tuple; `origins[i]` is the index for an empty board. `slots[index]` is the number of the
weight: indices that are images of each other have the same. A move is worth the sum of the weights of the board after
it; tanh makes that a value, from -1 for a loss to 1 for a win.
"""

import numpy as np

from solver.arrays.kernels import completes
from solver.kernels.bits import bit_count
from solver.kernels.chance import below, next_random, seeded
from solver.kernels.jit import helper, jit

SURE = 1e9
"""What completing a line is worth; tanh makes it 1."""

_NEVER = -1e18
"""Less than any move is worth."""

_SHARES = 1 << 24
"""Chances are compared with multiples of one by so many."""


@helper
def _rate(own, taken, misere, through, powers, slots, weights, index, worth):
    """Write what each move is worth to the mover, whose indices these are; return the best."""
    full, best = (1 << len(powers)) - 1, _NEVER
    for cell in range(len(powers)):
        if taken >> cell & 1:
            worth[cell] = _NEVER
            continue
        if completes(own | 1 << cell, cell, through):
            total = -SURE if misere else SURE
        elif taken | 1 << cell == full:
            total = 0.0
        else:
            total = 0.0
            for i in range(len(index)):
                total += weights[slots[index[i] + powers[cell, i]]]
        worth[cell] = total
        best = max(best, total)
    return best


@helper
def _claim(cell, powers, own_index, other_index):
    """Add a stone of one side to the indices of both."""
    for i in range(len(own_index)):
        own_index[i] += powers[cell, i]
        other_index[i] += 2 * powers[cell, i]


@helper
def _learn(target, rate, weights, hits, met):
    """Move what the board with these weights is worth towards the target, by a share of the distance.

    The share is the same however often a weight counts, as some do on boards with symmetries: without dividing by the
    squares, steps on such boards would be far too long.
    """
    total, squares = 0.0, 0
    for slot in met:
        total += weights[slot]
        hits[slot] += 1
    for slot in met:
        squares += hits[slot]
    step = np.float32(rate * (target - np.tanh(total)) / max(squares, 1))
    for slot in met:
        weights[slot] += step
        hits[slot] = 0


@helper
def _best_move(worth, best, state):
    """Return one of the best moves, at random, and the next number."""
    chosen, ties = 0, 0
    for cell in range(len(worth)):
        if worth[cell] == best:
            ties += 1
            state = next_random(state)
            if below(state, ties) == 0:
                chosen = cell
    return chosen, state


@helper
def _any_move(worth, state, otherwise):
    """Return any move, at random, that completes no line, or the other if all do; and the next number."""
    chosen, count = otherwise, 0
    for cell in range(len(worth)):
        if -SURE < worth[cell] < SURE:
            count += 1
            state = next_random(state)
            if below(state, count) == 0:
                chosen = cell
    return chosen, state


@jit(
    "void(int64, int64, int64, float64, float64, float64, boolean,"
    " int64[:,::1], int64[:,::1], int64[::1], int32[::1], float32[::1], int32[::1], int64[::1])",
    allocates=True,
)
def play_games(
    seed, start, stop, rate, change, explore, misere, through, powers, origins, slots, weights, hits, played
):
    """Play games against itself and learn from each move; add X's wins, draws, O's wins and all plies to `played`.

    Game n learns at `rate` + n * `change`. It begins with a random number of random moves, and later ones are random
    with the chance `explore`. What is learned does not depend on the move made, but on the best one. `hits` has a 0 for
    each weight, before and after.
    """
    cells = len(powers)
    full = (1 << cells) - 1
    index, worth = np.empty((2, len(origins)), np.int64), np.empty(cells)
    met = np.empty(len(origins), np.int64)
    for game in range(start, stop):
        state = next_random(seeded(seed, game))
        opening = below(state, cells + 1)
        index[0], index[1] = origins, origins
        own, other = 0, 0
        for ply in range(cells):
            mover = ply & 1
            best = _rate(own, own | other, misere, through, powers, slots, weights, index[mover], worth)
            if ply:
                _learn(-np.tanh(best), rate + change * game, weights, hits, met)
            cell, state = _best_move(worth, best, state)
            state = next_random(state)
            if ply < opening or below(state, _SHARES) < explore * _SHARES:
                cell, state = _any_move(worth, state, cell)
            over = abs(worth[cell]) == SURE
            if over or own | other | 1 << cell == full:
                played[1 if not over else 2 * (mover ^ misere)] += 1
                played[3] += ply + 1
                break
            _claim(cell, powers, index[mover], index[1 - mover])
            for i in range(len(met)):
                met[i] = slots[index[mover, i]]
            own, other = other, own | 1 << cell


@jit(
    "void(int64[::1], int64[::1], boolean,"
    " int64[:,::1], int64[:,::1], int64[::1], int32[::1], float32[::1], float64[:,::1])",
    allocates=True,
)
def rate_moves(x, o, misere, through, powers, origins, slots, weights, worth):
    """Write what each move is worth to the side that makes it, in open positions; -1e18 on taken cells."""
    index, unused = np.empty(len(origins), np.int64), np.empty(len(origins), np.int64)
    for k in range(len(x)):
        mover = (bit_count(x[k]) + bit_count(o[k])) & 1
        own, other = (o[k], x[k]) if mover else (x[k], o[k])
        index[:] = origins
        for cell in range(len(powers)):
            if own >> cell & 1:
                _claim(cell, powers, index, unused)
            elif other >> cell & 1:
                _claim(cell, powers, unused, index)
        _rate(own, own | other, misere, through, powers, slots, weights, index, worth[k])
