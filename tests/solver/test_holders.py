"""Whoever does the tasks, and wherever pages are held, the store is the same; and how a crew does its calls."""

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from stores import raising

from solver.errors import PagesDamaged, ScratchError, TooLarge, Ttt4Error
from solver.games.notation import parse_game
from solver.proof import crew as crews
from solver.proof.build import build_store
from solver.proof.crew import Crew, threads
from solver.proof.plan import Holder
from solver.proof.prove import LineWork
from solver.sweep.layers import Chunk, Layer
from solver.sweep.shelf import PackedShelf

SLOW = pytest.mark.slow
GAMES = ["3,3,3", "3,3,3,misere", "3,4,3", "fano", "1,7,3", "2,2,2", pytest.param("4,4,4", marks=SLOW)]


class Pickling(ThreadPoolExecutor):
    """Threads that get and give copies, as other processes would."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> "Future[Any]":
        call = pickle.dumps((function, arguments))

        def copied() -> Any:
            here, given = pickle.loads(call)
            return pickle.loads(pickle.dumps(here(*given)))

        return super().submit(copied)


@pytest.mark.parametrize("holder", Holder)
@pytest.mark.parametrize("name", GAMES)
def test_pages_held_in_any_way_give_the_same_store_byte_by_byte(
    name: str, holder: Holder, store_of: Any, tmp_path: Path
) -> None:
    game, right = parse_game(name), store_of(name).read_bytes()
    if game.cells < 16:
        build_store(game, tmp_path / "s", jobs=1, holder=holder)
        assert (tmp_path / "s").read_bytes() == right
        (tmp_path / "s").unlink()
    build_store(game, tmp_path / "far", jobs=2, holder=holder, scratch=str(tmp_path / "scratch"))
    assert (tmp_path / "far").read_bytes() == right
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["far", "scratch"]


@pytest.mark.parametrize("holder", Holder)
@pytest.mark.parametrize("name", ["3,4,3", pytest.param("torus4", marks=SLOW)])
def test_where_only_a_sample_is_checked_the_store_is_the_same(
    name: str, holder: Holder, store_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, right = parse_game(name), store_of(name).read_bytes()
    for module in ("proof", "prove"):
        monkeypatch.setattr(f"solver.proof.{module}.CHECKED_WHOLE", 1000)
    report = build_store(game, tmp_path / "s", jobs=2, holder=holder)
    assert (tmp_path / "s").read_bytes() == right
    assert 0 < report.summary.checked < report.summary.filled / 2


@pytest.mark.parametrize("name", GAMES[:-1])
def test_hands_that_share_no_memory_give_the_same_store_byte_by_byte(name: str, store_of: Any, tmp_path: Path) -> None:
    game, right = parse_game(name), store_of(name).read_bytes()
    build_store(game, tmp_path / "s", crew=lambda: Crew(Pickling(2), 2))
    assert (tmp_path / "s").read_bytes() == right
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


@pytest.mark.parametrize("holder", [Holder.PACKED, Holder.FILES])
def test_parts_of_a_few_halves_and_blocks_of_a_page_give_the_same_store(
    holder: Holder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, parts = parse_game("3,4,3"), list[Chunk]()
    monkeypatch.setattr("solver.store.record._BYTES", 256)  # else a layer of so small a game is one record
    build_store(game, tmp_path / "s", holder=Holder.RAW)
    right = (tmp_path / "s").read_bytes()
    gathered = Layer.gathered

    def counted(*arguments: Any) -> Any:
        for part, children in gathered(*arguments):
            parts.append(part)
            yield part, children

    monkeypatch.setattr(Layer, "gathered", counted)
    monkeypatch.setattr("solver.proof.prove._LEAST_CHECKED_PLACES", 1 << 30)  # else a task is about a part
    cut = []
    for most, block in ((1 << 26, 1 << 15), (1 << 10, 1), (1, 1 << 9)):
        monkeypatch.setattr("solver.proof.prove.around_bytes", lambda hands, most=most: most)
        monkeypatch.setattr("solver.sweep.shelf._BLOCK_BYTES", block)
        parts.clear()
        build_store(game, tmp_path / "s", jobs=2, holder=holder)
        assert (tmp_path / "s").read_bytes() == right
        cut.append(len(parts))
    assert cut[0] < cut[1] <= cut[2]


@pytest.mark.parametrize("holder", [Holder.PACKED, Holder.FILES])
@pytest.mark.parametrize("damage", ["flipped", "cut", "removed"])
def test_damaged_pages_in_memory_or_in_files_are_restored_from_the_records(
    holder: Holder, damage: str, store_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, right = parse_game("3,4,3"), store_of("3,4,3").read_bytes()
    harmed = []
    gather = PackedShelf.gather

    def gathering(self: PackedShelf, *arguments: Any, **options: Any) -> Any:
        """Harm one file of each layer before it is read."""
        names = [name for name in self._folder.sizes() if name == self._name(0)]
        if names and names[0] not in harmed:
            harmed.append(names[0])
            with self._folder.reading(names[0]) as file:
                content = bytearray(file.read())
            content[len(content) // 3] ^= 4
            if damage == "removed":
                self._folder.remove(names)
            else:
                with self._folder.writing(names[0]) as file:
                    file.write(content if damage == "flipped" else content[: len(content) // 2])
        return gather(self, *arguments, **options)

    monkeypatch.setattr(PackedShelf, "gather", gathering)
    build_store(game, tmp_path / "s", jobs=2, holder=holder)
    assert len(harmed) > 4
    assert (tmp_path / "s").read_bytes() == right


class ByHand(Executor):
    """Does each call when it is given out, but for some, which wait until the test ends them."""

    def __init__(self, waits: Callable[..., bool]) -> None:
        self._waits = waits
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        if self._waits(*arguments[1]):  # a crew gives out what it is to do, and that function's own arguments
            self.waiting.append((future, lambda: function(*arguments)))
        else:
            self._end(future, lambda: function(*arguments))
        return future

    def end_one(self) -> None:
        """Do the first call that waits."""
        self._end(*self.waiting.pop(0))

    def _end(self, future: "Future[Any]", call: Callable[[], Any]) -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an hour pass whenever a crew looks at its clock, and let it wait for nothing."""
    clock = count(0, 3600)
    monkeypatch.setattr(crews, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(crews, "_LOOK_SECONDS", 0)


def test_results_come_in_the_order_of_the_calls() -> None:
    hands = ByHand(lambda number: number in (0, 3))

    def call(number: int) -> int:
        if number in (5, 7):
            hands.end_one()
        return number

    with Crew(hands, 8, shares_memory=True) as crew:
        assert list(crew.run(call, [(i,) for i in range(40)])) == list(range(40))
        assert list(crew.run(call, [])) == []


def test_no_more_calls_than_a_thousand_are_given_out_before_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def call(number: int) -> int:
        begun.append(number)
        return number

    monkeypatch.setattr(crews, "_AHEAD", 10)
    with Crew(ByHand(lambda number: False), 4) as crew:
        results = crew.run(call, [(i,) for i in range(100)])
        assert next(results) == 0
        assert len(begun) == 10
        assert [next(results) for _ in range(99)] == list(range(1, 100))


def test_a_call_that_fails_five_times_has_failed() -> None:
    tried = []

    def call() -> None:
        tried.append(1)
        raise PagesDamaged(0, 1)

    with threads(2) as crew, pytest.raises(PagesDamaged):
        list(crew.run(call, [()], lambda error: None))
    assert len(tried) == 5


def test_calls_that_fail_are_mended_for_each_thing_and_made_again() -> None:
    broken = {3: [1], 5: list(range(20))}

    def call(number: int) -> int:
        if broken.get(number):
            raise PagesDamaged(number, broken[number][0])
        return number

    def mend(error: BaseException) -> None:
        assert isinstance(error, PagesDamaged)
        broken[error.layer].remove(error.number)

    with threads(2) as crew:
        assert list(crew.run(call, [(i,) for i in range(9)], mend)) == list(range(9))


@pytest.mark.parametrize("mended", [False, True])
def test_an_error_that_nobody_mends_is_explained(mended: bool) -> None:
    class Explaining(Crew):
        def explained(self, error: BaseException) -> BaseException:
            return ScratchError("explained")

    def mend(error: BaseException) -> None:
        raise error

    def call() -> None:
        raise ZeroDivisionError

    with Explaining(ThreadPoolExecutor(1), 1) as crew, pytest.raises(Ttt4Error, match="explained"):
        list(crew.run(call, [()], mend if mended else None))


class Watched(Crew):
    """A crew that ends a waiting call at its twentieth look, and has then looked often enough."""

    looks = 0

    def require_hands(self) -> None:
        self.looks += 1
        assert self.looks <= 20
        if self.looks == 20:
            self._executor.end_one()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("hours")
@pytest.mark.parametrize("shares_memory", [False, True])
def test_a_late_call_is_given_out_again_and_its_first_result_counts_but_not_where_memory_is_shared(
    shares_memory: bool,
) -> None:
    tried: list[int] = []
    hands = ByHand(lambda number: number == 2 and not hands.waiting and 2 not in tried)

    def call(number: int) -> tuple[int, int]:
        tried.append(number)
        return number, tried.count(number)

    with Watched(hands, 3, shares_memory=shares_memory) as crew:
        results = crew.run(call, [(i,) for i in range(5)])
        assert [next(results) for _ in range(3)] == [(0, 1), (1, 1), (2, 1)]
        assert (crew.looks == 20) == shares_memory
        while hands.waiting:
            hands.end_one()
        assert list(results) == [(3, 1), (4, 1)]
    assert sorted(tried) == [0, 1, *[2] * (1 if shares_memory else 2), 3, 4]


@pytest.mark.parametrize("how", ["stopping the crew", "leaving the run"])
def test_stopping_cancels_what_has_not_begun(how: str) -> None:
    begun, go = [], threading.Event()

    def call(number: int) -> int:
        begun.append(number)
        assert number == 0 or go.wait(60)
        return number

    with threads(1) as crew:
        results = crew.run(call, [(i,) for i in range(500)])
        assert next(results) == 0
        if how == "stopping the crew":
            crew.stop()
        else:
            results.close()  # type: ignore[attr-defined]
        go.set()
    assert len(begun) <= 2


@pytest.mark.parametrize("holder", [Holder.RAW, Holder.PACKED])
def test_a_build_that_runs_out_of_memory_goes_on_with_files(
    holder: Holder, store_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, right = parse_game("3,4,3"), store_of("3,4,3").read_bytes()
    make = LineWork.make
    notes: list[str] = []

    def hungry(self: LineWork, layer: Any, *arguments: Any) -> Any:
        if layer.number < 4 and not notes:
            raise MemoryError
        return make(self, layer, *arguments)

    monkeypatch.setattr(LineWork, "make", hungry)
    build_store(
        game, tmp_path / "s", jobs=2, holder=holder, on_progress=lambda told: notes.extend(filter(None, [told.note]))
    )
    assert notes[0] == "memory has run out: pages go to files from here on"
    assert "resuming" in notes[1]
    assert (tmp_path / "s").read_bytes() == right
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_build_that_has_too_little_memory_even_for_files_says_so_and_is_resumed(
    store_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, right = parse_game("3,4,3"), store_of("3,4,3").read_bytes()

    with monkeypatch.context() as patched:
        patched.setattr(LineWork, "make", raising(MemoryError))
        with pytest.raises(TooLarge, match="too little memory; free some, and the same command resumes"):
            build_store(game, tmp_path / "s", jobs=2)
    build_store(game, tmp_path / "s", jobs=2)
    assert (tmp_path / "s").read_bytes() == right
