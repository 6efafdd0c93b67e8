"""The kernel cache: which changes of the sources make it compile again."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest

from solver.kernels.cache import source_digest

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


def run_kernels(cache: Path, program: str = "import solver.sweep.halves", **env: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(cache.parent)!r}); {program}"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": str(cache)} | env, check=True)


def test_the_kernels_of_others_in_the_same_cache_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "theirs.py").write_text(
        "import numba\n\n@numba.njit('int64(int64)', cache=True)\ndef _collect(x):\n    return x\n"
    )
    cache = tmp_path / "cache"
    run_kernels(cache, "import search.theirs")
    theirs = {file: file.read_bytes() for file in cache.rglob("*theirs*")}
    assert theirs
    run_kernels(cache)
    assert {file: file.read_bytes() for file in cache.rglob("*theirs*")} == theirs


@pytest.mark.slow
def test_two_kinds_of_processors_with_one_home_compile_once_each(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name in ("generic", "x86-64-v2") * 2:
        run_kernels(cache, NUMBA_CPU_NAME=name)
    before = {file: file.stat().st_mtime_ns for file in cache.rglob("*.nb?")}
    for name in ("generic", "x86-64-v2") * 2:
        run_kernels(cache, NUMBA_CPU_NAME=name)
    assert {file: file.stat().st_mtime_ns for file in cache.rglob("*.nb?")} == before


def test_of_processes_that_need_the_engine_at_once_one_compiles_and_the_others_wait(tmp_path: Path) -> None:
    """Also if the one that has started it is gone: the compiler keeps the lock."""
    code = (
        "from time import monotonic; from solver.engine.live import LiveEngine; from solver.games.lines import grid; "
        "print(LiveEngine(grid(6, 6, 4), 1).compiled(monotonic() + {seconds}) is not None)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    hasty = subprocess.run([sys.executable, "-c", code.format(seconds=0.5)], env=env, capture_output=True, text=True)
    assert hasty.stdout == "False\n"
    patient = [
        subprocess.Popen([sys.executable, "-c", code.format(seconds=120)], env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    most = 0
    while any(process.poll() is None for process in patient):
        most = max(most, sum(compiles(process, tmp_path) for process in Path("/proc").glob("[0-9]*")))
        sleep(0.1)
    assert [process.communicate()[0] for process in patient] == ["True\n"] * 2
    assert most == 1


def compiles(process: Path, cache: Path) -> bool:
    """Whether a process compiles the engine into a cache."""
    with suppress(OSError):  # it has ended
        here = f"NUMBA_CACHE_DIR={cache}".encode() in (process / "environ").read_bytes().split(b"\0")
        return here and b"import solver.engine.engine" in (process / "cmdline").read_bytes()
    return False
