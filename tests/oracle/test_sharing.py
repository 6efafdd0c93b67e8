"""One oracle for many: threads, forked processes, and one that closes it while others ask."""

import random
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import naive
import pytest

from oracle import Oracle
from solver.errors import StoreError
from solver.games.lines import grid
from solver.games.position import Position
from solver.store.sealed import SealedFile

FOUR = grid(4, 4, 4)
RULES4 = naive.Game(4, 4, 4)
THREADS = 4


@pytest.fixture(autouse=True)
def hurried() -> Iterator[None]:
    """Threads take turns much oftener than they would."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def boards(count: int, least: int = 0) -> list[Position]:
    """Random positions of 4x4 that so many plies or more lead to, open and finished."""
    rng = random.Random(8)
    return [
        Position(FOUR, *naive.masks(naive.played(RULES4, rng.sample(range(16), rng.randint(least, 16)))))
        for _ in range(count)
    ]


def answers(oracle: Oracle, positions: list[Position]) -> list[object]:
    """All that an oracle can be asked about each position."""
    return [
        (oracle.score(position), oracle.analysis(position), None if position.over else oracle.best_move(position))
        for position in positions
    ]


def answers_alone(path: Path, positions: list[Position]) -> list[object]:
    """The same, of an oracle that nobody shares."""
    with Oracle(FOUR, path) as alone:
        return answers(alone, positions)


def answers_of_threads(oracle: Oracle, positions: list[Position]) -> list[list[object]]:
    """What each of some threads is told about all the positions, which each asks in an order of its own."""

    def ask(seed: int) -> list[object]:
        order = random.Random(seed).sample(range(len(positions)), len(positions))
        told = dict(zip(order, answers(oracle, [positions[i] for i in order]), strict=True))
        return [told[i] for i in range(len(positions))]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(ask, range(THREADS)))


@pytest.mark.parametrize("little", [False, True])
def test_threads_are_told_what_one_is_told_however_little_is_kept(
    little: bool, store4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if little:
        monkeypatch.setattr("solver.store.cached._PAGE_BYTES", 5000)
        monkeypatch.setattr("solver.index.places._KEPT", 50)
        monkeypatch.setattr("oracle.oracle._KEPT", 50)
    positions = boards(80 if little else 200)
    expected = answers_alone(store4, positions)
    with Oracle(FOUR, store4) as shared:
        assert answers_of_threads(shared, positions) == [expected] * THREADS


def test_threads_that_search_are_told_what_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.search.live._KEPT", 200)
    positions = boards(100, least=9)
    expected = answers(Oracle(FOUR, live=True, seconds=1e9), positions)
    shared = Oracle(FOUR, live=True, seconds=1e9)
    assert answers_of_threads(shared, positions) == [expected] * THREADS


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("live", [False, True])
def test_a_forked_process_is_told_what_its_parent_is(
    live: bool, used: bool, store4: Path, forked: Callable[..., tuple[int, str]]
) -> None:
    positions = boards(100, least=9)
    with Oracle(FOUR, store4) as alone:
        expected = [alone.score(position) for position in positions]
    with Oracle(FOUR, store4, live=live, seconds=1e9) as oracle:
        if used:
            answers(oracle, positions[:50])

        def scores() -> list[int]:
            return [oracle.score(position) for position in positions]

        assert forked(scores) == (0, str(expected))
        assert scores() == expected
        assert forked(lambda: str(answers(oracle, positions))) == (0, str(answers(oracle, positions)))


def test_a_forked_process_may_close_what_its_parent_goes_on_using(
    store4: Path, forked: Callable[..., tuple[int, str]]
) -> None:
    positions = boards(50)
    expected = answers_alone(store4, positions)
    with Oracle(FOUR, store4) as oracle:

        def reopened() -> str:
            oracle.close()
            return str(answers_alone(store4, positions) == expected)

        assert forked(reopened) == (0, "True")
        assert answers(oracle, positions) == expected


def test_processes_forked_at_the_same_time_do_not_disturb_one_another(
    store4: Path, forked: Callable[..., tuple[int, str]]
) -> None:
    positions = boards(80)
    with Oracle(FOUR, store4) as oracle, ThreadPoolExecutor(2) as pool:

        def same(number: int) -> bool:
            return answers(oracle, positions) == answers_alone(store4, positions)

        assert list(pool.map(lambda number: forked(same, number), range(2))) == [(0, "True")] * 2


def test_who_asks_while_a_store_is_being_closed_is_told_so(store4: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, told, close = Oracle(FOUR, store4), [], SealedFile.close

    def closing(file: SealedFile) -> None:
        close(file)
        with pytest.raises(StoreError) as refusal:
            oracle.score("16")
        told.append(refusal.value)

    monkeypatch.setattr(SealedFile, "close", closing)
    oracle.close()
    assert [type(error) for error in told] == [StoreError]
    assert "was closed" in str(told[0])


def test_threads_that_close_one_oracle_at_once_leave_another_open(
    store4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_closing, close = threading.Barrier(2), SealedFile.close

    def closing(file: SealedFile) -> None:
        with suppress(threading.BrokenBarrierError):  # that is how it should be: but one thread comes here
            both_closing.wait(0.05)
        close(file)

    with Oracle(FOUR, store4) as other:
        oracle = Oracle(FOUR, store4)
        monkeypatch.setattr(SealedFile, "close", closing)
        threads = [threading.Thread(target=oracle.close) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        monkeypatch.undo()
        assert other.score("16") == 0


def test_threads_whose_oracle_is_closed_are_answered_or_told_so(
    store4: Path, forked: Callable[..., tuple[int, str]]
) -> None:
    positions = boards(100)
    expected = dict(zip(positions, answers_alone(store4, positions), strict=True))

    def wrong() -> list[str]:
        return [said for seed in range(3) for said in _wrong_while_closing(Oracle(FOUR, store4), expected, seed)]

    assert forked(wrong) == (0, "[]")


def _wrong_while_closing(oracle: Oracle, expected: dict[Position, object], seed: int) -> list[str]:
    """What threads are told that is neither the answer nor that the store was closed, when one of them closes it."""
    positions, closing = list(expected), random.Random(seed).randrange(len(expected))
    wrong: list[str] = []

    def ask(thread: int) -> None:
        for i in range(thread, len(positions), THREADS):
            if i == closing:
                oracle.close()
            try:
                if answers(oracle, [positions[i]]) != [expected[positions[i]]]:
                    wrong.append(str(positions[i]))
            except StoreError as error:
                if type(error) is not StoreError or "was closed" not in str(error):
                    wrong.append(repr(error))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(ask, range(THREADS)))
    return wrong
