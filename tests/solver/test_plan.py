"""What a build takes is known before it begins, and what the machine has no room for is refused with the numbers."""

import json
import os
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from clusters import refusal
from stores import break_off

from solver.cli.main import main
from solver.errors import TooLarge
from solver.games.notation import parse_game
from solver.index.symmetry import image, symmetries
from solver.kinds import kind_of
from solver.proof.build import build_store
from solver.proof.crew import threads
from solver.proof.plan import LARGEST_STORE, Holder, Plan, available_memory, plan_lines, require_storable, size_in_words
from solver.proof.progress import silent
from solver.store.store import Store
from solver.sweep.halves import all_halves, kernel_game
from solver.sweep.layers import page_sizes

GAMES = ["3,3,3", "3,4,3", "2,5,3,misere", "1,9,4", "3,3,1"]


def plan_of(name: str, hands: int = 1) -> Plan:
    """What is planned for a game by its notation."""
    game = parse_game(name)
    with threads(hands) as crew:
        return kind_of(game).proof(game, kind_of(game).symmetries(game), None, crew=crew, on_progress=silent).plan


def give_disk(patch: pytest.MonkeyPatch, free: int) -> None:
    """Let every disk have so many free bytes."""
    patch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))


@pytest.fixture
def planned(run: Callable[..., Any], tmp_path: Path) -> Callable[..., tuple[dict[str, Any], list[str]]]:
    """What the command says of a game, as JSON and as lines, with the store in an empty folder."""

    def planning(name: str, *options: object) -> tuple[dict[str, Any], list[str]]:
        arguments = ("plan", "--game", name, "--store", tmp_path / "s", "--jobs", 2, *options)
        one, other = run(main, *arguments, "--json"), run(main, *arguments)
        for ran in (one, other):
            assert (ran.code, ran.err.splitlines()) == (0, ["compiling..."])
        assert one.out.count("\n") == 1
        return json.loads(one.out), other.out.splitlines()

    return planning


@pytest.mark.parametrize("name", GAMES)
def test_the_plan_counts_every_place_that_is_filled(name: str, tmp_path: Path) -> None:
    report, planned = build_store(parse_game(name), tmp_path / "s", jobs=1), plan_of(name)
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
    planned = plan_of(name)
    assert planned.pages == max(a + b for a, b in pairwise(held))
    assert planned.always == sum(each.nbytes for layer in halves for each in layer)
    assert planned.memory(Holder.RAW) > planned.pages + planned.always
    assert planned == plan_lines(
        game.cells, {n: (len(each.open), len(each.finished)) for n, each in enumerate(halves)}, 1
    )


def test_the_plan_of_a_large_board_holds_the_halves_of_few_layers() -> None:
    layout = {0: (1, 0), 1: (1000, 0), 2: (5000, 100), 3: (900, 300)}
    small, large = plan_lines(25, layout, 1), plan_lines(26, layout, 1)
    assert small.always == 8 * (1 + 1000 + 5100 + 1200)
    assert 2 * 8 * 5100 <= large.always <= 4 * 8 * 5100


def test_the_plan_names_all_that_a_long_build_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    plan = Plan(18_457_780_020, 18_457_780_020, 8_466_707_449, 4_800_000_000, 100_000_000, 25, 2)
    told = plan.describe(Holder.RAW)
    assert told == "18,457,780,020 places: 5.2 GB of memory at most, about 3.4 GB of disk and 3 min"
    assert len(told) <= 80
    assert plan.describe(Holder.PACKED) == told.replace("5.2 GB", "1.6 GB")
    assert plan.describe(Holder.FILES) == told.replace("5.2 GB", "639.0 MB").replace("3.4 GB", "4.3 GB")


def test_each_way_to_hold_pages_takes_less_memory_than_the_one_before_and_only_files_take_more_disk() -> None:
    plan = Plan(10**12, 10**12, 10**11, 10**11, 10**9, 25, 8)
    memory, scratch = ([of(holder) for holder in Holder] for of in (plan.memory, plan.scratch))
    assert memory[0] > memory[1] > memory[2] > plan.always
    assert scratch[0] == scratch[1] < scratch[2]
    assert scratch[0] >= plan.store > plan.stored // plan.places_per_byte


