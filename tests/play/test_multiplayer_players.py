"""The players of games of three sides: what they must see, and max^n worked out by plain recursion."""

import random
from functools import cache

import pytest

from play.players.machines import TacticalPlayer
from play.players.mcts import MctsPlayer
from play.players.player import PlayerError
from play.players.roster import Roster
from solver.games.multiplayer import MultiplayerRules, MultiplayerState
from solver.games.registry import find_game
from solver.games.rules import points

SMALL = find_game("3p:3,3,3")
Shares = tuple[float, ...]


@cache
def outcomes(state: MultiplayerState) -> frozenset[Shares]:
    """What a position may come to if all choose a best move for themselves, however they choose among equals."""
    if state.outcome:
        return frozenset([tuple(points(SMALL.sides, state.outcome).values())])
    return frozenset().union(*(outcomes(SMALL.play(state, move)) for move in sensible(state)))


def sensible(state: MultiplayerState) -> list[int]:
    """The moves of which no other is better, whatever the others choose: max^n, without a rule for ties."""
    found = {move: [shares[state.turn] for shares in outcomes(SMALL.play(state, move))] for move in SMALL.legal(state)}
    sure = max(min(shares) for shares in found.values())
    return [move for move, shares in found.items() if max(shares) >= sure]


def positions(count: int, seed: int) -> list[MultiplayerState]:
    """Positions of random games, some of which a side has left, in which some move is a mistake."""
    rng, found = random.Random(seed), list[MultiplayerState]()
    while len(found) < count:
        state = SMALL.start()
        for _ in range(rng.randrange(3, 8)):
            if rng.random() < 0.1 and len(state.playing) == 3:
                state = SMALL.leave(state, rng.choice("XOZ"))
            state = state if state.outcome else SMALL.play(state, rng.choice(SMALL.legal(state)))
        if not state.outcome and len(sensible(state)) < len(SMALL.legal(state)):
            found.append(state)
    return found


@pytest.mark.slow
def test_on_three_by_three_no_first_move_is_a_mistake() -> None:
    assert outcomes(SMALL.start()) >= {(1 / 3, 1 / 3, 1 / 3)}
    assert len(sensible(SMALL.start())) == 9


def test_mcts_makes_no_move_that_max_n_calls_a_mistake() -> None:
    for number, state in enumerate(positions(4, 1)):
        move = MctsPlayer(SMALL, 1500, random.Random(number)).choose(state)
        assert move in sensible(state), SMALL.encode(state)


@pytest.mark.slow
def test_mcts_makes_no_move_that_max_n_calls_a_mistake_in_many_positions() -> None:
    for number, state in enumerate(positions(150, 2)):
        move = MctsPlayer(SMALL, 4000, random.Random(number)).choose(state)
        assert move in sensible(state), SMALL.encode(state)


@pytest.mark.parametrize(
    ("player", "board", "why"),
    [(player, board, why) for board, why in [
        ("XX../OO../ZZ../....", "it completes its own line first"),
        ("OO../.Z../...X/X.Z.", "it blocks the next side"),
    ] for player in ("rules", "mcts:1000")]
    + [("rules", "OO../X.../ZZ../..X.", "of two threats it blocks the one whose turn comes first"),
       ("rules", "ZZ../X.../.O../..XO", "it blocks the side after the next, too, where mcts may leave that to O")],
)  # fmt: skip
def test_a_line_is_completed_or_else_the_first_threat_in_turn_order_is_blocked(
    player: str, board: str, why: str
) -> None:
    rules = find_game("3p:4,4,3")
    with Roster(rules) as roster:
        machine = roster.player(player, 1)
        assert machine
        assert rules.write(machine.choose(rules.decode(board))) == "c1", why


def test_the_threats_of_a_side_that_left_need_no_block() -> None:
    rules = find_game("3p:5,5,3")
    state = rules.decode("OO.../...../X.Z../...../X.... Z XZ")
    found = TacticalPlayer(rules, random.Random(1)).choices(state)
    assert set(found) == {rules.read("a4")}, "X threatens a column, and O is gone"


@pytest.mark.parametrize(
    "name", ["oracle", "oracle:3", "first", "search", "search:2", "priority", "run:q", "gomocup:pbrain-ttt4"]
)
def test_a_player_that_needs_more_than_rules_is_refused_with_those_there_are(name: str) -> None:
    rules: MultiplayerRules = find_game("3p:5,5,4")  # type: ignore[assignment]
    with Roster(rules) as roster, pytest.raises(PlayerError) as refused:
        roster.player(name, 1)
    assert str(refused.value) == (
        f"only games of two sides have the player {name!r}, and 3p:5,5,4 has 3: its players are human, random, rules, "
        "mcts, mcts:N and MODULE:NAME"
    )
