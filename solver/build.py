"""Building a store: prove the game, pack its pages as they come, write them in order, seal the file."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING

from solver.cache import is_cached
from solver.game import Game, require_solvable
from solver.manifest import Manifest
from solver.position import Position
from solver.progress import Progress, Tell, silent
from solver.symmetry import symmetries
from solver.writer import Record, StoreWriter, pack

if TYPE_CHECKING:
    from solver.prove import Summary
    from solver.sweep import Pages

EMPTY_BOARD_LIMIT = 200_000
"""Where the search of the empty board, made for its node count, is given up."""

RECORD_BYTES = 8192
"""A record's size before compression: what a look-up has to read for one score."""


@dataclass(frozen=True)
class Report:
    """What a build did."""

    path: str
    size: int
    manifest: Manifest
    summary: "Summary"
    empty_board: tuple[int, int, int] | None
    """Nodes, cut-offs and table hits of a search from the empty board with an empty table; None if given up."""
    seconds: dict[str, float]

    def facts(self) -> list[tuple[str, str]]:
        """What was done, in words, line by line."""
        places = f"{self.summary.checked:,} places searched, {self.summary.nodes:,} nodes"
        if self.summary.abandoned:
            places += f"; {self.summary.abandoned:,} searches given up as too long"
        nodes = f"given up after {EMPTY_BOARD_LIMIT:,} nodes"
        if self.empty_board:
            nodes = "{:,} nodes, {:,} cut-offs, {:,} table hits".format(*self.empty_board)
        return [
            ("alpha-beta", f"{nodes} from the empty board"),
            ("check", f"{places}, no difference"),
            ("seconds", ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in self.seconds.items())),
            ("file", f"{self.path} ({self.size:,} bytes)"),
        ]


def build(game: Game, path: str | os.PathLike[str], *, jobs: int, tell: Tell = silent) -> Report:
    """Solve a game with both solvers and write its store. Nothing is written unless they agree."""
    require_solvable(game)
    group = symmetries(game)
    with StoreWriter(path) as writer:
        start = perf_counter()
        tell(Progress("compiling"))
        compile_kernels()
        from solver.prove import Proof

        compiled = perf_counter()
        proof: Proof[list[Record]] = Proof(game, group, _packed, jobs=jobs, tell=tell)
        for chunks in proof:
            for record in chain.from_iterable(chunks):
                writer.put(record)
        proved = perf_counter()
        empty_board = _search_empty_board(game, group)
        summary = proof.summary
        manifest = Manifest(game, group, summary.score, summary.table(), writer.digest())
        searched = perf_counter()
        tell(Progress("writing"))
        writer.finish(manifest)
    share = {phase: seconds / jobs for phase, seconds in summary.seconds.items()}
    seconds = {
        "compile": compiled - start,
        "solve": share["solve"],
        "check": share["check"] + searched - proved,
        "write": share["write"] + perf_counter() - searched,
        "wait": proved - compiled - sum(share.values()),
    }
    return Report(os.fspath(path), os.stat(path).st_size, manifest, summary, empty_board, seconds)


def compile_kernels() -> None:
    """Import all kernels, which compiles them or loads them from the cache.

    Where nothing is cached yet, another process compiles half of them meanwhile: one compiles one at a time.
    """
    other = None
    if "solver.check" not in sys.modules and not is_cached("search"):
        command = [sys.executable, "-P", "-c", "import solver.check, solver.tally, solver.halves"]
        quiet = subprocess.DEVNULL
        with suppress(OSError):  # it only saves time
            other = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        with _interrupts_kept():
            import solver.pages

            if other is not None:
                other.wait()
            import solver.prove  # noqa: F401  (and with it every other kernel)
    finally:
        if other is not None:
            other.kill()
            other.wait()


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Raise at the end a KeyboardInterrupt that came in a callback of the compiler, where Python can only print it."""
    lost = False

    def keep(unraisable: "sys.UnraisableHookArgs") -> None:
        nonlocal lost
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            lost = True
        else:
            before(unraisable)

    before, sys.unraisablehook = sys.unraisablehook, keep
    try:
        yield
    finally:
        sys.unraisablehook = before
    if lost:
        raise KeyboardInterrupt


def _packed(pages: "Pages") -> list[Record]:
    """Records of as many halves as fit in RECORD_BYTES before compression, or of one."""
    halves, step = pages.halves.tolist(), max(1, RECORD_BYTES // pages.scores.shape[1])
    return [
        pack(pages.empty, halves[i : i + step], pages.scores[i : i + step].tobytes())
        for i in range(0, len(halves), step)
    ]


def _search_empty_board(game: Game, group: tuple[tuple[int, ...], ...]) -> tuple[int, int, int] | None:
    from solver.alphabeta import AlphaBeta

    search = AlphaBeta(game, group, table_bits=18, limit=EMPTY_BOARD_LIMIT)
    return None if search.score(Position(game)) is None else (search.nodes, search.cutoffs, search.hits)
