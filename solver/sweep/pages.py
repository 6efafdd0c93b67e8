"""Kernels that fill pages: backward induction over the index, with no search.

For one half (X's cells, with no line among them) there are two pages in a layer: `b`, where X is to
move (as many O's as X's), and `a`, where O is (one O fewer). When X claims a cell the half changes,
and one symmetry takes the whole of page `b` to page `a` of a half in the layer before; when O claims
a cell the half stays, and page `a` looks into page `b`. So a layer needs only the `a` pages of the
layer before it, and each half is filled on its own.

A set of O's cells is a mask over the m cells outside the half, split into `low`, its 7 lowest bits,
and `high`, the rest. The sets of a page with one `high` stand side by side, a run of at most
C(7, 3) = 35 places, and what can be said of all of a run is one 64-bit word, a bit for each place.
Four kinds of words decide most places without a look at any child:

    line      O holds a line: the game is over, or was never reached
    own       the side to move completes a line on this cell: it wins now (normal play)
    their     the other side threatens to: the mover must go there; two such cells, and he loses
    calm      no such threat: every free cell is a candidate

In misère play nobody can be forced, so `their` stays empty, and `own` are the cells to shun.

Scores are seen from the side to move: cells + 1 - stones at the end, negated for a loss, 0 for a
draw. They count from the end of the game, so a child's score needs only its sign changed.
"""

from collections.abc import Callable
from math import comb

import numpy as np

from solver.index.places import UNREACHED
from solver.kernels.bits import CHUNK, bit_count, carried, fill_table, lowest
from solver.kernels.jit import helper, jit

LOW = CHUNK
"""How many bits of a mask make up `low`: C(LOW, j) must fit a word, and the tables' first chunk take it."""

_WIDTH = 1 << LOW
_MASK = _WIDTH - 1
_LOWS = [[low for low in range(_WIDTH) if low.bit_count() == j] for j in range(LOW + 1)]
_LONGEST = max(map(len, _LOWS))
_WORST = -127


def _table(rows: list[list[int]]) -> np.ndarray:
    """A constant of the kernels, one number after the other."""
    return np.array([number for row in rows for number in row], dtype=np.uint64).view(np.int64)


def _words(rule: "Callable[[int, int], bool]", parts: int) -> np.ndarray:
    """For each j and each part, the word of those lows with j bits that the rule picks."""
    return _table(
        [[sum(rule(low, part) << i for i, low in enumerate(lows)) for part in range(parts)] for lows in _LOWS]
    )


_RANK = _table([[_LOWS[low.bit_count()].index(low) for low in range(_WIDTH)]])  # of low, in its run
_NTH = _table([lows + [0] * (_LONGEST - len(lows)) for lows in _LOWS])  # [j, i]: the low at i in a run
_LENGTH = _table([[comb(m, j) for j in range(LOW + 1)] for m in range(LOW + 1)])  # [m, j]: of a run
_ABOVE = _words(lambda low, part: low & part == part, _WIDTH)  # [j, part]: the lows that contain part
_LACKS = _words(lambda low, bit: not low >> bit & 1, LOW)  # [j, bit]: the lows without that bit


@helper
def _place(mask, first):
    """The place of a mask in its page."""
    return first[mask >> LOW] + _RANK[mask & _MASK]


@helper
def _outside(half, cells, slot):
    """Number the cells outside a half: slot[cell] = 0, 1, 2, ... in order, -1 for those inside."""
    m = 0
    for cell in range(cells):
        slot[cell] = -1
        if not half >> cell & 1:
            slot[cell] = m
            m += 1


@helper
def _lines_left(half, lines, cells, slot, left):
    """Collect, as masks, the lines that O can still complete.

    Gives their number, as a mask the cells with which X completes a line, and whether X has one.
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
    """Add a word to a slot's; words of slots not yet `seen` are left over from before."""
    threat[slot] = threat[slot] | word if seen >> slot & 1 else word
    return seen | 1 << slot


@helper
def _line_words(high, j, run, left, count, threat):
    """The words of O's lines, of two or more lines, and, in `threat`, of O's threats at each slot."""
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
    """In `threat`, at each slot, the word of X completing a line there; gives the slots."""
    seen = rest = wins & ~(high << LOW)
    while rest:
        slot = lowest(rest)
        rest &= rest - 1
        threat[slot] = run & _LACKS[j * LOW + slot] if slot < LOW else run
    return seen


@helper
def _once_or_twice(seen, threat):
    """The words of at least one threat, and of threats on at least two cells."""
    once = twice = 0
    while seen:
        word = threat[lowest(seen)]
        seen &= seen - 1
        twice |= once & word
        once |= word
    return once, twice


