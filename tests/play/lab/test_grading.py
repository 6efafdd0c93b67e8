"""Grades: shares are those that plain counting finds, classes partition the positions, and samples tell the truth."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest
from lab import (
    NEAR,
    POLICIES,
    SMALL,
    FirstFree,
    FirstFreeMany,
    Told,
    Wavering,
    alike,
    as_array,
    boards,
    grader,
    positions_of,
    twin,
)

from play.lab import grade
from play.lab.grades import Grade
from play.lab.grading import Grader
from play.lab.sampling import drawn, move_scores, some_of
from play.lab.shares import CLASSES, Shares
from play.lab.values import between
from play.players.machines import TacticalPlayer
from play.players.player import PlayerError
from solver.arrays.kernels import kernel_lines
from solver.errors import TooLarge

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimate values by 20 games a side, against what a player did when it was asked three times."""
    monkeypatch.setattr("play.lab.grading.GAMES", 20)
    monkeypatch.setattr("play.lab.grading._DRAWS", 3)


# Shares


class Done(NamedTuple):
    """What a player does on a board, as plain Python finds it."""

    ply: int
    kind: str
    kept: Fraction
    optimal: Fraction
    taken: Fraction


def done(rules: naive.Game, chances: naive.Chances, board: str) -> Done:
    moves = [Fraction(chance) for chance in chances(board)]
    kept = sum((moves[cell] for cell in naive.keeping(rules, board)), Fraction())
    optimal = sum((moves[cell] for cell in naive.optimal(rules, board)), Fraction())
    taken = sum((chance for chance, mark in zip(moves, board, strict=True) if mark != "."), Fraction())
    return Done(naive.stones(board), naive.kind(rules, board), kept, optimal, taken)


def share(of: Sequence[Done]) -> Any:
    """How many positions, and in which share of them the outcome is kept, and play is best."""
    if not of:
        return 0, None, None
    shares = (float(sum(part) / len(of)) for part in ([each.kept for each in of], [each.optimal for each in of]))
    return tuple(pytest.approx(each, abs=NEAR) for each in (len(of), *shares))  # weights are not always whole


def assert_shares(found: Grade, rules: naive.Game, chances: naive.Chances, of: Sequence[str]) -> None:
    """A grade counts these positions as plain Python does, in all, by class and by ply."""
    whole = [done(rules, chances, board) for board in of]
    hard = [each for each, board in zip(whole, of, strict=True) if naive.decisive(rules, board)]
    assert found.shares.of() == share(whole)
    assert (found.kept, found.optimal) == share(whole)[1:]
    assert found.decisive == share(hard)[1]
    assert found.shares.invalid == pytest.approx(float(sum(each.taken for each in whole) / len(whole)), abs=NEAR)
    assert CLASSES == naive.CLASSES
    assert found.by_class == {kind: share([each for each in whole if each.kind == kind]) for kind in CLASSES}
    assert found.by_ply == [
        (ply, share([each for each in whole if each.ply == ply]), share([each for each in hard if each.ply == ply]))
        for ply in sorted({each.ply for each in whole})
    ]


@pytest.mark.parametrize("policy", ["scattered", "careless"])
@pytest.mark.parametrize("name", SMALL)
def test_shares_are_those_of_plain_counting(name: str, policy: str) -> None:
    rules, chances = twin(name), POLICIES[policy]
    every = grader(name).grade(Told(rules, chances), "all", values=False)
    assert_shares(every, rules, chances, naive.open_boards(rules))
    assert (every.positions, every.intervals) == ("all", {})
    one_for_all = grader(name).grade(Told(rules, chances), "canonical", values=False)
    assert_shares(one_for_all, rules, chances, boards(name))


