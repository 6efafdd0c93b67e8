"""The rules of any game whose moves claim cells of a board: how moves are read and written, and what a picture shows.

solver/games/board_rules.py has those of two sides, which an oracle may know; solver/games/multiplayer.py those of more.
Both keep sets of cells. solver/games/wide.py keeps stones, for boards of up to a million cells.
"""

from abc import abstractmethod
from collections.abc import Collection, Hashable, Sequence
from typing import Any, Protocol

from solver.errors import BoardError
from solver.games.board import BoardGame
from solver.games.rules import Outcome


class Cells(Protocol):
    """The cells of a board of any size, by their names and places."""

    @property
    def name(self) -> str:
        """The game's name."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def columns(self) -> int:
        """The number of columns."""

    @property
    def cells(self) -> int:
        """The number of cells."""

    @property
    def middle(self) -> int:
        """The cell in the middle, or one near it if there is a hole."""

    def cell(self, name: str) -> int:
        """Return the cell with that name; raise BoardError if there is none."""

    def cell_at(self, row: int, column: int) -> int | None:
        """Return the cell in a row and a column, both counted from 0; None if there is a hole."""

    def place(self, cell: int) -> tuple[int, int]:
        """Return a cell's row and column, both counted from 0."""

    def cell_name(self, cell: int) -> str:
        """Return a cell's name."""

    def names_from(self, text: str) -> list[str]:
        """Return some of the names of cells that begin with a text: none if there is none, and one if there is one."""


class CellRules:
    """What rules have in common whose moves are cells.

    Their states have an `outcome`, and `last`, the cell of the last move.
    """

    game: Cells

    @property
    @abstractmethod
    def name(self) -> str:
        """The game's notation."""

    @property
    @abstractmethod
    def sides(self) -> tuple[str, ...]:
        """The sides, in the order in which results list them."""

    @property
    def captures(self) -> bool:
        """Whether moves capture, and tiles are counted at the end."""
        return False

    @property
    @abstractmethod
    def opponent(self) -> str:
        """Who plays against a person, unless told otherwise."""

    @abstractmethod
    def start(self) -> Any:
        """Return the empty board."""

    @abstractmethod
    def to_move(self, state: Any) -> str | None:
        """Return the side whose turn it is; None when the game is over."""

    @abstractmethod
    def outcome(self, state: Any) -> Outcome | None:
        """Return how the game ended; None while it goes on."""

    @abstractmethod
    def legal(self, state: Any) -> Sequence[int]:
        """Return the cells that can be claimed, in order; none when the game is over."""

    @abstractmethod
    def play(self, state: Any, move: int) -> Any:
        """Return the state after the side to move claims an empty cell."""

    @abstractmethod
    def encode(self, state: Any) -> str:
        """Return the board, with the marks that a person sees."""

    @abstractmethod
    def decode(self, text: str) -> Any:
        """Return the state that a board describes; raise BoardError if no game reaches it."""

    @abstractmethod
    def key(self, state: Any) -> Hashable:
        """Return what makes two states the same."""

    @abstractmethod
    def marked(self, state: Any) -> dict[int, str]:
        """Return the mark of every filled cell."""

    @abstractmethod
    def ending(self, state: Any) -> Collection[int]:
        """Return the cells that show why the game has ended."""

    def count(self, state: Any) -> str:
        """Return what is counted on the board, in words; nothing where nothing is."""
        return ""

    @abstractmethod
    def is_taken(self, state: Any, cell: int) -> bool:
        """Tell whether a cell is filled."""

    def refusal(self, state: Any, move: int) -> str | None:
        """Return why a cell cannot be claimed; None if it can."""
        if state.outcome:
            return f"the game is over: {state.outcome}"
        if not 0 <= move < self.game.cells:
            return f"{self.name} has no cell number {move}: choose an empty cell of the board"
        if self.is_taken(state, move):
            return f"cell {self.write(move)!r} is taken: choose an empty one"
        return None

    def read(self, text: str) -> int:
        """Return the cell with that name (`b3`), or in that row and column, counted from 1 (`3 2`)."""
        parts = text.replace(",", " ").split()
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
            return self.game.cell(text)
        row, column = (int(part[:9]) for part in parts)
        if not (1 <= row <= self.game.rows and 1 <= column <= self.game.columns):
            raise BoardError(
                f"no cell in row {row}, column {column}: rows go from 1 to {self.game.rows}, "
                f"columns from 1 to {self.game.columns}"
            )
        cell = self.game.cell_at(row - 1, column - 1)
        if cell is None:
            raise BoardError(f"no cell in row {row}, column {column}: the board has a hole there")
        return cell

    def write(self, move: int) -> str:
        """Return the cell's name."""
        return self.game.cell_name(move)


class SetRules(CellRules):
    """Rules whose states keep a set of cells for each side."""

    game: BoardGame[Any]

    @abstractmethod
    def taken(self, state: Any) -> int:
        """Return the set of filled cells."""

    @abstractmethod
    def in_turn(self, state: Any) -> Sequence[int]:
        """Return the cells of every side that still plays, from the side to move on."""

    def is_taken(self, state: Any, cell: int) -> bool:
        """Tell whether a cell is filled."""
        return bool(self.taken(state) >> cell & 1)
