"""What was solved is not solved again, whatever broke a build off; a journal is believed as far as it is right."""

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from stores import (
    DAMAGES,
    alter_done,
    alter_record,
    break_off,
    damage_one,
    done_in,
    files_in,
    named,
    signed,
    tasks_of,
    whole_layers,
    write_folder,
)

from solver.cli.main import main
from solver.errors import ScratchError, SolversDisagree, StoreUnwritable
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.index.symmetry import symmetries
from solver.kinds import kind_of
from solver.proof.build import build_store
from solver.proof.crew import threads
from solver.proof.plan import Holder
from solver.proof.progress import Progress, silent
from solver.scratch.folder import LocalFolder
from solver.scratch.journal import Journal, _locked
from solver.scratch.tasks import TaskFiles
from solver.store.store import Store
from solver.sweep.layers import Children, Chunk, Filled, Layer

GAMES = ["3,3,3", "3,3,3,misere", "3,4,3", "2,5,3,misere", "1,7,3", pytest.param("4,4,4", marks=pytest.mark.slow)]
SEARCHING = "solver.proof.prove.LineProof.search_empty_board"
"""What is done when all is solved and nothing is written."""


def content(path: Path) -> tuple[Any, ...]:
    """All that a store says."""
    with Store(path) as store:
        return store.manifest, list(store.records())


class FilledTasks:
    """The tasks whose halves were filled from the layer above them, as the sweep itself was asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, bool, int]] = []

    def of(self, game: Game) -> list[tuple[int, int]]:
        """The tasks, each as often as its first half was filled."""
        group = symmetries(game)
        with threads(1) as crew:
            proof = kind_of(game).proof(game, group, None, crew=crew, on_progress=silent)
            starts = {
                (task.layer, task.part.open, task.part.start): (task.layer, task.number)
                for layer in proof.layers()
                for task in layer.tasks
            }
        return [starts[each] for each in self.seen if each in starts]

    def clear(self) -> None:
        self.seen.clear()


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> FilledTasks:
    """What was filled since it was last cleared."""
    found, fill = FilledTasks(), Layer.fill

    def noted(self: Layer, chunk: Chunk, around: Children | None, o_to_move: np.ndarray) -> Filled:
        found.seen.append((self.x_count, chunk.open, chunk.start))
        return fill(self, chunk, around, o_to_move)

    monkeypatch.setattr(Layer, "fill", noted)
    return found


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let layers of small games have many tasks."""
    monkeypatch.setattr("solver.proof.prove._LEAST_CHECKED_PLACES", 40)


@pytest.mark.parametrize("holder", Holder)
@pytest.mark.parametrize("name", GAMES)
def test_a_build_broken_off_after_any_layer_goes_on_there_and_ends_the_same(
    name: str, holder: Holder, tmp_path: Path, filled: FilledTasks
) -> None:
    game, path = parse_game(name), tmp_path / "s"
    build_store(game, tmp_path / "whole", jobs=2)
    expected, tasks = content(tmp_path / "whole"), tasks_of(game)
    for count in whole_layers(game):
        break_off(game, path, count, holder=holder)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["s.partial", "whole"]
        assert done_in(tmp_path / "s.partial") == set(tasks[:count])
        filled.clear()
        notes: list[str] = []
        build_store(game, path, jobs=2, holder=holder, on_progress=lambda told, notes=notes: notes.append(told.note))  # type: ignore[misc]
        assert sorted(filled.of(game)) == sorted(tasks[count:])
        assert any("resuming" in note for note in notes)
        assert content(path) == expected
        assert sorted(file.name for file in tmp_path.iterdir()) == ["s", "whole"]
        path.unlink()


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("holder", Holder)
@pytest.mark.parametrize("name", ["3,3,3", "2,5,3,misere"])
def test_a_build_broken_off_after_any_task_does_only_those_that_are_not_done(
    name: str, holder: Holder, tmp_path: Path, filled: FilledTasks
) -> None:
    game, path = parse_game(name), tmp_path / "s"
    build_store(game, tmp_path / "whole", jobs=2)
    tasks = set(tasks_of(game))
    assert len(tasks) > 1.5 * len(whole_layers(game))
    for count in range(1, len(tasks) + 1):
        break_off(game, path, count, holder=holder)
        done = done_in(tmp_path / "s.partial")
        assert len(done) == count
        filled.clear()
        build_store(game, path, jobs=2, holder=holder)
        assert sorted(filled.of(game)) == sorted(tasks - done)
        assert content(path) == content(tmp_path / "whole")
        path.unlink()


