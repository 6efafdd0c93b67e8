"""Draw a board as text that is readable without colour, with what each move leads to.

        a    b    c
     1  X    X    +1*
     2  O    O    =
     3  -2   -2   -2

Verdicts are for the side to move: `+n` wins in n plies, `=` draws, `-n` loses in n plies. In games that are counted,
`+n` wins by n and `-n` loses by n. Boards too large to solve have other notes (oracle/cli/large.py).
"""

from collections.abc import Collection, Mapping
from typing import Any

import click

from oracle.answers import Analysis, Move
from oracle.cli.large import Notes, is_large, notes_of
from solver.games.board import BoardGame, BoardPosition, cells_of, column_name
from solver.games.score import MARGIN

_FIRST, _SECOND = {"fg": "bright_blue", "bold": True}, {"fg": "yellow", "bold": True}
_RED, _GREEN = {"fg": "bright_red", "bold": True}, {"fg": "green", "underline": True}
_THIRD, _FOURTH = {"fg": "bright_magenta", "bold": True}, {"fg": "cyan", "bold": True}
LOOKS = {"X": _FIRST, "O": _SECOND, "Z": _THIRD, "T": _FOURTH, "R": _RED, "G": _GREEN}
"""Blue and yellow are safe for the colour-blind; red and green are not, so one is bold and the other underlined. The
letters differ anyway."""


COLUMNS = 80
"""How wide a terminal is."""


def draw(
    position: BoardPosition, notes: Mapping[int, str], starred: Collection[int] = (), bracketed: int | None = None,
    marks: str = "", large: Notes | None = None,
) -> str:  # fmt: skip
    """Return a position's board with notes in empty cells, some cells starred, one in brackets.

    `marks` are those of the side that began and the other, if they are not the game's own.
    """
    marks = marks or position.game.marks
    marked = dict.fromkeys(cells_of(position.x), marks[0]) | dict.fromkeys(cells_of(position.o), marks[1])
    return draw_cells(position.game, marked, notes, starred, bracketed, large)


def draw_cells(
    game: BoardGame[Any], marked: Mapping[int, str], notes: Mapping[int, str], starred: Collection[int] = (),
    bracketed: int | None = None, large: Notes | None = None,
) -> str:  # fmt: skip
    """Return a board with its rows and columns named, marks in filled cells and notes in empty ones.

    Holes are blank, and a row or column of holes has no name. `large` has the notes of a large board instead of the
    others.
    """
    texts, stars, promising, signs = large or Notes(notes, frozenset(starred))
    label = len(str(game.rows)) + 1
    width = _width(game.columns, label, texts)
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
            text = _cell(marked.get(cell), texts.get(cell, "."), cell in stars or cell == promising)
            around = "[]" if cell == bracketed else "()" if cell == promising else ""
            tail = around[1:] if cell == bracketed else "*" if cell in stars else signs.get(cell, "") + around[1:]
            room = width - len(click.unstyle(text))
            drawn = drawn[:-1] + around[0] if around and drawn.endswith(" ") else drawn
            drawn += f"{text}{tail[:room]:{room}}"
        lines.append(f"{number:>{label}} {drawn}".rstrip())
    return "\n".join(lines)


def draw_verdicts(position: BoardPosition, analysis: Analysis) -> str:
    """Return the board with each move's verdict, the best ones starred; or with the lines that ended the game."""
    if analysis.over:
        return draw(position, {}, position.ending())
    if is_large(analysis):
        return draw(position, {}, large=notes_of(analysis))
    return draw(position, verdicts(analysis), [move.cell for move in analysis.moves if move.best])


def legend(scale: str) -> str:
    """Return what verdicts mean, in words."""
    return (
        "+n wins by n, = draws, -n loses by n"
        if scale == MARGIN
        else "+n wins in n plies, = draws, -n loses in n plies"
    )


def verdicts(analysis: Analysis) -> dict[int, str]:
    """Return what claiming each empty cell leads to."""
    return {move.cell: verdict(move, analysis.scale) for move in analysis.moves}


def verdict(move: Move, scale: str) -> str:
    """Return what a move leads to, in short: `+3`, `=`, `-4`, or `?` if it is not settled."""
    if not move.score:
        return "?" if move.score is None else "="
    return f"{'+' if move.score > 0 else '-'}{abs(move.score) if scale == MARGIN else move.plies}"


def _width(columns: int, label: int, notes: Mapping[int, str]) -> int:
    """Return how wide a cell is drawn: roomy, unless a terminal is wide enough only for less."""
    longest = max([len(note) for note in notes.values()] + [len(column_name(columns - 1))])
    for width in (longest + 3, longest + 2, max(3, longest + 1)):
        if label + 1 + width * columns <= COLUMNS:
            return width
    return longest + 3


def _cell(mark: str | None, note: str, starred: bool) -> str:
    looks = LOOKS[mark] if mark else {"bold": True} if starred else {"dim": True}
    return click.style(mark or note, **looks)
