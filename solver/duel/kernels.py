"""The kernels of the duel's search, and the layout of the memory that they share with it.

A margin is the side to move's tiles less the other side's on the full board, under best play by both. It
has the parity of the number of cells.

A tile with no empty neighbour is settled: it can neither be turned nor give its owner a move, and only
counts. The other tiles are live. So the empty cells and the colours of the live tiles decide all that is
to come, and the table stores, for these, bounds on the margin that the cells not settled will add.

`solve` answers one question, whether the margin exceeds `low`. Exact margins take several questions, each
starting from the bounds that the table kept. `guess` looks some plies ahead and then estimates.

An entry of the table is two words: the second holds what is known of a position and part of its key, and
the first, mixed with the second, the rest. A key is never mistaken for another; an entry torn by two
threads that write at once fails the comparison, except by a chance of about 2**-62.
"""

from typing import Any

from solver.kernels.bits import bit_count, lowest

from solver.kernels.jit import helper, jit  # isort: skip  (it sets numba's cache folder first)

from llvmlite import ir  # isort: skip
from numba import types  # isort: skip
from numba.extending import intrinsic  # isort: skip

UNIT = 20
"""What a tile counts in estimates."""

NODES, LIMIT, GIVEN_UP, ROOT, CELLS, FULL, KEPT, SMALL, LEAST, SHARED = range(10)
GUESS_KEPT, DISTANCES_END, GROUP, IMAGES, MIRRORED = range(10, 15)
NEAR = 16
STACK = NEAR + 64
DISTANCES = STACK + 64 * 64
BYTES = 8
BUCKET = 4  # entries of two words: a cache line
WORD_BITS = 18  # 6 for the lower bound, 6 for the upper, 6 for the best move
TABLE_FROM = 4  # with fewer empty cells the margin is a formula
PEEK_FROM = 10  # from so many empty cells, the entries of all moves are read before any is searched
MIRROR_ROOT = 4  # in searches that start within so many moves from the empty board, symmetric positions share ...
MIRROR_MOVES = 12  # ... entries within so many: any later, few meet, and those of different images never do
EXACT, AT_LEAST, AT_MOST = 1, 2, 3
NO_CELL = 63
FOREVER = 1 << 62
MASK = (1 << 62) - 1
MIX = 0x0951FC53D859B747  # odd: multiplication is a bijection of n-bit numbers for every n
SPREAD = 0x1E3779B97F4A7C15


