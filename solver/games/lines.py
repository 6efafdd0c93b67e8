"""Games of lines: cells, the lines that end a game, and whether completing a line wins or loses.

A game has `cells` cells, numbered from 0, and a set of `lines`, each a bit mask of cells. Players take
turns claiming an empty cell, X first. The first to hold every cell of a line wins or, in misère play,
loses. Rows and columns matter only for drawing a board and naming its cells.

A board is a rectangle of squares. Squares can be holes, which cannot be claimed; the others are cells,
numbered row by row from the top left. A board without holes, such as 4,4,4, has bit 0 at a1:

         a  b  c  d
    1    0  1  2  3
    2    4  5  6  7
    3    8  9 10 11
    4   12 13 14 15
"""

from dataclasses import dataclass, field
from functools import cached_property

from solver.errors import BoardError, GameError
from solver.text import shown

DEFAULT_GAME = "4,4,4"

LARGEST_CELLS = 10_000
"""The largest board that can be played on."""

SOLVABLE_CELLS = 27
"""The largest board that the two solvers can take: their tables hold no more."""


@dataclass(frozen=True)
class Game:
    """A game of claiming cells until somebody completes a line."""

    name: str
    rows: int
    columns: int
    lines: tuple[int, ...]
    misere: bool = False
    holes: int = 0
    """The squares that are not cells, as a bit mask, row by row."""
    notation: str = field(default="", compare=False)
    """How the game is named on a command line, where that is not its name."""

    def __post_init__(self) -> None:
        if not self.notation:
            object.__setattr__(self, "notation", self.name)

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
        """Return the lines that a set of cells contains."""
        return [line for line in self.lines if line & stones == line]

    def completes(self, stones: int, cell: int) -> bool:
        """Tell whether a set that contains `cell` holds a whole line through it."""
        for line in self.lines_through[cell]:  # noqa: SIM110 - any() takes twice as long, and all moves pass here
            if line & stones == line:
                return True
        return False

    def result(self, own: int, taken: int, cell: int) -> int | None:
        """Return what claiming `cell` brought its owner: 1 a win, -1 a loss, 0 a draw; None if the game goes on.

        `own` holds all cells of that side and `taken` those of both, `cell` included.
        """
        if self.completes(own, cell):
            return -1 if self.misere else 1
        return 0 if taken == self.full else None

    def cell_name(self, cell: int) -> str:
        """Return a cell's name: the letters of its column, then the number of its row from the top (`a1`)."""
        return self.square_name(self.squares[cell])

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


def column_name(column: int) -> str:
    """Return the letters of a column: a to z, then aa, ab and so on."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters


def grid(rows: int, columns: int, k: int, *, misere: bool = False) -> Game:
    """Return the m,n,k game: `rows` by `columns`, k in a row across, down or diagonally."""
    if min(rows, columns, k) < 1:
        raise GameError(f"no game {rows},{columns},{k}: rows, columns and k must each be 1 or more")
    if k > max(rows, columns):
        raise GameError(f"no game {rows},{columns},{k}: {k} in a row do not fit; k can be at most {max(rows, columns)}")
    if rows * columns > LARGEST_CELLS:
        raise GameError(f"no game {rows},{columns},{k}: a board can have at most {LARGEST_CELLS:,} cells")
    name = f"{rows},{columns},{k}" + (",misere" if misere else "")
    return Game(name, rows, columns, tuple(sorted(straight_lines(rows, columns, k))), misere)


def straight_lines(rows: int, columns: int, k: int) -> set[int]:
    """Return every run of k squares across, down or diagonally, as bit masks of squares."""
    steps = ((0, 1), (1, 0), (1, 1), (1, -1))
    return {
        sum(1 << (row + i * down) * columns + column + i * right for i in range(k))
        for row in range(rows)
        for column in range(columns)
        for down, right in steps
        if row + (k - 1) * down < rows and 0 <= column + (k - 1) * right < columns
    }


def require_solvable(game: Game) -> None:
    """Raise GameError if the board is too large for the solvers."""
    if game.cells > SOLVABLE_CELLS:
        raise GameError(
            f"game {game.name!r} has {game.cells} cells, too many to solve: choose a board of at most "
            f"{SOLVABLE_CELLS} cells, such as 4,4,4 or 5,5,5"
        )
