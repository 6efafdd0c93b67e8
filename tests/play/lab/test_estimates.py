"""An estimate of a player that varies: no better than what somebody gets who knows it."""

import random
from typing import Any

import pytest

from play.lab.grading import Grader
from play.players.machines import TacticalPlayer


class NearlyRules:
    """Plays `rules`, and now and then any move, but shows no chances."""

    def __init__(self, rules: Any, seed: object) -> None:
        self.rules, self.rng = rules, random.Random(str(seed))
        self.tactics = TacticalPlayer(rules.game, self.rng)

    def choose(self, state: Any) -> int:
        if self.rng.random() < 0.01:
            return self.rng.choice(self.rules.legal(state))
        return self.tactics.choose(state)


@pytest.mark.slow
def test_a_noisy_player_gives_away_nearly_what_the_same_player_without_noise_does() -> None:
    with Grader("4,4,4", live=True) as grader:
        exact = grader.grade("rules", 100)
        noisy = grader.grade(NearlyRules, 100)
    assert exact.exact
    assert not noisy.exact
    for side in "XO":
        assert noisy.estimates[side].opponent == "its exploiter"
        assert noisy.value[side] == pytest.approx(exact.value[side], abs=0.4)


def test_an_opponent_that_only_plays_perfectly_does_not_hide_what_a_player_gives_away() -> None:
    with Grader("3,3,3", live=True) as grader:
        exact, noisy = grader.grade("rules"), grader.grade(NearlyRules)
    assert exact.value == {"X": 0.0, "O": -1.0}
    assert noisy.value["O"] < -0.8
    assert noisy.estimates["O"].opponent == "its exploiter"
