"""The moves from all positions of a run at once: the least score among the children of each.

A child's score is from the point of view of the other side, so the best move leads to the least one.

When O claims a slot, the half stays. If the slot is one of `high`, the children have the same lows in the same order:
they form a run, and its scores lie there as they are needed. If it is one of `low`, the children lie in the run with
one bit more in `low`, in an order that depends on j and the slot only: a constant permutation.

When X claims a slot, the half changes, and a symmetry moves the other slots. There are three cases:

    straight    it leaves the slots of `low` where they are, like the identity if X claims a high slot: as above
    few runs    it moves the slots of `low` into each other, but for a few. Each choice of those few leads to another
                run of children, and the rest of `low`, with what comes down from `high`, gives a place in each of them
    one by one  it moves most of them to high slots, so that the children of a run are all over their page

A few runs take a table of the images of all lows, and two permutations of vectors. Where these are not fast
(solver/kernels/vectors.py), children that are not straight are read one by one.
"""

from typing import Any, NamedTuple

import numpy as np

from solver.kernels.bits import bit_count, carried, fill_table, lowest
from solver.kernels.jit import helper
from solver.kernels.vectors import (
    FAST,
    LANES,
    chosen,
    equal,
    filled,
    load,
    looked_up,
    permuted,
    smaller,
    store,
    united,
)  # fmt: skip
from solver.sweep.runs import LACKS, LOW, LOWS, NTH, WIDTH, byte_table, considered, word_table

MOST_RUNS = 8
"""The children of a run are read one by one if they lie in more runs."""

_STRAIGHT, _ONE_BY_ONE = 0, MOST_RUNS + 1
_NONE = 127


def _joined(j: int, bit: int) -> list[int]:
    """Return the position of each low with j bits in its new run, if it gets one bit more."""
    return [LOWS[j + 1].index(low | 1 << bit) if not low >> bit & 1 else 0 for low in LOWS[j]]


_RANK = byte_table([[LOWS[low.bit_count()].index(low) for low in range(WIDTH)]])  # [low]: its position in its run
_JOINED = byte_table([_joined(j, bit) for j in range(LOW + 1) for bit in range(LOW)])  # [j, bit, i]
_WITH = word_table([[sum(1 << low for low in range(LANES) if low >> bit & 1) for bit in range(LOW)]])
"""_WITH[bit]: the word of the lows below 64 that have a bit."""


class Moves(NamedTuple):
    """The moves from a page: where the children's runs lie, for each slot that X claims, or any that O does."""

    pages: Any  # int8, flat
    first: Any  # [high]: where a run of children starts in its page
    base: Any  # [slot]: where the child's page starts
    carry: Any  # [slot]: the table that maps O's masks, see solver/kernels/bits.py
    runs: Any  # [slot]: in how many runs the children of a run lie, or _STRAIGHT or _ONE_BY_ONE
    rises: Any  # [slot, run]: what the run adds to `high`
    images: Any  # [slot, 0 or 1, low]: what of the child's `low` comes from `low`, and in which run it lies
    memory: Any  # for a vector: the least scores of what is read one by one


@helper
def prepare_moves(half, cells, group, slot, child_indexes, symmetry_ids, child_halves, size, child_slot, moved, moves):
    """Prepare for each cell that X can claim."""
    m = cells - bit_count(half)
    for cell in range(cells):
        if child_indexes[cell] < 0:
            continue
        number_outside(child_halves[child_indexes[cell]], cells, child_slot)
        for other in range(cells):
            if slot[other] >= 0:
                moved[slot[other]] = child_slot[group[symmetry_ids[cell], other]]
        fill_table(m, moved, moves.carry, slot[cell])
        moves.runs[slot[cell]] = _find_runs(m, moved, slot[cell], moves.rises, moves.images)
        moves.base[slot[cell]] = child_indexes[cell] * size


@helper
def number_outside(half, cells, slot):
    """Number the cells outside a half: slot[cell] = 0, 1, 2, ... in order, -1 for cells inside."""
    m = 0
    for cell in range(cells):
        slot[cell] = -1
        if not half >> cell & 1:
            slot[cell] = m
            m += 1


