"""Kernels that fill pages: retrograde analysis over the index, with no search.

In each layer an open half (X's cells, with no line) has two pages: `x_to_move`, with as many O's as
X's, and `o_to_move`, with one O fewer. When X claims a cell, the half changes, and one symmetry maps
the whole page `x_to_move` to the page `o_to_move` of a half in the following layer. When O claims a
cell, the half stays the same, so page `o_to_move` reads page `x_to_move`. A layer therefore needs
only the `o_to_move` pages of the layer before it, and every half can be filled on its own.

A set of O's cells is a mask over the m cells outside the half, called slots here. The mask is split
into `low`, its LOW = 7 lowest bits, and `high`, the rest. All sets of a page with the same `high` are
next to each other; they form a run of at most C(7, 3) = 35 places, so a 64-bit word can hold one bit
for each place of a run. Three kinds of words decide most places without reading any child:

    line      O has a line: the game is over, or no game reaches this position
    own       the side to move completes a line by claiming this slot: it wins now
    their     the opponent threatens to complete a line on this slot: the side to move must claim it;
              with two such slots it loses

At all other places every free slot is a candidate. In misère play nothing is forced: `their` is
ignored, and `own` are the slots to avoid.

Scores are from the point of view of the side to move: `win_score` = cells + 1 - stones at the end,
negated for a loss, 0 for a draw. They count from the end of the game, so a child's score only has to
be negated.
"""

from collections.abc import Callable
from math import comb

import numpy as np

from solver.index.places import UNREACHED
from solver.kernels.bits import CHUNK, bit_count, carried, fill_table, lowest
from solver.kernels.jit import helper, jit

LOW = CHUNK
"""The number of bits in `low`. C(LOW, j) places must fit in a word, and `low` in the first chunk of a table."""

_WIDTH = 1 << LOW
_MASK = _WIDTH - 1
_LOWS = [[low for low in range(_WIDTH) if low.bit_count() == j] for j in range(LOW + 1)]
_LONGEST = max(map(len, _LOWS))
_WORST = -127


def _table(rows: list[list[int]]) -> np.ndarray:
    """Return a table of numbers, flattened: a constant of the kernels."""
    return np.array([number for row in rows for number in row], dtype=np.uint64).view(np.int64)


def _words(rule: "Callable[[int, int], bool]", parts: int) -> np.ndarray:
    """Return, for each j and each part, the word of the lows with j bits that satisfy the rule."""
    return _table(
        [[sum(rule(low, part) << i for i, low in enumerate(lows)) for part in range(parts)] for lows in _LOWS]
    )


_RANK = _table([[_LOWS[low.bit_count()].index(low) for low in range(_WIDTH)]])  # [low]: its position in its run
_NTH = _table([lows + [0] * (_LONGEST - len(lows)) for lows in _LOWS])  # [j, i]: the low at position i of a run
_LENGTH = _table([[comb(m, j) for j in range(LOW + 1)] for m in range(LOW + 1)])  # [m, j]: the length of a run
_ABOVE = _words(lambda low, part: low & part == part, _WIDTH)  # [j, part]: the lows that contain part
_LACKS = _words(lambda low, bit: not low >> bit & 1, LOW)  # [j, bit]: the lows without that bit


@helper
def _place(mask, first):
    """Return the place of a mask in its page."""
    return first[mask >> LOW] + _RANK[mask & _MASK]


@helper
def _outside(half, cells, slot):
    """Number the cells outside a half: slot[cell] = 0, 1, 2, ... in order, -1 for cells inside."""
    m = 0
    for cell in range(cells):
        slot[cell] = -1
        if not half >> cell & 1:
            slot[cell] = m
            m += 1


@helper
def _lines_left(half, lines, cells, slot, left):
    """Write to `left`, as masks of slots, the lines that O can still complete.

    Return their number, a mask of the slots where X completes a line, and whether X has a line already.
    """
    count = wins = finished = 0
    for i in range(len(lines)):
        mask = 0
        for cell in range(cells):
            if lines[i] >> cell & 1 and slot[cell] >= 0:
                mask |= 1 << slot[cell]
        if lines[i] & half == 0:
            left[count] = mask
            count += 1
        if mask & (mask - 1) == 0:
            wins |= mask
        if mask == 0:
            finished = 1
    return count, wins, finished


