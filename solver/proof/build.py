"""Build a store: solve the game, keep finished layers in a journal, and write the store at the end."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from time import perf_counter
from typing import TYPE_CHECKING

from solver.errors import NotAStore, SolversDisagree, StoreDamaged, StoreMismatch, StoreOutdated, StoreUnwritable
from solver.folders import partial_path
from solver.games.lines import Game, require_solvable
from solver.games.position import Position
from solver.index.places import page_size
from solver.index.symmetry import Symmetry, symmetries
from solver.kernels.cache import is_cached
from solver.proof.progress import Progress, ProgressCallback, silent
from solver.proof.witness import Witness
from solver.store.digests import content_digest, published_digest
from solver.store.journal import Journal
from solver.store.manifest import Manifest
from solver.store.record import PackedRecord, halves_in_record, pack, unpack
from solver.store.scores import Scores
from solver.store.store import Store
from solver.store.writer import StoreWriter

if TYPE_CHECKING:
    import numpy as np

    from solver.proof.prove import Proof, Solved, Summary
    from solver.sweep.layers import Filled

EMPTY_BOARD_LIMIT = 200_000
"""The search of the empty board, which is made for its node count, is given up after this many nodes."""

RECORDS_AT_ONCE = 32
"""How many records a thread restores at a time when a build resumes."""

NOTED_SECONDS = 5
"""A build that takes longer says at the start what it needs."""


@dataclass(frozen=True)
class Report:
    """The results of a build."""

    path: str
    size: int
    manifest: Manifest
    summary: "Summary"
    empty_board: tuple[int, int, int] | None
    """Nodes, cutoffs and table hits of a search of the empty board with an empty table; None if given up."""
    witnessed: int
    """How many positions of the new file a plain search has confirmed."""
    seconds: dict[str, float]

    def facts(self) -> list[tuple[str, str]]:
        """Return the results as lines of name and text."""
        places = f"{self.summary.checked:,} places agree, {self.summary.nodes:,} nodes"
        if self.summary.abandoned:
            places += f"; {self.summary.abandoned:,} given up"
        nodes = f"given up after {EMPTY_BOARD_LIMIT:,} nodes"
        if self.empty_board:
            nodes = "{:,} nodes, {:,} cut-offs, {:,} table hits".format(*self.empty_board)
        return [
            ("alpha-beta", f"{nodes} from the empty board"),
            ("check", places),
            ("witness", f"{self.witnessed:,} positions of the file confirmed by a plain search"),
            ("seconds", ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in self.seconds.items())),
            ("file", f"{self.path} ({self.size:,} bytes)"),
        ]


def build_store(
    game: Game, path: str | os.PathLike[str], *, jobs: int, on_progress: ProgressCallback = silent
) -> Report:
    """Solve a game with both solvers and write its store. If they disagree, nothing is written.

    Layers that an interrupted build of the same store had finished are not solved again. A file that is there is
    replaced only if it is a store of the same game, or a damaged one.
    """
    require_solvable(game)
    path = os.path.realpath(path)  # a link stays one: what it leads to is replaced
    _require_writable(path, game)
    group = symmetries(game)
    start = perf_counter()
    with Witness(game) as witness:
        with Journal(path, game, group) as journal:  # so that a build that cannot be is refused at once
            dropped = journal.dropped
        on_progress(Progress("compiling"))
        compile_kernels()
        return _build(game, group, path, witness, jobs, on_progress, start, dropped)


def _build(
    game: Game, group: tuple[Symmetry, ...], path: str, witness: Witness, jobs: int, on_progress: ProgressCallback,
    start: float, dropped: int,
) -> Report:  # fmt: skip
    """Solve the game, now that the kernels are loaded, and write its store."""
    from solver.proof.plan import require_room
    from solver.proof.prove import Proof

    compiled = perf_counter()
    with Journal(path, game, group) as journal:
        proof: Proof[list[PackedRecord]] = Proof(game, group, _packed, jobs=jobs, on_progress=on_progress)
        require_room(game, proof.plan, os.path.dirname(os.path.abspath(path)), journal.size)
        before = _solved_before(journal, game)
        on_progress(Progress("solving", note=_outlook(proof, before, dropped)))
        for stage in proof.stages(before):
            for record in chain.from_iterable(stage.made):
                journal.put(record)
            journal.end_layer(stage.x_count, stage.summary.to_fields())
        proved = perf_counter()
        empty_board = _search_empty_board(game, group)
        summary = proof.summary
        manifest = Manifest(game, group, summary.score, summary.table(), journal.digest())
        require_published(manifest)
        searched = perf_counter()
        on_progress(Progress("writing"))
        with StoreWriter(path, journal.size) as writer:
            for layer in journal.layers:
                for key, value in journal.records(layer):
                    writer.put(key, value)
            witnessed = 0

            def confirm(store: Store) -> None:
                nonlocal witnessed
                if before and content_digest(store) != manifest.digest:
                    raise StoreUnwritable(
                        f"the layers kept by an earlier build were altered: delete {partial_path(path)!r}"
                    )
                witnessed = witness.confirm(Scores(store))
                _require_writable(path, game)  # again: a file may have come there meanwhile

            try:
                writer.finish(manifest, confirm)
            finally:
                if writer.in_place:
                    journal.remove()
    share = {phase: seconds / jobs for phase, seconds in summary.seconds.items()}
    seconds = {
        "compile": compiled - start,
        "solve": share.get("solve", 0.0),
        "check": share.get("check", 0.0) + searched - proved,
        "write": share.get("write", 0.0) + perf_counter() - searched,
        "wait": proved - compiled - sum(share.values()),
    }
    return Report(path, os.stat(path).st_size, manifest, summary, empty_board, witnessed, seconds)


def _require_writable(path: str, game: Game) -> None:
    """Raise StoreUnwritable if LMDB cannot take the name, or a file is there that is not ours to replace."""
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise StoreUnwritable(f"cannot write store {path!r}: LMDB takes only names in UTF-8", path, game) from error
    if not os.path.exists(path) or os.path.isdir(path):
        return
    try:
        Store(path, game).close()
    except (StoreMismatch, NotAStore) as error:
        if not isinstance(error, StoreOutdated):
            message = f"{path!r} is not a store of {game.name!r}, and a build replaces nothing else: delete it first"
            raise StoreUnwritable(message, path, game) from error
    except StoreDamaged:
        pass


def require_published(manifest: Manifest) -> None:
    """Raise SolversDisagree if a digest is published for the game, and is another."""
    published = published_digest(manifest.game)
    if published not in (None, manifest.digest):
        raise SolversDisagree(
            f"{manifest.game.name!r} has digest {manifest.digest[:12]}... here, and {published[:12]}... is published"
        )


def _outlook(proof: "Proof[list[PackedRecord]]", before: "Solved | None", dropped: int) -> str:
    """Return a note for the start: what is left of an interrupted build, or what a long build needs."""
    if before:
        lost = f"\nsolving again what was unfinished or damaged ({dropped:,} bytes)" if dropped else ""
        done = f"{before.summary.filled / proof.plan.filled:.0%}"
        return f"resuming at ply {2 * before.x_count}: {done} of {proof.plan.filled:,} places are solved already{lost}"
    return proof.plan.describe() if proof.plan.seconds > NOTED_SECONDS else ""


def _solved_before(journal: Journal, game: Game) -> "Solved | None":
    """Return the journal's layers in the form that the proof resumes from; None if there are none."""
    from solver.proof.prove import Solved, Summary

    if not journal.layers:
        return None
    summary, last = Summary(), journal.layers[-1]
    for layer in journal.layers:
        summary.add(Summary.from_fields(layer.summary))
    records = journal.records(last)
    batches = iter(lambda: list(islice(records, RECORDS_AT_ONCE)), [])
    size = page_size(game, game.cells - 2 * last.x_count)
    return Solved(last.x_count, (partial(_unpacked, batch, size) for batch in batches), summary)


