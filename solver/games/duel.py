"""Infinity Grid Duel: a game of capture on a board of R rows and C columns, 6 by 6 by default.

Red (R) moves first, then Green (G), in turn. A move fills an empty cell next to one of one's own tiles (up, down, left,
right) or, if there is none, any empty cell: so on a side's first move, when it was wiped out, and when it is shut in.
Every tile of the other side next to the new one changes sides at once, without chains. When the board is full, whoever
has more tiles wins; equal is a draw. A game has as many moves as the board has cells.

That a side which is shut in may go anywhere is our choice. If it had to pass, Red would lose by 12 on 6x6 and by 14 on
4x4, and not by 2.

A score is a margin: one's own tiles less the other's at the end, for the side to move. It has the parity of the number
of cells.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from solver.errors import BoardError, GameError
from solver.games.board import BoardGame, BoardPosition, cells_of
from solver.games.lines import Game
from solver.games.score import MARGIN
from solver.text import shown

NAME = "duel"

DEFAULT_SIZE = 6, 6

LONGEST_SIDE = 12


@dataclass(frozen=True)
class Duel(BoardGame["DuelPosition"]):
    """The duel on one board."""

    rows: int = DEFAULT_SIZE[0]
    columns: int = DEFAULT_SIZE[1]

    marks = "RG"
    scale = MARGIN
    holes = 0
    solvable_cells = settled_cells = 36
    examples = "duel,4,4 or duel"
    quick_cells = 20

    @property
    def shipped(self) -> bool:  # type: ignore[override]
        """Whether it has the board of which a book is shipped."""
        return self.name == NAME

    @property
    def opponent(self) -> str:  # type: ignore[override]
        """The oracle where it can know every position, else the search."""
        return "oracle" if self.cells <= self.quick_cells else "search"

    @property
    def name(self) -> str:  # type: ignore[override]  # it follows from the size
        """The game's name: `duel` on the default board."""
        return NAME if (self.rows, self.columns) == DEFAULT_SIZE else f"{NAME},{self.rows},{self.columns}"

    @property
    def notation(self) -> str:  # type: ignore[override]
        """The same as the name."""
        return self.name

    @cached_property
    def neighbours(self) -> tuple[int, ...]:
        """For each cell, the cells above, below and beside it, as a bit mask."""
        found = []
        for cell in range(self.cells):
            row, column = divmod(cell, self.columns)
            around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
            inside = [(r, c) for r, c in around if 0 <= r < self.rows and 0 <= c < self.columns]
            found.append(sum(1 << r * self.columns + c for r, c in inside))
        return tuple(found)

    @cached_property
    def pairs(self) -> tuple[int, ...]:
        """Every two cells that are next to each other, as a bit mask."""
        return tuple(sorted({1 << cell | 1 << other for cell in range(self.cells) for other in self._around(cell)}))

    @cached_property
    def as_lines(self) -> Game:
        """A game of lines with the same symmetries: each line is two cells that are next to each other."""
        return Game(self.name, self.rows, self.columns, self.pairs)

    def cell(self, name: str) -> int:
        """Return the cell with that name; `b3x2`, as records write captures, is read too."""
        cell, x, number = name.strip().lower().rpartition("x")
        return super().cell(cell if x and number.isdigit() else name)

    def at(self, x: int, o: int) -> "DuelPosition":
        """Return the position with these tiles of Red and of Green, unchecked."""
        return DuelPosition(self, x, o)

    def after(self, x: int, o: int, cell: int) -> tuple[int, int, bool]:
        """Return Red's and Green's tiles after a move, and whether it ended the game."""
        turned = self.neighbours[cell] | 1 << cell
        filled = x | o
        if filled.bit_count() % 2:
            x, o = x & ~turned, o | turned & filled | 1 << cell
        else:
            x, o = x | turned & filled | 1 << cell, o & ~turned
        return x, o, x | o == self.full

    def legal(self, x: int, o: int) -> int:
        """Return the cells that the side to move may fill: those next to its tiles, or else all empty ones."""
        empty = self.full & ~(x | o)
        return self.reach(o if (x | o).bit_count() % 2 else x) & empty or empty

    def reach(self, tiles: int) -> int:
        """Return the cells next to some tiles, and perhaps those tiles."""
        width = self.columns
        return (tiles << width | tiles >> width | (tiles & ~self._last) << 1 | (tiles & ~self._first) >> 1) & self.full

    def plies_left(self, score: int, empty: int) -> int | None:
        """Return the number of empty cells: each is filled in turn."""
        return empty

    def promise(self, x: int, o: int, mover: int) -> int:
        """Return how good a position looks for the side that has just moved."""
        return -self.estimate(x, o) if mover else -self.estimate(o, x)

    def estimate(self, own: int, other: int) -> int:
        """Return what the margin may be for the side to move, in twentieths of a tile, by a glance.

        A tile with no empty cell beside it is settled; any other may still be turned, and the other side moves after
        one's own turn. Moves that only one side has are a burden: a tile placed early is turned later. The numbers were
        fitted to exact margins of 6x6; solver/duel/kernels.py has the same.
        """
        empty = self.full & ~(own | other)
        open_cells = self.reach(empty)
        mine, theirs = own & open_cells, other & open_cells
        settled = (own ^ mine).bit_count() - (other ^ theirs).bit_count()
        my_moves, their_moves = self.reach(own) & empty, self.reach(other) & empty
        found = 20 * settled + 17 * mine.bit_count() - 13 * theirs.bit_count()
        found += 9 * (my_moves & their_moves).bit_count() - 5 * (my_moves & ~their_moves).bit_count()
        found += 2 * (their_moves & ~my_moves).bit_count()
        if empty:
            found += (0 if my_moves else 58) - (0 if their_moves else 36)
            found += 57 if empty.bit_count() % 2 else -36
        return found

    def as_fields(self) -> dict[str, Any]:
        """Return the fields that define the game."""
        return {"name": self.name, "rows": self.rows, "columns": self.columns, "rules": NAME}

    def facts(self) -> dict[str, Any]:
        """Return nothing: the size says all."""
        return {}

    def described(self, symmetries: int) -> str:
        """Return the game in a line."""
        return f"{self.name}: {self.rows} by {self.columns} cells, {symmetries} symmetries"

    @cached_property
    def _first(self) -> int:
        """The first column."""
        return sum(1 << row * self.columns for row in range(self.rows))

    @cached_property
    def _last(self) -> int:
        """The last column."""
        return self._first << self.columns - 1

    def _around(self, cell: int) -> list[int]:
        return list(cells_of(self.neighbours[cell]))


