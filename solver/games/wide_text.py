"""How wide boards are written and read: marks, and between them how many cells in a row of the text are empty.

    499999X1O499998      on 1000 by 1000 cells: X in cell 499999, O in cell 500001

Cells are counted row by row, so a text is as long as the stones are many. What stands for a narrow board
(solver/games/board_text.py) is read, too: rows joined by `/`, `.` for an empty cell, lower case.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from solver.errors import BoardError
from solver.games.wide import DIRECTIONS, SIDES, WideGame
from solver.text import shown

Sides = Sequence[list[int]]
"""The cells of each side."""

_LONGEST = 10
"""How many letters a text may have for each cell."""


def written(game: WideGame, sides: Sides, marks: str) -> str:
    """Return the stones of each side as text."""
    stones = sorted((cell, mark) for cells, mark in zip(sides, marks, strict=True) for cell in cells)
    parts, at = [], 0
    for cell, mark in stones:
        parts += [str(cell - at), mark] if cell > at else [mark]
        at = cell + 1
    if at < game.cells:
        parts.append(str(game.cells - at))
    return "".join(parts)


def read_stones(game: WideGame, text: str, marks: str) -> tuple[list[int], ...]:
    """Return the cells of each side, in order; raise BoardError if the text is no board of the game."""
    board = text.strip().lstrip("\ufeff")
    if len(board) > _LONGEST * game.cells:
        raise BoardError(f"board {shown(text)} is too long: {game.name} has {game.cells} cells")
    parts = re.compile(rf"(?P<run>[0-9]{{1,9}})|(?P<empty>[._-]+)|(?P<mark>[{marks}])|(?P<row>/)", re.IGNORECASE | re.A)
    sides: tuple[list[int], ...] = tuple([] for _ in range(SIDES))
    at = rows = end = 0
    for part in parts.finditer(board):
        if part.start() != end:
            break
        end = part.end()
        if part["mark"]:
            sides[marks.index(part["mark"].upper())].append(at)
            at += 1
        elif part["row"]:
            rows += 1
            _require_row(game, text, at, rows)
        else:
            at += int(part["run"]) if part["run"] else len(part["empty"])
    if end != len(board):
        signs = f"{' and '.join(sorted(marks, reverse=True))}, and . or a number for empty cells"
        raise BoardError(f"board {shown(text)} has {board[end]!r}: write {signs}")
    if at != game.cells:
        raise BoardError(f"board {shown(text)} has {at} cells: {game.name} has {game.cells}")
    if rows:
        _require_row(game, text, at, rows + 1)
    return sides


def require_reached(game: WideGame, sides: Sides, marks: str) -> set[int]:
    """Return the cells that may have been claimed last, if that ended the game by a line; none if there is no line.

    Raise BoardError, with the reason, if no game reaches the board.
    """
    counts = [len(cells) for cells in sides]
    last = (sum(counts) - 1) % SIDES
    earlier = [
        mark for side, mark in enumerate(marks) if side != last and next(_runs(game, sides[side]), None) is not None
    ]
    runs, lasts = 0, set[int]()
    for runs, shared in enumerate(_runs(game, sides[last]), 1):
        lasts = lasts & shared if runs > 1 else shared
        if not lasts:
            break
    why = ""
    if not all(0 <= before - after <= 1 for before, after in pairwise(counts)):
        has = " and ".join(f"{count} {mark}" for count, mark in zip(counts, marks, strict=True))
        why = f"has {has}: {marks[0]} moves first, so {marks[0]} has as many or one more"
    elif earlier and runs:
        why = f"has lines of both {' and '.join(marks)}: the game ended at the first"
    elif earlier:
        why = f"has a line of {earlier[0]}, yet {marks[last]} moved last: the game ended before that move"
    elif runs and not lasts:
        why = f"has lines of {marks[last]} that no single move completes: the game ended before the last"
    if why:
        raise BoardError(f"board {shown(written(game, sides, marks))} {why}")
    return lasts


def _require_row(game: WideGame, text: str, at: int, rows: int) -> None:
    """Raise BoardError unless so many rows end at a cell."""
    if at != rows * game.columns or rows > game.rows:
        raise BoardError(
            f"board {shown(text)} has rows of other lengths: {game.name} has {game.rows} rows of {game.columns}"
        )


def _runs(game: WideGame, cells: list[int]) -> Iterator[set[int]]:
    """Yield, for each run of k stones or more, the cells that all of its lines share."""
    own = set(cells)

    def stone(row: int, column: int) -> bool:
        return 0 <= row < game.rows and 0 <= column < game.columns and row * game.columns + column in own

    for cell in cells:
        for down, right in DIRECTIONS:
            row, column = divmod(cell, game.columns)
            if stone(row - down, column - right):
                continue  # it is not the first of its run
            run = []
            while stone(row, column):
                run.append(row * game.columns + column)
                row, column = row + down, column + right
            if len(run) >= game.k:
                yield set(run[len(run) - game.k : game.k])
