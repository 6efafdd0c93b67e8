"""What was solved is not solved again, whatever broke a build off; a journal is believed as far as it is right.

Most of this is so for every proof, and is tested with a stand-in. What a kind of game does itself for it, such as
restoring pages, is tested with small games of that kind.
"""

import json
import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import pytest
import stand_in
from clusters import refusal, undisturbed
from kinds import BOOK, BOOK_GAME
from stores import (
    DAMAGES,
    MadeTasks,
    alter_done,
    alter_record,
    break_off,
    damage_one,
    done_in,
    files_in,
    lost,
    named,
    negated,
    signed,
    tasks_of,
    whole_layers,
    with_a_flipped_bit,
    write_folder,
)

from solver.cli.main import main
from solver.errors import ScratchError, SolversDisagree, StoreUnwritable
from solver.games.board import BoardGame
from solver.games.notation import parse_game
from solver.index.symmetry import symmetries
from solver.proof.build import build_store
from solver.proof.plan import Holder
from solver.proof.progress import Progress
from solver.proof.proof import StoredPages, Summary, Task
from solver.scratch.folder import LocalFolder, MemoryFolder
from solver.scratch.journal import Journal, _locked
from solver.scratch.tasks import TaskFiles
from solver.sweep.layers import Filled, Layer

GAME = stand_in.GAME
THREE = parse_game("3,3,3")
SLOW = pytest.mark.slow
Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let builds of GAME fill pages with cheap scores, and cut layers of small games of lines into several tasks."""
    stand_in.use_stand_in(monkeypatch)
    monkeypatch.setattr("solver.proof.prove._LEAST_CHECKED_PLACES", 40)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> MadeTasks:
    """The tasks that builds do."""
    return MadeTasks(monkeypatch)


@pytest.fixture
def right(store_of: Any) -> Callable[[BoardGame[Any]], bytes]:
    """The store of a game, as an undisturbed build writes it."""
    return lambda game: undisturbed() if game == GAME else store_of(game.name).read_bytes()


class Subject(NamedTuple):
    """A game, and how its pages are held."""

    game: BoardGame[Any]
    holder: Holder | None

    def break_off(self, path: Path, tasks: int, **options: Any) -> None:
        break_off(self.game, path, tasks, holder=self.holder, **options)

    def build(self, path: Path, **options: Any) -> None:
        build_store(self.game, path, holder=self.holder, **options)


@pytest.fixture(
    params=[
        *((GAME.name, holder) for holder in Holder), *(("3,3,3", holder) for holder in Holder),
        pytest.param(("2,5,3,misere", Holder.FILES), marks=SLOW), ("1,7,3", Holder.FILES), ("duel,2,3", None),
        (BOOK_GAME, None),
    ],
    ids=lambda param: f"{param[0]} {param[1].value if param[1] else ''}",
)  # fmt: skip
def subject(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """The stand-in and a small game of each kind, in all ways to hold pages."""
    name, holder = request.param
    if name == BOOK_GAME:
        for target, value in BOOK.items():
            monkeypatch.setattr(target, value)
    return Subject(parse_game(name), holder)


def only(path: Path) -> list[str]:
    """What is in a store's folder."""
    return sorted(file.name for file in path.parent.iterdir())


@pytest.mark.parametrize("odd", [0, 1])
def test_a_build_broken_off_after_any_task_does_only_those_that_are_not_done(
    odd: int, subject: Subject, tmp_path: Path, made: MadeTasks, right: Any
) -> None:
    path, tasks = tmp_path / "s", set(tasks_of(subject.game))
    for count in range(2 - odd, len(tasks) + 1, 2):
        subject.break_off(path, count)
        done = done_in(tmp_path / "s.partial")
        assert len(done) == count
        assert only(path) == ["s.partial"]
        made.take()
        notes: list[str] = []
        subject.build(path, jobs=2, on_progress=lambda told, notes=notes: notes.append(told.note))
        assert made.take() == sorted(tasks - done)
        assert any("resuming" in note for note in notes)
        assert path.read_bytes() == right(subject.game)
        assert only(path) == ["s"]
        path.unlink()