@dataclass(frozen=True, slots=True)
class DuelPosition(BoardPosition):
    """Red's tiles (`x`) and Green's (`o`). Red moves first, so the number of tiles tells whose turn it is."""

    game: Duel
    x: int = 0
    o: int = 0
    _checked: bool = field(default=False, init=False, compare=False, repr=False)

    @property
    def winner(self) -> str | None:
        """`R` or `G`, if the board is full and one has more tiles."""
        red, green = self.x.bit_count(), self.o.bit_count()
        if not self.over or red == green:
            return None
        return "R" if red > green else "G"

    @property
    def over(self) -> bool:
        """Whether the board is full."""
        return self.x | self.o == self.game.full

    @property
    def legal(self) -> list[int]:
        """The cells that can be filled now, in order; none when the game is over."""
        return list(cells_of(self.game.legal(self.x, self.o)))

    def allows(self, cell: int) -> bool:
        """Tell whether an empty cell can be filled now."""
        return bool(self.game.legal(self.x, self.o) >> cell & 1)

    def play(self, cell: int) -> "DuelPosition":
        """Return the position after the side to move fills `cell`; raise BoardError if it cannot."""
        self.require_playable(cell)
        if not self.allows(cell):
            raise BoardError(self.refusal(cell))
        x, o, _ = self.game.after(self.x, self.o, cell)
        return DuelPosition(self.game, x, o)

    def refusal(self, cell: int) -> str:
        """Return why an empty cell cannot be filled: it is next to no tile of the side to move."""
        near = [self.game.cell_name(each) for each in self.legal]
        some = ", ".join(near[:4]) + (" and others" if len(near) > 4 else "")
        name = self.game.cell_name(cell)
        return f"cell {name!r} is not next to a tile of {self.mover}: {some} {'are' if near[1:] else 'is'}"

    def score_if_over(self) -> int | None:
        """Return the margin on a full board, for the side that would be to move; None while the game goes on."""
        if not self.over:
            return None
        margin = self.x.bit_count() - self.o.bit_count()
        return -margin if self.stones % 2 else margin

    def count(self) -> str:
        """Return how many tiles each side has."""
        return f"Tiles: R {self.x.bit_count()}, G {self.o.bit_count()}"

    def ending(self) -> set[int]:
        """Return nothing: the whole board ends the game."""
        return set()

    def checked(self) -> "DuelPosition":
        """Return the position; raise BoardError, with the reason, if it is easy to see that no game can reach it.

        Not every position that passes can be reached: a store knows which can.
        """
        if self._checked:
            return self
        game, x, o = self.game, self.x, self.o
        if x & o or (x | o) & ~game.full:
            raise BoardError(f"cells {x:#x} of R and {o:#x} of G overlap, or are not all on the board")
        last = "G" if self.mover == "R" else "R"
        lasts = o if last == "G" else x
        if self.stones and not lasts:
            raise BoardError(f"board {str(self)!r} has no tile of {last}, which moved last")
        if self.stones and not any(self._may_be_last(cell, lasts) for cell in cells_of(lasts)):
            raise BoardError(
                f"board {str(self)!r} has no tile of {last} that can be the last: each is next to one of {self.mover}"
            )
        object.__setattr__(self, "_checked", True)
        return self

    def _may_be_last(self, cell: int, lasts: int) -> bool:
        """Tell whether a tile may have been placed last: it left no tile of the other side next to it."""
        return not self.game.neighbours[cell] & ~lasts & (self.x | self.o)


def movers(x: int, o: int) -> tuple[int, int]:
    """Return the tiles of the side to move, and the other's."""
    return (o, x) if (x | o).bit_count() % 2 else (x, o)


def duel(notation: str) -> Duel:
    """Return the duel that a notation names: `duel`, or `duel,4,5`; raise GameError if it names none."""
    name, *sizes = [part.strip() for part in notation.split(",")]
    if not sizes:
        return Duel()
    if len(sizes) != 2 or not all(size.isascii() and size.isdigit() and len(size) < 4 for size in sizes):
        raise GameError(
            f"cannot read game {shown(notation)}: write duel, or duel,rows,columns, such as duel,4,4; nothing else"
        )
    rows, columns = map(int, sizes)
    if not (1 <= rows <= LONGEST_SIDE and 1 <= columns <= LONGEST_SIDE):
        raise GameError(f"no game {name},{rows},{columns}: rows and columns go from 1 to {LONGEST_SIDE}")
    return Duel(rows, columns)
