"""What a build takes is known before it begins, and what the machine has no room for is refused with the numbers."""

import os
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from solver.cli.main import main
from solver.errors import TooLarge
from solver.games.notation import parse_game
from solver.index.symmetry import image, symmetries
from solver.proof.build import build_store
from solver.proof.plan import LARGEST_STORE, Plan, available_memory, plan_build, require_storable
from solver.store.sealed import _MOST_PAGES
from solver.store.store import Store
from solver.sweep.halves import all_halves, kernel_game
from solver.sweep.layers import page_sizes

GAMES = ["3,3,3", "3,4,3", "2,5,3,misere", "1,9,4", "3,3,1"]


@pytest.mark.parametrize("name", GAMES)
def test_the_plan_counts_every_place_that_is_filled(name: str, tmp_path: Path) -> None:
    game = parse_game(name)
    report = build_store(game, tmp_path / "s", jobs=1)
    planned = plan_build(game.cells, all_halves(kernel_game(game, symmetries(game))), 1)
    assert planned.filled == report.summary.filled
    with Store(tmp_path / "s") as store:
        assert planned.stored == sum(len(page) for _, _, page in store.pages())


@pytest.mark.parametrize("name", GAMES)
def test_the_plan_s_memory_holds_two_layers_at_once_and_all_halves(name: str) -> None:
    game = parse_game(name)
    group = symmetries(game)
    held = []
    for xs in range((game.cells + 1) // 2 + 1):
        sets = [sum(1 << cell for cell in chosen) for chosen in combinations(range(game.cells), xs)]
        live = [x for x in sets if min(image(g, x) for g in group) == x and not game.completed(x)]
        held.append(len(live) * page_sizes(game.cells, xs)[1])
    halves = all_halves(kernel_game(game, group))
    kept = sum(each.nbytes for layer in halves for each in layer)
    assert plan_build(game.cells, halves, 1).pages == kept + max(a + b for a, b in pairwise(held))


def test_the_plan_names_all_that_a_long_build_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    told = Plan(18_457_780_020, 18_457_780_020, 8_466_707_449, 4_900_000_000, 25, 2).describe()
    assert told == "18,457,780,020 places: 5.2 GB of memory at most, about 3.4 GB of disk and 9 min"
    assert len(told) <= 80


def test_threads_beyond_the_cores_save_no_time() -> None:
    few, many = (Plan(10**9, 10**9, 10**9, 10**9, 25, jobs) for jobs in (os.cpu_count() or 1, 1000))
    assert few.seconds == many.seconds


@pytest.mark.parametrize(
    ("what", "patched"),
    [
        ("memory", ("solver.proof.plan.available_memory", lambda: 1 << 20)),
        ("disk", ("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1 << 10}))),
    ],
)
def test_what_the_machine_has_no_room_for_is_refused_in_one_line_with_the_numbers(
    what: str, patched: tuple[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.setattr(*patched)
    with pytest.raises(TooLarge, match=f"of {what}, but .* is available"):
        build_store(parse_game("3,4,3"), tmp_path / "s", jobs=2)
    ran = run(main, "build", "--game", "3,4,3", "--store", tmp_path / "s")
    assert ran.code == 1
    said = [line for line in ran.err.splitlines() if not line.endswith("...")]
    assert len(said) == 1
    assert said[0].startswith("Error: game '3,4,3' has ")
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_not_verified_where_memory_is_short(store3: Path, monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    monkeypatch.setattr("solver.proof.plan.available_memory", lambda: 1 << 20)
    assert run(main, "verify", "--game", "3,3,3", "--store", store3).code == 1


def test_the_memory_that_is_free_is_no_more_than_there_is() -> None:
    assert 1 << 26 < available_memory() < 1 << 50


def test_a_store_that_may_be_larger_than_any_that_is_read_is_refused_with_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = parse_game("4,8,4")
    most = LARGEST_STORE * 5 + 4
    require_storable(game, Plan(most, most, most, 0, 32, 1))
    with pytest.raises(TooLarge, match=r"'4,8,4' has 5,497,558,138,885 places to store: .* 1,099\.5 GB"):
        require_storable(game, Plan(most + 1, most + 1, most + 1, 0, 32, 1))
    monkeypatch.setattr("solver.proof.plan.LARGEST_STORE", 10)
    with pytest.raises(TooLarge, match="choose a smaller board"):
        build_store(parse_game("3,4,3"), tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []


def test_a_store_as_large_as_may_be_built_can_be_read() -> None:
    assert _MOST_PAGES * 4096 >= LARGEST_STORE
