"""Grades: shares are those that plain counting finds, classes partition the positions, and samples tell the truth."""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest

from play.lab import Positions, exploiter, grade
from play.lab.grades import Grade
from play.lab.grading import Grader
from play.lab.sampling import drawn, images, move_scores
from play.lab.shares import CLASSES, DECISIVE, Shares
from play.lab.values import between
from play.players.player import PlayerError
from solver.arrays.kernels import kernel_lines
from solver.errors import GameError, StoreMissing, TooLarge
from solver.games.line_rules import LineState
from solver.games.notation import parse_game

NEAR = 1e-12
THREES = ["3,3,3", "3,3,3,misere"]
FANO = str(Path(__file__).parents[3] / "data" / "games" / "fano.toml")


@pytest.fixture(autouse=True)
def nowhere(home: Path) -> None:
    """Stand where no store is found."""


class Told:
    """A player whose chances are those of plain Python, board by board."""

    def __init__(self, rules: naive.Game, chances: naive.Chances, *, symmetric: bool = False) -> None:
        self._rules, self._chances, self.symmetric = rules, chances, symmetric

    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        boards = [naive.board(self._rules, *cells) for cells in zip(x.tolist(), o.tolist(), strict=True)]
        return np.array([list(map(float, self._chances(board))) for board in boards]).reshape(len(x), -1)


@cache
def scattered(seed: object, *, careless: bool = False) -> naive.Chances:
    """Random chances, many of them 0, on free cells only unless they are careless."""

    @cache
    def chances(board: str) -> Sequence[Fraction]:
        rng = random.Random(f"{seed} {board}")
        weights = [rng.choice([0, 0, 1, 2, 5]) if careless or mark == "." else 0 for mark in board]
        return [Fraction(weight, sum(weights)) for weight in weights] if any(weights) else naive.at_random(board)

    return chances


@cache
def twin(name: str) -> naive.Game:
    return naive.Game.described(Path(name).read_text()) if name == FANO else naive.Game.named(name)


@cache
def grader(name: str) -> Grader:
    return Grader(name, live=True)


@cache
def positions_of(name: str) -> Positions:
    found = Positions(name)
    _ = found.score  # while no store is found
    return found


def boards(name: str) -> list[str]:
    """The board of each row."""
    three = positions_of(name)
    return [naive.board(twin(name), *cells) for cells in zip(three.x.tolist(), three.o.tolist(), strict=True)]


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
    assert found.shares
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


