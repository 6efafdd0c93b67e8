"""Proofs at hand: what a file proves holds in each position that it covers, and nothing else is taken from it."""

import hashlib
import random
import shutil
import tomllib
from math import inf
from pathlib import Path
from typing import Any

import naive
import pytest

from oracle.oracle import Oracle
from solver.certificates import at_hand
from solver.certificates.at_hand import AtHand, Won, turns
from solver.certificates.checkers import check_pairing
from solver.certificates.files import as_file, read_proof
from solver.certificates.strategy import Strategy, check_strategy
from solver.games.lines import Game, grid
from solver.games.position import Position
from solver.index.symmetry import image

DATA = Path(__file__).parents[2] / "data"
NEVER = -inf


@pytest.fixture
def proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's own proofs; there are no others."""
    folder = tmp_path / "proofs"
    folder.mkdir()
    monkeypatch.setattr("solver.folders.shared_folders", lambda: [str(tmp_path)])
    return folder


def without_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_hand, "draw_certificate", lambda *_: None)


def test_every_shipped_proof_has_its_digest_and_no_other_has() -> None:
    published = tomllib.loads((DATA / "digests.toml").read_text())["proofs"]
    assert published == {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (DATA / "proofs").glob("*.json")}


@pytest.mark.parametrize(("name", "other", "number"), [
    ((4, 4, 4), (4, 4, 4), 8), ((3, 5, 3), (3, 5, 3), 4), ((3, 5, 3), (5, 3, 3), 4), ((3, 5, 3), (5, 3, 4), 0),
    ((3, 4, 3), (3, 5, 3), 0),
])  # fmt: skip
def test_a_board_is_turned_onto_another_in_every_way_that_keeps_its_lines(name: Any, other: Any, number: int) -> None:
    found = list(turns(grid(*name), grid(*other)))
    assert len(set(found)) == len(found) == number
    for g in found:
        assert {image(g, line) for line in grid(*name).lines} == set(grid(*other).lines)


def won(game: Game, position: Position) -> Won | None:
    return AtHand(game).win(position.x, position.o)


