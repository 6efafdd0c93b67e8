"""Count positions: those that a game reaches, and those that remain up to symmetry.

A half stands for all its images, and so does every place of its pages. Only if a symmetry maps the
half to itself do its pages hold some positions at several places. There, a place is counted as
canonical if none of these symmetries gives a smaller mask, and all copies must have the same score.
"""

import numpy as np

from solver.errors import SolversDisagree
from solver.index.places import UNREACHED
from solver.kernels.bits import CHOOSE, CHUNKS, WIDTH, bit_count, carried, fill_table, lowest, next_mask
from solver.kernels.jit import helper, jit
from solver.sweep.halves import KernelGame

_REACHABLE, _CANONICAL, _WINS, _DRAWS, _LOSSES, _OVER = range(6)


def count_positions(game: KernelGame, o_count: int, halves: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """Return the six counts for the pages of some halves with `o_count` O's; raise SolversDisagree if copies differ."""
    counts = np.zeros(6, np.int64)
    slot, moved = np.zeros((2, 32), np.int64)
    tables = np.zeros((len(game.group), CHUNKS, WIDTH), np.uint32)
    differs = _count(game.cells, o_count, halves, pages, game.group, game.images, counts, slot, moved, tables)
    if differs >= 0:
        raise SolversDisagree(f"half {differs:#x}: two images of one position have different scores")
    return counts


@helper
def own_symmetries(half, cells, group, images, slot, moved, tables):
    """Fill a table for each symmetry that maps the half to itself, except the identity; return their number."""
    m = 0
    for cell in range(cells):
        slot[cell] = m
        m += not half >> cell & 1
    count = 0
    for g in range(1, len(group)):
        if carried(half, images, g) == half:
            for cell in range(cells):
                if not half >> cell & 1:
                    moved[slot[cell]] = slot[group[g, cell]]
            fill_table(m, moved, tables, count)
            count += 1
    return count


@helper
def _place(mask):
    """Return the colexicographic rank of a mask."""
    place = 0
    i = 1
    while mask:
        place += CHOOSE[lowest(mask), i]
        mask &= mask - 1
        i += 1
    return place


@jit(
    "int64(int64, int64, int64[::1], int8[:,::1], int64[:,::1], uint32[:,:,::1], int64[::1], "
    "int64[::1], int64[::1], uint32[:,:,::1])"
)
def _count(cells, o_count, halves, pages, group, images, counts, slot, moved, tables):
    """Add to the counts; return a half with copies that differ, or -1."""
    size = pages.shape[1]
    for i in range(len(halves)):
        symmetric = own_symmetries(halves[i], cells, group, images, slot, moved, tables)
        win_score = cells + 1 - bit_count(halves[i]) - o_count
        unreached = 0
        for place in range(size):
            unreached += pages[i, place] == UNREACHED
        counts[_REACHABLE] += (size - unreached) * (len(group) // (symmetric + 1))
        wins = losses = over = copies = 0
        if symmetric == 0:
            for place in range(size):
                wins += pages[i, place] > 0
                losses += pages[i, place] < 0
                over += (pages[i, place] == win_score) | (pages[i, place] == -win_score)
        else:
            mask = (1 << o_count) - 1
            unreached = 0
            for place in range(size):
                score = pages[i, place]
                canonical = True
                for symmetry_id in range(symmetric):
                    copy = carried(mask, tables, symmetry_id)
                    if copy < mask:
                        canonical = False
                        if pages[i, _place(copy)] != score:
                            return halves[i]
                if canonical:
                    unreached += score == UNREACHED
                    wins += score > 0
                    losses += score < 0
                    over += (score == win_score) | (score == -win_score)
                else:
                    copies += 1
                mask = next_mask(mask)
        counts[_CANONICAL] += size - copies - unreached
        counts[_WINS] += wins
        counts[_DRAWS] += size - copies - wins - losses
        counts[_LOSSES] += losses - unreached
        # On a full board every position is over, and win_score is 1.
        counts[_OVER] += size - copies - unreached if win_score == 1 else over
    return -1
