"""Whatever happens to a store: the answer is right, or an error of ours. Never a signal."""

import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from limits import faults

from solver.errors import StoreDamaged
from solver.games.lines import grid
from solver.games.position import Position
from solver.proof.build import build_store
from solver.store.scores import Scores
from solver.store.store import Store

PAGE = 4096
Cases = Iterable[tuple[str, bytes]]
Wrong = Callable[[Cases, "Truth"], str]


class Truth:
    """What a good store says, against which a damaged one is held."""

    def __init__(self, path: Path, asked: int) -> None:
        rng = random.Random(1)
        with Store(path) as store:
            self.game = store.game
            self.records = [(*key, bytes(page)) for *key, page in store.pages()]
            positions = [Position(self.game)]
            while len(positions) < asked:
                last = positions[-1]
                positions.append(Position(self.game) if last.over else last.play(rng.choice(last.legal)))
            scores = Scores(store)
            self.scores = [(position, scores.score(position)) for position in positions]

    def fault_of(self, path: Path) -> str:
        """What a store at a path does that it must not: nothing, if it says it is damaged or is right in all."""
        with suppress(StoreDamaged), Store(path, self.game) as store:
            with suppress(StoreDamaged):
                if [(*key, bytes(page)) for *key, page in store.pages()] != self.records:
                    return "other records"
            scores = Scores(store)
            for position, score in self.scores:
                with suppress(StoreDamaged):
                    if scores.score(position) != score:
                        return f"a wrong score for {position}"
        return ""


@pytest.fixture
def wrong(tmp_path: Path, forked: Any) -> Wrong:
    """What a forked child does wrong with some files."""

    def found(cases: Cases, truth: Truth) -> str:
        at = tmp_path / "case"
        return faults(forked, at, cases, lambda name: truth.fault_of(at))

    return found


def test_a_store_cut_anywhere_is_damaged_or_right(store3: Path, wrong: Wrong) -> None:
    whole = store3.read_bytes()
    cuts = {boundary + by for boundary in range(0, len(whole) + 1, PAGE) for by in (-1, 0, 1)} | {100, len(whole) // 2}
    cases = [(f"cut at {cut}", (whole + b"\0")[:cut]) for cut in sorted(cuts) if cut >= 0]
    assert wrong(cases, Truth(store3, 300)) == ""


def flipped(whole: bytes, bits: Iterable[int]) -> Cases:
    for bit in bits:
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit}", bytes(changed)


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store so large that its tree has a branch page, with many leaves below it."""
    path = tmp_path_factory.mktemp("branched") / "s"
    build_store(grid(3, 5, 3), path, jobs=2)
    return path


@pytest.mark.parametrize("count", [30, pytest.param(400, marks=pytest.mark.slow)])
def test_a_flipped_bit_where_the_file_keeps_its_structure_is_noticed_or_harmless(
    count: int, branched: Path, wrong: Wrong
) -> None:
    whole, rng = branched.read_bytes(), random.Random(12)
    kinds = {at: int.from_bytes(whole[at + 10 : at + 12], "little") for at in range(0, len(whole) - PAGE, PAGE)}
    metas, branches, leaves = ([at for at, kind in kinds.items() if kind == which] for which in (8, 1, 2))
    assert (metas, len(branches) > 0, len(leaves) > 10) == ([0, PAGE], True, True)
    bits = [8 * at + rng.randrange(8 * PAGE) for at in branches for _ in range(count)]
    bits += [8 * at + rng.randrange(8 * 160) for at in metas for _ in range(count)]
    bits += [8 * at + rng.randrange(8 * 32) for at in rng.choices(leaves, k=count)]  # before the records
    assert wrong(flipped(whole, bits), Truth(branched, 30)) == ""


def test_a_file_in_which_leaves_and_branches_are_swapped_is_named_as_damaged(
    branched: Path, tmp_path: Path, wrong: Wrong
) -> None:
    whole = bytearray(branched.read_bytes())
    for at in range(2 * PAGE, len(whole) // (PAGE + 4) * PAGE, PAGE):
        whole[at + 10] ^= 3
    assert wrong([("all", bytes(whole))], Truth(branched, 100)) == ""
    (tmp_path / "s").write_bytes(whole)
    with pytest.raises(StoreDamaged, match=r"page \d+ is not as it was written"):
        Store(tmp_path / "s")
