"""Live search: it says of every position what the store says, and nothing that it remembers misleads it."""

import random
from collections.abc import Callable
from pathlib import Path

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import Oracle
from solver.games.position import Position

FOURS = ["4,4,4", "4,4,4,misere"]

plays = st.tuples(st.permutations(range(16)), st.integers(10, 16))


def patient(name: str) -> Oracle:
    """An oracle that searches to the end."""
    return Oracle(name, live=True, seconds=1e9)


def assert_same(search: Oracle, store: Oracle, positions: list[Position]) -> None:
    """In every field but the one that tells them apart; and so are the score and the best move that are asked alone."""
    for position in positions:
        found = search.analysis(position)
        assert found.source == "search"
        assert found._replace(source="store") == store.analysis(position)
        assert search.score(position) == store.score(position), position
        if not position.over:
            assert search.best_move(position) == store.best_move(position), position


@pytest.mark.parametrize("name", ["3,4,3", pytest.param("3,4,3,misere", marks=pytest.mark.slow)])
def test_3x4_positions_are_answered_as_from_the_store(name: str, store_of: Callable[[str], Path]) -> None:
    rules, rng = naive.Game.named(name), random.Random(34)
    boards = [naive.played(rules, rng.sample(range(12), rng.randint(0, 12))) for _ in range(40)]
    with Oracle(name, store_of(name)) as store:
        positions = [Position(store.game, *naive.masks(board)) for board in boards]
        assert_same(patient(name), store, positions)


@pytest.mark.slow
@given(plays)
@pytest.mark.parametrize("name", FOURS)
def test_late_positions_of_4x4_are_answered_as_from_the_store(
    name: str, store_of: Callable[[str], Path], play: tuple[list[int], int]
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a live search that comes to its end says what the store says
    board = naive.played(naive.Game.named(name), play[0][: play[1]])
    with Oracle(name, store_of(name)) as store:
        assert_same(patient(name), store, [Position(store.game, *naive.masks(board))])


@pytest.mark.parametrize("name", FOURS)
def test_what_was_searched_before_changes_no_answer(name: str) -> None:
    shared, rng = patient(name), random.Random(5)
    for _ in range(12):
        board = naive.played(naive.Game.named(name), rng.sample(range(16), rng.randint(8, 14)))
        position, fresh = Position(shared.game, *naive.masks(board)), patient(name)
        assert shared.analysis(position) == fresh.analysis(position)
        if not position.over:
            assert shared.best_move(position) == patient(name).best_move(position)


def test_forgetting_changes_no_answer(monkeypatch: pytest.MonkeyPatch, store4: Path) -> None:
    monkeypatch.setattr("solver.search.live._KEPT", 0)
    search, rng = patient("4,4,4"), random.Random(6)
    with Oracle("4,4,4", store4) as store:
        for _ in range(10):
            board = naive.played(naive.Game(4, 4, 4), rng.sample(range(16), rng.randint(8, 16)))
            assert_same(search, store, [Position(search.game, *naive.masks(board))])


def test_a_board_larger_than_any_store_s_is_solved_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.engine.live._SETTLE_MOST", 1e9)
    search = patient("5,6,3")
    found = search.analysis("30")
    assert (found.exact, found.outcome, found.plies, len(found.mainline)) == (True, "win", 5, 5)
    assert len(found.moves) == 30
    assert found.canonical == found.board
    position = Position(search.game)
    for name in found.mainline:
        assert name in search.analysis(position).best
        position = position.play(search.game.cell(name))
    assert position.winner == "X"
