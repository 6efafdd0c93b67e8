"""Searches of the duel: plain Python, the compiled one and the live source give minimax's margins, or true bounds."""

import math
import random
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count
from typing import Any

import naive
import pytest
from duels import at, exact, fresh, game_of, geometric, live
from hypothesis import given
from hypothesis import strategies as st

from solver.duel.live import LiveDuel
from solver.duel.plain import PlainSearch
from solver.errors import BoardError, NotSettled
from solver.games.board_text import parse
from solver.games.duel import Duel, DuelPosition

FOREVER = math.inf
WHOLE = [(1, 1), (1, 2), (1, 5), (3, 2), (2, 4), (3, 3)]


@st.composite
def boards(draw: st.DrawFn, sizes: list[tuple[int, int]], most_empty: int = 144) -> tuple[naive.Duel, str]:
    """A duel, and a board that a game of it reaches, with at most so many empty cells."""
    duel = naive.Duel(*draw(st.sampled_from(sizes)))
    moves = draw(st.integers(max(0, duel.cells - most_empty), duel.cells))
    return duel, naive.duelled(duel, draw(st.binary(min_size=moves, max_size=moves)))[-1]


@cache
def plain(duel: naive.Duel) -> PlainSearch:
    """A search that has all of its earlier questions in its table."""
    return PlainSearch(game_of(duel))


@cache
def compiled(duel: naive.Duel, table_bits: int = 12) -> Any:
    return fresh(duel, table_bits)


def of_mover(board: str) -> tuple[int, int]:
    return naive.sides(board, naive.turn(board))


def by_plain(duel: naive.Duel, board: str) -> int:
    return PlainSearch(game_of(duel)).bounds(*of_mover(board), -duel.cells - 1, duel.cells + 1, FOREVER)


def check_bound(result: int, low: int, high: int, true: int) -> None:
    """A result within the window is exact; one at its ends or beyond is a bound."""
    if result <= low:
        assert true <= result
    elif result >= high:
        assert true >= result
    else:
        assert result == true


@pytest.mark.parametrize("size", WHOLE)
def test_every_reachable_position_of_a_small_board_has_minimax_s_margin(size: tuple[int, int]) -> None:
    duel = naive.Duel(*size)
    for board in naive.duel_reachable(duel):
        own, other = of_mover(board)
        true = exact(duel, board)
        assert plain(duel).bounds(own, other, -duel.cells - 1, duel.cells + 1, FOREVER) == true, board
        assert compiled(duel).score(own, other, 0) == true, board


@given(boards([(3, 4), (4, 3), (2, 5), (2, 6), (1, 11)], most_empty=8))
# Feature: infinity-grid-duel, Property 16: All Searches Equal Minimax
def test_plain_and_compiled_searches_give_minimax_s_margin(case: tuple[naive.Duel, str]) -> None:
    duel, board = case
    own, other = of_mover(board)
    true = exact(duel, board)
    assert by_plain(duel, board) == plain(duel).bounds(own, other, -99, 99, FOREVER) == true
    assert fresh(duel).score(own, other, 0) == compiled(duel).score(own, other, 0) == true


@given(boards([(4, 4), (3, 5), (5, 4), (2, 8), (6, 6), (7, 7), (12, 5)], most_empty=7))
# Feature: infinity-grid-duel, Property 17: Searches Equal Minimax Near The End Of Large Boards
def test_late_positions_of_large_boards_have_minimax_s_margin(case: tuple[naive.Duel, str]) -> None:
    duel, board = case
    own, other = of_mover(board)
    true = exact(duel, board)
    naive.margin.cache_clear()
    assert by_plain(duel, board) == true
    assert compiled(duel, 20).score(own, other, 0) == true


@given(boards([(3, 3), (3, 4), (2, 6), (4, 3)], most_empty=9), st.integers(-13, 12), st.integers(1, 12))
# Feature: infinity-grid-duel, Property 18: Bounds Are True
def test_a_window_gives_the_margin_or_a_true_bound(case: tuple[naive.Duel, str], low: int, width: int) -> None:
    duel, board = case
    own, other = of_mover(board)
    high, true = low + width, exact(duel, board)
    check_bound(PlainSearch(game_of(duel)).bounds(own, other, low, high, FOREVER), low, high, true)
    check_bound(plain(duel).bounds(own, other, low, high, FOREVER), low, high, true)
    check_bound(fresh(duel).bounds(own, other, low, high, 0), low, high, true)
    check_bound(compiled(duel).bounds(own, other, low, high, 0), low, high, true)