@helper
def _add(threat, slot, word, seen):
    """Add a word to a slot's word; words of slots not yet `seen` are left over from another run."""
    threat[slot] = threat[slot] | word if seen >> slot & 1 else word
    return seen | 1 << slot


@helper
def _line_words(high, j, run, left, count, threat):
    """Return the words of sets with a line of O's and with several, and the slots where O threatens one.

    Write the words of those threats to `threat`.
    """
    line = several = seen = 0
    for i in range(count):
        missing = left[i] >> LOW & ~high
        low = left[i] & _MASK
        if missing == 0:
            whole = _ABOVE[j << LOW | low] & run
            several |= line & whole
            line |= whole
            rest = low
            while rest:
                bit = lowest(rest)
                rest &= rest - 1
                word = _ABOVE[j << LOW | low ^ 1 << bit] & _LACKS[j * LOW + bit] & run
                seen = _add(threat, bit, word, seen)
        elif missing & (missing - 1) == 0:
            seen = _add(threat, LOW + lowest(missing), _ABOVE[j << LOW | low] & run, seen)
    return line, several, seen


@helper
def _win_words(high, j, run, wins, threat):
    """Return the slots where X can complete a line, and write the words of the sets that leave them free."""
    seen = rest = wins & ~(high << LOW)
    while rest:
        slot = lowest(rest)
        rest &= rest - 1
        threat[slot] = run & _LACKS[j * LOW + slot] if slot < LOW else run
    return seen


@helper
def _once_or_twice(seen, threat):
    """Return the words of sets with threats on at least one slot, and on at least two."""
    once = twice = 0
    while seen:
        word = threat[lowest(seen)]
        seen &= seen - 1
        twice |= once & word
        once |= word
    return once, twice


@helper
def _put(word, value, best):
    """Write a value at each place of a word."""
    while word:
        best[lowest(word)] = value
        word &= word - 1


@helper
def _end(line, several, high, j, left, lines_left, score, best):
    """Score the sets with a line that O can have completed with the last move: all O's lines share a cell."""
    while line:
        i = lowest(line)
        line &= line - 1
        common = mask = high << LOW | _NTH[j * _LONGEST + i]
        if several >> i & 1:
            for k in range(lines_left):
                if left[k] & mask == left[k]:
                    common &= left[k]
        if common:
            best[i] = score


@helper
def _decide(todo, own, own_seen, their, their_seen, misere, win_score, best):
    """Score the places of `todo` that need no child; return the rest, and the word of those with a threat to meet."""
    own_any, _ = _once_or_twice(own_seen, own)
    if misere:
        _put(todo & own_any, 1 - win_score, best)
        return todo, 0
    once, twice = _once_or_twice(their_seen, their)
    _put(todo & own_any, win_score - 1, best)
    todo &= ~own_any
    _put(todo & twice, 2 - win_score, best)
    return todo & ~twice, once


@helper
def _read_children(
    todo, once, high, j, m, own, own_seen, their, their_seen, misere, children, base, carry, child_first, best,
):  # fmt: skip
    """Raise each place of `todo` to the best score of a move, for the moves that it has to consider."""
    for slot in range(m):
        look = todo
        if slot < LOW:
            look &= _LACKS[j * LOW + slot]
        elif high >> (slot - LOW) & 1:
            continue
        if once:
            look &= (~once | their[slot]) if their_seen >> slot & 1 else ~once
        if misere and own_seen >> slot & 1:
            look &= ~own[slot]
        if look == 0:
            continue
        high_part = carried(high << LOW, carry, slot)
        while look:
            i = lowest(look)
            look &= look - 1
            mask = carry[slot, 0, _NTH[j * _LONGEST + i]] | high_part
            # An unsigned index avoids the test for a negative one, which counts from the end.
            score = -np.int64(children[np.uint64(base[slot] + _place(mask, child_first))])
            if score > best[i]:
                best[i] = score


