"""What every game on a board has, whatever its rules: cells, their names, and positions of two sides.

A board is a rectangle of squares. Squares can be holes, which cannot be claimed; the others are cells, numbered row by
row from the top left. A board without holes, such as that of 4,4,4, has bit 0 at a1:

         a  b  c  d
    1    0  1  2  3
    2    4  5  6  7
    3    8  9 10 11
    4   12 13 14 15

Sides take turns, and each turn fills one empty cell; nobody passes. So whose turn it is follows from the number of
filled cells, and two sets of cells make a position: `x` has those of the side that begins, `o` those of the other.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Generic, Self, TypeVar

from solver.errors import BoardError, GameError
from solver.text import shown

DEFAULT_GAME = "4,4,4"

P = TypeVar("P", bound="BoardPosition")

LARGEST_CELLS = 10_000
"""The largest board about whose positions anything is known: all its lines are listed."""


class BoardGame(ABC, Generic[P]):
    """A game on a board. Games are equal if their rules and boards are."""

    name: str
    rows: int
    columns: int
    holes: int
    """The squares that are not cells, as a bit mask, row by row."""
    notation: str
    """How the game is named on a command line, where that is not its name."""

    marks: ClassVar[str]
    """The marks of the side that begins and of the other."""
    scale: ClassVar[str]
    """What a score says, besides who wins (solver/games/score.py)."""
    solvable_cells: ClassVar[int]
    """The largest board of which a store can have every position."""
    settled_cells: ClassVar[int]
    """The largest board that is searched to the end of the game where there is no store."""
    examples: ClassVar[str]
    """Some games of this kind that can be solved."""
    shipped: bool
    """Whether a store of it comes with the program."""
    opponent: str
    """Who plays against a person, unless told otherwise."""
    quick_cells: ClassVar[int]
    """On boards of up to so many cells live search settles every position in time, and a build takes seconds."""

    @abstractmethod
    def at(self, x: int, o: int) -> P:
        """Return the position with these cells, unchecked."""

    @abstractmethod
    def after(self, x: int, o: int, cell: int) -> tuple[int, int, bool]:
        """Return both sides' cells after a legal move in an open position, and whether it ended the game."""

    @abstractmethod
    def plies_left(self, score: int, empty: int) -> int | None:
        """Return how many plies a position with this score and so many empty cells is from its end, if that is told."""

    @abstractmethod
    def promise(self, x: int, o: int, mover: int) -> int:
        """Return how promising a position is, by a glance, for the side (0 or 1) that has just moved."""

    @abstractmethod
    def as_fields(self) -> dict[str, Any]:
        """Return what defines the game, as a store's manifest has it."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what a person or a program may want to know of the rules, as JSON has it."""

    @abstractmethod
    def described(self, symmetries: int) -> str:
        """Return the game in a line."""

    @cached_property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns - self.holes.bit_count()

    @cached_property
    def squares(self) -> tuple[int, ...]:
        """The square of each cell: row * columns + column."""
        return tuple(square for square in range(self.rows * self.columns) if not self.holes >> square & 1)

    @cached_property
    def cells_by_square(self) -> dict[int, int]:
        """The cell on each square that is not a hole."""
        return {square: cell for cell, square in enumerate(self.squares)}

    @cached_property
    def row_runs(self) -> tuple[tuple[int, int, int], ...]:
        """For each row that has cells: its first cell, a mask as wide as the row, and its number of cells."""
        runs, first = [], 0
        for row in range(self.rows):
            count = self.columns - (self.holes >> row * self.columns & (1 << self.columns) - 1).bit_count()
            if count:
                runs.append((first, (1 << count) - 1, count))
            first += count
        return tuple(runs)

    @cached_property
    def row_lengths(self) -> list[int]:
        """The number of cells in each row that has any."""
        return [count for _, _, count in self.row_runs]

    @cached_property
    def full(self) -> int:
        """The set of all cells."""
        return (1 << self.cells) - 1

    def cell_name(self, cell: int) -> str:
        """Return a cell's name: the letters of its column, then the number of its row from the top (`a1`)."""
        return self.square_name(self.squares[cell])

    def cell_at(self, row: int, column: int) -> int | None:
        """Return the cell in a row and a column, both counted from 0; None if there is a hole."""
        return self.cells_by_square.get(row * self.columns + column)

    def place(self, cell: int) -> tuple[int, int]:
        """Return a cell's row and column, both counted from 0."""
        return divmod(self.squares[cell], self.columns)

    @property
    def middle(self) -> int:
        """The cell in the middle, or one near it if there is a hole."""
        cell = self.cell_at(self.rows // 2, self.columns // 2)
        return self.cells // 2 if cell is None else cell

    def names_from(self, text: str) -> list[str]:
        """Return the names of cells that begin with a text."""
        return [name for name in self.cells_by_name if name.startswith(text)]

    def square_name(self, square: int) -> str:
        """Return the name of a square, which may be a hole."""
        row, column = divmod(square, self.columns)
        return f"{column_name(column)}{row + 1}"

    @cached_property
    def cells_by_name(self) -> dict[str, int]:
        """The cell of each name."""
        return {self.cell_name(cell): cell for cell in range(self.cells)}

    def cell(self, name: str) -> int:
        """Return the cell with that name, in either case; raise BoardError if there is none."""
        found = self.cells_by_name.get(name.strip().lower())
        if found is None:
            first, last = self.cell_name(0), self.cell_name(self.cells - 1)
            cells = f"cells run from {first!r} to {last!r}{', with holes' if self.holes else ''}"
            raise BoardError(f"no cell {shown(name, 24)} on a {self.name} board: {cells}")
        return found


class BoardPosition(ABC):
    """The cells of both sides in one game."""

    __slots__ = ()

    game: BoardGame[Any]
    x: int
    o: int

    @property
    def stones(self) -> int:
        """The number of cells filled."""
        return (self.x | self.o).bit_count()

    @property
    def mover(self) -> str:
        """The mark of the side whose turn it is by the counts, even when the game is over."""
        return self.game.marks[self.stones % 2]

    @property
    @abstractmethod
    def winner(self) -> str | None:
        """The mark of the side that has won; None for a draw and while the game goes on."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether the game has ended."""

    @abstractmethod
    def allows(self, cell: int) -> bool:
        """Tell whether an empty cell can be claimed now."""

    @property
    @abstractmethod
    def legal(self) -> list[int]:
        """The cells that can be claimed now, in order; none when the game is over."""

    @abstractmethod
    def play(self, cell: int) -> Self:
        """Return the position after the side to move claims `cell`; raise BoardError if it cannot."""

    @abstractmethod
    def score_if_over(self) -> int | None:
        """Return the score of a finished game for the side to move; None while the game goes on."""

    @abstractmethod
    def ending(self) -> set[int]:
        """Return the cells that show why the game has ended."""

    def count(self) -> str:
        """Return what is counted on the board, in words; nothing where nothing is."""
        return ""

    @abstractmethod
    def checked(self) -> Self:
        """Return the position; raise BoardError, with the reason, if no game can reach it."""

    def require_playable(self, cell: int) -> None:
        """Raise BoardError if `cell` is no cell, or is filled, or the game is over."""
        if not 0 <= cell < self.game.cells:
            raise BoardError(f"no cell {cell!r}: cells are numbered 0 to {self.game.cells - 1}")
        name = self.game.cell_name(cell)
        if (self.x | self.o) >> cell & 1:
            raise BoardError(f"cell {name!r} is taken: choose an empty cell")
        if self.over:
            raise BoardError(f"no move {name!r}: the game is over")

    def __str__(self) -> str:
        """Return the board as text that is read again (solver/games/board_text.py)."""
        x, o, marks = self.x, self.o, self.game.marks
        return "/".join([_row(x >> at & row, o >> at & row, width, marks) for at, row, width in self.game.row_runs])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.game.name} {self}>"


Board = BoardPosition | str | Sequence[Any]
"""What can stand for a position: the position itself, a text, or a sequence of 1, -1 and 0 (or rows of them)."""


def require_solvable(game: BoardGame[Any]) -> None:
    """Raise GameError if the board is too large for a store."""
    if game.cells > game.solvable_cells:
        raise GameError(
            f"game {game.name!r} has {game.cells} cells, too many to solve: choose a board of at most "
            f"{game.solvable_cells} cells, such as {game.examples}"
        )


def cells_of(cells: int) -> Iterator[int]:
    """Yield the cells of a set, in order."""
    while cells:
        low = cells & -cells
        yield low.bit_length() - 1
        cells ^= low


def column_number(letters: str) -> int:
    """Return the column that letters name, counted from 0: the inverse of `column_name`."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("a") + 1
    return number - 1


def column_name(column: int) -> str:
    """Return the letters of a column: a to z, then aa, ab and so on."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters


@lru_cache(1 << 12)
def _row(x: int, o: int, width: int, marks: str) -> str:
    signs = f".{marks}"
    return "".join(signs[(x >> c & 1) + 2 * (o >> c & 1)] for c in range(width))