@helper
def _find_runs(m, moved, slot, rises, images):
    """Return in how many runs the children of a run lie, or how else to read them; write the tables for few runs."""
    straight, runs = True, 1
    image = run = 0
    in_low, in_run = filled(0), filled(0)
    for bit in range(m if m < LOW else LOW):
        straight &= moved[bit] == bit
        image = run = 0
        if moved[bit] >= LOW:
            if not FAST or runs == MOST_RUNS:
                return _ONE_BY_ONE
            for i in range(slot * MOST_RUNS, slot * MOST_RUNS + runs):
                rises[i + runs] = rises[i] | 1 << (moved[bit] - LOW)
            run = runs
            runs *= 2
        elif moved[bit] >= 0:
            image = 1 << moved[bit]
        if bit < LOW - 1:
            in_low = chosen(_WITH[bit], united(in_low, image), in_low)
            in_run = chosen(_WITH[bit], united(in_run, run), in_run)
    start = slot * 2 * WIDTH
    store(images, start, in_low)
    store(images, start + LANES, united(in_low, image))  # the lows with the last bit
    store(images, start + WIDTH, in_run)
    store(images, start + WIDTH + LANES, united(in_run, run))
    if straight:
        return _STRAIGHT
    return runs if FAST else _ONE_BY_ONE


@helper
def least_of_o(todo, high, j, m, words, pages, start, first, memory):
    """Return the least score of a child at each place of `todo`, where O is to move. Their page begins at `start`."""
    least = filled(_NONE)
    free = ((1 << m) - 1 >> LOW) & ~high
    while free:
        bit = lowest(free)
        free &= free - 1
        look = considered(todo, LOW + bit, words)
        if look:
            children = load(pages, start + first[high | 1 << bit])
            least = chosen(look, smaller(least, children), least)
    run = start + first[high]
    if FAST:
        children = load(pages, run)
        for slot in range(m if m < LOW else LOW):
            look = considered(todo & LACKS[j * LOW + slot], slot, words)
            ordered = permuted(children, load(_JOINED, (j * LOW + slot) * LANES))
            least = chosen(look, smaller(least, ordered), least)
        return least
    store(memory, 0, least)
    for slot in range(m if m < LOW else LOW):
        look = considered(todo & LACKS[j * LOW + slot], slot, words)
        while look:
            i = lowest(look)
            look &= look - 1
            score = pages[np.uint64(run + _JOINED[(j * LOW + slot) * LANES + i])]
            if score < memory[i]:
                memory[i] = score
    return load(memory, 0)


@helper
def least_of_x(todo, high, j, m, words, moves):
    """Return the least score of a child at each place of `todo`, where X is to move."""
    least = filled(_NONE)
    store(moves.memory, 0, least)
    lows = load(NTH, j * LANES)
    for slot in range(m):
        look = todo
        if slot < LOW:
            look &= LACKS[j * LOW + slot]
        elif high >> (slot - LOW) & 1:
            continue
        look = considered(look, slot, words)
        if look == 0:
            continue
        above = carried(high << LOW, moves.carry, slot)
        if moves.runs[slot] == _STRAIGHT:
            children = load(moves.pages, moves.base[slot] + moves.first[above >> LOW])
            least = chosen(look, smaller(least, children), least)
        elif moves.runs[slot] == _ONE_BY_ONE:
            _read_one_by_one(look, above, slot, j, moves)
        elif FAST:
            least = _least_of_runs(look, above, slot, lows, least, moves)
    return smaller(least, load(moves.memory, 0))


@helper
def _least_of_runs(look, above, slot, lows, least, moves):
    """Return `least`, lowered at each place of `look` to the score of its child, in one of a few runs.

    `above` is the image of `high`.
    """
    in_low = slot * 2 * WIDTH
    images = united(looked_up(moves.images, in_low, lows), above & (WIDTH - 1))
    order = looked_up(_RANK, 0, images)
    if moves.runs[slot] == 1:
        children = load(moves.pages, moves.base[slot] + moves.first[above >> LOW])
        return chosen(look, smaller(least, permuted(children, order)), least)
    in_run = looked_up(moves.images, in_low + WIDTH, lows)
    for run in range(moves.runs[slot]):
        rise = moves.rises[slot * MOST_RUNS + run]
        children = load(moves.pages, moves.base[slot] + moves.first[above >> LOW | rise])
        least = chosen(look & equal(in_run, run), smaller(least, permuted(children, order)), least)
    return least


@helper
def _read_one_by_one(look, above, slot, j, moves):
    """Lower each place of `look`, in the working memory, to the score of its child; `above` is the image of `high`."""
    pages, least = moves.pages, moves.memory
    while look:
        i = lowest(look)
        look &= look - 1
        mask = moves.carry[slot, 0, NTH[j * LANES + i]] | above
        place = moves.base[slot] + moves.first[mask >> LOW] + _RANK[mask & (WIDTH - 1)]
        # An unsigned index avoids the test for a negative one, which counts from the end.
        score = pages[np.uint64(place)]
        if score < least[i]:
            least[i] = score
