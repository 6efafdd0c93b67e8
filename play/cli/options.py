"""The options that the subcommands of ttt4-play share."""

from typing import Any

import click

from solver.cli.console import Refusal
from solver.errors import Ttt4Error
from solver.games.board import DEFAULT_GAME
from solver.games.registry import find_game
from solver.games.rules import Rules


class RulesType(click.ParamType[Rules[Any]]):
    """A game's notation, such as 4,4,4, fano or MODULE:NAME, as an option's value."""

    name = "GAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Rules[Any]:
        """Return the rules of the game."""
        try:
            return find_game(value) if isinstance(value, str) else value
        except Ttt4Error as error:
            raise Refusal(error) from error


game_option = click.option(
    "--game", "rules", type=RulesType(), default=DEFAULT_GAME, show_default=True,
    help="Rows, columns and how many in a row, a game's name or file.toml, duel or duel,R,C, or MODULE:NAME. "
    "In 3,3,3,misere completing a line loses.",
)  # fmt: skip
own_game_option = click.option(
    "--game", "rules", type=RulesType(), help="Only for a game of your own, MODULE:NAME, which a file cannot load."
)
seed_option = click.option("--seed", help="Random seed.")
