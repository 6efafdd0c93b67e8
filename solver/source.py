"""Sources of scores: the questions that the oracle asks.

For each kind of game two classes answer them, one from a store and one by live search: solver/kinds.py names them.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable


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


class Reason(Protocol):
    """Why the outcome of a position is certain although no store has it and no search has come to its end."""

    @property
    def kind(self) -> str:
        """A word for it."""

    def as_dict(self, game: Any) -> dict[str, Any]:
        """Return it as JSON has it."""

    def in_words(self, game: Any) -> str:
        """Return it as a player understands it."""


class Look(NamedTuple):
    """What is seen of an open position that may be too large to settle."""

    scores: list[tuple[int, int]]
    """Each move and its score, as from `children`; the move to make comes first."""
    exact: bool
    outcome: int | None = None
    """1, 0 or -1 if the side to move certainly wins, draws or loses, even if not every move is known; else None."""
    reason: Reason | None = None
    estimates: Mapping[int, float] = {}
    """The share of points that some moves let the side that makes them expect."""
    line: tuple[int, ...] = ()
    """How the search expects the game to go on."""
    depth: int | None = None
    """How many plies it looked ahead."""
    nodes: int | None = None


@runtime_checkable
class Looking(Protocol):
    """A source that estimates what it cannot settle."""

    def look(self, x: int, o: int, deadline: float) -> Look:
        """Return what is seen of an open position by the deadline."""

    def move(self, x: int, o: int, deadline: float) -> Look:
        """Return a look that has only the move which it would make."""

    def compiled(self, deadline: float) -> Any:
        """Return what searches in compiled code, which is loaded in the background; None if not there in time."""

    def forget(self) -> None:
        """Forget what was seen, so that what follows is as in a new source."""
