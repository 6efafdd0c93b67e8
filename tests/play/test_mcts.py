"""Random games of lines in compiled code: legal, reproducible, right where the truth is known, and quick."""

import random
from collections.abc import Iterator
from functools import cache
from time import thread_time
from typing import TYPE_CHECKING

import naive
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from play.arena import Roster, find_game
from play.players.mcts import LineMctsPlayer, LinePlayouts, MctsPlayer
from solver.games.board_rules import BoardState
from solver.games.line_rules import LineRules, LineState
from solver.games.notation import parse_game
from solver.games.position import Position

if TYPE_CHECKING:
    from solver.engine.playouts import Playouts

GAMES = ["3,3,3", "3,3,3,misere", "4,4,3", "6,6,4", "6,6,4,misere", "10,10,5", "2,3,2", "1,1,1", "1,9,9", "4,9,7",
         "fano", "fano,misere", "torus4", "cube3", "corners"]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load the compiled code, which takes the better part of a second."""
    made("3,3,3").best(0, 0, 1, 1)


@cache
def made(name: str) -> "Playouts":
    from solver.engine.playouts import Playouts  # only now: collecting tests does without compiled code

    return Playouts(parse_game(name))


def sides(state: LineState) -> tuple[int, int]:
    x, o = state.position.x, state.position.o
    return (x, o) if state.position.mover == "X" else (o, x)


def state_of(name: str, board: str) -> LineState:
    return BoardState(Position(parse_game(name), *naive.masks(board.replace("/", ""))))


@st.composite
def positions(draw: st.DrawFn, names: list[str]) -> tuple[str, LineState]:
    """Draw a game, and a position of it in which the game goes on."""
    name = draw(st.sampled_from(names))
    rules, rng = LineRules(parse_game(name)), random.Random(draw(st.integers(0, 1 << 30)))
    state = rules.start()
    for _ in range(draw(st.integers(0, rules.game.cells - 1))):
        after = rules.play(state, rng.choice(rules.legal(state)))
        if after.outcome:
            break
        state = after
    return name, state


@given(positions(GAMES), st.integers(1, 300), st.integers(0))
def test_shares_are_of_empty_cells_and_add_up_to_1(where: tuple[str, LineState], playouts: int, seed: int) -> None:
    shares = made(where[0]).shares(*sides(where[1]), playouts, seed)
    assert set(shares) <= set(where[1].empty)
    assert sum(shares.values()) == pytest.approx(1)


@settings(max_examples=30)
@given(positions(GAMES), st.integers(0))
def test_the_same_seed_gives_the_same_shares_whatever_was_played_before(
    where: tuple[str, LineState], seed: int
) -> None:
    name, state = where
    first = made(name).shares(*sides(state), 200, seed)
    made(name).shares(0, 0, 50, seed + 1)
    fresh = made.__wrapped__(name).shares(*sides(state), 200, seed)
    assert made(name).shares(*sides(state), 200, seed) == first == fresh


def test_other_seeds_give_other_shares() -> None:
    assert len({tuple(made("10,10,5").shares(0, 0, 100, seed).items()) for seed in range(10)}) > 5


@given(positions(["6,6,4", "10,10,5", "4,9,7", "torus4", "cube3"]))
def test_a_line_is_completed_at_once_and_else_one_is_stopped(where: tuple[str, LineState]) -> None:
    name, state = where
    own, other = sides(state)
    game = state.position.game
    wins = [cell for cell in state.empty if game.completes(own | 1 << cell, cell)]
    threats = [cell for cell in state.empty if game.completes(other | 1 << cell, cell)]
    assume(wins or threats)
    assert made(name).best(own, other, 20, 1) in (wins or threats)


@given(positions(["3,3,3,misere", "6,6,4,misere"]))
def test_in_misere_no_line_is_completed_where_that_can_be_helped(where: tuple[str, LineState]) -> None:
    name, state = where
    own, other = sides(state)
    game = state.position.game
    safe = [cell for cell in state.empty if not game.completes(own | 1 << cell, cell)]
    assert made(name).best(own, other, 400, 1) in (safe or state.empty)


@pytest.mark.parametrize(("empty", "playouts"), [(6, 20_000), pytest.param(10, 60_000, marks=pytest.mark.slow)])
@settings(max_examples=30)
@given(where=positions(["3,3,3", "3,3,3,misere", "4,4,3"]), seed=st.integers(0, 1 << 40))
def test_playouts_keep_the_outcome_near_the_end(
    empty: int, playouts: int, where: tuple[str, LineState], seed: int
) -> None:
    name, state = where
    assume(len(state.empty) <= empty)
    rules = naive.Game.named(name)
    board = naive.board(rules, state.position.x, state.position.o)
    assert made(name).best(*sides(state), playouts, seed) in naive.keeping(rules, board)


def test_a_forced_win_is_favoured() -> None:
    three = state_of("10,10,5", "." * 42 + "XXX" + "." * 17 + "OO" + "." * 10 + "O" + "." * 25)
    shares = made("10,10,5").shares(*sides(three), 1_000, 1)
    assert max(shares, key=shares.__getitem__) in (41, 45)
    assert max(shares.values()) == 1


@pytest.fixture
def roster() -> Iterator[Roster]:
    with Roster(find_game("7,7,4")) as made:
        yield made


def test_mcts_of_lines_is_compiled_and_that_of_other_games_is_not(roster: Roster) -> None:
    assert isinstance(roster.player("mcts", 1), LineMctsPlayer)
    with Roster(LineRules(parse_game("30,30,5"))) as large:
        assert isinstance(large.player("mcts:2", 1), MctsPlayer)


def test_without_compiled_code_mcts_plays_in_plain_python(monkeypatch: pytest.MonkeyPatch, roster: Roster) -> None:
    monkeypatch.setattr(LinePlayouts, "compiled", lambda loader, deadline: None)
    player = roster.player("mcts:20", 1)
    assert player is not None
    assert player.choose(roster.rules.start()) in range(49)


def result(rules: LineRules, x: LineMctsPlayer | MctsPlayer, o: LineMctsPlayer | MctsPlayer) -> str | None:
    state = rules.start()
    while not state.outcome:
        state = rules.play(state, (o if state.position.stones % 2 else x).choose(state))
    return state.outcome.winner


@pytest.mark.parametrize(
    ("name", "playouts", "games"),
    [("7,7,4", 40, 6), pytest.param("6,6,4,misere", 200, 8, marks=pytest.mark.slow),
     pytest.param("15,15,5", 200, 2, marks=pytest.mark.slow)],
)  # fmt: skip
def test_compiled_playouts_beat_as_many_plain_ones(name: str, playouts: int, games: int) -> None:
    rules, points = LineRules(parse_game(name)), 0.0
    compiled = LinePlayouts(rules.game)
    for seed in range(games):
        ours = LineMctsPlayer(compiled, rules, playouts, random.Random(f"{seed}"))
        plain = MctsPlayer(rules, playouts, random.Random(f"plain {seed}"))
        winner = result(rules, plain, ours) if seed % 2 else result(rules, ours, plain)
        points += 0.5 if winner is None else float(winner == "XO"[seed % 2])
    assert points >= 0.75 * games


def test_compiled_playouts_are_many_times_as_fast_as_plain_ones() -> None:
    rules, spent = LineRules(parse_game("10,10,5")), []
    state = rules.play(rules.start(), 44)
    compiled = LineMctsPlayer(LinePlayouts(rules.game), rules, 300, random.Random(1))
    compiled.choose(state)
    for player in (compiled, MctsPlayer(rules, 300, random.Random(1))):
        start = thread_time()
        player.choose(state)
        spent.append(thread_time() - start)
    assert spent[0] * 10 < spent[1]


def test_the_largest_number_of_playouts_stays_within_memory() -> None:
    start = state_of("6,6,4", "." * 36)
    assert made("6,6,4").best(*sides(start), 1_000_000, 1) in start.empty
