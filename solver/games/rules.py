"""The seam that carries every game: what a match, a player, a record or a screen may ask of a game's rules.

A state is immutable and belongs to its rules, which alone know what is in it. A move is a number. Sides are
short names, such as `X` and `O`. Who moves next is for the rules to say: a side may pass, or move twice in a row.
Nothing here knows of boards or lines; solver/games/line_rules.py has the rules of the games of lines.

When a side of two gives up, the other wins. Rules of more sides say what follows, by a method `leave` (`PlaysOn`): the
others play on.

A new game is one file with a class of this shape. A game of your own is named MODULE:NAME, where calling
NAME without arguments returns the rules.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from solver.errors import BoardError
from solver.text import shown

S = TypeVar("S")


class Outcome(NamedTuple):
    """How a game or a match ended."""

    winner: str | None
    """The side that won; None for a draw."""
    reason: str
    """Why, such as `X completed a line`, `the board is full`, `O resigned`."""
    lost: tuple[str, ...] = ()
    """The sides that have no part in a draw, because they had left a game of more than two sides."""

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON has it."""
        return {"winner": self.winner, "reason": self.reason, **({"lost": list(self.lost)} if self.lost else {})}

    def __str__(self) -> str:
        return f"{self.winner} has won: {self.reason}" if self.winner else f"a draw: {self.reason}"


class Rules(Protocol[S]):
    """The rules of a game of two or more sides."""

    @property
    def name(self) -> str:
        """The game's notation, by which `find_game` finds it again."""

    @property
    def sides(self) -> Sequence[str]:
        """The sides, in the order in which results list them."""

    def start(self) -> S:
        """Return the state before the first move."""

    def to_move(self, state: S) -> str | None:
        """Return the side whose turn it is; None when the game is over."""

    def outcome(self, state: S) -> Outcome | None:
        """Return how the game ended; None while it goes on."""

    def legal(self, state: S) -> Sequence[int]:
        """Return the moves that can be made, in order; none when the game is over."""

    def refusal(self, state: S, move: int) -> str | None:
        """Return why a move cannot be made, in a sentence without its full stop; None if it can."""

    def play(self, state: S, move: int) -> S:
        """Return the state after a legal move."""

    def read(self, text: str) -> int:
        """Return the move that a person wrote; raise BoardError if it is none of the game's."""

    def write(self, move: int) -> str:
        """Return a move as one word without blanks, which `read` reads."""

    def encode(self, state: S) -> str:
        """Return a state as one line of text."""

    def decode(self, text: str) -> S:
        """Return the state that a text describes; raise BoardError if the game has no such state."""

    def key(self, state: S) -> Hashable:
        """Return a value that is equal for equal states and cheap to hash."""


class PlaysOn(Rules[S], Protocol[S]):
    """The rules of a game of more than two sides, which goes on when a side leaves it."""

    def leave(self, state: S, side: str) -> S:
        """Return the state from which the others play on; raise BoardError if the side has left already."""


def points(sides: Sequence[str], outcome: Outcome) -> dict[str, float]:
    """Return each side's share of the point that a game is worth: the winner's, or equal shares in a draw."""
    sharing = [side for side in sides if side not in outcome.lost] if outcome.winner is None else [outcome.winner]
    return {side: 1 / len(sharing) if side in sharing else 0.0 for side in sides}


def set_up(rules: Rules[S], text: str) -> S:
    """Return the state that a text describes, for a match to start from; raise BoardError if the game is over there."""
    state = rules.decode(text)
    ended = rules.outcome(state)
    if ended:
        raise BoardError(f"board {shown(text)} is a finished game: {ended.reason}")
    return state
