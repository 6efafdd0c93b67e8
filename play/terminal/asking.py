"""Asking a person for a line: the same on a terminal and through a pipe."""

import sys
from contextlib import suppress
from typing import Any

from play.terminal.talk import say, say_wrapped
from solver.games.board import BoardGame

LEAVING = ("q", "exit")
"""What people type to leave, besides `quit`."""


class Leave(Exception):
    """The person wants to leave."""


def let_edit() -> None:
    """Let what is typed on a terminal be edited from here on."""
    if sys.stdin.isatty():
        with suppress(ImportError):  # some Pythons are built without it
            import readline  # noqa: F401 - importing it is what lets input() edit


def read_line(prompt: str) -> str:
    """Return what the person types; raise Leave at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        say("")
        raise Leave from None
    except UnicodeDecodeError:
        say_wrapped("That could not be read: write letters and digits.")
        return ""


def how_to_move(game: BoardGame[Any]) -> str:
    """Return how a move is written: `A move is c3 or 3 3`."""
    row, column = divmod(game.squares[game.cells // 2], game.columns)
    return f"A move is {game.cell_name(game.cells // 2)} or {row + 1} {column + 1}"
