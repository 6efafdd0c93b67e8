"""What players are worth: the same as plain recursion with fractions says, and shown by games that can be replayed."""

from functools import cache
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab import NEAR, POLICIES, SMALL, FirstFree, Told, alike, as_array, grader, positions_of, scattered, twin
from matches import rules_of

from play.lab import exploiter
from play.lab.policies import Policy, Rows
from play.lab.values import between, worth_of
from play.records.text import read_record
from solver.games.lines import grid

TINY = ["2,2,2", "2,2,2,misere", "2,3,2", "2,3,3", "2,3,3,misere", "1,5,3,misere", "1,1,1"]
SEEDS = st.integers(0, 1 << 32)

pytestmark = pytest.mark.usefixtures("home")


def assert_worth(name: str, player: Any, chances: naive.Chances) -> None:
    """The grade of a player has the values of plain recursion."""
    found, rules = grader(name).grade(player), twin(name)
    perfect = naive.result_of(rules, rules.empty)
    entitled = {"X": perfect, "O": -perfect}
    worth = {side: naive.worth(rules, side, chances) for side in "XO"}
    assert found.exact
    assert found.perfect == perfect
    for side in "XO":
        assert found.value[side] == pytest.approx(float(worth[side]), abs=NEAR)
        assert found.given_away[side] == pytest.approx(float(entitled[side] - worth[side]), abs=NEAR)
        against = naive.worth(rules, side, chances, naive.at_random)
        assert found.v_random[side] == pytest.approx(float(against), abs=NEAR)
    assert found.nash_conv == pytest.approx(float(-sum(worth.values())), abs=NEAR)


@pytest.mark.parametrize("name", SMALL)
def test_values_of_arrays_are_those_of_the_same_chances_on_every_image(name: str) -> None:
    chances = alike(name, POLICIES["careless"])
    assert_worth(name, as_array(name, chances), chances)


@settings(max_examples=30)
@given(st.sampled_from(TINY), SEEDS, st.booleans())
def test_any_chances_have_the_values_of_plain_recursion(name: str, seed: int, careless: bool) -> None:
    chances = scattered(seed, careless=careless)
    assert_worth(name, Told(twin(name), chances), chances)


@settings(max_examples=30)
@given(st.sampled_from(TINY), SEEDS)
def test_a_symmetric_player_is_worth_the_same_whether_equal_positions_count_as_one_or_not(name: str, seed: int) -> None:
    positions = positions_of(name)
    array = np.random.default_rng(seed).random(positions.legal.shape) * positions.legal
    policy = Rows(positions, array / array.sum(axis=1, keepdims=True), "array")
    worths = [worth_of(policy, side) for side in (0, 1)]
    policy.symmetric = False
    for side, worth in enumerate(worths):
        alone = worth_of(policy, side)
        assert worth.value == pytest.approx(alone.value, abs=NEAR)
        assert worth.against_random() == pytest.approx(alone.against_random(), abs=NEAR)
        assert worth.met <= alone.met


@settings(max_examples=30)
@given(st.sampled_from([*TINY, "2,4,3"]), SEEDS, SEEDS, st.booleans())
def test_the_result_between_two_players_is_that_of_plain_recursion(
    name: str, one: int, other: int, careless: bool
) -> None:
    chances = scattered(one), scattered(other, careless=careless)
    x, o = (grader(name).policy(Told(twin(name), each)) for each in chances)
    assert between(x, o) == pytest.approx(float(naive.worth(twin(name), "X", *chances)), abs=NEAR)


