"""Starting `ttt4-query`: which store answers, or none, and what has to be loaded for that."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import refused

from oracle.cli.main import main
from solver.games.duel import Duel
from solver.proof.build import build_store

EMPTY = ".../.../..."
THREE = ["--game", "3,3,3"]
BUILD = "ttt4-solve build --game 3,3,3"
Run = Callable[..., Any]

LISTING = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from oracle.cli.main import main
main()
"""
SLOW_TO_LOAD = {
    "numba", "numpy", "llvmlite", "hashlib", "lmdb", "multiprocessing", "pathlib", "solver.store.writer",
    "solver.proof.build",
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(usual: Path) -> Path:
    """The usual place of the store of 3x3, in which there is none."""
    return usual / "3x3x3.ttt4"


def loaded(*arguments: object) -> set[str]:
    """The modules in a process at the end of an answer; boards are there on standard input."""
    ran = subprocess.run(
        [sys.executable, "-c", LISTING, *map(str, arguments)], input=f"{EMPTY}\nX8\n", capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    return set(ran.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("asked", [[EMPTY], ["-"]])
def test_an_answer_from_a_store_loads_no_compiler_no_search_and_no_writer(asked: list[str], store3: Path) -> None:
    modules = loaded(*asked, *THREE, "--store", store3)
    assert "solver.store.store" in modules
    assert not modules & (SLOW_TO_LOAD | {"solver.search.live"})


def test_an_answer_about_the_duel_loads_no_more(tmp_path: Path) -> None:
    build_store(Duel(3, 3), tmp_path / "s", jobs=1)
    for where, module in ((("--store", tmp_path / "s"), "solver.duel.scores"), (("--live",), "solver.duel.plain")):
        modules = loaded(EMPTY, "--game", "duel,3,3", *where)
        assert module in modules
        assert not modules & (SLOW_TO_LOAD | {"solver.search.live", "solver.duel.search"})


@pytest.mark.parametrize("asked", [["-"], [EMPTY, "--live"]])
def test_a_live_search_loads_no_compiler_and_no_writer(asked: list[str]) -> None:
    modules = loaded(*asked, *THREE)
    assert "solver.search.live" in modules
    assert not modules & SLOW_TO_LOAD


@pytest.mark.parametrize("board", [EMPTY, "XO./.../...", "XXO/OOX/XXO", "XXX/OO./..."])
def test_without_a_store_the_answer_is_searched_and_stderr_says_how_to_have_one(
    board: str, store3: Path, place: Path, run: Run
) -> None:
    searched = run(main, board, *THREE, "--json")
    assert searched.code == 0
    assert len(searched.err.splitlines()) == 1
    assert str(place) in searched.err
    assert searched.err.endswith(f"{BUILD}\n")
    stored = run(main, board, *THREE, "--json", "--store", store3)
    assert json.loads(searched.out) == json.loads(stored.out) | {"source": "search"}
    assert json.loads(stored.out)["source"] == "store"


def test_a_store_in_the_usual_place_or_that_the_environment_names_answers_unless_a_live_search_is_asked_for(
    store3: Path, place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def source(*options: object) -> str:
        ran = run(main, EMPTY, *THREE, "--json", *options)
        assert (ran.code, ran.err) == (0, "")
        return str(json.loads(ran.out)["source"])

    monkeypatch.setenv("TTT4_STORE", str(store3))
    assert source() == "store"
    monkeypatch.delenv("TTT4_STORE")
    place.write_bytes(store3.read_bytes())
    assert [source(), source("--live"), source("--live", "--store", store3)] == ["store", "search", "search"]


@pytest.mark.parametrize("asked", [EMPTY, "-"])
def test_a_store_that_is_named_and_missing_ends_with_3(asked: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(run(main, asked, *THREE, "--store", "none"), 3, "'none'", f"{BUILD} --store none")
    monkeypatch.setenv("TTT4_STORE", "none")
    assert refused(run(main, asked, *THREE), 3, "'none'", BUILD)


@pytest.mark.parametrize("game", ["4,4,4", "3,3,3,misere", "3,4,3"])
def test_a_store_of_another_game_ends_with_3(game: str, store3: Path, run: Run) -> None:
    ran = run(main, "--moves", "", "--game", game, "--store", store3)
    assert refused(ran, 3, "'3,3,3'", f"'{game}'", "name another path with --store")
    assert "--force" not in ran.err, "a command that would destroy the store of the other game is never advised"


def test_a_file_that_was_never_a_store_ends_with_4_and_its_overwriting_is_not_advised(run: Run) -> None:
    Path("notes.txt").write_text("my diary")
    ran = run(main, EMPTY, *THREE, "--store", "notes.txt")
    assert refused(ran, 4, "'notes.txt' is not a store", "name another path with --store")
    assert "build" not in ran.err


def test_a_damaged_store_of_another_game_is_named_as_such_and_its_overwriting_is_not_advised(
    store4: Path, run: Run
) -> None:
    whole = store4.read_bytes()
    Path("four").write_bytes(whole[: len(whole) // 2])
    ran = run(main, EMPTY, *THREE, "--store", "four")
    assert refused(ran, 3, "is a damaged store of game '4,4,4', not of '3,3,3'", "name another path")
    assert "build" not in ran.err
    at = whole.index(b"ttt4 store of 4,4,4") + len(b"ttt4 store of ")
    Path("four").write_bytes(whole[:at] + b"5" + whole[at + 1 :])
    assert refused(run(main, "16", "--store", "four"), 4, "is damaged"), "the name has a checksum of its own"


def test_a_folder_that_is_named_holds_a_store_for_each_game(
    store3: Path, store4: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stores").mkdir()
    for store in (store3, store4):
        (tmp_path / "stores" / store.name).write_bytes(store.read_bytes())
    for game in ("3,3,3", "4,4,4"):
        ran = run(main, "--moves", "", "--game", game, "--store", tmp_path / "stores")
        assert (ran.code, ran.err, f"{game.replace(',', 'x')}.ttt4." in ran.out) == (0, "", True)
    monkeypatch.setenv("TTT4_STORE", str(tmp_path / "stores"))
    assert run(main, "--moves", "", *THREE).code == 0
    assert refused(run(main, "--moves", "", "--game", "3,4,3"), 3, "3x4x3.ttt4", "ttt4-solve build --game 3,4,3")


def test_a_store_in_the_user_s_folder_answers_inside_a_checkout_too(
    store3: Path, place: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write_bytes(store3.read_bytes())
    for room in ("solver", "oracle", "play", "data"):
        (tmp_path / "checkout" / room).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout" / "play")
    ran = run(main, EMPTY, *THREE)
    assert (ran.code, ran.err, f"From the store {place}." in ran.out) == (0, "", True)
    (tmp_path / "checkout" / "data" / "3x3x3.ttt4").write_bytes(b"")
    assert run(main, EMPTY, *THREE).code == 4, "the checkout's comes first"


def test_a_store_of_another_format_ends_with_3(store3: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.store.manifest.FORMAT", 2)
    assert refused(run(main, EMPTY, *THREE, "--store", store3), 3, "has format 3", "--force")


def test_a_store_that_is_no_store_or_cut_short_or_has_any_byte_flipped_ends_with_4(
    store3: Path, place: Path, run: Run
) -> None:
    whole, rng = store3.read_bytes(), random.Random(7)
    sizes = (1, 4, 100, 4096, len(whole) // 2, len(whole) - 4, len(whole) - 1)
    flipped = rng.sample(range(len(whole)), 100)
    for damaged in (
        b"", b"no store\n", b"text " * 9999, bytes(1 << 16), *(whole[:size] for size in sizes),
        *(whole[:at] + bytes([whole[at] ^ rng.randrange(1, 256)]) + whole[at + 1 :] for at in flipped),
    ):  # fmt: skip
        place.write_bytes(damaged)
        assert refused(run(main, EMPTY, *THREE), 4, f"{BUILD} --force")


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_closed_streams_are_refused_in_one_line(closed: str, store3: Path) -> None:
    command = f"{Path(sys.executable).with_name('ttt4-query')} - --game 3,3,3 --store {store3} {closed}"
    ran = subprocess.run(["sh", "-c", command], input=b"9\n", stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 1
    assert ran.stderr.count(b"\n") == 1
    assert b"is closed" in ran.stderr


@pytest.mark.parametrize("name", [b"\xff.ttt4", b"two\nlines.ttt4"])
def test_a_store_of_an_odd_name_is_used_or_refused_in_one_line(name: bytes, store3: Path, tmp_path: Path) -> None:
    store = bytes(tmp_path) + b"/" + name
    for there in (False, True):
        if there:
            Path(store.decode(errors="surrogateescape")).write_bytes(store3.read_bytes())
        command = [str(Path(sys.executable).with_name("ttt4-query")), "9", "--game", "3,3,3", "--store", store]
        ran = subprocess.run(command, capture_output=True, check=False)
        assert ran.returncode == (0 if there else 3)
        assert ran.stderr.count(b"\n") == (ran.returncode != 0)
        assert b"Traceback" not in ran.stderr


def test_an_answer_comes_in_a_folder_that_was_deleted(store3: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone}; rmdir {gone}; {Path(sys.executable).with_name('ttt4-query')} 9 --game 3,3,3 --store {store3}"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert f"From the store {store3}." in ran.stdout


def test_a_board_too_large_for_a_store_has_none_that_could_be_named(run: Run) -> None:
    ran = run(main, "36", "--game", "6,6,4", "--store", "nope")
    assert ran.code == 2
    assert "too many to solve" in ran.err
    assert "build" not in ran.err
