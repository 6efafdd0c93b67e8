"""What all tests share: the Hypothesis profile, solved games, good stores, and three ways to run things."""

import os
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pytest
from hypothesis import settings
from kernels import compile_kernels
from queens import queens
from whole import whole

from solver.games.lines import Game, grid
from solver.games.notation import parse_game
from solver.games.position import Position
from solver.index.places import Index, rank
from solver.index.symmetry import symmetries
from solver.proof.build import build_store
from solver.proof.proof import Summary
from solver.sweep.layers import Filled, Pages

# A shell ignores SIGINT for tests in the background, and nohup SIGHUP. The processes that tests start would ignore them
# too, but start with the default where their parent has a handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)

CPU_LIMIT = 1.0
"""The most CPU seconds that a test may take by default; above half of it, a test is to be marked slow."""

settings.register_profile("ours", deadline=None, max_examples=100)  # compiling is slow once
settings.load_profile("ours")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile kernels once, before workers start."""
    if session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput"):
        compile_kernels()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a default test that takes too much CPU time; on a busy machine warn; where a tracer slows all, neither.

    What a Hypothesis test takes depends on what it draws, so it is only warned about, too.
    """
    before = _cpu_seconds()
    result = yield
    taken = _cpu_seconds() - before
    if taken > CPU_LIMIT and not item.get_closest_marker("slow") and sys.gettrace() is None:
        told = f"{item.nodeid} took {taken:.1f} CPU seconds: make it cheaper, or mark it slow"
        drawn = hasattr(getattr(item, "obj", None), "hypothesis")
        if os.getloadavg()[0] <= 1.25 * (os.cpu_count() or 1) and not drawn:
            pytest.fail(told)
        warnings.warn(told, stacklevel=1)
    return result


def _cpu_seconds() -> float:
    """The CPU seconds of this process and its children, without those for what all tests share."""
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used) - _shared_seconds


_shared_seconds = 0.0


@dataclass(frozen=True)
class Solved:
    """A game that both solvers have solved: what the proof came to, and every page."""

    game: Game
    index: Index
    summary: Summary
    filled: list[Pages]
    page: dict[tuple[int, int], np.ndarray]

    def score(self, x: int, o: int) -> int:
        """What the sweep says of a position that is not over, or that O has ended."""
        half, o_mask, _ = self.index.locate(x, o)
        empty = self.game.cells - x.bit_count() - o.bit_count()
        return int(self.page[empty, half][rank(half, o_mask)])

    def value(self, position: Position) -> int:
        """The score of any position, by the rules when X has a line."""
        if position.game.completed(position.x):
            over = position.score_if_over()
            assert over is not None
            return over
        return self.score(position.x, position.o)


@cache
def _solved(name: str, sample: int | None = None) -> Solved:
    global _shared_seconds
    before = _cpu_seconds()
    solved = _solve(name, sample)
    _shared_seconds += _cpu_seconds() - before
    return solved


def _solve(name: str, sample: int | None) -> Solved:
    game = parse_game(name)
    group = symmetries(game)
    layers, summary = whole(game, group, both_pages, sample=sample)
    filled = sorted((pages for layer in layers for both in layer for pages in both), key=lambda pages: pages.empty)
    page = {
        (pages.empty, half): scores
        for pages in filled
        for half, scores in zip(pages.halves.tolist(), pages.scores, strict=True)
    }
    return Solved(game, Index(game, group), summary, filled, page)


def both_pages(filled: Filled) -> list[Pages]:
    return [pages for pages in filled if pages]


@pytest.fixture(scope="session")
def solved() -> Callable[[str], Solved]:
    """A game by its notation, solved: all places of it were searched by alpha-beta, and no search differed."""
    return _solved


@pytest.fixture(autouse=True)
def brief_witness(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let builds in this process ask few positions of the plain search; tests/solver/test_witness.py asks all."""
    if "test_witness" not in request.node.nodeid:
        monkeypatch.setattr("solver.proof.witness.POSITIONS", 10)
        monkeypatch.setattr("solver.proof.witness._FEW_CELLS", 99)
        monkeypatch.setattr("solver.proof.witness._EMPTY_BOARD_CELLS", 9)
        monkeypatch.setattr("solver.proof.witness._QUICK", 1e9)  # a test may have a clock of its own


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for compiled code no longer than deadlines allow: a command that a test has left may still be patient."""
    monkeypatch.setattr("solver.kernels.loading._patience", None)


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def store3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store3") / "3x3x3.ttt4"
    build_store(grid(3, 3, 3), path, jobs=2)
    return path


@pytest.fixture(scope="session")
def store4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store4") / "4x4x4.ttt4"
    build_store(grid(4, 4, 4), path, jobs=2)
    return path


@pytest.fixture(scope="session")
def store28(tmp_path_factory: pytest.TempPathFactory) -> tuple[Game, Path]:
    """A game of 28 cells, and its store."""
    folder = tmp_path_factory.mktemp("store28")
    game = queens(folder, 4, 7)
    build_store(game, folder / "queens.ttt4", jobs=1)
    return game, folder / "queens.ttt4"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, from which neither a store nor a game is found."""
    for name in ("TTT4_STORE", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    for room in ("data", "state"):
        monkeypatch.setenv(f"XDG_{room.upper()}_HOME", str(tmp_path / room))
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    return tmp_path


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
