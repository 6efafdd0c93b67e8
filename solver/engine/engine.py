"""The engine: a good move, with an estimate, for any position of a game of lines of up to 400 cells.

It deepens one ply at a time until its time or its nodes run out. Given a number of nodes instead of a time,
it says the same every time. `solver/engine/kernels.py` has the search itself.
"""

import random
from math import exp
from threading import Timer
from time import monotonic
from typing import NamedTuple

import numpy as np

from solver.engine import CELLS_MOST
from solver.engine.board import (
    BARRED,
    BEST,
    CELL,
    KEY,
    KINDS,
    LIMIT,
    NODES,
    PLIES_MOST,
    PLY,
    STOP,
    TAKEN,
    WORDS,
    lift,
    put,
)
from solver.engine.kernels import MATE, WON, search
from solver.engine.tables import near_cells, tables_of, words_of
from solver.games.board import cells_of
from solver.games.lines import Game

_WINDOW = 40
"""How far from the last depth's value the next one is looked for at first."""

_SCALE = 100.0
"""So much value makes one side e times as likely to win as the other."""

_ENOUGH = 0.8
"""A depth is not begun when more than this share of the time is used: it would hardly end."""

_NOISE = 128

_LINE = 16
"""How much each line through a cell makes it be tried earlier, where no line is short enough to be counted."""


class Thought(NamedTuple):
    """What the engine thinks of a position."""

    cell: int
    """The move that it would make."""
    value: int
    """What the position is worth to the side to move, in the engine's own units."""
    share: float
    """The share of points that the side to move may expect: an estimate."""
    depth: int
    """How many plies it has looked ahead, and further where there are threats."""
    nodes: int
    line: tuple[int, ...]
    """How it expects the game to go on, its move first."""
    win: int
    """In how many plies it believes to win or, if negative, to lose; 0 if it does not know. It is not proved."""