@intrinsic
def get(typing_context: Any, array: Any, index: Any) -> Any:
    """Return a word of an array, given its address.

    Kernels are passed addresses because numba counts references to arrays in every call: it takes twice the time.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(builder, *arguments))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def put(typing_context: Any, array: Any, index: Any, word: Any) -> Any:
    """Write a word of an array, given its address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(builder, *arguments[:2]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _place(builder: Any, array: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(array, ir.IntType(64).as_pointer()), [index])


@helper
def _beside(cells, memory):
    """Return the cells next to some of these."""
    found = 0
    for i in range(DISTANCES, get(memory, DISTANCES_END), 2):
        distance, lower = get(memory, i), get(memory, i + 1)
        found |= (cells & lower) << distance | cells >> distance & lower
    return found


@helper
def _carried(cells, row, memory):
    """Return the image of a set under the symmetry whose rows start there."""
    image = 0
    while cells:
        image |= get(memory, row + (cells & 255))
        cells >>= 8
        row += 256
    return image


@helper
def _mirror(empty, mine, memory):
    """Return the rows of the symmetry that makes a position the canonical one: the most empty, then the least mine.

    Low cells come first among equally promising moves, so tiles on low cells keep the search in one corner.
    """
    row = best = get(memory, IMAGES)
    most, least = empty, mine
    for _ in range(1, get(memory, GROUP)):
        row += BYTES << 8
        moved = _carried(empty, row, memory)
        if moved >= most:
            moved_mine = _carried(mine, row, memory)
            if moved > most or moved_mine < least:
                most, least, best = moved, moved_mine, row
    return best


@helper
def _two_left(own, empty, memory):
    """Return how many cells the other side ends with: the last tile and all next to it."""
    one, two = get(memory, NEAR + lowest(empty)), get(memory, NEAR + lowest(empty & (empty - 1)))
    after_one, after_two = 1 + bit_count(two), 1 + bit_count(one)
    if (one & own == 0) == (two & own == 0):
        return min(after_one, after_two)
    return after_one if one & own else after_two


@helper
def _three_left(own, other, empty, memory):
    """Return how many cells the other side ends with: its one move's neighbourhood without the last one's."""
    anywhere = _beside(own, memory) & empty == 0
    fewest = 64
    first = empty
    while first:
        cell = lowest(first)
        first &= first - 1
        near = get(memory, NEAR + cell)
        if anywhere or near & own:
            rest = empty ^ 1 << cell
            low, high = rest & -rest, rest & (rest - 1)
            one, two = get(memory, NEAR + lowest(low)), get(memory, NEAR + lowest(high))
            kept_one, kept_two = bit_count((one | low) & ~(two | high)), bit_count((two | high) & ~(one | low))
            reach_one, reach_two = one & other & ~near != 0, two & other & ~near != 0
            kept = max(kept_one, kept_two)
            if reach_one != reach_two:
                kept = kept_one if reach_one else kept_two
            fewest = min(fewest, kept)
    return fewest


@helper
def _last_moves(left, undecided, mine, yours, empty, memory):
    """Return what up to three moves add to the margin: all undecided cells go to the side that moves last near them."""
    if left == 3:
        return undecided - 2 * _three_left(mine, yours, empty, memory)
    if left == 2:
        return undecided - 2 * _two_left(mine, empty, memory)
    return undecided


@helper
def _code(empty, mine, memory):
    """Return a number that stands for the live tiles, given the empty cells: its high bits tell the bucket."""
    return mine * SPREAD & get(memory, FULL) ^ (empty * MIX & MASK) >> 62 - get(memory, CELLS)


@helper
def _find(empty, code, memory, table):
    """Return the word of a position, or 0, and its slot or the slot to store it in.

    That is the slot of the position with the fewest empty cells, which is the quickest to search again, or
    of one from before the root, which cannot come again.
    """
    bucket = (code >> get(memory, KEPT)) * 2 * BUCKET
    kept = code & (1 << get(memory, KEPT)) - 1
    least, victim = 64, bucket
    for slot in range(bucket, bucket + 2 * BUCKET, 2):
        word = get(table, slot + 1)
        cells = get(table, slot) ^ word * MIX & MASK
        if cells == empty and word >> WORD_BITS == kept:
            return word, slot
        size = bit_count(cells)
        if size > get(memory, ROOT):
            size = 0
        if size < least:
            least, victim = size, slot
    return 0, victim


@helper
def _peek(empty, code, memory, table):
    """Return the word of a position, or 0."""
    bucket = (code >> get(memory, KEPT)) * 2 * BUCKET
    kept = code & (1 << get(memory, KEPT)) - 1
    for slot in range(bucket, bucket + 2 * BUCKET, 2):
        word = get(table, slot + 1)
        if word >> WORD_BITS == kept and get(table, slot) ^ word * MIX & MASK == empty:
            return word
    return 0


@helper
def _promise(cell, rest, settled, yours, left, memory):
    """Return the rank of a move, the least first: few replies, and many tiles settled."""
    replies = bit_count(_beside(yours & ~get(memory, NEAR + cell), memory) & rest) or left - 1
    return (2 * replies - settled + 16) << 6 | cell


@helper
def _take_least(start, end, memory):
    """Return the cell with the least rank in the list, and put the first in its place."""
    at = start
    for i in range(start + 1, end):
        if get(memory, i) < get(memory, at):
            at = i
    cell = get(memory, at) & 63
    put(memory, at, get(memory, start))
    return cell


@helper
def _rank_moves(empty, mine, yours, left, first, sure, most, low, memory, table):
    """Return the end of the list of moves and 0; or 0 and a margin above `low` that a move is known to reach.

    `sure` is what the side to move gets in any case, if it ends with the least of all undecided cells, and
    `most`, if it ends with all of them. A move that settles tiles, which are then its own, adds them to `sure`.
    """
    moves = _beside(mine, memory) & empty or empty
    end = start = STACK + (left << 6)
    while moves:
        cell = lowest(moves)
        moves &= moves - 1
        rest = empty ^ 1 << cell
        near = get(memory, NEAR + cell)
        edge = _beside(rest, memory)
        settled = bit_count((mine | yours & near | 1 << cell) & ~edge)
        if sure + 2 * settled > low:
            return 0, sure + 2 * settled
        if left >= PEEK_FROM:
            word = _peek(rest, _code(rest, yours & ~near & edge, memory), memory, table)
            if word and most - 2 * (word >> 6 & 63) > low:
                return 0, most - 2 * (word >> 6 & 63)
        put(memory, end, cell if cell == first else _promise(cell, rest, settled, yours, left, memory))
        end += 1
    return end, start


@helper
def _guaranteed(left, empty, memory):
    """Return how many undecided cells each side gets in any case.

    The last tile keeps its neighbourhood; the one before it loses to the last only what the two share.
    """
    last = get(memory, LEAST) + (empty & get(memory, SMALL) == 0)
    before = max(last - get(memory, SHARED), 0)
    return (last, before) if left & 1 else (before, last)


@jit("int64(int64, int64, int64, int64, int64)")
def solve(own, other, low, memory, table):
    """Return a margin v: if v <= low, the true margin is at most v; if v > low, it is at least v.

    `memory` holds everything but the table in one array: passing arrays down the recursion takes time.
    """
    put(memory, NODES, get(memory, NODES) + 1)
    if get(memory, NODES) > get(memory, LIMIT):
        put(memory, GIVEN_UP, 1)
        return 0
    empty = get(memory, FULL) & ~(own | other)
    left = bit_count(empty)
    live = _beside(empty, memory) & ~empty
    mine, yours = own & live, other & live
    undecided = left + bit_count(live)
    base = bit_count(own ^ mine) - bit_count(other ^ yours)
    if left < TABLE_FROM:
        return base + _last_moves(left, undecided, mine, yours, empty, memory)
    for_me, for_you = _guaranteed(left, empty, memory)
    least, most = base - undecided, base + undecided
    lower, upper = least + 2 * for_me, most - 2 * for_you
    if lower > low:
        return lower
    if upper <= low:
        return upper
    sure = lower

    if left >= get(memory, MIRRORED):
        row = _mirror(empty, mine, memory)
        own, other = _carried(own, row, memory), _carried(other, row, memory)
        empty, mine, yours = _carried(empty, row, memory), _carried(mine, row, memory), _carried(yours, row, memory)
    code = _code(empty, mine, memory)
    word, slot = _find(empty, code, memory, table)
    first = NO_CELL
    if word:
        lower, upper = least + 2 * (word & 63), least + 2 * (word >> 6 & 63)
        if lower > low:
            return lower
        if upper <= low:
            return upper
        first = word >> 12 & 63

    end, found = _rank_moves(empty, mine, yours, left, first, sure, most, low, memory, table)
    if end == 0:
        return found
    best, best_cell = -FOREVER, NO_CELL
    for start in range(found, end):
        cell = _take_least(start, end, memory)
        near = get(memory, NEAR + cell)
        value = -solve(other & ~near, own | other & near | 1 << cell, -low - 1, memory, table)
        if get(memory, GIVEN_UP):
            return 0
        if value > best:
            best, best_cell = value, cell
            if value > low:
                break
    if best > low:
        lower = best
    else:
        upper = best
    word = (
        (code & (1 << get(memory, KEPT)) - 1) << WORD_BITS | best_cell << 12 | upper - least << 5 | lower - least >> 1
    )
    put(table, slot, empty ^ word * MIX & MASK)
    put(table, slot + 1, word)
    return best


@helper
def _estimate(left, mine, yours, empty, memory):
    """Return an estimate of what undecided cells will add to the margin, fitted to exact margins of 6x6.

    Besides tiles, it counts the moves that only the side to move has, only the other side, and both. Moves of
    one's own are a burden: a tile placed early is turned later. Whoever places last is ahead.
    """
    my_moves, your_moves = _beside(mine, memory) & empty, _beside(yours, memory) & empty
    estimate = 17 * bit_count(mine) - 13 * bit_count(yours) + 9 * bit_count(my_moves & your_moves)
    estimate += 2 * bit_count(your_moves & ~my_moves) - 5 * bit_count(my_moves & ~your_moves)
    if my_moves == 0:
        estimate += 58
    if your_moves == 0:
        estimate -= 36
    return estimate + (57 if left & 1 else -36)


@helper
def _look_up(code, base, depth, low, high, memory, guesses):
    """Return whether the entry decides the position under this window, its estimate, its best move, and its slot."""
    slot = (code >> get(memory, GUESS_KEPT)) << 1
    word = get(guesses, slot + 1)
    if word == 0 or get(guesses, slot) ^ word * MIX & MASK != code:
        return False, 0, NO_CELL, slot
    value, bound = base + (word & 4095) - 2048, word >> 18 & 3
    known = bound == EXACT or (bound == AT_LEAST and value >= high) or (bound == AT_MOST and value <= low)
    return known and (word >> 12 & 63) == depth, value, word >> 20, slot


@jit("int64(int64, int64, int64, int64, int64, int64, int64)")
def guess(own, other, low, high, depth, memory, guesses):
    """Return an estimate of the margin from `depth` plies ahead, in UNITs of a tile.

    A result of `low` or less is an upper bound of that estimate, one of `high` or more a lower bound.
    """
    put(memory, NODES, get(memory, NODES) + 1)
    if get(memory, NODES) > get(memory, LIMIT):
        put(memory, GIVEN_UP, 1)
        return 0
    empty = get(memory, FULL) & ~(own | other)
    left = bit_count(empty)
    live = _beside(empty, memory) & ~empty
    mine, yours = own & live, other & live
    base = UNIT * (bit_count(own ^ mine) - bit_count(other ^ yours))
    if left == 0:
        return base
    if depth == 0:
        return base + _estimate(left, mine, yours, empty, memory)
    code = mine * SPREAD & MASK ^ empty * MIX & MASK
    code = (code ^ code >> 31) * MIX & MASK
    known, value, first, slot = _look_up(code, base, depth, low, high, memory, guesses)
    if known:
        return value

    moves = _beside(mine, memory) & empty or empty
    end = STACK + (left << 6)
    while moves:
        cell = lowest(moves)
        moves &= moves - 1
        put(memory, end, cell if cell == first else _promise(cell, empty ^ 1 << cell, 0, yours, left, memory))
        end += 1
    best, best_cell, floor = -FOREVER, NO_CELL, low
    for start in range(STACK + (left << 6), end):
        cell = _take_least(start, end, memory)
        near = get(memory, NEAR + cell)
        value = -guess(other & ~near, own | other & near | 1 << cell, -high, -floor, depth - 1, memory, guesses)
        if get(memory, GIVEN_UP):
            return 0
        if value > best:
            best, best_cell = value, cell
            floor = max(floor, best)
            if best >= high:
                break
    bound = AT_LEAST if best >= high else AT_MOST if best <= low else EXACT
    word = best_cell << 20 | bound << 18 | depth << 12 | best - base + 2048
    put(guesses, slot, code ^ word * MIX & MASK)
    put(guesses, slot + 1, word)
    return best
