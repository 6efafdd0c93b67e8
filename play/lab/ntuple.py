"""A learner whose values are sums over tuples of cells that lines make: single lines, pairs of them, and some triples.

A move is worth tanh of a sum: for each tuple, a weight that depends on what its cells hold after the move. Tuples that
are images of each other under the game's symmetries share their weights, so what is learned holds for all images of a
position.

It learns by temporal differences in games against itself: the value of the position after each move gets closer to
minus that of the best reply. Each game begins with a random number of random moves, so that positions of all kinds are
met. Random moves do no harm: what is learned depends on the best reply, not on the one that is made. Of the game it
knows the rules, and which moves complete a line.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from play.lab.learner import Played, fill
from play.lab.ntuple_kernels import play_games, rate_moves
from play.lab.policies import FirstBest, Policy, Shown
from play.lab.runs import Arrays
from play.lab.sampling import drawn
from solver.arrays.kernels import kernel_lines
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.index.symmetry import Symmetry, image, symmetries

RATE_FIRST, RATE_LAST = 1.0, 0.05
"""How much of the distance to its target a value moves, in the first game and in the last; in between, evenly less."""

EXPLORE = 0.3
"""The chance that a move after the opening is random."""

CELLS = 12
"""The largest tuple."""

TUPLES = 256
"""How many tuples are read for each move, at most: time grows with them."""

BYTES = 256 << 20
"""How much memory the tables may take, at most."""

TRIPLES_OF = 64
"""Triples are used only in games with up to so many lines: others have too many to try."""

_TIE = 1e-9
"""Moves whose worth differs by no more are equally good: the order of adding leaves less."""

_ASKED = 4_000
"""The number of positions in which the moves that seem best are counted."""


class _Tables(NamedTuple):
    """The tuples, as play/lab/ntuple_kernels.py explains them."""

    powers: np.ndarray
    origins: np.ndarray
    slots: np.ndarray
    size: int
    """How many weights there are, for both sides alike."""


class NTuple:
    """Learns a game of lines by playing against itself."""

    name: ClassVar[str] = "ntuple"
    goal: ClassVar[str] = "kept"
    portion: ClassVar[int] = 2_000

    symmetric = True
    """Its chances are the same, up to symmetry, in positions that are equal by symmetry."""

    def __init__(self, game: Game, seed: int, episodes: int, opponent: None = None) -> None:
        """Prepare to learn from so many games in all; `seed` makes all random choices."""
        self._game = game
        self._seed = seed % (1 << 62)
        self._change = (RATE_LAST - RATE_FIRST) / max(episodes, 1)
        group = self._group = symmetries(game)
        self._through = kernel_lines(game, group[:1]).through
        self._tables = _tables(game, group)
        self._weights = np.zeros(self._tables.size, np.float32)
        self._hits = np.zeros(self._tables.size, np.int32)

    def train(self, start: int, count: int) -> Played:
        """Play so many games, from number `start` on, and learn from each."""
        played = np.zeros(4, np.int64)
        rates = (RATE_FIRST, self._change, EXPLORE)
        play_games(self._seed, start, start + count, *rates, *self._kernel, self._hits, played)
        return Played(*played.tolist())

    def policy(self) -> Policy:
        """Return its best moves: the first on the canonical board, where several seem equally good."""
        return FirstBest(Shown(self._game, self.name, self), self._group)

    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        """Return the chance of each move in open positions."""
        best = self._best(x, o)
        return np.asarray(best / best.sum(axis=1, keepdims=True))

    def values(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        """Return what it thinks that open positions are worth to the side to move: from -1, a loss, to 1, a win."""
        return np.asarray(np.tanh(self._worth(x, o).max(axis=1)))

    def entropy(self) -> float:
        """Return the mean number of bits by which its best moves are left open, in some random positions."""
        return float(np.log2(self._best(*drawn(self._game, _ASKED, 0)).sum(axis=1)).mean())

    @property
    def seen(self) -> int:
        """How many weights were changed."""
        return int(np.count_nonzero(self._weights))

    def arrays(self) -> Arrays:
        """Return the weights."""
        return {"weights": self._weights}

    def load(self, arrays: Arrays) -> None:
        """Go on from what was learned before; raise ValueError if it is of another game or learner, or damaged."""
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError("its numbers are not those of weights")
        fill(self.arrays(), arrays)

    @property
    def _kernel(self) -> tuple[bool, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        tables = self._tables
        return self._game.misere, self._through, tables.powers, tables.origins, tables.slots, self._weights

    def _best(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        worth = self._worth(x, o)
        return np.asarray(worth >= worth.max(axis=1, keepdims=True) - _TIE)

    def _worth(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        worth = np.empty((len(x), self._game.cells))
        rate_moves(np.ascontiguousarray(x, np.int64), np.ascontiguousarray(o, np.int64), *self._kernel, worth)
        return worth


def _tables(game: Game, group: tuple[Symmetry, ...]) -> _Tables:
    """Return the tables of the tuples that are used, which have one part for each set of equal tuples."""
    powers, origins = list[np.ndarray](), list[int]()
    slots, start, size = list[np.ndarray](), 0, 0
    for images in _chosen(game, group):
        for placed in images:
            row = np.zeros(game.cells, np.int64)
            row[list(placed)] = 3 ** np.arange(len(placed))
            powers.append(row)
            origins.append(start)
        own = _shared(images[0], group)
        slots.append((own + size).astype(np.int32))
        start, size = start + len(own), size + int(own.max()) + 1
    return _Tables(
        np.ascontiguousarray(np.array(powers, np.int64).reshape(-1, game.cells).T),
        np.array(origins, np.int64),
        np.concatenate([np.empty(0, np.int32), *slots]),
        size,
    )


def _chosen(game: Game, group: tuple[Symmetry, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Yield sets of tuples that are images of each other while there is room: fewer lines first, then fewer cells."""
    room, memory, met = TUPLES, BYTES, set[int]()
    for cells in _unions(game):
        if cells in met:
            continue
        images = _images(cells, group)
        met.update(images)
        needed = 12 * 3 ** cells.bit_count()  # a slot, a weight and a hit
        if len(images) <= room and needed <= memory:
            room, memory = room - len(images), memory - needed
            yield list(images.values())
        if not room:
            return


