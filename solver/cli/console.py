"""What every command shares: its options, and how an error ends it.

Standard output is for data, standard error for talk.
"""

import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import click

from solver.advice import with_advice
from solver.cli.signals import ending, interruptible
from solver.cli.streams import reader_left
from solver.errors import Ttt4Error, refusal_of
from solver.games.board import DEFAULT_GAME, BoardGame, require_solvable
from solver.games.notation import parse_game
from solver.text import printable

CUT_OFF = 128 + signal.SIGPIPE
"""The exit code of a command whose reader left before it was done."""


class Refusal(click.ClickException):
    """An error of ours on its way out of a command: one line, and its own exit code."""

    def __init__(self, error: Ttt4Error) -> None:
        """Carry the error's message, what to type about it, and its exit code."""
        super().__init__(printable(with_advice(error)))
        self.exit_code = error.exit_code  # type: ignore[misc]  # click declares it for the class


class GameType(click.ParamType[BoardGame[Any]]):
    """A game's notation, such as 4,4,4 or fano, as an option's value."""

    name = "GAME"

    def __init__(self, *, solvable: bool = True) -> None:
        """Take any game, or only those that can be solved."""
        self.solvable = solvable

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> BoardGame[Any]:
        """Return the game that was named."""
        try:
            game = value if isinstance(value, BoardGame) else parse_game(value)
            if self.solvable:
                require_solvable(game)
            return game
        except Ttt4Error as error:
            raise Refusal(error) from error


game_option = click.option(
    "--game", type=GameType(), default=DEFAULT_GAME, show_default=True,
    help="Rows, columns, how many in a row (at most 32 cells), a game's name or file.toml, or duel,R,C. "
    "In 3,3,3,misere completing a line loses.",
)  # fmt: skip
store_option = click.option(
    "--store",
    type=click.Path(),
    help="The store, or a folder of stores, instead of the usual places (or set TTT4_STORE).",
)


def plain_where_asked() -> None:
    """Drop colour if NO_COLOR is set or the terminal has none."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        click.get_current_context().color = False


def command_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Make a refusal one line on standard error and its exit code, and a signal one line and 129, 130 or 143."""

    @functools.wraps(command)
    def guarded(*arguments: Any, **options: Any) -> None:
        try:
            with interruptible(), warnings.catch_warnings():
                warnings.showwarning = _show_warning
                command(*arguments, **options)
        except Ttt4Error as error:
            raise Refusal(error) from error
        except KeyboardInterrupt as error:
            line, code = ending(error)
            click.echo(line, err=True)
            sys.exit(code)
        except Exception as error:
            if isinstance(error, BrokenPipeError) and reader_left():
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(0)  # the results are there, and the reader has read enough of them
            if (refusal := refusal_of(error)) is None:
                raise
            raise Refusal(refusal) from error

    return guarded


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    click.echo(printable(str(message)), err=True)
