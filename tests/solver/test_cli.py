"""The commands: exit codes, one-line errors, what goes to which stream, and what verify finds."""

import io
import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import click
import pytest
from commands import Output
from stores import rewritten

import oracle.cli.main
import solver.cli.main
from solver.cli.progress_line import ProgressLine
from solver.errors import StoreDamaged
from solver.games.lines import grid
from solver.index.places import Half, page_size
from solver.proof.plan import Holder, Plan
from solver.proof.progress import Progress
from solver.proof.verify import verify_store
from solver.scratch.folder import LocalFolder
from solver.scratch.tasks import TaskFiles
from solver.store.manifest import Manifest, Ply
from solver.store.record import pack, record_key, unpack, with_checksum
from solver.store.store import Store
from solver.store.writer import StoreWriter

THREE = grid(3, 3, 3)
EMPTY = ".../.../..."
SOLVE = solver.cli.main.main
QUERY = oracle.cli.main.main
READERS = [(SOLVE, "verify"), (SOLVE, "info"), (QUERY, EMPTY)]
Run = Callable[..., Any]


def one_line(ran: Any, code: int) -> bool:
    """Whether a command ended so, with nothing on stdout and one line on stderr, progress aside."""
    talk = [line for line in ran.err.splitlines() if not line.endswith("...")]
    assert (ran.code, len(talk), ran.out) == (code, 1, ""), ran
    assert talk[0].startswith("Error: "), ran
    assert "Traceback" not in ran.err
    return True


@pytest.mark.parametrize("game", ["4,4", "0,4,4", "4,4,9", "x", "", "4,4,4,4", "4,4,-1", "4,4,4,lose", "４,4,4"])
@pytest.mark.parametrize("command", [(SOLVE, "build"), (SOLVE, "plan"), (SOLVE, "bench"), *READERS])
def test_a_bad_game_is_refused_in_one_line(command: Any, game: str, run: Run) -> None:
    assert one_line(run(*command, "--game", game), 2)


@pytest.mark.parametrize("command", [(SOLVE, "build"), (SOLVE, "plan"), (SOLVE, "bench"), *READERS])
def test_a_game_too_large_to_solve_is_refused_in_one_line(command: Any, run: Run, tmp_path: Path) -> None:
    named = () if command[1] == "bench" else ("--store", tmp_path / "s")
    for game in ("9,9,5", "500,500,5", "duel,6,7"):
        ran = run(*command, "--game", game, *named)
        assert one_line(ran, ran.code)
        assert ran.code in ((2,) if command[1] in ("build", "plan", "bench") else (2, 3))
    assert list(tmp_path.iterdir()) == []


UNUSABLE = [("none", 3, "ttt4-solve build"), ("4,4,4", 3, "4,4,4"), (b"", 4, "--force"), (b"junk" * 9999, 4, "")]


@pytest.mark.parametrize(
    ("command", "content", "code", "said"),
    [(command, *case) for case in UNUSABLE for command in READERS]
    + [((SOLVE, "build"), *case) for case in UNUSABLE[1:]],
)
def test_a_missing_store_and_one_of_another_game_end_with_3_and_a_damaged_one_with_4(
    command: Any, content: Any, code: int, said: str, tmp_path: Path, store4: Path, run: Run
) -> None:
    path = store4 if content == "4,4,4" else tmp_path / "s"
    if isinstance(content, bytes):
        path.write_bytes(content)
    ran = run(*command, "--game", "3,3,3", "--store", path)
    assert one_line(ran, code)
    assert said in ran.err


