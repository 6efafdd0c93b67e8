"""The rules of any game on a board, as far as they do not depend on which: states, moves, and how both are written.

A move is a cell, and fills it. solver/games/line_rules.py and solver/games/duel_rules.py add what makes their games.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from solver.errors import BoardError
from solver.games.board import BoardGame, BoardPosition, cells_of
from solver.games.board_text import parse
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


class Cells(Protocol):
    """The cells of a board, of any size, by their names and places."""

    @property
    def name(self) -> str:
        """The game's name."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def columns(self) -> int:
        """The number of columns."""

    def cell(self, name: str) -> int:
        """Return the cell with that name; raise BoardError if there is none."""

    def cell_at(self, row: int, column: int) -> int | None:
        """Return the cell in a row and a column, both counted from 0; None if there is a hole."""


def read_cell(game: Cells, text: str) -> int:
    """Return the cell with that name (`b3`), or in that row and column, counted from 1 (`3 2`)."""
    parts = text.replace(",", " ").split()
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        return game.cell(text)
    row, column = (int(part[:9]) for part in parts)
    if not (1 <= row <= game.rows and 1 <= column <= game.columns):
        raise BoardError(
            f"no cell in row {row}, column {column}: rows go from 1 to {game.rows}, columns from 1 to {game.columns}"
        )
    cell = game.cell_at(row - 1, column - 1)
    if cell is None:
        raise BoardError(f"no cell in row {row}, column {column}: the board has a hole there")
    return cell


class BoardRules(Generic[P]):
    """What the rules of every game on a board have in common; rules with the same game are equal."""

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

    def refusal(self, state: BoardState[P], move: int) -> str | None:
        """Return why a cell cannot be claimed; None if it can."""
        if state.outcome:
            return f"the game is over: {state.outcome}"
        if not 0 <= move < self.game.cells:
            return f"{self.name} has no cell number {move}: choose an empty cell of the board"
        if (state.position.x | state.position.o) >> move & 1:
            return f"cell {self.write(move)!r} is taken: choose an empty one"
        return None

    @abstractmethod
    def play(self, state: BoardState[P], move: int) -> BoardState[P]:
        """Return the state after the side to move claims an empty cell."""

    def read(self, text: str) -> int:
        """Return the cell with that name (`b3`), or in that row and column, counted from 1 (`3 2`)."""
        return read_cell(self.game, text)

    def write(self, move: int) -> str:
        """Return the cell's name."""
        return self.game.cell_name(move)

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
