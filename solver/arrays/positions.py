"""All positions of a game that are not over, one for all that are equal by symmetry, as numpy arrays.

Each position is a row, and rows are in the order of their plies, then of X's cells, then of O's:

    x, o      the cells of each side, as masks                                          int64[n]
    ply       the number of stones                                                      int8[n]
    orbit     how many positions it stands for, itself included                         int32[n]
    legal     whether a cell is free                                                    bool[n, cells]
    child     the row to which claiming a cell leads, with the board in canonical form; int32[n, cells]
              or TAKEN (-1), LINE (-2: it completes a line), FULL (-3: it fills the board)
    score     the score for the side to move                                            int8[n]
    scores    the score of each move for the side that makes it; -128 on taken cells    int8[n, cells]

Scores are explained in solver/games/score.py. They are the store's or, where there is none, follow from those one move
later.
"""

import os
from functools import cached_property
from math import comb

import numpy as np

from solver.arrays.kernels import ABSENT, TAKEN, canonical, count_images, kernel_lines, score_moves
from solver.arrays.lookup import Lookup, pairs_of_cells
from solver.arrays.walk import walk
from solver.errors import BoardError, TooLarge
from solver.folders import find_store, is_named
from solver.games.board import DEFAULT_GAME
from solver.games.lines import Game, lines_only
from solver.games.notation import parse_game
from solver.index.symmetry import Symmetry, orbit_counts, symmetries
from solver.store.store import Store

MOST = 4_000_000
"""How many positions may be held, up to symmetry: about 100 bytes each, and 800 to grade a player."""


class Positions:
    """All positions of a game that are not over, up to symmetry. The module's docstring says what each array holds."""

    def __init__(
        self, game: Game | str = DEFAULT_GAME, store: str | os.PathLike[str] | None = None, *, live: bool = False
    ) -> None:
        """Find all positions; their scores are from the store in the usual place, or the one named.

        Where there is no store in the usual place, or with `live`, they are worked out, from the last ply to the first.
        """
        self.game = lines_only(parse_game(game) if isinstance(game, str) else game)
        require_few(self.game)
        self.group: tuple[Symmetry, ...] = symmetries(self.game)
        self._kernel = kernel_lines(self.game, self.group)
        self._store, self._live = store, live
        self.met = walk(self._kernel, MOST)
        self.x, self.o, self.child, self.first = self.met
        self.ply = self.met.ply
        self.orbit = np.empty(len(self.x), np.int32)
        count_images(self._kernel.images, self.x, self.o, self.orbit)

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def legal(self) -> np.ndarray:
        """Whether each cell is free."""
        legal: np.ndarray = self.child != TAKEN
        return legal

    @property
    def score(self) -> np.ndarray:
        """The score of each position, for the side to move."""
        return self._scored[0]

    @property
    def scores(self) -> np.ndarray:
        """The score of each move, for the side that makes it."""
        return self._scored[1]

    @cached_property
    def keys(self) -> np.ndarray:
        """X's cells and O's in one number: ascending among positions of the same ply."""
        keys: np.ndarray = self.x << self.game.cells | self.o
        return keys

    def rows(self, x: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the row that stands for each position, and the id in `group` of a symmetry that leads there.

        Raise BoardError if one is over, or if no game reaches it.
        """
        x, o = pairs_of_cells(x, o)
        self._require((x & o == 0) & ((x | o) & ~self.game.full == 0), x, o)
        keys, symmetry_ids = np.empty(len(x), np.int64), np.empty(len(x), np.int64)
        canonical(self.game.cells, self._kernel.images, x, o, keys, symmetry_ids)
        ply = np.bitwise_count(x) + np.bitwise_count(o)
        rows = np.empty(len(x), np.int64)
        for stones in np.unique(ply).tolist():
            start, stop = self.first[stones : stones + 2] if stones < len(self.first) - 1 else (0, 0)
            of_ply = ply == stones
            rows[of_ply] = start + np.searchsorted(self.keys[start:stop], keys[of_ply])
            rows[of_ply] = np.minimum(rows[of_ply], max(stop - 1, 0))
        self._require(self.keys[rows] == keys, x, o)
        return rows, symmetry_ids

    def _require(self, right: np.ndarray, x: np.ndarray, o: np.ndarray) -> None:
        """Raise BoardError unless all positions are right."""
        if not right.all():
            one = int(np.flatnonzero(~right)[0])
            raise BoardError(f"x={int(x[one]):#x}, o={int(o[one]):#x} is over, or no game reaches it")

    def score_of(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        """Return the score of each position for its side to move; raise BoardError if one is over or unreached."""
        scores: np.ndarray = self.score[self.rows(x, o)[0]]
        return scores

    @cached_property
    def _scored(self) -> tuple[np.ndarray, np.ndarray]:
        scores = np.empty(self.child.shape, np.int8)
        path = find_store(self.game, self._store)
        if self._live or (not is_named(self._store) and not os.path.exists(path)):
            score = np.full(len(self), ABSENT, np.int8)
            score_moves(self.game.cells, self.game.misere, self.ply, self.child, score, scores)
            return score, scores
        with Store(path, self.game) as store:
            score = Lookup(store).scores(self.x, self.o)
            score_moves(self.game.cells, self.game.misere, self.ply, self.child, score, scores)
            wrong = np.flatnonzero(scores.max(axis=1) != score)
            if len(wrong):
                board = str(self.game.at(int(self.x[wrong[0]]), int(self.o[wrong[0]])))
                raise store.damaged(f"no move from board {board!r} has its score")
        return score, scores


def places(game: Game) -> int:
    """Return how many positions a game has at most, up to symmetry and those that are over included."""
    halves = orbit_counts(symmetries(game))
    return sum(
        halves[x] * comb(game.cells - x, o) for x in range((game.cells + 1) // 2 + 1) for o in (x - 1, x) if o >= 0
    )


def require_few(game: Game) -> None:
    """Raise TooLarge if a game has more positions than can be held."""
    if game.cells > game.solvable_cells:
        raise TooLarge(f"{game.name} has too many positions to hold all of them")
    if places(game) > MOST:
        raise TooLarge(f"{game.name} has {places(game):,} positions up to symmetry, and at most {MOST:,} are held")
