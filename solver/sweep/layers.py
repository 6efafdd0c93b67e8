"""The second solver: every score of a game, by backward induction, the fullest boards first.

It searches nothing. A layer is all halves with as many X's; solver/sweep/pages.py fills the two pages of
each from the layer before it (one X more), of which only the `a` pages are kept. Halves do not
depend on each other, so a layer is cut into chunks that threads fill side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from solver.kernels.bits import CHUNK, CHUNKS, WIDTH, permuting
from solver.sweep.halves import Board, LayerHalves, children
from solver.sweep.pages import LOW, fill_pages

CHUNK_PLACES = 1 << 18
CHUNKS_PER_LAYER = 16


@dataclass(frozen=True)
class Pages:
    """The scores of some consecutive halves of a layer, all with as many O's: one row for each half."""

    empty: int
    os: int
    halves: np.ndarray
    scores: np.ndarray


class Filled(NamedTuple):
    """Pages of the same halves: where X is to move, and where O is. Some layers and halves have but one of them."""

    x_moves: Pages | None
    o_moves: Pages | None


class Chunk(NamedTuple):
    """Some consecutive halves of a layer: live ones, whose pages are needed, or finished ones, whose are counted."""

    live: bool
    start: int
    stop: int


class Layer:
    """All halves with `xs` X's: the live ones, whose pages are to be filled, and the finished."""

    def __init__(self, board: Board, xs: int, halves: LayerHalves, following: "Layer | None") -> None:
        """Prepare to fill the pages of `halves`; `following`, with one X more, has its pages already."""
        self.xs = xs
        self.live, self.finished = halves
        self._board = board
        self.a_size, self.b_size = page_sizes(board.cells, xs)
        self._a = np.empty((len(self.live), self.a_size), np.int8)
        self._following = following
        m = board.cells - xs
        self._runs = first_places(m, xs), first_places(max(m - 1, 0), xs)

    def chunks(self, together: int = 1) -> Iterator[Chunk]:
        """Cut the layer into enough chunks to keep all threads busy; never separate live halves used `together`.

        Every chunk of live halves but the last has a multiple of that many.
        """
        for live, count in ((True, len(self.live)), (False, len(self.finished))):
            most = CHUNK_PLACES // (self.a_size + live * self.b_size) if count else 0
            multiple = together if live else 1
            step = max(1, min(most, count // CHUNKS_PER_LAYER) // multiple) * multiple
            for start in range(0, count, step):
                yield Chunk(live, start, min(start + step, count))

    def fill(self, chunk: Chunk) -> Filled:
        """Fill and give the pages of some halves; of finished ones those alone where X has just moved."""
        if not chunk.live:
            finished = self.finished[chunk.start : chunk.stop]
            a = np.empty((len(finished), self.a_size), np.int8)
            self._fill(finished, a, np.empty((0, 0), np.int8))
            return Filled(None, self._where_o_moves(finished, a))
        b = np.empty((chunk.stop - chunk.start, self.b_size), np.int8)
        return self._fill_live(chunk.start, b, given=False)

    def restore(self, start: int, b: np.ndarray) -> None:
        """Take in the pages where X is to move of the live halves from `start` on, which were filled before."""
        self._fill_live(start, b, given=True)

    def _fill_live(self, start: int, b: np.ndarray, *, given: bool) -> Filled:
        live, a = self.live[start : start + len(b)], self._a[start : start + len(b)]
        self._fill(live, a, b, given=given)
        x_moves = Pages(self._board.cells - 2 * self.xs, self.xs, live, b) if self.b_size else None
        return Filled(x_moves, self._where_o_moves(live, a) if self.a_size else None)

    def _where_o_moves(self, halves: np.ndarray, a: np.ndarray) -> Pages:
        return Pages(self._board.cells - 2 * self.xs + 1, self.xs - 1, halves, a)

    def _fill(self, halves: np.ndarray, a: np.ndarray, b: np.ndarray, *, given: bool = False) -> None:
        board = self._board
        following, child_a = np.empty(0, np.int64), np.empty((0, 0), np.int8)
        places = turns = np.empty((0, 0), np.int64)
        if b.size and not given:
            if self._following is not None:
                following, child_a = self._following.live, self._following._a
            places, turns = children(board, halves, following)
        fill_pages(
            board.cells, board.misere, board.lines, board.group, self.xs, halves, places, turns, following,
            child_a.shape[1], child_a.ravel(), self.a_size, a.ravel(), self.b_size, b.ravel(), given,
            *self._runs, *_scratch(len(board.lines)),
        )  # fmt: skip

    def release(self) -> None:
        """Let go of the layer that followed, which is no longer needed."""
        self._following = None


def layers(board: Board, halves: Sequence[LayerHalves], last: Layer | None = None) -> Iterator[Layer]:
    """Yield the layers in the order of filling, from the one below `last` on, given the halves of each.

    Fill all of one before asking for the next.
    """
    for xs in range(len(halves) - 1 if last is None else last.xs - 1, -1, -1):
        last = Layer(board, xs, halves[xs], last)
        yield last
        last.release()


def page_sizes(cells: int, xs: int) -> tuple[int, int]:
    """How many places a half with so many X's has where O is to move, and where X is."""
    m = cells - xs
    return comb(m, xs - 1) if xs else 0, comb(m, xs) if 2 * xs <= cells else 0


def first_places(m: int, count: int) -> np.ndarray:
    """Where each run starts in a page of m cells outside the half and `count` O's."""
    high = np.arange(1 << max(m - LOW, 0))
    low_bits = count - np.bitwise_count(high).astype(np.int64)
    lengths = np.array([comb(min(m, LOW), j) for j in range(LOW + 1)])
    lengths = np.where((low_bits >= 0) & (low_bits <= LOW), lengths[low_bits.clip(0, LOW)], 0)
    first: np.ndarray = np.cumsum(lengths) - lengths
    return first


def _scratch(lines: int) -> list[np.ndarray]:
    """What fill_pages works with, given to it because compiling an allocation takes long."""
    rows = [np.zeros(size, np.int64) for size in (32, 32, 32, 32, 32, 64, lines, 32)]
    return [*rows, _CLAIM, np.zeros((32, CHUNKS, WIDTH), np.uint32)]


_CLAIM = permuting([range(CHUNKS * CHUNK)] * 32)
"""For each slot, the table that adds it to a mask: what O's claiming a cell does."""
_CLAIM[:, 0] |= np.uint32(1) << np.arange(32, dtype=np.uint32)[:, None]
