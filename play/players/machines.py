"""The players that the program brings along."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from oracle.answers import Move
from oracle.oracle import Oracle
from solver.errors import NotSettled
from solver.games.board import cells_of
from solver.games.cell_rules import SetRules
from solver.games.line_rules import LineState
from solver.games.lines import lines_only
from solver.games.rules import Rules
from solver.games.score import MARGIN

if TYPE_CHECKING:
    import random

SHARPNESS = (0.0, 0.22, 0.47, 0.72, 0.98, 1.25, 1.57, 1.92, 2.45, 3.7)
"""By level: how strongly a better move is preferred."""


_WIDE = 20
"""Winning by so many tiles is worth twice as much as winning at all."""


class RandomPlayer:
    """Any move, each as likely as the others; of any game."""

    symmetric = True

    def __init__(self, rules: Rules[Any], rng: "random.Random") -> None:
        """Draw moves from `rng`."""
        self._rules = rules
        self._rng = rng

    def choose(self, state: Any) -> int:
        """Return any legal move."""
        return self._rng.choice(self._rules.legal(state))

    def choices(self, state: Any) -> dict[int, float]:
        """Return the chance of every legal move."""
        return _alike(self._rules.legal(state))


class TacticalPlayer:
    """Complete a line, else block one, else take a cell near the middle, else a corner, else any.

    Of several opponents, the one whose turn comes first is blocked first.
    """

    def __init__(self, rules: SetRules, rng: "random.Random") -> None:
        """Play a game of lines, and draw among equally good cells from `rng`."""
        self._rules, self._game = rules, lines_only(rules.game)
        self._rng = rng
        game = self._game
        middle = {(game.rows - 1) // 2, game.rows // 2}, {(game.columns - 1) // 2, game.columns // 2}
        ends = {0, game.rows - 1}, {0, game.columns - 1}
        places = [divmod(square, game.columns) for square in game.squares]
        self._tiers = [
            {cell for cell, (row, column) in enumerate(places) if row in rows and column in columns}
            for rows, columns in (middle, ends)
        ]

    def choose(self, state: Any) -> int:
        """Return a cell by the first rule that names one."""
        return self._rng.choice(self._candidates(state))

    def choices(self, state: Any) -> dict[int, float]:
        """Return the chance of every cell that may be chosen."""
        return _alike(self._candidates(state))

    def _candidates(self, state: Any) -> list[int]:
        """Return the cells that the first rule names that names any."""
        empty = list(cells_of(self._game.full & ~self._rules.taken(state)))
        for own in self._rules.in_turn(state):
            completing = [cell for cell in empty if self._game.completes(own | 1 << cell, cell)]
            if self._game.misere:
                empty = [cell for cell in empty if cell not in completing] or empty
                break
            if completing:
                return completing
        tiers = [[cell for cell in empty if cell in tier] for tier in self._tiers]
        return next(filter(None, tiers), empty)


class OraclePlayer:
    """The oracle: makes the best move that is hardest to answer, as far as scores are known."""

    symmetric = True

    def __init__(self, oracle: Oracle) -> None:
        """Play what `oracle` plays."""
        self._oracle = oracle

    def choose(self, state: LineState) -> int:
        """Return the oracle's own move."""
        return self._oracle.best_move(state.position).cell

    def choices(self, state: LineState) -> dict[int, float]:
        """Return the oracle's own move, as certain; raise NotSettled if a search had too little time for it."""
        move = self._oracle.best_move(state.position)
        if not move.best:
            raise _unsettled(state)
        return {move.cell: 1.0}


class FirstPlayer:
    """The first best move in the order of the cells: as strong as the oracle, but it sets no traps."""

    def __init__(self, oracle: Oracle) -> None:
        """Play the first best move that `oracle` names."""
        self._oracle = oracle

    def choose(self, state: LineState) -> int:
        """Return the first of the best moves."""
        return self._oracle.analysis(state.position).moves[0].cell

    def choices(self, state: LineState) -> dict[int, float]:
        """Return the first of the best moves, as certain; raise NotSettled if a search had too little time for it."""
        analysis = self._oracle.analysis(state.position)
        if not analysis.exact:
            raise _unsettled(state)
        return {analysis.moves[0].cell: 1.0}


class LevelPlayer:
    """Play like a person of some strength: prefer better moves, and see what is near more clearly.

    A move is worth +1 for a win, 0 for a draw, -1 for a loss, and up to as much again the nearer the end is.
    Moves are drawn with weights that grow exponentially with their worth, by a factor that grows with the
    level: at level 0 all moves are equally likely.
    """

    symmetric = True

    def __init__(self, oracle: Oracle, level: int, rng: "random.Random") -> None:
        """Play at a level from 0 to 9; 10 is the oracle itself."""
        self._oracle = oracle
        self._rng = rng
        self._sharpness = SHARPNESS[level]

    def choose(self, state: LineState) -> int:
        """Return a move drawn by its worth."""
        moves, weights = self._weighed(state)
        return self._rng.choices(moves, weights)[0].cell

    def choices(self, state: LineState) -> dict[int, float]:
        """Return the chance of every move; raise NotSettled if a search had too little time for their scores."""
        if not self._oracle.analysis(state.position).exact:
            raise _unsettled(state)
        moves, weights = self._weighed(state)
        return {move.cell: weight / sum(weights) for move, weight in zip(moves, weights, strict=True)}

    def _weighed(self, state: LineState) -> tuple[tuple[Move, ...], list[float]]:
        analysis = self._oracle.analysis(state.position)
        return analysis.moves, [math.exp(self._sharpness * _worth(move, analysis.scale)) for move in analysis.moves]


def _unsettled(state: LineState) -> NotSettled:
    board = str(state.position)
    return NotSettled(f"board {board!r} takes too long to search: build the game's store, or allow more with --time")


def _alike(moves: Sequence[int]) -> dict[int, float]:
    """Return the chances of moves of which each is as likely as the others."""
    return dict.fromkeys(moves, 1 / len(moves))


def _worth(move: Move, scale: str) -> float:
    """Return what a move is worth: nothing for a draw, else more the sooner the end, or the more is won or lost."""
    if not move.score:
        return 0.0
    size = 1 + (abs(move.score) / _WIDE if scale == MARGIN else 1 / (move.plies or 1))
    return size if move.score > 0 else -size
