"""Values against those of OpenSpiel, which shares no code with ours."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import best_response, exploitability

from play.lab.grading import Grader
from play.lab.policies import Policy
from play.lab.q import QLearner
from solver.arrays.positions import Positions

NEAR = 1e-12


@pytest.fixture(autouse=True)
def nowhere(home: Path) -> None:
    """Stand where no store is found."""


class FirstFree:
    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        return np.log2(~(x | o) & (x | o) + 1).astype(int)


class Uniform:
    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        free = ~(x | o)[:, None] >> np.arange(9) & 1
        return free / free.sum(axis=1, keepdims=True)


class InOpenSpiel(spiel_policy.Policy):
    """One of our policies as OpenSpiel has them; its cells are numbered row by row, as ours are."""

    def __init__(self, game: Any, policy: Policy) -> None:
        super().__init__(game, [0, 1])
        self._chances = cache(lambda x, o: policy.chances(np.array([x]), np.array([o]))[0].tolist())

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        moves = state.history()
        x, o = (sum(1 << cell for cell in moves[side::2]) for side in (0, 1))
        chances = self._chances(x, o)
        return {cell: chances[cell] for cell in state.legal_actions()}


def q_after(games: int) -> Policy:
    learner = QLearner(Positions("3,3,3"), 1)
    learner.train(0, games)
    return learner.policy()


PLAYERS = {
    "uniform": Uniform,
    "first free": FirstFree,
    "q after 50 games": lambda: q_after(50),
    "q after 200 games": lambda: q_after(200),
}


def test_the_value_of_a_best_response_is_that_of_openspiel() -> None:
    with Grader("3,3,3", live=True) as grader:
        policy = grader.policy(q_after(50))
        found = grader.grade(policy)
        game = pyspiel.load_game("tic_tac_toe")
        response = best_response.BestResponsePolicy(game, 0, InOpenSpiel(game, policy))
        assert -found.value["O"] == pytest.approx(response.value(game.new_initial_state()), abs=NEAR)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYERS)
def test_nash_conv_and_both_best_responses_are_those_of_openspiel(name: str) -> None:
    with Grader("3,3,3", live=True) as grader:
        policy = grader.policy(PLAYERS[name]())
        found, best = grader.grade(policy), grader.exploiter(policy)
        game = pyspiel.load_game("tic_tac_toe")
        theirs = InOpenSpiel(game, policy)
        nash_conv = exploitability.nash_conv(game, theirs)
    assert found.exact
    assert found.nash_conv is not None
    assert found.nash_conv == pytest.approx(nash_conv, abs=NEAR)
    for player, side in enumerate("XO"):
        response = best_response.BestResponsePolicy(game, player, theirs)
        assert best.value[side] == pytest.approx(response.value(game.new_initial_state()), abs=NEAR)
