"""Sources of scores: the questions that the oracle asks.

For each kind of game two classes answer them, one from a store and one by live search: solver/kinds.py names them.
"""

from typing import Any, Protocol


class Source(Protocol):
    """A source of scores. `x` and `o` are the cells of a reachable position that is not over."""

    name: str
    seconds: float
    """How long an answer may take."""

    def score(self, position: Any) -> int:
        """Return the score of any position for the side to move; raise NotSettled if it is not certain."""

    def knows(self, stones: int) -> bool:
        """Tell whether it knows every move of the positions with so many stones without a search."""

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
