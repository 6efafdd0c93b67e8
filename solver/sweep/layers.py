"""The second solver: retrograde analysis. It finds every score of a game without any search.

The sweep goes layer by layer, from the most X's to none. A half of a layer has two pages, one where X
is to move and one where O is (solver/sweep/pages.py says how they are filled). They need only the
pages of the layer above, with one X more, where O is to move, which stand on a shelf (solver/sweep/shelf.py); the other
pages of that layer can be dropped. Halves of one layer do not need each other, so they can be filled in any order, by
threads, processes or machines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from solver.sweep.desk import Desk
from solver.sweep.halves import KernelGame, LayerHalves, children
from solver.sweep.pages import empty_pages, fill_pages, scratch
from solver.sweep.runs import LOW
from solver.sweep.shelf import Gathered, NoShelf, RawShelf, Shelf

CHUNK_PLACES = 1 << 18
"""So many places are filled, counted and packed at a time, unless a single half or record has more."""


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

    def cut(self, step: int) -> "Iterator[Chunk]":
        """Yield it in parts of so many halves; the last may have fewer."""
        for start in range(self.start, self.stop, step):
            yield Chunk(self.open, start, min(start + step, self.stop))


class Layer:
    """All halves with `x_count` X's, and how their pages are filled."""

    def __init__(self, game: KernelGame, x_count: int, halves: LayerHalves, above: np.ndarray) -> None:
        """Prepare to fill the pages of `halves`; `above` are the open halves with one X more."""
        self.x_count = x_count
        self.open, self.finished = halves
        self._above = above
        self._game = game
        self.x_to_move_size, self.o_to_move_size = page_sizes(game.cells, x_count)
        m = game.cells - x_count
        self._first_places = first_places(m, x_count), first_places(max(m - 1, 0), x_count)

    def at_once(self, is_open: bool, together: int = 1) -> int:
        """Return how many halves are filled at a time: a multiple of `together`."""
        most = CHUNK_PLACES // max(1, self.o_to_move_size + is_open * self.x_to_move_size)
        return max(1, most // together) * together

    def gathered(self, chunk: Chunk, shelf: Shelf, desk: Desk, together: int = 1) -> "Iterator[tuple[Chunk, Children]]":
        """Cut a chunk so that there is room on the desk for the child pages of each part, and yield them with it.

        Every part but the last has a multiple of `together` halves; for one of so many there is room in any case.
        """
        start, step = chunk.start, max(1, CHUNK_PLACES // self._game.cells // together) * together
        while start < chunk.stop:
            part = Chunk(chunk.open, start, min(start + step, chunk.stop))
            indexes, symmetry_ids = self._children(part)
            found = shelf.gather(self._above, indexes, desk, whole=step == together)
            if found is None:
                step = max(1, step // 2 // together) * together
                continue
            yield part, Children(start, found, symmetry_ids)
            start = part.stop

    def fill(self, chunk: Chunk, around: "Children | None", o_to_move: np.ndarray) -> Filled:
        """Fill the pages of some halves and return them; those where O is to move go to `o_to_move`.

        `around` are the child pages of these halves, and perhaps of more; finished halves have none.
        """
        if not chunk.open:
            finished = self.finished[chunk.start : chunk.stop]
            self._fill(finished, empty_pages(0, 0), o_to_move, None)
            return Filled(None, self._o_to_move_pages(finished, o_to_move))
        halves = self.open[chunk.start : chunk.stop]
        x_to_move = empty_pages(len(halves), self.x_to_move_size)
        self._fill(halves, x_to_move, o_to_move, around and around.of(chunk))
        empty = self._game.cells - 2 * self.x_count
        x_pages = Pages(empty, self.x_count, halves, x_to_move) if self.x_to_move_size else None
        return Filled(x_pages, self._o_to_move_pages(halves, o_to_move) if self.o_to_move_size else None)

    def restore(self, start: int, x_to_move: np.ndarray, o_to_move: np.ndarray) -> None:
        """Fill the pages where O is to move of the open halves from `start` on, given those where X is."""
        given = empty_pages(*x_to_move.shape)  # which has room behind its end, as the kernel needs
        given[:] = x_to_move
        self._fill(self.open[start : start + len(o_to_move)], given, o_to_move, None, given=True)

    def _o_to_move_pages(self, halves: np.ndarray, scores: np.ndarray) -> Pages:
        return Pages(self._game.cells - 2 * self.x_count + 1, self.x_count - 1, halves, scores)

    def _children(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        halves = self.open[chunk.start : chunk.stop]
        if not self.x_to_move_size or not len(self._above):
            none = np.full((len(halves), self._game.cells), -1, np.int64)
            return none, none
        return children(self._game, halves, self._above)

    def _fill(
        self, halves: np.ndarray, x_to_move: np.ndarray, o_to_move: np.ndarray, around: "Children | None", *,
        given: bool = False,
    ) -> None:  # fmt: skip
        game = self._game
        child_halves, child_pages, indexes = around.pages if around else _NO_CHILDREN
        symmetry_ids = around.symmetry_ids if around else _NO_CHILDREN.indexes
        fill_pages(
            game.cells, game.misere, game.lines, game.group, self.x_count, halves, indexes, symmetry_ids,
            child_halves, child_pages.shape[1], child_pages.ravel(), self.x_to_move_size, x_to_move.ravel(), given,
            self.o_to_move_size, o_to_move.ravel(), *self._first_places, *scratch(len(game.lines)),
        )  # fmt: skip


class Children(NamedTuple):
    """The child pages of some halves from `start` on, and the symmetries that lead to them."""

    start: int
    pages: Gathered
    symmetry_ids: np.ndarray

    def of(self, chunk: Chunk) -> "Children":
        """Return what some of these halves need."""
        rows = slice(chunk.start - self.start, chunk.stop - self.start)
        return Children(chunk.start, self.pages._replace(indexes=self.pages.indexes[rows]), self.symmetry_ids[rows])


_NO_CHILDREN = Gathered(np.empty(0, np.int64), empty_pages(0, 0), np.empty((0, 0), np.int64))


def sweep(game: KernelGame, halves: Sequence[LayerHalves]) -> Iterator[Filled]:
    """Yield all pages of a game, filled in memory and on this thread, a few at a time."""
    above = np.empty(0, np.int64)
    shelf: Shelf = NoShelf()
    for x_count in range(len(halves) - 1, -1, -1):
        layer = Layer(game, x_count, halves[x_count], above)
        following = RawShelf((0, len(layer.open)), layer.o_to_move_size)
        with following.part(0) as onto:
            for part, around in layer.gathered(Chunk(True, 0, len(layer.open)), shelf, Desk(0)):
                for chunk in part.cut(layer.at_once(True)):
                    room = onto.room(chunk.stop - chunk.start)
                    yield layer.fill(chunk, around, room)
                    onto.put(room)
        for chunk in Chunk(False, 0, len(layer.finished)).cut(layer.at_once(False)):
            yield layer.fill(chunk, None, empty_pages(chunk.stop - chunk.start, layer.o_to_move_size))
        above, shelf = layer.open, following


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
