"""The worker: one process for all that takes long, so that look-ups do not wait for it.

Questions and answers are lines of JSON on its standard input and output, one at a time. When the server dies,
the worker's input ends, and so does the worker. Questions wait in a fair queue (play/server/fair_queue.py), and each
address pays for the seconds that its own took. A question that several ask at once is answered once.
"""

import asyncio
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from oracle.oracle import SearchingLive
from play.server.allowance import SEARCH, Allowance, charge
from play.server.desk import Desk
from play.server.fair_queue import FairQueue, QueueFull
from play.server.problems import Problem, as_problem
from solver.child import child_command
from solver.errors import Ttt4Error

_PATIENCE = 60.0
"""After how many seconds, beyond those that a search may take, a worker that gives no answer is replaced."""

_LONGEST = 1 << 24

_KEEPING = ("puzzle", "review", "symmetries")
"""The tasks whose answers are kept, because everybody asks the same."""

_KEPT = 500


class _Asked:
    """A question that waits for its answer, or is being answered."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # all askers may have gone
        self.begun = False


class Worker:
    """Asks a process of its own, which is started when it is first needed, and again if it dies."""

    def __init__(
        self, store: str | None, live: bool, seconds: float, allowance: Allowance,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """Give the worker's desk the same settings as the server's."""
        self._settings = (store, live, seconds)
        self._allowance = allowance
        self._clock = clock
        self._process: asyncio.subprocess.Process | None = None
        self._queue: FairQueue[_Asked] = FairQueue()
        self._asked: dict[str, _Asked] = {}
        self._working: asyncio.Task[None] | None = None
        self._kept: dict[str, bytes] = {}

    async def ask(self, address: str, task: str, *arguments: Any) -> bytes:
        """Return the JSON that a task gives; raise Problem if an address has asked too much, or too many wait.

        The address needs an allowance for one second of work, which it gets back when it has paid for the real work.
        """
        question = json.dumps([task, *arguments])
        if question in self._kept:
            return self._kept[question]
        charge(self._allowance, address, SEARCH)
        try:
            told = await asyncio.shield(self._put(address, question).answer)  # others may wait for the same answer
        finally:
            self._allowance.settle(address, -SEARCH)
        if task in _KEEPING:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[question] = told
        return told

    async def close(self) -> None:
        """End the process."""
        for asked in self._asked.values():
            asked.answer.cancel()
        if self._working:
            self._working.cancel()
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    def _put(self, address: str, question: str) -> _Asked:
        """Let a question wait, also in the place of an address that asks what another has asked already."""
        known = self._asked.get(question)
        asked = known or _Asked(question)
        if not asked.begun:
            try:
                dropped = self._queue.put(address, asked)
            except QueueFull:
                if not known:
                    raise self._busy() from None
            else:
                self._asked[question] = asked
                if dropped:
                    del self._asked[dropped.question]
                    dropped.answer.set_exception(self._busy())
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return asked

    async def _work(self) -> None:
        """Answer questions until none waits."""
        while self._queue:
            address, asked = self._queue.take()
            asked.begun, begun = True, self._clock()
            try:
                told: bytes | Exception = await self._answer(asked.question)
            except Exception as error:
                told = error
            seconds = self._clock() - begun
            self._queue.charge(address, seconds)
            self._allowance.settle(address, seconds * SEARCH)
            del self._asked[asked.question]
            if isinstance(told, bytes):
                asked.answer.set_result(told)
            else:
                asked.answer.set_exception(told)

    def _busy(self) -> Problem:
        wait = max(1.0, self._settings[2])
        return Problem(503, "busy", "too many searches are waiting: try again soon", wait=wait)

    async def _answer(self, question: str) -> bytes:
        for attempt in (1, 2):
            process = None
            try:
                async with asyncio.timeout(self._settings[2] * 50 + _PATIENCE):
                    process = await self._ready()
                    process.stdin.write(question.encode() + b"\n")  # type: ignore[union-attr]  # it is a pipe
                    await process.stdin.drain()  # type: ignore[union-attr]
                    line = await process.stdout.readline()  # type: ignore[union-attr]
            except (OSError, TimeoutError):
                line = b""
            if line.endswith(b"\n"):
                return _unpacked(line)
            if process and process.returncode is None:
                process.kill()
            self._process = None
            print(f"Error: the search process ended (attempt {attempt})", file=sys.stderr)
        raise Problem(503, "busy", "the search process has ended: try again", wait=1.0)

    async def _ready(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *child_command("from play.server.worker import work; work()", json.dumps(self._settings)),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LONGEST, start_new_session=True,
            )  # fmt: skip
        return self._process


def work() -> None:
    """Answer the questions on standard input until it ends: what the worker process does."""
    warnings.simplefilter("ignore", SearchingLive)
    store, live, seconds = json.loads(sys.argv[1])
    desk = Desk(store, live=live, seconds=seconds)
    for line in sys.stdin:
        print(answer_of(desk, line), flush=True)


def answer_of(desk: Desk, question: str) -> str:
    """Return the line that answers a question: `+` and the JSON that a task gives, or `-` and the problem."""
    tasks = {task.__name__: task for task in (desk.position, desk.choice, desk.review, desk.puzzle, desk.symmetries)}
    task, *arguments = json.loads(question)
    try:
        return "+" + tasks[task](*arguments)
    except Ttt4Error as error:
        problem = as_problem(error)
        return "-" + json.dumps([problem.status, problem.kind, str(problem)])


def _unpacked(line: bytes) -> bytes:
    if line.startswith(b"+"):
        return line[1:-1]
    raise Problem(*json.loads(line[1:]))
