"""Values against those of OpenSpiel, which shares no code with ours."""

import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from lab import NEAR, grader, positions_of

from play.lab.policies import Policy, Rows
from play.lab.q import QLearner

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("home")]


@pytest.fixture(scope="module", autouse=True)
def _import_open_spiel() -> None:
    """Import OpenSpiel, whose logging would later close the standard error of pytest if it were imported with that."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stderr", sys.__stderr__)
        import open_spiel.python.policy  # noqa: F401


def in_open_spiel(game: Any, policy: Policy) -> Any:
    """One of our policies as OpenSpiel has them; its cells are numbered row by row, as ours are."""
    from open_spiel.python.policy import Policy as SpielPolicy

    asked = cache(lambda x, o: policy.chances(np.array([x]), np.array([o]))[0].tolist())

    class Ours(SpielPolicy):
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            moves = state.history()
            chances = asked(*(sum(1 << cell for cell in moves[side::2]) for side in (0, 1)))
            return {cell: chances[cell] for cell in state.legal_actions()}

    return Ours(game, [0, 1])


def uniform() -> Policy:
    positions = positions_of("3,3,3")
    return Rows(positions, positions.legal / positions.legal.sum(axis=1, keepdims=True), "uniform")


def trained() -> Policy:
    learner = QLearner(positions_of("3,3,3"), 1)
    learner.train(0, 50)
    return learner.policy()


@pytest.mark.parametrize("player", [uniform, trained])
def test_both_best_responses_and_nash_conv_are_those_of_openspiel(player: Any) -> None:
    import pyspiel
    from open_spiel.python.algorithms.best_response import BestResponsePolicy

    policy = player()
    found, best = grader("3,3,3").grade(policy), grader("3,3,3").exploiter(policy)
    game = pyspiel.load_game("tic_tac_toe")
    theirs = in_open_spiel(game, policy)
    values = [BestResponsePolicy(game, side, theirs).value(game.new_initial_state()) for side in (0, 1)]
    assert found.exact
    assert [best.value[side] for side in "XO"] == pytest.approx(values, abs=NEAR)
    assert [-found.value[side] for side in "OX"] == pytest.approx(values, abs=NEAR)
    assert found.nash_conv == pytest.approx(sum(values), abs=NEAR)