@pytest.mark.parametrize(("rows", "columns"), [(5, 6), (6, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_a_strategy_from_a_file_wins_on_from_every_position_that_comes_up(rows: int, columns: int, seed: int) -> None:
    """On the board in the file and on the same on its side: X plays by it, and O anything."""
    game, rng = grid(rows, columns, 4), random.Random(seed)
    position, left = Position(game), 12
    while not position.over:
        found = won(game, position)
        if found is None:  # the file says no more, because X can complete a line
            assert position.mover == "X"
            assert any(position.play(cell).winner == "X" for cell in position.legal)
            return
        assert found.win.side == "X"
        assert found.win.plies < left
        assert found.reason.as_dict(game)["file"] == "5x6x4.json"
        look = found.look(game, position.x, position.o)
        assert look.bound == (found.win.plies > 1)
        assert abs(look.score or 0) == game.cells - position.stones + 1 - found.win.plies
        assert look.scores[0][0] == found.win.line[0]
        left = found.win.plies
        if position.mover == "X":
            assert found.move is not None
            position = position.play(found.move)
        else:
            assert found.move is None
            assert {score for _, score in look.scores} == {look.score}
            position = position.play(rng.choice(position.legal))
    assert position.winner == "X"


def test_a_small_strategy_is_right_by_minimax_wherever_it_is_used(proofs: Path) -> None:
    """Two in a row on 3x4, from b2: what is said of any position is so, whichever way the board is turned."""
    game, rules, known = grid(3, 4, 2), naive.Game(3, 4, 2), 0
    second = Strategy(0)
    (proofs / "3x4x2.json").write_bytes(as_file(proof_of(game, Strategy(5, {0: Strategy(1), 1: second}, second))))
    hand = AtHand(game)
    for seed in range(200):
        rng = random.Random(seed)
        board = naive.played(rules, rng.sample(range(12), rng.randint(0, 3)))
        if naive.over(rules, board):
            continue
        found = hand.win(*naive.masks(board))
        if found:
            known += 1
            score = naive.score(rules, board)
            assert (score > 0) == (found.move is not None), board
            assert 13 - naive.stones(board) - abs(score) <= found.win.plies
    assert known > 30


def proof_of(game: Game, strategy: Strategy) -> Any:
    proof = read_proof(DATA / "proofs" / "5x6x4.json")
    return type(proof)(game, 0, 0, "X wins", strategy, check_strategy(game, 0, 0, strategy))


def test_a_strategy_that_does_not_win_proves_nothing(proofs: Path) -> None:
    game, second = grid(3, 4, 2), Strategy(0)
    right = proof_of(game, Strategy(5, {0: Strategy(1), 1: second}, second))
    for strategy in (right.evidence, Strategy(0, {1: Strategy(2)})):  # the second does not say what follows on O in a2
        (proofs / "3x4x2.json").write_bytes(as_file(type(right)(game, 0, 0, "X wins", strategy, 3)))
        assert (AtHand(game).win(0, 0) is not None) == (strategy is right.evidence)


def test_a_defence_shows_a_draw_on_the_empty_board_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    without_search(monkeypatch)
    game = grid(6, 6, 5)
    found = AtHand(game).draw(0, 0, NEVER)
    assert found is not None
    assert (found.kind, found.as_dict(game)["file"]) == ("defence", "6x6x5.json")
    assert AtHand(game).draw(1, 0, inf) is None


def test_a_defence_that_is_not_published_is_checked_in_time_or_proves_nothing(
    proofs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_search(monkeypatch)
    text = (DATA / "proofs" / "6x6x5.json").read_text()
    (proofs / "6x6x5.json").write_text(f"{text} ")
    hand = AtHand(grid(6, 6, 5))
    assert hand.draw(0, 0, NEVER) is None
    assert hand.draw(0, 0, inf) is not None, "there is more time now"
    (proofs / "6x6x5.json").write_text(text.replace('"answers":"', '"answers":"35 '))
    assert AtHand(grid(6, 6, 5)).draw(0, 0, inf) is None


def test_a_defence_proves_nothing_where_completing_a_line_loses(proofs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_search(monkeypatch)
    shutil.copy(DATA / "proofs" / "6x6x5.json", proofs / "6x6x5-misere.json")
    assert AtHand(grid(6, 6, 5, misere=True)).draw(0, 0, inf) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "ttt4 proof 1"}'])
def test_a_damaged_file_and_one_of_another_game_prove_nothing(
    text: str, proofs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_search(monkeypatch)
    (proofs / "6x6x5.json").write_text(text)
    shutil.copy(DATA / "proofs" / "6x6x5.json", proofs / "6x6x6.json")
    for game in (grid(6, 6, 5), grid(6, 6, 6)):
        assert AtHand(game).draw(0, 0, inf) is None
        assert AtHand(game).win(0, 0) is None


@pytest.mark.parametrize("name", ["5,5,5", "3,9,4"])
def test_a_pairing_settles_a_board_that_a_search_would_not_in_time(name: str) -> None:
    with Oracle(name, live=True, seconds=0.0) as oracle:
        game: Any = oracle.game
        found = oracle.analysis(game.at(0, 0))
        assert (found.outcome, found.score, found.exact) == ("draw", 0, True)
        assert found.proof is not None
        pairs = [tuple(map(game.cell, pair)) for pair in found.proof["stops"][0]["pairs"]]
        assert check_pairing(game, 0, 0, pairs) == "XO"  # type: ignore[arg-type]
        assert oracle.score(game.at(0, 0)) == 0


@pytest.mark.parametrize("name", ["4,5,4", "5,5,4", "4,6,4", "6,4,4", "6,6,5"])
def test_an_oracle_without_time_knows_the_draws_that_are_shipped(name: str) -> None:
    with Oracle(name, live=True, seconds=0.0) as oracle:
        found = oracle.analysis(oracle.game.at(0, 0))
        assert (found.outcome, found.score, found.bound, found.exact) == ("draw", 0, False, False)
        assert found.proof is not None
        assert {move.score for move in found.moves} == {None}
        assert found.best == ()
        assert oracle.score(oracle.game.at(0, 0)) == 0
