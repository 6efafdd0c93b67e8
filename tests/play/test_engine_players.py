"""Levels on boards too large to solve: in order of strength, and human at the low end."""

import random
from functools import cache
from pathlib import Path

import naive
import pytest

from play.arena import Roster, find_game, meet
from play.match import Match
from play.players.glance import Glance
from play.players.levels import LEVELS, LargeBoardPlayer, NodeSearch
from play.players.machines import FirstPlayer, LevelPlayer, OraclePlayer
from play.review import review_match
from solver.games.board_rules import BoardState
from solver.games.line_rules import LineRules, LineState
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.position import Position


@cache
def roster_of(name: str, seconds: float = 0.05) -> Roster:
    roster = Roster(find_game(name), seconds=seconds)
    roster.player("oracle:9", 0)
    roster.ready()
    return roster


def choice(name: str, who: str, state: LineState, seed: int | str = 1) -> int:
    player = roster_of(name).player(who, seed)
    assert player is not None
    return player.choose(state)


def state_of(name: str, board: str) -> LineState:
    return BoardState(Position(parse_game(name), *naive.masks(board.replace("/", ""))))


@pytest.mark.parametrize("level", [4, 6, 8, 9, 10])
def test_a_higher_level_completes_a_line_and_blocks_one(level: int) -> None:
    mine = "......./.XXX.../.O.O.../..O..../......./......./......."
    theirs = "......./.OOO.../.X...X./......./..X..../...X.../......."
    for seed in range(10 if level < 10 else 1):
        assert choice("7,7,4", f"oracle:{level}", state_of("7,7,4", mine), seed) in (7, 11) or level == 4
    blocks = [choice("7,7,4", f"oracle:{level}", state_of("7,7,4", theirs), seed) in (7, 11) for seed in range(10)]
    assert sum(blocks) >= 7


def test_the_low_levels_see_what_ends_the_game_most_of_the_time_but_not_always() -> None:
    straight = state_of("15,15,5", "." * 110 + "XXXX" + "." * 31 + "OOO" + "." * 14 + "O" + "." * 62)
    for level, least in ((1, 60), (2, 75), (3, 85)):
        seen = sum(choice("15,15,5", f"oracle:{level}", straight, seed) in (109, 114) for seed in range(100))
        assert least <= seen < 100 or (level == 3 and seen == 100)


def test_slanted_lines_are_overlooked_more_often() -> None:
    game = parse_game("15,15,5")
    row, diagonal = sum(1 << 110 + i for i in range(3)), sum(1 << 110 + 16 * i for i in range(3))
    apart = 1 << 0 | 1 << 14 | 1 << 210
    seen = [
        sum(max(worths.values()) > 400 for worths in (
            Glance(game).worths(stones, apart, 0.3, random.Random(seed)) for seed in range(300)))
        for stones in (row, diagonal)
    ]  # fmt: skip
    assert 180 < seen[0] < 240
    assert 140 < seen[1] < seen[0]


@pytest.mark.parametrize("level", range(1, 10))
def test_levels_play_near_other_stones_and_first_near_the_middle(level: int) -> None:
    state = state_of("15,15,5", "." * 112 + "XO" + "." * 111)
    for seed in range(20):
        row, column = divmod(choice("15,15,5", f"oracle:{level}", state, seed), 15)
        assert max(abs(row - 7), min(abs(column - 7), abs(column - 8))) <= 2
    first = [choice("15,15,5", f"oracle:{level}", state_of("15,15,5", "." * 225), seed) for seed in range(20)]
    assert all(3 <= coordinate <= 11 for cell in first for coordinate in divmod(cell, 15))


def test_level_0_plays_anywhere() -> None:
    state = state_of("15,15,5", "." * 112 + "XO" + "." * 111)
    assert len({choice("15,15,5", "oracle:0", state, seed) for seed in range(100)}) > 60


@pytest.mark.parametrize("level", range(1, 10))
def test_in_misere_a_level_completes_no_line_that_it_sees(level: int) -> None:
    state = state_of("6,6,4,misere", "XXX...OO.O.." + "." * 24)
    lost = sum(choice("6,6,4,misere", f"oracle:{level}", state, seed) == 3 for seed in range(40))
    assert lost <= (3 if level < 5 else 1)


