"""Files that commands write: what they replace, and when they say that they are done."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from play.cli.main import main as play
from solver.cli.main import main as solve
from solver.cli.output import OutputError, OutputFile, OutputRefused

Write = Callable[..., Any]


@pytest.fixture(params=["prove", "dataset", "curve"])
def write(request: pytest.FixtureRequest, run: Any, tmp_path: Path) -> Write:
    """Run a command that writes a file of that name."""

    read = {"prove": None, "dataset": "store3", "curve": "lone_run"}[request.param]
    source = request.getfixturevalue(read) if read else ""

    def writing(name: str, *more: str) -> Any:
        path = tmp_path / name
        if request.param == "prove":
            return run(solve, "prove", "--game", "3,3,3", "--out", path, *more)
        if request.param == "dataset":
            return run(solve, "dataset", "--game", "3,3,3", "--store", source, "--out", path, *more)
        return run(play, "curve", source, "--svg", path, *more)

    return writing


@pytest.fixture
def lone_run(run: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    assert run(play, "train", "--game", "2,2,2", "--episodes", "20", "--every", "20", "--out", folder).code == 0
    return folder


def test_a_file_that_exists_is_replaced_only_by_force(write: Write, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.npz"
    theirs.write_text("years of work")
    ran = write("theirs.npz")
    assert (ran.code, ran.out, "replace it with --force" in ran.err) == (2, "", True)
    assert theirs.read_text() == "years of work"
    assert write("theirs.npz", "--force").code == 0
    assert theirs.read_bytes()[:5] != b"years"
    again = write("theirs.npz")
    assert again.code == 2


def test_nothing_but_a_regular_file_is_replaced_even_by_force(write: Write, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "link.npz").symlink_to("/dev/null")
    (tmp_path / "folder.npz").mkdir()
    for name in ("pipe.npz", "link.npz", "folder.npz"):
        ran = write(name, "--force")
        assert (ran.code, len(ran.err.splitlines()[-1]) > 0) == (2, True), ran
    assert (tmp_path / "pipe.npz").is_fifo()
    assert (tmp_path / "link.npz").resolve() == Path("/dev/null")


def test_the_file_is_there_before_a_word_is_said(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []

    def listener(*words: object, **more: object) -> None:
        if not more.get("err"):
            said.append((tmp_path / "new.npz").exists())

    monkeypatch.setattr(click, "echo", listener)
    monkeypatch.setattr("play.cli.lab.say", listener)
    write("new.npz")
    assert said
    assert all(said)


def test_a_link_leads_to_the_new_file_and_a_missing_folder_is_made(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "there" / "new")
    assert OutputFile(str(tmp_path / "link"), False).write(b"12") == 2
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "new").read_bytes() == b"12"


def test_a_file_that_appears_during_the_work_is_kept(tmp_path: Path) -> None:
    file = OutputFile(str(tmp_path / "new"), False)
    (tmp_path / "new").write_text("somebody else's")
    with pytest.raises(OutputRefused):
        file.write(b"ours")
    assert (tmp_path / "new").read_text() == "somebody else's"


@pytest.mark.parametrize("path", ["/proc/no/such", "nul\0", "x" * 300])
def test_a_name_that_cannot_be_written_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="cannot write"):
        OutputFile(path, False).write(b"")
