"""The engine's search, compiled: principal variation search with threats, and an estimate at its leaves.

Everything is counted by lines (solver/engine/board.py), and what follows holds in every game of lines:

- a line of mine misses one cell: I win at once;
- lines of the other side miss one cell each: I must claim it, and if there are two such cells, I have lost;
- I can claim a cell that leaves two of my lines with different cells missing (*fork*): I win in three plies;
- the other side could: I must claim a cell of all those forks, or make a threat of my own.

The last two take the place of a deeper search, and they are exact. Elsewhere only the most promising moves near other
stones are tried, so a win that the search reports is likely, not certain: solver/certificates proves or drops it.

`c` and `s` are the arrays of the board, and `t` is the transposition table.
"""

from solver.engine.board import (
    BARRED,
    BEST,
    CELL,
    CELLS,
    COUNT,
    DEFENCE,
    EMPTY,
    FIELD,
    KEY,
    KILLER,
    KINDS,
    LIMIT,
    MISERE,
    MOVES,
    NODES,
    ONE,
    OPEN,
    PLIES_MOST,
    PLY,
    PLY_SIZE,
    STOP,
    TAKEN,
    TWO,
    WEIGHT,
    WIDTH,
    WORDS,
    WORTH,
    ZOBRIST,
    place,
    step,
    take_back,
    u,
)
from solver.engine.threats import find_defences, find_fork, find_gaps
from solver.kernels.bits import lowest, prefetch
from solver.kernels.jit import helper, jit

MATE = 30_000
"""A win now; a win in n plies is worth n less."""

WON = MATE - 1_000
UNDECIDED = 1 << 21

_EXACT, _AT_LEAST, _AT_MOST = 1, 2, 3
_INFINITE = 1 << 20
_SHIFT, _SHALLOWEST = 1 << 17, 64
"""What makes values and depths in the table positive."""

_CHECKS = -2
"""How much further than its depth a search follows threats."""

_DEFENCES, _THREATS = 1, 2
"""What moves are tried only: those that stop forks, and own threats to complete a line; or such threats alone."""

_NEAR_LEAVES, _SURE = 3, 80
"""With so few plies left, a position that is worth so much more a ply than it has to be is not searched."""

_TRIED_MOST = 2048


@helper
def worth_of(s, cell, side):
    """Return how much lines of a side speak for claiming a cell."""
    counts = s[u(CELL + 4 * cell + side)]
    return (
        (counts & COUNT) * s[u(WORTH + 5)]
        + (counts >> FIELD & COUNT) * s[u(WORTH + 4)]
        + (counts >> 2 * FIELD & COUNT) * s[u(WORTH + 3)]
        + (counts >> 3 * FIELD & COUNT) * s[u(WORTH + 2)]
    )


@helper
def estimate(s, side):
    """Return what the lines are worth to the side to move."""
    mine, theirs = OPEN + 8 * side, OPEN + 8 * (1 - side)
    value = 0
    for missing in range(2, KINDS + 1):
        value += s[mine + missing] * s[WEIGHT + missing] - s[theirs + missing] * s[WEIGHT + 8 + missing]
    return value


@helper
def list_moves(s, side, ply, only, best):
    """List the moves to try, each with how promising it is, and return how many there are.

    `only` is 0 for all cells near stones, or _DEFENCES or _THREATS.
    """
    here = PLY + ply * PLY_SIZE
    moves, count = here + MOVES, 0
    one, two = s[u(here + KILLER)], s[u(here + KILLER + 1)]
    for word in range(WORDS):
        cells = s[u(here + word)] & ~s[u(TAKEN + word)]
        while cells:
            bit = lowest(cells)
            cells &= cells - 1
            cell = word << 6 | bit
            own = s[u(CELL + 4 * cell + side)]
            stops = only == _DEFENCES and s[u(here + DEFENCE + word)] >> bit & 1
            if only and not stops and not own >> TWO:
                continue
            if s[MISERE]:
                if own >> ONE:
                    continue
                score = 100_000 - 2 * worth_of(s, cell, side) - worth_of(s, cell, 1 - side)
                score = max(score, 0)
            else:
                score = 2 * worth_of(s, cell, side) + worth_of(s, cell, 1 - side)
                score += s[u(CELL + 4 * cell + 2 + side)] >> 4
                if cell in (one, two):
                    score += 300
            if cell == best:
                score += 1 << 30
            s[u(moves + count)] = score << 9 | cell
            count += 1
    return count


