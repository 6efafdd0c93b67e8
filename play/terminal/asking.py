"""Asking a person for a line, and what a line names: the same on a terminal, through a pipe, and on a screen."""

import sys
from collections.abc import Collection
from contextlib import suppress

from play.match import MatchError
from play.terminal.talk import say, say_wrapped
from play.words import sentence
from solver.errors import Ttt4Error
from solver.games.cell_rules import Cells
from solver.games.wide import WideGame
from solver.text import shown

LEAVING = ("q", "exit")
"""What people type to leave, besides `quit`."""


_LONGEST = 10_000


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
        line = input(prompt)
    except EOFError:
        say("")
        raise Leave from None
    except UnicodeDecodeError:
        say_wrapped("That could not be read: write letters and digits.")
        return ""
    if len(line) > _LONGEST:
        say_wrapped(f"That is too long: write a move, or a command of at most {_LONGEST:,} letters.")
        return ""
    return line.strip()


def command_in(line: str, commands: Collection[str], with_words: Collection[str]) -> tuple[str, str] | None:
    """Return the command that a line names and the words after it, if it names one.

    Raise MatchError if there are words after a command that takes none.
    """
    word, _, rest = line.partition(" ")
    name, rest = "quit" if word.lower() in LEAVING else word.lower(), rest.strip()
    if name not in commands:
        return None
    if rest and name not in with_words:
        raise MatchError(f"{name} takes no words, such as {shown(rest, 24)}")
    return name, rest


def not_understood(line: str, commands: Collection[str], error: Ttt4Error) -> str:
    """Return what to say of a line that is neither a command nor, as an error says, a move."""
    from difflib import get_close_matches  # only now: most lines are right

    word = line.split()[0].lower()
    near = get_close_matches(word, commands, 1, 0.6) if word.isalpha() else []
    if near:
        return f"No command {shown(word, 24)}: did you mean {near[0]!r}?"
    return f"{sentence(str(error))} Or type help."


def how_to_move(game: Cells) -> str:
    """Return how a move is written: `A move is c3 or 3 3`."""
    cell = game.middle if isinstance(game, WideGame) else game.cells // 2
    row, column = game.place(cell)
    return f"A move is {game.cell_name(cell)} or {row + 1} {column + 1}"
