"""What the commands that ask the oracle share: their options, and what they say where no store serves."""

import math

import click

from oracle.oracle import SECONDS
from solver.cli.console import GameType
from solver.folders import build_command
from solver.games.lines import DEFAULT_GAME, SOLVABLE_CELLS, Game


def seconds_given(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """A number of seconds that is one; for options of type FloatRange, which lets `nan` pass."""
    if math.isnan(value):
        raise click.BadParameter("write a number of seconds, 0 or more", context, parameter)
    return value


any_game_option = click.option(
    "--game", type=GameType(solvable=False), default=DEFAULT_GAME, show_default=True,
    help="Rows, columns, how many in a row, or a game's name or file.toml. "
    "In 3,3,3,misere whoever completes a line loses.",
)  # fmt: skip
time_option = click.option(
    "--time", "seconds", type=click.FloatRange(0), default=SECONDS, show_default=True, callback=seconds_given,
    metavar="SECONDS", help="How long a live search may take for an answer.",
)  # fmt: skip
live_option = click.option("--live", is_flag=True, help="Search, even if there is a store.")


def searching_live(game: Game, path: str) -> str:
    """That answers are searched for, as no store is at a path, and how to have one, where one can be."""
    if game.cells > SOLVABLE_CELLS:
        return f"{game.name} is too large for a store: searching live."
    return f"No store at {path!r}: searching live. For answers at once: {build_command(game, path)}"