def _unions(game: Game) -> Iterator[int]:
    """Yield the cells of lines, then of pairs and of triples, as masks in the order of their sizes.

    The whole board is left out: as a tuple, it would have a weight for each position.
    """
    for count in (1, 2, 3) if len(game.lines) <= TRIPLES_OF else (1, 2):
        yield from sorted(
            {
                cells
                for lines in combinations(game.lines, count)
                if (cells := _union(lines)).bit_count() <= CELLS and cells != game.full
            },
            key=lambda cells: (cells.bit_count(), cells),
        )


def _union(lines: Iterable[int]) -> int:
    cells = 0
    for line in lines:
        cells |= line
    return cells


def _images(cells: int, group: tuple[Symmetry, ...]) -> dict[int, tuple[int, ...]]:
    """Return the images of a set of cells, itself first: for each, where every cell of the first one goes."""
    own = tuple(cells_of(cells))
    images: dict[int, tuple[int, ...]] = {}
    for g in group:
        images.setdefault(image(g, cells), tuple(g[cell] for cell in own))
    return images


def _shared(own: tuple[int, ...], group: tuple[Symmetry, ...]) -> np.ndarray:
    """Return, for each index of a tuple, a number that it shares with its images under the tuple's own symmetries."""
    indices = np.arange(3 ** len(own))
    digits = [indices // 3**place % 3 for place in range(len(own))]
    least = indices
    for moved in {tuple(g[cell] for cell in own) for g in group if {g[cell] for cell in own} == set(own)}:
        least = np.minimum(least, sum(digit * 3 ** own.index(cell) for digit, cell in zip(digits, moved, strict=True)))
    return np.asarray(np.unique(least, return_inverse=True)[1])
