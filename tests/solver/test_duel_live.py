"""Live search of the duel: in plain Python until compiled code is there, on time, beside threads, and after a fork."""

import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import naive
import pytest
from duels import at, fresh, live, moves_of

from solver.duel.live import LiveDuel
from solver.duel.plain import PlainSearch
from solver.errors import NotSettled
from solver.games.duel import Duel, DuelPosition
from solver.source import Look

SIX = naive.Duel(6, 6)

LONG = monotonic() + 3600


@cache
def compiled(duel: naive.Duel) -> LiveDuel:
    """A live search whose compiled code is there."""
    source = live(duel)
    assert source.compiled(LONG) is not None
    return source


def drawn(duel: naive.Duel, empty: int, seed: int) -> str:
    """A position with so many empty cells."""
    rng = random.Random(seed)
    return naive.duelled(duel, [rng.randrange(1000) for _ in range(duel.cells - empty)])[-1]


def margin(board: str) -> int | None:
    """The margin on the 6x6 board by a search of its own, which is always compiled."""
    return fresh(SIX, 18).score(*naive.sides(board, naive.turn(board)))  # type: ignore[no-any-return]


def sampled(duel: naive.Duel, count: int, least_empty: int = 1) -> list[str]:
    boards = [board for board in sorted(naive.duel_reachable(duel)) if board.count(".") >= least_empty]
    return random.Random(34).sample(boards, count)


