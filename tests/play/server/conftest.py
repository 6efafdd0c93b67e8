"""What the tests of the server share: applications in this process, shared or a test's own, and a server process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from asgi import InProcess
from web import Served

from solver.games.registry import find_game
from solver.games.rules import Rules
from solver.kernels.loading import Loader


@pytest.fixture(autouse=True)
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches in this process do without compiled code, which takes seconds to load."""
    monkeypatch.setattr(Loader, "load", lambda loader: None)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, store4: Path) -> Iterator[InProcess]:
    """An application with the store of 4,4,4."""
    with InProcess(tmp_path_factory.mktemp("state"), store=str(store4)) as served:
        yield served


@pytest.fixture(scope="session")
def brisk(tmp_path_factory: pytest.TempPathFactory, store4: Path) -> Iterator[InProcess]:
    """An application with the store of 4,4,4 that searches for no longer than 0.02 s."""
    with InProcess(tmp_path_factory.mktemp("state"), store=str(store4), seconds=0.02) as served:
        yield served


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., InProcess]]:
    """Start applications of a test's own, which search unless they are given a store; they end with the test."""
    states = (tmp_path / f"state{number}" for number in count())
    with ExitStack() as started:
        yield lambda **given: started.enter_context(InProcess(next(states), **({"live": "store" not in given} | given)))


@pytest.fixture
def serve_process(tmp_path: Path, store4: Path) -> Iterator[Callable[..., Served]]:
    """Start servers as processes, with options, on games kept in one folder; they end with the test."""
    state, own = tmp_path / "state", {"TTT4_STORE": str(store4)}
    with ExitStack() as started:
        yield lambda *options, **more: started.enter_context(Served(state, *options, **(own | more)))


@pytest.fixture
def nim(monkeypatch: pytest.MonkeyPatch) -> Rules[Any]:
    """The rules of a game that only code can name."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    return find_game("nim:Nim")
