"""What must not be called exact: players that vary, break their word, or were not given the time they need."""

import random
import time
from typing import Any

import numpy as np
import pytest

from play.lab import grade
from play.lab.grading import Grader
from play.players.player import PlayerError
from play.players.roster import Roster
from solver.errors import NotSettled
from solver.games.registry import find_game


class SameSeries:
    """Draws from a series of random numbers that is the same for every seed."""

    def __init__(self, rules: Any, seed: object) -> None:
        self.rules, self.rng = rules, random.Random(42)

    def choose(self, state: Any) -> int:
        return self.rng.choice(self.rules.legal(state))


class Counting:
    """Makes another move every time it is asked, in arrays."""

    def __init__(self, rules: Any, seed: object) -> None:
        self.asked = 0

    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        self.asked += len(x)
        free = (x | o)[:, None] >> np.arange(9) & 1 == 0
        turned = np.roll(free, self.asked % 9, axis=1).argmax(axis=1)
        return (turned - self.asked) % 9


class Noisy:
    """Shows chances that change a little from one time to the next."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)

    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        free = (x | o)[:, None] >> np.arange(9) & 1 == 0
        weights = free * (1 + 0.1 * self.rng.random(free.shape))
        return weights / weights.sum(axis=1, keepdims=True)


class FirstFree:
    """The first free cell, which depends on how the board is turned."""

    symmetric = True

    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        return ((x | o)[:, None] >> np.arange(9) & 1 == 0).argmax(axis=1)


class Slow:
    """Thinks for a hundredth of a second."""

    def __init__(self, rules: Any, seed: object) -> None:
        self.rules = rules

    def choose(self, state: Any) -> int:
        time.sleep(0.01)
        return self.rules.legal(state)[0]


@pytest.mark.parametrize("player", [SameSeries, Counting, Noisy()])
def test_a_player_that_answers_differently_when_it_is_asked_again_is_estimated(player: Any) -> None:
    found = grade("3,3,3", player, live=True)
    assert not found.exact
    assert found.varies
    assert set(found.estimates) == {"X", "O"}
    assert set(found.intervals) == {"kept", "decisive"}
    for side, estimate in found.estimates.items():
        assert estimate.low <= found.value[side] == estimate.value <= estimate.high


def test_a_player_that_says_that_it_is_symmetric_and_is_not_is_refused() -> None:
    with pytest.raises(PlayerError, match="has symmetric = True, but plays differently"):
        grade("3,3,3", FirstFree(), live=True)


@pytest.mark.parametrize("name", ["oracle", "oracle:5", "first"])
def test_a_search_that_ran_out_of_time_shows_no_certain_move(name: str) -> None:
    with Roster(find_game("5,5,4"), live=True, seconds=0.001) as roster:
        player: Any = roster.player(name, 1)
        state = roster.rules.play(roster.rules.start(), 12)
        with pytest.raises(NotSettled, match="takes too long"):
            player.choices(state)


def test_a_slow_player_is_asked_for_no_longer_than_is_reasonable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.lab.grading._PATIENCE", 0.5)
    monkeypatch.setattr("play.lab.grading._TIMING", 0.1)
    with Grader("3,3,3", live=True) as grader:
        began = time.monotonic()
        found = grader.grade(Slow)
        assert time.monotonic() - began < 20
    assert found.positions in range(10, 51)
    assert not found.exact
    assert found.estimates["X"].games == 20


def test_an_estimate_of_a_class_is_of_many_players_and_not_of_one() -> None:
    made = []

    class Seeded(SameSeries):
        def __init__(self, rules: Any, seed: object) -> None:
            super().__init__(rules, seed)
            self.rng = random.Random(str(seed))
            made.append(seed)

    grade("3,3,3", Seeded, live=True)
    assert len(set(made)) > 300
