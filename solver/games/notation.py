"""The one notation in which games are named: rows, columns and how many in a row, or a file of cells and lines."""

from solver.errors import GameError
from solver.games.lines import Game, grid


def parse_game(text: str) -> Game:
    """The game that a notation names: `4,4,4`, `fano`, `mine.toml`, or `3,3,3,misere`; GameError if it names none."""
    named, _, last = text.strip().rpartition(",")
    misere = last.strip().lower() in ("misere", "misère")
    named = named.strip() if misere else text.strip()
    parts = [part.strip() for part in named.split(",")]
    if len(parts) == 3 and all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        rows, columns, k = map(int, parts)
        return grid(rows, columns, k, misere=misere)
    if named.endswith(".toml") or (named[:1].isalpha() and "," not in named):
        from solver.games.files import named_game  # only now: it takes as long as an answer

        return named_game(named, misere=misere)
    raise GameError(
        f"cannot read game {text!r}: write rows,columns,k, such as 4,4,4 or 3,3,3,misere, or the path of a file.toml"
    )
