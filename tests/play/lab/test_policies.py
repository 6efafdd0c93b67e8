"""Policies: every form of a player is asked the same, what is no policy is refused in a line, and chances are true."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab import FirstFree, FirstFreeMany, Wavering, lowest

from play.lab.grading import Grader
from play.lab.policies import Drawn, Policy, PolicyPlayer, Varies, policy_of
from play.match import Match
from play.players.player import PlayerError
from play.players.roster import Roster
from solver.errors import GameError, NotSettled, Ttt4Error
from solver.games.board_rules import BoardState
from solver.games.line_rules import LineRules, LineState
from solver.games.notation import parse_game
from solver.games.registry import find_game

THREE = LineRules(parse_game("3,3,3"))


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="module")
def grader(store3: Path) -> Iterator[Grader]:
    with Grader("3,3,3", str(store3)) as grader:
        yield grader


class Choices:
    def choices(self, state: LineState) -> dict[int, float]:
        return {state.empty[0]: 1.0}


class Chances:
    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        return np.eye(9)[lowest(x, o)]


class Made(FirstFree):
    def __init__(self, rules: Any, seed: int | str) -> None:
        assert rules.name == "3,3,3"
        assert str(seed)


FORMS = [FirstFree(), Choices(), FirstFreeMany(), Chances(), Made, lambda rules, seed: Chances()]


@pytest.mark.parametrize("player", FORMS)
def test_every_form_of_a_player_is_graded_alike(player: Any, grader: Grader) -> None:
    wanted = grader.grade(Chances(), "all").as_dict()
    found = grader.grade(player, "all").as_dict()
    for field in ("player", "refutations"):
        del wanted[field], found[field]
    assert found == wanted


def test_arrays_and_lists_of_moves_and_arrays_of_chances_are_graded_alike(grader: Grader) -> None:
    three = grader.positions
    moves = np.where(three.legal, np.random.default_rng(1).random(three.legal.shape), -1).argmax(axis=1)
    one, *others = (grader.grade(player) for player in (moves, moves.tolist(), np.eye(9)[moves]))
    assert (one.positions, grader.policy(moves).symmetric) == ("all", True)
    assert [other.as_dict() for other in others] == [one.as_dict()] * 2


@pytest.mark.parametrize("name", ["random", "rules", "first", "oracle", "oracle:5"])
def test_the_chances_of_a_player_of_the_house_are_its_choices(name: str, grader: Grader) -> None:
    three = grader.positions
    policy = grader.policy(name)
    assert policy.symmetric == (name not in ("rules", "first"))
    chances = policy.chances(three.x, three.o)
    player: Any = grader.roster.player(name, 1)
    for row, cells in enumerate(zip(three.x.tolist(), three.o.tolist(), strict=True)):
        choices = player.choices(BoardState(grader.game.at(*cells)))
        assert chances[row].tolist() == [choices.get(cell, 0) for cell in range(9)]
    found = grader.grade(name)
    assert found.player == name
    assert found.exact
    if name in ("first", "oracle"):
        assert (found.nash_conv, found.kept, found.decisive, found.optimal) == (0, 1, 1, 1)
        assert (found.refutations, found.refutation) == ({}, None)


def states(count: int, seed: int) -> list[LineState]:
    rng, found = random.Random(seed), list[LineState]()
    while len(found) < count:
        match: Match[LineState] = Match(THREE)
        for _ in range(rng.randrange(7)):
            if match.to_move:
                match.play(match.to_move, rng.choice(THREE.legal(match.state)))
        if match.to_move:
            found.append(match.state)
    return found


@pytest.mark.parametrize("name", ["oracle", "oracle:5", "first"])
def test_a_search_that_ran_out_of_time_shows_no_certain_move(name: str) -> None:
    with Roster(find_game("5,5,4"), live=True, seconds=0.001) as roster:
        player: Any = roster.player(name, 1)
        state = roster.rules.play(roster.rules.start(), 12)
        with pytest.raises(NotSettled, match="takes too long"):
            player.choices(state)


DRAWS = 600


@pytest.mark.parametrize("name", ["random", "rules", "first", "oracle", "oracle:0", "oracle:5"])
def test_moves_are_made_as_often_as_their_chances_say(name: str, grader: Grader) -> None:
    player: Any = grader.roster.player(name, 7)
    for state in [THREE.start(), *states(5, 3)]:
        choices = player.choices(state)
        assert sum(choices.values()) == pytest.approx(1)
        assert set(choices) <= set(THREE.legal(state))
        assert min(choices.values()) > 0
        made = Counter(player.choose(state) for _ in range(DRAWS))
        assert made.keys() <= choices.keys()
        rare = [cell for cell, chance in choices.items() if DRAWS * chance < 5]  # these count as one
        kinds = [rare, *([cell] for cell in choices if cell not in rare)]
        wanted = [DRAWS * sum(choices[cell] for cell in kind) for kind in kinds]
        found = [sum(made[cell] for cell in kind) for kind in kinds]
        square = sum((one - other) ** 2 / max(other, 1) for one, other in zip(found, wanted, strict=True))
        assert square <= len(kinds) + 4 * (2 * len(kinds)) ** 0.5  # four standard deviations above the mean


def test_a_policy_plays_moves_as_often_as_its_chances_say(grader: Grader) -> None:
    chances = np.array([0.5, 0.25, 0.125, 0, 0, 0, 0, 0, 0.125])

    class Fixed:
        def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
            return np.tile(chances, (len(x), 1))

    player = PolicyPlayer(grader.policy(Fixed()), 5)
    made = Counter(player.choose(THREE.start()) for _ in range(DRAWS))
    for cell, chance in enumerate(chances):
        assert abs(made[cell] - DRAWS * chance) <= 4 * (DRAWS * chance) ** 0.5
    assert player.name == "Fixed"


class Own:
    def __init__(self, **methods: Callable[..., Any]) -> None:
        self.__dict__.update(methods)


def raising(*_: Any) -> Any:
    raise ZeroDivisionError("a reason\nof two lines")


def exiting(*_: Any) -> Any:
    raise SystemExit(3)


def shaped(*shape: int, fill: float = 1 / 9) -> Callable[..., Any]:
    return lambda x, o: np.full(shape, fill)


def everywhere(fill: float) -> Callable[..., Any]:
    return lambda x, o: np.full((len(x), 9), fill)


NO_CHANCES = [
    shaped(627, 8), shaped(1, 9), shaped(627), everywhere(float("nan")), everywhere(float("inf")), everywhere(-1 / 9),
    everywhere(1 / 9 + 1e-5), everywhere(0), lambda x, o: np.tile([2, -1, 0, 0, 0, 0, 0, 0, 0], (len(x), 1)),
    lambda x, o: None, lambda x, o: "chances", lambda x, o: [[1], [1, 2]],
]  # fmt: skip
NO_MOVES = [
    lambda x, o: np.zeros(len(x)), lambda x, o: np.zeros(len(x) - 1, int), lambda x, o: np.zeros((len(x), 1), int),
    lambda x, o: np.full(len(x), 9), lambda x, o: np.full(len(x), -1), lambda x, o: None, lambda x, o: [[1], [1, 2]],
]  # fmt: skip
NO_CHOICES = [{0: float("nan")}, {}, {0: 0.5}, {9: 1.0}, {-1: 1.0}, {0.5: 1.0}, {0: "all"}, None, [1, 2]]
NO_ARRAYS = [
    np.full((627, 9), np.nan), np.full((627, 9), -1 / 9), np.full((627, 9), 0.2), np.full((626, 9), 1 / 9),
    np.full((627, 8), 1 / 8), np.zeros((627, 9), bool), np.zeros(626, int), np.zeros(627), np.full(627, 9),
    np.full(627, -1), np.zeros((627, 9, 1)), [], ["a1"] * 627, [[1], [1, 2]],
]  # fmt: skip
NO_NAMES = ["nobody", "human", "priority", "oracle:11", "run:nowhere/at/all", "no_such_module:NAME"]
REFUSED = [
    *(Own(**{how: bad}) for how in ("chances", "choose_many", "choices", "choose") for bad in (raising, exiting)),
    *(Own(chances=bad) for bad in NO_CHANCES),
    *(Own(choose_many=bad) for bad in NO_MOVES),
    *(Own(choose=lambda state, bad=bad: bad) for bad in (None, 9, -1, 0.5, "a1")),
    *(Own(choices=lambda state, bad=bad: bad) for bad in NO_CHOICES),
    *NO_ARRAYS,
    *NO_NAMES,
    *(Own(), 5, None, lambda rules, seed: 5, lambda rules: FirstFree()),
]


@pytest.mark.parametrize("player", REFUSED)
def test_what_is_no_player_is_refused_in_one_line(player: Any, grader: Grader) -> None:
    with pytest.raises(Ttt4Error) as refusal:
        grader.grade(player)
    assert isinstance(refusal.value, PlayerError) or isinstance(player, str)
    assert refusal.value.exit_code in (2, 3)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize("method", ["chances", "choose_many"])
def test_a_player_that_writes_into_the_arrays_it_is_given_changes_nobody_elses_grade(method: str) -> None:
    def writing(x: np.ndarray, o: np.ndarray) -> np.ndarray:
        x |= o
        return np.eye(9)[lowest(x, x)] if method == "chances" else lowest(x, x)

    with Grader("3,3,3", live=True) as three:
        wanted = three.grade(Chances()).as_dict()
        with suppress(PlayerError):
            three.grade(Own(**{method: writing}))
        assert three.grade(Chances()).as_dict() == wanted


def test_an_exception_of_a_players_code_is_named_and_kept_and_our_own_errors_pass_through(grader: Grader) -> None:
    def refusing(x: np.ndarray, o: np.ndarray) -> Any:
        raise GameError("not this one")

    for method in ("chances", "choose_many", "choices", "choose"):
        with pytest.raises(PlayerError, match=r"ZeroDivisionError: a reason$") as refusal:
            grader.grade(Own(**{method: raising}))
        assert isinstance(refusal.value.__cause__, ZeroDivisionError)
    with pytest.raises(GameError, match="not this one"):
        grader.grade(Own(chances=refusing))


def test_chances_may_miss_1_by_a_rounding_error(grader: Grader) -> None:
    assert grader.grade(Own(chances=everywhere(1 / 9 + 1e-8))).exact


class Asking(Policy):
    def __init__(self, moves: Callable[[], list[int]]) -> None:
        super().__init__(THREE.game, "asking")
        self._moves = moves

    def _asked(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        return np.eye(9)[self._moves()]


class WaveringMany(Wavering):
    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        free = ~(x | o)[:, None] >> np.arange(9) & 1
        return np.array([self.rng.choice(np.flatnonzero(row).tolist()) for row in free])


@pytest.mark.parametrize("player", [Wavering, WaveringMany])
def test_a_player_that_varies_has_no_policy_and_no_exploiter(player: Any, grader: Grader) -> None:
    with pytest.raises(Varies, match="does not always make the same move"):
        grader.policy(player).chances(*grader.asked_about(None))
    with pytest.raises(Varies):
        grader.exploiter(player)


def test_moves_that_a_varying_player_made_but_once_are_left_out_if_there_are_others() -> None:
    made = iter([[0, 0], [0, 1], [1, 2], [0, 3], [1, 4], [0, 5], [8, 6], [0, 7]])
    policy = Drawn(Asking(lambda: next(made)), 8)
    often, once = policy.chances(np.zeros(2, np.int64), np.zeros(2, np.int64))
    assert often.tolist() == pytest.approx([5 / 7, 2 / 7, 0, 0, 0, 0, 0, 0, 0])
    assert once.tolist() == [1 / 8] * 8 + [0]


def test_two_equal_seeds_would_hide_that_a_player_varies(grader: Grader) -> None:
    seeds = list[str]()

    class Seeded(FirstFree):
        def __init__(self, rules: Any, seed: int | str) -> None:
            seeds.append(str(seed))

    grader.policy(Seeded, 5)
    grader.policy(Seeded, 6)
    assert len(set(seeds)) == len(seeds) == 4


def test_games_with_too_many_positions_have_no_arrays() -> None:
    with Roster(LineRules(parse_game("4,5,4")), live=True) as roster, pytest.raises(PlayerError, match="too many"):
        policy_of(roster, np.zeros(5), 0)
