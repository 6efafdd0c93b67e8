"""The kernel cache: which changes of the sources make it compile again."""

import fcntl
import importlib
import os
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest

from solver.duel.live import LiveDuel
from solver.engine.live import LiveEngine
from solver.kernels import cache
from solver.kernels.cache import source_digest
from solver.kernels.loading import Loader

FILES = ["kernel.py", "inner/__init__.py", "inner/kernel.py", "inner/most/kernel.py"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_an_edit_at_any_depth_of_the_package_changes_the_digest(package: Path, name: str) -> None:
    before = source_digest(package)
    (package / name).write_text("x = 2\n")
    assert source_digest(package) != before


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_moves_changes_the_digest(package: Path, name: str) -> None:
    before = source_digest(package)
    (package / name).rename(package / "inner" / "moved.py")
    assert source_digest(package) != before


def test_only_python_files_count(package: Path) -> None:
    before = source_digest(package)
    (package / "inner" / "notes.txt").write_text("x = 2\n")
    assert source_digest(package) == before


def run_kernels(folder: Path, **env: str) -> None:
    program = [sys.executable, "-c", "import solver.sweep.halves"]
    subprocess.run(program, env={**os.environ, "NUMBA_CACHE_DIR": str(folder)} | env, check=True)


def test_only_the_files_of_a_damaged_kernel_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CACHE", tmp_path)
    monkeypatch.setattr(cache, "KEEP", True)
    for folder in ("search_1a", "search_2b", "research_1a"):
        (tmp_path / folder).mkdir()
        for name in (
            "ours.find-7.py311.nbi",
            "ours.find-7.py311.1.nbc",
            "ours.find-70.py311.nbi",
            "theirs.find-7.py311.nbi",
        ):
            (tmp_path / folder / name).write_text(name)
    every = {file for file in tmp_path.rglob("*") if file.is_file()}
    ours = {file for file in every if file.name.startswith("ours.find-7.") and file.parent.name.startswith("search")}
    cache.write_sums("search/ours.find-7", {})
    assert {file.with_name(f"{file.name}.sum") for file in ours} | every == {
        file for file in tmp_path.rglob("*") if file.is_file()
    }
    assert cache.forget_damaged("search/ours.find-7").keys() == ours
    next(iter(ours)).write_text("damaged")
    assert cache.forget_damaged("search/ours.find-7") == {}
    assert {file for file in tmp_path.rglob("*") if file.is_file()} == every - ours


@pytest.mark.slow
def test_two_kinds_of_processors_with_one_home_compile_once_each(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    for name in ("generic", "x86-64-v2") * 2:
        run_kernels(folder, NUMBA_CPU_NAME=name)
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*.nb?")}
    for name in ("generic", "x86-64-v2") * 2:
        run_kernels(folder, NUMBA_CPU_NAME=name)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.nb?")} == before


@pytest.mark.parametrize("live", [LiveDuel, LiveEngine])
def test_the_kernel_that_tells_whether_code_is_cached_is_compiled_by_the_module_that_is_imported(
    live: type[Loader],
) -> None:
    importlib.import_module(live.module)
    assert cache.is_cached(live.kernel)


class Loading(Loader):
    """Code that is compiled when its kernel is cached."""

    kernel, module = "engine/one.one", "time"

    def make(self) -> str:
        return "compiled"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The compilers that were started, each with the lock. The cache, which is empty, has what they compile."""
    commands: list[list[str]] = []

    class Compiler:
        def __init__(self, command: list[str], *, pass_fds: tuple[int, ...], **options: object) -> None:
            commands.append(command)
            assert options["start_new_session"], "or Ctrl-C at the prompt would end it too"
            assert os.path.samestat(os.fstat(pass_fds[0]), os.stat(tmp_path / "time.lock"))

        def wait(self) -> None:
            with (tmp_path / "time.lock").open() as other, pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            compile_it(tmp_path)

    monkeypatch.setattr(cache, "CACHE", tmp_path)
    monkeypatch.setattr(cache, "KEEP", True)
    monkeypatch.setattr(subprocess, "Popen", Compiler)
    return commands


def compile_it(folder: Path) -> None:
    (folder / "engine_1").mkdir()
    (folder / "engine_1" / "one.one-1.nbi").write_text("")


def test_what_is_not_cached_is_compiled_once_under_a_lock_that_the_compiler_has_too(started: list[list[str]]) -> None:
    assert [Loading(may_compile=True).compiled(inf) for _ in range(3)] == ["compiled"] * 3
    assert started == [[sys.executable, "-P", "-c", "import time"]]
    assert Loading(may_compile=False).compiled(inf) is None


def test_what_another_process_has_compiled_meanwhile_is_not_compiled_again(
    started: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda *lock: compile_it(tmp_path))  # this process had to wait for it
    assert Loading(may_compile=True).compiled(inf) == "compiled"
    assert started == []