def test_threads_beyond_the_cores_save_no_time() -> None:
    few, many = (Plan(10**9, 10**9, 10**9, 10**9, 0, 25, hands) for hands in (os.cpu_count() or 1, 1000))
    assert few.seconds == many.seconds
    assert few.core_seconds == many.core_seconds >= few.seconds


def test_pages_are_held_in_the_fastest_way_that_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(10**12, 10**12, 10**11, 10**11, 10**9, 25, 8)
    for holder in Holder:
        for short, fits in ((0, holder), (1, {Holder.RAW: Holder.PACKED}.get(holder, Holder.FILES))):
            free = plan.memory(holder) - short
            monkeypatch.setattr("solver.proof.plan.available_memory", lambda free=free: free)
            assert plan.choose() is fits
            assert plan.choose(files=False) is (Holder.PACKED if fits is Holder.FILES else fits)


@pytest.mark.parametrize(
    ("what", "patched"),
    [
        ("memory", ("solver.proof.plan.available_memory", lambda: 1 << 20)),
        ("disk", ("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 10))),
    ],
)
def test_what_the_machine_has_no_room_for_is_refused_in_one_line_with_the_numbers(
    what: str, patched: tuple[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.setattr(*patched)
    with pytest.raises(TooLarge, match=f"of {what}, but .* is available"):
        build_store(parse_game("3,4,3"), tmp_path / "s", jobs=2)
    said = refusal(run(main, "build", "--game", "3,4,3", "--store", tmp_path / "s"))
    assert said.startswith("Error: game '3,4,3' has ")
    assert list(tmp_path.iterdir()) == []


def test_a_build_needs_room_only_for_what_its_scratch_folder_does_not_have_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, plan = parse_game("3,4,3"), plan_of("3,4,3", 2)
    kept = 0
    for tasks in (0, 5):
        if tasks:
            break_off(game, tmp_path / "s", tasks)
            kept = sum(file.stat().st_size for file in (tmp_path / "s.partial").glob("*.*.*"))
        needs = plan.store + plan.scratch(Holder.RAW) - kept
        with monkeypatch.context() as patched:
            give_disk(patched, needs - 1)
            with pytest.raises(TooLarge, match=r"of disk, but .* is available"):
                build_store(game, tmp_path / "s", jobs=2)
        give_disk(monkeypatch, needs)
    build_store(game, tmp_path / "s", jobs=2)


def test_where_memory_is_short_a_build_holds_its_pages_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_of: Any
) -> None:
    seen: set[str] = set()
    monkeypatch.setattr(Plan, "memory", lambda self, holder: 1 if holder is Holder.FILES else 1 << 60)

    def on_progress(_: object) -> None:
        seen.update(file.suffix for file in (tmp_path / "s.partial").glob("*.pages"))

    build_store(parse_game("3,4,3"), tmp_path / "s", jobs=2, on_progress=on_progress)
    assert seen == {".pages"}
    assert (tmp_path / "s").read_bytes() == store_of("3,4,3").read_bytes()


def test_the_memory_that_is_free_is_no_more_than_there_is() -> None:
    assert 1 << 26 < available_memory() < 1 << 50


FOUND = {"game", "cells", "places", "store", "core_hours", "seconds", "free_memory", "free_scratch", "ways"}


@pytest.mark.parametrize("name", ["3,3,3", "4,5,4", "3,4,3,misere", "duel,3,3"])
def test_the_command_plan_says_what_is_planned_as_json_and_in_words(name: str, planned: Any, tmp_path: Path) -> None:
    (said, lines), plan = planned(name, "--scratch", "/tmp"), plan_of(name, 2)
    assert set(said) == FOUND
    assert (said["game"], said["cells"]) == (name, parse_game(name).cells)
    assert (said["places"], said["store"]) == (plan.filled, plan.store)
    assert said["seconds"] == round(plan.seconds)
    assert said["core_hours"] == round(plan.core_seconds / 3600, 2)
    holders = list(Holder) if "duel" not in name else [Holder.RAW]
    assert [way["holder"] for way in said["ways"]] == [holder.name.lower() for holder in holders]
    for way, holder in zip(said["ways"], holders, strict=True):
        assert set(way) == {"holder", "memory", "scratch", "fits"}
        assert (way["memory"], way["scratch"]) == (plan.memory(holder), plan.scratch(holder))
        assert way["fits"] is (way["memory"] <= said["free_memory"])
    assert lines[0] == f"{name}: {said['places']:,} places on {said['cells']} cells"
    for way in said["ways"]:
        (line,) = [line for line in lines if line.startswith(Holder[way["holder"].upper()].value + "  ")]
        assert size_in_words(way["memory"]) in line
        assert size_in_words(way["scratch"]) in line
        assert line.endswith("   fits" if way["fits"] else "   does not fit")
    assert any(line.startswith("store ") and size_in_words(said["store"]) in line for line in lines)
    (line,) = [line for line in lines if line.startswith("free ")]
    assert size_in_words(said["free_scratch"])[-2:] in line
    assert line.endswith(" /tmp")
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    assert list(tmp_path.iterdir()) == []


def test_the_command_plan_says_what_does_not_fit(planned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("4,5,4", 2)

    def fitting() -> list[str]:
        said, lines = planned("4,5,4")
        words = [line for line in lines if line.endswith((" fits", " does not fit"))]
        assert [line.endswith("   fits") for line in words] == [way["fits"] for way in said["ways"]]
        return [way["holder"] for way in said["ways"] if way["fits"]]

    assert fitting() == ["raw", "packed", "files"]
    with monkeypatch.context() as patched:
        least = min(plan.memory(holder) for holder in Holder)
        patched.setattr("solver.proof.outlook.available_memory", lambda: least)
        assert fitting() == [holder.name.lower() for holder in Holder if plan.memory(holder) == least]
    with monkeypatch.context() as patched:
        give_disk(patched, plan.scratch(Holder.RAW))
        assert "files" not in fitting()
    give_disk(monkeypatch, plan.store - 1)
    assert fitting() == []


def test_what_the_command_plan_says_fits_is_what_a_build_accepts(
    planned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    """The store and the scratch beside it share a disk, which must have room for both."""
    plan = plan_of("3,4,3", 2)
    for free in (plan.store + plan.scratch(Holder.RAW) - 1, plan.store + plan.scratch(Holder.RAW)):
        give_disk(monkeypatch, free)
        raw = planned("3,4,3")[0]["ways"][0]
        build = run(main, "build", "--game", "3,4,3", "--store", tmp_path / "s", "--jobs", 2)
        assert raw["fits"] == (build.code == 0)


def test_what_is_free_is_known_of_a_scratch_folder_that_is_not_there_yet_but_not_of_an_object_store(
    planned: Any, tmp_path: Path
) -> None:
    assert planned("3,3,3", "--scratch", tmp_path / "deep" / "deeper")[0]["free_scratch"] > 0
    assert list(tmp_path.iterdir()) == []
    said, lines = planned("3,3,3", "--scratch", "s3://bucket/ttt4")
    assert said["free_scratch"] is None
    assert all(way["fits"] for way in said["ways"])
    (line,) = [line for line in lines if line.startswith("free ")]
    assert " unknown " in line
    assert line.endswith(" s3://bucket/ttt4")


def test_a_store_that_may_be_larger_than_any_that_is_read_is_refused_with_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = parse_game("4,8,4")
    most = (LARGEST_STORE - (1 << 19)) * 5 + 4
    require_storable(game, Plan(most, most, most, 0, 0, 32, 1))
    with pytest.raises(TooLarge, match=r"'4,8,4' has 5,497,555,517,445 places to store: .* 1,099\.5 GB"):
        require_storable(game, Plan(most + 1, most + 1, most + 1, 0, 0, 32, 1))
    monkeypatch.setattr("solver.proof.plan.LARGEST_STORE", 10)
    with pytest.raises(TooLarge, match="choose a smaller board"):
        build_store(parse_game("3,4,3"), tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []
