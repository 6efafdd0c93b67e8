"""`ttt4-play grade`, `train` and `curve`: the lab's commands."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from time import monotonic
from traceback import format_exception
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from oracle.cli.options import live_option, time_option
from play.cli.options import game_option
from play.players.player import PlayerError
from play.players.roster import lines_of
from play.terminal.talk import say
from solver.cli.console import command_errors, store_option
from solver.cli.output import OutputFile, force_option
from solver.games.rules import Rules
from solver.text import printable

if TYPE_CHECKING:
    from play.lab.runs import Run

_MOST = 5_000_000
"""How many positions may be drawn: play/lab/grading.py has the same number, and is not loaded for it."""

_SHOWN_AFTER = 0.5
"""After how many seconds progress is told on a terminal."""

_SAID_AGAIN = 30.0
"""How many seconds pass between two lines elsewhere."""


class PositionsType(click.ParamType[str | int]):
    """`all`, `canonical`, or a number of positions."""

    name = "all|canonical|N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """Return the word or the number."""
        text = str(value)
        if text.isascii() and text.isdigit() and len(text) < 8 and 0 < int(text) <= _MOST:
            return int(text)
        if value in ("all", "canonical"):
            return str(value)
        return self.fail(f"{value!r} is neither all, canonical, nor a number of positions up to {_MOST:,}", param, ctx)


class ShareType(click.ParamType[float]):
    """A share, such as 99.5%."""

    name = "SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share, from 0 to 1."""
        if isinstance(value, float):
            return value
        if re.fullmatch(r"\d{1,3}(\.\d{1,9})?\s*%", value.strip()) and (share := float(value.strip()[:-1])) <= 100:
            return share / 100
        if re.fullmatch(r"0?\.\d{1,9}", value.strip()):
            return float(value)
        return self.fail(f"{value!r} is no share: write 99.5% or 0.995", param, ctx)


