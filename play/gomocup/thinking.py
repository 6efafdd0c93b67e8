"""What a brain thinks with: the shape of an engine, and what it says of a position."""

from collections.abc import Callable
from typing import Protocol

from oracle.answers import percent
from play.gomocup.places import write_place
from solver.games.lines import Game
from solver.text import plies_in_words


class Thought(Protocol):
    """What an engine thinks of a position."""

    @property
    def cell(self) -> int:
        """The move."""

    @property
    def share(self) -> float:
        """The share of points that it expects for the side to move, 0 to 1; an estimate."""

    @property
    def depth(self) -> int:
        """How many plies it looked ahead."""

    @property
    def nodes(self) -> int:
        """How many positions it looked at."""

    @property
    def line(self) -> tuple[int, ...]:
        """The moves that it expects."""

    @property
    def win(self) -> int:
        """In how many plies it expects to win or, if negative, to lose; 0 if it does not know."""


class Thinker(Protocol):
    """An engine."""

    def think(self, own: int, other: int, *, seconds: float | None = None, nodes: int = 0, seed: int = 0) -> Thought:
        """Return the thought about a position in which the side with the cells `own` is to move."""

    def forget(self) -> None:
        """Forget what was found in other positions."""


Maker = Callable[[Game, int], Thinker]
"""Makes an engine of a game with a table of 2 to the power of so many entries, ready to think."""


def message(game: Game, thought: Thought) -> str:
    """Return what a person may want to know of a thought, in one line."""
    end = ""
    if thought.win:
        end = f", believes to {'win' if thought.win > 0 else 'lose'} in {plies_in_words(abs(thought.win))}"
    line = " ".join(write_place(game, cell) for cell in thought.line[:20])
    return (
        f"MESSAGE depth {thought.depth}, expects {percent(thought.share)}% of the points{end}, "
        f"{thought.nodes} nodes, line {line}"
    ).rstrip()