@helper
def next_move(s, moves, i, count):
    """Return the most promising of the moves from number i on, and put it there."""
    best = i
    for j in range(i + 1, count):
        if s[u(moves + j)] > s[u(moves + best)]:
            best = j
    move = s[u(moves + best)]
    s[u(moves + best)] = s[u(moves + i)]
    s[u(moves + i)] = move
    return move & 511


@helper
def key_after(s, cell, side):
    """Return the key of the position after a move."""
    return s[KEY] ^ s[u(ZOBRIST + 2 * cell + side)] ^ (1 - side)


@helper
def slot_of(t, key):
    """Return where the table has two places for a position."""
    return 2 * ((key ^ key >> 29) & (len(t) // 2 - 2))


@helper
def look_up(t, key):
    """Return the word that is remembered of a position, or 0."""
    slot = slot_of(t, key)
    if t[slot] == key:
        return t[slot + 1]
    return t[slot + 3] if t[slot + 2] == key else 0


@helper
def remember(t, key, value, bound, depth, cell):
    """Remember a position."""
    slot = slot_of(t, key)
    if t[slot] != key and (t[slot + 1] >> 12 & 1023) - _SHALLOWEST > depth:
        slot += 2
    t[slot] = key
    t[slot + 1] = (value + _SHIFT) << 22 | (depth + _SHALLOWEST) << 12 | bound << 10 | (cell + 1)


@helper
def from_here(value, ply):
    """Return a value that counts a win's plies from the root as one that counts them from this ply."""
    return value + ply * ((value > WON) - (value < -WON))


@helper
def decides(word, depth, ply, alpha, beta):
    """Return whether what is remembered of a position decides it under this window, and its value."""
    value, bound = (word >> 22) - _SHIFT, word >> 10 & 3
    lasting = (value > WON and bound == _AT_LEAST) or (value < -WON and bound == _AT_MOST)
    deep = lasting or (word >> 12 & 1023) - _SHALLOWEST >= depth
    value = from_here(value, -ply)
    holds = bound == _EXACT or (bound == _AT_LEAST and value >= beta) or (bound == _AT_MOST and value <= alpha)
    return deep and holds, value


@helper
def see(c, s, side, last, ply):
    """Return the value of a position that the lines decide at once, or UNDECIDED, and the cell that wins or is forced.

    The cell is -1 where there is none.
    """
    other = 1 - side
    if s[EMPTY] == 0:
        return 0, -1
    if s[MISERE]:
        return UNDECIDED, -1
    if s[OPEN + 8 * side + 1]:
        return MATE - ply - 1, find_gaps(c, s, side, -1)[0] if ply == 0 else -1
    if s[OPEN + 8 * other + 1]:
        forced, second = find_gaps(c, s, other, last)
        return (ply + 2 - MATE if second >= 0 else UNDECIDED), forced
    if s[OPEN + 8 * side + 2] >= 2:
        cell = find_fork(c, s, side, PLY + ply * PLY_SIZE, 0)
        if cell >= 0:
            return MATE - ply - 3, cell
    return UNDECIDED, -1


@helper
def is_enough(s, side, only, value, depth, alpha, beta):
    """Tell whether the estimate of a position is taken for its value.

    At depth 0 threats are followed a little further: those that the side to move has to answer, and its own.
    """
    if depth > 0 and not only:
        sure = value - _SURE * depth >= beta and beta - alpha == 1
        return sure and depth <= _NEAR_LEAVES and not s[MISERE]
    if depth > 0 or (only and depth > _CHECKS):
        return False
    return only or value >= beta or depth <= _CHECKS or s[MISERE] or s[OPEN + 8 * side + 2] < 2


@helper
def list_all(s, side, ply, only, best):
    """List the moves to try, all empty cells if none is near a stone; return how many there are."""
    count = list_moves(s, side, ply, only, best)
    if count or only or s[MISERE]:
        return count
    for word in range(WORDS):
        left = min(max(s[CELLS] - 64 * word, 0), 64)
        s[PLY + ply * PLY_SIZE + word] = -1 if left == 64 else (1 << left) - 1
    return list_moves(s, side, ply, 0, best)


@helper
def width(s, depth):
    """Return how many moves are tried: fewer where little depth is left."""
    return s[WIDTH] if depth > 4 else 6 + 4 * max(depth, 0)


@helper
def reduced(i, depth):
    """Return by how many plies move number i is looked into less at first: the order is right nearly always."""
    if i == 0 or depth < 2:
        return 0
    return 1 + (i >= 3 and depth >= 4) + (i >= 6 and depth >= 6) + (i >= 12 and depth >= 8)


@helper
def learn(s, cell, side, depth, ply):
    """Note that a move has refuted the one before it, so that it is tried earlier elsewhere."""
    killer, tried = PLY + ply * PLY_SIZE + KILLER, CELL + 4 * cell + 2 + side
    s[tried] += (_TRIED_MOST - s[tried]) * min(depth * depth, 64) >> 9
    if s[killer] != cell:
        s[killer + 1] = s[killer]
        s[killer] = cell


@jit("int64(int32[::1], int64[::1], int64[::1], int64, int64, int64, int64, int64, int64)")
def search(c, s, t, side, last, alpha, beta, depth, ply):
    """Return what a position is worth to the side to move, between alpha and beta, looking so many plies ahead.

    `last` is the other side's last move, or -1. The near cells of the ply are filled in. At the root, BEST is the move.
    """
    s[NODES] += 1
    if s[NODES] >= s[LIMIT]:
        s[STOP] = 1
    if s[STOP]:
        return 0
    here, other = PLY + ply * PLY_SIZE, 1 - side
    value, forced = see(c, s, side, last, ply)
    if value != UNDECIDED and (ply or value > 0):
        if ply == 0:
            s[BEST] = forced
        return value
    if ply >= PLIES_MOST:
        return estimate(s, side)
    alpha, beta = max(alpha, ply + 2 - MATE), min(beta, MATE - ply - 3)
    if alpha >= beta and ply:
        return alpha

    key = s[KEY] ^ side
    word = look_up(t, key)
    likely = (word & 1023) - 1
    if word and ply:
        known, value = decides(word, depth, ply, alpha, beta)
        if known:
            return value

    only = 0
    if forced < 0 and s[OPEN + 8 * other + 2] >= 2 and not s[MISERE]:
        only = min(find_defences(c, s, other, here, here + DEFENCE), _DEFENCES)
    best, floor = -_INFINITE, alpha
    if forced < 0:
        value = estimate(s, side)
        if ply and is_enough(s, side, only, value, depth, alpha, beta):
            return value
        if depth <= 0 and not only:
            best, floor, only = value, max(alpha, value), _THREATS

    moves, count = here + MOVES, 1
    if forced >= 0:
        s[moves] = forced
    else:
        count = list_all(s, side, ply, only, likely)
        if count == 0 and only == _THREATS:
            return best
        if count == 0 and only and ply:
            return ply + 4 - MATE
        if count == 0:
            only, count = 0, list_all(s, side, ply, 0, likely)
        if count == 0:
            return ply + 1 - MATE

    choice, barred = -1, False
    for i in range(count if only or ply == 0 else min(count, width(s, depth))):
        cell = next_move(s, moves, i, count)
        if ply == 0 and s[BARRED + (cell >> 6)] >> (cell & 63) & 1:
            barred = True
            continue
        quiet = forced < 0 and s[CELL + 4 * cell + side] >> TWO & COUNT == 0
        left = depth if forced >= 0 else depth - 1
        less = reduced(i, depth) if quiet and not only and depth < s[EMPTY] else 0
        prefetch(t, slot_of(t, key_after(s, cell, side)))
        step(c, s, ply, cell)
        place(c, s, cell, side)
        value = floor + 1
        if choice >= 0:
            value = -search(c, s, t, other, cell, -floor - 1, -floor, left - less, ply + 1)
        if choice < 0 or (value > floor and (less or value < beta)):
            value = -search(c, s, t, other, cell, -beta, -floor, left, ply + 1)
        take_back(c, s, cell, side)
        if s[STOP]:
            return 0
        if value > best:
            best = value
            if value > floor or choice < 0:
                choice = cell
                if ply == 0:
                    s[BEST] = cell
            floor = max(floor, value)
            if floor >= beta:
                if quiet and depth > 0:
                    learn(s, cell, side, depth, ply)
                break
    if not barred:
        bound = _AT_LEAST if best >= beta else _AT_MOST if best <= alpha else _EXACT
        remember(t, key, from_here(best, ply), bound, depth, choice)
    return best