def _number_given(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse `nan`, which FloatRange lets pass."""
    if value is not None and not isfinite(value):
        raise click.BadParameter("write a number from 0 to 1", context, parameter)
    return value


@click.command()
@click.argument("player")
@game_option
@click.option("--positions", type=PositionsType(),
              help="Grade the moves in all positions, in one for all that are equal by symmetry, or in N random ones.  "
              "[default: all for players that do the same in equal positions, else 20000]")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--traceback", is_flag=True, help="Show where the player's own code fails.")
@store_option
@live_option
@time_option
@command_errors
def grade(
    player: str, rules: Rules[Any], positions: str | int | None, seed: int, as_json: bool, traceback: bool,
    store: str | None, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Grade a player exactly: what it gives away, and where it errs.

    PLAYER is a name as for ttt4-play, a trained run as run:FOLDER, or your own as MODULE:NAME, which may also have
    chances(x, o) or choose_many(x, o) for arrays of positions.
    """
    game = lines_of(rules, "exact grades")
    from play.lab.grading import Grader
    from play.lab.report import report_of

    try:
        with _talk() as report, Grader(game, store, live=live, seconds=seconds) as grader:
            found = grader.grade(player, positions, seed, report=report)
    except PlayerError as error:
        if traceback and error.__cause__:
            click.echo("".join(format_exception(error.__cause__)), err=True, nl=False)
        raise
    if as_json:
        click.echo(json.dumps(found.as_dict()))
    else:
        say(report_of(found))


@click.command()
@click.option("--player", type=click.Choice(["q", "ntuple"]), default="q", show_default=True, help="The learner.")
@game_option
@click.option(
    "--episodes", type=click.IntRange(1, 10**9), help="Games to play.  [default: up to 600000; for ntuple 1000000]"
)
@click.option("--until", type=ShareType(),
              help="Stop as soon as the outcome is kept (q: a best move is played) in this share of positions, such as "
              "99.5%. Exit code 1 if that is not reached.")  # fmt: skip
@click.option("--v", default="self", show_default=True, metavar="PLAYER",
              help="Whom q plays in training: self, random, rules, or oracle:0 to oracle:10.")  # fmt: skip
@click.option("--epsilon", type=click.FloatRange(0, 1), callback=_number_given,
              help="Let q play at random this often, instead of where it has been least.")  # fmt: skip
@click.option("--step", type=click.FloatRange(0, 1, min_open=True), default=1.0, show_default=True,
              callback=_number_given,
              help="How far q moves an entry of its table towards what it sees.")  # fmt: skip
@click.option("--unmasked", is_flag=True, help="Let q find out which cells are taken, by trying.")
@click.option("--every", type=click.IntRange(1, 10**9), help="Games between checkpoints.  [default: a fortieth of all]")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", required=True, type=click.Path(file_okay=False), metavar="RUN", help="The run's folder.")
@click.option("--resume", is_flag=True, help="Go on with an interrupted run, as its config.json says.")
@click.option("--json", "as_json", is_flag=True, help="The last checkpoint as one JSON object.")
@store_option
@command_errors
def train(
    player: str, rules: Rules[Any], episodes: int | None, until: float | None, v: str, epsilon: float | None,
    step: float, unmasked: bool, every: int | None, seed: int, out: str, resume: bool, as_json: bool,
    store: str | None,
) -> None:  # fmt: skip
    """Train a learner, and grade it at every checkpoint.

    q fills a table of all positions, for boards up to 4x4; ntuple weighs lines, pairs and triples of lines, on any
    board up to 32 cells. RUN is then a player everywhere, as run:RUN, and ttt4-play curve RUN draws how it learned.
    The same seed gives the same run, whether it was interrupted or not.
    """
    game = lines_of(rules, "learners")
    from play.lab.runs import Run
    from play.lab.training import Options, new_run

    if resume:
        run = Run.open(out)
        _require_agreement(run.config)
    else:
        options = Options(v, epsilon, step, unmasked)
        run = new_run(out, player, game, seed, episodes=episodes, until=until, every=every, options=options)
    with run.held():
        if not resume:
            run.require_new()
        last, digest, missed = _train(run, store, begin=not resume)
    if as_json:
        click.echo(json.dumps({**last, "run": out, "digest": digest}))
    else:
        say(_trained(printable(out), run.config, last, digest))
    if missed:
        sys.exit(1)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Draw into an SVG file.")
@force_option
@click.option("--json", "as_json", is_flag=True, help="All checkpoints, as one JSON object.")
@command_errors
def curve(runs: tuple[str, ...], svg: str | None, force: bool, as_json: bool) -> None:
    """Draw how each RUN... has learned: errors by games, by ply and by cell, and what it gives away."""
    from play.lab.curves import as_text
    from play.lab.runs import Run
    from play.lab.svg import as_svg

    file = None if svg is None else OutputFile(svg, force)
    opened = [Run.open(folder) for folder in runs]
    if file is not None:
        file.write(as_svg(opened).encode())
    if as_json:
        click.echo(json.dumps({run.folder: {"config": run.config, "checkpoints": run.metrics()} for run in opened}))
    elif file is not None:
        click.echo(f"{printable(file.path)}: {len(opened)} {'run' if len(opened) == 1 else 'runs'}")
    else:
        say(as_text(opened))


def _train(run: "Run", store: str | None, *, begin: bool) -> tuple[dict[str, Any], str, bool]:
    """Train a run; return its last metrics, its digest, and whether it missed its goal."""
    from play.lab.training import Training

    with Training(run, store) as training:
        if begin:
            run.begin()
        elif training.done:
            click.echo(f"{printable(run.folder)} is finished: nothing is left to train", err=True)
        try:
            with _progress(run.config["episodes"], training.games) as tick:
                training.train(tick)
        except KeyboardInterrupt:
            kept = f"{training.games:,} games are kept" if training.games else "No checkpoint was reached yet"
            click.echo(f"{kept}; ttt4-play train --out {printable(run.folder)} --resume goes on.", err=True)
            raise
        return training.last, run.digest(), run.config["until"] is not None and not training.reached


def _require_agreement(config: dict[str, Any]) -> None:
    """Raise UsageError if an option is given that differs from what an interrupted run has in its config."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        given = context.params[name]
        field, given = ("game", given.name) if name == "rules" else (name, given)
        if field in config and config[field] != given:
            raise click.UsageError(f"{parameter.opts[0]} cannot be changed: the run has {config[field]!r}")


def _trained(out: str, config: dict[str, Any], last: dict[str, Any], digest: str) -> str:
    from play.lab.report import percent

    shares = {name: last.get(name) for name in ("kept", "decisive", "optimal")}
    told = ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if share is not None)
    away = last.get("nash_conv")
    lines = [
        f"{config['player']} on {config['game']}, {last['games']:,} games: {told or 'no scores to grade by'}",
        f"gives away {away:.4g} against best replies, as X and O together" if away is not None else "",
        f"{out}, digest {digest[:12]}: ttt4-play grade run:{out}, ttt4-play curve {out}",
    ]
    return "\n".join(filter(None, lines))


@contextmanager
def _talk() -> Iterator[Callable[[str, float], None]]:
    """Yield what to tell progress: one line on standard error, if that is a terminal and it takes long."""
    if not sys.stderr.isatty():
        yield lambda what, share: None
        return
    start, width = monotonic(), 0

    def tell(what: str, share: float) -> None:
        nonlocal width
        if monotonic() - start > _SHOWN_AFTER:
            text = f"{what}: {100 * share:.0f} %" if share else f"{what}..."
            click.echo(f"\r{text:{width}}", nl=False, err=True)
            width = max(width, len(text))

    try:
        yield tell
    finally:
        if width:
            click.echo(f"\r{'':{width}}\r", nl=False, err=True)


@contextmanager
def _progress(episodes: int, begun: int) -> Iterator[Callable[[int, dict[str, Any]], None]]:
    """Yield what to call after each portion: a bar on a terminal, elsewhere a line every half minute."""
    if not sys.stderr.isatty():
        told, at = begun, monotonic()

        def tell(games: int, metrics: dict[str, Any]) -> None:
            nonlocal told, at
            if metrics.get("games", 0) > told and monotonic() - at > _SAID_AGAIN:
                told, at = metrics["games"], monotonic()
                click.echo(f"{told:,} of {episodes:,} games: {_state(metrics)}", err=True)

        yield tell
        return
    bar: Any = click.progressbar(
        length=episodes - begun, label="games", file=sys.stderr, width=10,
        item_show_func=lambda metrics: _state(metrics) if metrics else "",
    )  # fmt: skip
    with bar:
        at = begun

        def tick(games: int, metrics: dict[str, Any]) -> None:
            nonlocal at
            bar.update(games - at, metrics)
            at = games

        yield tick


def _state(metrics: dict[str, Any]) -> str:
    from play.lab.report import percent

    kept, away = metrics.get("kept"), metrics.get("nash_conv")
    told = [
        f"kept {percent(kept)}" if kept is not None else "",
        f"gives away {away:.3g}" if away is not None else "",
        f"{metrics['games_per_second'] / 1000:,.0f}k/s" if "games_per_second" in metrics else "",
    ]
    return ", ".join(filter(None, told))