@helper
def _put(word, value, best):
    while word:
        best[lowest(word)] = value
        word &= word - 1


@helper
def _end(line, several, high, j, left, lines_left, score, best):
    """Score the sets with a line of O's, if he can have completed it just now: all his lines share a cell."""
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
def _fill_page(
    x_moves, finished, misere, m, os, worth, left, lines_left, wins, children, base, carry, child_first,
    page, place, x_threat, o_threat, best,
):  # fmt: skip
    """Fill the page that starts at `place`; `worth` is that of a game that ends with the stones there are."""
    start = 0 if m == os else _WORST
    if finished:
        start = worth if misere else -worth
    for high in range(1 << m >> LOW if m > LOW else 1):
        j = os - bit_count(high)
        if j < 0 or j > LOW:
            continue
        length = _LENGTH[(m if m < LOW else LOW) * (LOW + 1) + j]
        run = (1 << length) - 1
        x_seen = _win_words(high, j, run, wins, x_threat)
        line, several, o_seen = _line_words(high, j, run, left, lines_left, o_threat)
        own, own_seen, their, their_seen = x_threat, x_seen, o_threat, o_seen
        if not x_moves:
            own, own_seen, their, their_seen = o_threat, o_seen, x_threat, x_seen
        own_any, _ = _once_or_twice(own_seen, own)
        once, twice = _once_or_twice(their_seen, their)
        if misere:
            once = twice = 0

        todo = run & ~line
        for i in range(length):
            best[i] = start
        if finished:
            todo = 0
        if misere:
            _put(todo & own_any, 1 - worth, best)
        else:
            _put(todo & own_any, worth - 1, best)
            todo &= ~own_any
            _put(todo & twice, 2 - worth, best)
            todo &= ~twice
        if line:
            _put(line, UNREACHED, best)
            if x_moves:
                _end(line, several, high, j, left, lines_left, worth if misere else -worth, best)

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
                # An unsigned index spares the test for one that counts from the end.
                score = -np.int64(children[np.uint64(base[slot] + _place(mask, child_first))])
                if score > best[i]:
                    best[i] = score
        for i in range(length):
            page[place] = best[i]
            place += 1


@helper
def _reach_children(half, cells, group, slot, places, turns, child_halves, size, child_slot, moved, base, tables):
    """For each cell that X can claim: where the child's page starts, and how O's masks are carried to it."""
    for cell in range(cells):
        if places[cell] < 0:
            continue
        _outside(child_halves[places[cell]], cells, child_slot)
        for other in range(cells):
            if slot[other] >= 0:
                moved[slot[other]] = child_slot[group[turns[cell], other]]
        fill_table(cells - bit_count(half), moved, tables, slot[cell])
        base[slot[cell]] = places[cell] * size


@jit(
    "void(int64, boolean, int64[::1], int64[:,::1], int64, int64[::1], int64[:,::1], int64[:,::1], "
    "int64[::1], int64, int8[::1], int64, int8[::1], int64, int8[::1], boolean, int64[::1], int64[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "uint32[:,:,::1], uint32[:,:,::1])"
)
def fill_pages(
    cells, misere, lines, group, xs, halves, child_places, child_turns,
    child_halves, child_size, child_a, a_size, a, b_size, b, b_given, b_first, child_first,
    slot, child_slot, moved, x_threat, o_threat, best, left, base, stay, tables,
):  # fmt: skip
    """Fill both pages of some halves, each with `xs` X's, one half's after the other's.

    Of a finished half only page `a`: there X has just completed a line. The same where `b` is filled already.
    """
    m = cells - xs
    for i in range(len(halves)):
        _outside(halves[i], cells, slot)
        lines_left, wins, finished = _lines_left(halves[i], lines, cells, slot, left)
        if 2 * xs <= cells and not finished and not b_given:
            # With more winning cells than O's, X has one left at every place, and wins without a look.
            if misere or bit_count(wins) <= xs:
                _reach_children(
                    halves[i], cells, group, slot, child_places[i], child_turns[i], child_halves, child_size,
                    child_slot, moved, base, tables,
                )  # fmt: skip
            _fill_page(
                True, 0, misere, m, xs, cells + 1 - 2 * xs, left, lines_left, wins, child_a, base, tables, child_first,
                b, i * b_size, x_threat, o_threat, best,
            )  # fmt: skip
        if xs > 0:
            for s in range(m):
                base[s] = i * b_size
            _fill_page(
                False, finished, misere, m, xs - 1, cells + 2 - 2 * xs, left, lines_left, wins, b, base, stay, b_first,
                a, i * a_size, x_threat, o_threat, best,
            )  # fmt: skip
