"""Counting positions: how many a game reaches, and how many are left when images count as one.

A half stands for as many halves as it has images, and with it each of its places. Only a half that
a symmetry maps to itself holds some positions at several places; there, a place counts as canonical
if none of those symmetries gives a smaller mask, and all copies must have the same score.
"""

from math import comb

import numpy as np

from solver.bits import CHUNKS, WIDTH, bit_count, carried, fill_table, lowest, next_mask
from solver.errors import SolversDisagree
from solver.halves import Board
from solver.index import UNREACHED
from solver.jit import helper, jit

_CHOOSE = np.array([[comb(n, k) for k in range(28)] for n in range(28)], np.int64)

REACHABLE, CANONICAL, WINS, DRAWS, LOSSES, OVER = range(6)


def tally(board: Board, os: int, halves: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """The six counts of some halves' pages with `os` O's; SolversDisagree if copies differ."""
    counts = np.zeros(6, np.int64)
    differs = _tally(board.cells, os, halves, pages, board.group, board.images, counts)
    if differs >= 0:
        raise SolversDisagree(f"half {differs:#x}: two images of one position have different scores")
    return counts


def tally_finished(board: Board, os: int, halves: np.ndarray) -> np.ndarray:
    """The six counts of halves with a line of X's, when O has `os` and is to move: all are over."""
    counts = np.zeros(6, np.int64)
    _tally_finished(board.cells, os, halves, board.lines, board.group, board.images, counts)
    counts[WINS if board.misere else LOSSES] = counts[OVER] = counts[CANONICAL]
    return counts


@helper
def _own_symmetries(half, cells, group, images, slot, moved, tables):
    """Fill tables of what the half's symmetries, but the identity, do to O's masks; gives their number."""
    m = 0
    for cell in range(cells):
        slot[cell] = m
        m += not half >> cell & 1
    turns = 0
    for g in range(1, len(group)):
        if carried(half, images, g) == half:
            for cell in range(cells):
                if not half >> cell & 1:
                    moved[slot[cell]] = slot[group[g, cell]]
            fill_table(m, moved, tables, turns)
            turns += 1
    return turns


@helper
def _place(mask):
    """The colexicographic rank of a mask."""
    place = 0
    i = 1
    while mask:
        place += _CHOOSE[lowest(mask), i]
        mask &= mask - 1
        i += 1
    return place


@jit("int64(int64, int64, int64[::1], int8[:,::1], int64[:,::1], uint32[:,:,::1], int64[::1])")
def _tally(cells, os, halves, pages, group, images, counts):
    """Add to the counts; gives a half with copies that differ, or -1."""
    slot, moved = np.zeros(32, np.int64), np.zeros(32, np.int64)
    tables = np.zeros((len(group), CHUNKS, WIDTH), np.uint32)
    size = pages.shape[1]
    for i in range(len(halves)):
        turns = _own_symmetries(halves[i], cells, group, images, slot, moved, tables)
        ended = cells + 1 - bit_count(halves[i]) - os
        unreached = 0
        for place in range(size):
            unreached += pages[i, place] == UNREACHED
        counts[REACHABLE] += (size - unreached) * (len(group) // (turns + 1))
        wins = losses = over = copies = 0
        if turns == 0:
            for place in range(size):
                wins += pages[i, place] > 0
                losses += pages[i, place] < 0
                over += (pages[i, place] == ended) | (pages[i, place] == -ended)
        else:
            mask = (1 << os) - 1
            unreached = 0
            for place in range(size):
                score = pages[i, place]
                canonical = True
                for turn in range(turns):
                    copy = carried(mask, tables, turn)
                    if copy < mask:
                        canonical = False
                        if pages[i, _place(copy)] != score:
                            return halves[i]
                if canonical:
                    unreached += score == UNREACHED
                    wins += score > 0
                    losses += score < 0
                    over += (score == ended) | (score == -ended)
                else:
                    copies += 1
                mask = next_mask(mask)
        counts[CANONICAL] += size - copies - unreached
        counts[WINS] += wins
        counts[DRAWS] += size - copies - wins - losses
        counts[LOSSES] += losses - unreached
        counts[OVER] += size - copies - unreached if ended == 1 else over
    return -1


@jit("void(int64, int64, int64[::1], int64[::1], int64[:,::1], uint32[:,:,::1], int64[::1])")
def _tally_finished(cells, os, halves, lines, group, images, counts):
    slot, moved = np.zeros(32, np.int64), np.zeros(32, np.int64)
    tables = np.zeros((len(group), CHUNKS, WIDTH), np.uint32)
    left = np.zeros(len(lines), np.int64)
    for half in halves:
        turns = _own_symmetries(half, cells, group, images, slot, moved, tables)
        lines_left = 0
        common = half
        for line in lines:
            if line & half == line:
                common &= line
            if line & half == 0:
                left[lines_left] = 0
                for cell in range(cells):
                    left[lines_left] |= (line >> cell & 1) << slot[cell]
                lines_left += 1
        mask = (1 << os) - 1
        while common and mask < 1 << cells - bit_count(half):
            reached = canonical = 1
            for k in range(lines_left):
                reached &= left[k] & mask != left[k]
            for turn in range(turns):
                canonical &= carried(mask, tables, turn) >= mask
            counts[REACHABLE] += reached * (len(group) // (turns + 1))
            counts[CANONICAL] += reached & canonical
            if mask == 0:
                break
            mask = next_mask(mask)
