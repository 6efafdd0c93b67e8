"""A desk: where one hand lays out the pages that it reads.

Most pages that a part of a layer needs were needed by the part before, too. What lies on the desk already is not read
again, and memory that is used again need not be cleared by the system.
"""

from collections.abc import Callable, Hashable

import numpy as np

from solver.sweep.pages import empty_pages

Read = Callable[[np.ndarray, np.ndarray, np.ndarray], None]
"""Read pages, given their ascending numbers, to an array of pages, given the rows for them."""


_UNIT = 1 << 20
"""Memory is taken in whole units, so that what was enough for one size of pages is enough for another."""


class Desk:
    """Room for pages of one shelf at a time, each in a row of its own."""

    def __init__(self, most: int) -> None:
        """Give room for so many bytes of pages, and for more only if they are wanted all at once."""
        self.most = most
        self._memory = empty_pages(1, 0)[0]
        self.pages = empty_pages(0, 0)
        self.numbers = np.empty(0, np.int32)
        """The number of the page in each row; -1 if there is none."""
        self.rows = np.empty(0, np.int32)
        """The row of each page of the shelf; -1 if it is not here. So is the last, that of the index -1."""
        self._shelf: Hashable = None
        self._next = 0

    def lay_out(self, wanted: np.ndarray, shelf: Hashable, shape: tuple[int, int], read: Read) -> None:
        """Read those of the wanted pages that are not here, in the place of those that came first.

        The wanted numbers are in ascending order; `shape` is the number of all pages of the shelf, and their size.
        """
        count, size = shape
        room = min(count, max(self.most // size, len(wanted)))
        if (shelf, (room, size)) != (self._shelf, self.pages.shape):
            self._clear(shelf, count, room, size)
        rows = self.rows[wanted]
        missing = wanted[rows < 0]
        if not len(missing):
            return
        is_free = np.ones(room, np.bool_)
        is_free[rows[rows >= 0]] = False
        free = np.flatnonzero(is_free)
        free = np.roll(free, -np.searchsorted(free, self._next))[: len(missing)]
        gone = self.numbers[free]
        self.rows[gone[gone >= 0]] = -1
        self.numbers[free] = -1
        read(missing, self.pages, free)
        self.numbers[free], self.rows[missing] = missing, free
        self._next = free[-1] + 1

    def _clear(self, shelf: Hashable, count: int, room: int, size: int) -> None:
        """Drop all pages, and make room for those of another shelf."""
        needed = (room * size | _UNIT - 1) + 1
        if not needed <= self._memory.size <= 2 * needed:
            self._memory = self.pages = empty_pages(0, 0)  # so that old and new are never held at once
            self._memory = empty_pages(1, needed)[0]
        self.pages = self._memory[: room * size].reshape(room, size)
        self.numbers, self.rows = np.full(room, -1, np.int32), np.full(count + 1, -1, np.int32)
        self._shelf, self._next = shelf, 0
