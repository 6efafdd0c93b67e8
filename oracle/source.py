"""Where answers come from: what the oracle asks, and a store's way of answering it. oracle/search.py is the other."""

from typing import NamedTuple, Protocol

from solver.errors import Ttt4Error
from solver.games.position import Position
from solver.store.scores import Scores
from solver.store.store import Store


class NotSettled(Ttt4Error):
    """A score that could not be made certain in the time allowed."""


class Children(NamedTuple):
    """The moves of a position that is not over, and the score for who makes them."""

    scores: list[tuple[int, int]]
    """Cell and score: in the order of the cells if exact, else the best and most promising first."""
    exact: bool


class Source(Protocol):
    """What knows scores. `x` and `o` are the cells of a position that a game reaches and that is not over."""

    name: str

    def score(self, position: Position) -> int:
        """The score of any position for the side to move; NotSettled if it is not certain."""

    def deadline(self) -> float:
        """When an answer that is begun now must be given."""

    def children(self, x: int, o: int, deadline: float) -> Children:
        """What is known of each move by then."""

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """The first cell whose claim has the position's own score, which is known; NotSettled if it is not found."""


class Stored:
    """Scores from a store: always certain."""

    name = "store"

    def __init__(self, store: Store) -> None:
        """Answer from an open store."""
        self.store = store
        scores = Scores(store)
        self.score, self._children = scores.score, scores.children

    def deadline(self) -> float:
        """Never: a look into the store is not worth timing."""
        return 0.0

    def children(self, x: int, o: int, deadline: float) -> Children:
        """What is known of each move."""
        return Children(list(self._children(x, o)), exact=True)

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """The first cell whose claim has the position's own score, which is known."""
        for cell, worth in self._children(x, o):
            if worth == score:
                return cell
        raise self.store.damaged(f"no move from board {str(Position(self.store.game, x, o))!r} has its score")