@helper
def _fill_page(
    x_is_mover, finished, misere, m, o_count, win_score, left, lines_left, wins, children, base, carry, child_first,
    page, place, x_threat, o_threat, best,
):  # fmt: skip
    """Fill the page that starts at `place`; `win_score` is the score of a game that ends with this many stones."""
    ended = win_score if misere else -win_score
    start = ended if finished else 0 if m == o_count else _WORST
    for high in range(1 << m >> LOW if m > LOW else 1):
        j = o_count - bit_count(high)
        if j < 0 or j > LOW:
            continue
        length = _LENGTH[(m if m < LOW else LOW) * (LOW + 1) + j]
        run = (1 << length) - 1
        x_seen = _win_words(high, j, run, wins, x_threat)
        line, several, o_seen = _line_words(high, j, run, left, lines_left, o_threat)
        own, own_seen, their, their_seen = x_threat, x_seen, o_threat, o_seen
        if not x_is_mover:
            own, own_seen, their, their_seen = o_threat, o_seen, x_threat, x_seen

        for i in range(length):
            best[i] = start
        if line:
            _put(line, UNREACHED, best)
            if x_is_mover:
                _end(line, several, high, j, left, lines_left, ended, best)
        if not finished:
            todo, once = _decide(run & ~line, own, own_seen, their, their_seen, misere, win_score, best)
            _read_children(
                todo, once, high, j, m, own, own_seen, their, their_seen, misere,
                children, base, carry, child_first, best,
            )  # fmt: skip
        for i in range(length):
            page[place] = best[i]
            place += 1


@helper
def _reach_children(
    half, cells, group, slot, child_indexes, symmetry_ids, child_halves, size, child_slot, moved, base, tables,
):  # fmt: skip
    """For each cell that X can claim, write where the child's page starts and a table that maps O's masks to it."""
    for cell in range(cells):
        if child_indexes[cell] < 0:
            continue
        _outside(child_halves[child_indexes[cell]], cells, child_slot)
        for other in range(cells):
            if slot[other] >= 0:
                moved[slot[other]] = child_slot[group[symmetry_ids[cell], other]]
        fill_table(cells - bit_count(half), moved, tables, slot[cell])
        base[slot[cell]] = child_indexes[cell] * size


@jit(
    "void(int64, boolean, int64[::1], int64[:,::1], int64, int64[::1], int64[:,::1], int64[:,::1], "
    "int64[::1], int64, int8[::1], int64, int8[::1], boolean, int64, int8[::1], int64[::1], int64[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "uint32[:,:,::1], uint32[:,:,::1])"
)
def fill_pages(
    cells, misere, lines, group, x_count, halves, child_indexes, symmetry_ids,
    child_halves, child_size, child_pages, x_to_move_size, x_to_move, x_to_move_given, o_to_move_size, o_to_move,
    first, child_first, slot, child_slot, moved, x_threat, o_threat, best, left, base, claim, tables,
):  # fmt: skip
    """Fill both pages of some halves, each with `x_count` X's, one half's pages after the other's.

    Only `o_to_move` is filled for a finished half, where X has just completed a line, and where
    `x_to_move` is given.
    """
    m = cells - x_count
    for i in range(len(halves)):
        _outside(halves[i], cells, slot)
        lines_left, wins, finished = _lines_left(halves[i], lines, cells, slot, left)
        if 2 * x_count <= cells and not finished and not x_to_move_given:
            # With more winning slots than O's, X has one left at every place, and wins without reading a child.
            if misere or bit_count(wins) <= x_count:
                _reach_children(
                    halves[i], cells, group, slot, child_indexes[i], symmetry_ids[i], child_halves, child_size,
                    child_slot, moved, base, tables,
                )  # fmt: skip
            _fill_page(
                True, 0, misere, m, x_count, cells + 1 - 2 * x_count, left, lines_left, wins,
                child_pages, base, tables, child_first, x_to_move, i * x_to_move_size, x_threat, o_threat, best,
            )  # fmt: skip
        if x_count > 0:
            for s in range(m):
                base[s] = i * x_to_move_size
            _fill_page(
                False, finished, misere, m, x_count - 1, cells + 2 - 2 * x_count, left, lines_left, wins,
                x_to_move, base, claim, first, o_to_move, i * o_to_move_size, x_threat, o_threat, best,
            )  # fmt: skip