@pytest.mark.parametrize("first", Holder)
@pytest.mark.parametrize("second", Holder)
def test_a_build_goes_on_with_pages_held_otherwise(
    first: Holder, second: Holder, tmp_path: Path, made: MadeTasks, right: Any
) -> None:
    path, tasks = tmp_path / "s", tasks_of(THREE)
    break_off(THREE, path, len(tasks) // 2, holder=first, jobs=1)
    made.take()
    build_store(THREE, path, jobs=2, holder=second)
    assert made.take() == sorted(tasks[len(tasks) // 2 :])
    assert path.read_bytes() == right(THREE)
    assert only(path) == ["s"]


def test_after_a_whole_layer_only_a_task_whose_records_are_damaged_is_made_again(
    subject: Subject, tmp_path: Path, made: MadeTasks, right: Any
) -> None:
    tasks, ends = tasks_of(subject.game), whole_layers(subject.game)
    subject.break_off(tmp_path / "s", ends[2], jobs=1)
    of_layer = (tmp_path / "s.partial").glob(f"{tasks[ends[2] - 1][0]:02}.*.records")
    records = max(of_layer, key=lambda file: file.stat().st_size)
    records.write_bytes(with_a_flipped_bit(records.read_bytes(), 0.5))
    made.take()
    subject.build(tmp_path / "s", jobs=2)
    assert made.take() == sorted([(int(records.name[:2]), int(records.name[3:9])), *tasks[ends[2] :]])
    assert (tmp_path / "s").read_bytes() == right(subject.game)


@pytest.mark.parametrize(
    ("name", "kind"),
    [(GAME.name, "records"), (GAME.name, "done"), ("3,3,3", "pages"), pytest.param("3,3,3", "records", marks=SLOW)],
)
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("times", [5, pytest.param(20, marks=SLOW)])
def test_a_damaged_journal_is_believed_as_far_as_it_is_right(
    name: str, damage: str, kind: str, times: int, tmp_path: Path, made: MadeTasks, right: Any
) -> None:
    """Only the task of a damaged file is done again. Damaged pages are computed from the records."""
    game, path, partial, rng = parse_game(name), tmp_path / "s", tmp_path / "s.partial", random.Random(times)
    tasks = set(tasks_of(game))
    break_off(game, path, len(tasks) * 2 // 3, jobs=1, holder=Holder.FILES)
    good, done = files_in(partial), done_in(partial)
    assert {file.split(".")[-1] for file in good} == {"records", "done", "pages", "begin", "lock"}
    for _ in range(times):
        write_folder(partial, good)
        file = damage_one(partial, damage, rng, kind)
        again = {(int(file[:2]), int(file[3:9]))} if kind != "pages" and good != files_in(partial) else set()
        made.take()
        build_store(game, path, jobs=1, holder=Holder.FILES)
        begun = made.take()  # a task that meets damaged pages begins anew once they are restored
        assert (sorted(set(begun)) if kind == "pages" else begun) == sorted((tasks - done) | again), file
        assert path.read_bytes() == right(game)
        assert only(path) == ["s"]
        path.unlink()


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=SLOW) for seed in range(6, 40))])
def test_whatever_is_damaged_between_the_parts_of_a_build_it_ends_the_same(
    seed: int, tmp_path: Path, right: Any
) -> None:
    rng, path, partial = random.Random(seed), tmp_path / "s", tmp_path / "s.partial"
    game, holder = rng.choice([GAME, GAME, THREE]), rng.choice(list(Holder))
    for _ in range(rng.randrange(2, 8)):
        break_off(game, path, rng.randrange(1, 8), holder=holder)
        for _ in range(rng.randrange(1, 4)):
            if done_in(partial):
                damage_one(partial, rng.choice(DAMAGES), rng)
    build_store(game, path, jobs=2, holder=holder)
    assert path.read_bytes() == right(game)
    assert only(path) == ["s"]


