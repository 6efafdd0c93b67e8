"""`ttt4-play puzzle`: find the only move."""

import json
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import click

from oracle.cli.options import live_option, time_option
from oracle.oracle import Oracle
from play.cli.options import game_option, seed_option
from play.cli.starting import has_screen, plain_option
from play.players.roster import lines_of
from solver.cli.console import command_errors, store_option
from solver.games.board import require_solvable
from solver.games.rules import Rules
from solver.text import shown


def _day(context: click.Context, parameter: click.Parameter, value: str | None) -> date | None:
    """Return the day that was named; None if none was."""
    try:
        return None if value is None else date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"no day {shown(value)}: write it as 2026-11-19", context, parameter) from None


@click.command(short_help="Solve puzzles: find the only move.")
@game_option
@click.option("--date", "day", metavar="YYYY-MM-DD", callback=_day, help="A day's puzzle.  [default: today's, UTC]")
@seed_option
@click.option("--outcome", type=click.Choice(["win", "draw"]), help="What the only move has to keep.")
@click.option("--stars", type=click.IntRange(1, 5), help="How hard, from 1 to 5.")
@click.option("--json", "as_json", is_flag=True, help="The puzzle, with its solution, as one JSON object.")
@plain_option
@store_option
@live_option
@time_option
@command_errors
def puzzle(
    rules: Rules[Any], day: date | None, seed: str | None, outcome: str | None, stars: int | None, as_json: bool,
    plain: bool, store: str | None, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Solve puzzles: positions in which only one move wins, or only one holds a draw.

    Every day has its puzzle, and so has every seed. They are found in random games by exact scores.
    """
    from play.puzzles import daily_puzzle, make_puzzle

    if day and seed is not None:
        raise click.UsageError("give one of --date and --seed")
    game = lines_of(rules, "puzzles")
    require_solvable(game)
    with Oracle(game, store, live=live, seconds=seconds) as oracle:
        if seed is not None:
            first = make_puzzle(oracle, seed, outcome=outcome, stars=stars)
        else:
            first = daily_puzzle(oracle, day or datetime.now(UTC).date(), outcome=outcome, stars=stars)
        another = partial(make_puzzle, oracle, outcome=outcome, stars=stars)
        if as_json:
            click.echo(json.dumps(first._asdict()))
        elif has_screen(plain):
            from play.screen.start import solve_on_screen  # only now: a prompt does without

            solve_on_screen(oracle, first, another)
        else:
            from play.terminal.puzzle import PuzzlePrompt  # only now: a screen does without

            PuzzlePrompt(oracle, first, another).run()
