"""Games of queens: whoever has two pieces that attack each other loses. Few halves are open, even on 32 cells."""

from itertools import combinations
from pathlib import Path

from solver.games.lines import Game
from solver.games.notation import parse_game


def queens(folder: Path, rows: int, columns: int, *, knights: bool = False) -> Game:
    """The game of a file; with `knights`, pieces also move like those."""
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    lines = []
    for one, other in combinations(cells, 2):
        down, right = abs(one[0] - other[0]), abs(one[1] - other[1])
        if not down or not right or down == right or (knights and {down, right} == {1, 2}):
            lines.append(" ".join(f"{'abcdefgh'[column]}{row + 1}" for row, column in (one, other)))
    path = folder / f"{'amazons' if knights else 'queens'}{rows}x{columns}.toml"
    path.write_text(
        f"""about = "Two that attack each other lose."
misere = true
board = [{", ".join(f'"{"." * columns}"' for _ in range(rows))}]
lines = [{", ".join(f'"{line}"' for line in lines)}]
"""
    )
    return parse_game(str(path))  # type: ignore[return-value]  # it is one of lines
