"""`ttt4-play grade`, `train` and `curve`: the lab's commands."""

import json
import re
import sys
from math import isfinite
from traceback import format_exception
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from oracle.cli.options import live_option, time_option
from play.cli.options import game_option
from play.players.player import PlayerError
from play.players.roster import lines_of
from play.terminal.talk import say
from solver.cli.compiling import waiting_for_compiled
from solver.cli.console import command_errors, store_option
from solver.cli.output import OutputFile, force_option
from solver.cli.progress_line import ProgressLine
from solver.games.rules import Rules
from solver.kernels.loading import import_compiled
from solver.proof.progress import Progress
from solver.text import printable

if TYPE_CHECKING:
    from play.lab.runs import Run

_MOST = 5_000_000
"""How many positions may be drawn: play/lab/grading.py has the same number, and is not loaded for it."""


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
    with waiting_for_compiled():
        import_compiled("lab/kernels.mean", "play.lab.grading")
    from play.lab.grading import Grader
    from play.lab.report import report_of

    try:
        with ProgressLine(phases=False) as line, Grader(game, store, live=live, seconds=seconds) as grader:
            found = grader.grade(player, positions, seed, report=lambda what, share: line(_step(what, share)))
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
    with waiting_for_compiled():
        import_compiled("lab/q_kernels.greedy", "play.lab.training")
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


@click.command(short_help="Draw how runs have learned.")
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
            with ProgressLine(phases=False) as line:
                line(_games(run, training.games, training.last))
                training.train(lambda games, metrics: line(_games(run, games, metrics)))
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


def _step(what: str, share: float) -> Progress:
    phase, _, detail = what.partition(", ")
    return Progress(phase, detail=", ".join(filter(None, [detail, f"{share:.0%}" if share else ""])))


def _games(run: "Run", games: int, metrics: dict[str, Any]) -> Progress:
    return Progress("games", done=games, total=run.config["episodes"], detail=_state(metrics))


def _state(metrics: dict[str, Any]) -> str:
    from play.lab.report import percent

    kept, away = metrics.get("kept"), metrics.get("nash_conv")
    told = [
        f"kept {percent(kept)}" if kept is not None else "",
        f"gives away {away:.3g}" if away is not None else "",
    ]
    return ", ".join(filter(None, told))
