"""Sources of scores: the questions that the oracle asks.

Two classes answer them: solver/store/scores.py from a store, solver/search/live.py by live search.
"""

from typing import Protocol

from solver.games.position import Position


class Source(Protocol):
    """A source of scores. `x` and `o` are the cells of a reachable position that is not over."""

    name: str

    def score(self, position: Position) -> int:
        """Return the score of any position for the side to move; raise NotSettled if it is not certain."""

    def deadline(self) -> float:
        """Return the time by which an answer that starts now must be given."""

    def children(self, x: int, o: int, deadline: float) -> tuple[list[tuple[int, int]], bool]:
        """Return each move of an open position as (cell, score for the side that makes it), and whether all are exact.

        Exact moves come in the order of the cells, others with the best and most promising first.
        """

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's score, which the caller knows, or raise NotSettled."""

    def close(self) -> None:
        """Release the file that the source reads, if any; such a source then answers no more questions."""
