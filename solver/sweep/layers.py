"""The second solver: retrograde analysis. It finds every score of a game without any search.

The sweep goes layer by layer, from the most X's to none. A half of a layer has two pages, one where X
is to move and one where O is (solver/sweep/pages.py says how they are filled). They need only the
pages of the layer before, with one X more, where O is to move; the other pages of that layer can be
dropped. Halves of one layer do not need each other, so threads can fill chunks of them in parallel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from solver.sweep.halves import KernelGame, LayerHalves, children
from solver.sweep.pages import empty_pages, fill_pages, scratch
from solver.sweep.runs import LOW

CHUNK_PLACES = 1 << 18
"""A chunk has at most this many places, unless it is a single half or record."""

CHUNKS_PER_LAYER = 16
"""A layer is cut into about this many chunks or more, so that all threads have work."""


@dataclass(frozen=True)
class Pages:
    """The pages of some consecutive halves of a layer with the same number of O's: one row for each half."""

    empty: int
    o_count: int
    halves: np.ndarray
    scores: np.ndarray


class Filled(NamedTuple):
    """Both pages of some halves. Either is None if the numbers of stones rule it out.

    Finished halves have no pages where X is to move.
    """

    x_to_move: Pages | None
    o_to_move: Pages | None


class Chunk(NamedTuple):
    """Some consecutive halves of a layer, all open or all finished. Finished halves are filled only to be counted."""

    open: bool
    start: int
    stop: int


class Layer:
    """All halves with `x_count` X's, and their pages."""

    def __init__(self, game: KernelGame, x_count: int, halves: LayerHalves, following: "Layer | None") -> None:
        """Prepare to fill the pages of `halves`; `following`, with one X more, is filled already."""
        self.x_count = x_count
        self.open, self.finished = halves
        self._game = game
        self.x_to_move_size, self.o_to_move_size = page_sizes(game.cells, x_count)
        self._o_to_move = empty_pages(len(self.open), self.o_to_move_size)
        self._following = following
        m = game.cells - x_count
        self._first_places = first_places(m, x_count), first_places(max(m - 1, 0), x_count)

    @property
    def number(self) -> int:
        """The layer's number: that of X's."""
        return self.x_count

    @property
    def ply(self) -> int:
        """How many stones are on the boards where X is to move."""
        return 2 * self.x_count

    def chunks(self, together: int = 1) -> Iterator[Chunk]:
        """Yield the layer in chunks: every chunk of open halves but the last has a multiple of `together`."""
        for is_open, count in ((True, len(self.open)), (False, len(self.finished))):
            most = CHUNK_PLACES // (self.o_to_move_size + is_open * self.x_to_move_size) if count else 0
            multiple = together if is_open else 1
            step = max(1, min(most, count // CHUNKS_PER_LAYER) // multiple) * multiple
            for start in range(0, count, step):
                yield Chunk(is_open, start, min(start + step, count))

    def fill(self, chunk: Chunk) -> Filled:
        """Fill the pages of some halves and return them; for finished halves, only those where O is to move."""
        if not chunk.open:
            finished = self.finished[chunk.start : chunk.stop]
            o_to_move = empty_pages(len(finished), self.o_to_move_size)
            self._fill(finished, empty_pages(0, 0), o_to_move)
            return Filled(None, self._o_to_move_pages(finished, o_to_move))
        x_to_move = empty_pages(chunk.stop - chunk.start, self.x_to_move_size)
        return self._fill_open(chunk.start, x_to_move, given=False)

    def restore(self, start: int, x_to_move: np.ndarray) -> None:
        """Fill the pages where O is to move of the open halves from `start` on, given those where X is."""
        pages = empty_pages(*x_to_move.shape)
        pages[:] = x_to_move
        self._fill_open(start, pages, given=True)

    def release(self) -> None:
        """Drop the following layer, which is no longer needed."""
        self._following = None

    def _fill_open(self, start: int, x_to_move: np.ndarray, *, given: bool) -> Filled:
        rows = slice(start, start + len(x_to_move))
        halves, o_to_move = self.open[rows], self._o_to_move[rows]
        self._fill(halves, x_to_move, o_to_move, given=given)
        empty = self._game.cells - 2 * self.x_count
        x_pages = Pages(empty, self.x_count, halves, x_to_move) if self.x_to_move_size else None
        return Filled(x_pages, self._o_to_move_pages(halves, o_to_move) if self.o_to_move_size else None)

    def _o_to_move_pages(self, halves: np.ndarray, scores: np.ndarray) -> Pages:
        return Pages(self._game.cells - 2 * self.x_count + 1, self.x_count - 1, halves, scores)

    def _fill(self, halves: np.ndarray, x_to_move: np.ndarray, o_to_move: np.ndarray, *, given: bool = False) -> None:
        game = self._game
        following, child_pages = np.empty(0, np.int64), empty_pages(0, 0)
        child_indexes = symmetry_ids = np.empty((0, 0), np.int64)
        if x_to_move.size and not given:
            if self._following is not None:
                following, child_pages = self._following.open, self._following._o_to_move
            child_indexes, symmetry_ids = children(game, halves, following)
        fill_pages(
            game.cells, game.misere, game.lines, game.group, self.x_count, halves, child_indexes, symmetry_ids,
            following, child_pages.shape[1], child_pages.ravel(), self.x_to_move_size, x_to_move.ravel(), given,
            self.o_to_move_size, o_to_move.ravel(), *self._first_places, *scratch(len(game.lines)),
        )  # fmt: skip


def layers(game: KernelGame, halves: Sequence[LayerHalves], last: Layer | None = None) -> Iterator[Layer]:
    """Yield the layers in the order of filling, from the one below `last` on, given the halves of every layer.

    Fill all of one before asking for the next.
    """
    for x_count in range(len(halves) - 1 if last is None else last.x_count - 1, -1, -1):
        last = Layer(game, x_count, halves[x_count], last)
        yield last
        last.release()


def page_sizes(cells: int, x_count: int) -> tuple[int, int]:
    """Return the sizes of a half's pages, X to move and O to move; 0 where the stones do not allow one."""
    m = cells - x_count
    return comb(m, x_count) if 2 * x_count <= cells else 0, comb(m, x_count - 1) if x_count else 0


def first_places(m: int, o_count: int) -> np.ndarray:
    """Return where each run starts (see solver/sweep/pages.py) in a page with `m` cells outside the half."""
    high = np.arange(1 << max(m - LOW, 0))
    low_bits = o_count - np.bitwise_count(high).astype(np.int64)
    lengths = np.array([comb(min(m, LOW), j) for j in range(LOW + 1)])
    lengths = np.where((low_bits >= 0) & (low_bits <= LOW), lengths[low_bits.clip(0, LOW)], 0)
    first: np.ndarray = np.cumsum(lengths) - lengths
    return first
