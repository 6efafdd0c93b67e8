"""Whatever happens to a store: the answer is right, or an error of ours. Never a signal."""

import faulthandler
import json
import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from solver.advice import with_advice
from solver.cli.main import main
from solver.errors import StoreDamaged, Ttt4Error
from solver.games.lines import grid
from solver.games.position import Position
from solver.proof.build import build_store
from solver.store.scores import Scores
from solver.store.store import Store

THREE = grid(3, 3, 3)
PAGE = 4096
Cases = Iterable[tuple[str, bytes]]


class Truth:
    """What a good store says, against which a damaged one is held."""

    def __init__(self, path: Path, asked: int) -> None:
        rng = random.Random(1)
        self.path = path
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
        """What a store at `path` does that it must not: nothing, if it says it is damaged or is right in all."""
        try:
            with Store(path, self.game) as store:
                try:
                    if [(*key, bytes(page)) for *key, page in store.pages()] != self.records:
                        return "other records"
                except StoreDamaged:
                    pass
                scores = Scores(store)
                for position, score in self.scores:
                    try:
                        if scores.score(position) != score:
                            return f"a wrong score for {position}"
                    except StoreDamaged:
                        pass
        except StoreDamaged:
            pass
        except BaseException as error:
            return repr(error)
        return ""


def faults(truth: Truth, cases: Cases, folder: Path) -> list[str]:
    """Every case that a forked child reads wrongly, or dies of."""
    cases = list(cases)
    found, start = [], 0
    while start < len(cases):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            faulthandler.disable()  # a signal is counted, not shown
            with os.fdopen(writing, "w", buffering=1) as report:
                for name, content in cases[start:]:
                    path = folder / "case"
                    path.write_bytes(content)
                    report.write(f"{name}: {truth.fault_of(path)}\n")
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as report:
            lines = report.read().splitlines()
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        found += [line for line in lines if not line.endswith(": ")]
        start += len(lines)
        if ended:
            found.append(f"{cases[start][0]}: the child ended with {ended}")
            start += 1
    return found


def test_a_store_cut_anywhere_is_damaged_or_right(store3: Path, tmp_path: Path) -> None:
    whole = store3.read_bytes()
    cuts = {boundary + by for boundary in range(0, len(whole) + 1, PAGE) for by in (-1, 0, 1)} | {100, len(whole) // 2}
    cases = [(f"cut at {cut}", (whole + b"\0")[:cut]) for cut in sorted(cuts) if cut >= 0]
    assert faults(Truth(store3, 300), cases, tmp_path) == []


def test_an_empty_store_and_a_halved_one_are_damaged(store3: Path, tmp_path: Path, run: Any) -> None:
    whole = store3.read_bytes()
    for content in (b"", whole[: len(whole) // 2]):
        (tmp_path / "s").write_bytes(content)
        with pytest.raises(StoreDamaged) as refusal:
            Store(tmp_path / "s")
        assert with_advice(refusal.value).endswith("--force")
        assert run(main, "info", "--game", "3,3,3", "--store", tmp_path / "s").code == 4


def flipped(whole: bytes, bits: Iterable[int]) -> Cases:
    for bit in bits:
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit}", bytes(changed)


@pytest.mark.slow
def test_a_flipped_bit_is_noticed_or_harmless(store4: Path, tmp_path: Path) -> None:
    whole = store4.read_bytes()
    bits = random.Random(2).sample(range(8 * len(whole)), 1000)
    assert faults(Truth(store4, 50), flipped(whole, bits), tmp_path) == []


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store so large that its tree has a branch page, with many leaves below it."""
    path = tmp_path_factory.mktemp("branched") / "s"
    build_store(grid(3, 5, 3), path, jobs=2)
    return path


@pytest.mark.parametrize("count", [30, pytest.param(400, marks=pytest.mark.slow)])
def test_a_flipped_bit_on_the_way_to_a_record_is_noticed(count: int, branched: Path, tmp_path: Path) -> None:
    whole, rng = branched.read_bytes(), random.Random(12)
    kinds = {at: int.from_bytes(whole[at + 10 : at + 12], "little") for at in range(0, len(whole) - PAGE, PAGE)}
    branches = [at for at, kind in kinds.items() if kind == 1]
    leaves = [at for at, kind in kinds.items() if kind == 2]
    assert branches
    assert len(leaves) > 10
    bits = [8 * at + rng.randrange(8 * PAGE) for at in branches for _ in range(count)]
    for at in rng.choices(leaves, k=count):  # of leaves, what comes before the records
        bits.append(8 * at + rng.randrange(8 * 32))
    assert faults(Truth(branched, 30), flipped(whole, bits), tmp_path) == []


def test_a_file_in_which_leaves_and_branches_are_swapped_is_named_as_damaged(branched: Path, tmp_path: Path) -> None:
    whole = bytearray(branched.read_bytes())
    for at in range(2 * PAGE, len(whole) // (PAGE + 4) * PAGE, PAGE):
        whole[at + 10] ^= 3
    assert faults(Truth(branched, 100), [("all", bytes(whole))], tmp_path) == []
    (tmp_path / "s").write_bytes(whole)
    with pytest.raises(StoreDamaged, match=r"page \d+ is not as it was written"):
        Store(tmp_path / "s")


@pytest.mark.parametrize("name", ["store3", pytest.param("store4", marks=pytest.mark.slow)])
def test_a_flipped_bit_where_the_file_keeps_its_structure_is_noticed_or_harmless(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(name)
    whole = path.read_bytes()
    flags = {page: int.from_bytes(whole[PAGE * page + 10 : PAGE * page + 12], "little") for page in (0, 1, 2)}
    assert flags == {0: 8, 1: 8, 2: 2}  # two meta pages and the leaf, which is the tree in a file so small
    starts = {0: 160, 1: 160, 2: PAGE}
    rng = random.Random(6)
    bits: list[int] = []
    for page, size in starts.items():
        bits += rng.sample(range(8 * PAGE * page, 8 * (PAGE * page + size)), 200)
    bits += rng.sample(range(8 * 2 * PAGE, 8 * (2 * PAGE + 100)), 200)
    assert faults(Truth(path, 100), flipped(whole, bits), tmp_path) == []


def test_only_errors_of_ours_come_from_a_file_that_verify_is_given(
    store3: Path, tmp_path: Path, forked: Callable[..., tuple[int, str]]
) -> None:
    rng, whole = random.Random(3), store3.read_bytes()

    def verified() -> str:
        from solver.proof.verify import verify_store

        bad = []
        for _ in range(150):
            changed, bit = bytearray(whole), rng.randrange(8 * len(whole))
            changed[bit // 8] ^= 1 << bit % 8
            (tmp_path / "s").write_bytes(changed)
            try:
                verify_store(tmp_path / "s", THREE, jobs=1, sample=0)
            except StoreDamaged:
                pass
            except (Ttt4Error, Exception) as error:
                bad.append(f"bit {bit}: {error!r}")
        return json.dumps(bad)

    assert forked(verified) == (0, "[]")
