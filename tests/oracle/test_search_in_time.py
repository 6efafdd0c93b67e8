"""Live search with too little time: what it claims is so, and what it does not know it does not claim."""

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path

import naive
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from kinds import random_position

from oracle import Analysis, NotSettled, Oracle
from solver.games.lines import grid
from solver.games.notation import parse_game
from solver.games.position import Position

LARGE = naive.Game(5, 6, 5)
LARGE_GAME = grid(5, 6, 5)
"""A board too large to settle, though as small as such boards are: what makes no difference here is cheap."""
LINES = sorted(naive.lines(LARGE))
LOOKS = [0, 1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 130, 200, 300, 500, 800, 1300]
CUT = {"mainline": (), "mainline_complete": False}
HURRY = 4  # times 256 nodes: enough to look two plies ahead, as the wins and threats here need


@st.composite
def nearly_full_lines(draw: st.DrawFn) -> tuple[set[int], int, list[int]]:
    """All but one cell of a line of the large board, that one, and five cells elsewhere."""
    line = draw(st.sampled_from(LINES))
    gap = draw(st.sampled_from(line))
    elsewhere = st.integers(0, LARGE.cells - 1).filter(lambda cell: cell not in line)
    return set(line) - {gap}, gap, draw(st.lists(elsewhere, min_size=5, max_size=5, unique=True))


def large_position(x: set[int], o: set[int]) -> Position:
    return Position(LARGE_GAME, sum(1 << cell for cell in x), sum(1 << cell for cell in o))


def gaps(own: set[int], their: set[int]) -> set[int]:
    """The cells that complete a line of `own` on the large board."""
    missing = [set(line) - own for line in LINES if not their & set(line)]
    return {cell for left in missing if len(left) == 1 for cell in left}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """A clock that goes on by a second whenever it is looked at, so that `seconds` is a number of looks."""
    look = count().__next__
    for module in ("search.live", "engine.live"):
        monkeypatch.setattr(f"solver.{module}.monotonic", look)
    monkeypatch.setattr("solver.engine.live.takes", lambda game: False)  # as it is until compiled code is loaded
    return look


@pytest.fixture
def each_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.search.live._NODES_A_LOOK_AT_THE_CLOCK", 1)


def hurried(name: str, looks: int) -> Oracle:
    return Oracle(name, live=True, seconds=looks)


def open_positions(name: str, number: int, least: int) -> list[Position]:
    """Random positions of a game that is on, after so many plies or more."""
    game, rng = parse_game(name), random.Random(name)
    plies = (rng.randint(least, game.cells - 1) for _ in range(number))
    return [Position(game, *random_position(game, rng, count)) for count in plies]


def assert_claims_are_so(found: Analysis, truth: Analysis) -> None:
    """What is exact is all so; else each score is that is told, and of a win it is known how long it takes at most."""
    true_scores = {move.move: move.score for move in truth.moves}
    assert {move.move for move in found.moves} == set(true_scores)
    for move in found.moves:
        assert move.score == true_scores[move.move] or (move.score is None and not found.exact), (found, truth)
    if found.exact:
        assert found._replace(**CUT, source="store", proof=None) == truth._replace(**CUT)
    elif found.bound:
        assert truth.score is not None
        assert found.score is not None
        assert 0 < found.score <= truth.score
        assert found.plies != 1, "nothing is sooner than at once"
    else:
        assert found.score in (None, truth.score)
    assert ("at most" in found.verdict) == found.bound
    assert set(found.best) == {move.move for move in found.moves if move.best}
    if found.score is not None:
        assert set(found.best) == {move.move for move in found.moves if move.score == found.score}
    assert bool(found.best) == found.settled or found.proof
    assert bool(found.mainline) == found.exact or found.proof
    assert set(found.mainline[:1]) <= set(found.best)


@pytest.mark.usefixtures("each_node")
@pytest.mark.parametrize("name", ["3,4,3", "3,4,3,misere"])
def test_every_score_that_is_claimed_is_so_whenever_time_runs_out(name: str, store_of: Callable[[str], Path]) -> None:
    exact, refused = [], []
    with Oracle(name, store_of(name)) as store:
        for position in open_positions(name, 7, least=2):
            truth = store.analysis(position)
            for looks in LOOKS:
                found = hurried(name, looks).analysis(position)
                told = hurried(name, looks).get_score(position, None)
                assert_claims_are_so(found, truth)
                assert told in (truth.score, None)
                exact.append(found.exact)
                refused.append(told is None)
                if told is None:
                    with pytest.raises(NotSettled, match="was not settled"):
                        hurried(name, looks).score(position)
    assert 0 < sum(exact) < len(exact)
    assert 0 < sum(refused) < len(refused)


