"""`ttt4-play`: play in the terminal, review, replay and resume games, and let players meet in an arena."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from click.core import ParameterSource

from oracle.cli.options import live_option, searching_live, seconds_given, time_option
from oracle.oracle import QUICK_CELLS
from play.kept import Kept, kept_games, last_kept, new_files
from play.match import Match
from play.picture import picture
from play.players.player import BEST_LEVEL, SECONDS_A_MOVE, may_resume, read_player
from play.players.roster import Roster, lines_of
from play.records import Record, load_record, with_first
from play.terminal.prompt import Prompt
from play.terminal.talk import review_lines, say
from solver import __version__
from solver.cli.console import Refusal, command_errors, plain_where_asked, store_option
from solver.errors import Ttt4Error
from solver.folders import named_store, store_path
from solver.games.line_rules import LineRules
from solver.games.lines import DEFAULT_GAME, SOLVABLE_CELLS
from solver.games.registry import find_game
from solver.games.rules import Rules, set_up


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
    help="Rows, columns and how many in a row, a game's name or file.toml, or MODULE:NAME. "
    "In 3,3,3,misere completing a line loses.",
)  # fmt: skip
own_game_option = click.option(
    "--game", "rules", type=RulesType(), help="Only for a game of your own, MODULE:NAME, which a file cannot load."
)
seed_option = click.option("--seed", help="Random seed.")


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@game_option
@click.option("--x", default="human", show_default=True, metavar="PLAYER", help="Who plays X, or the first side.")
@click.option("--o", metavar="PLAYER", help="Who plays O, or the second side.  [default: oracle]")
@click.option("--level", type=click.IntRange(0, BEST_LEVEL), help="The oracle's level, 0 (random) to 10 (perfect).")
@click.option("--first", type=click.Choice(["X", "O"], case_sensitive=False), help="Who begins.  [default: X]")
@click.option("--board", help="The board to start from, such as X.../.O../..../.... .")
@seed_option
@store_option
@live_option
@time_option
@click.version_option(__version__, prog_name="ttt4-play")
@click.pass_context
@command_errors
def main(
    context: click.Context, rules: Rules[Any], x: str, o: str | None, level: int | None, first: str | None,
    board: str | None, seed: str | None, store: str | None, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Play 4x4 tic-tac-toe, or another game, in the terminal: by default you are X and the oracle is O.

    PLAYER is human, random, rules (win, block, then the middle), search (looks ahead, without a store),
    oracle (never errs), oracle:0 to oracle:10, first (the oracle without its traps), or your own MODULE:NAME.

    Every game is kept as it goes: ttt4-play resume continues one that was interrupted.
    """
    plain_where_asked()
    if context.invoked_subcommand:
        _refuse_options_before(context)
        return
    lines = isinstance(rules, LineRules)
    names = dict(zip(rules.sides, (x, o or ("oracle" if lines else "random")), strict=False))
    if level is not None:
        levelled = {side: f"oracle:{level}" if name == "oracle" else name for side, name in names.items()}
        if levelled == names:
            raise click.UsageError("--level is the oracle's, and the oracle does not play: add --o oracle")
        names = levelled
    if first:
        rules = with_first(rules, first)
    match = Match(rules, set_up(rules, board) if board is not None else None)
    record = Record(match, {**names, "Date": time.strftime("%Y-%m-%d")})
    _play(record, new_files(), seed, store, live, seconds)


@main.command()
@click.argument("file", required=False, type=click.Path())
@own_game_option
@seed_option
@store_option
@live_option
@time_option
@command_errors
def resume(
    file: str | None, rules: Rules[Any] | None, seed: str | None, store: str | None, live: bool, seconds: float
) -> None:
    """Continue the game in FILE, or the last one that did not end."""
    path = file or last_kept(rules, to_resume=True)
    record = load_record(path, rules)
    for side in record.match.rules.sides:
        name = record.tags.setdefault(side, "human")
        if not may_resume(name):
            raise Ttt4Error(f"{path!r} was played by {name!r}: a file cannot make this program load code")
    date = f" of {record.tags['Date']}" if "Date" in record.tags else ""
    say(f"Continuing the game{date} in {path}.")
    _play(record, new_files(path), seed, store, live, seconds)


