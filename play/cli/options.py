"""The options that the subcommands of ttt4-play share."""

from collections.abc import Callable
from typing import Any, TypeVar

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
    "In 3,3,3,misere completing a line loses; 3p:5,5,4 is for three sides.",
)  # fmt: skip
own_game_option = click.option(
    "--game", "rules", type=RulesType(), help="Only for a game of your own, MODULE:NAME, which a file cannot load."
)
SIDE_OPTIONS = ("--x", "--o", "--z", "--t")
"""The options that name who plays each side, in the order of the sides."""

T = TypeVar("T")


def further_sides(command: Callable[..., T]) -> Callable[..., T]:
    """Add the options that name who plays the sides behind the second."""
    for option, which in (("--t", "T, or the fourth side"), ("--z", "Z, or the third side")):
        command = click.option(option, metavar="PLAYER", help=f"Who plays {which}.")(command)
    return command


def player_options(rules: Rules[Any], *names: str | None) -> list[str | None]:
    """Return who plays each side by the options, in the order of SIDE_OPTIONS; raise UsageError for sides too many."""
    for option, name in zip(SIDE_OPTIONS[len(rules.sides) :], names[len(rules.sides) :], strict=True):
        if name is not None:
            raise click.UsageError(f"{option} has no effect: {rules.name} has {len(rules.sides)} sides")
    return list(names[: len(rules.sides)])


seed_option = click.option("--seed", help="Random seed.")
