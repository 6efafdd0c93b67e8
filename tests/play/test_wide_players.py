"""Players on wide boards: who there is, what they see, and that none of them looks at the whole board."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from play.arena import Roster, meet
from play.players.machines import TacticalPlayer
from play.players.player import PlayerError, require_player_of
from play.players.wide import Threats, WideRandom, WideTactician
from solver.errors import GameError
from solver.games.line_rules import LineRules
from solver.games.lines import grid
from solver.games.registry import find_game
from solver.games.wide import EmptyCells, WideGame, WideRules, WideState

SIZES = [(3, 3, 3), (4, 4, 3), (4, 5, 4), (6, 6, 4), (1, 7, 3), (5, 5, 2), (5, 4, 5)]
HUGE: Any = find_game("1000,1000,5")


def after(rules: Any, *moves: str) -> Any:
    """The state after some moves."""
    state = rules.start()
    for move in moves:
        state = rules.play(state, rules.read(move))
    return state


@st.composite
def games(draw: st.DrawFn) -> tuple[LineRules, WideRules, list[int]]:
    """The same game by the rules of narrow and of wide boards, and its cells in some order."""
    (rows, columns, k), misere = draw(st.sampled_from(SIZES)), draw(st.booleans())
    narrow = LineRules(grid(rows, columns, k, misere=misere))
    return narrow, WideRules(WideGame(rows, columns, k, misere)), draw(st.permutations(range(rows * columns)))


@given(games())
def test_rules_chooses_among_the_cells_that_it_chooses_among_on_a_narrow_board(
    game: tuple[LineRules, WideRules, list[int]],
) -> None:
    narrow, wide, order = game
    one, other = narrow.start(), wide.start()
    twin, player = TacticalPlayer(narrow, random.Random(1)), WideTactician(wide, random.Random(1))
    for cell in order:
        expected = set(twin.choices(one))
        named = set(player.named(other))
        avoided = Threats().of(other)[other.mover] if narrow.game.misere else set()
        assert (named or set(other.empty) - avoided or set(other.empty)) == expected
        assert player.choose(other) in expected
        one, other = narrow.play(one, cell), wide.play(other, cell)
        if one.outcome:
            break


@given(games(), st.randoms(use_true_random=False))
def test_threats_are_the_cells_that_complete_a_line_whatever_was_taken_back(
    game: tuple[LineRules, WideRules, list[int]], rng: random.Random
) -> None:
    narrow, wide, order = game
    threats, states = Threats(), [wide.start()]
    for cell in order:
        if not states[-1].outcome:
            states.append(wide.play(states[-1], cell))
    for state in rng.choices(states, k=8):
        x, o = (sum(1 << cell for cell in state.of_side(side)) for side in (0, 1))
        expected = [{cell for cell in state.empty if narrow.game.completes(own | 1 << cell, cell)} for own in (x, o)]
        if not state.outcome:
            assert list(threats.of(state)) == expected


FOUR = ["sg500", "a1", "sh500", "c3", "si500", "e5", "sj500"]
"""Four of X in a row in the middle of the board, with nothing around them."""


def test_rules_completes_a_line_anywhere_and_else_blocks_one() -> None:
    with Roster(HUGE) as roster:
        blocks = {roster.player("rules", seed).choose(after(HUGE, *FOUR)) for seed in range(10)}
        assert {HUGE.write(cell) for cell in blocks} == {"sf500", "sk500"}
        wins = {roster.player("rules", seed).choose(after(HUGE, *FOUR, "all1000")) for seed in range(10)}
        assert wins == blocks


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_level_sees_what_it_has_to_block_and_builds_where_it_is(level: int) -> None:
    with Roster(HUGE) as roster:
        seen = [roster.player(f"oracle:{level}", seed).choose(after(HUGE, *FOUR)) for seed in range(40)]
        share = sum(HUGE.write(cell) in ("sf500", "sk500") for cell in seen) / 40
        assert share > (0.3, 0.5, 0.6, 0.7)[level - 1]
        first = roster.player(f"search:{level}", 1).choose(HUGE.start())
        assert all(400 < at < 600 for at in divmod(first, 1000))


def test_a_level_goes_on_with_its_own_line_when_the_other_side_plays_far_away() -> None:
    moves = ["sg500", "a1", "sh500", "all1000", "si500", "a1000", "sj500", "all1"]
    with Roster(HUGE) as roster:
        found = {HUGE.write(roster.player("oracle:4", seed).choose(after(HUGE, *moves))) for seed in range(10)}
    assert found <= {"sf500", "sk500"}


@pytest.mark.parametrize("who", ["random", "rules", "oracle:0", "oracle:4", "search:2"])
@pytest.mark.parametrize("name", ["1000,1000,5", "1,1000,3", "1000,1000,5,misere", "21,20,20", "1000,1000,500"])
def test_a_player_looks_at_stones_and_what_is_near_and_lists_no_board(
    who: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules: Any = find_game(name)
    looked: list[int] = []
    side = WideState.side
    monkeypatch.setattr(WideState, "side", lambda state, cell: looked.append(cell) or side(state, cell))
    monkeypatch.delattr(EmptyCells, "__iter__")
    with Roster(rules) as roster:
        player, state = roster.player(who, 1), rules.start()
        for _ in range(30):
            if not state.outcome:
                state = rules.play(state, player.choose(state))
    assert len(looked) < 30 * 1000


def test_the_same_seed_gives_the_same_game() -> None:
    def game(seed: int) -> list[int]:
        with Roster(HUGE) as roster:
            players, state = [roster.player(who, seed) for who in ("oracle:3", "rules")], HUGE.start()
            while not state.outcome and state.count < 40:
                state = HUGE.play(state, players[state.mover].choose(state))
            return list(state.played)

    assert game(1) == game(1) != game(2)


@pytest.mark.parametrize(("x", "o"), [("oracle:4", "random"), ("oracle:4", "oracle:1"), ("oracle:2", "rules")])
def test_a_higher_level_beats_a_lower_one_and_who_plans_nothing(x: str, o: str) -> None:
    with Roster(find_game("1000,1000,5")) as roster:
        meeting = meet(roster, (x, o), games=6, swap=True, seed=1)
    assert meeting.first.wins >= 5


@pytest.mark.parametrize("who", ["oracle", "oracle:5", "first", "search", "search:10", "mcts", "priority", "gomocup:x"])
def test_other_players_are_refused_in_a_line_that_names_those_there_are(who: str) -> None:
    with pytest.raises(PlayerError) as refused:
        require_player_of(HUGE, who)
    assert str(refused.value) == (
        f"only boards of up to 400 cells have the player {who!r}, and 1000,1000,5 has 1,000,000: its players are "
        "human, random, rules, oracle:0 to oracle:4 and MODULE:NAME"
    )


def test_there_is_no_oracle() -> None:
    with Roster(HUGE) as roster, pytest.raises(GameError, match=r"up to 400 cells have an oracle, .* its players are"):
        roster.oracle()


def test_a_random_player_fills_a_board_to_its_last_cell() -> None:
    rules = WideRules(WideGame(21, 21, 21))
    state, player = rules.start(), WideRandom(random.Random(1))
    while not state.outcome:
        state = rules.play(state, player.choose(state))
    assert (state.count, state.outcome.reason) == (441, "the board is full")