@pytest.mark.parametrize("name", ["2,4,3", "fano"])
def test_a_symmetric_player_is_asked_about_canonical_positions_and_counted_for_all(name: str) -> None:
    rules, chances = twin(name), alike(name, POLICIES["scattered"])
    asked: list[int] = []

    class Symmetric(Told):
        def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
            asked.append(len(x))
            return super().chances(x, o)

    found = grader(name).grade(Symmetric(rules, chances, symmetric=True))
    assert len(positions_of(name)) in asked
    assert found.positions == "all"
    every, array = naive.open_boards(rules), as_array(name, chances)
    assert_shares(found, rules, chances, every)
    assert_shares(grader(name).grade(array, "all", values=False), rules, chances, every)
    assert_shares(grader(name).grade(array, "canonical", values=False), rules, chances, boards(name))


def test_by_default_all_positions_are_graded_if_few_or_the_player_is_symmetric(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, three = twin("3,3,3"), grader("3,3,3")
    assert three.grade(FirstFreeMany(), values=False).positions == "all"
    monkeypatch.setattr("play.lab.grading.SAMPLE", 4_000)
    assert three.grade(FirstFreeMany(), values=False).positions == 4_000
    assert three.grade("rules", values=False).positions == 4_000
    assert three.grade(Told(rules, naive.at_random, symmetric=True), values=False).positions == "all"
    assert three.grade("random", values=False).positions == "all"


@pytest.mark.parametrize("name", SMALL)
def test_moves_are_scored_by_the_scores_of_positions_one_move_later(name: str) -> None:
    rules, known = twin(name), positions_of(name)
    of = naive.open_boards(rules)
    x, o = (np.array(cells) for cells in zip(*map(naive.masks, of), strict=True))
    lines = kernel_lines(known.game, (tuple(range(rules.cells)),))
    for board, scores in zip(of, move_scores(lines, x, o, known.score_of).tolist(), strict=True):
        assert {cell: score for cell, score in enumerate(scores) if score != -128} == naive.move_scores(rules, board)


def test_shares_by_cell_count_errors_among_the_moves_made_there() -> None:
    rules, found = twin("2,4,3"), positions_of("2,4,3")
    chances, of = POLICIES["careless"], naive.open_boards(rules)
    kernel = kernel_lines(found.game, (tuple(range(8)),))
    shares = Shares(kernel)
    x, o = (np.array(cells) for cells in zip(*map(naive.masks, of), strict=True))
    shares.add(x, o, move_scores(kernel, x, o, found.score_of), Told(rules, chances).chances(x, o))
    for cell, share in enumerate(shares.by_cell(found.group)):
        orbit = {g[cell] for g in found.group}
        made = sum(chances(board)[other] for board in of for other in orbit)
        wrong = sum(
            chances(board)[other] for board in of for other in orbit if other not in naive.keeping(rules, board)
        )
        assert share == pytest.approx(float(wrong / made), abs=NEAR)


# Samples


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", ["2,4,3", "2,4,3,misere"])
def test_drawn_positions_are_all_equally_likely(name: str, known: bool) -> None:
    rules, positions, count = twin(name), positions_of(name), 80_000
    x, o = some_of(positions, count, 1) if known else drawn(positions.game, count, 1)
    assert len(x) == len(o) == count
    keys, times = np.unique(x << 8 | o, return_counts=True)
    assert sorted(naive.board(rules, key >> 8, key & 255) for key in keys.tolist()) == naive.open_boards(rules)
    wanted = count / len(keys)
    square = float(((times - wanted) ** 2 / wanted).sum())
    assert abs(square - len(keys)) <= 5 * (2 * len(keys)) ** 0.5


@pytest.mark.parametrize("policy", ["first", "careless"])
def test_intervals_of_a_sample_contain_the_true_shares_most_times(policy: str) -> None:
    player = as_array("3,3,3", alike("3,3,3", POLICIES[policy]))
    true = grader("3,3,3").grade(player, "all", values=False)
    inside, widest = {"kept": 0, "decisive": 0}, {"kept": 0.08, "decisive": 0.12}
    for seed in range(20):
        found = grader("3,3,3").grade(player, 1000, seed, values=False)
        assert found.positions == 1000
        assert found.shares.of().positions == 1000
        for name in inside:
            low, high = found.intervals[name]
            assert low <= getattr(found, name) <= high < low + widest[name]
            inside[name] += low <= getattr(true, name) <= high
    assert min(inside.values()) >= 17  # of 20, of which 95% are 19


@pytest.mark.parametrize("wanted", [0, -1, "some", "", 1.5])
def test_positions_that_are_no_kind_and_no_number_are_refused(wanted: Any) -> None:
    with pytest.raises(PlayerError, match=r"^no .*positions"):
        grader("3,3,3").grade("random", wanted)


# Estimates: what must not be called exact


class SameSeries(Wavering):
    """Draws from a series of random numbers that is the same for every seed."""

    def __init__(self, rules: Any, seed: object) -> None:
        super().__init__(rules, 42)


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


@pytest.mark.usefixtures("few_games")
@pytest.mark.parametrize("player", [SameSeries, Counting, Noisy()])
def test_a_player_that_answers_differently_when_it_is_asked_again_is_estimated(player: Any) -> None:
    found = grader("3,3,3").grade(player, 300)
    assert not found.exact
    assert found.varies
    assert (found.v_random, found.met, found.refutations) == (None, None, {})
    assert set(found.intervals) == {"kept", "decisive"}
    assert set(found.estimates) == {"X", "O"}
    for side, estimate in found.estimates.items():
        assert estimate.games == 20
        assert estimate.low <= found.value[side] == estimate.value <= estimate.high
        assert found.given_away[side] == -estimate.value
    without_values = grader("3,3,3").grade(player, 300, values=False)
    assert (without_values.varies, without_values.estimates) == (True, {})


@pytest.mark.slow
def test_a_player_that_varies_has_estimates_near_the_truth() -> None:
    found = grader("3,3,3").grade(Wavering)
    true = grader("3,3,3").grade("random")
    assert true.exact
    anyone, oracle = (grader("3,3,3").policy(name) for name in ("random", "oracle"))
    against = {"X": between(anyone, oracle), "O": -between(oracle, anyone)}
    for side, estimate in found.estimates.items():
        assert (estimate.games, estimate.opponent) == (200, "oracle")
        assert estimate.low <= against[side] <= estimate.high
        assert abs(estimate.value - true.value[side]) < 0.1
    assert found.kept == pytest.approx(true.kept, abs=0.05)


@pytest.mark.usefixtures("few_games")
def test_a_player_that_varies_is_graded_the_same_way_again_with_a_new_player_for_every_game() -> None:
    made: list[object] = []

    class Seeded(Wavering):
        def __init__(self, rules: Any, seed: int | str) -> None:
            super().__init__(rules, seed)
            made.append(seed)

    one, other = (grader("3,3,3").grade(Seeded, 100).as_dict() for _ in range(2))
    assert one == other
    assert len(set(made)) > 30


class NearlyRules(Wavering):
    """Plays `rules`, and now and then any move, but shows no chances."""

    def __init__(self, rules: Any, seed: int | str) -> None:
        super().__init__(rules, seed)
        self.tactics = TacticalPlayer(rules, self.rng)

    def choose(self, state: Any) -> int:
        return super().choose(state) if self.rng.random() < 0.01 else self.tactics.choose(state)


@pytest.mark.usefixtures("few_games")
def test_a_noisy_player_gives_away_nearly_what_the_same_player_without_noise_does_to_somebody_who_knows_it() -> None:
    exact, noisy = grader("3,3,3").grade("rules"), grader("3,3,3").grade(NearlyRules, 100)
    assert (exact.exact, noisy.exact) == (True, False)
    assert exact.value == {"X": 0.0, "O": -1.0}
    assert noisy.value == pytest.approx(exact.value, abs=0.2)
    assert noisy.estimates["O"].opponent == "its exploiter"  # perfect play would hide it


class ClaimsSymmetry(FirstFreeMany):
    """The first free cell, which depends on how the board is turned."""

    symmetric = True


def test_a_player_that_says_that_it_is_symmetric_and_is_not_is_refused() -> None:
    with pytest.raises(PlayerError, match="has symmetric = True, but plays differently"):
        grader("3,3,3").grade(ClaimsSymmetry())


@pytest.mark.usefixtures("few_games")
def test_a_slow_player_is_asked_for_no_longer_than_is_reasonable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A player that takes a second for every move, by a clock of the test's own, and may take 80."""
    now = 0.0

    class Slow(FirstFree):
        def __init__(self, rules: Any, seed: object) -> None:
            pass

        def choose(self, state: Any) -> int:
            nonlocal now
            now += 1
            return super().choose(state)

    monkeypatch.setattr("play.lab.grading.monotonic", lambda: now)
    monkeypatch.setattr("play.lab.grading._PATIENCE", 80.0)
    found = grader("3,3,3").grade(Slow)
    assert found.positions == 40  # it is asked about each twice
    assert not found.exact
    assert found.estimates["X"].games == 20


@pytest.mark.usefixtures("few_games")
def test_play_that_meets_too_many_positions_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.lab.values.MOST_MET", 50)
    found = grader("3,3,3").grade(FirstFreeMany())
    assert not found.exact
    assert {estimate.games for estimate in found.estimates.values()} == {20}
    with pytest.raises(TooLarge, match="more than 50 positions"):
        grader("3,3,3").exploiter(FirstFreeMany())


# Games with too many positions, and stores


@pytest.fixture
def larger(monkeypatch: pytest.MonkeyPatch) -> Grader:
    """A grader of a game of which nothing is known: as if 4x4 had too many positions."""
    monkeypatch.setattr("play.lab.grading.MOST", 100)
    monkeypatch.setattr("solver.certificates.at_hand.AtHand.draw", lambda *position: None)
    return Grader("4,4,4", live=True, seconds=0.01)


def test_a_deterministic_player_has_exact_values_in_games_with_too_many_positions(larger: Grader) -> None:
    found = larger.grade(FirstFreeMany())
    assert larger.positions is None
    assert found.exact
    assert found.value == {"X": -1, "O": -1}
    assert (found.shares, found.kept, found.decisive, found.optimal, found.intervals) == (None, None, None, None, {})
    assert (found.perfect, found.given_away, found.nash_conv) == (None, None, None)
    assert (found.positions, found.by_ply, found.by_class, found.refutations) == (20_000, [], {}, {})
    assert found.v_random
    assert found.as_dict()["invalid"] is None
    assert larger.exploiter(FirstFreeMany()).value == {"X": 1, "O": 1}


def test_with_a_store_a_large_game_has_shares_of_a_sample(store3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.lab.grading.MOST", 100)
    with Grader("3,3,3", str(store3)) as few:
        assert few.positions is None
        found = few.grade(FirstFreeMany(), 1000)
        assert few.grade(FirstFreeMany(), values=False).positions == 20_000
    wanted = grader("3,3,3").grade(FirstFreeMany(), "all")
    assert (found.value, found.nash_conv, found.v_random) == (wanted.value, wanted.nash_conv, wanted.v_random)
    assert found.intervals["kept"][0] < (wanted.kept or 0) < found.intervals["kept"][1]


def test_all_positions_of_a_game_with_too_many_are_refused(larger: Grader) -> None:
    for wanted in ("all", "canonical"):
        with pytest.raises(TooLarge, match="too many positions"):
            larger.grade(FirstFreeMany(), wanted)


def test_grades_are_the_same_with_a_store_as_without(store3: Path) -> None:
    for player in ("random", "rules", "oracle:3"):
        stored, alone = grade("3,3,3", player, store=str(store3)), grade("3,3,3", player, live=True)
        assert stored.as_dict() == alone.as_dict()


@pytest.mark.usefixtures("few_games")
def test_progress_is_told() -> None:
    said: list[tuple[str, float]] = []
    report: Callable[[str, float], None] = lambda what, share: said.append((what, share))  # noqa: E731
    grader("3,3,3").grade("rules", report=report)
    grader("3,3,3").grade(Wavering, 100, report=report)
    assert {what.partition(",")[0] for what, _ in said} == {
        "asking",
        "value as X",
        "value as O",
        "games as X",
        "games as O",
    }
    assert all(0 <= share <= 1 for _, share in said)
