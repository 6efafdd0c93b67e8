"""The kernel cache: which changes of the sources make it compile again."""

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
