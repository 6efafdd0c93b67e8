"""Whatever happens to a build or to what it stands on: the store is whole, and nothing else is left behind."""

import contextlib
import errno
import os
import resource
import runpy
import shutil
import signal
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import lmdb
import pytest
import stand_in
from clusters import digest_of, refusal
from stores import with_a_flipped_bit

from solver.cli.main import main
from solver.errors import StoreUnwritable
from solver.files import temporary_path
from solver.games.lines import Game, grid
from solver.index.symmetry import symmetries
from solver.kernels import cache as cache_module
from solver.proof.build import build_store
from solver.proof.compile import compile_kernels
from solver.proof.prove import LineProof
from solver.scratch.journal import Journal
from solver.store.digests import content_digest
from solver.store.store import Store

THREE = grid(3, 3, 3)
GAME = stand_in.GAME
PAGE = 4096


def killed_at(number: int, game: Game, path: Path) -> bool:
    """Whether a forked build is killed when it is to do its so many-eth thing to files; False if it has ended before.

    Python's audit events tell when a file is opened, renamed or deleted, and when a folder is made, listed or deleted.
    """
    child = os.fork()
    if not child:
        done = count(1)

        def killing(event: str, arguments: object) -> None:
            ours = event == "open" or event.startswith(("os.re", "os.mkdir", "os.rmdir", "os.scandir", "os.listdir"))
            if ours and next(done) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        with contextlib.suppress(BaseException):
            sys.addaudithook(killing)
            build_store(game, path, jobs=2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("game", "step"),
    [(GAME, 37), pytest.param(GAME, 5, marks=pytest.mark.slow), pytest.param(THREE, 13, marks=pytest.mark.slow)],
)
def test_a_build_killed_at_any_moment_leaves_the_old_store_whole_and_is_resumed(
    game: Game, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.use_stand_in(monkeypatch)
    path, good = tmp_path / "s", tmp_path / "good"
    build_store(game, good, jobs=1)
    right = good.read_bytes()
    kills = 0
    while killed_at(1 + kills * step, game, path):
        kills += 1
        assert not path.exists() or path.read_bytes() == right, f"kill {kills} left half a store"
        shutil.copy(good, path)
        killed_at(1 + kills * step, game, path)  # it ends if the first one had done most
        assert path.read_bytes() == right, f"kill {kills} harmed the store"
        path.unlink()
        build_store(game, path, jobs=2)
        assert path.read_bytes() == right
        assert sorted(tmp_path.iterdir()) == [good, path]
        path.unlink()
    assert kills * step > 100
    assert path.read_bytes() == right


@pytest.mark.parametrize("limit", [0, 1, 100, 2 * PAGE, 3 * PAGE, 4 * PAGE, 5 * PAGE])
def test_a_full_disk_leaves_the_old_store_and_what_was_solved(
    limit: int, tmp_path: Path, forked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        build_store(GAME, path, jobs=2)

    stand_in.use_stand_in(monkeypatch)
    path, good = tmp_path / "s", tmp_path / "good"
    build_store(GAME, good, jobs=1)
    ended, said = forked(full, path)
    assert (ended, said.split(":")[0]) == (0, "StoreUnwritable"), said
    # Up to some limit the first task that has records does not fit, and it is chance whether another is done by then.
    kept = set(tmp_path.iterdir()) - {good}
    assert kept == {tmp_path / "s.partial"} or (kept == set() and limit < 3 * PAGE)
    assert kept == set() or limit > 1
    shutil.copy(good, path)
    ended, said = forked(full, path)
    assert (ended, said.split(":")[0]) == (0, "StoreUnwritable"), said
    assert set(tmp_path.iterdir()) - kept <= {good, path, tmp_path / "s.partial"}
    assert path.read_bytes() == good.read_bytes()
    build_store(GAME, path, jobs=2)
    assert sorted(tmp_path.iterdir()) == [good, path]
    assert path.read_bytes() == good.read_bytes()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for name in ("file/s", "file/deeper/s", "folder", "n" * 300):
        with pytest.raises(StoreUnwritable, match="cannot write store"):
            build_store(THREE, tmp_path / name, jobs=1)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_folder_that_may_not_be_written_is_refused(forked: Any) -> None:
    def attempt(folder: str) -> object:
        compile_kernels()
        if os.geteuid() == 0:  # whom modes do not bind
            os.setuid(65534)
        return build_store(THREE, Path(folder) / "s", jobs=1)

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        signal, said = forked(attempt, folder)
        assert (signal, os.listdir(folder)) == (0, [])
    assert said.startswith("StoreUnwritable: cannot write store")
    assert "Permission denied" in said


@pytest.mark.slow
@pytest.mark.parametrize("home", [None, "/dev/null"])
def test_a_build_needs_no_home(home: str | None, tmp_path: Path, store3: Path, solve_process: Any) -> None:
    env = {} if home is None else {"HOME": home}
    built = solve_process("build", "--game", "3,3,3", "--store", tmp_path / "s", clean=True, env=env)
    out, err = built.communicate()
    assert built.returncode == 0, err
    assert "3,3,3" in out
    assert digest_of(tmp_path / "s") == digest_of(store3)
    assert list((tmp_path / "nowhere").iterdir()) == []


@pytest.mark.parametrize("home", ["relative", "/proc/nonexistent", "/dev/null"])
def test_without_a_home_compiled_code_is_not_kept(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("HOME", home)
    cache = runpy.run_path(cache_module.__file__)
    assert cache["KEEP"] is False
    assert cache["is_cached"]("search/alphabeta.search"), "nobody is to compile it in another process"
    assert cache["forget_damaged"]("search/alphabeta.search") == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_damaged_cache_of_kernels_is_mended_unseen(store3: Path, tmp_path: Path, solve_process: Any) -> None:
    from solver.kernels.cache import CACHE

    cache, path = tmp_path / "cache", tmp_path / "s"
    shutil.copytree(CACHE, cache)
    kernels = sorted(cache.rglob("*.nbi"))
    assert len(kernels) > 4
    for i, index in enumerate(kernels):
        # Each kernel in one of four ways: the index or the code, cut in half or to nothing.
        for file in [index] if i % 2 else index.parent.glob(index.stem + "*.nbc"):
            os.truncate(file, file.stat().st_size // 2 if i % 4 < 2 else 0)
    for again in ("first", "second", "third"):
        built = solve_process(
            "build", "--force", "--game", "3,3,3", "--store", path, env={"NUMBA_CACHE_DIR": str(cache)}
        )
        _, err = built.communicate()
        assert (built.returncode, err.split()) == (0, ["compiling...", "solving...", "writing..."]), (again, err)
        assert digest_of(path) == digest_of(store3)


def test_a_build_beside_another_is_refused_in_one_line(tmp_path: Path, run: Any) -> None:
    with Journal(tmp_path / "s", THREE, symmetries(THREE)):
        ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s")
        assert "another build" in refusal(ran)
        assert (tmp_path / "s.partial").exists()
    assert run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s").code == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


def test_a_new_store_that_cannot_be_read_back_is_named_by_its_own_name(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = os.pread

    def failing(descriptor: int, count: int, at: int) -> bytes:
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".ttt4-new"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(descriptor, count, at)

    monkeypatch.setattr(os, "pread", failing)
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s")
    assert (ran.code, ran.out) == (1, "")
    assert f"what was written does not read back: cannot open store {str(tmp_path / 's')!r}" in ran.err
    assert "ttt4-new" not in ran.err
    assert not (tmp_path / "s").exists()
    assert not list(tmp_path.glob(".*"))


def test_what_lmdb_cannot_open_leaves_no_file(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(path: str, **options: object) -> None:
        Path(path).touch()
        raise lmdb.MemoryError("mmap: Cannot allocate memory")

    monkeypatch.setattr(lmdb, "open", failing)
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s")
    assert (ran.code, ran.out, "Cannot allocate memory" in ran.err) == (1, "", True)
    assert not list(tmp_path.glob(".*"))


def test_files_of_like_names_are_left_alone_and_those_of_a_killed_build_are_cleared(tmp_path: Path) -> None:
    theirs = ["s.new", "s.tmp", ".s.new", ".s.0123456789abcdef", ".s.0123456789abcdef.ttt4-new",
              ".s.zz23456789abcdef.ttt4-new", ".t.0123456789abcdef.ttt4-new"]  # fmt: skip
    for name in theirs:
        (tmp_path / name).write_text("mine")
    Path(temporary_path(tmp_path / "s")).write_text("left by a killed build")
    build_store(THREE, tmp_path / "s", jobs=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*theirs, "s"])
    assert {(tmp_path / name).read_text() for name in theirs} == {"mine"}


def test_a_link_stays_a_link_and_what_it_leads_to_is_built(tmp_path: Path, run: Any) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "s")
    for more in ([], ["--force"]):
        ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "link", *more)
        assert ran.code == 0
        assert f"is a link: building {tmp_path / 'there' / 's'}" in ran.err
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link", "s", "there"]


def test_a_pipe_or_a_device_is_not_replaced(tmp_path: Path, run: Any) -> None:
    os.mkfifo(tmp_path / "s")
    for path in (tmp_path / "s", "/dev/null"):
        ran = run(main, "build", "--game", "3,3,3", "--store", path, "--force")
        assert (ran.code, "delete it first" in ran.err) == (1, True)
    assert (tmp_path / "s").is_fifo()


@pytest.mark.parametrize("length", [200, 240, 246, 247, 255, 256])
def test_a_long_name_is_built_or_refused_before_solving(length: int, tmp_path: Path, run: Any) -> None:
    path = tmp_path / ("n" * length)
    ran = run(main, "build", "--game", "3,3,3", "--store", path)
    assert ran.code == (0 if length < 248 else 1)
    assert "solving" not in ran.err or path.exists()


def test_a_file_that_comes_while_a_build_is_at_work_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = LineProof.search_empty_board

    def meanwhile(*arguments: Any) -> Any:
        (tmp_path / "s").write_text("my precious notes")
        return real(*arguments)

    monkeypatch.setattr(LineProof, "search_empty_board", meanwhile)
    with pytest.raises(StoreUnwritable, match="delete it first"):
        build_store(THREE, tmp_path / "s", jobs=1)
    assert (tmp_path / "s").read_text() == "my precious notes"


def test_a_build_ends_well_where_the_ends_of_children_are_ignored(
    tmp_path: Path, store3: Path, forked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ignoring() -> int:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        return build_store(THREE, tmp_path / "s", jobs=1).witnessed

    monkeypatch.setattr("solver.proof.witness._FEW_CELLS", 0)  # so that the witness is a child
    ended, witnessed = forked(ignoring)
    assert (ended, witnessed.isdigit()) == (0, True), witnessed
    assert digest_of(tmp_path / "s") == digest_of(store3)


def test_a_name_that_lmdb_cannot_take_is_refused_before_solving(tmp_path: Path, run: Any) -> None:
    ran = run(main, "build", "--game", "3,3,3", "--store", os.fsdecode(bytes(tmp_path) + b"/\xff"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "only names in UTF-8" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_build_takes_no_more_address_space_than_it_needs(tmp_path: Path, store3: Path, forked: Any) -> None:
    def limited() -> int:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), used + (1 << 30)))
        return build_store(THREE, tmp_path / "s", jobs=2).size

    assert forked(limited) == (0, str(store3.stat().st_size))
    assert digest_of(tmp_path / "s") == digest_of(store3)


def test_a_full_disk_is_called_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import lmdb

    from solver.store import writer

    def failing(*_: object) -> None:
        raise lmdb.Error("mdb_txn_commit: Input/output error")

    with pytest.raises(StoreUnwritable, match="Input/output error"), writer.writing(tmp_path / "s"):
        failing()
    monkeypatch.setattr(writer, "_NO_ROOM", 1 << 60)
    with pytest.raises(StoreUnwritable, match="No space left on device"), writer.writing(tmp_path / "s"):
        failing()


@pytest.mark.parametrize(("kind", "damage"), [("nbi", "flipped"), ("nbc", "flipped"), ("nbc", "cut"), ("sum", "cut")])
def test_damage_to_a_cached_kernel_is_noticed_and_it_is_compiled_again(
    kind: str, damage: str, tmp_path: Path, forked: Any
) -> None:
    room = tmp_path / uuid4().hex  # files of kernels are found by the name of their folder, which other runs have too
    room.mkdir()
    tiny = room / "tiny.py"
    tiny.write_text(
        "from solver.kernels.jit import jit\n\n@jit('int64(int64)')\ndef twice(number):\n    return 2 * number\n"
    )

    def loaded() -> object:
        twice = runpy.run_path(str(tiny))["twice"]
        return twice(21), dict(twice.stats.cache_hits)

    try:
        compiled = str((42, {}))
        assert forked(loaded) == (0, compiled)
        cached = forked(loaded)
        assert cached != (0, compiled), "the second one loads it"
        file = next(file for file in tiny_files(room) if file.name.endswith(f".{kind}"))
        content = file.read_bytes()
        file.write_bytes(with_a_flipped_bit(content, 0.7) if damage == "flipped" else content[:-9])
        assert forked(loaded) == (0, compiled)
        assert forked(loaded) == cached
    finally:
        for folder in {file.parent for file in tiny_files(room)}:
            shutil.rmtree(folder)


def tiny_files(folder: Path) -> list[Path]:
    """What the cache has of the kernel in a folder."""
    return list(cache_module.CACHE.glob(f"{folder.name}_*/tiny.*"))


@pytest.mark.slow
def test_readers_of_a_store_that_is_replaced_read_the_old_one_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.use_stand_in(monkeypatch)
    path, replaced = tmp_path / "s", threading.Event()
    build_store(GAME, path)
    right = digest_of(path)

    def reading() -> list[str]:
        read = []
        while not replaced.is_set():
            with Store(path, GAME) as store:
                read.append(content_digest(store))
        return read

    with ThreadPoolExecutor(3) as readers:
        begun = [readers.submit(reading) for _ in range(3)]
        for _ in range(8):
            build_store(GAME, path, jobs=2)
        replaced.set()
    read = [digest for each in begun for digest in each.result()]
    assert set(read) == {right}
    assert len(read) > 10
