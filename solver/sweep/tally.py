"""Counting positions: how many a game reaches, and how many are left when images count as one.

A half stands for as many halves as it has images, and with it each of its places. Only a half that
a symmetry maps to itself holds some positions at several places; there, a place counts as canonical
if none of those symmetries gives a smaller mask, and all copies must have the same score.
"""

from math import comb

import numpy as np

from solver.errors import SolversDisagree
from solver.index.places import UNREACHED
from solver.kernels.bits import CHUNKS, WIDTH, bit_count, carried, fill_table, lowest, next_mask
from solver.kernels.jit import helper, jit
from solver.sweep.halves import Board

_CHOOSE = np.array([[comb(n, k) for k in range(28)] for n in range(28)], np.int64)

_REACHABLE, _CANONICAL, _WINS, _DRAWS, _LOSSES, _OVER = range(6)


def tally(board: Board, os: int, halves: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """The six counts of some halves' pages with `os` O's; SolversDisagree if copies differ."""
    counts = np.zeros(6, np.int64)
    slot, moved = np.zeros((2, 32), np.int64)
    tables = np.zeros((len(board.group), CHUNKS, WIDTH), np.uint32)
    differs = _tally(board.cells, os, halves, pages, board.group, board.images, counts, slot, moved, tables)
    if differs >= 0:
        raise SolversDisagree(f"half {differs:#x}: two images of one position have different scores")
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


@jit(
    "int64(int64, int64, int64[::1], int8[:,::1], int64[:,::1], uint32[:,:,::1], int64[::1], "
    "int64[::1], int64[::1], uint32[:,:,::1])"
)
def _tally(cells, os, halves, pages, group, images, counts, slot, moved, tables):
    """Add to the counts; gives a half with copies that differ, or -1."""
    size = pages.shape[1]
    for i in range(len(halves)):
        turns = _own_symmetries(halves[i], cells, group, images, slot, moved, tables)
        ended = cells + 1 - bit_count(halves[i]) - os
        unreached = 0
        for place in range(size):
            unreached += pages[i, place] == UNREACHED
        counts[_REACHABLE] += (size - unreached) * (len(group) // (turns + 1))
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
        counts[_CANONICAL] += size - copies - unreached
        counts[_WINS] += wins
        counts[_DRAWS] += size - copies - wins - losses
        counts[_LOSSES] += losses - unreached
        counts[_OVER] += size - copies - unreached if ended == 1 else over
    return -1
