"""Verifying a store that came from anywhere: trust nothing in it, and say what was checked.

The file's structure is walked without LMDB's own reader, and its seal is compared. Then the game is
proved again (solver/proof/prove.py), record by record: its checksum must be right, it must hold the halves
that come next, and their pages must be those that the sweep makes from the pages of their children.
Copies, counts and the digest must agree with the manifest.
"""

import os
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from lmdb.verify import VerifyError
from lmdb.verify import verify as faults_of

from solver.errors import StoreError
from solver.games.lines import Game
from solver.index.symmetry import symmetries
from solver.proof.build import compile_kernels
from solver.proof.progress import Progress, Tell, silent
from solver.store.manifest import digest_of_layers, layer_digest
from solver.store.record import page_digest, record_key
from solver.store.store import Store, damaged, missing

if TYPE_CHECKING:
    from solver.sweep.layers import Filled


@dataclass(frozen=True)
class Verdict:
    """What was checked, and found right."""

    path: str
    places: int
    positions: int
    searched: int
    abandoned: int
    seconds: float

    def facts(self) -> list[tuple[str, str]]:
        """The verdict in words, line by line."""
        searched = f"{self.searched:,} places searched by alpha-beta"
        if self.abandoned:
            searched += f", {self.abandoned:,} given up as too long"
        return [
            ("file", f"{self.path}: structure and checksums are right"),
            ("scores", f"all {self.places:,} follow from their children; copies agree"),
            ("counts", f"{self.positions:,} canonical positions, as the manifest says"),
            ("search", searched),
            ("verified", f"in {self.seconds:.2f} s"),
        ]


def verify(
    path: str | os.PathLike[str], game: Game, *, jobs: int, sample: int | None = None, tell: Tell = silent
) -> Verdict:
    """Check everything that a store says; StoreDamaged at the first thing that is not so."""
    path = os.fspath(path)
    start = perf_counter()
    tell(Progress("reading"))
    _check_structure(path, game)
    with Store(path, game) as store:
        store.check_seal()
        manifest = store.manifest
        if manifest.symmetries != symmetries(game):
            raise store.damaged("its symmetries are not those of the game")
        tell(Progress("compiling"))
        compile_kernels()
        from solver.proof.plan import require_room
        from solver.proof.prove import Proof

        proof: Proof[_Compared] = Proof(
            game, manifest.symmetries, partial(_compare, store), jobs=jobs, sample=sample, tell=tell, phase="verifying"
        )
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
            raise store.damaged("its manifest's counts are not those of its positions")
        if records != store.count():
            raise store.damaged("it holds pages that the game has not")
        if digest_of_layers(layers) != manifest.digest:
            raise store.damaged("its content is not what its digest says")
    return Verdict(
        path,
        proof.plan.stored,
        manifest.total("canonical"),
        summary.checked,
        summary.abandoned,
        perf_counter() - start,
    )


def _check_structure(path: str, game: Game) -> None:
    try:
        faults: list[str] = faults_of(path, subdir=False)  # type: ignore[no-untyped-call]  # lmdb's own
    except FileNotFoundError:
        raise missing(path, game) from None
    except OSError as error:
        raise StoreError(f"cannot open store {path!r}: {error.strerror}; name another with --store") from error
    except VerifyError as error:
        faults = [str(error)]
    if faults:
        raise damaged(path, game, faults[0])


class _Compared(NamedTuple):
    """How many records were as they must be, and what they add to the digest of their layer."""

    records: int
    digests: bytes


def _compare(store: Store, filled: "Filled") -> _Compared:
    pages = filled.x_moves
    if pages is None:
        return _Compared(0, b"")
    digests, halves, records, i = [], pages.halves.tolist(), 0, 0
    while i < len(halves):
        key, found = store.record(pages.empty, halves[i])
        if key != record_key(pages.empty, found[-1][0]):
            raise store.damaged(f"record {key.hex()} ends with half {found[-1][0]:#x}, which its key does not say")
        for half, page in found:
            if i == len(halves) or half != halves[i]:
                raise store.damaged(f"the record of half {half:#x} with {pages.empty} cells empty has other halves")
            if page != pages.scores[i].data:
                raise store.damaged(f"the scores of half {half:#x} with {pages.empty} cells empty are wrong")
            digests.append(page_digest(pages.empty, half, page))
            i += 1
        records += 1
    return _Compared(records, b"".join(digests))
