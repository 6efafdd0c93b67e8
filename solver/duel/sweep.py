"""Retrograde analysis of the duel: every margin without any search.

First the places that play reaches are found, from the empty board onwards; then their margins, from the full boards
back. solver/duel/index.py says what a place is. In a filled set of k cells, number the cells 0 to k - 1: the mover's
tiles are then the bits of the place. A move to an empty cell may be made if one of these bits stands next to it, or if
that is so for no empty cell. After it the other side is to move, whose tiles are those that it had, less those next to
the cell:

    child = (not place) and not beside[cell], carried to the numbering of the new filled set by a symmetry

So one small table for each filled set and cell replaces all rules. All scores of a game are in memory at once, a byte
each: 872 million for 4x5.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from solver.errors import SolversDisagree
from solver.games.duel import Duel
from solver.index.places import UNREACHED
from solver.index.symmetry import Symmetry, orbit_counts
from solver.kernels.bits import CHUNKS, WIDTH, bit_count, carried, fill_table, lowest
from solver.kernels.jit import helper, jit
from solver.sweep.halves import KernelGame, canonical_sets, children, kernel_game
from solver.sweep.tally import own_symmetries

_REACHED = 127
"""Stands at a place that play reaches until its margin is known."""

_CHUNK_PLACES = 1 << 19
"""A chunk has about so many places, unless it is a single filled set."""

_REACHABLE, _CANONICAL, _WINS, _DRAWS, _LOSSES, _OVER = range(6)


class Chunk(NamedTuple):
    """Some consecutive filled sets of a layer."""

    start: int
    stop: int


class Layer:
    """All filled sets of so many tiles, and the scores of their places."""

    def __init__(self, game: KernelGame, neighbours: np.ndarray, tiles: int, count: int) -> None:
        """Find the filled sets, whose number is known independently; no place is reached yet."""
        self.number = self.ply = tiles
        self.filled = canonical_sets(game, tiles, count)
        self.scores = np.full((count, 1 << tiles), UNREACHED, np.int8)
        self._game = game
        self._neighbours = neighbours

    def chunks(self) -> Iterator[Chunk]:
        """Yield the layer in chunks."""
        step = max(1, _CHUNK_PLACES >> self.number)
        step = max(1, step >> max(0, 13 - self.number)) << max(0, 13 - self.number)  # whole records
        for start in range(0, len(self.filled), step):
            yield Chunk(start, min(start + step, len(self.filled)))

    def share_marks(self) -> None:
        """Mark all copies of the places that are marked as reached."""
        game = self._game
        tables = np.zeros((len(game.group), CHUNKS, WIDTH), np.uint32)
        slot, moved = np.zeros((2, 32), np.int64)
        _share_marks(game.cells, self.filled, self.scores, game.group, game.images, slot, moved, tables)

    def mark_children(self, chunk: Chunk, following: "Layer") -> None:
        """Mark where the moves from a chunk's places lead."""
        self._expand(chunk, following, marking=True)

    def fill(self, chunk: Chunk, following: "Layer | None") -> np.ndarray:
        """Return the margins of a chunk's places, one row for each filled set; full boards have no following layer."""
        if following is None:
            _count_tiles(self._game.cells, self.scores)
        else:
            self._expand(chunk, following, marking=False)
        return self.scores[chunk.start : chunk.stop]

    def count(self, chunk: Chunk) -> np.ndarray:
        """Return the six counts of a chunk (solver/store/manifest.py); raise SolversDisagree if copies differ."""
        game, counts = self._game, np.zeros(6, np.int64)
        slot, moved = np.zeros((2, 32), np.int64)
        tables = np.zeros((len(game.group), CHUNKS, WIDTH), np.uint32)
        filled, scores = self.filled[chunk.start : chunk.stop], self.scores[chunk.start : chunk.stop]
        differs = _count(game.cells, filled, scores, game.group, game.images, counts, slot, moved, tables)
        if differs >= 0:
            raise SolversDisagree(f"filled set {differs:#x}: two images of one position have different scores")
        return counts

    def _expand(self, chunk: Chunk, following: "Layer", *, marking: bool) -> None:
        game = self._game
        filled = self.filled[chunk.start : chunk.stop]
        child_indexes, symmetry_ids = children(game, filled, following.filled)
        lost = _expand(
            game.cells, filled, self.scores[chunk.start : chunk.stop], self._neighbours, game.group, child_indexes,
            symmetry_ids, following.filled, following.scores, marking,
            np.zeros((32, CHUNKS, WIDTH), np.uint32), np.zeros((2, 32), np.int64),
        )  # fmt: skip
        if lost:
            raise SolversDisagree(
                f"{lost:,} moves from boards of {self.number} tiles lead to positions not found before"
            )


def as_kernel_game(game: Duel, group: Sequence[Symmetry]) -> KernelGame:
    """Return the board as the kernels take it; its lines are the pairs of neighbours."""
    return kernel_game(game.as_lines, group)


