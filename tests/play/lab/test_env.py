"""Environments: they show the rules of every game as they are, and are what PettingZoo and Gymnasium ask for."""

import random
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from play.picture import picture
from play.players.player import PlayerError
from play.players.roster import Roster
from solver.errors import BoardError, GameError, StoreError, Ttt4Error
from solver.games.board_rules import BoardState
from solver.games.registry import find_game

GAMES = ["3,3,3", "4,4,4", "3,3,3,misere", "cross", "fano", "duel,3,3"]
"""Among them games with holes, a game in which lines lose, and one in which stones change sides."""

OPPONENTS = [
    ("4,4,4", "random"),
    ("3,3,3,misere", "rules"),
    ("cross", "mcts:20"),
    ("3,3,3", "oracle:5"),
    ("duel,3,3", "priority"),
]

LIBRARY_WARNINGS = [
    # PettingZoo spares only its own games, by their names, from remarks on what they have in common with ours:
    "Observation is not a NumPy array",  # it is a dict, because it has a mask
    "Observation space for each agent probably should be",  # the same
    "Observation numpy array is all zeros",  # the board is empty when a game begins
    "Action mask numpy array is all zeros",  # nobody may move when a game is over
]


@contextmanager
def only_library_warnings() -> Iterator[None]:
    """Let any warning fail the test, except those that no environment of this kind can avoid."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in LIBRARY_WARNINGS:
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


def planes(name: str, board: BoardState[Any], side: int) -> np.ndarray:
    """What a side sees, put together from the text of the board."""
    game, marks = find_game(name).game, find_game(name).marks  # type: ignore[attr-defined]
    own, other = marks[side], marks[1 - side]
    squares = [square for square in range(game.rows * game.columns) if not game.holes >> square & 1]
    seen = np.zeros((game.rows, game.columns, 2), np.int8)
    for square, mark in zip(squares, str(board.position).replace("/", ""), strict=True):
        if mark in (own, other):
            seen[square // game.columns, square % game.columns, (own, other).index(mark)] = 1
    return seen


def mask(name: str, legal: list[int]) -> list[int]:
    return [int(cell in legal) for cell in range(find_game(name).game.cells)]  # type: ignore[attr-defined]


def played(one: Any, actions: random.Random, seed: int | None = None) -> list[Any]:
    """Play a game with legal actions drawn at random: all that was seen of it."""
    observation, info = one.reset(seed=seed)
    seen: list[Any] = [(observation, info)]
    over = False
    while not over:
        observation, reward, over, cut, info = one.step(actions.choice(np.flatnonzero(info["action_mask"]).tolist()))
        seen.append((observation, reward, over, cut, info))
    return seen


@pytest.mark.parametrize("make", ["env", "raw_env"])
@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo_accepts_the_environment(make: str, name: str, rl: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from pettingzoo.test import api_test, seed_test

    making = getattr(rl, make)
    with only_library_warnings():
        api_test(making(name), num_cycles=200)
        seed_test(lambda: making(name), num_cycles=50)


def test_the_spaces_of_both_agents_are_seeded_apart(rl: Any) -> None:
    both = rl.env("3,3,3")
    one, other = map(both.observation_space, both.possible_agents)
    assert one == other
    assert not {id(part) for part in one.values()} & {id(part) for part in other.values()}
    assert both.action_space("player_1") is not both.action_space("player_2")


@pytest.mark.parametrize(("name", "opponent"), OPPONENTS)
@pytest.mark.parametrize("side", ["first", "second", "either"])
def test_gymnasium_accepts_the_environment(name: str, opponent: str, side: str, rl: Any) -> None:
    from gymnasium.envs.registration import EnvSpec
    from gymnasium.utils.env_checker import check_env

    arguments = {"game": name, "opponent": opponent, "side": side, "live": True}
    with only_library_warnings():
        one = rl.OpponentEnv(**arguments)
        # With a spec, more is checked: all modes, and closing.
        one.spec = EnvSpec("ttt4-v0", rl.OpponentEnv, kwargs=arguments)
        check_env(one)


@settings(max_examples=30)
@given(st.sampled_from(GAMES), st.randoms(use_true_random=False))
def test_every_ply_shows_stones_and_legal_moves(rl: Any, name: str, draw: random.Random) -> None:
    rules, both = find_game(name), rl.env(name)
    both.reset()
    state = rules.start()
    while not rules.outcome(state):
        mover = state.position.stones % 2
        assert both.agent_selection == f"player_{mover + 1}"
        for side, agent in enumerate(both.agents):
            seen = both.observe(agent)
            np.testing.assert_array_equal(seen["observation"], planes(name, state, side))
            assert seen["action_mask"].tolist() == mask(name, rules.legal(state) if side == mover else [])
        assert set(both.rewards.values()) == {0}
        assert not any(both.terminations.values())
        move = draw.choice(rules.legal(state))
        both.step(move)
        state = rules.play(state, move)
    outcome = rules.outcome(state)
    for side, agent in enumerate(both.agents):
        seen = both.observe(agent)
        np.testing.assert_array_equal(seen["observation"], planes(name, state, side))
        assert not seen["action_mask"].any()
        wanted = 0 if outcome.winner is None else 1 if outcome.winner == rules.sides[side] else -1
        assert (both.rewards[agent], both.terminations[agent], both.truncations[agent]) == (wanted, True, False)
    for _ in range(2):
        both.step(None)
    assert not both.agents


@settings(max_examples=30)
@given(st.sampled_from(GAMES), st.sampled_from([0, 1]), st.integers(0, 1 << 32), st.randoms(use_true_random=False))
def test_an_agent_sees_its_own_turns_only(rl: Any, name: str, side: int, seed: int, draw: random.Random) -> None:
    with rl.OpponentEnv(name, "random", ("first", "second")[side]) as one:
        rules = one.both.rules
        observation, info = one.reset(seed=seed)
        reward, over = 0.0, False
        while True:
            state = one.both.board
            np.testing.assert_array_equal(observation["observation"], planes(name, state, side))
            assert observation["action_mask"].tolist() == mask(name, rules.legal(state))
            assert info.keys() == {"action_mask"}
            np.testing.assert_array_equal(info["action_mask"], observation["action_mask"])
            assert not np.shares_memory(info["action_mask"], observation["action_mask"])
            outcome = rules.outcome(state)
            assert over == (outcome is not None)
            if outcome:
                assert reward == (0 if outcome.winner is None else 1 if outcome.winner == rules.marks[side] else -1)
                return
            assert (reward, state.position.stones % 2) == (0, side)
            observation, reward, over, cut, info = one.step(draw.choice(rules.legal(state)))
            assert cut is False


@pytest.mark.filterwarnings("ignore:.*Illegal move made")  # PettingZoo says so
@pytest.mark.parametrize("taken", [4, np.int32(4)])
def test_an_illegal_move_loses(taken: int, rl: Any) -> None:
    both = rl.env("3,3,3")
    both.reset()
    both.step(4)
    both.step(taken)
    assert (both.rewards, both.unwrapped.board.position.stones) == ({"player_1": 0, "player_2": -1}, 1)
    assert all(both.terminations.values())
    assert not any(both.observe(agent)["action_mask"].any() for agent in both.agents)
    for _ in range(2):
        both.step(None)
    assert not both.agents


def test_an_action_without_a_game_or_a_cell_and_one_without_wrappers_that_is_illegal_are_refused(rl: Any) -> None:
    both, bare = rl.env("3,3,3"), rl.raw_env("3,3,3")
    both.reset()
    bare.reset()
    with rl.OpponentEnv("3,3,3") as one:
        with pytest.raises(rl.ResetNeeded, match="call reset"):
            one.step(0)
        one.reset(seed=1)
        for action in (9, -1):
            with pytest.raises(AssertionError, match="action is not in action space"):
                both.step(action)
            with pytest.raises(BoardError, match=f"no cell number {action}"):
                bare.step(action)
            with pytest.raises(BoardError, match=f"no cell number {action}"):
                one.step(action)
        with pytest.raises(TypeError):
            one.step(4.0)
        assert one.step(4)[2] is False
    bare.step(4)
    with pytest.raises(BoardError, match="cell 'b2' is taken"):
        bare.step(4)
    assert (bare.agent_selection, bare.board.position.stones, bare.over) == ("player_2", 1, False)


def test_against_an_opponent_an_illegal_move_loses_and_says_why(rl: Any) -> None:
    with rl.OpponentEnv("3,3,3", "random", "second") as one:
        observation, _ = one.reset(seed=1)
        taken = int(np.flatnonzero(observation["action_mask"] == 0)[0])
        after, reward, over, cut, info = one.step(taken)
        assert (reward, over, cut) == (-1, True, False)
        assert re.fullmatch(r"cell '..' is taken: choose an empty one", info["illegal"])
        assert not info["action_mask"].any()
        np.testing.assert_array_equal(after["observation"], observation["observation"])
        with pytest.raises(rl.ResetNeeded, match="no game is under way"):
            one.step(taken)
        assert "illegal" not in one.reset()[1]


@pytest.mark.parametrize(("name", "opponent"), OPPONENTS)
def test_the_same_seed_and_actions_give_the_same_games(name: str, opponent: str, rl: Any) -> None:
    from gymnasium.utils.env_checker import data_equivalence

    one, other = (rl.OpponentEnv(name, opponent, "either", live=True) for _ in range(2))
    played(other, random.Random(0), seed=0)  # what came before a seed does not matter
    draws = random.Random(7), random.Random(7)
    for seed in (5, None, None):  # a seed settles the games that follow it too
        assert data_equivalence(played(one, draws[0], seed), played(other, draws[1], seed), exact=True)


def test_opponents_are_ready_at_first_and_forget_each_game(monkeypatch: pytest.MonkeyPatch, rl: Any) -> None:
    calls: list[str] = []
    for name in ("ready", "forget"):
        monkeypatch.setattr(Roster, name, lambda roster, name=name: calls.append(name))
    with rl.OpponentEnv("3,3,3", "random") as one:
        played(one, random.Random(1))
        played(one, random.Random(1))
    assert calls == ["ready", "forget", "forget"]


def test_the_side_says_who_begins_and_other_seeds_give_other_games(rl: Any) -> None:
    def seen(side: str) -> list[np.ndarray]:
        with rl.OpponentEnv("4,4,4", "random", side) as one:
            return [one.reset(seed=seed)[0]["observation"] for seed in range(40)]

    assert {int(board.sum()) for board in seen("first")} == {0}
    assert {int(board.sum()) for board in seen("second")} == {1}
    assert 8 < sum(int(board.sum()) for board in seen("either")) < 32
    assert len({board.tobytes() for board in seen("second")}) > 5
    with rl.OpponentEnv("4,4,4", "random", "second") as one:
        one.reset(seed=1)
        assert len({one.reset()[0]["observation"].tobytes() for _ in range(20)}) > 5


class Last:
    def __init__(self, rules: Any, seed: int) -> None:
        self.rules = rules

    def choose(self, state: Any) -> int:
        return int(self.rules.legal(state)[-1])


class Stubborn(Last):
    """Takes the first cell, whether it is empty or not."""

    def choose(self, state: Any) -> int:
        return 0


def test_an_opponent_can_be_a_class_or_an_object_of_ones_own(rl: Any) -> None:
    for opponent in (Last, Last(find_game("3,3,3"), 0)):
        with rl.OpponentEnv("3,3,3", opponent, "second") as one:
            observation, _ = one.reset()
            assert np.argwhere(observation["observation"]).tolist() == [[2, 2, 1]]
            one.step(0)
            assert str(one.both.board.position) == "O../.../.XX"


def test_an_opponent_that_makes_no_legal_move_is_an_error_of_its_own(rl: Any) -> None:
    with rl.OpponentEnv("3,3,3", Stubborn) as one:
        one.reset()
        with pytest.raises(PlayerError, match="the opponent made no move: cell 'a1' is taken"):
            one.step(0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [({"opponent": "human"}, PlayerError, "a human can play only at the terminal"),
     ({"opponent": "nobody"}, PlayerError, "no player 'nobody'"),
     ({"game": "duel,3,3"}, PlayerError, "only games of lines have the player 'rules'"),
     ({"game": "5,5"}, GameError, "cannot read game '5,5'"),
     ({"game": "nim:Nim"}, GameError, "only games on a board have an environment, and nim:Nim is not one"),
     ({"side": "X"}, Ttt4Error, "no side 'X': choose 'first', 'second', 'either'"),
     ({"render_mode": "rgb_array"}, Ttt4Error, "no render_mode 'rgb_array': choose None, 'ansi', 'human'")],
)  # fmt: skip
def test_bad_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str, rl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))  # where nim.py is
    with pytest.raises(error, match=re.escape(message)):
        rl.OpponentEnv(**arguments)


def test_an_opponent_asks_the_store_until_it_is_closed(store3: Path, rl: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # without a store, the oracle warns that it searches
        one = rl.OpponentEnv("3,3,3", "oracle", store=str(store3))
    one.reset()
    assert one.step(4)[2] is False
    one.close()
    one.close()
    one.reset()
    with pytest.raises(StoreError, match="was closed"):
        one.step(0)


def test_ansi_returns_the_board_and_human_prints_every_ply(capsys: pytest.CaptureFixture[str], rl: Any) -> None:
    both = rl.env("3,3,3", render_mode="ansi")
    both.reset()
    both.step(4)
    assert both.render() == picture(both.unwrapped.rules, both.unwrapped.board)
    assert capsys.readouterr().out == ""
    with rl.OpponentEnv("3,3,3", "random", render_mode="human") as one:
        one.reset(seed=1)
        one.step(4)
        boards = capsys.readouterr().out.split("\n\n")
        assert one.render() is None
        assert boards[-2:] == [picture(one.both.rules, one.both.board), ""]
        assert len(boards) == 4
        assert capsys.readouterr().out.startswith(boards[-2])


@pytest.mark.parametrize("make", ["raw_env", "OpponentEnv"])
def test_rendering_without_a_mode_warns(make: str, rl: Any) -> None:
    one = getattr(rl, make)("3,3,3")
    one.reset()
    with pytest.warns(UserWarning, match="choose 'ansi' or 'human'"):
        assert one.render() is None


@pytest.mark.parametrize("missing", ["gymnasium", "pettingzoo"])
def test_without_the_libraries_one_line_says_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "play.lab.env", raising=False)
    with pytest.raises(ImportError, match=rf"^.*{missing}.*: pip install 'ttt4\[rl\]'$"):
        import_module("play.lab.env")
