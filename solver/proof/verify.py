"""Verify a store from any origin: trust nothing in it, and report what was checked.

First the file's structure is checked without LMDB's own reader, and every page against the seal. Then the
game is solved again (solver/proof/proof.py) and compared record by record: each record must have the
right checksum, hold the halves that come next, and have exactly the pages that the sweep computes.
At the end the counts and the digest must match the manifest.
"""

import os
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from lmdb.verify import VerifyError
from lmdb.verify import verify as faults_of

from solver.errors import StoreError
from solver.games.board import BoardGame
from solver.kinds import kind_of
from solver.proof.build import require_published
from solver.proof.progress import Progress, ProgressCallback, silent
from solver.store.digests import compared
from solver.store.manifest import Manifest, digest_of_layers, layer_digest
from solver.store.record import page_digest, record_key
from solver.store.store import Store, damaged, missing

if TYPE_CHECKING:
    from solver.proof.proof import Proof, StoredPages


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
            ("file", f"{self.path}: structure and checksums are right"),
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
    sample: int | None = None,
    on_progress: ProgressCallback = silent,
) -> Verdict:
    """Check everything in a store; raise StoreDamaged at the first error.

    `sample` is the number of places of each ply to check by search; with None the game's size decides.
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
        from solver.proof.plan import require_room

        proof: Proof[_Compared] = kind.proof(
            game, manifest.symmetries, partial(_compare, store),
            jobs=jobs, sample=sample, on_progress=on_progress, phase="verifying",
        )  # fmt: skip
        require_room(game, proof.plan)
        records, layers = 0, []
        for stage in proof.stages():
            digests = []
            for compared in stage.made:
                records += compared.records
                digests.append(compared.digests)
            layers.append(layer_digest(digests))
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


def _compare(store: Store, pages: "StoredPages") -> _Compared:
    """Raise StoreDamaged unless the store's records hold exactly these pages."""
    digests, numbers, records, i = [], pages.numbers.tolist(), 0, 0
    while i < len(numbers):
        key, found = store.record(pages.empty, numbers[i])
        if key != record_key(pages.empty, found[-1][0]):
            raise store.damaged(f"record {key.hex()} ends with page {found[-1][0]:#x}, but its key names another")
        for number, page in found:
            if i == len(numbers) or number != numbers[i]:
                raise store.damaged(f"the record of page {number:#x} with {pages.empty} cells empty has wrong pages")
            if page != pages.scores[i].data:
                raise store.damaged(f"the scores of page {number:#x} with {pages.empty} cells empty are wrong")
            digests.append(page_digest(pages.empty, number, page))
            i += 1
        records += 1
    return _Compared(records, b"".join(digests))
