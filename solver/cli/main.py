"""`ttt4-solve`: build a store, verify it, describe it, list games, time the solvers."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from solver import __version__
from solver.cli.background import in_background
from solver.cli.compiling import waiting_for_compiled
from solver.cli.console import GameType, command_errors, game_option, store_option
from solver.cli.output import OutputFile, force_option
from solver.cli.progress_line import ProgressLine
from solver.errors import NotSettled, Ttt4Error
from solver.folders import find_store, partial_path, store_path
from solver.games.board import DEFAULT_GAME, BoardGame, cells_of
from solver.games.lines import Game, lines_only
from solver.games.score import MARGIN
from solver.proof.progress import Progress
from solver.scratch.folder import LocalFolder
from solver.store.digests import compared, published_digest
from solver.store.manifest import Manifest
from solver.store.store import Store
from solver.text import printable

if TYPE_CHECKING:
    from solver.proof.crew import Crew

_LATE = 0.5
"""How many seconds after its time a search for a proof is given up, although it has not ended itself."""

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="Number of threads.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ttt4-solve")
def main() -> None:
    """Solve 4x4 tic-tac-toe, or a game of its kind, and keep every score in a store.

    Inside a checkout, stores are built in its data/, elsewhere in the user's data folder.
    """


scratch_option = click.option(
    "--scratch",
    metavar="FOLDER",
    help="Keep unfinished work there, and pages that memory has no room for: a folder, or an object store such as "
    "s3://bucket/ttt4. Without it, beside the store.",
)


@main.command(short_help="Solve a game, and write its store.")
@game_option
@store_option
@jobs_option
@click.option("--force", is_flag=True, help="Rebuild a store that is there, or one that is damaged.")
@scratch_option
@click.option("--cluster", metavar="ADDRESS", help="Let the workers of a dask scheduler do the work: tls://host:8786.")
@click.option("--unencrypted", is_flag=True, help="Use a scheduler on another machine without TLS.")
@command_errors
def build(
    game: BoardGame[Any], store: str | None, jobs: int, force: bool, scratch: str | None, cluster: str | None,
    unencrypted: bool,
) -> None:  # fmt: skip
    """Solve a game with two independent solvers, and write its store if they agree.

    An existing store is reused. After an interruption, the same command resumes the build. `ttt4-solve plan` says
    beforehand what a build takes.
    """
    named = store_path(game, store)
    path = os.path.realpath(named)
    if os.path.exists(path) and not force:
        with Store(path, game) as present:
            click.echo(f"{printable(path)} holds {game.name} already ({os.stat(path).st_size:,} bytes, digest "
                       f"{present.manifest.digest[:12]}); --force rebuilds it")  # fmt: skip
        return
    if os.path.islink(named):
        click.echo(f"{printable(named)} is a link: building {printable(path)}", err=True)
    from solver.proof.build import build_store, scratch_folder

    line = ProgressLine()
    try:
        crew = None if cluster is None else _cluster(cluster, unencrypted, line)
        report = build_store(game, path, jobs=jobs, scratch=scratch, crew=crew, on_progress=line)
    except KeyboardInterrupt:
        line.clear()
        folder = scratch_folder(game, scratch) if scratch else LocalFolder(partial_path(path))
        with suppress(OSError, Ttt4Error):
            if folder and any(name.endswith(".done") for name in folder.sizes()):
                click.echo(f"What is solved is kept in {printable(folder.url)}: the same command resumes.", err=True)
        raise
    finally:
        line.clear()
    for name, value in _about(report.manifest, proved=True) + report.facts():
        click.echo(f"{name:12} {value}")


def _cluster(address: str, unencrypted: bool, line: ProgressLine) -> "Callable[[], Crew]":
    """Return what connects to a cluster, once the build needs it; refuse at once what is no safe address."""
    from solver.proof.cluster import DaskCrew, require_safe

    require_safe(address, unencrypted=unencrypted)

    def connected() -> "Crew":
        crew = DaskCrew(address, unencrypted=unencrypted)
        line(Progress("solving", note=f"{crew.detail()}; watch them at {crew.dashboard}"))
        return crew

    return connected


@main.command(short_help="Say what a build would take.")
@game_option
@store_option
@scratch_option
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@command_errors
def plan(game: BoardGame[Any], store: str | None, scratch: str | None, jobs: int, as_json: bool) -> None:
    """Say what a build would take, and where it fits: memory, disk and time."""
    from solver.proof.outlook import outlook

    line = ProgressLine()
    try:
        found = outlook(game, store_path(game, store), scratch, jobs, line)
    finally:
        line.clear()
    if as_json:
        click.echo(json.dumps(found.as_dict()))
        return
    for each in found.in_words():
        click.echo(each)


@main.command(short_help="Prove that a store is right.")
@game_option
@store_option
@jobs_option
@click.option("--scratch", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Keep pages there that memory has no room for.")  # fmt: skip
@click.option(
    "--sample",
    type=click.IntRange(0),
    help="Search about N places of each ply by alpha-beta, instead of all.",
    metavar="N",
)
@command_errors
def verify(game: BoardGame[Any], store: str | None, jobs: int, scratch: str | None, sample: int | None) -> None:
    """Prove a store: its structure, checksums, counts and every score, by solving the game again."""
    path = find_store(game, store)
    from solver.proof.verify import verify_store

    line = ProgressLine()
    try:
        verdict = verify_store(path, game, jobs=jobs, scratch=scratch, sample=sample, on_progress=line)
    finally:
        line.clear()
    for name, value in verdict.facts():
        click.echo(f"{name:12} {value}")


@main.command(short_help="Describe a store.")
@game_option
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object, counts by ply included.")
@command_errors
def info(game: BoardGame[Any], store: str | None, as_json: bool) -> None:
    """Describe a store: the result, the number of positions, the counts of every ply."""
    path = find_store(game, store)
    with Store(path, game) as opened:
        manifest, size = opened.manifest, os.stat(path).st_size
    if as_json:
        click.echo(json.dumps({**manifest.facts(), "published": published_digest(game), "bytes": size}))
        return
    for name, value in _about(manifest, proved=False):
        click.echo(f"{name:12} {value}")
    click.echo(f"{'file':12} {printable(path)} ({size:,} bytes)")
    click.echo(f"\nply{'reachable':>19}{'canonical':>16}{'wins':>14}{'draws':>14}{'losses':>14}")
    for ply in manifest.plies:
        counts = f"{ply.canonical:16,}{ply.wins:14,}{ply.draws:14,}{ply.losses:14,}"
        click.echo(f"{ply.ply:3}{ply.reachable:19,}{counts}")
    click.echo("\nWins, draws and losses are those of the side to move, in canonical positions.")


@main.command()
@click.argument("game", type=GameType(solvable=False), required=False)
@command_errors
def games(game: BoardGame[Any] | None) -> None:
    """List the named games, or the lines of GAME."""
    if game is None:
        from solver.games.files import games_with_names

        for name, about in games_with_names():
            click.echo(f"{name:12} {about}")
        return
    if not isinstance(game, Game):
        click.echo(f"{game.name}: {game.cells} cells; whoever has more tiles on the full board wins.")
        return
    ends = "loses" if game.misere else "wins"
    click.echo(f"{game.name}: {game.cells} cells; whoever first completes one of {len(game.lines)} lines {ends}:")
    for line in game.lines:
        click.echo(" ".join(map(game.cell_name, cells_of(line))))


@main.command(short_help="Write every position with its scores.")
@game_option
@store_option
@click.option("--out", required=True, type=click.Path(dir_okay=False), metavar="FILE",
              help="The file to write: an .npz or, with pyarrow, a .parquet file.")  # fmt: skip
@force_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@command_errors
def dataset(game: BoardGame[Any], store: str | None, out: str, force: bool, as_json: bool) -> None:
    """Write every position that is not over, one for all equal by symmetry, with the score of every move.

    The scores are those of the game's store. Columns: x and o (cells as bit masks), ply, orbit (how many positions the
    row stands for), score (for the side to move), and the score of claiming each cell.
    """
    from solver.arrays.dataset import as_dataset, require_format
    from solver.arrays.positions import Positions

    require_format(out)
    file = OutputFile(out, force)
    positions = Positions(lines_only(game), find_store(game, store))
    size = file.write(as_dataset(out, positions))
    facts = {"game": game.name, "rows": len(positions), "positions": int(positions.orbit.sum()),
             "file": out, "bytes": size}  # fmt: skip
    if as_json:
        click.echo(json.dumps(facts))
    else:
        named = facts | {"file": printable(out)}
        click.echo("{file}: {rows:,} rows for {positions:,} positions of {game} ({bytes:,} bytes)".format(**named))


@main.command()
@game_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@command_errors
def bench(game: BoardGame[Any], as_json: bool) -> None:
    """Time both solvers on this machine, on one thread."""
    from solver.proof.bench import run_bench

    results = run_bench(game)
    if as_json:
        click.echo(json.dumps(results))
        return
    for name, value in results.items():
        click.echo(f"{name:32} {value:,.4g}" if isinstance(value, float) else f"{name:32} {value:,}")


@main.command(short_help="Prove what the empty board is worth.")
@click.option("--game", type=GameType(solvable=False), default=DEFAULT_GAME, show_default=True,
              help="Rows, columns, how many in a row, a game's name or file.toml.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="The proof file to write.")
@force_option
@click.option("--time", "seconds", type=click.FloatRange(0, 1e6), default=60.0, show_default=True, metavar="SECONDS",
              help="How long to look for a proof.")  # fmt: skip
@command_errors
def prove(game: BoardGame[Any], out: str | None, force: bool, seconds: float) -> None:
    """Prove what the empty board is worth, without a store: also for games too large to solve.

    Looks for a draw by a pairing of cells, by the weights of the lines, or by a defence against every move; and for a
    strategy by which X wins.
    """
    from solver.certificates.files import as_file
    from solver.engine.proving import prove

    file = None if out is None else OutputFile(out, force)
    lines, started, line = lines_only(game), monotonic(), ProgressLine()
    with waiting_for_compiled() as patience:

        def taken() -> float:
            return monotonic() - started - (patience.seconds if patience else 0.0)

        def tell() -> None:
            if not (patience and patience.waiting):
                line(Progress("Searching", detail=f"{min(taken(), seconds):.0f} of {seconds:g} s"))

        try:
            work = partial(prove, lines, lines.at(0, 0), started + seconds)
            proof = in_background(work, tell, lambda: taken() > seconds + _LATE)
        except TimeoutError:
            proof = None
        finally:
            line.clear()
    if proof is None:
        raise NotSettled(f"no proof for {game.name} was found in {taken():.1f} s")
    size = file.write(as_file(proof)) if file else 0  # before a word is said: nobody may be listening
    click.echo(proof.in_words())
    if file:
        click.echo(f"{printable(file.path)}: {size:,} bytes")


@main.command(short_help="Check proofs in files.")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file.")
@command_errors
def check(files: tuple[str, ...], as_json: bool) -> None:
    """Check the proofs in FILE..., each step of each, without the code that found it."""
    from solver.certificates.files import check_file

    worst = 0
    for path in files:
        facts: dict[str, Any] = {"file": path}
        try:
            proof = check_file(path)
            facts |= {"holds": True, "game": proof.game.notation, "claim": proof.claim, "plies": proof.plies}
            text = proof.in_words()
        except Ttt4Error as error:
            facts |= {"holds": False, "error": error.kind, "message": str(error)}
            text, worst = str(error), max(worst, error.exit_code)
        said = f"{path}: {'proved' if facts['holds'] else 'not proved'}: {text}"
        click.echo(json.dumps(facts) if as_json else printable(said))
    if worst:
        click.get_current_context().exit(worst)


def _about(manifest: Manifest, *, proved: bool) -> list[tuple[str, str]]:
    game = manifest.game
    winner = {"draw": "", "win": game.marks[0], "loss": game.marks[1]}[manifest.outcome]
    plies = manifest.plies_to_end
    verdict = f"{winner} wins in {plies} {'ply' if plies == 1 else 'plies'}" if winner else "a draw"
    if winner and game.scale == MARGIN:
        verdict = f"{winner} wins by {abs(manifest.score)}"
    account = "" if proved else " by its own account"
    total = {kind: manifest.total(kind) for kind in ("reachable", "canonical", "wins", "draws", "losses")}
    return [
        ("game", game.described(len(manifest.symmetries))),
        ("empty board", f"{verdict} with best play"),
        ("positions", f"{total['reachable']:,} reachable, {total['canonical']:,} canonical"),
        ("to move", f"{total['wins']:,} wins, {total['draws']:,} draws, {total['losses']:,} losses"),
        ("digest", f"{manifest.digest[:12]}..., {compared(game, manifest.digest)}{account}"),
    ]
