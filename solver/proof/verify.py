"""Verify a store from any origin: trust nothing in it, and report what was checked.

First the file's structure is checked without LMDB's own reader, and every page against the seal. Then the
game is solved again (solver/proof/proof.py) and compared record by record: each record must have the
right checksum, hold the halves that come next, and have exactly the pages that the sweep computes; and each
page is looked for on the path that a query takes, which has to end at that record.
At the end the counts and the digest must match the manifest.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from lmdb.verify import VerifyError
from lmdb.verify import verify as faults_of

from solver.errors import ScratchError, StoreError
from solver.games.board import BoardGame
from solver.games.lines import Game
from solver.kinds import kind_of
from solver.proof.build import require_published
from solver.proof.progress import Progress, ProgressCallback, silent
from solver.scratch.folder import LocalFolder
from solver.store.digests import compared
from solver.store.manifest import Manifest, digest_of_layers, layer_digest
from solver.store.record import page_digest, record_key
from solver.store.store import Store, damaged, missing
from solver.text import printable

if TYPE_CHECKING:
    from solver.proof.proof import Proof, Stage, StoredPages, Summary, Task


@dataclass(frozen=True)
class Verdict:
    """What was checked and is correct."""

    path: str
    manifest: Manifest
    places: int
    positions: int
    searched: int
    abandoned: int
    seconds: float

    def facts(self) -> list[tuple[str, str]]:
        """Return the verdict as lines of name and text."""
        searched = f"{self.searched:,} places searched"
        if self.abandoned:
            searched += f", {self.abandoned:,} given up as too long"
        return [
            ("file", f"{printable(self.path)}: structure and checksums are right"),
            ("scores", f"all {self.places:,} follow from their children; copies agree"),
            ("counts", f"{self.positions:,} canonical positions, as the manifest says"),
            ("search", searched),
            ("digest", f"{self.manifest.digest[:12]}..., {compared(self.manifest.game, self.manifest.digest)}"),
            ("verified", f"in {self.seconds:.2f} s"),
        ]


def verify_store(
    path: str | os.PathLike[str],
    game: BoardGame[Any],
    *,
    jobs: int,
    scratch: str | None = None,
    sample: int | None = None,
    on_progress: ProgressCallback = silent,
) -> Verdict:
    """Check everything in a store; raise StoreDamaged at the first error.

    `sample` is the number of places of each ply to check by search; with None the game's size decides. What does not
    fit into memory goes to files in the folder `scratch`, if one is named.
    """
    path = os.fspath(path)
    start = perf_counter()
    on_progress(Progress("reading"))
    with Store(path, game) as store:
        store.check_seal()
        _check_structure(path, game)
        manifest = store.manifest
        kind = kind_of(game)
        if manifest.symmetries != kind.symmetries(game):
            raise store.damaged("its symmetries are not the game's")
        on_progress(Progress("compiling"))
        kind.compile_kernels()
        with _folder(game, scratch) as held:
            proof, records, layers = _solve_again(store, held, jobs=jobs, sample=sample, on_progress=on_progress)
        summary = proof.summary
        if summary.table() != manifest.plies or summary.score != manifest.score:
            raise store.damaged("the counts in its manifest are wrong")
        if records != store.count():
            raise store.damaged("it holds records that are not the game's")
        if digest_of_layers(layers) != manifest.digest:
            raise store.damaged("its content does not match its digest")
        require_published(manifest)
    return Verdict(
        path,
        manifest,
        proof.plan.stored,
        manifest.total("canonical"),
        summary.checked,
        summary.abandoned,
        perf_counter() - start,
    )


def _solve_again(
    store: Store, held: dict[str, Any], *, jobs: int, **options: Any
) -> "tuple[Proof[Any], int, list[bytes]]":
    """Solve the game and compare every record; return the proof, the number of records, and the digests of layers."""
    from solver.proof.crew import threads
    from solver.proof.plan import require_room

    game, records, layers = store.game, 0, []
    with threads(jobs) as crew:
        proof: Proof[_Compared] = kind_of(game).proof(
            game, store.manifest.symmetries, partial(_compare, store), crew=crew, phase="verifying", **held, **options
        )
        require_room(game, proof.plan, proof.holder)
        for stage in proof.stages():

            def digests(stage: "Stage[_Compared]" = stage) -> Iterator[bytes]:
                nonlocal records
                for compared in stage.made:
                    records += compared.records
                    yield compared.digests

            layers.append(layer_digest(filter(None, digests())))
    return proof, records, layers


@contextmanager
def _folder(game: BoardGame[Any], scratch: str | None) -> Iterator[dict[str, Any]]:
    """Make a folder of our own in `scratch`, for a game of lines; others are small."""
    if scratch is None or not isinstance(game, Game):
        yield {}
        return
    try:
        if "://" in scratch:
            raise OSError(0, "verification takes a folder of this machine")
        os.makedirs(scratch, exist_ok=True)
        folder = TemporaryDirectory(prefix=".ttt4-verify-", dir=scratch)
    except OSError as error:
        raise ScratchError(f"cannot use scratch {scratch!r}: {error.strerror or error}") from error
    with folder as name:
        yield {"folder": LocalFolder(name)}


def _check_structure(path: str, game: BoardGame[Any]) -> None:
    try:
        faults: list[str] = faults_of(path, subdir=False)  # type: ignore[no-untyped-call]  # lmdb's own
    except FileNotFoundError:
        raise missing(path, game) from None
    except OSError as error:
        raise StoreError(f"cannot open store {path!r}: {error.strerror}", path, game) from error
    except VerifyError as error:
        faults = [str(error)]
    if faults:
        raise damaged(path, game, faults[0])


class _Compared(NamedTuple):
    """The number of correct records, and what they add to the digest of their layer."""

    records: int
    digests: bytes


def _compare(store: Store, task: "Task", summary: "Summary", pages: "Iterator[StoredPages]") -> _Compared:
    """Raise StoreDamaged unless the store's records hold exactly the pages of a task."""
    records, digests = 0, []
    for each in pages:
        numbers, i = each.numbers.tolist(), 0
        while i < len(numbers):
            key, found = store.record(each.empty, numbers[i])
            if key != record_key(each.empty, found[-1][0]):
                raise store.damaged(f"record {key.hex()} ends with page {found[-1][0]:#x}, but its key names another")
            for number, page in found:
                if i == len(numbers) or number != numbers[i]:
                    raise store.damaged(f"the record of page {number:#x} with {each.empty} cells empty has wrong pages")
                if store.key_of(each.empty, number) != key:
                    raise store.damaged(f"a query looks for page {number:#x} with {each.empty} cells empty elsewhere")
                if page != each.scores[i].data:
                    raise store.damaged(f"the scores of page {number:#x} with {each.empty} cells empty are wrong")
                digests.append(page_digest(each.empty, number, page))
                i += 1
            records += 1
    return _Compared(records, b"".join(digests))
