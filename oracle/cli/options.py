"""The options that the commands which ask the oracle share."""

import math

import click

from oracle.oracle import SECONDS
from solver.cli.console import GameType
from solver.games.board import DEFAULT_GAME


def seconds_given(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuse `nan`, which options of type FloatRange let pass."""
    if math.isnan(value):
        raise click.BadParameter("write a number of seconds, 0 or more", context, parameter)
    return value


any_game_option = click.option(
    "--game", type=GameType(solvable=False), default=DEFAULT_GAME, show_default=True,
    help="Rows, columns, how many in a row, a game's name or file.toml, or duel,R,C. "
    "In 3,3,3,misere completing a line loses.",
)  # fmt: skip
time_option = click.option(
    "--time", "seconds", type=click.FloatRange(0), default=SECONDS, show_default=True, callback=seconds_given,
    metavar="SECONDS", help="How long a live search may take for an answer.",
)  # fmt: skip
live_option = click.option("--live", is_flag=True, help="Search, even if there is a store.")
