"""Games: cells, the lines that end them, and whether completing a line wins or loses.

A game is `cells` cells, numbered from 0, and a set of `lines`, each a bit mask of cells. Players take
turns claiming a free cell, X first; whoever first holds every cell of a line has won or, in misère
play, has lost. Rows and columns matter only for drawing a board and naming its cells.

A board is a rectangle of squares. Some of them may be holes, which nobody can claim; the others are its
cells, numbered row by row from the top left. A board without holes, such as 4,4,4, has bit 0 at a1:

         a  b  c  d
    1    0  1  2  3
    2    4  5  6  7
    3    8  9 10 11
    4   12 13 14 15
"""

from dataclasses import dataclass, field
from functools import cached_property

from solver.errors import BoardError, GameError

DEFAULT_GAME = "4,4,4"

LARGEST_CELLS = 10_000
"""The largest board that can be played on."""

SOLVABLE_CELLS = 27
"""The largest board that the two solvers take on: what their tables hold."""


@dataclass(frozen=True)
class Game:
    """A game of claiming cells until somebody completes a line."""

    name: str
    rows: int
    columns: int
    lines: tuple[int, ...]
    misere: bool = False
    holes: int = 0
    """The set of squares that are no cells; row by row, like the cells."""
    notation: str = field(default="", compare=False)
    """What to type to have the game again, if not its name."""

    def __post_init__(self) -> None:
        if not self.notation:
            object.__setattr__(self, "notation", self.name)

    @cached_property
    def cells(self) -> int:
        """How many cells the board has."""
        return self.rows * self.columns - self.holes.bit_count()

    @cached_property
    def squares(self) -> tuple[int, ...]:
        """For each cell the square it is on: row * columns + column."""
        return tuple(square for square in range(self.rows * self.columns) if not self.holes >> square & 1)

    @cached_property
    def cells_by_square(self) -> dict[int, int]:
        """Every cell under its square; holes are not among them."""
        return {square: cell for cell, square in enumerate(self.squares)}

    @cached_property
    def row_runs(self) -> tuple[tuple[int, int, int], ...]:
        """For each row that has cells: its first cell, the set of so many cells from 0 on, and how many."""
        runs, first = [], 0
        for row in range(self.rows):
            count = self.columns - (self.holes >> row * self.columns & (1 << self.columns) - 1).bit_count()
            if count:
                runs.append((first, (1 << count) - 1, count))
            first += count
        return tuple(runs)

    @cached_property
    def row_lengths(self) -> list[int]:
        """How many cells each row has, of those that have any."""
        return [count for _, _, count in self.row_runs]

    @cached_property
    def full(self) -> int:
        """The set of all cells."""
        return (1 << self.cells) - 1

    @cached_property
    def lines_through(self) -> tuple[tuple[int, ...], ...]:
        """For each cell, the lines that contain it."""
        through: list[list[int]] = [[] for _ in range(self.cells)]
        for line in self.lines:
            rest = line
            while rest:
                low = rest & -rest
                through[low.bit_length() - 1].append(line)
                rest ^= low
        return tuple(map(tuple, through))

    def completed(self, stones: int) -> list[int]:
        """The lines that a set of cells contains."""
        return [line for line in self.lines if line & stones == line]

    def completes(self, stones: int, cell: int) -> bool:
        """Whether a set of cells that contains `cell` holds a line through it."""
        for line in self.lines_through[cell]:  # noqa: SIM110 - any() takes twice as long, and all moves pass here
            if line & stones == line:
                return True
        return False

    def cell_name(self, cell: int) -> str:
        """The name of a cell: its column's letters, then its row's number from the top (`a1`)."""
        return self.square_name(self.squares[cell])

    def square_name(self, square: int) -> str:
        """The name of a square, which may be a hole."""
        row, column = divmod(square, self.columns)
        return f"{column_name(column)}{row + 1}"

    @cached_property
    def cells_by_name(self) -> dict[str, int]:
        """Every cell under its name."""
        return {self.cell_name(cell): cell for cell in range(self.cells)}

    def cell(self, name: str) -> int:
        """The cell of that name, in either case; BoardError if there is none."""
        found = self.cells_by_name.get(name.strip().lower())
        if found is None:
            first, last = self.cell_name(0), self.cell_name(self.cells - 1)
            name = name if len(name) <= 20 else f"{name[:20]}..."
            cells = f"cells run from {first!r} to {last!r}{', with holes' if self.holes else ''}"
            raise BoardError(f"no cell {name!r} on a {self.name} board: {cells}")
        return found


def column_name(column: int) -> str:
    """The letters of a column: a to z, then aa, ab and so on."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters


def grid(rows: int, columns: int, k: int, *, misere: bool = False) -> Game:
    """The m,n,k game: `rows` by `columns`, k in a row across, down or diagonally."""
    if min(rows, columns, k) < 1:
        raise GameError(f"no game {rows},{columns},{k}: rows, columns and k must each be 1 or more")
    if k > max(rows, columns):
        raise GameError(
            f"no game {rows},{columns},{k}: {k} in a row do not fit; k can be {max(rows, columns)} at the most"
        )
    if rows * columns > LARGEST_CELLS:
        raise GameError(f"no game {rows},{columns},{k}: a board can have {LARGEST_CELLS:,} cells at the most")
    name = f"{rows},{columns},{k}" + (",misere" if misere else "")
    return Game(name, rows, columns, tuple(sorted(straight_lines(rows, columns, k))), misere)


def straight_lines(rows: int, columns: int, k: int) -> set[int]:
    """Every k neighbouring squares across, down or diagonally, as sets of squares."""
    steps = ((0, 1), (1, 0), (1, 1), (1, -1))
    return {
        sum(1 << (row + i * down) * columns + column + i * right for i in range(k))
        for row in range(rows)
        for column in range(columns)
        for down, right in steps
        if row + (k - 1) * down < rows and 0 <= column + (k - 1) * right < columns
    }


def require_solvable(game: Game) -> None:
    """Nothing, if the solvers can take the game; GameError if its board is too large."""
    if game.cells > SOLVABLE_CELLS:
        raise GameError(
            f"game {game.name!r} has {game.cells} cells, too many to solve: boards of up to "
            f"{SOLVABLE_CELLS} cells can be, such as 4,4,4 or 5,5,5"
        )
