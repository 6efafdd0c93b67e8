"""Verifying a store that came from anywhere: trust nothing in it, and say what was checked.

The file's structure is walked without LMDB's own reader, then every record's checksum is compared.
Then the game is proved again (solver/prove.py), and every stored page must be the one that the sweep
makes from the pages of its children; copies, counts and the digest must agree with the manifest.
"""

import os
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from lmdb.verify import VerifyError
from lmdb.verify import verify as faults_of

from solver.build import compile_kernels
from solver.errors import StoreError
from solver.game import Game
from solver.progress import Progress, Tell, silent
from solver.store import Store, check_seal, damaged, missing
from solver.symmetry import symmetries
from solver.writer import content_digest

if TYPE_CHECKING:
    from solver.sweep import Pages


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
        searched = f"{self.searched:,} of {self.places:,} places searched by alpha-beta"
        if self.abandoned:
            searched += f", {self.abandoned:,} given up as too long"
        return [
            ("file", f"{self.path}: structure and checksums are right"),
            ("scores", f"all {self.places:,} places follow from their children; copies agree"),
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
    check_seal(path, game)
    with Store(path, game) as store:
        manifest = store.manifest
        if content_digest(store) != manifest.digest:
            raise store.damaged("its content is not what its digest says")
        if manifest.symmetries != symmetries(game):
            raise store.damaged("its symmetries are not those of the game")
        tell(Progress("compiling"))
        compile_kernels()
        from solver.prove import Proof

        def compare(pages: "Pages") -> int:
            _compare(store, pages)
            return int(pages.scores.size)

        proof: Proof[int] = Proof(game, manifest.symmetries, compare, jobs=jobs, sample=sample, tell=tell)
        places = sum(sum(sizes) for sizes in proof)
        summary = proof.summary
        if summary.table() != manifest.plies or summary.score != manifest.score:
            raise store.damaged("its manifest's counts are not those of its positions")
        if places != sum(len(page) for _, _, page in store.pages()):
            raise store.damaged("it holds pages that the game has not")
    return Verdict(
        path, places, manifest.total("canonical"), summary.checked, summary.abandoned, perf_counter() - start
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


def _compare(store: Store, pages: "Pages") -> None:
    for half, scores in zip(pages.halves.tolist(), pages.scores, strict=True):
        if store.page(pages.empty, half) != scores.data:
            raise store.damaged(f"the scores of half {half:#x} with {pages.empty} cells empty are wrong")
