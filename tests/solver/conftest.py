"""What tests of the solver share: stores of small games, builds of a stand-in, and a place without stores."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from stand_in import use_stand_in

from solver.games.notation import parse_game
from solver.proof.build import build_store


@pytest.fixture(scope="session")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The store of a game by its notation, built once."""
    folder = tmp_path_factory.mktemp("stores")

    @cache
    def built(name: str) -> Path:
        return Path(build_store(parse_game(name), folder / name, jobs=1).path)

    return built


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let builds of a game solve a stand-in; see tests/stand_in.py."""
    use_stand_in(monkeypatch)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where no store is found."""
    monkeypatch.delenv("TTT4_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def erring(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int, int, int], int]], None]:
    """Let searches of the duel add what a function says, given the mover's tiles, the other side's and the margin."""
    from solver.duel.search import DuelSearch

    score = DuelSearch.score

    def to_err(by: Callable[[int, int, int], int]) -> None:
        def wrong(self: DuelSearch, own: int, other: int, limit: int = 0) -> int | None:
            found = score(self, own, other, limit)
            return None if found is None else found + by(own, other, found)

        monkeypatch.setattr(DuelSearch, "score", wrong)

    return to_err