@pytest.fixture
def arrival(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Hold compiled code back until this is set."""
    loading, arrived, ended = LiveDuel._load, threading.Event(), threading.Event()

    def waiting(self: LiveDuel) -> None:
        arrived.wait()
        if not ended.is_set():
            loading(self)

    monkeypatch.setattr(LiveDuel, "_load", waiting)
    yield arrived
    ended.set()
    arrived.set()


@pytest.mark.usefixtures("arrival")
@pytest.mark.parametrize("empty", [11, 12, 14])
def test_a_position_is_settled_in_plain_python_while_compiled_code_does_not_come(empty: int) -> None:
    source = live(SIX)
    for seed in range(2):
        board = drawn(SIX, empty, seed)
        assert source.score(at(SIX, board)) == margin(board), board
    assert source._loading is not None
    assert source._loading.is_alive()
    assert source._compiled is None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Let each look at the clock take a second."""
    ticks = count()
    for module in ("live", "plain"):
        monkeypatch.setattr(f"solver.duel.{module}.monotonic", ticks.__next__)
    return ticks


@pytest.mark.usefixtures("arrival", "clock")
def test_without_compiled_code_what_was_found_in_a_slice_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.duel.live._SLICE", 3)
    bounds, slices = PlainSearch.bounds, []

    def counted(self: PlainSearch, *arguments: Any) -> int:
        slices.append(arguments)
        return bounds(self, *arguments)

    monkeypatch.setattr(PlainSearch, "bounds", counted)
    board = drawn(SIX, 14, 0)
    assert live(SIX, 1e9).score(at(SIX, board)) == margin(board)
    assert len(slices) > 3


@pytest.mark.usefixtures("arrival")
@pytest.mark.parametrize("depth", [1, 3, 10, 36])
def test_without_compiled_code_a_legal_move_is_found_at_once(depth: int) -> None:
    source = live(SIX)
    source.load()
    for seed in range(5):
        board = drawn(SIX, 36 - 7 * seed, seed)
        x, o = naive.tiles(board)
        legal = naive.placings(SIX, board, naive.turn(board))
        assert source.think(x, o, depth, 10**6, seed) in legal
    assert source._compiled is None


@pytest.mark.usefixtures("arrival")
def test_without_compiled_code_the_moves_of_a_position_are_found_and_their_first_best() -> None:
    duel, source = naive.Duel(2, 5), live(naive.Duel(2, 5))
    for board in sampled(duel, 5, least_empty=8):
        (x, o), expected = naive.tiles(board), moves_of(duel, board)
        best = max(expected.values())
        assert source.look(x, o, source.deadline()) == Look(list(expected.items()), True, best)
        first = next(cell for cell, score in expected.items() if score == best)
        assert source.first_best(x, o, best, source.deadline()) == first
    assert source._compiled is None


def test_a_search_goes_on_in_compiled_code_as_soon_as_it_is_there(
    arrival: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds, plain, again = PlainSearch.bounds, [], threading.Event()

    def never(self: PlainSearch, *arguments: Any) -> int:
        """A search that finds nothing, as in positions that plain Python cannot settle."""
        plain.append(arguments)
        if len(plain) > 1:
            again.set()
        sleep(0)  # others may run
        raise NotSettled("the time is up")

    monkeypatch.setattr(PlainSearch, "bounds", never)
    source, board, found = live(SIX), drawn(SIX, 23, 2), []
    asking = threading.Thread(target=lambda: found.append(source.score(at(SIX, board))), daemon=True)
    asking.start()
    assert again.wait(60)
    assert (found, source._compiled) == ([], None)
    arrival.set()
    asking.join(60)
    assert found == [margin(board)]
    assert source._compiled is not None
    monkeypatch.setattr(PlainSearch, "bounds", bounds)
    before = len(plain)
    assert source.score(at(SIX, drawn(SIX, 20, 1))) == margin(drawn(SIX, 20, 1))
    assert len(plain) == before, "from then on nothing is searched in plain Python"


def refused(ask: Callable[..., object], *arguments: object) -> None:
    with pytest.raises(NotSettled, match=r"^the time is up$|^board '[RG./]+' was not settled in [0-9]+ s$"):
        ask(*arguments)


@pytest.mark.parametrize("have", [False, True])
def test_a_deadline_is_kept_with_and_without_compiled_code(
    have: bool, arrival: threading.Event, monkeypatch: pytest.MonkeyPatch, clock: Iterator[int]
) -> None:
    monkeypatch.setattr("solver.duel.live._NODES_A_LOOK_AT_THE_CLOCK", 1000)
    source, empty = live(SIX, seconds=10), DuelPosition(Duel(6, 6))
    if have:
        arrival.set()
        source.compiled(LONG)
    for ask, looks in (
        (lambda: refused(source.score, empty), 20),
        (lambda: source.look(0, 0, source.deadline()), 20),
        (lambda: refused(source.first_best, 0, 0, 2, source.deadline()), 20),
    ):
        start = next(clock)
        ask()
        assert 10 < next(clock) - start < looks
    look = source.look(0, 0, source.deadline())
    assert (sorted(look.scores), look.exact, look.score) == ([(cell, None) for cell in range(36)], False, None)
    assert (source._compiled is not None) == have


@pytest.mark.usefixtures("arrival")
def test_who_waits_for_compiled_code_waits_no_longer_than_asked() -> None:
    source = live(SIX)
    for wait in (0.01, -1):
        assert source.compiled(monotonic() + wait) is None


def test_compiled_code_is_loaded_once_however_often_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[LiveDuel] = []
    monkeypatch.setattr(LiveDuel, "_load", lambda self: loads.append(self))
    source = live(SIX, seconds=0)
    for _ in range(3):
        source.load()
        refused(source.score, DuelPosition(Duel(6, 6)))
    assert loads == [source]


FORK = """
import os, signal, sys, threading, time
sys.path[:0] = {tests!r}
import naive
from solver.duel.live import LiveDuel
from solver.games.duel import Duel, DuelPosition
from solver.kinds import kind_of

kind, release = sys.argv[1], threading.Event()
if kind == "searching":
    LiveDuel._load = lambda self: release.wait()
game = Duel(6, 6)
live = LiveDuel(game, kind_of(game).symmetries(game), 100.0)
if kind == "compiled":
    assert live.compiled(time.monotonic() + 100)
position = DuelPosition(game, *naive.tiles({board!r}))
threading.Thread(target=live.score, args=(DuelPosition(game),), daemon=True).start()
while not live._searching.locked():
    time.sleep(0.001)
if kind == "searching":
    time.sleep(0.05)
while kind == "loading" and "solver.duel.search" not in sys.modules:
    time.sleep(0.0001)
child = os.fork()
if not child:
    signal.alarm(60)
    try:
        right = live.score(position) == {score}
        move = live.think(position.x, position.o, 36, 1000, 1) in position.legal
        there = kind == "searching" or live.compiled(time.monotonic() + 30) is not None
        print(right, move, there, flush=True)
    finally:
        os._exit(0)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, live._searching.locked(), flush=True)
os._exit(0)
"""
"""One thread searches the empty board; meanwhile the process forks, and the child asks the same live search."""


def forked_while(how: str) -> "subprocess.CompletedProcess[str]":
    board = drawn(SIX, 11, 1)
    program = FORK.format(tests=[str(Path(naive.__file__).parent)], board=board, score=margin(board))
    return subprocess.run(
        [sys.executable, "-c", program, how], capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.parametrize("how", ["searching", pytest.param("compiled", marks=pytest.mark.slow)])
def test_a_process_forked_while_a_thread_searches_is_answered(how: str) -> None:
    ran = forked_while(how)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "True True True\n0 True\n")


@pytest.mark.slow
def test_a_process_forked_while_compiled_code_is_being_loaded_is_answered() -> None:
    ran = forked_while("loading")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("True True ")


def test_the_margin_of_every_move_is_found_and_what_it_took() -> None:
    duel = naive.Duel(3, 3)
    for board in sampled(duel, 60, least_empty=5):
        source = compiled(duel)
        source.forget()
        x, o = naive.tiles(board)
        found, nodes = source.scores(x, o, 10**6)
        assert found == moves_of(duel, board)
        assert nodes > 0
        again, fewer = source.scores(x, o, 10**6)
        assert again == found
        assert fewer < nodes, "what was found is remembered"


def test_margins_that_take_more_nodes_than_allowed_are_not_told() -> None:
    source = compiled(SIX)
    found, nodes = source.scores(0, 0, 1000)
    assert found is None
    assert 0 < nodes < 2000
    assert live(SIX).scores(0, 0, 10**6) == (None, 0), "no compiled code is there"


def test_a_move_that_keeps_a_known_margin_is_found_and_the_likeliest_is_tried_first() -> None:
    duel, likeliest = naive.Duel(3, 3), 0
    source = compiled(duel)
    for board in sampled(duel, 20, least_empty=3):
        (x, o), moves = naive.tiles(board), moves_of(duel, board)
        best = max(moves.values())
        source.forget()
        likely = source._compiled.think(*naive.sides(board, naive.turn(board)), 8, 10**6 // 8 + 1, 1)
        source.forget()
        kept = source.keep(x, o, best, 10**6, 1)
        assert kept is not None
        assert moves[kept] == best
        if moves[likely] == best:
            assert kept == likely
            likeliest += 1
        assert source.keep(x, o, best + 2, 10**6, 1) is None, "no move gains more"
        assert source.keep(x, o, min(moves.values()), 10**6, 1) == likely, "a move that gains more will do"
    assert likeliest > 0


def test_no_move_keeps_a_margin_where_nodes_run_out_or_nothing_is_compiled() -> None:
    source = compiled(SIX)
    for nodes in (0, 1, 1000):
        before = source._compiled.nodes
        assert source.keep(0, 0, 2, nodes, 1) is None
        assert source._compiled.nodes - before <= nodes + 100
    assert live(naive.Duel(2, 2)).keep(0, 0, 0, 10**6, 1) is None


def test_a_likely_reply_is_one_that_can_be_made_and_chances_add_up() -> None:
    duel = naive.Duel(2, 5)
    source = compiled(duel)
    for board in sampled(duel, 40):
        chances = source.likely(*naive.tiles(board), 2_000, 1)
        assert chances == source.likely(*naive.tiles(board), 2_000, 1)
        assert set(chances) == set(moves_of(duel, board))
        assert sum(chances.values()) == pytest.approx(1)
        assert min(chances.values()) >= 0.5 / len(chances) - 1e-9
