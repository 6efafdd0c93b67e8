"""Published outcomes: what others have proved of a game, both solvers find too."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from solver.certificates.draws import draw_certificate
from solver.certificates.files import read_proof
from solver.duel.search import DuelSearch
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.kinds import kind_of

DATA = Path(__file__).parents[2] / "data"
PUBLISHED = tomllib.loads((DATA / "published.toml").read_text())
QUICK, SLOW, LIVE = 12, 20, 25
"""Up to how many cells a game is proved every time, and with the slow tests, and a duel is searched every time."""


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


def test_every_entry_is_of_a_game_and_has_its_source() -> None:
    names = [entry["game"] for entry in PUBLISHED["game"]]
    assert len(names) == len(set(names))
    for entry in PUBLISHED["game"]:
        assert isinstance(parse_game(entry["game"]), Game)
        assert entry.keys() - {"plies"} == {"game", "outcome", "source"}
        assert entry["outcome"] in ("win", "draw", "loss")
    assert {entry["source"] for entry in PUBLISHED["game"]} == PUBLISHED["sources"].keys()


@pytest.mark.parametrize("path", sorted((DATA / "proofs").glob("*.json")), ids=lambda path: path.stem)
def test_a_kept_proof_claims_what_was_published(path: Path) -> None:
    proof = read_proof(path)
    published = {parse_game(entry["game"]): entry["outcome"] for entry in PUBLISHED["game"]}
    assert published[proof.game] == {"draw": "draw", "X wins": "win"}[proof.claim]


@pytest.mark.parametrize("entry", PUBLISHED["game"], ids=lambda entry: entry["game"])
def test_only_published_draws_have_certificates_of_a_draw(entry: dict[str, Any]) -> None:
    game = parse_game(entry["game"])
    assert isinstance(game, Game)
    certificate = draw_certificate(game, 0, 0, monotonic() + 10)
    assert certificate is None or entry["outcome"] == "draw"
    assert (certificate is not None) >= (entry["source"] in ("nine", "cubes"))


def duels() -> Iterator[Any]:
    for entry in PUBLISHED["duel"]:
        cells = parse_game(entry["game"]).cells
        yield pytest.param(entry, id=entry["game"], marks=[pytest.mark.slow] if cells > LIVE else [])


@pytest.mark.parametrize("entry", list(duels()))
def test_the_search_finds_each_margin_of_the_duel_and_the_first_moves_that_keep_it(entry: dict[str, Any]) -> None:
    game = parse_game(entry["game"])
    search = DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=22)
    first = [game.cell(name) for name in entry["first"].split()] if entry["first"] != "all" else range(game.cells)
    assert search.score(0, 0) == entry["margin"]
    for cell in range(game.cells):
        kept = -search.bounds(0, 1 << cell, -entry["margin"], -entry["margin"] + 1) >= entry["margin"]
        assert kept == (cell in first), game.cell_name(cell)