@pytest.mark.usefixtures("each_node")
@pytest.mark.parametrize("name", ["3,4,3", "3,4,3,misere"])
def test_asking_again_misleads_nobody(name: str, store_of: Callable[[str], Path]) -> None:
    with Oracle(name, store_of(name)) as store:
        for position in open_positions(name, 15, least=2):
            truth, oracle = store.analysis(position), hurried(name, 120)
            for _ in range(100):
                found = oracle.analysis(position)
                assert_claims_are_so(found, truth)
                if found.exact and len(found.mainline) > 1:
                    assert found._replace(source="store") == truth
                    break


@pytest.mark.usefixtures("each_node")
@pytest.mark.parametrize("name", ["3,4,3", "5,5,4", "6,6,4"])
def test_no_answer_takes_longer_than_its_time(name: str, clock: Callable[[], int]) -> None:
    for position in open_positions(name, 3, least=5):
        for looks in LOOKS:
            oracle = hurried(name, looks)
            for ask in (oracle.analysis, oracle.best_move, oracle.get_score):
                asked = clock()
                ask(position, *[None] * (ask == oracle.get_score))
                assert clock() - asked <= looks + 4 + 2 * oracle.estimates, "there it may search twice"


@pytest.mark.parametrize("looks", [0, 2])
@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("4,4,4,misere", "16"),
        ("5,5,4,misere", "25"),
        ("5,5,4", "5/.XO../5/5/5"),
        ("15,15,5", "225"),
        ("20,20,5,misere", "400"),
    ],
)  # fmt: skip
def test_what_is_not_settled_is_said_so_and_still_the_oracle_makes_a_move(name: str, board: str, looks: int) -> None:
    oracle = hurried(name, looks)
    found = oracle.analysis(board)
    assert (found.exact, found.settled, found.outcome, found.score, found.plies) == (False, False, None, None, None)
    assert found.verdict == "not settled: no forced win was found"
    assert (found.best, found.mainline, found.mainline_complete) == ((), (), False)
    assert {(move.outcome, move.score, move.best) for move in found.moves} == {(None, None, False)}
    legal = [oracle.game.cell_name(cell) for cell, mark in enumerate(found.board.replace("/", "")) if mark == "."]
    assert sorted(move.move for move in found.moves) == sorted(legal)
    chosen = oracle.best_move(board)
    assert (chosen.move in legal, chosen.outcome, chosen.best) == (True, None, False)
    assert oracle.get_score(board, 99) == 99
    with pytest.raises(NotSettled):
        oracle.score(board)


@given(nearly_full_lines(), st.booleans())
def test_a_win_at_once_is_found_on_a_large_board(nearly: tuple[set[int], int, list[int]], first: bool) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a live search in a hurry completes a line that can be completed
    own, _, rest = nearly
    their = set(rest[:4]) if first else set(rest)
    position = large_position(own, their) if first else large_position(their, own)
    assume(not position.over)
    wins = {LARGE_GAME.cell_name(cell) for cell in gaps(own, their)}
    oracle = hurried(LARGE_GAME.name, HURRY)
    move, found = oracle.best_move(position), oracle.analysis(position)
    assert (move.outcome, move.plies) == (found.outcome, found.plies) == ("win", 1)
    assert {move.move} <= set(found.best) <= wins


@given(nearly_full_lines(), st.booleans())
def test_the_only_block_is_made_on_a_large_board(nearly: tuple[set[int], int, list[int]], first: bool) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a live search in a hurry blocks the one line that would be completed
    their, gap, rest = nearly
    own, their = set(rest[:4]), their if first else their | {rest[4]}
    assume(gaps(their, own) == {gap})
    assume(not gaps(own, their))
    position = large_position(own, their) if first else large_position(their, own)
    assume(not position.over)
    oracle = hurried(LARGE_GAME.name, HURRY)
    assert oracle.best_move(position).move == LARGE_GAME.cell_name(gap)
    assert oracle.analysis(position).moves[0].move == LARGE_GAME.cell_name(gap)


def test_a_win_in_two_moves_is_found_on_a_large_board() -> None:
    found = hurried("15,15,5", 100).analysis(Position(grid(15, 15, 5), 0b111 << 110, 1 | 1 << 14 | 1 << 210))
    assert (found.outcome, found.plies, found.exact) == ("win", 3, False)
    assert found.verdict == "X wins in 2 moves (3 plies)", "it cannot win at once"
    assert set(found.best) <= {"e8", "i8"}


def test_a_draw_on_a_large_board_of_dead_lines_is_proved_without_a_search() -> None:
    found = Oracle(grid(1, 1200, 1200), live=True, seconds=1e9).analysis("XO1198")
    assert (found.exact, found.outcome, found.plies) == (True, "draw", None)
    assert found.proof == {
        "kind": "dead", "text": "Nobody can win: every line has a stone of each side.",
        "stops": [{"side": "X", "kind": "dead"}, {"side": "O", "kind": "dead"}],
    }  # fmt: skip
    assert [move.outcome for move in found.moves] == ["draw"] * 1198
    assert found.settled
