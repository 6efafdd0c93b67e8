"""The kernel cache: which changes of the sources make it compile again."""

import os
import subprocess
import sys
from pathlib import Path

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