def solved_layers(game: Duel, group: Sequence[Symmetry]) -> list[Layer]:
    """Return all layers with every margin filled in, on this thread alone."""
    found = empty_layers(game, group)
    for layer, following in pairwise(found):
        layer.share_marks()
        for chunk in layer.chunks():
            layer.mark_children(chunk, following)
    found[-1].share_marks()
    known: Layer | None = None
    for layer in reversed(found):
        for chunk in layer.chunks():
            layer.fill(chunk, known)
        known = layer
    return found


def empty_layers(game: Duel, group: Sequence[Symmetry]) -> list[Layer]:
    """Return all layers, by the number of tiles, in which no place is reached but the empty board's."""
    known, neighbours = as_kernel_game(game, group), np.array(game.neighbours, np.int64)
    found = [Layer(known, neighbours, tiles, count) for tiles, count in enumerate(orbit_counts(list(group)))]
    found[0].scores[0, 0] = _REACHED
    return found


@helper
def _number(filled, group, g, child, cells, moved):
    """Write to `moved` which number in `child` each cell of `filled` gets, whose cells a symmetry carries there."""
    k = 0
    for cell in range(cells):
        if filled >> cell & 1:
            moved[k] = bit_count(child & ((1 << group[g, cell]) - 1))
            k += 1
    return k


@helper
def _beside(filled, near):
    """Return the numbers of the cells of `filled` that are in `near`."""
    found = 0
    near &= filled
    while near:
        cell = lowest(near)
        found |= 1 << bit_count(filled & ((1 << cell) - 1))
        near &= near - 1
    return found


@jit(
    "int64(int64, int64[::1], int8[:,::1], int64[::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], "
    "int8[:,::1], boolean, uint32[:,:,::1], int64[:,::1])"
)
def _expand(
    cells,
    filled,
    scores,
    neighbours,
    group,
    child_indexes,
    symmetry_ids,
    following,
    child_scores,
    marking,
    tables,
    work,
):
    """Mark where the moves from all reached places lead, or fill in their margins from where they lead.

    Return how many moves lead to a place that is not marked, which may not be when margins are filled in.
    """
    beside, moved, lost = work[0], work[1], 0
    for i in range(len(filled)):
        own_cells = filled[i]
        for cell in range(cells):
            if not own_cells >> cell & 1:
                child = following[child_indexes[i, cell]]
                k = _number(own_cells, group, symmetry_ids[i, cell], child, cells, moved)
                fill_table(k, moved, tables, cell)
                beside[cell] = _beside(own_cells, neighbours[cell])
        everything = scores.shape[1] - 1
        for place in range(scores.shape[1]):
            if scores[i, place] == UNREACHED:
                continue
            free = True
            for cell in range(cells):
                if not own_cells >> cell & 1 and beside[cell] & place:
                    free = False
            best = -128
            for cell in range(cells):
                if own_cells >> cell & 1 or not (free or beside[cell] & place):
                    continue
                child_place = carried(everything & ~place & ~beside[cell], tables, cell)
                if marking:
                    child_scores[child_indexes[i, cell], child_place] = _REACHED
                else:
                    lost += child_scores[child_indexes[i, cell], child_place] == UNREACHED
                    best = max(best, -child_scores[child_indexes[i, cell], child_place])
            if not marking:
                scores[i, place] = best
    return lost


@jit("void(int64, int8[:,::1])")
def _count_tiles(cells, scores):
    """Fill in the margins of full boards."""
    for place in range(scores.shape[1]):
        if scores[0, place] != UNREACHED:
            scores[0, place] = 2 * bit_count(place) - cells


@jit("void(int64, int64[::1], int8[:,::1], int64[:,::1], uint32[:,:,::1], int64[::1], int64[::1], uint32[:,:,::1])")
def _share_marks(cells, filled, scores, group, images, slot, moved, tables):
    """Mark every image of a marked place under the symmetries that map its filled set to itself."""
    full = (1 << cells) - 1
    for i in range(len(filled)):
        for g in range(own_symmetries(full & ~filled[i], cells, group, images, slot, moved, tables)):
            for place in range(scores.shape[1]):
                if scores[i, place] != UNREACHED:
                    scores[i, carried(place, tables, g)] = _REACHED


@jit(
    "int64(int64, int64[::1], int8[:,::1], int64[:,::1], uint32[:,:,::1], int64[::1], int64[::1], int64[::1], "
    "uint32[:,:,::1])"
)
def _count(cells, filled, scores, group, images, counts, slot, moved, tables):
    """Add to the counts; return a filled set with copies that differ, or -1."""
    full = (1 << cells) - 1
    for i in range(len(filled)):
        symmetric = own_symmetries(full & ~filled[i], cells, group, images, slot, moved, tables)
        for place in range(scores.shape[1]):
            score = scores[i, place]
            if score == UNREACHED:
                continue
            counts[_REACHABLE] += len(group) // (symmetric + 1)
            canonical = True
            for g in range(symmetric):
                copy = carried(place, tables, g)
                if scores[i, copy] != score:
                    return filled[i]
                if copy < place:
                    canonical = False
            if canonical:
                counts[_CANONICAL] += 1
                counts[_WINS] += score > 0
                counts[_DRAWS] += score == 0
                counts[_LOSSES] += score < 0
                counts[_OVER] += filled[i] == full
    return -1
