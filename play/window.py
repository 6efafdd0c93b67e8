"""A part of a wide board as text of at most 80 columns: around the latest moves, or a cell that somebody asks for.

       sd  se  sf  sg  sh
 498   .   .   .   .   .
 499   .   .   .   X   .
 500   .   .   X  [O]  .

Rows 498 to 500 of 1000, columns sd to sh of a to all.
"""

from typing import NamedTuple

import click

from oracle.cli.drawing import COLUMNS, LOOKS
from solver.games.board import column_name
from solver.games.wide import SIDES, WideGame, WideRules, WideState

ROWS = 15
"""How many rows of a wide board are drawn."""

MOST_COLUMNS = 19


class Part(NamedTuple):
    """Rows and columns of a board, counted from 0."""

    rows: range
    columns: range

    def has(self, game: WideGame, cell: int) -> bool:
        """Tell whether a cell is in it."""
        row, column = divmod(cell, game.columns)
        return row in self.rows and column in self.columns


def part_around(game: WideGame, cell: int, rows: int, columns: int) -> Part:
    """Return the part of a board of so many rows and columns, or as many as there are, with a cell in its middle."""
    row, column = divmod(cell, game.columns)
    return Part(_around(row, rows, game.rows), _around(column, columns, game.columns))


def latest_part(state: WideState, rows: int, columns: int) -> Part:
    """Return the part of a board around the last move, and around the one before it if both fit."""
    game = state.game
    latest = state.latest(SIDES)
    if not latest:
        return part_around(game, game.middle, rows, columns)
    places = [divmod(cell, game.columns) for cell in latest]
    middle = [sum(place[i] for place in places) // len(places) for i in (0, 1)]
    part = part_around(game, middle[0] * game.columns + middle[1], rows, columns)
    return part if all(part.has(game, cell) for cell in latest) else part_around(game, latest[-1], rows, columns)


def drawn_part(rules: WideRules, state: WideState, cell: int | None = None) -> str:
    """Return a part of a board, and which part it is; the last move is in brackets, or what ended the game is starred.

    It is the part around a cell, if one is given, else around the latest moves.
    """
    game = rules.game
    label, width = len(str(game.rows)) + 1, max(3, len(column_name(game.columns - 1)) + 1)
    columns = min(MOST_COLUMNS, (COLUMNS - label - 2) // width)
    part = latest_part(state, ROWS, columns) if cell is None else part_around(game, cell, ROWS, columns)
    names = "".join(f"{column_name(column):{width}}" for column in part.columns)
    starred = rules.ending(state)
    lines = [f"{' ' * (label + 2)}{names}".rstrip()]
    for row in part.rows:
        cells = range(row * game.columns + part.columns.start, row * game.columns + part.columns.stop)
        lines.append(f"{row + 1:>{label}} {_row(rules, state, cells, starred, width)}".rstrip())
    return "\n".join([*lines, "", _called(game, part)])


def _around(middle: int, most: int, there: int) -> range:
    """Return so many numbers around one, or as many as there are."""
    count = min(most, there)
    first = min(max(0, middle - count // 2), there - count)
    return range(first, first + count)


def _row(rules: WideRules, state: WideState, cells: range, starred: set[int], width: int) -> str:
    drawn = ""
    for cell in cells:
        side = state.side(cell)
        mark = "." if side is None else rules.marks[side]
        left, right = "[]" if cell == state.last and not starred else " *" if cell in starred else "  "
        look = {"dim": True} if side is None else LOOKS[mark]
        drawn += f"{left}{click.style(mark, **look)}{right}{' ' * (width - 3)}"
    return drawn


def _called(game: WideGame, part: Part) -> str:
    """Return which part of a board it is, in words."""
    first, last = part.columns.start, part.columns.stop - 1
    return (
        f"Rows {part.rows.start + 1} to {part.rows.stop} of {game.rows}, columns {column_name(first)} to "
        f"{column_name(last)} ({first + 1} to {last + 1}) of {game.columns}."
    )
