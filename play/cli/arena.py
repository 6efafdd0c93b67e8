"""`ttt4-play arena`: let players meet, and report the results."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import comb
from typing import Any

import click

from oracle.cli.options import live_option, seconds_given, time_option
from play.cli.options import SIDE_OPTIONS, further_sides, game_option, player_options
from play.players.player import SECONDS_A_MOVE, read_player
from play.players.roster import Roster
from play.terminal.talk import say
from solver.cli.console import command_errors, store_option
from solver.games.board_rules import BoardRules
from solver.games.rules import Rules


@click.command()
@game_option
@click.option("--x", metavar="PLAYER", help="Who plays X, or the first side.")
@click.option("--o", metavar="PLAYER", help="Who plays O, or the second side.")
@further_sides
@click.option("--all", "everybody", metavar="PLAYERS", help="Three or more, joined by commas: all play all.")
@click.option("--games", type=click.IntRange(1), help="Games of a meeting.  [default: 100, for three sides 102]")
@click.option("--swap", is_flag=True, help="Change sides after every game.")
@click.option("--limit", type=click.FloatRange(0, 86_400, min_open=True), default=SECONDS_A_MOVE,
              callback=seconds_given, show_default=True, metavar="SECONDS",
              help="How long a player may think before it forfeits the game.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--traceback", is_flag=True, help="Show where the code of players that forfeit fails.")
@click.option("--seed", default="1", show_default=True, help="Random seed: the same seed gives the same games.")
@store_option
@live_option
@time_option
@command_errors
def arena(
    rules: Rules[Any], x: str | None, o: str | None, z: str | None, t: str | None, everybody: str | None,
    games: int | None, swap: bool, limit: float, as_json: bool, traceback: bool, seed: str, store: str | None,
    live: bool, seconds: float,
) -> None:  # fmt: skip
    """Play many games between players and report the results.

    PLAYER is a name as for ttt4-play, or your own as MODULE:NAME, where NAME takes rules and a seed and returns an
    object whose choose(state) returns a move. MODULE may be in the current folder.

    Exit code 1 means that every game was forfeited.
    """
    from play.arena import meet, round_robin
    from play.arena.tables import cross_table, result_table, tracebacks

    sides = len(rules.sides)
    seated = player_options(rules, x, o, z, t)
    names = _split(everybody) if everybody else [name or "" for name in seated]
    if bool(everybody) == any(seated) or not all(names) or len(names) < sides:
        count, options = ("two", "--x and --o") if sides == 2 else (f"{sides}", f"{', '.join(SIDE_OPTIONS[:sides])}")
        raise click.UsageError(f"name {count} players with {options}, or several with --all A,B,C")
    if len(set(names)) < len(names) and everybody:
        raise click.UsageError("--all names a player twice")
    for name in names:
        if read_player(name).kind == "human":
            raise click.UsageError("a human can play only at the terminal: name another player")
    if games is None:
        games = -(-100 // sides) * sides
    elif sides > 2 and (swap or everybody) and games % sides:
        raise click.UsageError(f"--games {games} is no multiple of {sides}, so not all would play each side as often")
    meetings = comb(len(names), sides)
    with Roster(rules, store, live=live, seconds=seconds) as roster, _progress(games * meetings) as tick:
        for name in names:
            roster.player(name, seed)  # so that a wrong name is refused before the first game
        roster.ready()
        if isinstance(rules, BoardRules):
            roster.oracle()  # so that a missing store is reported at once
        if everybody:
            met = round_robin(roster, names, games, seed=seed, seconds=limit, after_game=tick)
        else:
            met = [meet(roster, names, games, swap=swap, seed=seed, seconds=limit, after_game=tick)]
    if as_json:
        click.echo(json.dumps({"game": rules.name, "seed": seed, "meetings": [each.as_dict() for each in met]}))
    else:
        say(cross_table(names, met) if everybody else result_table(met[0], rules.sides, swap=swap))
    if traceback:
        click.echo(tracebacks(met), err=True)
    if all(each.all_forfeited for each in met):
        sys.exit(1)


def _split(names: str) -> list[str]:
    """Return names that are joined by commas, but not those between quotes: 'random,gomocup:a --game "6,6,4"'."""
    return [name.strip() for name in re.split(r""",(?=(?:[^"]*"[^"]*")*[^"]*$)""", names)]


@contextmanager
def _progress(games: int) -> Iterator[Callable[[], None]]:
    """Yield what to call after each game: a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=games, label="games", file=sys.stderr) as bar:
        yield lambda: bar.update(1)