def test_many_damaged_files_are_done_again_in_one_build(tmp_path: Path, made: MadeTasks, right: Any) -> None:
    break_off(GAME, tmp_path / "s", len(tasks_of(GAME)))
    damaged = sorted(file for file in (tmp_path / "s.partial").glob("*.records") if file.stat().st_size)[::2]
    assert len(damaged) > 6
    for file in damaged:  # as a power failure may leave them
        file.write_bytes(bytes(file.stat().st_size))
    made.take()
    build_store(GAME, tmp_path / "s", jobs=2)
    assert made.take() == sorted((int(file.name[:2]), int(file.name[3:9])) for file in damaged)
    assert (tmp_path / "s").read_bytes() == right(GAME)


def test_a_folder_that_is_not_of_this_game_s_build_is_refused_and_left_alone(tmp_path: Path, run: Run) -> None:
    path, partial = tmp_path / "s", tmp_path / "s.partial"
    break_off(GAME, path, 3)
    other = files_in(partial)
    begin = bytearray(other["begin"])
    begin[20] ^= 1
    for there, why in (
        (other, f"is the journal of a build of '{GAME.name}'"),
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
    before = only(partial)
    with pytest.raises(StoreUnwritable, match=r"s\.partial' is not a folder"):
        build_store(GAME, tmp_path / "s", jobs=1)
    assert only(partial) == before
    assert (partial.is_fifo(), partial.is_symlink()) == (what == "pipe", what.startswith("link"))
    assert what not in ("file", "link") or partial.read_text() == "my film"


def test_other_files_in_the_folder_stay(tmp_path: Path, right: Any) -> None:
    path, partial = tmp_path / "s", tmp_path / "s.partial"
    theirs = {
        "film": b"mine", "begin.old": b"mine", "1.2.done": b"mine", "03.000000.done.txt": b"mine",
        "03.000000.film": b"mine", ".hidden": b"mine", "03.0000000.done": b"mine", "x03.000000.records": b"mine",
        ".s.0123456789abcdef.ttt4-new": b"mine",
    }  # fmt: skip
    break_off(GAME, path, 5)
    for name, held in theirs.items():
        (partial / name).write_bytes(held)
    (partial / "folder").mkdir()
    (partial / "folder" / "film").write_bytes(b"mine")
    break_off(GAME, path, 5)
    build_store(GAME, path, jobs=2)
    assert path.read_bytes() == right(GAME)
    assert (partial / "folder" / "film").read_bytes() == b"mine"
    assert {file.name: file.read_bytes() for file in partial.iterdir() if file.is_file()} == theirs


def misnumbered(key: bytes, body: bytearray) -> None:
    body[3] ^= 1


@pytest.fixture
def when_all_is_solved(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Do something when all tasks of a build are done and nothing is written."""

    def at_work(doing: Callable[[], object]) -> None:
        def searching(*_: object) -> str:
            doing()
            return ""

        for proof in ("stand_in.StandInProof", "solver.proof.prove.LineProof"):
            monkeypatch.setattr(f"{proof}.search_empty_board", searching)

    return at_work


@pytest.mark.parametrize("damage", [*DAMAGES, negated, lost, misnumbered])
@pytest.mark.parametrize("name", [GAME.name, "2,5,3"])
def test_a_record_that_is_altered_while_the_store_is_written_is_noticed_and_done_again(
    name: str, damage: Any, tmp_path: Path, made: MadeTasks, when_all_is_solved: Any, right: Any
) -> None:
    """Also if its checksums are right."""
    game, path, partial = parse_game(name), tmp_path / "s", tmp_path / "s.partial"
    damaged, notes = list[str](), list[str]()

    def damaging() -> None:
        if not damaged and damage in DAMAGES:
            damaged.append(damage_one(partial, damage, random.Random(1), "records"))
        elif not damaged:
            damaged.append(alter_record(partial, 3, damage))

    when_all_is_solved(damaging)
    build_store(game, path, jobs=2, on_progress=lambda told: notes.append(told.note))
    task = int(damaged[0][:2]), int(damaged[0][3:9])
    assert made.take() == sorted([*tasks_of(game), task])
    assert f"the records of task {task[1]} of layer {task[0]} are damaged or gone: doing it again" in notes
    assert path.read_bytes() == right(game)
    assert only(path) == ["s"]


def test_a_disk_that_damages_whatever_is_written_ends_a_build_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: MadeTasks, right: Any
) -> None:
    path, records = tmp_path / "s", tmp_path / "s.partial" / "03.000001.records"
    with monkeypatch.context() as patched:
        patched.setattr("stand_in.StandInProof.search_empty_board", lambda self: str(records.write_bytes(b"")))
        with pytest.raises(ScratchError, match="the records of task 1 of layer 3 are damaged or gone, again and again"):
            build_store(GAME, path, jobs=2)
    assert only(path) == ["s.partial"]
    assert made.take().count((3, 1)) == 5
    build_store(GAME, path, jobs=2)
    assert made.take() == [(3, 1)]
    assert path.read_bytes() == right(GAME)


def test_a_build_interrupted_when_its_store_is_in_place_leaves_nothing_else(
    tmp_path: Path, right: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(new: Path, path: Path) -> None:
        os.replace(new, path)
        raise KeyboardInterrupt

    monkeypatch.setattr("solver.store.writer.replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_store(GAME, tmp_path / "s", jobs=1)
    assert only(tmp_path / "s") == ["s"]
    assert (tmp_path / "s").read_bytes() == right(GAME)


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
        build_store(THREE, tmp_path / "s", jobs=jobs)
    assert list(tmp_path.iterdir()) == []


def test_a_task_that_ends_after_another_has_failed_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other task ends when the build waits for it or, if it does not, when the folder is about to go."""
    keep, remove, shutdown = TaskFiles.keep, os.rmdir, ThreadPoolExecutor.shutdown
    begun, ending, kept = Event(), Event(), Event()

    def keeping(self: TaskFiles, task: Any, summary: Any, pages: Iterator[Any]) -> Any:
        if (task.layer, task.number) == (4, 0):
            assert begun.wait(60)
            raise SolversDisagree("on purpose")
        if (task.layer, task.number) != (4, 1):
            return keep(self, task, summary, pages)
        begun.set()
        assert ending.wait(60)
        made = keep(self, task, summary, pages)
        kept.set()
        return made

    def removed(path: Any) -> None:
        ending.set()
        assert not begun.is_set() or kept.wait(60)
        remove(path)

    def shut(self: ThreadPoolExecutor, wait: bool = True, **options: Any) -> None:
        if wait:
            ending.set()
        shutdown(self, wait, **options)

    monkeypatch.setattr(TaskFiles, "keep", keeping)
    monkeypatch.setattr(os, "rmdir", removed)
    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", shut)
    with pytest.raises(SolversDisagree, match="on purpose"):
        build_store(GAME, tmp_path / "s", jobs=2)
    assert kept.is_set()
    assert list(tmp_path.iterdir()) == []


def test_a_second_build_of_the_same_path_or_in_the_same_scratch_folder_is_refused(tmp_path: Path) -> None:
    group, one, other = symmetries(THREE), tmp_path / "s", tmp_path / "t"
    scratch = LocalFolder(str(tmp_path / "scratch"))
    for first, second in (
        ((one, THREE, group), (one, THREE, group)),
        ((one, THREE, group), (one, THREE, group, scratch)),
        ((one, THREE, group, scratch), (one, THREE, group)),
        ((one, THREE, group, scratch), (other, THREE, group, scratch)),
    ):
        with Journal(*first), pytest.raises(StoreUnwritable, match="another build is writing"):
            Journal(*second)
        assert list(tmp_path.iterdir()) == []


def test_a_build_that_ends_leaves_alone_the_lock_of_one_that_begins_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, locks = LocalFolder.remove_all, []

    def removed(self: LocalFolder) -> None:
        remove(self)
        if not locks:
            locks.append(_locked(self))  # as the next build does first

    monkeypatch.setattr(LocalFolder, "remove_all", removed)
    with Journal(tmp_path / "s", THREE, symmetries(THREE)):
        pass
    with pytest.raises(StoreUnwritable, match="another build"):
        Journal(tmp_path / "s", THREE, symmetries(THREE))
    locks[0].close()


def test_a_build_keeps_everything_in_its_scratch_folder_and_removes_it_at_the_end(
    tmp_path: Path, made: MadeTasks, right: Any, run: Run
) -> None:
    path, scratch = tmp_path / "stores" / "s", tmp_path / "deep" / "scratch"
    break_off(GAME, path, 8, scratch=str(scratch), holder=Holder.FILES, jobs=1)
    assert list(path.parent.iterdir()) == []
    assert [file.name for file in scratch.iterdir()] == ["2x8x3.ttt4.partial"]
    kept = files_in(scratch / "2x8x3.ttt4.partial")
    assert {name.split(".")[-1] for name in kept} == {"records", "done", "pages", "begin", "lock"}
    made.take()
    other = tmp_path / "elsewhere"  # it needs not be the same store
    ran = run(main, "build", "--game", GAME.name, "--store", other, "--scratch", scratch)
    assert (ran.code, "resuming: " in ran.err) == (0, True)
    assert made.take() == sorted(tasks_of(GAME)[8:])
    assert other.read_bytes() == right(GAME)
    assert list(scratch.iterdir()) == []
    assert only(other) == ["deep", "elsewhere", "stores"]


def test_games_share_a_scratch_folder(tmp_path: Path, right: Any) -> None:
    scratch, games = str(tmp_path / "scratch"), [GAME, THREE, parse_game("3,3,3,misere"), parse_game("duel,2,3")]
    for game in games:
        break_off(game, tmp_path / game.name, 3, scratch=scratch)
    assert len(os.listdir(scratch)) == 4
    for game in games:
        notes: list[str] = []
        build_store(
            game, tmp_path / game.name, scratch=scratch,
            on_progress=lambda told, notes=notes: notes.append(told.note),  # type: ignore[misc]
        )  # fmt: skip
        assert any("resuming" in note for note in notes)
        assert (tmp_path / game.name).read_bytes() == right(game)
    assert os.listdir(scratch) == []


@pytest.mark.parametrize("where", ["file", "file/deeper", "/proc/nowhere"])
def test_a_scratch_folder_that_cannot_be_is_refused_in_one_line_that_names_it(
    where: str, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "file").write_text("mine")
    scratch = tmp_path / where
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--scratch", scratch)
    assert str(scratch) in refusal(ran)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file"]


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_failure_to_write_the_store_keeps_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: MadeTasks, right: Any
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("solver.store.writer.replace_file", full)
        with pytest.raises(StoreUnwritable, match="No space"):
            build_store(GAME, tmp_path / "s", jobs=2)
    assert only(tmp_path / "s") == ["s.partial"]
    made.take()
    build_store(GAME, tmp_path / "s", jobs=2)
    assert made.take() == []
    assert (tmp_path / "s").read_bytes() == right(GAME)


@pytest.mark.parametrize(
    ("scratch", "error", "kept"),
    [(None, StoreUnwritable, "s.partial"), ("scratch", ScratchError, "scratch/2x8x3.ttt4.partial")],
)
def test_a_failure_to_keep_a_task_says_that_the_others_are_kept(
    scratch: str | None, error: type[Exception], kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    made: MadeTasks, right: Any,
) -> None:  # fmt: skip
    writing = LocalFolder.writing

    def filling(self: LocalFolder, name: str) -> Any:
        return full() if name == "03.000003.records" else writing(self, name)

    where = str(tmp_path / scratch) if scratch else None
    with monkeypatch.context() as patched:
        patched.setattr(LocalFolder, "writing", filling)
        with pytest.raises(error, match=r"No space left on device.*is kept, and the same build resumes"):
            build_store(GAME, tmp_path / "s", jobs=1, scratch=where)
    done, tasks = done_in(tmp_path / kept), set(tasks_of(GAME))
    assert (3, 3) in tasks - done
    assert len(done) >= 7
    made.take()
    build_store(GAME, tmp_path / "s", jobs=2, scratch=where)
    assert made.take() == sorted(tasks - done)
    assert (tmp_path / "s").read_bytes() == right(GAME)


@pytest.mark.parametrize("count", [9, 16])
def test_who_continues_is_told_from_where(count: int, tmp_path: Path, run: Run) -> None:
    break_off(GAME, tmp_path / "s", count)
    fields = [json.loads(file.read_bytes()[4:]) for file in (tmp_path / "s.partial").glob("*.done")]
    share = sum(each["summary"]["filled"] for each in fields) / 33_466
    ran = run(main, "build", "--game", GAME.name, "--store", tmp_path / "s")
    assert ran.code == 0
    assert f"resuming: {share:.0%} of 33,466 places are solved already\n" in ran.err
    assert "damaged" not in ran.err


def test_who_continues_is_told_what_of_the_journal_was_lost(tmp_path: Path, run: Run) -> None:
    break_off(GAME, tmp_path / "s", 9, jobs=1)
    where = ("--game", GAME.name, "--store", tmp_path / "s")
    ran = run(main, "info", *where)
    assert (ran.code, "resume its interrupted build: ttt4-solve build" in ran.err) == (3, True)
    for name in ("03.000000.done", "04.000001.records"):
        file = tmp_path / "s.partial" / name
        file.write_bytes(file.read_bytes()[:-1])
    ran = run(main, "build", *where)
    assert ran.code == 0
    assert "doing again what was damaged (2 tasks)" in ran.err


def test_progress_of_a_continued_build_begins_where_it_was(tmp_path: Path) -> None:
    told: list[float] = []
    break_off(GAME, tmp_path / "s", 9)

    def on_progress(progress: Progress) -> None:
        if progress.total and progress.phase == "solving":
            told.append(progress.done / progress.total)

    build_store(GAME, tmp_path / "s", jobs=1, on_progress=on_progress)
    assert told == sorted(told)
    assert told[0] > 0.3
    assert told[-1] == 1


@pytest.mark.parametrize("change", [negated, lost, misnumbered])
@pytest.mark.parametrize("layer", [5, 4, 3])
def test_a_record_that_an_earlier_build_is_made_to_have_kept_is_noticed(
    layer: int, change: Callable[[bytes, bytearray], None], tmp_path: Path
) -> None:
    game = parse_game("2,5,3")  # whose digest is not published
    break_off(game, tmp_path / "s", next(n for n in whole_layers(game) if tasks_of(game)[n - 1][0] == 3))
    alter_record(tmp_path / "s.partial", layer, change)
    with pytest.raises((StoreUnwritable, SolversDisagree)):
        build_store(game, tmp_path / "s", jobs=1)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("count", ["filled", "checked"])
def test_a_summary_that_an_earlier_build_is_made_to_have_kept_is_noticed(count: str, tmp_path: Path) -> None:
    break_off(GAME, tmp_path / "s", 8, jobs=1)
    alter_done(
        tmp_path / "s.partial" / "04.000001.done",
        lambda fields: fields | {"summary": fields["summary"] | {count: fields["summary"][count] - 1}},
    )
    with pytest.raises(SolversDisagree, match=r"places were (filled|searched), but there are"):
        build_store(GAME, tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []


ALTERED: list[dict[str, Any]] = [
    {"records": "6"}, {"records": None}, {"records": 6.0}, {"records": True}, {"bytes": "9"}, {"bytes": None},
    {"bytes": -1}, {"bytes": 10**30}, {"summary": None}, {"summary": {}}, {"summary": {"plies":
    {"a": [1]}}}, {"summary": 7}, {"summary": []}, {"plies": {"a": [1] * 6}}, {"plies": {"8": [1] * 5}}, {"plies":
    {"8": [1] * 7}}, {"plies": {"8": [1 << 62] * 6}}, {"plies": {"8": [1.5] * 6}}, {"plies": {"8": ["1"] * 6}},
    {"plies": {"8": None}}, {"plies": None}, {"plies": [[1] * 6]}, {"filled": "1"}, {"filled": None}, {"nodes":
    1.5}, {"score": "0"}, {"score": True}, {"checked": []}, {"abandoned": {}}, {},
]  # fmt: skip
"""What no build says of a task that it has done."""

NO_JSON = [b"", b"[" * 5000, b"\xff\xfe", b"{}", b"null", b"1e999", b'{"records": NaN}']


def altered_body(done: Path, fields: dict[str, Any]) -> bytes:
    """What a `.done` file says, with some of it as given."""
    was = json.loads(done.read_bytes()[4:])
    inner = {name: each for name, each in fields.items() if name in was["summary"]}
    outer = {name: each for name, each in fields.items() if name not in inner}
    return json.dumps(was | {"summary": was["summary"] | inner} | outer if fields else ["no", "task"]).encode()


@pytest.mark.parametrize("said", [*ALTERED, *NO_JSON], ids=lambda said: str(said)[:40])
def test_a_task_of_which_is_kept_what_no_build_writes_is_to_be_done_again(
    said: dict[str, Any] | bytes, tmp_path: Path
) -> None:
    path, tasks = tmp_path / "s", tasks_of(GAME)
    break_off(GAME, path, 6, jobs=1)
    done = tmp_path / "s.partial" / "04.000002.done"
    done.write_bytes(signed(named(done), said if isinstance(said, bytes) else altered_body(done, said)))
    with Journal(path, GAME, stand_in.StandIn().symmetries(GAME)) as journal:
        assert journal.dropped == 1
        assert journal.begun
    assert done_in(tmp_path / "s.partial") == set(tasks[:6]) - {(4, 2)}
    assert not list((tmp_path / "s.partial").glob("04.000002.*"))


@pytest.mark.parametrize(("at_once", "parts"), [(1, [1024, 1024, 452]), (8193, [2048, 452]), (10**6, [2500])])
def test_pages_that_were_kept_are_unpacked_a_few_records_at_once(
    at_once: int, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.scratch.tasks._AT_ONCE", at_once)
    files, task = TaskFiles(MemoryFolder(), THREE, bytes(4)), Task(4, 0, None)
    pages = StoredPages(7, np.arange(5, 2505), np.arange(2500 * 8).reshape(2500, 8).astype(np.int8))
    files.keep(task, Summary(), iter([pages]))
    found = list(files.unpacked(task))
    assert [len(numbers) for numbers, _ in found] == [len(scores) for _, scores in found] == parts
    assert [number for numbers, _ in found for number in numbers] == pages.numbers.tolist()
    assert np.array_equal(np.concatenate([scores for _, scores in found]), pages.scores)


@pytest.mark.parametrize("what", ["another task", "fewer records"])
def test_what_is_kept_of_another_task_or_without_some_records_is_not_taken_for_a_task(
    what: str, tmp_path: Path, made: MadeTasks, right: Any
) -> None:
    path, partial = tmp_path / "s", tmp_path / "s.partial"
    break_off(GAME, path, 8, jobs=1)
    if what == "fewer records":
        alter_done(partial / "03.000003.done", lambda fields: fields | {"records": fields["records"] - 1})
    else:
        for kind in ("records", "done"):
            (partial / f"03.000003.{kind}").write_bytes((partial / f"03.000002.{kind}").read_bytes())
    made.take()
    build_store(GAME, path, jobs=2)
    assert made.take() == sorted([(3, 3), *tasks_of(GAME)[8:]])
    assert path.read_bytes() == right(GAME)
