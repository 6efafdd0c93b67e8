"""What the tests of the store, its faults and the commands share: two good stores, and three ways to run things."""

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from solver.build import build
from solver.game import grid


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def store3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store3") / "3x3x3.ttt4"
    build(grid(3, 3, 3), path, jobs=2)
    return path


@pytest.fixture(scope="session")
def store4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store4") / "4x4x4.ttt4"
    build(grid(4, 4, 4), path, jobs=2)
    return path


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a click command in this process; an exception that it lets out is the test's own failure."""

    def running(command: click.Command, *arguments: object) -> Ran:
        with pytest.raises(SystemExit) as ended:
            command.main([str(argument) for argument in arguments], prog_name=command.name)
        captured = capfd.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return running


@pytest.fixture
def solve_process(tmp_path: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """Start `ttt4-solve` as a process, in an empty folder; `env` is added to this process's own."""

    def starting(*arguments: object, env: dict[str, str] | None = None, clean: bool = False) -> "subprocess.Popen[str]":
        command = [str(Path(sys.executable).with_name("ttt4-solve"))]
        empty = tmp_path / "nowhere"
        empty.mkdir(exist_ok=True)
        return subprocess.Popen(
            command + [str(argument) for argument in arguments],
            env=({} if clean else dict(os.environ)) | (env or {}),
            cwd=empty, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    return starting


@pytest.fixture
def forked() -> Callable[..., tuple[int, str]]:
    """Run a function in a forked child: the signal that ended it, or 0, and what it returned or raised, as text."""

    def running(function: Callable[..., object], *arguments: object) -> tuple[int, str]:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "w") as report:
                try:
                    report.write(str(function(*arguments)))
                except BaseException as error:
                    report.write(f"{type(error).__name__}: {error}" if _ours(error) else traceback.format_exc())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as report:
            said = report.read()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said

    return running


def _ours(error: BaseException) -> bool:
    return type(error).__module__ == "solver.errors"