@main.command()
@click.argument("file", required=False, type=click.Path())
@own_game_option
@store_option
@live_option
@time_option
@command_errors
def review(file: str | None, rules: Rules[Any] | None, store: str | None, live: bool, seconds: float) -> None:
    """Grade every move of the game in FILE, or of the last game, by exact scores, and name the turning point."""
    from play.review import review_match

    match = load_record(file or last_kept(rules), rules).match
    lines_of(match.rules, "an oracle that could review it")
    with Roster(match.rules, store, live=live, seconds=seconds) as roster:
        say(f"{picture(match.rules, match.state)}\n")
        for line in review_lines(review_match(roster.oracle(), match), every=True):
            say(line)


@main.command()
@click.argument("file", required=False, type=click.Path())
@own_game_option
@click.option("--json", "as_json", is_flag=True, help="The record as one JSON object.")
@command_errors
def replay(file: str | None, rules: Rules[Any] | None, as_json: bool) -> None:
    """Step through the game in FILE, or the last game: Enter for the next move, b for the previous, q to leave."""
    record = load_record(file or last_kept(rules), rules)
    if as_json:
        click.echo(json.dumps(record.as_dict()))
        return
    stepping = sys.stdin.isatty() and sys.stdout.isatty()
    at = 0
    while at <= len(record.match.moves):
        say(_step_of(record.match, at))
        if not stepping:
            at += 1
            continue
        try:
            word = input("Enter, b or q> ").strip().lower()
        except EOFError:
            return
        if word.startswith("q"):
            return
        at = max(at - 1, 0) if word.startswith("b") else at + 1
    ending = f" ({record.match.outcome})" if record.match.given_up else ""
    say(f"Result {record.result}{ending}.")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@command_errors
def games(as_json: bool) -> None:
    """List the games that were kept, the last one first."""
    found = False
    for kept in kept_games():
        found = True
        click.echo(json.dumps(_kept_dict(kept)) if as_json else _kept_line(kept))
    if not found and not as_json:
        click.echo("No game is kept yet: ttt4-play begins one.", err=True)


@main.command()
@game_option
@click.option("--x", metavar="PLAYER", help="Who plays X, or the first side.")
@click.option("--o", metavar="PLAYER", help="Who plays O, or the second side.")
@click.option("--all", "everybody", metavar="PLAYERS", help="Three or more, joined by commas: all play all.")
@click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="Games between two players.")
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
    rules: Rules[Any], x: str | None, o: str | None, everybody: str | None, games: int, swap: bool, limit: float,
    as_json: bool, traceback: bool, seed: str, store: str | None, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Play many games between players and report the results.

    PLAYER is a name as for ttt4-play, or your own as MODULE:NAME, where NAME takes rules and a seed and returns an
    object whose choose(state) returns a move. MODULE may be in the current folder.

    Exit code 1 means that every game was forfeited.
    """
    from play.arena import meet, round_robin
    from play.arena.tables import cross_table, result_table, tracebacks

    names = [name.strip() for name in everybody.split(",")] if everybody else [x or "", o or ""]
    if bool(everybody) == bool(x or o) or not all(names) or len(names) < 2:
        raise click.UsageError("name two players with --x and --o, or several with --all A,B,C")
    if len(set(names)) < len(names) and everybody:
        raise click.UsageError("--all names a player twice")
    for name in names:
        if read_player(name).kind == "human":
            raise click.UsageError("a human can play only at the terminal: name another player")
    meetings = len(names) * (len(names) - 1) // 2
    with Roster(rules, store, live=live, seconds=seconds) as roster, _progress(games * meetings) as tick:
        for name in names:
            roster.player(name, seed)  # so that a wrong name is refused before the first game
        if isinstance(rules, LineRules) and not live and roster.oracle().source == "search":
            _say_searching(rules, store)
        if everybody:
            met = round_robin(roster, names, games, seed=seed, seconds=limit, after_game=tick)
        else:
            met = [
                meet(roster, (names[0], names[1]), games, swap=swap, seed=seed, seconds=limit, after_game=tick)
            ]  # fmt: skip
    if as_json:
        click.echo(json.dumps({"game": rules.name, "seed": seed, "meetings": [each.as_dict() for each in met]}))
    else:
        say(cross_table(names, met) if everybody else result_table(met[0], rules.sides, swap=swap))
    if traceback:
        click.echo(tracebacks(met), err=True)
    if all(each.all_forfeited for each in met):
        sys.exit(1)


@contextmanager
def _progress(games: int) -> Iterator[Callable[[], None]]:
    """Yield what to call after each game: a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=games, label="games", file=sys.stderr) as bar:
        yield lambda: bar.update(1)


