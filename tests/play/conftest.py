"""What the tests of playing share: the kept games, and sessions on a terminal."""

import threading
from collections.abc import Iterator
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
def start_process() -> Iterator[StartProcess]:
    """Start sessions as processes; each is killed at the end, if it has not ended by itself."""
    yield from opening(TerminalSession)
