"""The second solver: every score of a game, by backward induction, the fullest boards first.

It searches nothing. A layer is all halves with as many X's; solver/pages.py fills the two pages of
each from the layer before it (one X more), of which only the `a` pages are kept. Halves do not
depend on each other, so a layer is cut into chunks that threads fill side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from solver.bits import CHUNK, CHUNKS, WIDTH, permuting
from solver.halves import Board, children, halves
from solver.pages import LOW, fill_pages

CHUNK_PLACES = 1 << 16
CHUNKS_PER_LAYER = 16


@dataclass(frozen=True)
class Pages:
    """The scores of some consecutive halves of a layer, all with as many O's: one row for each half."""

    empty: int
    os: int
    halves: np.ndarray
    scores: np.ndarray


class Layer:
    """All halves with `xs` X's: the live ones, whose pages are to be filled, and the finished."""

    def __init__(self, board: Board, xs: int, following: "Layer | None") -> None:
        """Collect the halves; `following`, with one X more, has its pages already."""
        self.xs = xs
        self.live, self.finished = halves(board, xs)
        self._board = board
        m = board.cells - xs
        self.a_size = comb(m, xs - 1) if xs else 0
        self.b_size = comb(m, xs) if 2 * xs <= board.cells else 0
        self._a = np.empty((len(self.live), self.a_size), np.int8)
        self._following = following
        self._runs = first_places(m, xs), first_places(max(m - 1, 0), xs)

    def chunks(self) -> Iterator[range]:
        """The layer's halves, cut into as many chunks as keep threads from waiting for each other."""
        most = CHUNK_PLACES // (self.a_size + self.b_size)
        step = max(1, min(most, len(self.live) // CHUNKS_PER_LAYER))
        for start in range(0, len(self.live), step):
            yield range(start, min(start + step, len(self.live)))

    def fill(self, chunk: range) -> list[Pages]:
        """Fill and give the pages of some live halves: those where X is to move, those where O is."""
        live = self.live[chunk.start : chunk.stop]
        a = self._a[chunk.start : chunk.stop]
        b = np.empty((len(live), self.b_size), np.int8)
        self._fill(live, a, b)
        empty = self._board.cells - 2 * self.xs
        pages = [Pages(empty, self.xs, live, b)] if self.b_size else []
        return pages + ([Pages(empty + 1, self.xs - 1, live, a)] if self.a_size else [])

    def fill_finished(self) -> Iterator[Pages]:
        """Fill and give, some at a time, the pages of finished halves, which are kept for nobody."""
        step = max(1, CHUNK_PLACES // max(1, self.a_size))
        for start in range(0, len(self.finished), step):
            some = self.finished[start : start + step]
            a = np.empty((len(some), self.a_size), np.int8)
            self._fill(some, a, np.empty((0, 0), np.int8))
            yield Pages(self._board.cells - 2 * self.xs + 1, self.xs - 1, some, a)

    def _fill(self, halves: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        board = self._board
        following, child_a = np.empty(0, np.int64), np.empty((0, 0), np.int8)
        if self._following is not None:
            following, child_a = self._following.live, self._following._a
        places, turns = children(board, halves, following)
        fill_pages(
            board.cells, board.misere, board.lines, board.group, self.xs, halves, places, turns,
            following, child_a.shape[1], child_a.ravel(), self.a_size, a.ravel(), self.b_size, b.ravel(),
            *self._runs, *_scratch(len(board.lines)),
        )  # fmt: skip

    def release(self) -> None:
        """Let go of the layer that followed, which is no longer needed."""
        self._following = None


def layers(board: Board) -> Iterator[Layer]:
    """The layers in the order of filling. Fill all chunks of one before asking for the next."""
    layer = None
    for xs in range((board.cells + 1) // 2, -1, -1):
        layer = Layer(board, xs, layer)
        yield layer
        layer.release()


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
