"""Positions of a game of lines, and how boards are read and written.

    X.../.O../..../....

Rows from the top, joined by `/`, with `X`, `O` and `.` for an empty cell. Holes are not written, nor are
rows without cells. Also accepted: lower case, `-` or `_` for an empty cell, a number for a run of empty
cells (`1X2/4/4/4`), no separators, and a sequence of 1 for X, -1 for O and 0 for an empty cell.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import and_
from typing import Any

from solver.errors import BoardError, GameError
from solver.games.lines import Game
from solver.games.score import win_score
from solver.text import shown

_NO_MARK = re.compile(r"[^XxOo._\-/0-9]")
_RUN = re.compile(r"\d{1,9}")
_XS = str.maketrans("XO._-", "10000")
_OS = str.maketrans("XO._-", "01000")


@dataclass(frozen=True, slots=True)
class Position:
    """The cells of X and of O in one game. X moves first, so the counts tell whose turn it is."""

    game: Game
    x: int = 0
    o: int = 0
    _lines: tuple[list[int], list[int]] | None = field(default=None, init=False, compare=False, repr=False)
    _checked: bool = field(default=False, init=False, compare=False, repr=False)

    @property
    def stones(self) -> int:
        """The number of cells taken."""
        return (self.x | self.o).bit_count()

    @property
    def mover(self) -> str:
        """`X` or `O`: whose turn it is by the counts, even when the game is over."""
        return "XO"[self.stones % 2]

    @property
    def lines(self) -> tuple[list[int], list[int]]:
        """The complete lines of X and those of O."""
        lines = self._lines
        if lines is None:
            lines = self.game.completed(self.x), self.game.completed(self.o)
            object.__setattr__(self, "_lines", lines)
        return lines

    @property
    def winner(self) -> str | None:
        """`X` or `O`, if one has won; None for a draw and while the game goes on."""
        x_lines, o_lines = self.lines
        if not x_lines and not o_lines:
            return None
        return "X" if bool(x_lines) != self.game.misere else "O"

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.x | self.o == self.game.full or any(self.lines)

    @property
    def legal(self) -> list[int]:
        """The cells that can be claimed now, in order; none when the game is over."""
        return [] if self.over else list(cells_of(self.game.full & ~(self.x | self.o)))

    def play(self, cell: int) -> "Position":
        """Return the position after the side to move claims `cell`; raise BoardError if it cannot."""
        if not 0 <= cell < self.game.cells:
            raise BoardError(f"no cell {cell!r}: cells are numbered 0 to {self.game.cells - 1}")
        name = self.game.cell_name(cell)
        if (self.x | self.o) >> cell & 1:
            raise BoardError(f"cell {name!r} is taken: choose an empty cell")
        if self.over:
            raise BoardError(f"no move {name!r}: the game is over")
        if self.mover == "X":
            return Position(self.game, self.x | 1 << cell, self.o)
        return Position(self.game, self.x, self.o | 1 << cell)

    def score_if_over(self) -> int | None:
        """Return the score of a finished game for the side to move; None while the game goes on."""
        if not self.over:
            return None
        if self.winner is None:
            return 0
        score = win_score(self.game.cells, self.stones)
        return score if self.winner == self.mover else -score

    def __str__(self) -> str:
        """Return the board in the notation that `parse` reads."""
        x, o = self.x, self.o
        return "/".join([_row(x >> at & row, o >> at & row, width) for at, row, width in self.game.row_runs])

    def __repr__(self) -> str:
        return f"<Position {self.game.name} {self}>"


Board = Position | str | Sequence[Any]
"""What can stand for a position: the position itself, a text, or a sequence of 1, -1 and 0 (or rows of them)."""


def as_position(game: Game, board: Board) -> Position:
    """Return the position that a board stands for; raise BoardError if no game can reach it."""
    if isinstance(board, str):
        return parse(game, board)
    if isinstance(board, Position):
        if board.game is not game and board.game != game:
            raise GameError(f"board {str(board)!r} is of game {board.game.name!r}, not of {game.name!r}")
        return check(board)
    return check(Position(game, *_numbered(game, board)))


def parse(game: Game, text: str) -> Position:
    """Return the position that a text describes; raise BoardError if no game can reach it."""
    return check(Position(game, *_stones(game, text)))


def after_moves(game: Game, text: str) -> Position:
    """Return the position after moves such as `b2 c3 a1`; raise BoardError at the first that cannot be made."""
    position = Position(game)
    for number, name in enumerate(text.replace(",", " ").split(), 1):
        try:
            position = position.play(game.cell(name))
        except BoardError as error:
            raise BoardError(f"move {number}, {shown(name, 24)}: {error}") from None
    return check(position)


def check(position: Position) -> Position:
    """Return the position; raise BoardError, with the reason, if no game can reach it."""
    if position._checked:
        return position
    game = position.game
    if position.x & position.o or (position.x | position.o) & ~game.full:
        raise BoardError(f"cells {position.x:#x} of X and {position.o:#x} of O overlap, or are not all on the board")
    x_count, o_count = position.x.bit_count(), position.o.bit_count()
    if x_count - o_count not in (0, 1):
        raise BoardError(
            f"board {str(position)!r} has {x_count} X and {o_count} O: X moves first, so X has as many or one more"
        )
    mover, last = ("X", "O") if x_count == o_count else ("O", "X")
    movers, lasts = position.lines if mover == "X" else position.lines[::-1]
    if movers and lasts:
        raise BoardError(f"board {str(position)!r} has lines of both X and O: the game ended at the first")
    if movers:
        raise BoardError(
            f"board {str(position)!r} has a line of {mover}, yet {last} moved last: the game ended before that move"
        )
    if lasts and not reduce(and_, lasts):
        raise BoardError(
            f"board {str(position)!r} has lines of {last} that no single move completes: the game ended before the last"
        )
    object.__setattr__(position, "_checked", True)
    return position


def is_reachable(position: Position) -> bool:
    """Tell whether some game reaches the position."""
    try:
        check(position)
    except BoardError:
        return False
    return True


def cells_of(cells: int) -> Iterator[int]:
    """Yield the cells of a set, in order."""
    while cells:
        low = cells & -cells
        yield low.bit_length() - 1
        cells ^= low


def _stones(game: Game, text: str) -> tuple[int, int]:
    board = text.strip().lstrip("\ufeff")
    bad = _NO_MARK.search(board)
    if bad:
        raise BoardError(f"board {shown(text)} has {bad[0]!r}: write X, O and . for an empty cell, rows joined by /")
    if len(board) > 10 * game.cells + 10:
        raise BoardError(f"board {shown(text)} is too long: {game.name} has {game.cells} cells")
    marks = _RUN.sub(lambda run: "." * min(int(run[0]), game.cells + 1), board.upper())
    rows = marks.split("/")
    if len(rows) > 1 and list(map(len, rows)) != game.row_lengths:
        has = f"rows of {_listed(game.row_lengths)}" if game.holes else f"{game.rows} rows of {game.columns}"
        raise BoardError(f"board {shown(text)} has rows of {_listed(map(len, rows))} cells: {game.name} has {has}")
    cells = "".join(rows)
    if len(cells) != game.cells:
        raise BoardError(f"board {shown(text)} has {len(cells)} cells: {game.name} has {game.cells}")
    last_first = cells[::-1]
    return int(last_first.translate(_XS), 2), int(last_first.translate(_OS), 2)


def _numbered(game: Game, board: Any) -> tuple[int, int]:
    """Return X's and O's cells from a sequence of 1, -1 and 0, or from rows of them; numpy arrays are sequences too."""
    try:
        len(board)  # an iterator may have no end
        marks = [_mark(mark) for item in board for mark in (item if hasattr(item, "__len__") else (item,))]
    except (TypeError, ValueError, OverflowError) as error:
        raise BoardError(
            f"board {shown(board)} is a {type(board).__name__}: give a text, a Position, or a sequence of "
            f"{game.cells} numbers, 1 for X, -1 for O and 0 for an empty cell"
        ) from error
    if len(marks) != game.cells:
        raise BoardError(f"board {shown(board)} has {len(marks)} cells: {game.name} has {game.cells}")
    x, o = (sum(1 << cell for cell, mark in enumerate(marks) if mark == who) for who in (1, -1))
    return x, o


def _mark(mark: Any) -> int:
    number = int(mark)
    if number != mark or number not in (-1, 0, 1):
        raise BoardError(f"a board of numbers has {shown(mark)}: write 1 for X, -1 for O and 0 for an empty cell")
    return number


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


@lru_cache(1 << 12)
def _row(x: int, o: int, width: int) -> str:
    return "".join(".XO"[(x >> c & 1) + 2 * (o >> c & 1)] for c in range(width))
