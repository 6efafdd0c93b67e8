"""Published outcomes: what others have proved of a game, both solvers find too."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from solver.games.board import require_solvable
from solver.games.notation import parse_game

DATA = Path(__file__).parents[2] / "data"
PUBLISHED = tomllib.loads((DATA / "published.toml").read_text())
QUICK, SLOW = 16, 20
"""Up to how many cells a game is proved every time, and with the slow tests; solver/README.md tells of larger ones."""


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where the games are that have names."""
    monkeypatch.chdir(DATA)


def provable() -> Iterator[Any]:
    for entry in PUBLISHED["game"]:
        name = entry["game"]
        cells = parse_game(str(DATA / "games" / f"{name}.toml") if name[0].isalpha() else name).cells
        if cells <= SLOW:
            yield pytest.param(entry, id=name, marks=[pytest.mark.slow] if cells > QUICK else [])


@pytest.mark.parametrize("entry", list(provable()))
def test_both_solvers_find_what_was_published(entry: dict[str, Any], solved: Callable[[str], Any]) -> None:
    game = solved(entry["game"])
    score, cells = game.summary.score, game.game.cells
    assert {1: "win", 0: "draw", -1: "loss"}[(score > 0) - (score < 0)] == entry["outcome"]
    if "plies" in entry:
        assert cells + 1 - abs(score) == entry["plies"]


def test_every_entry_is_of_a_game_that_can_be_solved_and_has_its_source() -> None:
    names = [entry["game"] for entry in PUBLISHED["game"]]
    assert len(names) == len(set(names))
    for entry in PUBLISHED["game"]:
        require_solvable(parse_game(entry["game"]))
        assert entry.keys() - {"plies"} == {"game", "outcome", "source"}
        assert entry["outcome"] in ("win", "draw", "loss")
    assert {entry["source"] for entry in PUBLISHED["game"]} == PUBLISHED["sources"].keys()
