"""The values of the graph: from 1, a win of the first side, to -1, and the sooner the further out."""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from oracle.answers import Analysis
from oracle.oracle import Oracle
from play.screen.knowledge import _value
from solver.games.board import BoardPosition
from solver.games.notation import parse_game
from solver.games.registry import find_game


def random_positions(name: str, count: int) -> list[BoardPosition]:
    rng, rules = random.Random(name), find_game(name)
    found: list[BoardPosition] = []
    while len(found) < count:
        state = rules.start()
        while True:
            found.append(state.position)
            if rules.outcome(state):
                break
            state = rules.play(state, rng.choice(rules.legal(state)))
    return found


@pytest.mark.parametrize("name", ["3,3,3", "4,4,4"])
def test_values_are_within_bounds_and_on_the_side_of_the_winner(name: str, store3: Path, store4: Path) -> None:
    game = parse_game(name)
    with Oracle(game, store3 if name == "3,3,3" else store4) as oracle:
        for position in random_positions(name, 300):
            analysis = oracle.analysis(position)
            value = _value(analysis, "X", game.cells)
            assert -1 <= value <= 1
            won = analysis.winner if analysis.over else None
            if not analysis.over and analysis.outcome != "draw":
                won = analysis.to_move if analysis.outcome == "win" else "XO"[analysis.to_move == "X"]
            assert (value > 0, value < 0) == (won == "X", won == "O")


def test_a_win_in_fewer_plies_is_worth_more() -> None:
    fields = {"over": False, "to_move": "X", "estimate": None, "outcome": "win", "scale": "plies", "score": 1}
    values = [_value(_analysis(**fields, plies=plies), "X", 9) for plies in range(1, 10)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 9
    assert all(0.5 < value < 1 for value in values if value)
    lost = [_value(_analysis(**fields | {"score": -1, "outcome": "loss"}, plies=plies), "X", 9) for plies in (2, 4)]
    assert lost[0] < lost[1] < -0.5


@pytest.mark.parametrize(("estimate", "to_move"), [(0.0, "X"), (0.5, "X"), (1.0, "X"), (1.0, "O"), (0.2, "O")])
def test_an_estimate_is_never_as_far_out_as_a_certain_end(estimate: float, to_move: str) -> None:
    value = _value(_analysis(over=False, to_move=to_move, estimate=estimate), "X", 225)
    assert value == pytest.approx((1 if to_move == "X" else -1) * (2 * estimate - 1) * 0.9)
    assert _value(_analysis(over=False, to_move=to_move, estimate=None, outcome=None), "X", 225) is None


@pytest.mark.parametrize(("score", "value"), [(1, 0.55), (10, 1.0), (36, 1.0), (-1, -0.55), (-20, -1.0), (0, 0.0)])
def test_where_cells_are_counted_ten_are_as_good_as_all(score: int, value: float) -> None:
    outcome = "win" if score > 0 else "loss" if score else "draw"
    fields = {"over": False, "to_move": "R", "estimate": None, "outcome": outcome, "scale": "margin", "plies": None}
    assert _value(_analysis(**fields, score=score), "R", 36) == pytest.approx(value)


def _analysis(**fields: object) -> Analysis:
    return SimpleNamespace(**fields)  # type: ignore[return-value]