@pytest.mark.parametrize("policy", ["first", "scattered", "careless"])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("name", [*SMALL, "2,3,2"])
def test_a_refutation_is_a_shortest_loss(name: str, policy: str, symmetric: bool) -> None:
    rules, chances, group = twin(name), POLICIES[policy], positions_of(name).group
    if symmetric:
        chances = alike(name, chances)
    found = grader(name).grade(as_array(name, chances) if symmetric else Told(rules, chances))
    entitled = {"X": found.perfect, "O": -(found.perfect or 0)}
    for side, right in entitled.items():
        length = naive.shortest_loss(rules, side, chances, right)
        record = found.refutations.get(side)
        assert (record and len(record.match.moves)) == length
        if record is None:
            continue
        assert record.tags[side] == found.player
        match = read_record(str(record), rules=rules_of(name)).match
        board = rules.empty
        for move in match.moves:
            own = [g for g in group if naive.turned(board, g) == board] if symmetric else [range(rules.cells)]
            assert naive.mover(board) != side or any(chances(board)[g[move]] > 0 for g in own)
            board = naive.claim(board, move)
        if naive.over(rules, board):
            assert naive.result(rules, board, side) < right
            assert match.outcome.winner == naive.winner(rules, board)
        else:
            assert naive.mover(board) == side != match.outcome.winner
            assert naive.fouls(board, chances)
    lengths = [len(record.match.moves) for record in found.refutations.values()]
    assert (found.refutation and len(found.refutation.match.moves)) == min(lengths, default=None)


@pytest.mark.parametrize(("name", "policy"), [("2,4,3", "scattered"), ("2,4,3,misere", "careless"), ("2,4,3", "first")])
def test_an_exploiter_gets_from_any_player_on_average_what_it_promises(name: str, policy: str) -> None:
    rules, chances, game = twin(name), POLICIES[policy], rules_of(name)
    best = exploiter(name, Told(rules, chances), live=True)

    @cache
    def chosen(board: str) -> list[int]:
        cell = best.choose(game.decode(f"{board[:4]}/{board[4:]}"))
        return [int(cell == other) for other in range(8)]

    for side in "XO":
        assert best.value[side] == pytest.approx(float(naive.worth(rules, side, chosen, chances)), abs=NEAR)


@pytest.mark.parametrize("name", SMALL)
def test_an_exploiter_of_a_symmetric_player_gets_on_average_what_it_promises(name: str) -> None:
    chances = alike(name, scattered(4))
    best = grader(name).exploiter(as_array(name, chances))
    policy = grader(name).policy(best)
    opponent = grader(name).policy(Told(twin(name), chances))
    assert between(policy, opponent) == pytest.approx(best.value["X"], abs=NEAR)
    assert -between(opponent, policy) == pytest.approx(best.value["O"], abs=NEAR)


def test_an_exploiter_makes_legal_moves_where_the_player_never_goes() -> None:
    best, rules = grader("2,4,3").exploiter(FirstFree()), rules_of("2,4,3")
    for board in naive.open_boards(twin("2,4,3")):
        state = rules.decode(f"{board[:4]}/{board[4:]}")
        assert best.choose(state) in rules.legal(state)


def test_what_is_met_is_what_play_against_the_player_leads_to() -> None:
    rules = twin("3,3,3")
    found = grader("3,3,3").grade(FirstFree())
    for side in "XO":
        met, now = 0, {rules.empty}
        while now:
            met += len(now)
            now = {
                after
                for board in now
                for after in naive.children(rules, board)
                if not naive.over(rules, after)
                and (naive.mover(board) != side or after == naive.claim(board, board.index(".")))
            }
        assert found.met[side] == met


def test_a_player_is_asked_about_few_positions_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Uniform(Policy):
        most = 0

        def _asked(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
            Uniform.most = max(Uniform.most, len(x))
            free = ~(x | o)[:, None] >> np.arange(self.game.cells) & 1
            return free / free.sum(axis=1, keepdims=True)

    whole = worth_of(Uniform(grid(3, 3, 3), "uniform"), 0)
    assert Uniform.most > 7
    Uniform.most, told = 0, list[str]()
    monkeypatch.setattr("play.lab.values._AT_ONCE", 7)
    parts = worth_of(Uniform(grid(3, 3, 3), "uniform"), 0, report=lambda what, share: told.append(what))
    assert (parts.value, parts.met, Uniform.most) == (whole.value, whole.met, 7)
    assert told[-1] == "value as X, ply 8"
