"""What every command shares: how an error ends it, and how progress is shown.

Standard output is for data, standard error for talk.
"""

import functools
import os
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

import click

from solver.errors import Ttt4Error
from solver.game import DEFAULT_GAME, Game, parse_game, require_solvable
from solver.progress import Progress

INTERRUPTED = 130

_FORESEEN = 0.02
"""From what share of the work on it can be said how long the rest takes: the first plies go slowly."""


class Refusal(click.ClickException):
    """An error of ours on its way out of a command: one line, and its own exit code."""

    def __init__(self, error: Ttt4Error) -> None:
        """Carry the error's message and code."""
        super().__init__(str(error))
        self.exit_code = error.exit_code  # type: ignore[misc]  # click declares it for the class


class GameType(click.ParamType[Game]):
    """A game's notation, such as 4,4,4, as an option's value."""

    name = "R,C,K"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Game:
        """The game that was named, if it is one that a store can be of."""
        try:
            game = value if isinstance(value, Game) else parse_game(value)
            require_solvable(game)
            return game
        except Ttt4Error as error:
            raise Refusal(error) from error


game_option = click.option(
    "--game", type=GameType(), default=DEFAULT_GAME, show_default=True,
    help="Rows, columns, how many in a row, at most 25 cells. In 3,3,3,misere whoever completes a line loses.",
)  # fmt: skip
store_option = click.option(
    "--store", type=click.Path(), help="The store's path, instead of the usual place (or set TTT4_STORE)."
)


def command_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Make a refusal one line on standard error and its exit code, and Ctrl-C one line and 130."""

    @functools.wraps(command)
    def guarded(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except Ttt4Error as error:
            raise Refusal(error) from error
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)  # whoever reads has read enough
        except OSError as error:
            raise Refusal(Ttt4Error(f"the system refused: {error.strerror or error}")) from error

    return guarded


class ProgressLine:
    """Progress on standard error: one line that is drawn over on a terminal, else a line a phase."""

    def __init__(self) -> None:
        """Start the clock."""
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._start = self._drawn = monotonic()
        self._phase = ""
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Show how far work has come."""
        now = monotonic()
        if progress.phase != self._phase:
            self._phase, self._start = progress.phase, now
            if not self._terminal:
                click.echo(f"{progress.phase}...", err=True)
        elif now - self._drawn < 0.1:
            return
        self._drawn = now
        if self._terminal:
            self._draw(_describe(progress, now - self._start))

    def clear(self) -> None:
        """Take the line away."""
        if self._terminal and self._width:
            self._draw("")

    def _draw(self, text: str) -> None:
        click.echo(f"\r{text:{self._width}}" + ("" if text else "\r"), nl=False, err=True)
        self._width = len(text)


def _describe(progress: Progress, seconds: float) -> str:
    if not progress.total:
        return f"{progress.phase}..."
    share = progress.done / progress.total
    bar = "#" * int(20 * share)
    rate = progress.done / seconds / 1e6 if seconds > 0 else 0.0
    where = f"{progress.phase} [{bar:20}] {share:4.0%}  ply {progress.ply:2}"
    if share < _FORESEEN:
        return f"{where}  {rate:.1f} million/s"[:79]
    left = round((progress.total - progress.done) * seconds / progress.done)
    hours, minutes = left // 3600, left // 60 % 60
    wait = f"{hours} h {minutes} min" if hours else f"{minutes} min" if left >= 120 else f"{left} s"
    return f"{where}  {rate:.1f} million/s  {wait} left"[:79]
