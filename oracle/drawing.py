"""Drawing: a board as text, readable without colour, and what each of its moves leads to.

        a    b    c
     1  X    X    +1*
     2  O    O    =
     3  -2   -2   -2

Verdicts are for the side to move: `+n` wins in n plies, `=` draws, `-n` loses in n plies.
"""

from collections.abc import Collection, Mapping

import click

from oracle.answers import Analysis, Move
from solver.position import Position

_LOOKS = {"X": {"fg": "bright_blue", "bold": True}, "O": {"fg": "yellow", "bold": True}}
"""Blue and yellow are told apart by nearly every eye; the letters differ in any case."""


def draw(
    position: Position, notes: Mapping[int, str], starred: Collection[int] = (), bracketed: int | None = None
) -> str:
    """The board with its rows and columns named, notes in empty cells, a star behind some cells, one in brackets."""
    game = position.game
    width = max([len(note) for note in notes.values()] + [len(game.cell_name(game.columns - 1)) - 1]) + 3
    label = len(str(game.rows)) + 1
    names = (game.cell_name(column)[:-1] for column in range(game.columns))
    lines = [" " * (label + 2) + "".join(f"{name:{width}}" for name in names).rstrip()]
    for row in range(game.rows):
        drawn = " "
        for cell in range(row * game.columns, (row + 1) * game.columns):
            text = _cell(position, cell, notes.get(cell, "."), cell in starred)
            tail = "]" if cell == bracketed else "*" if cell in starred else ""
            drawn = (drawn[:-1] + "[" if cell == bracketed else drawn) + text + tail
            drawn += " " * (width - len(click.unstyle(text)) - len(tail))
        lines.append(f"{row + 1:{label}} {drawn.rstrip()}")
    return "\n".join(lines)


def draw_verdicts(position: Position, analysis: Analysis) -> str:
    """The board with each move's verdict in its cell, the best ones starred; or with the line that ended the game."""
    if analysis.over:
        ended = 0
        for line in position.game.completed(position.x) + position.game.completed(position.o):
            ended |= line
        return draw(position, {}, [cell for cell in range(position.game.cells) if ended >> cell & 1])
    best = [position.game.cell(move) for move in analysis.best]
    return draw(position, verdicts(position, analysis), best)


def verdicts(position: Position, analysis: Analysis) -> dict[int, str]:
    """Each empty cell, and what claiming it leads to."""
    columns = position.game.columns
    return {move.row * columns + move.col: verdict(move, exact=analysis.exact) for move in analysis.moves}


def verdict(move: Move, *, exact: bool) -> str:
    """What a move leads to, as short as can be: `+3`, `=`, `-4`, or `?` if that is not known."""
    if move.plies is None:
        return "=" if exact else "?"
    return f"{'+' if move.score > 0 else '-'}{move.plies}"


def _cell(position: Position, cell: int, note: str, starred: bool) -> str:
    mark = "X" if position.x >> cell & 1 else "O" if position.o >> cell & 1 else None
    looks = _LOOKS[mark] if mark else {"bold": True} if starred else {"dim": True}
    return click.style(mark or note, **looks)
