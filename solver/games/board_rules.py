"""The rules of any game of two sides on a board, as far as they do not depend on which: states, and their text.

A move is a cell, and fills it. solver/games/line_rules.py and solver/games/duel_rules.py add what makes their games.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

from solver.games.board import BoardGame, BoardPosition, cells_of
from solver.games.board_text import parse
from solver.games.cell_rules import SetRules
from solver.games.rules import Outcome
from solver.games.score import MARGIN

P = TypeVar("P", bound=BoardPosition)


@dataclass(frozen=True, slots=True)
class BoardState(Generic[P]):
    """A position, how the game ended, and the cell claimed last."""

    position: P
    outcome: Outcome | None = None
    last: int | None = None
    captured: int = 0
    """How many tiles the last move turned, in games of capture."""

    @property
    def empty(self) -> list[int]:
        """The cells that are free, in order."""
        return list(cells_of(self.position.game.full & ~(self.position.x | self.position.o)))


def captured_by(state: object) -> int:
    """Return how many tiles the move that led to a state of any game has captured."""
    return state.captured if isinstance(state, BoardState) else 0


class BoardRules(SetRules, Generic[P]):
    """What the rules of every game of two sides on a board have in common; rules with the same game are equal."""

    game: BoardGame[P]

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides, in the order in which results list them."""
        return tuple(self.game.marks)

    @property
    def name(self) -> str:
        """The game's notation."""
        return self.game.notation

    @property
    def marks(self) -> str:
        """The marks of the side that begins and of the other."""
        return self.game.marks

    @property
    def captures(self) -> bool:
        """Whether moves capture, and tiles are counted at the end."""
        return self.game.scale == MARGIN

    @property
    def opponent(self) -> str:
        """Who plays against a person, unless told otherwise."""
        return self.game.opponent

    def marked(self, state: BoardState[P]) -> dict[int, str]:
        """Return the mark of every filled cell."""
        sides = zip(self.marks, (state.position.x, state.position.o), strict=True)
        return {cell: mark for mark, cells in sides for cell in cells_of(cells)}

    def ending(self, state: BoardState[P]) -> set[int]:
        """Return the cells that show why the game has ended."""
        return state.position.ending()

    def count(self, state: BoardState[P]) -> str:
        """Return what is counted on the board, in words; nothing where nothing is."""
        return state.position.count()

    def taken(self, state: BoardState[P]) -> int:
        """Return the set of filled cells."""
        return state.position.x | state.position.o

    def in_turn(self, state: BoardState[P]) -> tuple[int, int]:
        """Return the cells of both sides, those of the side to move first."""
        x, o = state.position.x, state.position.o
        return (o, x) if state.position.stones % 2 else (x, o)

    def start(self) -> BoardState[P]:
        """Return the empty board."""
        return BoardState(self.game.at(0, 0))

    def to_move(self, state: BoardState[P]) -> str | None:
        """Return the mark whose turn it is, by the counts; None when the game is over."""
        return None if state.outcome else self.marks[state.position.stones % 2]

    def outcome(self, state: BoardState[P]) -> Outcome | None:
        """Return how the game ended; None while it goes on."""
        return state.outcome

    def legal(self, state: BoardState[P]) -> list[int]:
        """Return the cells that can be claimed, in order; none when the game is over."""
        return [] if state.outcome else state.position.legal

    @abstractmethod
    def play(self, state: BoardState[P], move: int) -> BoardState[P]:
        """Return the state after the side to move claims an empty cell."""

    def encode(self, state: BoardState[P]) -> str:
        """Return the board, with the marks that a person sees."""
        return str(state.position)

    def decode(self, text: str) -> BoardState[P]:
        """Return the state that a board describes; raise BoardError if no game reaches it."""
        position = parse(self.game, text)
        return BoardState(position, self.ended(position) if position.over else None)

    @abstractmethod
    def ended(self, position: P) -> Outcome:
        """Return how a game ended that is over."""

    def key(self, state: BoardState[P]) -> int:
        """Return both sets of cells in one number."""
        return state.position.x << self.game.cells | state.position.o
