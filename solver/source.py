"""Sources of scores: the questions that the oracle asks.

For each kind of game two classes answer them, one from a store and one by live search: solver/kinds.py names them.
"""

from collections.abc import Mapping, Sequence
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

    def look(self, x: int, o: int, deadline: float) -> "Look":
        """Return what is known of an open position by the deadline."""

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's score, which the caller knows, or raise NotSettled."""

    def close(self) -> None:
        """Release the file that the source reads, if any; such a source then answers no more questions."""


class Reason(Protocol):
    """A proof of a position's outcome that needs neither a store nor a finished search."""

    @property
    def kind(self) -> str:
        """A word for it."""

    def as_dict(self, game: Any) -> dict[str, Any]:
        """Return it as JSON has it."""

    def in_words(self, game: Any) -> str:
        """Return it as a player understands it."""


class Look(NamedTuple):
    """What is known of an open position."""

    scores: Sequence[tuple[int, int | None]]
    """Each move with its score for the side that makes it; None if that is not known.

    Exact moves come in the order of the cells, others with the best and most promising first.
    """
    exact: bool
    """Whether all of these scores are exact."""
    score: int | None = None
    """The position's own score, which may be known although some moves are not; None if not even the outcome is."""
    bound: bool = False
    """Whether the end may come sooner than the score says."""
    reason: Reason | None = None
    estimates: Mapping[int, float] = {}
    """The share of points that some moves let the side that makes them expect."""
    line: tuple[int, ...] = ()
    """How the search expects the game to go on."""
    depth: int | None = None
    """How many plies it looked ahead."""
    nodes: int | None = None


def settled(scores: list[tuple[int, int]], reason: Reason | None = None) -> Look:
    """Return what is known where every move's score is."""
    return Look(scores, True, max([score for _, score in scores]), reason=reason)


@runtime_checkable
class Looking(Protocol):
    """A source that estimates what it cannot settle."""

    def move(self, x: int, o: int, deadline: float) -> Look:
        """Return a look that has only the move which it would make."""

    def compiled(self, deadline: float) -> Any:
        """Return what searches in compiled code, which is loaded in the background; None if not there in time."""

    def forget(self) -> None:
        """Forget what was seen, so that what follows is as in a new source."""
