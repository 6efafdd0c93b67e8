"""Traps: of equally good moves, which one gives the other side most occasion to err?

A position is worth what one can expect of it if one plays best and the other side what is likely, for some plies; then
it is worth its true result. Who is winning loses nothing by that, and who is losing gains most from errors.
"""

from collections.abc import Callable

from oracle.oracle import Oracle
from solver.duel.live import result_of
from solver.games.board import BoardPosition
from solver.index.layout import stored_plies

PLIES = 4
"""How many plies after a move are looked at."""

_KEPT = 1 << 18


class Traps:
    """Finds moves that set traps, where an oracle knows every score without a search."""

    def __init__(self, oracle: Oracle, likely: Callable[[int, int, int], dict[int, float]]) -> None:
        """Ask an oracle for scores, and `likely` for the chances of each reply to be made."""
        self._oracle = oracle
        self._likely = likely
        self._worth: dict[tuple[int, int, int, int], float] = {}

    def known(self, position: BoardPosition) -> bool:
        """Tell whether the oracle knows every move of a position."""
        return self._oracle.knows(position)

    def score(self, position: BoardPosition) -> int | None:
        """Return a position's score, if the oracle has it although it does not know the moves; None if not."""
        known = position.stones <= stored_plies(position.game)
        return self._oracle.get_score(position, None) if known else None

    def best(self, position: BoardPosition) -> list[int]:
        """Return the best cells that promise most, in order."""
        side = position.stones % 2
        worth = {cell: self._hope(position.play(cell), side, PLIES) for cell in self._best_cells(position)}
        most = max(worth.values())
        return [cell for cell, found in worth.items() if found == most]

    def _best_cells(self, position: BoardPosition) -> list[int]:
        """Return the best cells."""
        scores = {cell: -self._oracle.score(position.play(cell)) for cell in position.legal}
        best = max(scores.values())
        return [cell for cell, score in scores.items() if score == best]

    def _hope(self, position: BoardPosition, side: int, plies: int) -> float:
        """Return what a side (0 or 1) can expect of a position: 1 for a win, a half for a draw."""
        x, o, _ = self._oracle.canonical(position)
        position = position.game.at(x, o)
        key = x, o, side, plies
        if key not in self._worth:
            if len(self._worth) >= _KEPT:
                self._worth.clear()
            self._worth[key] = self._expected(position, side, plies)
        return self._worth[key]

    def _expected(self, position: BoardPosition, side: int, plies: int) -> float:
        mine = position.stones % 2 == side
        if not plies or position.over or not self.known(position):
            score = self._oracle.score(position)
            return result_of(score if mine else -score)
        if mine:
            return max(self._hope(position.play(cell), side, plies - 1) for cell in self._best_cells(position))
        chances = self._likely(position.x, position.o, plies)
        return sum(chance * self._hope(position.play(cell), side, plies - 1) for cell, chance in chances.items())
