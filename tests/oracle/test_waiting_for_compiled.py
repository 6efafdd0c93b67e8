"""Waiting for compiled code: as long as it takes, and with progress, unless `--time` was given."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from commands import run_command

from oracle.cli.main import main
from play.cli.main import main as play
from solver.cli import compiling
from solver.cli.progress_line import ProgressLine
from solver.engine.live import LiveEngine
from solver.games.lines import grid
from solver.kernels import loading
from solver.kernels.loading import COMPILING, Loader, Patience, import_compiled, patient
from solver.proof.progress import Progress
from solver.source import Look

Run = Callable[..., Any]


class Slow(Loader):
    """Code that is there as soon as somebody was told that it is being waited for."""

    kernel, module = "none/none.none", "time"

    def __init__(self, told: threading.Event) -> None:
        super().__init__(may_compile=True)
        self._told = told

    def _load_compiled(self) -> None:
        self._compiling = True
        self._told.wait()
        self._compiled = self.make()

    def make(self) -> str:
        return "compiled"


@pytest.fixture
def told() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_patient_process_waits_beyond_every_deadline_and_says_what_for(told: threading.Event) -> None:
    said: list[str] = []

    def tell(what: str, seconds: float) -> None:
        said.append(what)
        told.set()

    ended: list[bool] = []
    slow = Slow(told)
    assert slow.compiled(monotonic() + 0.001) is None
    with patient(Patience(tell, lambda: ended.append(True))):
        assert slow.compiled(monotonic() + 0.001) == "compiled"
        assert slow.wait() == 0, "it is there"
    assert (set(said), ended) == ({COMPILING}, [True])


def test_a_deadline_that_has_passed_only_begins_to_load(told: threading.Event) -> None:
    with patient(Patience(lambda what, seconds: told.set())):
        assert Slow(told).compiled(0) is None
    assert not told.is_set()


def test_the_seconds_of_waiting_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(100))
    monkeypatch.setattr(loading, "monotonic", lambda: float(next(now)))
    patience = Patience(lambda what, seconds: None)
    ended = threading.Thread(target=lambda: None)
    ended.start()
    ended.join()
    assert patience.wait(ended, str) == 1
    assert (patience.waiting, patience.seconds) == (False, 1)
    assert patience.wait(ended, str) == 1
    assert patience.seconds == 2


def test_modules_are_imported_in_patience_and_an_import_that_fails_raises() -> None:
    with patient(Patience(lambda what, seconds: None)):
        assert import_compiled("none/none.none", "this") > 0
        with pytest.raises(ModuleNotFoundError, match="no_such_module"):
            import_compiled("none/none.none", "no_such_module")
    assert import_compiled("none/none.none", "this") == 0


@pytest.fixture
def slow_engine(told: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that takes until progress was shown, which is at once; and then it cannot be loaded."""

    def load(self: Loader) -> None:
        self._compiling = True
        told.wait()

    class Line(ProgressLine):
        def __call__(self, progress: Progress) -> None:
            super().__call__(progress)
            told.set()

    monkeypatch.setattr(Loader, "_load_compiled", load)
    monkeypatch.setattr(compiling, "ProgressLine", Line)
    monkeypatch.setattr(compiling, "_SHOWN_AFTER", -1.0)
    monkeypatch.setattr(LiveEngine, "deadline", lambda self: monotonic() + 0.05)


def test_time_of_waiting_is_not_time_of_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    live, left = LiveEngine(grid(7, 7, 5), 0.5), list[float]()
    monkeypatch.setattr(live, "compiled", lambda deadline: left.append(deadline - monotonic()))
    monkeypatch.setattr(live, "wait", lambda: 300.0)
    monkeypatch.setattr(live._plain, "look", lambda *asked: Look([(0, None)], False))
    live.look(1 << 24, 0, monotonic() + 0.5)
    live.move(1 << 24, 0, monotonic() + 0.5)
    assert min(left) > 250


@pytest.mark.parametrize("command", [("225", "--json"), ("--moves", "h8", "--why")])
def test_a_query_waits_for_the_engine_and_shows_that_it_does(
    command: tuple[str, ...], slow_engine: None, run: Run
) -> None:
    assert run(main, *command, "--game", "15,15,5").err == f"{COMPILING}...\n"


def test_a_query_that_was_given_a_time_keeps_to_it(slow_engine: None, run: Run) -> None:
    ran = run(main, "225", "--game", "15,15,5", "--time", "0.1")
    assert (ran.code, ran.err) == (1, "")
    assert "the engine was not loaded in time" in ran.out


@pytest.mark.parametrize("opponent", ["oracle", "oracle:9"])
def test_the_prompt_waits_before_the_first_reply(opponent: str, slow_engine: None, usual: Path) -> None:
    begin = ["--plain", "--game", "7,7,5", "--o", opponent, "--seed", "3"]
    ran = run_command(play, *begin, typed="d4\nquit\n")
    assert ran.stderr == f"{COMPILING}...\n"
    assert "O plays" in ran.stdout


@pytest.mark.parametrize("command", [("review",), ("arena", "--x", "oracle:9", "--o", "random", "--games", "1")])
def test_reviews_and_the_arena_wait(command: tuple[str, ...], slow_engine: None, tmp_path: Path, usual: Path) -> None:
    kept = tmp_path / "game.txt"
    kept.write_text('[Game "7,7,5"]\n\n1. d4 c4 *\n')
    ran = run_command(play, *command, *([kept] if command == ("review",) else ["--game", "7,7,5"]))
    assert (ran.returncode, ran.stderr) == (0, f"{COMPILING}...\n")
