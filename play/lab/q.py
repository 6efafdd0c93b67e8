"""Tabular Q-learning by self-play, over all positions of a game up to symmetry.

It knows the rules: where each move leads, and what a move brings that ends the game. So it completes a line if it can,
and the table has an entry for each position that a move leads to, rather than for each move.

It explores by the move that leads to the position visited least and learns backward from the end of each game, or plays
epsilon-greedily. With the first it knows every score of 4x4 after some 350,000 games.
"""

from typing import ClassVar

import numpy as np

from play.lab.learner import Played, fill
from play.lab.policies import Policy, Rows
from play.lab.q_kernels import greedy, play_games
from play.lab.runs import Arrays
from solver.arrays.kernels import LINE, TAKEN
from solver.arrays.positions import Positions


class QLearner:
    """Learns the score of every position that play has met."""

    name: ClassVar[str] = "q"
    goal: ClassVar[str] = "optimal"
    portion: ClassVar[int] = 10_000

    def __init__(
        self, positions: Positions, seed: int, *,
        epsilon: float | None = None, step: float = 1.0, unmasked: bool = False, opponent: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Explore by visits or, given `epsilon`, by chance; play against itself or an opponent's chances, row by row.

        `step` is how far an entry moves to what was seen. `unmasked` tries taken cells too, until it knows them.
        """
        self._positions = positions
        self._seed = seed
        self._epsilon, self._step = epsilon, step
        rows, cells = positions.child.shape
        self._opponent = np.zeros((0, cells), np.float32) if opponent is None else opponent.astype(np.float32)
        self._wins = np.zeros(rows, np.int8)
        if not positions.game.misere:
            wins = (positions.child == LINE).any(axis=1)
            self._wins[wins] = (cells - positions.ply)[wins]
        self._value = np.zeros(rows, np.float32)
        self._visits = np.zeros(rows, np.int32)
        self._taken = np.zeros(rows if unmasked else 0, np.int32)

    def train(self, start: int, count: int) -> Played:
        """Play so many games, from number `start` on, and learn from each."""
        tally = np.zeros(5, np.int64)
        positions, by_visits = self._positions, self._epsilon is None
        play_games(
            self._seed, start, count, positions.game.misere, positions.ply, positions.child, self._wins, self._value,
            self._visits, self._taken, by_visits, self._epsilon or 0.0, self._step, self._opponent, tally,
        )  # fmt: skip
        return Played(*map(int, tally))

    def policy(self) -> Policy:
        """Return its best moves: the first, where several seem equally good."""
        return Rows(self._positions, self._greedy()[0], self.name)

    def entropy(self) -> float:
        """Return the mean number of bits by which its best moves are left open, because others seem as good."""
        return float(np.log2(self._greedy()[1]).mean())

    @property
    def seen(self) -> int:
        """How many positions it has visited."""
        return int((self._visits > 0).sum())

    def arrays(self) -> Arrays:
        """Return the table, how often each position was visited, and which cells are known to be taken."""
        return {"value": self._value, "visits": self._visits, "taken": self._taken}

    def load(self, arrays: Arrays) -> None:
        """Go on from what was learned before; raise ValueError if it is of another game or learner, or damaged."""
        before = {name: array.copy() for name, array in self.arrays().items()}
        fill(self.arrays(), arrays)
        cells = np.arange(self._positions.game.cells)
        taken = ((self._positions.child == TAKEN).astype(np.int64) << cells).sum(axis=1)
        sound = np.isfinite(self._value).all() and (np.abs(self._value) <= len(cells) + 1).all()
        if not sound or (self._visits < 0).any() or (self._taken & ~taken[: len(self._taken)]).any():
            fill(self.arrays(), before)
            raise ValueError("its numbers are not those of a table")

    def _greedy(self) -> tuple[np.ndarray, np.ndarray]:
        positions = self._positions
        moves, equals = np.empty(len(positions), np.int64), np.empty(len(positions), np.int64)
        game = positions.game
        greedy(
            game.misere, positions.ply, positions.child, self._wins, self._value, self._taken, moves, equals
        )  # fmt: skip
        return moves, equals