def _unpacked(records: "list[tuple[bytes, bytes]]", size: int) -> "tuple[list[int], np.ndarray]":
    """Return the halves in some records, and their pages as rows."""
    import numpy as np

    held = [each for key, value in records for each in unpack(key, value, size)]
    return [half for half, _ in held], np.stack([np.asarray(page) for _, page in held])


def compile_kernels() -> None:
    """Import all kernels, which compiles them or loads them from the cache.

    If nothing is cached, a second process compiles half of them: one process compiles one kernel at a time.
    """
    other = None
    if "solver.proof.check" not in sys.modules and not is_cached("search/alphabeta.search"):
        command = [sys.executable, "-P", "-c", "import solver.proof.check, solver.sweep.tally, solver.sweep.halves"]
        quiet = subprocess.DEVNULL
        with suppress(OSError):  # the second process only saves time
            other = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        import solver.sweep.pages

        if other is not None:
            other.wait()
        import solver.proof.prove  # noqa: F401  (and with it every other kernel)
    finally:
        if other is not None:
            other.kill()
            other.wait()


def _packed(filled: "Filled") -> list[PackedRecord]:
    """Return the records of some halves."""
    pages = filled.x_to_move
    if pages is None:
        return []
    halves, step = pages.halves.tolist(), halves_in_record(pages.scores.shape[1])
    return [
        pack(pages.empty, halves[i : i + step], pages.scores[i : i + step].tobytes())
        for i in range(0, len(halves), step)
    ]


def _search_empty_board(game: Game, group: tuple[tuple[int, ...], ...]) -> tuple[int, int, int] | None:
    """Return the nodes, cutoffs and table hits of a search of the empty board; None if it was given up."""
    from solver.search.alphabeta import AlphaBeta

    search = AlphaBeta(game, group, table_bits=18, limit=EMPTY_BOARD_LIMIT)
    return None if search.score(Position(game)) is None else (search.nodes, search.cutoffs, search.hits)
