"""Traps: of equally good moves, which one gives the other side most occasion to err?

A position is worth what one can expect of it if one plays best and the other side what is likely, for some replies;
then it is worth its true result. Who is winning loses nothing by that, and who is losing gains most from errors.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from oracle.oracle import Oracle
from solver.games.board import BoardPosition
from solver.games.score import result_of
from solver.index.layout import stored_plies

if TYPE_CHECKING:
    from solver.duel.live import LiveDuel

Likely = Callable[[BoardPosition], dict[int, float]]
"""The chance of each move to be made by whoever is to move."""

_POSITIONS, _NODES = 3_000, 2_500
"""Of how many positions a search is asked for one move, which unlike nodes does not depend on what it remembers; and as
how many nodes each counts, besides those visited, for what else it takes."""

_KEPT = 1 << 18


class Scores(Protocol):
    """What is known of positions."""

    def canonical(self, position: BoardPosition) -> BoardPosition:
        """Return the position, or an image of it that stands for both."""

    def of_moves(self, position: BoardPosition) -> dict[int, int] | None:
        """Return the score of each move for the side that makes it; None if they are not all known."""


class StoredScores:
    """What an oracle knows without a search."""

    def __init__(self, oracle: Oracle) -> None:
        """Ask an oracle."""
        self._oracle = oracle

    def canonical(self, position: BoardPosition) -> BoardPosition:
        """Return the image of the position that the store has."""
        x, o, _ = self._oracle.canonical(position)
        image: BoardPosition = position.game.at(x, o)
        return image

    def of_moves(self, position: BoardPosition) -> dict[int, int] | None:
        """Return the score of each move, if the oracle knows them all."""
        if not self._oracle.knows(position):
            return None
        return {cell: -self._oracle.score(position.play(cell)) for cell in position.legal}

    def of(self, position: BoardPosition) -> int | None:
        """Return a position's score, if the oracle has it although it does not know the moves; None if not."""
        known = position.stones <= stored_plies(position.game)
        return self._oracle.get_score(position, None) if known else None


class SolvedScores:
    """What a search finds within so many nodes, for one move, of so many positions."""

    def __init__(self, live: "LiveDuel", nodes: int, positions: int = _POSITIONS) -> None:
        """Search with `live`; no one position may take more than a quarter of the nodes."""
        self._live = live
        self._most = max(nodes // 4, 1)
        self._nodes = nodes
        self._positions = positions

    @property
    def used_up(self) -> bool:
        """Whether nothing more is found."""
        return self._nodes <= 0 or self._positions <= 0

    def canonical(self, position: BoardPosition) -> BoardPosition:
        """Return the position itself: what the search has found is found again at once."""
        return position

    def of_moves(self, position: BoardPosition) -> dict[int, int] | None:
        """Return the score of each move, if they can be found."""
        if self.used_up:
            return None
        scores, nodes = self._live.scores(position.x, position.o, min(self._nodes, self._most))
        self._nodes -= nodes + _NODES
        self._positions -= 1
        return scores


class Traps:
    """Finds moves that set traps."""

    def __init__(self, scores: Scores, likely: Likely) -> None:
        """Go by these scores, and by the chances of each reply."""
        self._scores = scores
        self._likely = likely
        self._worth: dict[tuple[int, int, int], float] = {}

    def best(self, position: BoardPosition, replies: int) -> list[int]:
        """Return the best moves that promise most if so many replies are likely ones; none if no score is known."""
        scores = self._scores.of_moves(position)
        if scores is None:
            return []
        cells = _best(scores)
        if len(cells) == 1 or scores[cells[0]] > 0:
            return cells
        worth = {cell: self._expected(position.play(cell), -scores[cell], replies) for cell in cells}
        most = max(worth.values())
        return [cell for cell, found in worth.items() if found == most]

    def _expected(self, position: BoardPosition, score: int, replies: int) -> float:
        """Return what to expect when the other side is to move, for which the position has this score."""
        if position.over or not replies:
            return 1 - result_of(score)
        position = self._scores.canonical(position)
        key = position.x, position.o, replies
        if key not in self._worth:
            if len(self._worth) >= _KEPT:
                self._worth.clear()
            self._worth[key] = self._after_a_reply(position, score, replies)
        return self._worth[key]

    def _after_a_reply(self, position: BoardPosition, score: int, replies: int) -> float:
        scores = self._scores.of_moves(position)
        if scores is None:
            return 1 - result_of(score)
        worth = {cell: self._answered(position.play(cell), -found, replies - 1) for cell, found in scores.items()}
        least = min(worth.values())
        if least == max(worth.values()):
            return least
        return sum(chance * worth[cell] for cell, chance in self._likely(position).items())

    def _answered(self, position: BoardPosition, score: int, replies: int) -> float:
        """Return what to expect when one is to move oneself, and the position has this score."""
        scores = None if position.over or score > 0 or not replies else self._scores.of_moves(position)
        if scores is None:
            return result_of(score)
        return max(self._expected(position.play(cell), -scores[cell], replies) for cell in _best(scores))


def _best(scores: dict[int, int]) -> list[int]:
    """Return the moves with the highest score."""
    best = max(scores.values())
    return [cell for cell, score in scores.items() if score == best]
