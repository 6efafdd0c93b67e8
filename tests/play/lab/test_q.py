"""Tabular Q-learning: it learns perfect play, the same whatever the portions, and only of what it meets."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab import grader, positions_of

from play.lab.grades import Grade
from play.lab.policies import Rows
from play.lab.q import QLearner
from play.lab.values import between
from solver.arrays.positions import Positions

SMALL = ["3,3,3", "3,3,3,misere", "fano"]
MODES: list[dict[str, Any]] = [{}, {"epsilon": 0.3, "step": 0.5}, {"unmasked": True}, {"opponent": "first free"}]


def first_free(positions: Positions) -> np.ndarray:
    """The chances of a player who claims the first free cell."""
    return np.eye(positions.game.cells)[positions.legal.argmax(axis=1)]


def learner(game: str = "3,3,3", seed: int = 1, **options: Any) -> QLearner:
    positions = positions_of(game)
    if options.get("opponent"):
        options["opponent"] = first_free(positions)
    return QLearner(positions, seed, **options)


def graded(q: QLearner, game: str = "3,3,3", *, values: bool = True) -> Grade:
    return grader(game).grade(q.policy(), values=values)


def arrays(q: QLearner) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in q.arrays().items()}


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("game", SMALL)
def test_small_games_are_played_perfectly_after_2000_games(game: str, seed: int) -> None:
    q = learner(game, seed)
    assert q.train(0, 2_000).games == 2_000
    found = graded(q, game)
    assert (found.kept, found.optimal, found.nash_conv) == (1.0, 1.0, 0.0)


def test_before_the_first_game_it_takes_a_win_and_stops_one_but_sees_no_trap() -> None:
    q = learner()
    found = graded(q)
    assert [found.by_class[kind].optimal for kind in ("take", "stop")] == [1.0, 1.0]
    assert (found.by_class["trap"].kept or 0.0) < 0.9
    assert (found.nash_conv, q.seen) == (2.0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "games"), [(1, 400_000), (2, 600_000)])
def test_4x4_is_played_perfectly_after_some_hundred_thousand_games(seed: int, games: int) -> None:
    q = learner("4,4,4", seed)
    q.train(0, games)
    found = graded(q, "4,4,4")
    assert (found.kept, found.optimal, found.nash_conv) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_playing_epsilon_greedily_it_gives_away_less_and_less(step: float) -> None:
    q = learner(epsilon=0.3, step=step)
    kept = [graded(q).kept or 0.0]
    for start, stop in ((0, 100), (100, 2_000), (2_000, 10_000)):
        q.train(start, stop - start)
        kept.append(graded(q).kept or 0.0)
    assert kept == sorted(set(kept))
    assert graded(q).nash_conv == 0.0


def test_epsilon_is_the_chance_of_a_random_move() -> None:
    seen = []
    for epsilon in (0.0, 0.1, 1.0):
        q = learner(epsilon=epsilon)
        q.train(0, 500)
        seen.append(q.seen)
    assert seen[0] < 60  # it always plays the best it knows
    assert seen == sorted(set(seen))
    assert seen[2] > 350


def test_the_step_is_how_far_an_entry_moves() -> None:
    whole, part = learner(), learner(step=0.25)
    for q in (whole, part):
        q.train(0, 1)
    assert (whole.arrays()["visits"] == part.arrays()["visits"]).all()
    last = np.flatnonzero(whole.arrays()["visits"])[-1]  # what it leads to is known, and not estimated
    assert part.arrays()["value"][last] == 0.25 * whole.arrays()["value"][last]
    assert (whole.arrays()["value"] != part.arrays()["value"]).any()


def test_it_learns_from_the_end_of_a_game_to_its_beginning() -> None:
    q, positions = learner(), positions_of("3,3,3")
    left = 9 - positions.ply
    wins = np.where((positions.child == -2).any(axis=1), left, 0)
    for number in range(300):
        before = q.arrays()["visits"].copy()
        q.train(number, 1)
        value = q.arrays()["value"]
        for row in np.flatnonzero(q.arrays()["visits"] != before):
            known = {-2: left[row], -3: 0.0}
            after = [int(child) for child in positions.child[row] if child != -1]
            assert value[row] == max(-(wins[to] or value[to]) if to >= 0 else known[to] for to in after), number


@settings(max_examples=30)
@given(st.sampled_from(range(len(MODES))), st.lists(st.integers(0, 120), max_size=6))
def test_portions_of_any_sizes_with_loads_between_teach_the_same(mode: int, portions: list[int]) -> None:
    whole, parted, played = learner(**MODES[mode]), learner(**MODES[mode]), []
    for start, count in zip(np.cumsum([0, *portions]).tolist(), portions, strict=False):
        following = learner(**MODES[mode])
        following.load({name: array.copy() for name, array in parted.arrays().items()})
        played.append(following.train(start, count))
        parted = following
    at_once = whole.train(0, sum(portions))
    assert arrays(parted) == arrays(whole)
    assert tuple(map(sum, zip(*played, strict=True))) in (tuple(at_once), ())


@pytest.mark.parametrize("game", SMALL)
def test_games_are_counted_by_their_results_and_every_move_as_a_visit(game: str) -> None:
    q, plies = learner(game), 0
    for start in range(0, 200, 50):
        played = q.train(start, 50)
        plies += played.plies
        assert (played.games, played.attempts) == (50, 0)
        assert 50 * 5 <= played.plies <= 50 * positions_of(game).game.cells
    visits = q.arrays()["visits"]
    assert (visits[0], visits.sum(), (visits > 0).sum()) == (200, plies, q.seen)


def test_what_seems_equally_good_is_entropy() -> None:
    q, cells = learner(), 9
    positions = positions_of("3,3,3")
    untrained = q.entropy()
    winning = (positions.child == -2).any(axis=1)
    assert 0 < untrained < np.log2(cells)
    assert winning.any()
    q.train(0, 3_000)
    best = (positions.scores == positions.score[:, None]).sum(axis=1)
    assert q.entropy() == pytest.approx(np.log2(best).mean())


# Unmasked


def test_unmasked_it_comes_to_know_taken_cells_one_by_one_and_no_others() -> None:
    q, positions = learner(unmasked=True), positions_of("3,3,3")
    attempts, invalid = 0, []
    for start, stop in ((0, 500), (500, 2_000), (2_000, 10_000)):
        attempts += q.train(start, stop - start).attempts
        known = q.arrays()["taken"]
        assert attempts == np.bitwise_count(known).sum()
        assert not (known & ~(positions.x | positions.o)).any()
        shares = graded(q, values=False).shares
        invalid.append(shares.invalid)
    assert invalid == sorted(invalid, reverse=True)
    assert invalid[-1] < 0.03 < 0.09 < invalid[0]
    assert graded(q).nash_conv == 0.0


# Against an opponent


def reached(positions: Positions, learners_side: int, replies: np.ndarray) -> set[int]:
    """The rows that games reach in which one side makes only the moves that have a chance."""
    found, new = {0}, [0]
    while new:
        row = new.pop()
        own = positions.ply[row] % 2 == learners_side
        for cell in range(positions.game.cells):
            after = int(positions.child[row, cell])
            if after >= 0 and (own or replies[row, cell] > 0) and after not in found:
                found.add(after)
                new.append(after)
    return found


def test_against_an_opponent_it_meets_only_what_his_moves_lead_to_on_both_sides() -> None:
    q, positions = learner(opponent="first free"), positions_of("3,3,3")
    replies = first_free(positions)
    as_x, as_o = (reached(positions, side, replies) for side in (0, 1))
    q.train(0, 1)
    assert set(np.flatnonzero(q.arrays()["visits"]).tolist()) <= as_x  # the learner begins with X
    q.train(1, 1_999)
    visited = set(np.flatnonzero(q.arrays()["visits"]).tolist())
    assert visited <= as_x | as_o
    assert visited & (as_x - as_o)
    assert visited & (as_o - as_x)
    assert len(as_x | as_o) < len(positions) / 2


def test_it_learns_to_beat_its_opponent_every_time() -> None:
    q, positions = learner(opponent="first free"), positions_of("3,3,3")
    other = Rows(positions, first_free(positions), "first free")
    assert -between(other, q.policy()) < 1
    q.train(0, 2_000)
    assert (between(q.policy(), other), -between(other, q.policy())) == (1.0, 1.0)


def test_an_opponents_moves_are_drawn_by_their_chances() -> None:
    positions = positions_of("3,3,3")
    chances, corner, middle = first_free(positions), 0, 4
    chances[0] = 0.0
    chances[0, [corner, middle]] = 0.25, 0.75
    q = QLearner(positions, 1, opponent=chances)
    for number in range(1, 4_000, 2):  # the learner plays O
        q.train(number, 1)
    visits = q.arrays()["visits"][positions.child[0, [corner, middle]]]
    assert visits.sum() == 2_000
    assert visits[1] / 2_000 == pytest.approx(0.75, abs=0.04)


# Loading


@pytest.mark.parametrize(
    ("change", "named"),
    [
        *((lambda kept, name=name: kept.pop(name), name) for name in ("value", "visits", "taken")),
        (lambda kept: kept.update(value=kept["value"][:-1]), "value"),
        (lambda kept: kept.update(value=kept["value"].astype(np.float64)), "value"),
        (lambda kept: kept.update(visits=kept["visits"].reshape(1, -1)), "visits"),
        (lambda kept: kept.update(learner("fano").arrays()), "value"),
        (lambda kept: kept.update(learner(unmasked=True).arrays()), "taken"),
    ],
)
def test_arrays_of_another_game_or_learner_are_refused(change: Any, named: str) -> None:
    kept = dict(learner().arrays())
    change(kept)
    with pytest.raises(ValueError, match=f"^{named} is not "):
        learner().load(kept)