class Engine:
    """Searches positions of one game, and remembers what it has seen. One thread at a time may ask it."""

    def __init__(self, game: Game, *, table_bits: int = 20) -> None:
        """Prepare to search a game, with a table of 2**table_bits positions of 16 bytes each."""
        self.game = game
        self._c, self._fresh = tables_of(game)
        self._s = self._fresh.copy()
        self._t = np.zeros(2 << table_bits, np.int64)
        self._near = near_cells(game)
        self._central = np.array([[_LINE * len(lines)] * 2 for lines in game.lines_through], np.int64)
        if min(map(int.bit_count, game.lines)) <= KINDS:
            self._central[:] = 0  # such lines are counted from the first stone on
        self._side = 0

    def forget(self) -> None:
        """Forget what was seen, so that what follows is as in a new engine."""
        self._t[:] = 0
        self._tried()[:] = 0

    def think(
        self, own: int, other: int, *, seconds: float | None = None, nodes: int = 0, seed: int = 0,
        depth: int = PLIES_MOST,
    ) -> Thought:  # fmt: skip
        """Return what to play for the side that has the cells `own` and is to move in an open position."""
        start = monotonic()
        self._set_up(own, other, nodes, seed)
        left = self.game.cells - (own | other).bit_count()
        value, reached = self._look(1, 0), 1  # so much is seen however little time there is
        best = int(self._s[BEST])
        timer = _Alarm(self._s, start, seconds)
        try:
            for ahead in range(2, min(depth, left, PLIES_MOST) + 1 if abs(value) <= WON else 0):
                found = self._look(ahead, value)
                best = int(self._s[BEST]) if self._s[BEST] >= 0 else best
                if self._s[STOP]:
                    break
                value, reached = found, ahead
                if abs(value) > WON or timer.used() > _ENOUGH:
                    break
        finally:
            timer.cancel()
        if best < 0:  # there was no time for any search
            best = max(cells_of(self.game.full & ~(own | other)), key=self._glance)
        return Thought(best, value, share_of(value), reached, int(self._s[NODES]), self._line(best), _win(value))

    def values(
        self, own: int, other: int, *, depth: int, most: int, seconds: float | None = None, nodes: int = 0,
        seed: int = 0,
    ) -> list[tuple[int, int]]:  # fmt: skip
        """Return the best few moves and what each is worth, looking so many plies ahead, the best first."""
        self._set_up(own, other, nodes, seed)
        found: list[tuple[int, int]] = []
        timer = _Alarm(self._s, monotonic(), seconds)
        try:
            while len(found) < min(most, self.game.cells - (own | other).bit_count()):
                value = 0
                for ahead in range(1, depth + 1):
                    value = self._look(ahead, value)
                if self._s[STOP] or self._s[BEST] < 0:
                    break
                cell = int(self._s[BEST])
                found.append((cell, value))
                if self._s[BARRED + (cell >> 6)] >> (cell & 63) & 1:
                    found.pop()
                    break
                self._s[BARRED : BARRED + WORDS] |= words_of(1 << cell)
        finally:
            timer.cancel()
        return sorted(found, key=lambda move: -move[1])

    def _set_up(self, own: int, other: int, nodes: int, seed: int) -> None:
        """Put the stones on an empty board; half of what was learned of the order of moves is kept."""
        tried = self._tried() >> 1
        self._s[:] = self._fresh
        if seed:
            noise = random.Random(seed)
            tried += np.array([[noise.randrange(_NOISE)] * 2 for _ in range(self.game.cells)], np.int64)
        self._tried()[:] = tried + self._central
        self._s[LIMIT] = nodes or 1 << 62
        self._side = (own | other).bit_count() % 2
        near = 0
        for cells, side in ((own, self._side), (other, 1 - self._side)):
            for cell in cells_of(cells):
                put(self._c, self._s, cell, side)
                near |= self._near[cell]
        if self.game.misere:
            near = self.game.full
        self._s[PLY : PLY + WORDS] = words_of(near)

    def _tried(self) -> np.ndarray:
        """Return how well each cell has served each side so far."""
        tried: np.ndarray = self._s[CELL : CELL + 4 * CELLS_MOST].reshape(-1, 4)[: self.game.cells, 2:]
        return tried

    def _glance(self, cell: int) -> int:
        return int(self._s[CELL + 4 * cell] + self._s[CELL + 4 * cell + 1])

    def _look(self, ahead: int, expected: int) -> int:
        """Return the value so many plies ahead, which is looked for near the one expected at first."""
        self._s[BEST] = -1
        low = high = _WINDOW
        while True:
            alpha = expected - low if low <= 8 * _WINDOW and abs(expected) < WON else -MATE
            beta = expected + high if high <= 8 * _WINDOW and abs(expected) < WON else MATE
            value = int(search(self._c, self._s, self._t, self._side, -1, alpha, beta, ahead, 0))
            if self._s[STOP] or alpha < value < beta:
                return value
            if value <= alpha:
                if alpha == -MATE:
                    return value
                low *= 4
            else:
                if beta == MATE:
                    return value
                high *= 4

    def _line(self, first: int) -> tuple[int, ...]:
        """Return how the game goes on after a move, as far as it is remembered."""
        line: list[int] = []
        side, cell = self._side, first
        while cell >= 0 and not self._s[TAKEN + (cell >> 6)] >> (cell & 63) & 1 and len(line) < PLIES_MOST:
            put(self._c, self._s, cell, side)
            line.append(cell)
            side = 1 - side
            cell = self._remembered(int(self._s[KEY]) ^ side)
        for back in reversed(line):
            side = 1 - side
            lift(self._c, self._s, back, side)
        return tuple(line)

    def _remembered(self, key: int) -> int:
        """Return the move that is remembered of a position, or -1."""
        slot = (key ^ key >> 29) & (len(self._t) // 2 - 2)
        for at in (2 * slot, 2 * slot + 2):
            if self._t[at] == key:
                return int(self._t[at + 1] & 1023) - 1
        return -1


class _Alarm:
    """Ends a search when its time is up."""

    def __init__(self, state: np.ndarray, start: float, seconds: float | None) -> None:
        self._state, self._start, self._seconds = state, start, seconds
        self._timer = None
        if seconds is not None:
            self._timer = Timer(max(0.0, start + seconds - monotonic()), self._ring)
            self._timer.daemon = True
            self._timer.start()

    def _ring(self) -> None:
        self._state[STOP] = 1

    def used(self) -> float:
        """Return the share of the time that has passed."""
        if self._seconds is None:
            return 0.0
        return (monotonic() - self._start) / self._seconds if self._seconds else 1.0

    def cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer.join()  # or it could ring in the next search


def share_of(value: int) -> float:
    """Return the share of points that a value lets the side to move expect."""
    return 1 / (1 + exp(-max(-1000.0, min(1000.0, value)) / _SCALE))


def _win(value: int) -> int:
    if value > WON:
        return MATE - value
    return -(MATE + value) if value < -WON else 0
