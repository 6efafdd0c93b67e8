"""`ttt4-play`: play in the terminal, review, replay and resume games, and let players meet in an arena."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from click.core import ParameterSource

from oracle.cli.options import any_game_option, live_option, searching_live, seconds_given, time_option
from oracle.oracle import QUICK_CELLS
from play.match import Match
from play.players import BEST_LEVEL, SECONDS_A_MOVE, Cast, may_resume
from play.records import Record, load_record
from play.rules import LineRules
from play.terminal import Terminal, review_lines, say
from solver import __version__
from solver.cli.console import command_errors, plain_where_asked, store_option
from solver.errors import Ttt4Error
from solver.folders import games_folder, named_store
from solver.games.lines import SOLVABLE_CELLS, Game

seed_option = click.option("--seed", help="Whatever is drawn by lot is drawn the same way again.")


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@any_game_option
@click.option("--x", default="human", show_default=True, metavar="PLAYER", help="Who plays X.")
@click.option("--o", default="oracle", show_default=True, metavar="PLAYER", help="Who plays O.")
@click.option("--level", type=click.IntRange(0, BEST_LEVEL), help="The oracle's level, 0 (random) to 10 (perfect).")
@seed_option
@store_option
@live_option
@time_option
@click.version_option(__version__, prog_name="ttt4-play")
@click.pass_context
@command_errors
def main(
    context: click.Context, game: Game, x: str, o: str, level: int | None, seed: str | None, store: str | None,
    live: bool, seconds: float,
) -> None:  # fmt: skip
    """Play 4x4 tic-tac-toe, or a game of its kind, in the terminal: by default X yourself, O the oracle.

    PLAYER is human, random, rules (win, block, then the middle), search (looks ahead, without a store),
    oracle (never errs), oracle:0 to oracle:10, or first (the oracle without its traps).

    Every game is kept as it goes: ttt4-play resume continues one that was broken off.
    """
    plain_where_asked()
    if context.invoked_subcommand:
        _require_defaults(context)
        return
    names = {"X": x, "O": o}
    if level is not None:
        names = {side: f"oracle:{level}" if name == "oracle" else name for side, name in names.items()}
        if names == {"X": x, "O": o}:
            raise click.UsageError("--level is the oracle's, and it does not play: --o oracle")
    record = Record(Match(LineRules(game)), {**names, "Date": time.strftime("%Y-%m-%d")})
    _play(record, _new_files(), seed, store, live, seconds)


@main.command()
@click.argument("file", required=False, type=click.Path())
@seed_option
@store_option
@live_option
@time_option
@command_errors
def resume(file: str | None, seed: str | None, store: str | None, live: bool, seconds: float) -> None:
    """Go on with a game: the one in FILE, or the one that was played last and did not end."""
    path = file or _last(unfinished=True)
    record = load_record(path)
    for side in "XO":
        name = record.tags.setdefault(side, "human")
        if not may_resume(name):
            raise Ttt4Error(f"{path!r} was played by {name!r}, which a file may not make this program load")
    _play(record, _files_after(path), seed, store, live, seconds)


@main.command()
@click.argument("file", required=False, type=click.Path())
@store_option
@live_option
@time_option
@command_errors
def review(file: str | None, store: str | None, live: bool, seconds: float) -> None:
    """Grade every move of the game in FILE, or of the last one, by exact scores, and name the turning point."""
    from play.review import review as reviewed

    record = load_record(file or _last())
    with Cast(record.match.rules.start().position.game, store, live=live, seconds=seconds) as cast:
        say(f"{record.match.rules.drawn(record.match.state)}\n")
        for line in review_lines(reviewed(cast.oracle(), record.match.states), every=True):
            say(line)


@main.command()
@click.argument("file", required=False, type=click.Path())
@command_errors
def replay(file: str | None) -> None:
    """Step through the game in FILE, or the last one: Enter for the next move, b for the one before, q to leave."""
    record = load_record(file or _last())
    match = record.match
    stepping = sys.stdin.isatty() and sys.stdout.isatty()
    at = 0
    while True:
        state = match.states[at]
        who = f"{'OX'[at % 2]} plays {match.rules.write(match.moves[at - 1])}. " if at else ""
        say(f"{match.rules.drawn(state)}\n\nMove {at} of {len(match.moves)}. {who}\n")
        if stepping:
            try:
                word = input("Enter, b or q> ").strip().lower()
            except EOFError:
                word = "q"
            if word.startswith("q"):
                return
            at = max(at - 1, 0) if word.startswith("b") else at + 1
        else:
            at += 1
        if at > len(match.moves):
            say(f"Result {record.result}.")
            return


@main.command()
@any_game_option
@click.option("--x", metavar="PLAYER", help="Who plays X.")
@click.option("--o", metavar="PLAYER", help="Who plays O.")
@click.option("--all", "everybody", metavar="PLAYERS", help="Several, with commas: everybody meets everybody.")
@click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="How often two players meet.")
@click.option("--swap", is_flag=True, help="Change sides after every game.")
@click.option("--limit", type=click.FloatRange(0, 86_400, min_open=True), default=SECONDS_A_MOVE,
              callback=seconds_given, show_default=True, metavar="SECONDS",
              help="How long a player may think before it forfeits the game.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--seed", default="1", show_default=True, help="The same seed gives the same games.")
@store_option
@live_option
@time_option
@command_errors
def arena(
    game: Game, x: str | None, o: str | None, everybody: str | None, games: int, swap: bool, limit: float,
    as_json: bool, seed: str, store: str | None, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Let players meet many times, and count what comes of it.

    PLAYER is a word as for ttt4-play, or one of your own: MODULE:NAME, where NAME takes a game and a seed
    and returns an object whose choose(state) returns the number of the cell to claim. MODULE may be in the
    current folder.
    """
    from play import arena as playing
    from play.standings import cross_table, table

    names = [name.strip() for name in everybody.split(",")] if everybody else [x or "", o or ""]
    if bool(everybody) == bool(x or o) or not all(names) or len(names) < 2:
        raise click.UsageError("name two players with --x and --o, or several with --all A,B,C")
    if len(set(names)) < len(names) and everybody:
        raise click.UsageError("--all names somebody twice")
    meetings = len(names) * (len(names) - 1) // 2
    with Cast(game, store, live=live, seconds=seconds) as cast, _progress(games * meetings) as tell:
        for name in names:
            cast.player(name, seed)
        if cast.oracle().source == "search" and not live and game.cells <= SOLVABLE_CELLS:
            click.echo(searching_live(game, cast.path), err=True)
        if everybody:
            played = playing.round_robin(cast, names, games, seed=seed, seconds=limit, tell=tell)
        else:
            played = [playing.meet(cast, (names[0], names[1]), games, swap=swap, seed=seed, seconds=limit, tell=tell)]
    if as_json:
        click.echo(json.dumps({"game": game.name, "seed": seed, "meetings": [met.as_dict() for met in played]}))
        return
    say(cross_table(names, played) if everybody else table(played[0], swap=swap))


