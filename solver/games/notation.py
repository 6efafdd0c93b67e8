"""How games on boards are named.

4,4,4             rows, columns and how many in a row, numbers of up to four digits
3,3,3,misere      the same, where completing a line loses
fano, mine.toml   a game of lines that a file describes (solver/games/files.py)
duel, duel,4,5    Infinity Grid Duel on 6 by 6 cells, or on so many rows and columns (solver/games/duel.py)

Games of more than two sides, such as 3p:5,5,4, are played but not solved: solver/games/registry.py knows them.
"""

import re
from typing import Any, NamedTuple

from solver.errors import GameError
from solver.games.board import BoardGame
from solver.games.lines import Game, grid
from solver.text import shown


class Size(NamedTuple):
    """The numbers of an m,n,k game."""

    rows: int
    columns: int
    k: int
    misere: bool

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns


def parse_game(text: str) -> BoardGame[Any]:
    """Return the game that a notation names; raise GameError if it names none, or one too large to know all lines."""
    if text.partition(",")[0].strip().lower() == "duel":
        from solver.games.duel import duel  # only now: the default game does not need it

        return duel(text.strip().lower())
    return _lines(text)


def read_size(text: str) -> Size | None:
    """Return the size of the m,n,k game that a notation names; None if it names another game, or none."""
    named, misere = _without_misere(text)
    parts = [part.strip() for part in named.split(",")]
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts):
        return None
    rows, columns, k = map(int, parts)
    return Size(rows, columns, k, misere)


def _without_misere(text: str) -> tuple[str, bool]:
    """Return a notation without the word for misère play, and whether it had that word."""
    named, _, last = text.strip().rpartition(",")
    misere = last.strip().lower() in ("misere", "misère")
    return named.strip() if misere else text.strip(), misere


def _lines(text: str) -> Game:
    size = read_size(text)
    if size:
        return grid(size.rows, size.columns, size.k, misere=size.misere)
    named, misere = _without_misere(text)
    if named.endswith(".toml") or (named[:1].isalpha() and "," not in named and ":" not in named):
        from solver.games.files import named_game  # only now: it takes as long as an answer

        return named_game(named, misere=misere)
    if re.match(r"\d+p:", named):
        raise GameError(f"game {shown(text)} has more than two sides: it is played, but neither solved nor analysed")
    raise GameError(
        f"cannot read game {shown(text)}: write rows,columns,k, such as 4,4,4 or 3,3,3,misere, duel, or a path, "
        "file.toml"
    )
