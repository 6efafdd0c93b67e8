"""Compiled code of tabular Q-learning over all positions of a game, up to symmetry.

The table holds what is thought of each position, for its side to move, on the scale of scores
(solver/games/score.py): a move is worth the negative of what it leads to, so Q(s, a) is -value[child]. What a move
brings that ends the game is known. A position with a line to complete needs no entry: completing it is best.
"""

import numpy as np

from solver.arrays.kernels import FULL, LINE, TAKEN
from solver.kernels.chance import below, next_random, seeded
from solver.kernels.jit import helper, jit

_WORST = -128.0


@helper
def _worth(after, end, value, wins):
    """Return what a move is worth that leads to a row or, with `end`, completes a line."""
    if after == LINE:
        return end
    if after == FULL:
        return 0.0
    return -(wins[after] if wins[after] else value[after])


@helper
def _best(row, child, end, value, wins):
    """Return the first of the moves of highest worth, and that worth."""
    best, cell = _WORST, -1
    for c in range(child.shape[1]):
        after = child[row, c]
        if after >= 0 or after <= LINE:
            worth = _worth(after, end, value, wins)
            if worth > best:
                best, cell = worth, c
    return cell, best


@helper
def _least_visited(row, child, visits, wins, misere, state):
    """Return the move to the position visited least, drawn among equals; in misère none that loses at once."""
    least, cell, equals = 1 << 30, -1, 0
    for c in range(child.shape[1]):
        after = child[row, c]
        if after >= 0:
            times = (1 << 29) if wins[after] else visits[after]
        elif after == FULL:
            times = 1 << 28
        elif after == LINE:
            times = (1 << 29) + 1 if misere else -1
        else:
            continue
        if times < least:
            least, cell, equals = times, c, 1
        elif times == least:
            equals += 1
            state = next_random(state)
            if below(state, equals) == 0:
                cell = c
    return cell, state


@helper
def _any(row, child, state):
    """Return a random legal move."""
    count = 0
    for c in range(child.shape[1]):
        count += child[row, c] >= 0 or child[row, c] <= LINE
    state = next_random(state)
    number = below(state, count)
    for c in range(child.shape[1]):
        if child[row, c] >= 0 or child[row, c] <= LINE:
            if number == 0:
                return c, state
            number -= 1
    return -1, state


@helper
def _by_chance(row, chances, state):
    """Return a move drawn by its chance."""
    state = next_random(state)
    left = (state >> 11 & (1 << 52) - 1) / (1 << 52)
    cell = -1
    for c in range(chances.shape[1]):
        if chances[row, c] > 0:
            cell = c
            left -= chances[row, c]
            if left < 0:
                break
    return cell, state


@helper
def _choice(row, child, end, value, visits, wins, misere, by_visits, epsilon, state):
    """Return the learner's own move: one that wins now, else one to explore, else the best."""
    cell, _ = _best(row, child, end, value, wins)
    if wins[row]:
        return cell, state
    if by_visits:
        return _least_visited(row, child, visits, wins, misere, state)
    state = next_random(state)
    if (state >> 11 & (1 << 52) - 1) < epsilon * (1 << 52):
        return _any(row, child, state)
    return cell, state


@helper
def _try_taken(row, child, taken, state):
    """Draw cells that are not known to be taken until one is free; return how many were not, which now are known."""
    cells = child.shape[1]
    attempts = 0
    while taken[row] != (1 << cells) - 1:
        state = next_random(state)
        cell = below(state, cells)
        if taken[row] >> cell & 1:
            continue
        if child[row, cell] != TAKEN:
            return state, attempts
        taken[row] |= 1 << cell
        attempts += 1
    return state, attempts


@jit(
    "void(int64, int64, int64, boolean, int8[::1], int32[:,::1], int8[::1], float32[::1], int32[::1], int32[::1], "
    "boolean, float64, float64, float32[:,::1], int64[::1])",
    allocates=True,
)
def play_games(
    seed, start, count, misere, ply, child, wins, value, visits, taken, by_visits, epsilon, step, opponent, tally
):
    """Play so many games, from number `start` on, and learn from each from its end to its beginning.

    `taken` has, if it has rows, the cells known to be taken. `opponent` has, if it has rows, the chances of the
    opponent's moves; the learner then plays X and O in turn. Add to `tally` X's wins, draws, O's wins, moves, and
    attempts on taken cells.
    """
    cells = child.shape[1]
    path = np.zeros(cells + 1, np.int32)
    for number in range(start, start + count):
        state = seeded(seed, number)
        row, length, result = 0, 0, 0
        while True:
            path[length] = row
            length += 1
            mover = ply[row] & 1
            end = float(cells - ply[row])
            if misere:
                end = -end
            if len(opponent) and mover != number & 1:
                cell, state = _by_chance(row, opponent, state)
            else:
                if len(taken):
                    state, attempts = _try_taken(row, child, taken, state)
                    tally[4] += attempts
                cell, state = _choice(row, child, end, value, visits, wins, misere, by_visits, epsilon, state)
            after = child[row, cell]
            if after >= 0:
                row = after
                continue
            if after == LINE:
                result = (1 if end > 0 else -1) * (1 - 2 * mover)
            break
        for i in range(length - 1, -1, -1):
            row = path[i]
            visits[row] += 1
            end = float(cells - ply[row])
            _, best = _best(row, child, -end if misere else end, value, wins)
            value[row] += step * (best - value[row])
        tally[1 - result] += 1
        tally[3] += length


@jit("void(boolean, int8[::1], int32[:,::1], int8[::1], float32[::1], int32[::1], int64[::1], int64[::1])")
def greedy(misere, ply, child, wins, value, taken, moves, equals):
    """Write the first best move of each row, and how many moves are as good.

    If `taken` has rows, a taken cell that is not known to be taken is thought to be worth 0.
    """
    for row in range(len(child)):
        end = float(child.shape[1] - ply[row])
        if misere:
            end = -end
        cell, best = _best(row, child, end, value, wins)
        equals[row] = 0
        for c in range(child.shape[1]):
            after = child[row, c]
            if after >= 0 or after <= LINE:
                equals[row] += _worth(after, end, value, wins) == best
            elif len(taken) and best < 0 and not taken[row] >> c & 1:
                cell, best, equals[row] = c, 0.0, 1
        moves[row] = cell
