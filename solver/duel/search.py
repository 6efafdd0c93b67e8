"""Search of the duel: exact margins by alpha-beta, and good guesses where those are out of reach.

A margin is the side to move's tiles less the other side's on the full board, under best play by both. It
has the parity of the number of cells. The kernels answer one question at a time; this puts the questions.
"""

from collections.abc import Sequence
from copy import copy
from random import Random

import numpy as np

from solver.duel.kernels import (
    BUCKET,
    BYTES,
    CELLS,
    DISTANCES,
    FOREVER,
    GIVEN_UP,
    GUESS_KEPT,
    IMAGES,
    KEPT,
    LIMIT,
    MIRROR_MOVES,
    MIRROR_ROOT,
    MIRRORED,
    NEAR,
    NODES,
    ROOT,
    SHARED,
    SMALL,
    WORD_BITS,
    guess,
    solve,
)

MOST_CELLS = 62

_EASY = 7
"""A position with so many empty cells is likely solved in a node, and each further cell doubles the nodes: half of the
positions of 6x6 with 29 empty cells take 4.7 million or fewer."""


class DuelSearch:
    """Search of positions of one board, with a table that all its searches share."""

    def __init__(self, neighbours: Sequence[int], symmetries: Sequence[Sequence[int]], *, table_bits: int = 20) -> None:
        """Prepare to search a board of up to 62 cells, with 2**table_bits entries of 16 bytes, and 4 for estimates.

        `neighbours` are the masks of the cells next to each; `symmetries` map cells to cells, the identity first.
        """
        self.cells = cells = len(neighbours)
        index_bits = min(max(table_bits - 2, 0), cells)
        if cells > MOST_CELLS or cells - index_bits > 63 - WORD_BITS:
            raise ValueError(f"cannot search {cells} cells with 2**{table_bits} entries: at most 62, with 2**20")
        self.full = (1 << cells) - 1
        self.neighbours = tuple(neighbours)
        distances = _distances(neighbours)
        images = _image_rows(symmetries)
        start = DISTANCES + len(distances)
        self.memory = np.zeros(start + images.size, np.int64)
        self.memory[CELLS : KEPT + 1] = cells, self.full, cells - index_bits
        self.memory[SMALL : SHARED + 1] = _closed_sizes(neighbours)
        self.memory[GUESS_KEPT : IMAGES + 1] = 62 - index_bits, start, len(images), start
        self.memory[NEAR : NEAR + cells] = neighbours
        self.memory[DISTANCES:start] = distances
        self.memory[start:] = images.ravel()
        self.table = _aligned(2 * BUCKET << index_bits)
        self.guesses = _aligned(2 << index_bits)

    def beside(self) -> "DuelSearch":
        """Return a search for another thread: it shares the table and has counters of its own."""
        other = copy(self)
        other.memory = self.memory.copy()
        other.memory[NODES] = 0
        return other

    def forget(self) -> None:
        """Empty the tables, so that what follows is as in a new search."""
        self.table[:] = 0
        self.guesses[:] = 0

    @property
    def nodes(self) -> int:
        """The number of positions visited so far."""
        return int(self.memory[NODES])

    def score(self, own: int, other: int, limit: int = 0) -> int | None:
        """Return the exact margin for the side to move, whose tiles are `own`; None if given up after `limit` nodes."""
        return self.bounds(own, other, -self.cells - 1, self.cells + 1, limit)

    def bounds(self, own: int, other: int, low: int, high: int, limit: int = 0) -> int | None:
        """Return the margin if it is between `low` and `high`, else a bound of it; None if given up.

        A result of `low` or less is an upper bound, a result of `high` or more a lower bound.
        """
        self._start(own, other, limit)
        lower, upper = self._narrow(own, other, low, high)
        if self.memory[GIVEN_UP]:
            return None
        return upper if upper <= low else lower

    def scores(self, own: int, other: int, limit: int = 0) -> dict[int, int] | None:
        """Return the exact margin, for the side to move, of each of its moves; None if given up."""
        self._start(own, other, limit)
        found = {}
        ask = 1
        for cell in self._moves(own, other):
            lower, _ = self._narrow(*self._after(own, other, cell), -self.cells - 1, self.cells + 1, ask)
            if self.memory[GIVEN_UP]:
                return None
            found[cell] = -lower
            ask = lower
        return found

    def think(self, own: int, other: int, depth: int, limit: int, seed: int = 0) -> int:
        """Return the best move found by looking `depth` plies ahead, or within `limit` nodes (0: no limit).

        The position is solved if `depth` reaches the end of the game: who wins first, then the margin. The
        same arguments and a fresh table give the same move; `seed` picks among equally good ones. To think on,
        call it again: what was found is still in the table.
        """
        moves = self._moves(own, other)
        if not moves or depth < 1:
            raise ValueError(f"cannot think {depth} plies ahead with {len(moves)} moves: at least one of each")
        Random(seed).shuffle(moves)
        before = self.nodes
        left = self.cells - (own | other).bit_count()
        solving = depth >= left
        likely = not limit or limit >> max(left - _EASY, 0) > 0
        if not (solving and likely):
            self._start(own, other, (limit + 1) // 2 if solving else limit)
            self._deepen(own, other, min(depth, left - 1), moves)
        if solving:
            spent = self.nodes - before
            self._start(own, other, max(limit - spent - (limit // 8 if likely else 0), 1) if limit else 0)
            lower, upper = self._narrow(own, other, -self.cells - 1, self.cells + 1, 1, moves)
            if likely and lower < upper and lower <= 0:
                self._start(own, other, max(limit - self.nodes + before, 1))
                self._deepen(own, other, left - 1, moves)
        return moves[0]

    def _start(self, own: int, other: int, limit: int) -> None:
        self._memory, self._table, self._guesses = _address(self.memory), _address(self.table), _address(self.guesses)
        self.memory[GIVEN_UP] = 0
        self.memory[LIMIT] = self.nodes + limit if limit else FOREVER
        self.memory[ROOT] = left = self.cells - (own | other).bit_count()
        mirrored = left >= self.cells - MIRROR_ROOT
        self.memory[MIRRORED] = self.cells - MIRROR_MOVES if mirrored else FOREVER

    def _narrow(
        self, own: int, other: int, low: int, high: int, ask: int = 1, moves: list[int] | None = None
    ) -> tuple[int, int]:
        """Return bounds of the margin that are equal, or decide a window, or were found before the limit."""
        lower, upper = -self.cells, self.cells
        while lower < upper and lower < high and upper > low:
            ask = min(max(ask, low + 1, lower + 1), high, upper)
            value = self._test(own, other, ask - 1, moves)
            if self.memory[GIVEN_UP]:
                break
            if value >= ask:
                lower, ask = value, value + 1
            else:
                upper, ask = value, value
        return lower, upper

    def _test(self, own: int, other: int, low: int, moves: list[int] | None) -> int:
        """Return what `solve` does; given the moves, put the first that exceeds `low` before the others."""
        if moves is None:
            return int(solve(own, other, low, self._memory, self._table))
        best = -self.cells
        for cell in list(moves):
            value = -int(solve(*self._after(own, other, cell), -low - 1, self._memory, self._table))
            if self.memory[GIVEN_UP]:
                break
            best = max(best, value)
            if value > low:
                _put_first(cell, moves)
                break
        return best

    def _deepen(self, own: int, other: int, depth: int, moves: list[int]) -> None:
        """Put the best move first, by ever deeper searches, up to the last that ends within the limit."""
        for plies in range(1, depth + 1):
            best, chosen = -FOREVER, moves[0]
            for cell in list(moves):
                after = self._after(own, other, cell)
                if best > -FOREVER:
                    found = -int(guess(*after, -best - 1, -best, plies - 1, self._memory, self._guesses))
                if best == -FOREVER or found > best:
                    found = -int(guess(*after, -FOREVER, -best, plies - 1, self._memory, self._guesses))
                if self.memory[GIVEN_UP]:
                    return
                if found > best:
                    best, chosen = found, cell
            _put_first(chosen, moves)

    def _moves(self, own: int, other: int) -> list[int]:
        empty = [cell for cell in range(self.cells) if not (own | other) >> cell & 1]
        return [cell for cell in empty if self.neighbours[cell] & own] or empty

    def _after(self, own: int, other: int, cell: int) -> tuple[int, int]:
        """Return the tiles of the next side to move, and those of the side that filled a cell."""
        near = self.neighbours[cell]
        return other & ~near, own | other & near | 1 << cell


def _put_first(cell: int, moves: list[int]) -> None:
    moves.remove(cell)
    moves.insert(0, cell)


def _distances(neighbours: Sequence[int]) -> list[int]:
    """Return pairs of a distance and the cells that have a neighbour at that distance above."""
    lower: dict[int, int] = {}
    for cell, near in enumerate(neighbours):
        for above in range(cell + 1, len(neighbours)):
            if near >> above & 1:
                lower[above - cell] = lower.get(above - cell, 0) | 1 << cell
    return [number for pair in sorted(lower.items()) for number in pair]


def _closed_sizes(neighbours: Sequence[int]) -> tuple[int, int, int]:
    """Return the cells with the fewest neighbours, their number with the cell, and the most that two cells share."""
    closed = [near | 1 << cell for cell, near in enumerate(neighbours)]
    least = min(near.bit_count() for near in closed)
    shared = max([0, *((one & two).bit_count() for i, one in enumerate(closed) for two in closed[:i])])
    return sum(1 << cell for cell, near in enumerate(closed) if near.bit_count() == least), least, shared


def _image_rows(symmetries: Sequence[Sequence[int]]) -> np.ndarray:
    """Return a table [symmetry_id, byte, value]: the image of eight cells."""
    rows = np.zeros((len(symmetries), BYTES, 256), np.int64)
    for cell, moved in enumerate(np.array(symmetries, np.int64).T):
        byte, bit = divmod(cell, 8)
        rows[:, byte, 1 << bit : 2 << bit] = rows[:, byte, : 1 << bit] | (1 << moved)[:, None]
    return rows


def _address(words: np.ndarray) -> int:
    return int(words.ctypes.data)


def _aligned(words: int) -> np.ndarray:
    """Return zeros that start at a cache line."""
    room = np.zeros(words + 8, np.int64)
    skipped = -_address(room) // 8 % 8
    return room[skipped : skipped + words]