@pytest.mark.parametrize("command", [(SOLVE, "build"), *READERS])
@pytest.mark.parametrize("name", ["file/s", "n" * 300])
def test_a_path_that_no_store_can_have_ends_with_1(command: Any, name: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").write_text("")
    ran = run(*command, "--game", "3,3,3", "--store", tmp_path / name)
    assert one_line(ran, 1)
    assert "--store" in ran.err


def test_a_wrong_option_ends_with_2(run: Run) -> None:
    for arguments in (["build", "--jobs", "0"], ["build", "--jobs", "x"], ["verify", "--sample", "-1"], ["nothing"]):
        ran = run(SOLVE, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "Traceback" not in ran.err


def test_info_as_json_has_these_keys_and_the_counts_of_the_manifest(store4: Path, run: Run) -> None:
    ran = run(SOLVE, "info", "--json", "--store", store4)
    assert (ran.code, ran.err) == (0, "")
    info = json.loads(ran.out)
    assert set(info) == {
        "game", "misere", "cells", "lines", "symmetries", "reachable", "canonical", "outcome", "score", "scale",
        "plies_to_end", "digest", "published", "bytes", "format", "plies",
    }  # fmt: skip
    assert (info["game"], info["misere"], info["cells"], info["lines"]) == ("4,4,4", False, 16, 10)
    assert (info["symmetries"], info["outcome"], info["plies_to_end"]) == (32, "draw", None)
    assert (info["reachable"], info["canonical"]) == (9_722_011, 307_639)
    assert info["bytes"] == store4.stat().st_size
    with Store(store4) as store:
        assert info["plies"] == [ply._asdict() for ply in store.manifest.plies]


def test_info_tells_how_soon_a_won_game_ends(tmp_path: Path, run: Run) -> None:
    assert run(SOLVE, "build", "--game", "3,4,3", "--store", tmp_path / "s").code == 0
    info = json.loads(run(SOLVE, "info", "--game", "3,4,3", "--json", "--store", tmp_path / "s").out)
    assert (info["outcome"], info["plies_to_end"]) == ("win", 7)
    assert (info["reachable"], info["canonical"]) == (111_973, 28_275)
    told = run(SOLVE, "info", "--game", "3,4,3", "--store", tmp_path / "s").out
    assert "X wins in 7 plies" in told
    assert all(len(line) <= 80 for line in told.splitlines() if not line.startswith("file"))


def test_the_largest_numbers_fit_a_terminal(store3: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    most = Ply(25, 40_123_456_789, 5_123_456_789, 4_123_456_789, 4_123_456_789, 4_123_456_789, 1_123_456_789)
    monkeypatch.setattr(
        Manifest, "from_json", classmethod(lambda cls, text, old=Manifest.from_json: old(text)._replace(plies=(most,)))
    )
    told = run(SOLVE, "info", "--game", "3,3,3", "--store", store3).out.splitlines()
    assert all(len(line) <= 80 for line in told if not line.startswith("file"))
    assert told[-3].split() == [f"{number:,}" for number in (25, *most[1:6])]


@pytest.mark.parametrize("command", [SOLVE, *SOLVE.commands.values()])
def test_help_names_every_argument(command: click.Command, run: Run) -> None:
    ran = run(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert all(each.human_readable_name in ran.out for each in command.params if isinstance(each, click.Argument))


def test_a_build_that_writes_to_no_terminal_writes_no_carriage_returns_or_escape_codes(
    tmp_path: Path, run: Run
) -> None:
    ran = run(SOLVE, "build", "--game", "3,3,3", "--store", tmp_path / "s")
    assert ran.code == 0
    assert not re.search(r"[\r\x1b\x08]", ran.out + ran.err)
    assert ran.err.splitlines() == ["compiling...", "solving...", "writing..."]
    assert "5,478 reachable, 765 canonical" in ran.out


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Start a line on a terminal or elsewhere; then show progress at a time, or clear the line: what is written."""

    def starting(*, terminal: bool, **options: bool) -> Callable[[float, Progress | None], str]:
        memory, time = io.BytesIO(), [0.0]
        monkeypatch.setattr("sys.stderr", Output(memory, terminal=terminal))
        monkeypatch.setattr("solver.cli.progress_line.monotonic", lambda: 1000 + time[0])
        line = ProgressLine(**options)

        def showing(now: float, progress: Progress | None) -> str:
            time[0], before = now, len(memory.getvalue())
            line(progress) if progress else line.clear()
            return memory.getvalue()[before:].decode()

        return showing

    return starting


HALF = "solving [##########          ]  50%  ply  3  40/s  12 s left"


def test_on_a_terminal_one_line_is_drawn_over_the_last_and_erased_before_a_note(say: Any) -> None:
    on = say(terminal=True)
    assert on(0, None) == ""
    assert on(0, Progress("solving", 3, 100, 1000)) == "\rsolving [##                  ]  10%  ply  3  0/s"
    assert on(0.09, Progress("solving", 3, 200, 1000)) == ""
    assert on(10, Progress("solving", 3, 500, 1000)) == f"\r{HALF}"
    assert on(10.09, Progress("solving", 3, 500, 1000)) == ""
    assert on(10.09, Progress("writing", detail="to disk")) == "\r" + "writing... to disk".ljust(len(HALF))
    assert on(10.1, None) == "\r" + " " * 20 + "\r", "what a terminal shows of Ctrl-C is erased, too"
    assert on(10.1, None) == ""
    assert on(10.1, Progress("writing", note="damaged")) == "damaged\n"
    assert on(11, Progress("writing")) == "\rwriting..."
    assert on(11.05, Progress("writing", note="again")) == "\r" + " " * 12 + "\ragain\n"


def test_elsewhere_each_phase_has_a_line_and_then_one_a_minute(say: Any) -> None:
    to = say(terminal=False)
    assert to(70, Progress("solving", 3, 100, 5000)) == "solving...\n"
    assert to(129.9, Progress("solving", 3, 900, 5000)) == ""
    assert to(130, Progress("solving", 3, 2500, 5000)) == f"{HALF.replace('12 s', '62 s')}\n"
    assert to(189.9, Progress("solving", 3, 2600, 5000, note="damaged")) == "damaged\n"
    assert to(189.9, Progress("writing")) == "writing...\n"
    assert to(249.8, Progress("writing")) == ""
    assert to(249.9, Progress("writing")) == "writing...\n"
    assert to(250, None) == ""
    assert to(310, Progress("writing", 4, 1, 4, detail="7 left")) == (
        "writing [#####               ]  25%  ply  4  7 left  0/s  6 min left\n"
    )


def test_without_phases_there_is_only_the_line_a_minute_and_plies_are_told_where_there_are_any(say: Any) -> None:
    to = say(terminal=False, phases=False)
    assert to(0, Progress("games", done=10, total=100)) == ""
    assert to(59, Progress("games", done=20, total=100)) == ""
    assert to(60, Progress("games", done=70, total=100)) == "games [##############      ]  70%  1/s  30 s left\n"


@pytest.mark.parametrize(
    ("sample", "least", "most"), [((), 1000, 10**6), (("--sample", "0"), 0, 0), (("--sample", "10"), 100, 300)]
)
def test_verify_passes_a_good_store_and_searches_no_more_than_the_sample(
    sample: tuple[str, ...], least: int, most: int, store4: Path, run: Run
) -> None:
    ran = run(SOLVE, "verify", "--store", store4, *sample)
    assert ran.code == 0, ran
    assert "307,639 canonical" in ran.out
    assert least <= int(ran.out.split(" places searched")[0].split()[-1].replace(",", "")) <= most


@pytest.fixture
def only_files(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Let there be no memory for pages; what is returned collects the names of files that hold some."""
    seen: set[str] = set()
    writing = LocalFolder.writing

    def noted(self: LocalFolder, name: str) -> Any:
        seen.add(f"{self.url}/{name}")
        return writing(self, name)

    monkeypatch.setattr(LocalFolder, "writing", noted)
    monkeypatch.setattr(Plan, "memory", lambda self, holder: 1 if holder is Holder.FILES else 1 << 60)
    return seen


def test_verify_keeps_pages_that_memory_has_no_room_for_in_the_scratch_folder_and_leaves_nothing_there(
    store4: Path, tmp_path: Path, run: Run, only_files: set[str]
) -> None:
    scratch = tmp_path / "deep" / "scratch"
    scratch.mkdir(parents=True)
    (scratch / "film").write_text("mine")
    ran = run(SOLVE, "verify", "--store", store4, "--scratch", scratch)
    assert ran.code == 0, ran
    assert "307,639 canonical" in ran.out
    assert only_files
    assert all(name.startswith(f"{scratch}/.ttt4-verify-") and name.endswith(".pages") for name in only_files)
    assert [(file.name, file.read_text()) for file in scratch.iterdir()] == [("film", "mine")]


def test_verify_says_what_is_needed_where_there_is_no_room_and_no_scratch_folder(
    store4: Path, run: Run, only_files: set[str]
) -> None:
    ran = run(SOLVE, "verify", "--store", store4)
    assert one_line(ran, 1)
    assert "of memory, but " in ran.err
    assert only_files == set()


def test_verify_with_a_scratch_folder_finds_any_one_altered_score_and_leaves_nothing_there(
    tmp_path: Path, store3: Path, run: Run, only_files: set[str]
) -> None:
    def alter(empty: int, half: int, page: bytearray) -> None:
        if empty == 5:
            page[0] = (page[0] + 1) % 256

    path, scratch = rewritten(tmp_path / "s", store3, alter), tmp_path / "scratch"
    for sample in ([], ["--sample", "0"]):
        ran = run(SOLVE, "verify", "--game", "3,3,3", "--store", path, "--scratch", scratch, *sample)
        assert one_line(ran, 4)
        assert list(scratch.iterdir()) == []
    assert only_files


@pytest.mark.parametrize("game", ["3,3,3", "duel,2,2"])
def test_verify_takes_a_scratch_folder_for_any_game(game: str, tmp_path: Path, run: Run) -> None:
    assert run(SOLVE, "build", "--game", game, "--store", tmp_path / "s").code == 0
    ran = run(SOLVE, "verify", "--game", game, "--store", tmp_path / "s", "--scratch", tmp_path / "scratch")
    assert ran.code == 0, ran
    assert list(tmp_path.rglob("*/*")) == []


@pytest.mark.parametrize("where", ["file/deeper", "/proc/nowhere"])
def test_verify_refuses_a_scratch_folder_that_cannot_be_in_one_line(
    where: str, tmp_path: Path, store3: Path, run: Run
) -> None:
    (tmp_path / "file").write_text("mine")
    ran = run(SOLVE, "verify", "--game", "3,3,3", "--store", store3, "--scratch", tmp_path / where)
    assert one_line(ran, 1)
    assert str(tmp_path / where) in ran.err


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("tasks", [0, 1, 5])
def test_an_interrupted_build_says_where_it_goes_on_if_anything_is_kept(
    tasks: int, given: bool, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, begun = TaskFiles.keep, count()

    def keeping(self: TaskFiles, *rest: Any) -> Any:
        if next(begun) == tasks:
            raise KeyboardInterrupt
        return keep(self, *rest)

    monkeypatch.setattr(TaskFiles, "keep", keeping)
    scratch = ("--scratch", tmp_path / "scratch") if given else ()
    ran = run(SOLVE, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--jobs", "1", *scratch)
    folder = tmp_path / "scratch" / "3x3x3.ttt4.partial" if given else tmp_path / "s.partial"
    kept = [f"What is solved is kept in {folder}: the same command resumes."] if tasks else []
    assert (ran.code, ran.out) == (130, "")
    assert [line for line in ran.err.splitlines() if not line.endswith("...")] == [*kept, "Interrupted."]
    assert len(list(folder.glob("*.done"))) == tasks
    assert folder.exists() == (tasks > 0)


@pytest.mark.parametrize(
    "about",
    [
        lambda m: m._replace(score=m.score + 1),
        lambda m: m._replace(plies=m.plies[:-1]),
        lambda m: m._replace(plies=(m.plies[0]._replace(wins=1, draws=0), *m.plies[1:])),
        lambda m: m._replace(plies=(*m.plies[:-1], m.plies[-1]._replace(reachable=1))),
        lambda m: m._replace(symmetries=m.symmetries[:1]),
        lambda m: m._replace(digest="0" * 64),
    ],
)
def test_verify_finds_a_manifest_that_lies(about: Any, tmp_path: Path, store3: Path, run: Run) -> None:
    path = rewritten(tmp_path / "s", store3, about=about)
    assert one_line(run(SOLVE, "verify", "--game", "3,3,3", "--store", path), 4)


def test_verify_finds_a_record_under_another_key(tmp_path: Path, store4: Path, run: Run) -> None:
    with Store(store4) as store, StoreWriter(tmp_path / "s") as writer:
        for key, value in store.records():
            halves = [half for half, _ in unpack(key, value, page_size(store.game, key[0]))]
            first = record_key(key[0], halves[0])
            writer.put(first, with_checksum(first, value[4:]))
        writer.finish(store.manifest)
    assert one_line(run(SOLVE, "verify", "--store", tmp_path / "s", "--sample", "0"), 4)


@pytest.mark.parametrize("wrong", ["another page first", "one page more"])
def test_verify_finds_a_record_of_other_pages(wrong: str, tmp_path: Path, store3: Path) -> None:
    with Store(store3) as store, StoreWriter(tmp_path / "s") as writer:
        records = list(store.records())
        last = max(key for key, _ in records if key[0] == 5)
        for key, value in records:
            held = list(unpack(key, value, page_size(store.game, key[0])))
            numbers, pages = [number for number, _ in held], [bytes(page) for _, page in held]
            if key == last and wrong == "another page first":
                numbers[0] = Half(numbers[0] - 1)
            elif key == last:
                numbers, pages = [*numbers, Half(0x1FF)], [*pages, pages[-1]]
            record = pack(key[0], numbers, b"".join(pages))
            writer.put(record.key, record.value)
        writer.finish(store.manifest)
    with pytest.raises(StoreDamaged, match=r"the record of page 0x[0-9a-f]+ with [0-9] cells empty has wrong pages"):
        verify_store(tmp_path / "s", THREE, jobs=1, sample=0)


@pytest.mark.parametrize("empty", [0, 8, 10, 60])
def test_verify_finds_a_record_that_the_game_has_not(empty: int, tmp_path: Path, store3: Path, run: Run) -> None:
    rewritten(tmp_path / "s", store3, more=[pack(empty, [Half(0x1FF)], b"\0")])
    assert one_line(run(SOLVE, "verify", "--game", "3,3,3", "--store", tmp_path / "s"), 4)