def test_a_build_broken_off_again_and_again_ends_the_same(tmp_path: Path, store4: Path, filled: FilledTasks) -> None:
    game, path = parse_game("4,4,4"), tmp_path / "s"
    tasks = tasks_of(game)
    for _ in range(9):
        break_off(game, path, 3)
    assert len(done_in(tmp_path / "s.partial")) == 27
    build_store(game, path, jobs=1)
    assert sorted(filled.of(game)) == sorted(tasks), "nothing is done twice"
    assert content(path) == content(store4)


@pytest.mark.usefixtures("small_tasks")
def test_a_build_goes_on_with_pages_held_otherwise(tmp_path: Path, store3: Path, filled: FilledTasks) -> None:
    game, path, tasks = parse_game("3,3,3"), tmp_path / "s", tasks_of(parse_game("3,3,3"))
    for first in Holder:
        for second in Holder:
            break_off(game, path, len(tasks) // 2, holder=first, jobs=1)
            filled.clear()
            build_store(game, path, jobs=2, holder=second)
            assert sorted(filled.of(game)) == sorted(tasks[len(tasks) // 2 :])
            assert content(path) == content(store3)
            assert [file.name for file in tmp_path.iterdir()] == ["s"]
            path.unlink()


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("kind", ["records", "done", "pages"])
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("times", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_a_damaged_journal_is_believed_as_far_as_it_is_right(
    damage: str, kind: str, times: int, tmp_path: Path, store3: Path, filled: FilledTasks
) -> None:
    """Only the task of a damaged file is done again. Damaged pages are computed from the records."""
    game, path, partial, rng = parse_game("3,3,3"), tmp_path / "s", tmp_path / "s.partial", random.Random(9)
    tasks = set(tasks_of(game))
    break_off(game, path, len(tasks) * 2 // 3, jobs=1, holder=Holder.FILES)
    good, expected, done = files_in(partial), content(store3), done_in(partial)
    assert {name.split(".")[-1] for name in good} == {"records", "done", "pages", "begin", "lock"}
    for _ in range(times):
        write_folder(partial, good)
        name = damage_one(partial, damage, rng, kind)
        again = {(int(name[:2]), int(name[3:9]))} if kind != "pages" and good != files_in(partial) else set()
        filled.clear()
        build_store(game, path, jobs=1, holder=Holder.FILES)
        assert sorted(filled.of(game)) == sorted((tasks - done) | again), name
        assert content(path) == expected
        assert [file.name for file in tmp_path.iterdir()] == ["s"]
        path.unlink()


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 60))])
def test_whatever_is_damaged_between_the_parts_of_a_build_it_ends_the_same(
    seed: int, tmp_path: Path, store3: Path
) -> None:
    rng, path, partial = random.Random(seed), tmp_path / "s", tmp_path / "s.partial"
    game, holder = parse_game("3,3,3"), rng.choice(list(Holder))
    for _ in range(rng.randrange(2, 8)):
        break_off(game, path, rng.randrange(1, 8), holder=holder)
        for _ in range(rng.randrange(1, 4)):
            if done_in(partial):
                damage_one(partial, rng.choice(DAMAGES), rng)
    build_store(game, path, jobs=2, holder=holder)
    assert content(path) == content(store3)
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


@pytest.mark.usefixtures("small_tasks")
def test_many_damaged_files_are_done_again_in_one_build(tmp_path: Path, store4: Path, filled: FilledTasks) -> None:
    game, path, partial = parse_game("4,4,4"), tmp_path / "s", tmp_path / "s.partial"
    break_off(game, path, len(tasks_of(game)))
    damaged = sorted(file for file in partial.glob("*.records") if file.stat().st_size)[::2]
    assert len(damaged) > 6
    for file in damaged:  # as a power failure may leave them
        file.write_bytes(bytes(file.stat().st_size))
    filled.clear()
    build_store(game, path, jobs=2)
    assert sorted(filled.of(game)) == sorted((int(file.name[:2]), int(file.name[3:9])) for file in damaged)
    assert content(path) == content(store4)


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("damage", ["altered", "cut", "emptied", "removed"])
def test_pages_that_are_damaged_while_the_next_layer_is_filled_are_restored(
    damage: str, tmp_path: Path, store3: Path, filled: FilledTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, keep, rng = parse_game("3,3,3"), TaskFiles.keep, random.Random(4)
    damaged: list[int] = []

    def damaging(self: TaskFiles, task: Any, summary: Any, pages: Iterator[Any]) -> Any:
        above = list((tmp_path / "s.partial").glob(f"{task.layer + 1:02}.*.pages"))
        if above and task.layer not in damaged:
            damaged.append(task.layer)
            damage_one(tmp_path / "s.partial", damage, rng, "pages")
        return keep(self, task, summary, pages)

    monkeypatch.setattr(TaskFiles, "keep", damaging)
    build_store(game, tmp_path / "s", jobs=1, holder=Holder.FILES)
    assert len(damaged) > 3
    assert set(filled.of(game)) == set(tasks_of(game))
    assert content(tmp_path / "s") == content(store3)
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


def test_a_folder_that_is_not_of_this_game_s_build_is_refused_and_left_alone(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    path, partial = tmp_path / "s", tmp_path / "s.partial"
    break_off(parse_game("3,3,3,misere"), path, 3)
    other = files_in(partial)
    begin = bytearray(other["begin"])
    begin[20] ^= 1
    for there, why in (
        (other, "is the journal of a build of '3,3,3,misere'"),
        (other | {"begin": bytes(begin)}, "is not a journal"),
        (other | {"begin": b""}, "is not a journal"),
        (other | {"begin": signed(b"begin", b"[[]]")}, "is not a journal"),
        ({"film": b"my film"}, "is not a journal"),
        ({"begin": b"my film"}, "is not a journal"),
        ({"begin": bytes(5000), "film": b"my film"}, "is not a journal"),
    ):
        write_folder(partial, there)
        ran = run(main, "build", "--game", "3,3,3", "--store", path)
        assert ran.code == 1
        assert ran.err.startswith("Error: ")
        assert why in ran.err
        assert "--store" in ran.err
        assert {name: held for name, held in files_in(partial).items() if name != "lock"} == {
            name: held for name, held in there.items() if name != "lock"
        }
        assert not path.exists()


@pytest.mark.parametrize("what", ["file", "pipe", "link", "link to nothing"])
def test_what_is_no_folder_in_the_place_of_a_journal_is_refused_and_left_alone(what: str, tmp_path: Path) -> None:
    partial, other = tmp_path / "s.partial", tmp_path / "mine"
    if what == "pipe":
        os.mkfifo(partial)
    elif what == "file":
        partial.write_text("my film")
    else:
        partial.symlink_to(other)
    if what == "link":
        other.write_text("my film")
    before = sorted(file.name for file in tmp_path.iterdir())
    with pytest.raises(StoreUnwritable, match=r"s\.partial' is not a folder"):
        build_store(parse_game("3,3,3"), tmp_path / "s", jobs=1)
    assert sorted(file.name for file in tmp_path.iterdir()) == before
    assert (partial.is_fifo(), partial.is_symlink()) == (what == "pipe", what.startswith("link"))
    assert what not in ("file", "link") or partial.read_text() == "my film"


@pytest.mark.usefixtures("small_tasks")
def test_other_files_in_the_folder_stay(tmp_path: Path, store3: Path) -> None:
    game, path, partial = parse_game("3,3,3"), tmp_path / "s", tmp_path / "s.partial"
    theirs = {
        "film": b"mine", "begin.old": b"mine", "1.2.done": b"mine", "03.000000.done.txt": b"mine",
        "03.000000.film": b"mine", ".hidden": b"mine", "03.0000000.done": b"mine", "x03.000000.records": b"mine",
        ".s.0123456789abcdef.ttt4-new": b"mine",
    }  # fmt: skip
    break_off(game, path, 5)
    for name, held in theirs.items():
        (partial / name).write_bytes(held)
    (partial / "folder").mkdir()
    (partial / "folder" / "film").write_bytes(b"mine")
    break_off(game, path, 5)
    build_store(game, path, jobs=2)
    assert content(path) == content(store3)
    assert (partial / "folder" / "film").read_bytes() == b"mine"
    assert {file.name: file.read_bytes() for file in partial.iterdir() if file.is_file()} == theirs


@pytest.mark.parametrize("damage", ["altered", "cut", "emptied", "removed", "longer"])
def test_a_record_that_is_altered_while_the_store_is_written_is_noticed_and_done_again(
    damage: str, tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch, filled: FilledTasks
) -> None:
    game, path, partial = parse_game("4,4,4"), tmp_path / "s", tmp_path / "s.partial"
    damaged: list[Path] = []

    def damaging(*_: object) -> str:
        if not damaged:
            damaged.append(max(partial.glob("*.records"), key=lambda file: file.stat().st_size))
            for other in partial.glob("*.records"):
                if other != damaged[0]:
                    other.rename(other.with_suffix(".hidden"))
            damage_one(partial, damage, random.Random(5), "records")
            for other in partial.glob("*.hidden"):
                other.rename(other.with_suffix(".records"))
        return ""

    monkeypatch.setattr(SEARCHING, damaging)
    notes: list[str] = []
    build_store(game, path, jobs=2, on_progress=lambda told: notes.append(told.note))
    task = int(damaged[0].name[:2]), int(damaged[0].name[3:9])
    assert sorted(filled.of(game)) == sorted([*tasks_of(game), task])
    assert f"the records of task {task[1]} of layer {task[0]} are damaged or gone: doing it again" in notes
    assert content(path) == content(store4)
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


def test_a_disk_that_damages_whatever_is_written_ends_a_build_and_the_rest_is_kept(
    tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch, filled: FilledTasks
) -> None:
    game, path, partial = parse_game("4,4,4"), tmp_path / "s", tmp_path / "s.partial"

    def damaging(*_: object) -> str:
        (partial / "06.000000.records").write_bytes(b"")
        return ""

    with monkeypatch.context() as patched:
        patched.setattr(SEARCHING, damaging)
        with pytest.raises(ScratchError, match="the records of task 0 of layer 6 are damaged or gone, again and again"):
            build_store(game, path, jobs=2)
    assert [file.name for file in tmp_path.iterdir()] == ["s.partial"]
    filled.clear()
    build_store(game, path, jobs=2)
    assert filled.of(game) == [(6, 0)]
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


@pytest.mark.parametrize("holder", Holder)
def test_only_the_damaged_task_is_made_again(holder: Holder, tmp_path: Path, store4: Path, filled: FilledTasks) -> None:
    game, path = parse_game("4,4,4"), tmp_path / "s"
    tasks = tasks_of(game)
    count = whole_layers(game)[5]
    break_off(game, path, count, holder=holder)
    records = tmp_path / "s.partial" / "05.000003.records"
    data = bytearray(records.read_bytes())
    data[len(data) // 2] ^= 1
    records.write_bytes(data)
    filled.clear()
    build_store(game, path, jobs=2, holder=holder)
    assert sorted(filled.of(game)) == sorted([(5, 3), *tasks[count:]])
    assert content(path) == content(store4)


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_the_solvers_disagree_on_is_not_kept(jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = Layer.fill

    def erring(self: Layer, *rest: Any) -> Filled:
        pages = fill(self, *rest)
        if self.x_count == 2 and pages.x_to_move:
            pages.x_to_move.scores[0, 0] ^= 1
        return pages

    monkeypatch.setattr(Layer, "fill", erring)
    with pytest.raises(SolversDisagree):
        build_store(parse_game("3,3,3"), tmp_path / "s", jobs=jobs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_tasks")
def test_a_task_that_ends_after_another_has_failed_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, remove = TaskFiles.keep, os.rmdir
    begun, removing, kept = Event(), Event(), Event()

    def keeping(self: TaskFiles, task: Any, summary: Any, pages: Iterator[Any]) -> Any:
        if (task.layer, task.number) == (4, 0):
            assert begun.wait(60)
            raise SolversDisagree("on purpose")
        if (task.layer, task.number) != (4, 1):
            return keep(self, task, summary, pages)
        begun.set()
        removing.wait(2)
        made = keep(self, task, summary, pages)
        kept.set()
        return made

    def removed(path: Any) -> None:
        """Delete a folder only when the other task has written its files, if it was still to do so."""
        if begun.is_set():
            removing.set()
            kept.wait(5)
        remove(path)

    monkeypatch.setattr(TaskFiles, "keep", keeping)
    monkeypatch.setattr(os, "rmdir", removed)
    with pytest.raises(SolversDisagree, match="on purpose"):
        build_store(parse_game("3,3,3"), tmp_path / "s", jobs=2)
    assert list(tmp_path.iterdir()) == []


def test_a_second_build_of_the_same_path_is_refused(tmp_path: Path) -> None:
    game = parse_game("3,3,3")
    with Journal(tmp_path / "s", game, symmetries(game)), pytest.raises(StoreUnwritable, match="another build"):
        Journal(tmp_path / "s", game, symmetries(game))
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_ends_leaves_alone_the_lock_of_one_that_begins_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, remove, locks = parse_game("3,3,3"), LocalFolder.remove_all, []

    def removed(self: LocalFolder) -> None:
        remove(self)
        if not locks:
            locks.append(_locked(self))  # as the next build does first

    monkeypatch.setattr(LocalFolder, "remove_all", removed)
    with Journal(tmp_path / "s", game, symmetries(game)):
        pass
    with pytest.raises(StoreUnwritable, match="another build"):
        Journal(tmp_path / "s", game, symmetries(game))
    locks[0].close()


def test_a_second_build_of_the_same_path_with_a_scratch_folder_is_refused(tmp_path: Path) -> None:
    game, scratch = parse_game("3,3,3"), LocalFolder(str(tmp_path / "scratch"))
    with Journal(tmp_path / "s", game, symmetries(game)), pytest.raises(StoreUnwritable, match="another build"):
        Journal(tmp_path / "s", game, symmetries(game), scratch)
    with Journal(tmp_path / "s", game, symmetries(game), scratch), pytest.raises(StoreUnwritable, match="another"):
        Journal(tmp_path / "s", game, symmetries(game))
    assert list(tmp_path.iterdir()) == []


def test_a_second_build_in_the_same_scratch_folder_is_refused(tmp_path: Path, run: Callable[..., Any]) -> None:
    game, scratch = parse_game("3,3,3"), tmp_path / "scratch"
    folder = LocalFolder(str(scratch / "3x3x3.ttt4.partial"))
    with Journal(tmp_path / "s", game, symmetries(game), folder):
        with pytest.raises(StoreUnwritable, match=f"another build is writing '{folder.url}'"):
            Journal(tmp_path / "t", game, symmetries(game), folder)
        ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "t", "--scratch", scratch)
        assert (ran.code, "another build is writing" in ran.err) == (1, True)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["s.partial", "scratch"]
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "t", "--scratch", scratch)
    assert ran.code == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["scratch", "t"]


def test_a_build_keeps_everything_in_its_scratch_folder_and_removes_it_at_the_end(
    tmp_path: Path, store4: Path, filled: FilledTasks, run: Callable[..., Any]
) -> None:
    game, path, scratch = parse_game("4,4,4"), tmp_path / "stores" / "s", tmp_path / "deep" / "scratch"
    tasks = tasks_of(game)
    break_off(game, path, 20, scratch=str(scratch), holder=Holder.FILES)
    assert list(path.parent.iterdir()) == []
    assert [file.name for file in scratch.iterdir()] == ["4x4x4.ttt4.partial"]
    kept = files_in(scratch / "4x4x4.ttt4.partial")
    assert {name.split(".")[-1] for name in kept} == {"records", "done", "pages", "begin", "lock"}
    filled.clear()
    ran = run(main, "build", "--store", tmp_path / "elsewhere", "--scratch", scratch)  # it needs not be the same store
    assert (ran.code, "resuming: " in ran.err) == (0, True)
    assert sorted(filled.of(game)) == sorted(tasks[20:])
    assert content(tmp_path / "elsewhere") == content(store4)
    assert list(scratch.iterdir()) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["deep", "elsewhere", "stores"]


def test_games_share_a_scratch_folder(tmp_path: Path, store3: Path) -> None:
    scratch = str(tmp_path / "scratch")
    for name in ("3,3,3", "3,3,3,misere", "duel,3,3"):
        break_off(parse_game(name), tmp_path / name, 3, scratch=scratch)
    assert len(os.listdir(scratch)) == 3
    for name in ("3,3,3", "3,3,3,misere", "duel,3,3"):
        notes: list[str] = []
        build_store(
            parse_game(name), tmp_path / name, scratch=scratch,
            on_progress=lambda told, notes=notes: notes.append(told.note),  # type: ignore[misc]
        )  # fmt: skip
        assert any("resuming" in note for note in notes)
    assert os.listdir(scratch) == []
    assert content(tmp_path / "3,3,3") == content(store3)


@pytest.mark.parametrize("where", ["file", "file/deeper", "/proc/nowhere"])
def test_a_scratch_folder_that_cannot_be_is_refused_in_one_line_that_names_it(
    where: str, tmp_path: Path, run: Callable[..., Any]
) -> None:
    (tmp_path / "file").write_text("mine")
    scratch = tmp_path / where
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--scratch", scratch)
    talk = [line for line in ran.err.splitlines() if not line.endswith("...")]
    assert (ran.code, ran.out, len(talk)) == (1, "", 1)
    assert talk[0].startswith("Error: ")
    assert str(scratch) in talk[0]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file"]


def test_a_failure_to_write_the_store_keeps_the_journal(
    tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch, filled: FilledTasks
) -> None:
    game, path = parse_game("4,4,4"), tmp_path / "s"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("solver.store.writer.replace_file", full)
        with pytest.raises(StoreUnwritable, match="No space"):
            build_store(game, path, jobs=2)
    assert [file.name for file in tmp_path.iterdir()] == ["s.partial"]
    filled.clear()
    build_store(game, path, jobs=2)
    assert filled.seen == []
    assert content(path) == content(store4)


@pytest.mark.parametrize("scratch", [False, True])
def test_a_failure_to_keep_a_task_says_that_the_others_are_kept(
    scratch: bool, tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch, filled: FilledTasks
) -> None:
    game, path, writing = parse_game("4,4,4"), tmp_path / "s", LocalFolder.writing

    def full(self: LocalFolder, name: str) -> Any:
        if name == "05.000003.records":
            raise OSError(28, "No space left on device")
        return writing(self, name)

    given = str(tmp_path / "scratch") if scratch else None
    with monkeypatch.context() as patched:
        patched.setattr(LocalFolder, "writing", full)
        with pytest.raises(Exception, match=r"No space left on device.*is kept, and the same build resumes") as refusal:
            build_store(game, path, jobs=1, scratch=given)
    assert type(refusal.value).__name__ == ("ScratchError" if scratch else "StoreUnwritable")
    done = done_in(tmp_path / "scratch" / "4x4x4.ttt4.partial" if scratch else tmp_path / "s.partial")
    tasks = set(tasks_of(game))
    assert (5, 3) in tasks - done
    assert len(done) > 15
    filled.clear()
    build_store(game, path, jobs=2, scratch=given)
    assert sorted(filled.of(game)) == sorted(tasks - done)
    assert content(path) == content(store4)


@pytest.mark.slow
def test_a_large_build_killed_ten_times_and_damaged_between_ends_the_same(
    tmp_path: Path, solve_process: Callable[..., Any], run: Callable[..., Any]
) -> None:
    rng, path, partial = random.Random(20), tmp_path / "s", tmp_path / "s.partial"
    arguments = ("build", "--game", "4,5,4", "--store")
    assert run(main, *arguments, tmp_path / "whole").code == 0
    continued = kills = damaged = 0
    while kills < 10:
        building = solve_process(*arguments, path)
        time.sleep(rng.uniform(0.5, 3.0))
        building.send_signal(signal.SIGKILL)
        _, err = building.communicate()
        if building.returncode == 0:  # it was quicker: the next one begins anew
            assert content(path) == content(tmp_path / "whole")
            path.unlink()
            continue
        continued += "resuming" in err
        kills += 1
        if kills in (3, 5, 7, 9) and partial.exists() and done_in(partial):
            damage_one(partial, rng.choice(DAMAGES), rng)
            damaged += 1
    assert run(main, *arguments, path).code == 0
    assert continued > 2
    assert damaged > 1
    assert content(path) == content(tmp_path / "whole")
    assert sorted(os.listdir(tmp_path)) == ["nowhere", "s", "whole"]


def test_who_continues_is_told_from_where(tmp_path: Path, run: Callable[..., Any]) -> None:
    game = parse_game("4,4,4")
    for count in (whole_layers(game)[3], len(tasks_of(game))):
        break_off(game, tmp_path / "s", count)
        fields = [json.loads(file.read_bytes()[4:]) for file in (tmp_path / "s.partial").glob("*.done")]
        share = sum(each["summary"]["filled"] for each in fields) / 386_144
        ran = run(main, "build", "--store", tmp_path / "s")
        assert ran.code == 0
        assert f"resuming: {share:.0%} of 386,144 places are solved already\n" in ran.err
        assert "damaged" not in ran.err
        (tmp_path / "s").unlink()


def test_who_continues_is_told_what_of_the_journal_was_lost(tmp_path: Path, run: Callable[..., Any]) -> None:
    break_off(parse_game("4,4,4"), tmp_path / "s", 20)
    ran = run(main, "info", "--store", tmp_path / "s")
    assert (ran.code, "resume its interrupted build: ttt4-solve build" in ran.err) == (3, True)
    for name in ("06.000000.done", "07.000001.records"):
        file = tmp_path / "s.partial" / name
        file.write_bytes(file.read_bytes()[:-1])
    ran = run(main, "build", "--store", tmp_path / "s")
    assert ran.code == 0
    assert "doing again what was damaged (2 tasks)" in ran.err


def test_progress_of_a_continued_build_begins_where_it_was(tmp_path: Path) -> None:
    game, told = parse_game("4,4,4"), []
    break_off(game, tmp_path / "s", whole_layers(game)[4])

    def on_progress(progress: Progress) -> None:
        if progress.total and progress.phase == "solving":
            told.append(progress.done / progress.total)

    build_store(game, tmp_path / "s", jobs=1, on_progress=on_progress)
    assert told == sorted(told)
    assert told[0] > 0.3
    assert told[-1] == 1


def negated(key: bytes, body: bytearray) -> None:
    at = next(i for i in range(len(body) - 1, 0, -1) if body[i] not in (0, 128))
    body[at] = 256 - body[at]


def lost(key: bytes, body: bytearray) -> None:
    body[next(i for i in range(len(body) - 1, 0, -1) if body[i] != 128)] = 128


def misnumbered(key: bytes, body: bytearray) -> None:
    body[3] ^= 1


@pytest.mark.parametrize("change", [negated, lost, misnumbered])
@pytest.mark.parametrize("layer", [7, 5, 4])
def test_a_record_that_an_earlier_build_is_made_to_have_kept_is_noticed(
    layer: int, change: Callable[[bytes, bytearray], None], tmp_path: Path
) -> None:
    game = parse_game("2,7,3")  # whose digest is not published
    break_off(game, tmp_path / "s", whole_layers(game)[3])  # the layers 7, 6, 5 and 4
    alter_record(tmp_path / "s.partial", layer, change)
    with pytest.raises((StoreUnwritable, SolversDisagree)):
        build_store(game, tmp_path / "s", jobs=1)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("change", [negated, lost, misnumbered])
def test_a_record_that_is_altered_with_its_checksums_while_the_store_is_written_is_noticed_and_done_again(
    change: Callable[[bytes, bytearray], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, altered, notes = parse_game("2,7,3"), [], list[str]()
    build_store(game, tmp_path / "right", jobs=1)

    def altering(*_: object) -> str:
        if not altered:
            altered.append(alter_record(tmp_path / "s.partial", 5, change))
        return ""

    monkeypatch.setattr(SEARCHING, altering)
    build_store(game, tmp_path / "s", jobs=2, on_progress=lambda told: notes.append(told.note))
    assert [note for note in notes if "of layer 5 are damaged or gone: doing it again" in note]
    assert content(tmp_path / "s") == content(tmp_path / "right")


@pytest.mark.parametrize("count", ["filled", "checked"])
def test_a_summary_that_an_earlier_build_is_made_to_have_kept_is_noticed(count: str, tmp_path: Path) -> None:
    game = parse_game("2,7,3")
    break_off(game, tmp_path / "s", 12)
    alter_done(
        tmp_path / "s.partial" / "05.000001.done",
        lambda fields: fields | {"summary": fields["summary"] | {count: fields["summary"][count] - 1}},
    )
    with pytest.raises(SolversDisagree, match=r"places were (filled|searched), but there are"):
        build_store(game, tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []


ALTERED: list[dict[str, Any]] = [
    {"records": "6"}, {"records": None}, {"records": 6.0}, {"records": True}, {"records": -1}, {"bytes": "9"},
    {"bytes": None}, {"bytes": -1}, {"bytes": 10**30}, {"summary": None}, {"summary": {}}, {"summary": {"plies":
    {"a": [1]}}}, {"summary": 7}, {"summary": []}, {"plies": {"a": [1] * 6}}, {"plies": {"8": [1] * 5}}, {"plies":
    {"8": [1] * 7}}, {"plies": {"8": [1 << 62] * 6}}, {"plies": {"8": [1.5] * 6}}, {"plies": {"8": ["1"] * 6}},
    {"plies": {"8": None}}, {"plies": None}, {"plies": [[1] * 6]}, {"filled": "1"}, {"filled": None}, {"nodes":
    1.5}, {"score": "0"}, {"score": True}, {"checked": []}, {"abandoned": {}}, {},
]  # fmt: skip
"""What no build says of a task that it has done."""


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(each, id=str(each), marks=pytest.mark.slow if number % 5 else [])
        for number, each in enumerate(ALTERED)
    ],
)
def test_a_task_of_which_is_kept_what_no_build_writes_is_done_again(
    fields: dict[str, Any], tmp_path: Path, store4: Path, filled: FilledTasks
) -> None:
    def changed(was: dict[str, Any]) -> object:
        inner = {name: each for name, each in fields.items() if name in was["summary"]}
        outer = {name: each for name, each in fields.items() if name not in inner}
        return was | {"summary": was["summary"] | inner} | outer if fields else ["no", "task"]

    game, path = parse_game("4,4,4"), tmp_path / "s"
    tasks = tasks_of(game)
    break_off(game, path, 20, jobs=1)
    alter_done(tmp_path / "s.partial" / "06.000002.done", changed)
    filled.clear()
    build_store(game, path, jobs=2)
    assert sorted(filled.of(game)) == sorted([(6, 2), *tasks[20:]])
    assert content(path) == content(store4)


@pytest.mark.parametrize("body", [b"", b"[" * 5000, b"\xff\xfe", b"{}", b"null", b"1e999", b'{"records": NaN}'])
def test_a_task_of_which_is_kept_what_is_no_json_is_done_again(
    body: bytes, tmp_path: Path, store4: Path, filled: FilledTasks
) -> None:
    game, path = parse_game("4,4,4"), tmp_path / "s"
    break_off(game, path, 20, jobs=1)
    done = tmp_path / "s.partial" / "06.000002.done"
    done.write_bytes(signed(named(done), body))
    filled.clear()
    build_store(game, path, jobs=2)
    assert sorted(filled.of(game)) == sorted([(6, 2), *tasks_of(game)[20:]])
    assert content(path) == content(store4)


def test_what_another_task_has_kept_is_not_taken_for_it(tmp_path: Path, store4: Path, filled: FilledTasks) -> None:
    game, path, partial = parse_game("4,4,4"), tmp_path / "s", tmp_path / "s.partial"
    break_off(game, path, 20, jobs=1)
    for kind in ("records", "done"):
        (partial / f"06.000003.{kind}").write_bytes((partial / f"06.000002.{kind}").read_bytes())
    filled.clear()
    build_store(game, path, jobs=2)
    assert sorted(filled.of(game)) == sorted([(6, 3), *tasks_of(game)[20:]])
    assert content(path) == content(store4)