@contextmanager
def _progress(games: int) -> Iterator[Callable[[], None]]:
    """What to call after each game: a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=games, label="games", file=sys.stderr) as bar:
        yield lambda: bar.update(1)


def _play(
    record: Record, files: Iterator[str | None], seed: str | None, store: str | None, live: bool, seconds: float
) -> None:
    game = record.match.rules.start().position.game
    with Cast(game, store, live=live, seconds=seconds) as cast:
        if not live and not named_store(store):
            _offer_a_store(game, cast.path)
        elif not live and game.cells <= SOLVABLE_CELLS:
            cast.oracle()  # so that a store that is not there is told at once
        Terminal(cast, record, files, seed if seed is not None else time.time_ns()).run()


def _offer_a_store(game: Game, path: str) -> None:
    """Where there is none, and it would take but seconds, offer to build it; else say what would."""
    if os.path.exists(path) or game.cells > SOLVABLE_CELLS:
        return
    if game.cells <= QUICK_CELLS and sys.stdin.isatty() and sys.stdout.isatty():
        try:
            answer = input(f"There is no store of {game.name} yet. Build it now, in some seconds? [Y/n] ")
        except EOFError:
            answer = "n"
        if answer.strip().lower() in ("", "y", "yes"):
            import subprocess  # only now: this is done once

            command = [sys.executable, "-c", "from solver.cli.main import run; run()", "build", "--game", game.notation]
            subprocess.run([*command, "--store", path], stdout=subprocess.DEVNULL, check=False)
    if not os.path.exists(path):
        click.echo(searching_live(game, path), err=True)


def _require_defaults(context: click.Context) -> None:
    """Nothing, unless an option of a game stands before a subcommand, where it would go unheard."""
    for option in context.command.params:
        if option.name and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} stands before {context.invoked_subcommand}: write it behind that")


def _new_files() -> Iterator[str | None]:
    """Names for the games to come."""
    folder = games_folder()
    while True:
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{time.monotonic_ns() % 1_000_000:06}.txt"
        yield folder and os.path.join(folder, name)


def _files_after(path: str) -> Iterator[str | None]:
    yield path
    yield from _new_files()


def _last(*, unfinished: bool = False) -> str:
    """The file of the game that was played last, or of the last that can go on."""
    folder = games_folder()
    try:
        files = [entry for entry in os.scandir(folder or "") if entry.name.endswith(".txt")]
    except OSError:
        files = []
    for entry in sorted(files, key=lambda entry: entry.stat().st_mtime_ns, reverse=True):
        try:
            record = load_record(entry.path)
        except Ttt4Error:
            continue
        callable_back = all(may_resume(record.tags.get(side, "human")) for side in "XO")
        if not unfinished or (record.result == "*" and callable_back):
            return entry.path
    wanted = "to go on with" if unfinished else "to look at"
    raise Ttt4Error(f"no game {wanted} was kept: ttt4-play begins one, or name a FILE")
