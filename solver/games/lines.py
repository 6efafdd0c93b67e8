"""Games of lines: cells, the lines that end a game, and whether completing a line wins or loses.

A game has a set of `lines`, each a bit mask of cells (solver/games/board.py says how they are numbered). Players take
turns claiming an empty cell, X first. The first to hold every cell of a line wins or, in misère play, loses. Rows and
columns matter only for drawing a board and naming its cells.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from solver.errors import GameError
from solver.games.board import LARGEST_CELLS, BoardGame
from solver.games.score import PLIES, plies_to_end

if TYPE_CHECKING:
    from solver.games.position import Position

SOLVABLE_CELLS = 32
"""The largest board that the two solvers and a store can take: they keep a set of cells in 32 bits."""

NARROW_CELLS = 400
"""The largest board on which a match of two knows all lines. On larger ones it knows stones (solver/games/wide.py)."""

WIDEST_CELLS = 1_000_000
"""The largest board that can be played on."""

SETTLED_CELLS = 27
"""The largest board that live search is trusted with. Larger ones without a store are left to the engine."""


@dataclass(frozen=True)
class Game(BoardGame["Position"]):
    """A game of claiming cells until somebody completes a line."""

    name: str
    rows: int
    columns: int
    lines: tuple[int, ...]
    misere: bool = False
    holes: int = 0
    notation: str = field(default="", compare=False)

    marks = "XO"
    scale = PLIES
    solvable_cells = SOLVABLE_CELLS
    settled_cells = SETTLED_CELLS
    examples = "4,4,4 or 5,5,5"
    shipped = False
    opponent = "oracle"
    quick_cells = 16

    def __post_init__(self) -> None:
        if not self.notation:
            object.__setattr__(self, "notation", self.name)

    @cached_property
    def at(self) -> "Callable[[int, int], Position]":
        """Return the position with these cells of X and of O, unchecked."""
        from solver.games.position import Position  # only now: a position needs its game

        return partial(Position, self)

    def after(self, x: int, o: int, cell: int) -> tuple[int, int, bool]:
        """Return X's and O's cells after a move, and whether it ended the game."""
        if x.bit_count() == o.bit_count():
            own = x = x | 1 << cell
        else:
            own = o = o | 1 << cell
        return x, o, self.result(own, x | o, cell) is not None

    def plies_left(self, score: int, empty: int) -> int | None:
        """Return how many plies a position is from its end; None for a draw, which may end at any time."""
        return plies_to_end(score, empty)

    def promise(self, x: int, o: int, mover: int) -> int:
        """Return the lines that one can still complete, four times more for each cell of one's own; in misère, fewer.

        A line in which the opponent has a cell is dead, and sets no traps.
        """
        ours, theirs = (o, x) if mover else (x, o)
        hopes: int = sum([4 ** (line & ours).bit_count() for line in self.lines if not line & theirs])
        return -hopes if self.misere else hopes

    def as_fields(self) -> dict[str, Any]:
        """Return the fields that define the game: no notation, and `holes` only if the board has any."""
        fields = asdict(self)
        del fields["notation"]
        if not self.holes:
            del fields["holes"]
        return fields

    def facts(self) -> dict[str, Any]:
        """Return whether completing a line loses, and the number of lines."""
        return {"misere": self.misere, "lines": len(self.lines)}

    def described(self, symmetries: int) -> str:
        """Return the game in a line."""
        return f"{self.name}: {self.cells} cells, {len(self.lines)} lines, {symmetries} symmetries"

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


def grid(rows: int, columns: int, k: int, *, misere: bool = False) -> Game:
    """Return the m,n,k game: `rows` by `columns`, k in a row across, down or diagonally."""
    name = size_name(rows, columns, k, misere=misere)
    if rows * columns > LARGEST_CELLS:
        cells = f"{rows * columns:,} cells"
        raise GameError(f"game {name!r} has {cells}, too many to know anything about: at most {LARGEST_CELLS:,}")
    return Game(name, rows, columns, tuple(sorted(straight_lines(rows, columns, k))), misere)


def size_name(rows: int, columns: int, k: int, *, misere: bool = False) -> str:
    """Return the name of an m,n,k game; raise GameError if there is none of this size."""
    if min(rows, columns, k) < 1:
        raise GameError(f"no game {rows},{columns},{k}: rows, columns and k must each be 1 or more")
    if k > max(rows, columns):
        raise GameError(f"no game {rows},{columns},{k}: {k} in a row do not fit; k can be at most {max(rows, columns)}")
    if rows * columns > WIDEST_CELLS:
        raise GameError(f"no game {rows},{columns},{k}: a board can have at most {WIDEST_CELLS:,} cells")
    return f"{rows},{columns},{k}" + (",misere" if misere else "")


def lines_only(game: BoardGame[Any]) -> Game:
    """Return the game if it is one of lines; raise GameError if not."""
    if isinstance(game, Game):
        return game
    raise GameError(f"{game.name} has no lines")


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
