"""The arena with three players: who sits where, what a game is worth, and what follows when one of them fails."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from sessions import piped

from play.arena import Meeting, Roster, Standing, find_game, meet, round_robin
from play.arena.meetings import seatings
from play.arena.tables import cross_table
from play.cli.main import main
from play.players.player import PlayerError

Run = Callable[..., Any]
GAME = ["--game", "3p:4,4,3"]
THREE = [*GAME, "--x", "random", "--o", "rules", "--z", "random"]


class Broken:
    """A player that fails at its second move."""

    def __init__(self, rules: Any, seed: object) -> None:
        self.rules, self.moves = rules, 0

    def choose(self, state: Any) -> int:
        self.moves += 1
        if self.moves == 2:
            raise ValueError("no idea")
        return int(self.rules.legal(state)[-1])


@pytest.mark.parametrize("sides", ["XO", "XOZ", "XOZT"])
def test_every_player_has_every_side_equally_often_in_each_group_of_orders(sides: str) -> None:
    orders = list(seatings(sides))
    assert orders[0] == tuple(sides)
    assert len(set(orders)) == len(orders) == {2: 2, 3: 6, 4: 24}[len(sides)]
    for first in range(0, len(orders), len(sides)):
        for player in range(len(sides)):
            assert {order[player] for order in orders[first : first + len(sides)]} == set(sides)


def test_players_take_turns_on_all_sides_and_share_one_point_a_game() -> None:
    seen = Counter[tuple[str, str]]()

    class Seated:
        def __init__(self, rules: Any, seed: object) -> None:
            self.rules, self.name, self.side = rules, type(self).__name__, str(seed)[-1]
            seen[type(self).__name__, self.side] += 1

        def choose(self, state: Any) -> int:
            assert self.rules.to_move(state) == self.side
            return int(self.rules.legal(state)[0])

    players = [type(name, (Seated,), {}) for name in "ABC"]
    with Roster(find_game("3p:4,4,3")) as roster:
        met = meet(roster, players, 12, swap=True, seed=1)
    assert seen == {(name, side): 4 for name in "ABC" for side in "XOZ"}
    assert sum(player.scored for player in met.players) == pytest.approx(12)
    assert all(player.games == 12 for player in met.players)


def test_the_rules_player_beats_two_random_ones_wherever_it_sits() -> None:
    with Roster(find_game("3p:4,4,3")) as roster:
        met = meet(roster, ("rules", "random", "random"), 12, swap=True, seed=1)
    assert met.players[0].wins >= 10


def test_one_that_forfeits_leaves_and_the_others_play_on() -> None:
    with Roster(find_game("3p:4,4,4")) as roster:
        met = meet(roster, (Broken, "rules", "rules"), 6, swap=True, seed=1)
    broken, *others = met.players
    assert [forfeit.game for forfeit in broken.forfeits] == [1, 2, 3, 4, 5, 6]
    assert (broken.losses, broken.moves) == (6, 6)
    assert min(met.lengths) > 6, "they go on without it"
    assert [one.draws + one.wins + one.losses for one in others] == [6, 6]
    assert sum(one.scored for one in others) == 6.0, "a draw after it left is shared by two"
    assert not met.all_forfeited


def test_where_all_but_one_forfeit_nothing_was_measured() -> None:
    with Roster(find_game("3p:4,4,4")) as roster:
        met = meet(roster, (Broken, "rules", Broken), 3, swap=True, seed=1)
    assert met.all_forfeited
    assert met.players[1].wins == 3


def test_the_same_seed_gives_the_same_games() -> None:
    def games() -> list[Any]:
        with Roster(find_game("3p:3,3,3")) as roster:
            met = round_robin(roster, ["random", "rules", "mcts:3", "mcts:5"], 6, seed="s")
        return [[(one.name, one.wins, one.draws, one.losses) for one in each.players] + [each.lengths] for each in met]

    assert games() == games()


def test_a_meeting_needs_as_many_players_as_there_are_sides() -> None:
    with Roster(find_game("3p:3,3,3")) as roster, pytest.raises(PlayerError, match="3 sides: name as many players"):
        meet(roster, ("random", "random"), 3, swap=True, seed=1)


def test_a_cross_table_has_the_points_and_who_came_out_ahead_of_whom() -> None:
    met = Meeting(tuple(map(Standing, "abc")))
    met.count((1, 0, 0), 9)
    met.count((1 / 3, 1 / 3, 1 / 3), 9)
    met.count((0, 1 / 2, 1 / 2), 9)
    met.count((0, 1, 0), 9)
    lines = cross_table("abc", [met]).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["1", "b", "45.8", "-", "62", "62"], ["2", "a", "33.3", "38", "-", "50"], ["3", "c", "20.8", "38", "50", "-"],
    ]  # fmt: skip
    assert "all: points in percent: 1 for a win, an equal share for a draw; 33 is average." in lines
    assert met.as_dict()["ahead"] == [[None, 1.5, 2.0], [2.5, None, 2.5], [2.0, 1.5, None]]


def test_four_players_meet_three_at_a_time(run: Run) -> None:
    ran = run(main, "arena", *GAME, "--all", "random,rules,mcts:2,mcts:5", "--games", 6)
    rows = [line.split() for line in ran.out.splitlines()[1:5]]
    assert (ran.code, rows[0][1], len(rows[0])) == (0, "rules", 7)
    assert sum(float(row[2]) for row in rows) == pytest.approx(400 / 3, abs=0.3)
    assert max(map(len, ran.out.splitlines())) <= 80


def test_a_table_of_one_meeting_names_all_sides(run: Run) -> None:
    ran = run(main, "arena", *THREE, "--games", 6)
    assert [line.split()[:2] for line in ran.out.splitlines()[1:4]] == [
        ["random", "X"],
        ["rules", "O"],
        ["random", "Z"],
    ]
    swapped = json.loads(run(main, "arena", *THREE, "--games", 6, "--swap", "--json").out)
    assert [each["games"] for each in swapped["meetings"][0]["players"]] == [6, 6, 6]


@pytest.mark.parametrize(
    ("words", "why"),
    [([*GAME, "--x", "random", "--o", "rules"], "name 3 players with --x, --o, --z, or several with --all"),
     ([*GAME, "--all", "random,rules"], "name 3 players"),
     ([*THREE, "--swap", "--games", "10"], "--games 10 is no multiple of 3"),
     (["--x", "random", "--o", "random", "--z", "random"], "--z has no effect: 4,4,4 has 2 sides"),
     ([*THREE, "--t", "random"], "--t has no effect: 3p:4,4,3 has 3 sides"),
     ([*GAME, "--x", "random", "--o", "rules", "--z", "oracle"], "only games of two sides have the player 'oracle'")],
)  # fmt: skip
def test_what_three_sides_do_not_have_is_refused(words: list[str], why: str) -> None:
    ran = piped("", "arena", *words)
    assert (ran.returncode, ran.stdout, why in ran.stderr) == (2, "", True)
