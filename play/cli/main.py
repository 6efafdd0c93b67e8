"""`ttt4-play`: begin a game at the prompt, or run a subcommand."""

import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from oracle.cli.options import live_option, time_option
from play.cli.options import further_sides, game_option, player_options, seed_option
from play.cli.starting import opening_of, plain_option, play_record, takes_screen
from play.match import Match
from play.opening import LEVEL, Opening
from play.players.player import BEST_LEVEL, LEVELLED, best_level, is_large, is_multiplayer
from play.records.kept import new_files
from play.records.text import Record, with_first
from solver import __version__
from solver.cli.console import command_errors, plain_where_asked, store_option
from solver.games.board_rules import BoardRules
from solver.games.cell_rules import CellRules
from solver.games.rules import Rules, set_up

_MODULES = {
    "serve": "serve", "resume": "recorded", "review": "recorded", "replay": "recorded", "games": "recorded",
    "arena": "arena", "engine": "engine", "puzzle": "puzzle", "grade": "lab", "train": "lab", "curve": "lab",
    "matches": "matches",
}  # fmt: skip
"""The modules of the subcommands, which have their names."""


class Subcommands(click.Group):
    """Subcommands that are loaded when they are named, so that a game does not wait for them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return sorted(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one of them, loaded."""
        if cmd_name not in _MODULES:
            return None
        command: click.Command = getattr(import_module(f"play.cli.{_MODULES[cmd_name]}"), cmd_name)
        return command


@click.group(cls=Subcommands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@game_option
@click.option("--x", default="human", show_default=True, metavar="PLAYER", help="Who plays X, or the first side.")
@click.option("--o", metavar="PLAYER", help="Who plays O, or the second side.  [default: oracle]")
@further_sides
@click.option("--level", type=click.IntRange(0, BEST_LEVEL), help="The opponent's level, 0 (random) to 10 (best).")
@click.option("--first", metavar="X|O", help="Who begins.  [default: X]")
@click.option("--board", help="The board to start from, such as X.../.O../..../.... .")
@seed_option
@plain_option
@store_option
@live_option
@time_option
@click.version_option(__version__, prog_name="ttt4-play")
@click.pass_context
def main(
    context: click.Context, rules: Rules[Any], x: str, o: str | None, z: str | None, t: str | None, level: int | None,
    first: str | None, board: str | None, seed: str | None, plain: bool, store: str | None, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Play 4x4 tic-tac-toe, or another game, in the terminal: by default you are X and the oracle is O.

    PLAYER is human, random, rules (win, block, then the middle), search (looks ahead, without a store),
    oracle (never errs), oracle:0 to oracle:10, first (the oracle without its traps), run:FOLDER (a trained learner),
    gomocup:PATH (a program that speaks the Gomocup protocol), or your own MODULE:NAME.
    Also mcts:N (N random games a move); search:0 to search:10 in the duel, and on boards of lines beyond 27 cells;
    and priority (captures first) in the duel.

    Every game is kept as it goes: ttt4-play resume continues one that was interrupted.
    """
    plain_where_asked()
    if context.invoked_subcommand:
        _refuse_options_before(context)
    else:
        opening = opening_of(store, live, seconds, seed)
        names = player_options(rules, x, o, z, t)
        _begin(rules, names, level, first, board, opening, takes_screen(rules, plain), not _chosen(context))


@command_errors  # and not main, which ends before a subcommand begins its work
def _begin(
    rules: Rules[Any], given: Sequence[str | None], level: int | None, first: str | None, board: str | None,
    opening: Opening, screen: bool, menu: bool,
) -> None:  # fmt: skip
    opponent = rules.opponent if isinstance(rules, CellRules) else "random"
    names = {side: name or opponent for side, name in zip(rules.sides, given, strict=False)}
    if level is None and given[1] is None and opponent in LEVELLED and best_level(rules) < BEST_LEVEL:
        level = best_level(rules)
    if level is None and given[1] is None and screen and given[0] == "human" and opponent in LEVELLED:
        level = LEVEL  # the prompt's opponent is the best; what is one key away need not be met at first
    if level is not None and is_multiplayer(rules):
        raise click.UsageError(f"--level has no effect: no player of {rules.name} has levels")
    if level is not None:
        by_search = is_large(rules) or (isinstance(rules, BoardRules) and rules.captures)
        levels = LEVELLED if by_search else ("oracle",)
        levelled = {side: f"{name}:{level}" if name in levels else name for side, name in names.items()}
        if levelled == names:
            raise click.UsageError(f"--level is the {opponent}'s, and the {opponent} does not play: add --o {opponent}")
        names = levelled
    if first is not None:
        rules = with_first(rules, first.strip().upper())
    match = Match(rules, set_up(rules, board) if board is not None else None)
    record = Record(match, {**names, "Date": time.strftime("%Y-%m-%d")})
    play_record(record, new_files(), opening, screen=screen, menu=menu)


def _chosen(context: click.Context) -> bool:
    """Tell whether options say what to play."""
    return any(
        context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        for name in ("rules", "x", "o", "z", "t", "level", "first", "board")
    )


def _refuse_options_before(context: click.Context) -> None:
    """Raise UsageError if an option stands before a subcommand, where it would have no effect."""
    name = context.invoked_subcommand or ""
    command = main.get_command(context, name)
    accepted = {option for parameter in command.params for option in parameter.opts} if command else set()
    for option in context.command.params:
        if option.name and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            given = option.opts[0]
            advice = f"put it after {name}" if given in accepted else f"{name} has no option {given}"
            raise click.UsageError(f"{given} before {name} has no effect: {advice}")