@given(boards([(3, 3), (3, 4), (4, 4), (2, 8), (5, 5)], most_empty=9), st.data())
# Feature: infinity-grid-duel, Property 19: Searches Agree On Images And Exchanged Colours
def test_images_and_exchanged_colours_have_the_same_margin_by_every_search(
    case: tuple[naive.Duel, str], data: st.DataObject
) -> None:
    duel, board = case
    g = data.draw(st.sampled_from(geometric(duel)))
    other = naive.turned(board, g)
    assert by_plain(duel, board) == by_plain(duel, other) == compiled(duel).score(*of_mover(board), 0)
    assert compiled(duel).score(*of_mover(other), 0) == fresh(duel).score(*of_mover(other), 0) == by_plain(duel, board)
    # The mover's tiles are told, so a board in the other colours with the other side to move is the same question.
    mine, their = naive.sides(naive.recoloured(board), naive.rival(naive.turn(board)))
    assert (mine, their) == of_mover(board)


def test_what_is_remembered_from_other_windows_never_changes_an_answer() -> None:
    duel, rng = naive.Duel(3, 3), random.Random(12)
    asked = sorted(rng.sample(sorted(naive.duel_reachable(duel)), 1500))
    rng.shuffle(asked)
    one, other = PlainSearch(game_of(duel)), fresh(duel, 6)
    for board in asked:
        low = rng.randint(-10, 9)
        high, true = low + rng.randint(1, 3), exact(duel, board)
        check_bound(one.bounds(*of_mover(board), low, high, FOREVER), low, high, true)
        check_bound(other.bounds(*of_mover(board), low, high, 0), low, high, true)


@pytest.mark.parametrize("kept", [0, 1, 50])
def test_a_plain_search_that_forgets_is_right_too(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.duel.plain._KEPT", kept)
    search = PlainSearch(Duel(3, 3))
    assert search.bounds(0, 0, -10, 10, FOREVER) == 3
    assert len(search._known) <= kept + 1


@pytest.mark.parametrize("bits", [0, 1, 4, 20])
def test_a_table_of_any_size_gives_the_same_margins(bits: int) -> None:
    duel = naive.Duel(3, 3)
    search = fresh(duel, bits)
    for board in sorted(naive.duel_reachable(duel))[::30]:
        assert search.score(*of_mover(board), 0) == exact(duel, board), board


def test_a_plain_search_stops_at_its_deadline_and_can_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()
    monkeypatch.setattr("solver.duel.plain.monotonic", looks.__next__)
    search = PlainSearch(Duel(3, 3))
    for deadline in range(3):
        with pytest.raises(NotSettled, match="the time is up"):
            search.bounds(0, 0, -10, 10, deadline)
    assert next(looks) == 4, "it ended at its first look past each deadline"
    assert search.bounds(0, 0, -10, 10, FOREVER) == 3


@pytest.mark.parametrize("limit", [1, 10, 100])
def test_a_compiled_search_gives_up_after_so_many_nodes_and_goes_on_when_asked_again(limit: int) -> None:
    search = fresh(naive.Duel(4, 4), 16)
    assert search.score(0, 0, limit) is None
    answers = [search.score(0, 0, 200) for _ in range(50)]
    assert set(answers) <= {None, -2}
    assert search.score(0, 0, 0) == -2


def test_a_live_source_settles_a_full_board_without_time_and_refuses_impossible_ones() -> None:
    source = live(naive.Duel(3, 3), seconds=0.0)
    assert source.score(parse(Duel(3, 3), "RRR/RRG/RRR")) == -7
    with pytest.raises(BoardError, match="no tile of G"):
        source.score(DuelPosition(Duel(3, 3), 0b11, 0))


def test_of_threads_that_share_a_live_source_one_searches_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds, inside, most = PlainSearch.bounds, [0], [0]

    def watched(self: PlainSearch, *arguments: Any) -> int:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        for _ in range(100):
            time.sleep(0)  # others may run
        found = bounds(self, *arguments)
        inside[0] -= 1
        return found

    monkeypatch.setattr(PlainSearch, "bounds", watched)
    source = live(naive.Duel(3, 3))
    asked = [at(naive.Duel(3, 3), board) for board in sorted(naive.duel_reachable(naive.Duel(3, 3)))[:8]]
    with ThreadPoolExecutor(8) as threads:
        assert len(list(threads.map(source.score, asked))) == 8
    assert most == [1]


def test_a_small_board_is_answered_without_loading_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def loading(self: LiveDuel) -> None:
        raise AssertionError("compiled code takes longer to load than a small board to search")

    monkeypatch.setattr(LiveDuel, "load", loading)
    assert live(naive.Duel(3, 3)).score(DuelPosition(Duel(3, 3))) == 3


def test_a_board_too_large_for_compiled_code_is_searched_in_plain_python() -> None:
    duel = naive.Duel(8, 8)
    board = naive.duelled(duel, [cell * 7 for cell in range(53)])[-1]
    source = live(duel)
    late = naive.duelled(duel, [cell * 7 for cell in range(58)])[-1]
    assert source.score(at(duel, late)) == exact(duel, late)
    assert source.score(at(duel, board)) == by_plain(duel, board)
    assert source.compiled(FOREVER) is None
