"""The runs of a page, and the words that decide most of their places without reading any child.

A set of O's cells is a mask over the m cells outside the half, called slots here. The mask is split
into `low`, its LOW = 7 lowest bits, and `high`, the rest. All sets of a page with the same `high` are
next to each other; they form a run, with the `j` bits that `high` leaves for `low`. A run has at most
C(7, 3) = 35 places, so a word, a 64-bit number, can hold one bit for each of them, and a vector their
scores (solver/kernels/vectors.py). There are words for

    line      O has a line: the game is over, or no game reaches this position
    own       the side to move completes a line by claiming this slot: it wins now
    their     the opponent threatens to complete a line on this slot: the side to move must claim it;
              with two such slots it loses

At all other places every free slot is a candidate. In misère play nothing is forced: `their` is
ignored, and `own` are the slots to avoid.
"""

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np

from solver.kernels.bits import CHUNK, lowest
from solver.kernels.jit import helper
from solver.kernels.vectors import LANES

LOW = CHUNK
"""The number of bits in `low`. C(LOW, j) places must fit in a word, and `low` in the first chunk of a table."""

WIDTH = 1 << LOW
LOWS = [[low for low in range(WIDTH) if low.bit_count() == j] for j in range(LOW + 1)]
"""LOWS[j]: the lows with j bits, in the order of their run."""


class Words(NamedTuple):
    """What decides the places of a run. Words of slots that are not in a `seen` set mean nothing."""

    own: Any
    own_seen: Any
    their: Any
    their_seen: Any
    once: Any  # the word of the places where a threat has to be met
    misere: Any


def byte_table(rows: list[list[int]]) -> np.ndarray:
    """Return a table of small numbers, flattened: a constant of the kernels. Each row fills whole vectors."""
    return np.array([row + [0] * (-len(row) % LANES) for row in rows], np.int8).ravel()


def word_table(rows: list[list[int]]) -> np.ndarray:
    """Return a table of numbers, flattened: a constant of the kernels."""
    return np.array([number for row in rows for number in row], dtype=np.uint64).view(np.int64)


def _words(rule: "Callable[[int, int], bool]", parts: int) -> np.ndarray:
    """Return, for each j and each part, the word of the lows with j bits that satisfy the rule."""
    return word_table(
        [[sum(rule(low, part) << i for i, low in enumerate(lows)) for part in range(parts)] for lows in LOWS]
    )


NTH = byte_table(LOWS)  # [j, i]: the low at position i of a run
LENGTH = word_table([[comb(m, j) for j in range(LOW + 1)] for m in range(LOW + 1)])  # [m, j]: the length of a run
LACKS = _words(lambda low, bit: not low >> bit & 1, LOW)  # [j, bit]: the lows without that bit
_ABOVE = _words(lambda low, part: low & part == part, WIDTH)  # [j, part]: the lows that contain part


@helper
def line_words(high, j, run, left, count, threat):
    """Return the words of sets with a line of O's and with several, and the slots where O threatens one.

    Write the words of those threats to `threat`.
    """
    line = several = seen = 0
    for i in range(count):
        missing = left[i] >> LOW & ~high
        low = left[i] & (WIDTH - 1)
        if missing == 0:
            whole = _ABOVE[j << LOW | low] & run
            several |= line & whole
            line |= whole
            rest = low
            while rest:
                bit = lowest(rest)
                rest &= rest - 1
                word = _ABOVE[j << LOW | low ^ 1 << bit] & LACKS[j * LOW + bit] & run
                seen = _add(threat, bit, word, seen)
        elif missing & (missing - 1) == 0:
            seen = _add(threat, LOW + lowest(missing), _ABOVE[j << LOW | low] & run, seen)
    return line, several, seen


@helper
def win_words(high, j, run, wins, threat):
    """Return the slots where X can complete a line, and write the words of the sets that leave them free."""
    seen = rest = wins & ~(high << LOW)
    while rest:
        slot = lowest(rest)
        rest &= rest - 1
        threat[slot] = run & LACKS[j * LOW + slot] if slot < LOW else run
    return seen


@helper
def once_or_twice(seen, threat):
    """Return the words of sets with threats on at least one slot, and on at least two."""
    once = twice = 0
    while seen:
        word = threat[lowest(seen)]
        seen &= seen - 1
        twice |= once & word
        once |= word
    return once, twice


@helper
def just_ended(line, several, high, j, left, lines_left):
    """Return the word of sets with a line that O can have completed with the last move: O's lines share a cell."""
    ended = line & ~several
    while several:
        i = lowest(several)
        several &= several - 1
        common = mask = high << LOW | NTH[j * LANES + i]
        for k in range(lines_left):
            if left[k] & mask == left[k]:
                common &= left[k]
        if common:
            ended |= 1 << i
    return ended


@helper
def considered(todo, slot, words):
    """Return the places of `todo` that have to consider claiming a slot, as far as it is free."""
    if words.once:
        todo &= (~words.once | words.their[slot]) if words.their_seen >> slot & 1 else ~words.once
    if words.misere and words.own_seen >> slot & 1:
        todo &= ~words.own[slot]
    return todo


@helper
def _add(threat, slot, word, seen):
    """Add a word to a slot's word; words of slots not yet `seen` are left over from another run."""
    threat[slot] = threat[slot] | word if seen >> slot & 1 else word
    return seen | 1 << slot
