"""Kernels that fill pages: retrograde analysis over the index, with no search.

In each layer an open half (X's cells, with no line) has two pages: `x_to_move`, with as many O's as
X's, and `o_to_move`, with one O fewer. When X claims a cell, the half changes, and one symmetry maps
the whole page `x_to_move` to the page `o_to_move` of a half in the following layer. When O claims a
cell, the half stays the same, so page `o_to_move` reads page `x_to_move`. A layer therefore needs
only the `o_to_move` pages of the layer before it, and every half can be filled on its own.

A page is filled run by run, up to 35 places at once. solver/sweep/runs.py says what a run is and which
of its places are decided without reading any child, solver/sweep/moves.py how the children of the
others are read.

Scores are from the point of view of the side to move: `win_score` = cells + 1 - stones at the end,
negated for a loss, 0 for a draw. They count from the end of the game, so a child's score only has to
be negated.
"""

import numpy as np

from solver.index.places import UNREACHED
from solver.kernels.bits import CHUNKS, WIDTH, bit_count
from solver.kernels.jit import helper, jit
from solver.kernels.vectors import LANES, chosen, filled, larger, negated, store
from solver.sweep.moves import MOST_RUNS, Moves, least_of_o, least_of_x, number_outside, prepare_moves
from solver.sweep.runs import LENGTH, LOW, Words, just_ended, line_words, once_or_twice, win_words

SPARE = LANES
"""How many bytes follow the pages of an array: kernels read that many from any place on, and ignore what is too many.

They write whole vectors too, but only within a page, so that threads can fill neighbouring pages."""

_WORST = -127


def empty_pages(count: int, size: int) -> np.ndarray:
    """Return an array for some pages, one in each row, with SPARE more bytes behind its end."""
    return np.empty(count * size + SPARE, np.int8)[: count * size].reshape(count, size)


def scratch(lines: int) -> list[np.ndarray]:
    """Return the working memory of fill_pages, which is passed in because compiling an allocation takes long."""
    words = [np.zeros(size, np.int64) for size in (32, 32, 32, 32, 32, lines, 32, 32, 32 * MOST_RUNS)]
    tables, images = np.zeros((32, CHUNKS, WIDTH), np.uint32), np.zeros(32 * 2 * WIDTH, np.int8)
    return [*words, tables, images, np.zeros(LANES, np.int8)]


@helper
def _lines_left(half, lines, cells, slot, left):
    """Number the slots, and write to `left`, as masks of slots, the lines that O can still complete.

    Return their number, a mask of the slots where X completes a line, and whether X has a line already.
    """
    number_outside(half, cells, slot)
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
def _fill_page(
    x_is_mover, finished, misere, m, o_count, win_score, left, lines_left, wins, page, place, size,
    moves, x_to_move, x_start, first, x_threat, o_threat,
):  # fmt: skip
    """Fill the page that starts at `place`; `win_score` is the score of a game that ends with this many stones."""
    end = place + size
    over = win_score if misere else -win_score
    start = over if finished else 0 if m == o_count else _WORST
    for high in range(1 << m >> LOW if m > LOW else 1):
        j = o_count - bit_count(high)
        if j < 0 or j > LOW:
            continue
        length = LENGTH[(m if m < LOW else LOW) * (LOW + 1) + j]
        run = (1 << length) - 1
        x_seen = win_words(high, j, run, wins, x_threat)
        line, several, o_seen = line_words(high, j, run, left, lines_left, o_threat)
        best = filled(start)
        if not finished:
            own, own_seen, their, their_seen = x_threat, x_seen, o_threat, o_seen
            if not x_is_mover:
                own, own_seen, their, their_seen = o_threat, o_seen, x_threat, x_seen
            wins_now, _ = once_or_twice(own_seen, own)
            once = loses = 0
            if not misere:
                once, loses = once_or_twice(their_seen, their)
            words = Words(own, own_seen, their, their_seen, once, misere)
            best = chosen(loses, filled(2 - win_score), best)
            best = chosen(wins_now, filled(1 - win_score if misere else win_score - 1), best)
            todo = run & ~line & ~loses
            if not misere:
                todo &= ~wins_now
            if todo and m > o_count:
                if x_is_mover:
                    least = least_of_x(todo, high, j, m, words, moves)
                else:
                    least = least_of_o(todo, high, j, m, words, x_to_move, x_start, first, moves.memory)
                best = chosen(todo, larger(best, negated(least)), best)
        if line:
            best = chosen(line, filled(UNREACHED), best)
            if x_is_mover:
                best = chosen(just_ended(line, several, high, j, left, lines_left), filled(over), best)
        _write_run(page, place, end, length, best, moves.memory)
        place += length


@helper
def _write_run(page, place, end, length, best, memory):
    """Write a run to a page, which ends at `end`. What follows a run in its page is written later."""
    if place + LANES <= end:
        store(page, place, best)
    else:
        store(memory, 0, best)
        for i in range(length):
            page[place + i] = memory[i]


@jit(
    "void(int64, boolean, int64[::1], int64[:,::1], int64, int64[::1], int64[:,::1], int64[:,::1], "
    "int64[::1], int64, Array(int8, 1, 'C', readonly=True), int64, int8[::1], boolean, int64, int8[::1], int64[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], uint32[:,:,::1], int8[::1], int8[::1])"
)
def fill_pages(
    cells, misere, lines, group, x_count, halves, child_indexes, symmetry_ids,
    child_halves, child_size, child_pages, x_to_move_size, x_to_move, x_to_move_given, o_to_move_size, o_to_move,
    first, child_first, slot, child_slot, moved, x_threat, o_threat, left, base, runs, rises, tables, images,
    memory,
):  # fmt: skip
    """Fill both pages of some halves, each with `x_count` X's, one half's pages after the other's.

    Only `o_to_move` is filled for a finished half, where X has just completed a line, and where
    `x_to_move` is given. `child_pages` and `x_to_move` must have SPARE bytes behind their end.
    """
    m = cells - x_count
    moves = Moves(child_pages, child_first, base, tables, runs, rises, images, memory)
    for i in range(len(halves)):
        lines_left, wins, finished = _lines_left(halves[i], lines, cells, slot, left)
        x_too = 2 * x_count <= cells and not finished and not x_to_move_given
        # With more winning slots than O's, X has one left at every place, and wins without reading a child.
        if x_too and (misere or bit_count(wins) <= x_count):
            prepare_moves(
                halves[i], cells, group, slot, child_indexes[i], symmetry_ids[i], child_halves, child_size,
                child_slot, moved, moves,
            )  # fmt: skip
        # One call for both pages: compiled once, not twice. O's page, which reads X's, is the second.
        for turn in range(0 if x_too else 1, 2 if x_count else 1):
            size = o_to_move_size if turn else x_to_move_size
            _fill_page(
                turn == 0, finished, misere, m, x_count - turn, cells + 1 + turn - 2 * x_count, left, lines_left, wins,
                o_to_move if turn else x_to_move, i * size, size, moves, x_to_move, i * x_to_move_size, first,
                x_threat, o_threat,
            )  # fmt: skip
