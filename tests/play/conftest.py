"""What the tests of playing share: the kept games, and sessions on a terminal."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sessions import Session, Start, StartProcess, TerminalSession, opening


@pytest.fixture
def games(home: Path) -> Path:
    """Return the folder where games are kept; it need not exist."""
    return home / "state" / "ttt4" / "games"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start sessions at a prompt in this process, where nobody is shown as thinking however busy the machine is."""
    monkeypatch.setattr("play.terminal.talk.THINKING_AFTER", threading.TIMEOUT_MAX)
    yield from opening(Session)


@pytest.fixture
def abandon(start: Start) -> Callable[..., None]:
    """Type lines at a prompt and leave it there: only what is kept by then counts, as if the process were killed."""

    def abandoning(lines: list[str], *arguments: object) -> None:
        session = start(*arguments)
        for line in lines:
            session.type(line)

    return abandoning


@pytest.fixture
def start_process() -> Iterator[StartProcess]:
    """Start sessions as processes; each is killed at the end, if it has not ended by itself."""
    yield from opening(TerminalSession)
