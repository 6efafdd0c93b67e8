"""What was solved is not solved again, whatever broke a build off; a journal is believed as far as it is right."""

import json
import os
import random
import signal
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores import break_off, damaged_journal

from solver.cli.main import main
from solver.errors import SolversDisagree, StoreUnwritable
from solver.games.notation import parse_game
from solver.index.symmetry import symmetries
from solver.proof.build import build_store
from solver.proof.progress import Progress
from solver.store.journal import Journal
from solver.store.record import with_checksum
from solver.store.store import Store
from solver.sweep.layers import Chunk, Filled, Layer

GAMES = ["3,3,3", "3,3,3,misere", "3,4,3", "2,5,3,misere", "1,7,3", pytest.param("4,4,4", marks=pytest.mark.slow)]


def content(path: Path) -> tuple[Any, ...]:
    """All that a store says."""
    with Store(path) as store:
        return store.manifest, list(store.records())


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many X's the layer had, for each time that one of its chunks was filled from the layer before it."""
    seen: list[int] = []
    fill = Layer.fill

    def counted(self: Layer, chunk: Chunk) -> Filled:
        seen.append(self.x_count)
        return fill(self, chunk)

    monkeypatch.setattr(Layer, "fill", counted)
    return seen


@pytest.mark.parametrize("name", GAMES)
def test_a_build_broken_off_after_any_layer_goes_on_there_and_ends_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filled: list[int]
) -> None:
    game, path = parse_game(name), tmp_path / "s"
    build_store(game, tmp_path / "whole", jobs=2)
    expected = content(tmp_path / "whole")
    count = (game.cells + 1) // 2 + 1
    for layers in range(1, count + 1):
        break_off(game, path, layers, monkeypatch)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["s.partial", "whole"]
        filled.clear()
        notes: list[str] = []
        build_store(game, path, jobs=2, on_progress=lambda progress, notes=notes: notes.append(progress.note))  # type: ignore[misc]
        # The fullest layer of an odd board has no page where X is to move: it is filled again, and is small.
        again = {count - 1} if game.cells % 2 and layers == 1 else set()
        assert set(filled) == set(range(count - layers)) | again
        assert any("resuming" in note for note in notes)
        assert content(path) == expected
        assert sorted(file.name for file in tmp_path.iterdir()) == ["s", "whole"]
        path.unlink()


def test_a_build_broken_off_again_and_again_ends_the_same(
    tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, path = parse_game("4,4,4"), tmp_path / "s"
    for layers in range(1, 10):
        break_off(game, path, layers, monkeypatch)
    build_store(game, path, jobs=1)
    assert content(path) == content(store4)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "altered", "longer"])
