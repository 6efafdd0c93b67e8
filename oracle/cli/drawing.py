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
from solver.games.lines import column_name
from solver.games.position import Position

_LOOKS = {"X": {"fg": "bright_blue", "bold": True}, "O": {"fg": "yellow", "bold": True}}
"""Blue and yellow are told apart by nearly every eye; the letters differ in any case."""


def draw(
    position: Position, notes: Mapping[int, str], starred: Collection[int] = (), bracketed: int | None = None
) -> str:
    """The board with its rows and columns named, notes in empty cells, a star behind some cells, one in brackets.

    A hole is blank, and a row or column of nothing else has no name.
    """
    game = position.game
    width = max([len(note) for note in notes.values()] + [len(column_name(game.columns - 1))]) + 3
    label = len(str(game.rows)) + 1
    named = {square % game.columns for square in game.squares}
    names = (column_name(column) if column in named else "" for column in range(game.columns))
    lines = [" " * (label + 2) + "".join(f"{name:{width}}" for name in names).rstrip()]
    for row in range(game.rows):
        drawn, number = " ", ""
        for square in range(row * game.columns, (row + 1) * game.columns):
            cell = game.cells_by_square.get(square)
            if cell is None:
                drawn += " " * width
                continue
            number = str(row + 1)
            text = _cell(position, cell, notes.get(cell, "."), cell in starred)
            tail = "]" if cell == bracketed else "*" if cell in starred else ""
            drawn = (drawn[:-1] + "[" if cell == bracketed else drawn) + text + tail
            drawn += " " * (width - len(click.unstyle(text)) - len(tail))
        lines.append(f"{number:>{label}} {drawn}".rstrip())
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
    cells = position.game.cells_by_name
    return {cells[move.move]: verdict(move, exact=analysis.exact) for move in analysis.moves}


def verdict(move: Move, *, exact: bool) -> str:
    """What a move leads to, as short as can be: `+3`, `=`, `-4`, or `?` if that is not known."""
    if move.plies is None:
        return "=" if exact else "?"
    return f"{'+' if move.score > 0 else '-'}{move.plies}"


def _cell(position: Position, cell: int, note: str, starred: bool) -> str:
    mark = "X" if position.x >> cell & 1 else "O" if position.o >> cell & 1 else None
    looks = _LOOKS[mark] if mark else {"bold": True} if starred else {"dim": True}
    return click.style(mark or note, **looks)
