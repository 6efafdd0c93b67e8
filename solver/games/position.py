"""Positions: X's cells and O's cells, and the one notation in which boards are read and written.

    X.../.O../..../....

Rows from the top, joined by `/`; `X`, `O` and `.` for an empty cell. A hole in the board is not written,
nor is a row of nothing else. On input also lower case, `-` or `_` for an empty cell, a number for a run of
empty cells (`1X2/4/4/4`), and no separators at all.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_

from solver.errors import BoardError
from solver.games.lines import Game

_NO_MARK = re.compile(r"[^XxOo._\-/0-9]")
_RUN = re.compile(r"\d{1,9}")
_XS = str.maketrans("XO._-", "10000")
_OS = str.maketrans("XO._-", "01000")


@dataclass(frozen=True, slots=True)
class Position:
    """X's cells and O's cells of one game. X moves first, so the counts tell whose turn it is."""

    game: Game
    x: int = 0
    o: int = 0

    @property
    def stones(self) -> int:
        """How many cells are taken."""
        return (self.x | self.o).bit_count()

    @property
    def mover(self) -> str:
        """`X` or `O`: whose turn the counts say it is, even when the game is over."""
        return "XO"[self.stones % 2]

    @property
    def completer(self) -> str | None:
        """Who holds a whole line: `X`, `O` or nobody."""
        if self.game.completed(self.x):
            return "X"
        return "O" if self.game.completed(self.o) else None

    @property
    def winner(self) -> str | None:
        """Who has won; None for a draw and while the game is on."""
        completer = self.completer
        if completer and self.game.misere:
            return "O" if completer == "X" else "X"
        return completer

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.x | self.o == self.game.full or self.completer is not None

    @property
    def legal(self) -> list[int]:
        """The cells that can be claimed now, in order; none when the game is over."""
        return [] if self.over else list(cells_of(self.game.full & ~(self.x | self.o)))

    def play(self, cell: int) -> "Position":
        """The position after the side to move claims `cell`; BoardError if it may not."""
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
        """The score for the side to move of a finished game; None while it is on."""
        if not self.over:
            return None
        worth = self.game.cells + 1 - self.stones
        return 0 if self.winner is None else worth if self.winner == self.mover else -worth

    def __str__(self) -> str:
        """The board, in the notation that `parse` reads."""
        x, o = self.x, self.o
        return "/".join([_row(x >> at & row, o >> at & row, width) for at, row, width in self.game.row_runs])

    def __repr__(self) -> str:
        return f"<Position {self.game.name} {self}>"


def parse(game: Game, text: str) -> Position:
    """The position that a board describes; BoardError if no game could have reached it."""
    return check(Position(game, *_stones(game, text)))


def after_moves(game: Game, text: str) -> Position:
    """The position that moves such as `b2 c3 a1` lead to from the empty board; BoardError if one cannot be made."""
    position = Position(game)
    for number, name in enumerate(text.replace(",", " ").split(), 1):
        try:
            position = position.play(game.cell(name))
        except BoardError as error:
            raise BoardError(f"move {number}, {name!r}: {error}") from None
    return position


def check(position: Position) -> Position:
    """The same position; BoardError, saying why, if no game could have reached it."""
    game = position.game
    if position.x & position.o or (position.x | position.o) & ~game.full:
        raise BoardError(f"cells {position.x:#x} of X and {position.o:#x} of O overlap, or are not all on the board")
    xs, os = position.x.bit_count(), position.o.bit_count()
    if xs - os not in (0, 1):
        raise BoardError(f"board {str(position)!r} has {xs} X and {os} O: X moves first, so X has as many or one more")
    mover, last = ("X", "O") if xs == os else ("O", "X")
    movers, lasts = game.completed(position.x), game.completed(position.o)
    if mover == "O":
        movers, lasts = lasts, movers
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
    return position


def is_reachable(position: Position) -> bool:
    """Whether some game reaches the position."""
    try:
        check(position)
    except BoardError:
        return False
    return True


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


def _stones(game: Game, text: str) -> tuple[int, int]:
    board = text.strip()
    bad = _NO_MARK.search(board)
    if bad:
        raise BoardError(f"board {_short(text)} has {bad[0]!r}: write X, O and . for an empty cell, rows joined by /")
    if len(board) > 10 * game.cells + 10:
        raise BoardError(f"board {_short(text)} is too long: {game.name} has {game.cells} cells")
    marks = _RUN.sub(lambda run: "." * min(int(run[0]), game.cells + 1), board.upper())
    rows = marks.split("/")
    if len(rows) > 1 and list(map(len, rows)) != game.row_lengths:
        has = f"rows of {_listed(game.row_lengths)}" if game.holes else f"{game.rows} rows of {game.columns}"
        raise BoardError(f"board {_short(text)} has rows of {_listed(map(len, rows))} cells: {game.name} has {has}")
    cells = "".join(rows)
    if len(cells) != game.cells:
        raise BoardError(f"board {_short(text)} has {len(cells)} cells: {game.name} has {game.cells}")
    last_first = cells[::-1]
    return int(last_first.translate(_XS), 2), int(last_first.translate(_OS), 2)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


@lru_cache(1 << 12)
def _row(x: int, o: int, width: int) -> str:
    return "".join(".XO"[(x >> c & 1) + 2 * (o >> c & 1)] for c in range(width))


def cells_of(cells: int) -> Iterator[int]:
    """The cells of a set, in order."""
    while cells:
        low = cells & -cells
        yield low.bit_length() - 1
        cells ^= low