def test_a_damaged_journal_is_believed_as_far_as_it_is_right(
    damage: str, tmp_path: Path, store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, path, rng = parse_game("3,3,3"), tmp_path / "s", random.Random(9)
    partial = tmp_path / "s.partial"
    break_off(game, path, 5, monkeypatch)
    good, expected = partial.read_bytes(), content(store3)
    for _ in range(150):
        partial.write_bytes(damaged_journal(good, damage, rng))
        build_store(game, path, jobs=1)
        assert content(path) == expected
        assert not partial.exists()


def test_a_file_that_is_not_of_this_game_s_build_is_refused_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    path, partial = tmp_path / "s", tmp_path / "s.partial"
    break_off(parse_game("3,3,3,misere"), path, 3, monkeypatch)
    other = partial.read_bytes()
    altered = bytearray(other)
    altered[20] ^= 1
    for there, why in (
        (other, "is the journal of a build of '3,3,3,misere'"),
        (bytes(altered), "is not a journal"),
        (b"my film", "is not a journal"),
        (bytes(5000), "is not a journal"),
    ):
        partial.write_bytes(there)
        ran = run(main, "build", "--game", "3,3,3", "--store", path)
        assert ran.code == 1
        assert ran.err.startswith("Error: ")
        assert why in ran.err
        assert "--store" in ran.err
        assert partial.read_bytes() == there
        assert not path.exists()


def test_a_journal_that_is_altered_while_the_store_is_written_is_noticed_and_kept(
    tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch, filled: list[int]
) -> None:
    game, path, partial = parse_game("4,4,4"), tmp_path / "s", tmp_path / "s.partial"
    searching = (
        "solver.proof.prove.LineProof.search_empty_board"  # which is done when all is solved and nothing is written
    )

    def alter(by: int) -> Callable[..., None]:
        def altered(*_: object) -> str:
            data = bytearray(partial.read_bytes())
            if by:
                data[len(data) // 2] ^= by
            else:
                del data[-100:]
            partial.write_bytes(data)
            return ""

        return altered

    for by in (1, 0):
        with monkeypatch.context() as patched:
            patched.setattr(searching, alter(by))
            with pytest.raises(StoreUnwritable, match="changed during the build"):
                build_store(game, path, jobs=2)
        assert [file.name for file in tmp_path.iterdir()] == ["s.partial"]
    filled.clear()
    build_store(game, path, jobs=2)
    assert filled
    assert 8 not in filled
    assert content(path) == content(store4)


def test_a_build_interrupted_when_its_store_is_in_place_leaves_nothing_else(
    tmp_path: Path, store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(new: Path, path: Path) -> None:
        os.replace(new, path)
        raise KeyboardInterrupt

    monkeypatch.setattr("solver.store.writer.replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_store(parse_game("3,3,3"), tmp_path / "s", jobs=1)
    assert [file.name for file in tmp_path.iterdir()] == ["s"]
    assert content(tmp_path / "s") == content(store3)


def test_only_the_layers_from_the_damaged_one_on_are_made_again(
    tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch, filled: list[int]
) -> None:
    game, path = parse_game("4,4,4"), tmp_path / "s"
    break_off(game, path, 6, monkeypatch)
    with Journal(path, game, symmetries(game)) as journal:
        assert [layer.number for layer in journal.layers] == [8, 7, 6, 5, 4, 3]
        start, stop = journal.layers[3].start, journal.layers[3].stop
        data = bytearray((tmp_path / "s.partial").read_bytes())
    data[(start + stop) // 2] ^= 1
    (tmp_path / "s.partial").write_bytes(data)
    filled.clear()
    build_store(game, path, jobs=2)
    assert set(filled) == {5, 4, 3, 2, 1, 0}
    assert content(path) == content(store4)


def test_what_the_solvers_disagree_on_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = Layer.fill

    def erring(self: Layer, chunk: Chunk) -> Filled:
        pages = fill(self, chunk)
        if self.x_count == 2 and pages.x_to_move:
            pages.x_to_move.scores[0, 0] ^= 1
        return pages

    monkeypatch.setattr(Layer, "fill", erring)
    with pytest.raises(SolversDisagree):
        build_store(parse_game("3,3,3"), tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []


def test_a_second_build_of_the_same_path_is_refused(tmp_path: Path) -> None:
    game = parse_game("3,3,3")
    with Journal(tmp_path / "s", game, symmetries(game)), pytest.raises(StoreUnwritable, match="another build"):
        Journal(tmp_path / "s", game, symmetries(game))
    assert list(tmp_path.iterdir()) == []


def test_a_failure_to_write_the_store_keeps_the_journal(
    tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch, filled: list[int]
) -> None:
    game, path = parse_game("4,4,4"), tmp_path / "s"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", full)
        with pytest.raises(StoreUnwritable, match="No space"):
            build_store(game, path, jobs=2)
    assert [file.name for file in tmp_path.iterdir()] == ["s.partial"]
    filled.clear()
    build_store(game, path, jobs=2)
    assert filled == []
    assert content(path) == content(store4)


@pytest.mark.slow
def test_a_large_build_killed_twenty_times_and_damaged_between_ends_the_same(
    tmp_path: Path, solve_process: Callable[..., Any], run: Callable[..., Any]
) -> None:
    rng, path, partial = random.Random(20), tmp_path / "s", tmp_path / "s.partial"
    arguments = ("build", "--game", "4,5,4", "--store")
    assert run(main, *arguments, tmp_path / "whole").code == 0
    continued = kills = 0
    while kills < 20:
        building = solve_process(*arguments, path)
        time.sleep(rng.uniform(0.5, 4.0))
        building.send_signal(signal.SIGKILL)
        _, err = building.communicate()
        if building.returncode == 0:  # it was quicker: the next one begins anew
            assert content(path) == content(tmp_path / "whole")
            path.unlink()
            continue
        continued += "resuming" in err
        kills += 1
        if kills in (5, 10, 15, 18) and partial.exists() and partial.stat().st_size > 10_000:
            with open(partial, "r+b") as file:  # in the newest quarter, so that the work is done at last
                at = rng.randrange(partial.stat().st_size * 3 // 4, partial.stat().st_size)
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << rng.randrange(8)]))
    assert run(main, *arguments, path).code == 0
    assert continued > 5
    assert content(path) == content(tmp_path / "whole")
    assert sorted(os.listdir(tmp_path)) == ["nowhere", "s", "whole"]


def test_who_continues_is_told_from_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    break_off(parse_game("4,4,4"), tmp_path / "s", 4, monkeypatch)
    ran = run(main, "build", "--store", tmp_path / "s")
    assert ran.code == 0
    assert "resuming at ply 10: " in ran.err
    assert "are solved already" in ran.err


def test_who_continues_is_told_what_of_the_journal_was_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    break_off(parse_game("4,4,4"), tmp_path / "s", 6, monkeypatch)
    ran = run(main, "info", "--store", tmp_path / "s")
    assert (ran.code, "resume its interrupted build: ttt4-solve build" in ran.err) == (3, True)
    data = bytearray((tmp_path / "s.partial").read_bytes())
    data[-1000] ^= 1
    (tmp_path / "s.partial").write_bytes(data)
    ran = run(main, "build", "--store", tmp_path / "s")
    assert ran.code == 0
    assert "solving again what was unfinished or damaged" in ran.err


def test_progress_of_a_continued_build_begins_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, told = parse_game("4,4,4"), []
    break_off(game, tmp_path / "s", 5, monkeypatch)

    def on_progress(progress: Progress) -> None:
        if progress.total:
            told.append(progress.done / progress.total)

    build_store(game, tmp_path / "s", jobs=1, on_progress=on_progress)
    assert told == sorted(told)
    assert told[0] > 0.3
    assert told[-1] == 1


def altered_layer(partial: Path, change: Callable[[bytes, bytes], bytes], which: int) -> None:
    """Write a journal again with one of its entries changed, and its checksum right."""
    data, at, number, made = partial.read_bytes(), 0, 0, bytearray()
    while at < len(data):
        length, key = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 9]
        value = data[at + 9 : at + 9 + length]
        if number == which:
            value = with_checksum(key, change(key, value[4:]))
        made += len(value).to_bytes(4) + key + value
        at, number = at + 9 + length, number + 1
    partial.write_bytes(made)


def test_a_record_that_an_earlier_build_is_made_to_have_kept_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def negated(key: bytes, body: bytes) -> bytes:
        content = bytearray(zlib.decompress(body))
        at = next(i for i in range(len(content) - 1, 0, -1) if content[i] not in (0, 128))
        content[at] = 256 - content[at]
        return zlib.compress(bytes(content), 6)

    game = parse_game("2,7,3")  # whose digest is not published
    break_off(game, tmp_path / "s", 4, monkeypatch)
    altered_layer(tmp_path / "s.partial", negated, 1)
    with pytest.raises((StoreUnwritable, SolversDisagree)):
        build_store(game, tmp_path / "s", jobs=1)
    assert not (tmp_path / "s").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [{"xs": "6"}, {"xs": 99}, {"xs": None}, {"records": -1}, {"digest": "xyz"}, {"digest": None}, {"summary": None},
     {"summary": {}}, {"summary": {"plies": {"a": [1]}}}, {"summary": 7}, {}],
)  # fmt: skip
def test_a_layer_that_no_build_writes_is_taken_for_damage(
    fields: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store4: Path
) -> None:
    def changed(key: bytes, body: bytes) -> bytes:
        return json.dumps((json.loads(body) | fields) if fields else ["no", "layer"]).encode()

    game = parse_game("4,4,4")
    break_off(game, tmp_path / "s", 6, monkeypatch)
    data, at, number = (tmp_path / "s.partial").read_bytes(), 0, 0
    while data[at + 4 : at + 9] != b"layer":
        at, number = at + 9 + int.from_bytes(data[at : at + 4]), number + 1
    altered_layer(tmp_path / "s.partial", changed, number)
    build_store(game, tmp_path / "s", jobs=2)
    assert content(tmp_path / "s") == content(store4)


def test_a_pipe_in_the_place_of_a_journal_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.partial")
    with pytest.raises(StoreUnwritable, match="not a regular file"):
        build_store(parse_game("3,3,3"), tmp_path / "s", jobs=1)