def test_without_compiled_code_all_levels_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NodeSearch, "compiled", lambda search, deadline: None)
    with Roster(find_game("10,10,5"), seconds=0.05) as roster:
        rules = roster.rules
        for level in range(10):
            player, state = roster.player(f"oracle:{level}", 1), rules.start()
            while player and not state.outcome:
                state = rules.play(state, player.choose(state))


@pytest.mark.parametrize("who", ["oracle", "oracle:10", "search", "search:10"])
def test_level_10_is_the_engine_with_all_its_time(who: str) -> None:
    assert isinstance(roster_of("7,7,4").player(who, 1), OraclePlayer)
    roster = roster_of("7,7,4")
    assert roster.oracle() is roster.oracle(live=True)


def test_a_named_store_of_a_board_too_large_is_refused(tmp_path: Path) -> None:
    roster = Roster(find_game("6,6,4"), str(tmp_path / "store"))
    with roster, pytest.raises(Exception, match="too many to solve"):
        roster.player("oracle:3", 1)


def test_levels_are_fast() -> None:
    """Up to level 8, by what they may visit: a core visits half a million positions a second, or more."""
    assert all(strength.nodes <= 100_000 for strength in LEVELS[:9])


@pytest.mark.parametrize(
    ("name", "games", "higher"),
    [*(("10,10,5", 40, level) for level in range(2, 8)), ("7,7,4", 100, 4),
     *(pytest.param(*case, marks=pytest.mark.slow) for case in (
         ("10,10,5", 40, 8), ("10,10,5", 40, 9), ("15,15,5", 20, 8), ("15,15,5", 20, 9), ("7,7,4", 100, 9)))],
)  # fmt: skip
def test_each_level_beats_the_one_two_below(name: str, games: int, higher: int) -> None:
    lower = higher - 2
    met = meet(roster_of(name), (f"oracle:{higher}", f"oracle:{lower}"), games, swap=True, seed=1)
    assert not met.first.forfeits + met.second.forfeits
    least = 0.5 if name == "7,7,4" else 0.55  # there X wins, whose half of the points is almost certain
    assert met.first.points > least, (met.first.wins, met.first.draws, met.first.losses)


@pytest.mark.slow
def test_the_best_level_beats_level_8() -> None:
    roster = roster_of("15,15,5", 0.3)
    met = meet(roster, ("oracle:10", "oracle:8"), 6, swap=True, seed=1)
    assert met.first.points > 0.6


def test_levels_are_of_line_rules_with_either_side_first() -> None:
    rules = LineRules(parse_game("7,7,4"), first="O")
    with Roster(rules, seconds=0.05) as roster:
        player = roster.player("oracle:5", 1)
        assert player is not None
        assert player.choose(rules.start()) in range(49)


@pytest.mark.parametrize("cells", [9, pytest.param(28, marks=pytest.mark.slow)])
def test_with_a_store_a_board_too_large_to_settle_has_the_players_of_smaller_ones(
    cells: int, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cells == 9:  # as on 28, only sooner
        monkeypatch.setattr(Game, "settled_cells", 8)
        path, game = request.getfixturevalue("store3"), "3,3,3"
    else:
        _, path = request.getfixturevalue("store28")
        game = str(path.with_name("queens4x7.toml"))
    rules = find_game(game)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TTT4_STORE", str(path))
    for store in (str(path), None):
        with Roster(rules, store) as roster:
            assert isinstance(roster.player("oracle:3", 1), LevelPlayer)
            assert isinstance(roster.player("oracle", 1), OraclePlayer)
            assert isinstance(roster.player("first", 1), FirstPlayer)
            assert isinstance(roster.player("search:3", 1), LargeBoardPlayer)
            assert roster.oracle().source == "store"
            assert roster.oracle(live=True).source == "search"
            met = meet(roster, ("oracle:9", "random"), 4, swap=True, seed=1)
            assert not met.first.forfeits + met.second.forfeits
            played = Match(rules)
            for cell in (0, 1, 8):
                played.play(played.to_move or "", cell)
            review = review_match(roster.oracle(), played)
            assert (review.exact, review.solvable) == (True, True)
    monkeypatch.delenv("TTT4_STORE")
    with Roster(rules, seconds=0.01) as roster:
        for who in ("oracle:3", "search:3"):
            assert isinstance(roster.player(who, 1), LargeBoardPlayer)
        assert roster.oracle() is roster.oracle(live=True)
        assert roster.oracle().estimates
