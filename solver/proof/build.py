"""Build a store: solve the game, keep finished layers in a journal, and write the store at the end."""

import os
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from solver.errors import NotAStore, SolversDisagree, StoreDamaged, StoreMismatch, StoreOutdated, StoreUnwritable
from solver.folders import partial_path
from solver.games.board import BoardGame, require_solvable
from solver.index.layout import page_size
from solver.index.symmetry import Symmetry
from solver.kinds import kind_of
from solver.proof.progress import Progress, ProgressCallback, silent
from solver.proof.witness import Witness
from solver.store.digests import content_digest, published_digest
from solver.store.journal import Journal
from solver.store.manifest import Manifest
from solver.store.record import PackedRecord, pack, pages_in_record, unpack
from solver.store.store import Store
from solver.store.writer import StoreWriter

if TYPE_CHECKING:
    import numpy as np

    from solver.proof.proof import Proof, Solved, StoredPages, Summary

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
    empty_board: str
    """What a search of the empty board with an empty table took."""
    witnessed: int
    """How many positions of the new file a plain search has confirmed."""
    seconds: dict[str, float]

    def facts(self) -> list[tuple[str, str]]:
        """Return the results as lines of name and text."""
        places = f"{self.summary.checked:,} places agree, {self.summary.nodes:,} nodes"
        if self.summary.abandoned:
            places += f"; {self.summary.abandoned:,} given up"
        return [
            ("alpha-beta", f"{self.empty_board} from the empty board"),
            ("check", places),
            ("witness", f"{self.witnessed:,} positions of the file confirmed by a plain search"),
            ("seconds", ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in self.seconds.items())),
            ("file", f"{self.path} ({self.size:,} bytes)"),
        ]


def build_store(
    game: BoardGame[Any], path: str | os.PathLike[str], *, jobs: int, on_progress: ProgressCallback = silent
) -> Report:
    """Solve a game with both solvers and write its store. If they disagree, nothing is written.

    Layers that an interrupted build of the same store had finished are not solved again. A file that is there is
    replaced only if it is a store of the same game, or a damaged one.
    """
    require_solvable(game)
    path = os.path.realpath(path)  # a link stays one: what it leads to is replaced
    _require_writable(path, game)
    kind = kind_of(game)
    group = kind.symmetries(game)
    start = perf_counter()
    with Witness(game) as witness:
        with Journal(path, game, group) as journal:  # so that a build that cannot be is refused at once
            dropped = journal.dropped
        on_progress(Progress("compiling"))
        kind.compile_kernels()
        return _build(game, group, path, witness, jobs, on_progress, start, dropped)


def _build(
    game: BoardGame[Any], group: tuple[Symmetry, ...], path: str, witness: Witness, jobs: int,
    on_progress: ProgressCallback, start: float, dropped: int,
) -> Report:  # fmt: skip
    """Solve the game, now that the kernels are loaded, and write its store."""
    from solver.proof.plan import require_room

    compiled = perf_counter()
    with Journal(path, game, group) as journal:
        proof: Proof[list[PackedRecord]] = kind_of(game).proof(game, group, _packed, jobs=jobs, on_progress=on_progress)
        require_room(game, proof.plan, os.path.dirname(os.path.abspath(path)), journal.size)
        before = _solved_before(journal, game)
        on_progress(Progress("solving", note=_outlook(proof, before, dropped)))
        for stage in proof.stages(before):
            for record in chain.from_iterable(stage.made):
                journal.put(record)
            journal.end_layer(stage.number, stage.summary.to_fields())
        proved = perf_counter()
        empty_board = proof.search_empty_board()
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
                witnessed = witness.confirm(kind_of(game).scores(store, 0.0)[0])
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


def _require_writable(path: str, game: BoardGame[Any]) -> None:
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
        return f"resuming at ply {before.ply}: {done} of {proof.plan.filled:,} places are solved already{lost}"
    return proof.plan.describe() if proof.plan.seconds > NOTED_SECONDS else ""


def _solved_before(journal: Journal, game: BoardGame[Any]) -> "Solved | None":
    """Return the journal's layers in the form that the proof resumes from; None if there are none."""
    from solver.proof.proof import Solved, Summary

    if not journal.layers:
        return None
    summary, last = Summary(), journal.layers[-1]
    for layer in journal.layers:
        summary.add(Summary.from_fields(layer.summary))
    records = journal.records(last)
    batches = iter(lambda: list(islice(records, RECORDS_AT_ONCE)), [])
    first = next(journal.records(last), None)
    empty = first[0][0] if first else 0
    size = page_size(game, empty)
    return Solved(last.number, game.cells - empty, (partial(_unpacked, batch, size) for batch in batches), summary)


def _unpacked(records: "list[tuple[bytes, bytes]]", size: int) -> "tuple[list[int], np.ndarray]":
    """Return the numbers of the pages in some records, and the pages as rows."""
    import numpy as np

    held = [each for key, value in records for each in unpack(key, value, size)]
    return [half for half, _ in held], np.stack([np.asarray(page) for _, page in held])


def _packed(pages: "StoredPages") -> list[PackedRecord]:
    """Return the records of some pages."""
    numbers, step = pages.numbers.tolist(), pages_in_record(pages.scores.shape[1])
    return [
        pack(pages.empty, numbers[i : i + step], pages.scores[i : i + step].tobytes())
        for i in range(0, len(numbers), step)
    ]
