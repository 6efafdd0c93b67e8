"""A crew: do many calls at once, with threads, processes or machines, and return the results in order.

Any executor of concurrent.futures will do. If its hands may be lost or delayed without a word, a call is given out
again when nothing has ended for much longer than any call took; the first result counts.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import monotonic
from types import TracebackType
from typing import Any

Mend = Callable[[BaseException], None]
"""Raise the error, or do what is needed for the call to succeed when it is made again."""

_ATTEMPTS = 5
"""A call that fails so many times for the same reason, although what it needed was mended, has failed."""

_AHEAD = 1000
"""So many calls are given out before their turn, at most."""

_LOOK_SECONDS = 1.0
"""How often it is looked whether calls are late."""

LATE, LATE_SECONDS = 3.0, 30.0
"""Calls are late when nothing has ended for so many times as long as the longest took, and so many seconds more.

Each time that they are given out again, it takes twice as long until they are late once more.
"""


class Crew:
    """Hands that do calls: a context manager that lets them go at the end."""

    def __init__(self, executor: Executor, hands: int, *, shares_memory: bool = False) -> None:
        """Do calls with an executor. If its hands do not share this process's memory, calls may be given out again."""
        self.hands = hands
        self.shares_memory = shares_memory
        """Whether a call may use the caller's objects, and not only copies of them."""
        self.longest = 0.0
        """How many seconds the longest call took."""
        self._executor = executor
        self._pending: set[Future[Any]] = set()

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self._executor.shutdown()

    def detail(self) -> str:
        """Return what to say of the hands while they work."""
        return ""

    def require_hands(self) -> None:
        """Raise ScratchError if nobody is left who could do a call."""

    def require_sees(self, folder: Any) -> None:
        """Raise ScratchError unless all hands find the files of a folder."""

    def explained(self, error: BaseException) -> BaseException:
        """Return the error to raise for one that a call has ended with."""
        return error

    def stop(self) -> None:
        """Cancel all calls that have not begun."""
        for future in list(self._pending):
            future.cancel()

    def run(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], mend: Mend | None = None
    ) -> Iterator[Any]:
        """Yield what the function returns for each call's arguments, in order."""
        run = _Run(self, function, mend)
        waiting, todo = deque(_Call(arguments) for arguments in calls), deque[_Call]()
        try:
            while waiting or todo:
                while waiting and len(todo) < _AHEAD:
                    todo.append(waiting.popleft())
                    run.give(todo[-1])
                while not todo[0].done:
                    run.await_one()
                yield todo.popleft().result
        finally:
            run.cancel()

    def submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        """Give a call to the executor; its result comes with the seconds that it took."""
        try:
            future = self._executor.submit(_timed, function, arguments)
        except Exception as error:
            raise self.explained(error) from error
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future


def threads(count: int) -> Crew:
    """Return a crew of threads of this process."""
    return Crew(ThreadPoolExecutor(count), count, shares_memory=True)


@dataclass(eq=False)
class _Call:
    """One call: what it is to do, and what came of it."""

    arguments: tuple[Any, ...]
    failures: Counter[str] = field(default_factory=Counter)
    done: bool = False
    result: Any = None


@dataclass
class _Run:
    """The calls of one run that are under way."""

    crew: Crew
    function: Callable[..., Any]
    mend: Mend | None
    under_way: dict[Future[Any], _Call] = field(default_factory=dict)
    repeats: int = 0
    last_ended: float = field(default_factory=monotonic)

    def give(self, call: _Call) -> None:
        """Let the crew do a call."""
        self.under_way[self.crew.submit(self.function, call.arguments)] = call

    def await_one(self) -> None:
        """Wait until a call has ended, or for some time, and then look whether calls are late."""
        ended, _ = wait(self.under_way, _LOOK_SECONDS, FIRST_COMPLETED)
        for future in ended:
            call = self.under_way.pop(future)
            if not call.done:
                self._end(call, future)
        if ended:
            self.last_ended = monotonic()
        else:
            self.crew.require_hands()
            if not self.crew.shares_memory:
                self._repeat_late()

    def cancel(self) -> None:
        """Cancel what has not begun."""
        for future in self.under_way:
            future.cancel()

    def _end(self, call: _Call, future: Future[Any]) -> None:
        """Take the result of a call, or mend what it failed for and give it out again."""
        try:
            seconds, call.result = future.result()
        except BaseException as error:
            call.failures[repr(error)] += 1
            if self.mend is None or call.failures[repr(error)] >= _ATTEMPTS:
                raise self.crew.explained(error) from error
            try:
                self.mend(error)
            except BaseException as lasting:
                raise self.crew.explained(lasting) from error
            self.give(call)
            return
        call.done = True
        self.crew.longest = max(self.crew.longest, seconds)
        for other in [each for each, of in self.under_way.items() if of is call]:
            self.under_way.pop(other).done = True
            other.cancel()

    def _repeat_late(self) -> None:
        """Give out once more what is under way, if nothing has ended for long."""
        patience = (LATE * self.crew.longest + LATE_SECONDS) * 2**self.repeats
        if monotonic() - self.last_ended > patience:
            for call in list(dict.fromkeys(self.under_way.values()))[: self.crew.hands]:  # no others can be under way
                self.give(call)
            self.last_ended = monotonic()
            self.repeats += 1


def _timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, Any]:
    begun = monotonic()
    result = function(*arguments)
    return monotonic() - begun, result