POLICIES: dict[str, naive.Chances] = {
    "random": naive.at_random,
    "first": naive.first_free,
    "scattered": scattered(1),
    "careless": scattered(2, careless=True),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", [*THREES, FANO])
def test_shares_of_all_positions_are_those_of_plain_counting(name: str, policy: str) -> None:
    rules, chances = twin(name), POLICIES[policy]
    found = grader(name).grade(Told(rules, chances), "all", values=False)
    assert_shares(found, rules, chances, naive.open_boards(rules))
    assert found.positions == "all"
    assert found.intervals == {}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", [*THREES, FANO])
def test_shares_of_canonical_positions_count_one_of_all_that_are_equal(name: str, policy: str) -> None:
    rules, chances = twin(name), POLICIES[policy]
    found = grader(name).grade(Told(rules, chances), "canonical", values=False)
    assert_shares(found, rules, chances, boards(name))


@pytest.mark.parametrize("name", THREES)
def test_a_symmetric_player_is_asked_about_canonical_positions_and_counted_for_all(name: str) -> None:
    rules, three = twin(name), positions_of(name)

    def alike(board: str) -> Sequence[Fraction | float]:
        first, g = min((naive.turned(board, g), g) for g in three.group)
        known = scattered(3)(first)
        return [known[g[cell]] for cell in range(9)]

    asked: list[int] = []

    class Symmetric(Told):
        def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
            asked.append(len(x))
            return super().chances(x, o)

    found = grader(name).grade(Symmetric(rules, alike, symmetric=True))
    assert 627 in asked
    assert found.positions == "all"
    assert_shares(found, rules, alike, naive.open_boards(rules))
    assert_shares(grader(name).grade(Told(rules, alike), "all", values=False), rules, alike, naive.open_boards(rules))
    array = Told(rules, alike).chances(three.x, three.o)
    assert_shares(grader(name).grade(array, "all", values=False), rules, alike, naive.open_boards(rules))
    assert_shares(grader(name).grade(array, "canonical", values=False), rules, alike, boards(name))


def test_without_a_word_all_positions_are_asked_about_if_they_are_few_or_the_player_is_symmetric(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = twin("3,3,3")
    assert grader("3,3,3").grade(Told(rules, naive.first_free)).positions == "all"
    monkeypatch.setattr("play.lab.grading.SAMPLE", 4_000)
    assert grader("3,3,3").grade(Told(rules, naive.first_free)).positions == 4_000
    assert grader("3,3,3").grade("rules").positions == 4_000
    assert grader("3,3,3").grade(Told(rules, naive.at_random, symmetric=True)).positions == "all"
    assert grader("3,3,3").grade("random").positions == "all"


def test_all_positions_come_as_images_with_weights_that_add_up_to_one_each() -> None:
    rules, weights = twin("3,3,3"), dict[str, float]()
    for done, (x, o, scores, share) in images(positions_of("3,3,3")):
        assert 0 <= done < 1
        for own, other, moves, weight in zip(x.tolist(), o.tolist(), scores.tolist(), share.tolist(), strict=True):
            board = naive.board(rules, own, other)
            weights[board] = weights.get(board, 0) + weight
            assert {cell: moved for cell, moved in enumerate(moves) if moved != -128} == naive.move_scores(rules, board)
    assert sorted(weights) == naive.open_boards(rules)
    assert set(weights.values()) == {1.0}


@pytest.mark.parametrize("name", [*THREES, FANO])
def test_moves_are_scored_by_the_scores_of_positions_one_move_later(name: str) -> None:
    rules, known = twin(name), positions_of(name)
    of = naive.open_boards(rules)
    x, o = (np.array(cells) for cells in zip(*map(naive.masks, of), strict=True))
    lines = kernel_lines(known.game, (tuple(range(rules.cells)),))
    for board, scores in zip(of, move_scores(lines, x, o, known.score_of).tolist(), strict=True):
        assert {cell: score for cell, score in enumerate(scores) if score != -128} == naive.move_scores(rules, board)


@pytest.mark.parametrize("name", [*THREES, FANO])
def test_classes_partition_the_positions(name: str) -> None:
    rules = twin(name)
    found = grader(name).grade("random", "all")
    of = naive.open_boards(rules)
    wanted = {kind: sum(naive.kind(rules, board) == kind for board in of) for kind in CLASSES}
    assert {kind: share.positions for kind, share in found.by_class.items()} == wanted
    assert sum(wanted.values()) == len(of)
    decisive = sum(wanted[kind] for kind in DECISIVE)
    assert decisive == sum(naive.decisive(rules, board) for board in of)
    for kind in ("lost", "indifferent"):
        assert found.by_class[kind].kept in (1, None)
    if name == "3,3,3,misere":
        assert wanted["take"] == wanted["stop"] == 0


def test_shares_by_cell_count_errors_among_the_moves_made_there() -> None:
    rules, three = twin("3,3,3"), positions_of("3,3,3")
    chances, of = scattered(2, careless=True), naive.open_boards(rules)
    shares = Shares(kernel_lines(three.game, (tuple(range(9)),)))
    x, o = (np.array(cells) for cells in zip(*map(naive.masks, of), strict=True))
    scores = move_scores(kernel_lines(three.game, (tuple(range(9)),)), x, o, three.score_of)
    shares.add(x, o, scores, Told(rules, chances).chances(x, o))
    for cell, share in enumerate(shares.by_cell(three.group)):
        orbit = {g[cell] for g in three.group}
        made = sum(chances(board)[other] for board in of for other in orbit)
        wrong = sum(
            chances(board)[other] for board in of for other in orbit if other not in naive.keeping(rules, board)
        )
        assert share == pytest.approx(float(wrong / made), abs=NEAR)


def erring(rules: naive.Game, ply: int) -> naive.Chances:
    """Best moves, but at one ply the worst."""

    def chances(board: str) -> list[int]:
        scores = naive.move_scores(rules, board)
        value = (min if naive.stones(board) == ply else max)(scores.values())
        cell = min(cell for cell, score in scores.items() if score == value)
        return [int(cell == other) for other in range(rules.cells)]

    return chances


def test_whoever_errs_at_one_ply_alone_keeps_nearly_everything_and_is_beaten() -> None:
    rules = twin("3,3,3")
    found = grader("3,3,3").grade(Told(rules, erring(rules, 1)), "all")
    assert found.kept
    assert found.kept > 0.998
    assert found.value == {"X": 0, "O": -1}
    assert found.given_away == {"X": 0, "O": 1}
    assert found.nash_conv == 1
    assert found.refutation
    assert list(found.refutations) == ["O"]
    assert len(found.refutation.match.moves) == naive.shortest_loss(rules, "O", erring(rules, 1), 0)
    kept = {ply: share.kept for ply, share, _ in found.by_ply}
    assert [ply for ply, share in kept.items() if share != 1] == [1]


@pytest.mark.parametrize("name", THREES)
def test_drawn_positions_are_all_equally_likely(name: str) -> None:
    rules, count = twin(name), 200_000
    x, o = drawn(parse_game(name), count, 1)  # type: ignore[arg-type]
    assert len(x) == len(o) == count
    keys, times = np.unique(x << 9 | o, return_counts=True)
    assert sorted(naive.board(rules, key >> 9, key & 511) for key in keys.tolist()) == naive.open_boards(rules)
    wanted = count / len(keys)
    square = float(((times - wanted) ** 2 / wanted).sum())
    assert abs(square - len(keys)) <= 5 * (2 * len(keys)) ** 0.5


def test_positions_are_drawn_by_the_seed_alone() -> None:
    game: Any = parse_game("4,4,4")
    one, same, other = drawn(game, 500, 1), drawn(game, 500, 1), drawn(game, 500, 2)
    assert (one[0] == same[0]).all()
    assert (one[1] == same[1]).all()
    assert (one[0] != other[0]).any()


@pytest.mark.parametrize("policy", ["first", "scattered", "careless"])
def test_intervals_of_a_sample_contain_the_true_shares_most_times(policy: str) -> None:
    rules, chances = twin("3,3,3"), POLICIES[policy]
    true = grader("3,3,3").grade(Told(rules, chances), "all", values=False)
    inside, widest = {"kept": 0, "decisive": 0}, {"kept": 0.08, "decisive": 0.12}
    for seed in range(20):
        found = grader("3,3,3").grade(Told(rules, chances), 1000, seed, values=False)
        assert found.positions == 1000
        assert found.shares
        assert found.shares.of().positions == 1000
        for name in inside:
            low, high = found.intervals[name]
            assert low <= getattr(found, name) <= high < low + widest[name]
            inside[name] += low <= getattr(true, name) <= high
    assert min(inside.values()) >= 17  # of 20, of which 95% are 19


class Uniform:
    """Any free cell, in arrays."""

    symmetric = True

    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        free = ~(x | o)[:, None] >> np.arange(16) & 1
        return free / free.sum(axis=1, keepdims=True)


def test_a_sample_of_4x4_is_near_the_whole(store4: Path) -> None:
    with Grader("4,4,4", str(store4)) as four:
        whole, part = four.grade(Uniform(), "all", values=False), four.grade(Uniform(), 20_000, values=False)
    assert whole.shares
    assert whole.shares.of().positions == 9_062_619
    for name in ("kept", "decisive"):
        low, high = part.intervals[name]
        assert low <= getattr(whole, name) <= high
    assert part.optimal == pytest.approx(whole.optimal, abs=0.01)


@pytest.mark.parametrize("wanted", [0, -1, "some", "", 1.5])
def test_positions_that_are_no_kind_and_no_number_are_refused(wanted: Any) -> None:
    with pytest.raises(PlayerError, match=r"^no .*positions"):
        grader("3,3,3").grade("random", wanted)


class TakesA1:
    """Always the first cell, taken or not."""

    def choose(self, state: LineState) -> int:
        return 0


def test_moves_on_taken_cells_lose_and_are_counted() -> None:
    rules = twin("3,3,3")
    of = naive.open_boards(rules)
    found = grader("3,3,3").grade(TakesA1(), "all")
    assert found.value == {"X": -1, "O": -1}
    assert found.shares
    assert found.shares.invalid == pytest.approx(sum(board[0] != "." for board in of) / len(of), abs=NEAR)
    assert found.kept
    assert found.kept < 1 - found.shares.invalid + NEAR
    assert found.as_dict()["invalid"] == found.shares.invalid


class Wavering:
    """Any free cell, by a seed of its own."""

    def __init__(self, rules: Any, seed: int | str) -> None:
        self._rng = random.Random(str(seed))

    def choose(self, state: LineState) -> int:
        return self._rng.choice(state.empty)


def test_a_player_that_varies_has_estimates_near_the_truth() -> None:
    found = grader("3,3,3").grade(Wavering)
    true = grader("3,3,3").grade("random")
    assert not found.exact
    assert true.exact
    assert found.v_random is None
    assert found.met is None
    assert found.refutations == {}
    anyone, oracle = (grader("3,3,3").policy(name) for name in ("random", "oracle"))
    against = {"X": between(anyone, oracle), "O": -between(oracle, anyone)}
    for side, estimate in found.estimates.items():
        assert (estimate.games, estimate.opponent) == (200, "oracle")
        assert estimate.low <= estimate.value == found.value[side] <= estimate.high
        assert estimate.low <= against[side] <= estimate.high
        assert abs(estimate.value - true.value[side]) < 0.1
        assert found.given_away
        assert found.given_away[side] == -estimate.value
    assert found.kept == pytest.approx(true.kept, abs=0.05)


def test_a_player_that_varies_is_graded_the_same_way_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.lab.grading.GAMES", 20)
    one, other = (grader("3,3,3").grade(Wavering, 100).as_dict() for _ in range(2))
    assert one == other


def test_play_that_meets_too_many_positions_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.lab.values.MOST_MET", 50)
    monkeypatch.setattr("play.lab.grading.GAMES", 20)
    found = grader("3,3,3").grade(Told(twin("3,3,3"), naive.first_free))
    assert not found.exact
    assert {estimate.games for estimate in found.estimates.values()} == {20}
    with pytest.raises(TooLarge, match="more than 50 positions"):
        grader("3,3,3").exploiter(Told(twin("3,3,3"), naive.first_free))


class FirstFree:
    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        taken = x | o
        return np.log2(~taken & taken + 1).astype(int)


@pytest.fixture
def larger() -> Grader:
    """A grader of a game of which nothing is known."""
    return Grader("4,5,4", live=True, seconds=0.05)


def test_a_deterministic_player_has_exact_values_in_games_with_too_many_positions(larger: Grader) -> None:
    found = larger.grade(FirstFree())
    assert larger.positions is None
    assert found.exact
    assert found.value == {"X": -1, "O": -1}
    assert (found.shares, found.kept, found.decisive, found.optimal, found.intervals) == (None, None, None, None, {})
    assert (found.perfect, found.given_away, found.nash_conv) == (None, None, None)
    assert (found.positions, found.by_ply, found.by_class, found.refutations) == (20_000, [], {}, {})
    assert found.v_random
    assert found.as_dict()["invalid"] is None
    best = larger.exploiter(FirstFree())
    assert best.value == {"X": 1, "O": 1}


def test_with_a_store_a_game_with_too_many_positions_has_shares_of_a_sample(
    store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("play.lab.grading.MOST", 100)
    rules = twin("3,3,3")
    with Grader("3,3,3", str(store3)) as few:
        assert few.positions is None
        found = few.grade(Told(rules, naive.first_free), 1000)
        assert few.grade(Told(rules, naive.first_free), values=False).positions == 20_000
    wanted = grader("3,3,3").grade(Told(rules, naive.first_free), "all")
    assert (found.value, found.nash_conv, found.v_random) == (wanted.value, wanted.nash_conv, wanted.v_random)
    assert found.intervals["kept"][0] < (wanted.kept or 0) < found.intervals["kept"][1]


def test_all_positions_of_a_game_with_too_many_are_refused(larger: Grader) -> None:
    for wanted in ("all", "canonical"):
        with pytest.raises(TooLarge, match="too many positions"):
            larger.grade(FirstFree(), wanted)


@pytest.mark.parametrize("name", ["6,6,4", "15,15,5"])
def test_a_board_too_large_for_the_solvers_is_refused(name: str) -> None:
    with pytest.raises(GameError, match="too many to solve"):
        Grader(name, live=True)


def test_a_live_grade_reads_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTT4_STORE", str(tmp_path / "none.ttt4"))
    assert grade("3,3,3", "random", live=True).exact


def test_a_store_that_is_named_must_be_there(tmp_path: Path) -> None:
    for what in (grade, exploiter):
        with pytest.raises(StoreMissing):
            what("3,3,3", "oracle", store=str(tmp_path / "none.ttt4"))


def test_grades_are_the_same_with_a_store_as_without(store3: Path) -> None:
    for player in ("random", "rules", "oracle:3"):
        stored, alone = grade("3,3,3", player, store=str(store3)), grade("3,3,3", player, live=True)
        assert stored.as_dict() == alone.as_dict()


def test_progress_is_told(store3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.lab.grading.GAMES", 5)
    said: list[tuple[str, float]] = []
    report: Callable[[str, float], None] = lambda what, share: said.append((what, share))  # noqa: E731
    with Grader("3,3,3", str(store3)) as three:
        three.grade("rules", report=report)
        three.grade(Wavering, 100, report=report)
    assert {what for what, _ in said} == {"asking", "value as X", "value as O", "games as X", "games as O"}
    assert all(0 <= share <= 1 for _, share in said)