def _play(
    record: Record, files: Iterator[str | None], seed: str | None, store: str | None, live: bool, seconds: float
) -> None:
    rules = record.match.rules
    with Roster(rules, store, live=live, seconds=seconds) as roster:
        if isinstance(rules, LineRules) and not live:
            if not named_store(store):
                _offer_store(rules, store)
            elif rules.game.cells <= SOLVABLE_CELLS:
                roster.oracle()  # so that a store that is missing is reported at once
        Prompt(roster, record, files, seed if seed is not None else time.time_ns()).run()


def _offer_store(rules: LineRules, store: str | None) -> None:
    """Where there is no store, offer to build it if that takes only seconds; else say what would."""
    game, path = rules.game, store_path(rules.game)
    if os.path.exists(path) or game.cells > SOLVABLE_CELLS:
        return
    if game.cells <= QUICK_CELLS and sys.stdin.isatty() and sys.stdout.isatty():
        try:
            answer = input(f"There is no store for {game.name} yet. Build it now, in a few seconds? [Y/n] ")
        except EOFError:
            answer = "n"
        if answer.strip().lower() in ("", "y", "yes"):
            import subprocess  # only now: this is done once

            command = [sys.executable, "-c", "from solver.cli.main import run; run()", "build", "--game", game.notation]
            subprocess.run([*command, "--store", path], stdout=subprocess.DEVNULL, check=False)
    if not os.path.exists(path):
        _say_searching(rules, store)


def _say_searching(rules: LineRules, store: str | None) -> None:
    if rules.game.cells <= SOLVABLE_CELLS:
        click.echo(searching_live(rules.game, store_path(rules.game, store)), err=True)


def _refuse_options_before(context: click.Context) -> None:
    """Raise UsageError if an option stands before a subcommand, where it would have no effect."""
    name = context.invoked_subcommand or ""
    accepted = {option for parameter in main.commands[name].params for option in parameter.opts}
    for option in context.command.params:
        if option.name and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            given = option.opts[0]
            advice = f"write it behind {name}" if given in accepted else f"{name} does not have it: leave it out"
            raise click.UsageError(f"{given} stands before {name}: {advice}")


def _step_of(match: Match[Any], at: int) -> str:
    """Return the state after so many moves, drawn, and the move that led to it."""
    rules, who = match.rules, ""
    if at:
        who = f"{rules.to_move(match.states[at - 1])} plays {rules.write(match.moves[at - 1])}. "
    return f"{picture(rules, match.states[at])}\n\nMove {at} of {len(match.moves)}. {who}\n"


def _kept_line(kept: Kept) -> str:
    played = time.strftime("%Y-%m-%d %H:%M", time.localtime(kept.played))
    if kept.own_game_tags:
        tags = kept.own_game_tags
        return f"{played}  {tags['Game']:10} your own game {tags.get('Result', '')}\n  {kept.path}"
    if kept.record is None:
        return f"{played}  cannot be read\n  {kept.problem}"
    match, tags = kept.record.match, kept.record.tags
    sides = ", ".join(f"{side} {tags.get(side, 'human')}" for side in match.rules.sides)
    count = f"{len(match.moves)} move{'s' * (len(match.moves) != 1)}"
    return f"{played}  {match.rules.name:10} {sides:26} {count:9} {kept.record.result}\n  {kept.path}"


def _kept_dict(kept: Kept) -> dict[str, Any]:
    fields: dict[str, Any] = {"file": kept.path, "played": int(kept.played)}
    if kept.own_game_tags:
        return fields | {"game": kept.own_game_tags["Game"], "result": kept.own_game_tags.get("Result")}
    if kept.record is None:
        return fields | {"error": kept.problem}
    match, tags = kept.record.match, kept.record.tags
    players = {side: tags.get(side, "human") for side in match.rules.sides}
    return fields | {
        "game": match.rules.name, "players": players, "moves": len(match.moves), "result": kept.record.result,
        "can_go_on": kept.can_go_on,
    }  # fmt: skip
