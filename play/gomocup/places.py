"""How cells are written in the protocol: `x,y`, column and row from 0, the first at the top left."""

import re

from solver.games.lines import Game

_PLACE = re.compile(r"\s*(\d{1,9})\s*,\s*(\d{1,9})\s*")


def read_place(text: str) -> tuple[int, int] | None:
    """Return the two numbers that a text such as `10,11` holds; None if it holds none."""
    found = _PLACE.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None


def cell_at(game: Game, place: tuple[int, int]) -> int | None:
    """Return the cell in a column and a row; None if there is none."""
    x, y = place
    return game.cells_by_square.get(y * game.columns + x) if x < game.columns and y < game.rows else None


def write_place(game: Game, cell: int) -> str:
    """Return a cell's column and row, such as `10,11`."""
    y, x = divmod(game.squares[cell], game.columns)
    return f"{x},{y}"
