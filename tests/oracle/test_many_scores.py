"""Scores of many positions at once: the same as one by one, and the same boards are refused."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest

from oracle import Oracle
from solver.arrays.lookup import Lookup
from solver.errors import BoardError, StoreError
from solver.store.store import Store

Pairs = tuple[np.ndarray, np.ndarray]
SMALL = ["3,3,3", "3,3,3,misere"]


def arrays(boards: list[str]) -> Pairs:
    x, o = zip(*map(naive.masks, boards), strict=True)
    return np.array(x, np.int64), np.array(o, np.int64)


@cache
def met(name: str) -> tuple[str, ...]:
    """Boards of random games, from the first to the last ply."""
    rules, rng, found = naive.Game.named(name), random.Random(1), dict[str, None]()
    while len(found) < 1000:
        order = rng.sample(range(rules.cells), rules.cells)
        found |= dict.fromkeys(naive.played(rules, order[:count]) for count in range(rules.cells + 1))
    return tuple(found)


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_scores_of_all_positions_are_those_of_minimax(name: str, live: bool, store_of: Callable[[str], Path]) -> None:
    rules = naive.Game.named(name)
    boards = sorted(naive.reachable(rules))
    with Oracle(name, live=True, seconds=30) if live else Oracle(name, store_of(name)) as oracle:
        scores = oracle.scores(*arrays(boards))
    assert scores.dtype == np.int8
    assert scores.tolist() == [naive.score(rules, board) for board in boards]


def test_scores_are_those_that_positions_have_one_by_one(store4: Path) -> None:
    boards = met("4,4,4")
    assert {naive.stones(board) for board in boards} == set(range(17))
    with Oracle("4,4,4", store4) as oracle, Oracle("4,4,4", store4) as other:
        singly = [other.score(oracle.game.at(*naive.masks(board))) for board in boards]
        assert oracle.scores(*arrays(list(boards))).tolist() == singly


@pytest.mark.parametrize("x", [np.uint16, np.int32, np.uint64, list])
def test_masks_are_whole_numbers_of_any_type(x: Any, store4: Path) -> None:
    boards = list(met("4,4,4"))[:500]
    own, other = arrays(boards)
    with Oracle("4,4,4", store4) as oracle:
        wanted = oracle.scores(own, other)
        given = [cells.tolist() if x is list else cells.astype(x) for cells in (own, other)]
        assert (oracle.scores(*given) == wanted).all()
        assert (oracle.scores(own[::-2], other[::-2]) == wanted[::-2]).all()


def test_no_positions_have_no_scores(store3: Path) -> None:
    for source in ({"store": store3}, {"live": True}):
        with Oracle("3,3,3", **source) as oracle:  # type: ignore[arg-type]
            for empty in ([], np.array([]), np.array([], np.int64)):
                assert oracle.scores(empty, empty).shape == (0,)  # type: ignore[arg-type]


NO_BOARDS = {
    "cells of both": (0b11, 0b10),
    "too many of X": (0b11, 0),
    "too many of O": (0b1, 0b110),
    "O began": (0, 0b1),
    "outside the board": (1 << 16, 0),
    "far outside the board": (1 << 40, 0),
    "outside the board, with an answer": (1 << 16 | 1, 1 << 17),
    "negative": (-1, 0),
    "negative beside a board": (1, -(1 << 20)),
    "lines of both": (0x000F, 0x00F0),
    "X has a line, and moved before O did": (0x000F, 0x0170),
    "O has a line, and moved before X did": (0x0307, 0x00F0),
    "two lines without a common cell": (0x9669, 0x6994),
}


@pytest.mark.parametrize("why", NO_BOARDS)
def test_boards_that_no_game_reaches_are_refused_as_one_by_one(why: str, store4: Path) -> None:
    x, o = NO_BOARDS[why]
    for oracle in (Oracle("4,4,4", live=True, seconds=0.1), Oracle("4,4,4", store4)):
        with oracle:
            with pytest.raises(BoardError):
                oracle.score(oracle.game.at(x, o))
            with pytest.raises(BoardError):
                oracle.scores(np.array([x]), np.array([o]))


def test_the_first_position_that_is_refused_is_shown(store4: Path) -> None:
    with Oracle("4,4,4", store4) as oracle, pytest.raises(BoardError) as refusal:
        oracle.scores(np.array([0, 1, 3, 7]), np.array([0, 0, 0, 0]))
    assert str(refusal.value) == "no game reaches position 2, with x=0x3 and o=0x0"


@pytest.mark.parametrize(("x", "o"), [
    ([0.0], [0]), ([0], [0.5]), ([[0]], [[0]]), (0, 0), ([0, 0], [0]), ([], [0]), ([True], [False]), (["X"], ["O"]),
    ([None], [None]),
])  # fmt: skip
def test_arrays_that_are_no_masks_are_refused(x: object, o: object, store3: Path) -> None:
    for oracle in (Oracle("3,3,3", live=True), Oracle("3,3,3", store3)):
        with oracle, pytest.raises(BoardError):
            oracle.scores(np.array(x), np.array(o))


@pytest.mark.parametrize("most", [0, 1, 5_000, 100_000])
def test_a_lookup_that_may_keep_few_pages_gives_the_same_scores(most: int, store4: Path) -> None:
    x, o = arrays(list(met("4,4,4")))
    with Store(store4) as store:
        wanted = Lookup(store).scores(x, o).tolist()
        lookup = Lookup(store, most=most)
        for part in (slice(0, 10), slice(None), slice(1000, 2000), slice(None)):
            assert lookup.scores(x[part], o[part]).tolist() == wanted[part]


@pytest.mark.parametrize("most", [None, 5_000])
def test_pages_are_read_once_unless_they_are_too_many_to_keep(
    most: int | None, store4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, o = arrays(list(met("4,4,4")))
    read, reading = list[int](), Store.record

    def record(self: Store, *key: Any) -> Any:
        read.append(key[1])
        return reading(self, *key)

    monkeypatch.setattr(Store, "record", record)
    with Store(store4) as store:
        lookup = Lookup(store) if most is None else Lookup(store, most=most)
        lookup.scores(x, o)
        assert read
        assert len(set(read)) == len(read)
        read.clear()
        lookup.scores(x, o)
        assert bool(read) == (most is not None)


def test_threads_may_share_an_oracle_until_it_is_closed(store4: Path) -> None:
    x, o = arrays(list(met("4,4,4")))
    parts = [slice(start, start + 300) for start in range(0, len(x), 100)]
    with Oracle("4,4,4", store4) as oracle, Oracle("4,4,4", store4) as other, ThreadPoolExecutor(4) as threads:
        wanted = other.scores(x, o)
        for part, scores in zip(parts, threads.map(lambda part: oracle.scores(x[part], o[part]), parts), strict=True):
            assert scores.tolist() == wanted[part].tolist()
    with pytest.raises(StoreError, match="closed"):
        oracle.scores(x, o)


def test_other_games_are_scored_one_by_one() -> None:
    duel = naive.Duel.named("duel,2,2")
    boards = sorted(naive.duel_reachable(duel))
    red, green = zip(*map(naive.tiles, boards), strict=True)
    with Oracle("duel,2,2", live=True) as oracle:
        scores = oracle.scores(np.array(red), np.array(green)).tolist()
    assert scores == [naive.margin(duel, board, naive.turn(board)) for board in boards]
