"""How boards are read and written.

    X.../.O../..../....

Rows from the top, joined by `/`, with the marks of the two sides (`X` and `O`, in other games others) and `.` for an
empty cell. Holes are not written, nor are rows without cells. Also accepted: lower case, `-` or `_` for an empty cell,
a number for a run of empty cells (`1X2/4/4/4`), no separators, and a sequence of 1 for the side that begins, -1 for the
other and 0 for an empty cell.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from solver.errors import BoardError, GameError
from solver.games.board import Board, BoardGame, BoardPosition, P
from solver.text import shown

_RUN = re.compile(r"\d{1,9}")


def as_position(game: BoardGame[P], board: Board) -> P:
    """Return the position that a board stands for; raise BoardError if no game can reach it."""
    if isinstance(board, str):
        return parse(game, board)
    if isinstance(board, BoardPosition):
        if board.game is not game and board.game != game:
            raise GameError(f"board {str(board)!r} is of game {board.game.name!r}, not of {game.name!r}")
        return cast(P, board.checked())
    return game.at(*_numbered(game, board)).checked()


def parse(game: BoardGame[P], text: str) -> P:
    """Return the position that a text describes; raise BoardError if no game can reach it."""
    return game.at(*stones_of(game, text, game.marks)).checked()


def after_moves(game: BoardGame[P], text: str) -> P:
    """Return the position after moves such as `b2 c3 a1`; raise BoardError at the first that cannot be made."""
    position = game.at(0, 0)
    for number, name in enumerate(text.replace(",", " ").split(), 1):
        try:
            position = position.play(game.cell(name))
        except BoardError as error:
            raise BoardError(f"move {number}, {shown(name, 24)}: {error}") from None
    return position.checked()


@cache
def _reading(marks: str) -> tuple[re.Pattern[str], list[dict[int, int]]]:
    """Return what finds a letter that is no mark, and what makes a set of cells of each side's marks."""
    wrong = re.compile(rf"[^{marks}{marks.lower()}._\-/0-9]")
    signs = f"{marks}._-"
    return wrong, [str.maketrans(signs, "".join("01"[sign == mark] for sign in signs)) for mark in marks]


def stones_of(game: BoardGame[Any], text: str, marks: str) -> tuple[int, ...]:
    """Return the cells of each mark on a board that a text describes; raise BoardError if it describes none."""
    board = text.strip().lstrip("\ufeff")
    no_mark, binary = _reading(marks)
    bad = no_mark.search(board)
    if bad:
        signs = f"{', '.join(marks)} and . for an empty cell"
        raise BoardError(f"board {shown(text)} has {bad[0]!r}: write {signs}, rows joined by /")
    if len(board) > 10 * game.cells + 10:
        raise BoardError(f"board {shown(text)} is too long: {game.name} has {game.cells} cells")
    written = _RUN.sub(lambda run: "." * min(int(run[0]), game.cells + 1), board.upper())
    rows = written.split("/")
    if len(rows) > 1 and list(map(len, rows)) != game.row_lengths:
        has = f"rows of {_listed(game.row_lengths)}" if game.holes else f"{game.rows} rows of {game.columns}"
        raise BoardError(f"board {shown(text)} has rows of {_listed(map(len, rows))} cells: {game.name} has {has}")
    cells = "".join(rows)
    if len(cells) != game.cells:
        raise BoardError(f"board {shown(text)} has {len(cells)} cells: {game.name} has {game.cells}")
    last_first = cells[::-1]
    return tuple([int(last_first.translate(table), 2) for table in binary])


def _numbered(game: BoardGame[Any], board: Any) -> tuple[int, int]:
    """Return both sides' cells from a sequence of 1, -1 and 0, or from rows of them; numpy arrays are sequences too."""
    try:
        len(board)  # an iterator may have no end
        marks = [_mark(mark) for item in board for mark in (item if hasattr(item, "__len__") else (item,))]
    except (TypeError, ValueError, OverflowError) as error:
        raise BoardError(
            f"board {shown(board)} is a {type(board).__name__}: give a text, a Position, or a sequence of "
            f"{game.cells} numbers, 1 for {game.marks[0]}, -1 for {game.marks[1]} and 0 for an empty cell"
        ) from error
    if len(marks) != game.cells:
        raise BoardError(f"board {shown(board)} has {len(marks)} cells: {game.name} has {game.cells}")
    x, o = (sum(1 << cell for cell, mark in enumerate(marks) if mark == who) for who in (1, -1))
    return x, o


def _mark(mark: Any) -> int:
    number = int(mark)
    if number != mark or number not in (-1, 0, 1):
        raise BoardError(
            f"a board of numbers has {shown(mark)}: write 1 for the first side, -1 for the other, 0 for an empty cell"
        )
    return number


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
