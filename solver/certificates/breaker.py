"""Defences found by search: answers with which one side holds the other, as solver/certificates/holding.py reads them.

The search finds, the walk checks: it goes through the positions in plain Python and asks the search for each answer;
what it was told is the proof. The kernels search whole boards of up to 64 cells.
"""

from collections.abc import Callable, Sequence
from time import monotonic

from solver.certificates.holding import BARE, NOT_BARE, Bare, Whole, walk
from solver.certificates.kernels import (
    CHUNKS,
    DEPTHS,
    LIMIT,
    MOST_LINES,
    NODES,
    ROWS,
    WORDS,
    maker_completes,
    maker_wins,
    next_reply,
)
from solver.certificates.matching import MOST_CELLS, TABLES
from solver.errors import NotSettled
from solver.games.lines import Game
from solver.index.symmetry import Symmetry, inverse

import numpy as np  # isort: skip  (after the kernels, which set numba's cache folder)

_TABLE_BITS = 22
_NODES_AT_ONCE = 1 << 13

_LONGEST = 54
"""Weights of longer lines would overflow."""


def searches(game: Game) -> bool:
    """Tell whether a defence can be looked for."""
    longest = max(map(int.bit_count, game.lines))
    small = game.cells <= MOST_CELLS and len(game.lines) <= MOST_LINES and longest <= _LONGEST
    return small and not game.misere


def find_defence(game: Game, group: Sequence[Symmetry], deadline: float) -> list[int | None] | None:
    """Return O's answers on the empty board, None for each usual one; or None for all if no defence is found.

    NotSettled says that time was short.
    """
    if not searches(game):
        return None
    start = Whole(0, 0)
    search = Breaker(game, group, deadline)
    if not search.holds(start):
        return None
    answers: list[int | None] = []

    def ask(position: Whole | Bare, usual: int) -> int:
        answer = search.answer(position, usual)
        answers.append(None if answer == usual else answer)
        return answer

    walk(game, start, group, ask)
    return answers


class Breaker:
    """The search for a side that holds: the kernels with their tables, for one game."""

    def __init__(self, game: Game, group: Sequence[Symmetry], deadline: float) -> None:
        """Prepare to search a game of up to 64 cells until a deadline."""
        self._game = game
        self._deadline = deadline
        self._work = np.zeros(WORDS, np.int64)
        self._lines = np.array(game.lines, np.uint64).view(np.int64), max(map(int.bit_count, game.lines))
        self._room = np.zeros((2 * DEPTHS, ROWS, MOST_CELLS), np.int64), np.zeros((TABLES, MOST_CELLS), np.int64)
        self._tables = (
            *self._lines,
            _images(group),
            _images([inverse(g) for g in group]),
            *self._room,
            np.zeros((1 << _TABLE_BITS, 3), np.int64),
        )
        self._whole = np.zeros((1 << _TABLE_BITS, 3), np.int64)

    def holds(self, position: Whole | Bare) -> bool:
        """Tell whether the breaker holds, the maker to move; raise NotSettled if time is short."""
        if isinstance(position, Bare):
            return self.zone(*position) == 0
        if self.zone(position.maker, self._game.full & ~(position.maker | position.breaker)) == 0:
            return True
        return self._run(maker_completes, position.maker, position.breaker, self._game.full, whole=True) == 0

    def zone(self, maker: int, free: int) -> int:
        """Return free cells that are enough for the maker to win a bare position; 0 if the breaker holds."""
        return self._run(maker_wins, maker, free) & (1 << 64) - 1

    def answer(self, position: Whole | Bare, usual: int) -> int:
        """Return an answer with which the breaker holds: of those that do, the one that comes closest to pairs."""
        if usual == BARE:
            maker, breaker = position
            bare = Bare(maker, self._game.full & ~(maker | breaker))
            return BARE if self.holds(bare) else NOT_BARE
        free = position.free if isinstance(position, Bare) else self._game.full & ~(position.maker | position.breaker)
        tries = _signed(free)
        while tries:
            cell = int(next_reply(_signed(position.maker), _signed(free), tries, *self._lines, *self._room))
            tries &= ~_signed(1 << cell)
            if isinstance(position, Bare):
                after: Whole | Bare = Bare(position.maker, position.free & ~(1 << cell))
            else:
                after = Whole(position.maker, position.breaker | 1 << cell)
                if any(line >> cell & 1 and not line & ~after.breaker for line in self._game.lines):
                    return cell
            if self.holds(after):
                return cell
        raise NotSettled("a defence was lost from the table of the search")

    def _run(self, kernel: Callable[..., int], *position: int, whole: bool = False) -> int:
        while True:
            if monotonic() > self._deadline:
                raise NotSettled(f"{self._game.name} was not settled in time")
            self._work[NODES], self._work[LIMIT] = 0, _NODES_AT_ONCE
            tables = (*self._tables, self._whole) if whole else self._tables
            found = int(kernel(*map(_signed, position), 0, *tables, self._work))
            if self._work[NODES] <= _NODES_AT_ONCE:
                return found


def _signed(cells: int) -> int:
    """Return a set of cells as a number of 64 bits with a sign."""
    return cells - (1 << 64) if cells >> 63 else cells


def _images(group: Sequence[Symmetry]) -> np.ndarray:
    """Return tables of the image of every eight cells under each symmetry."""
    tables = np.zeros((len(group), CHUNKS, 256), np.uint64)
    for row, g in enumerate(group):
        for cell, moved in enumerate(g):
            chunk, bit = divmod(cell, 8)
            tables[row, chunk, 1 << bit : 2 << bit] = tables[row, chunk, : 1 << bit] | np.uint64(1 << moved)
    return tables.view(np.int64)
