"""The worker: one process for all that takes long, so that look-ups do not wait for it.

Questions and answers are lines of JSON on its standard input and output, one at a time. When the server dies,
the worker's input ends, and so does the worker. Few questions wait; more are refused at once.
"""

import asyncio
import json
import sys
import warnings
from typing import Any

from oracle.oracle import SearchingLive
from play.server.desk import Desk
from play.server.problems import Problem, as_problem
from solver.child import child_command
from solver.errors import Ttt4Error

WAITING = 8
"""How many questions may wait for the worker."""

_PATIENCE = 60.0
"""After how many seconds, beyond those that a search may take, a worker that gives no answer is replaced."""

_LONGEST = 1 << 24

_KEEPING = ("puzzle", "review", "symmetries")
"""The tasks whose answers are kept, because everybody asks the same."""

_KEPT = 500


class Worker:
    """Asks a process of its own, which is started when it is first needed, and again if it dies."""

    def __init__(self, store: str | None, live: bool, seconds: float) -> None:
        """Give the worker's desk the same settings as the server's."""
        self._settings = (store, live, seconds)
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._asked: dict[str, asyncio.Task[bytes]] = {}
        self._kept: dict[str, bytes] = {}

    async def ask(self, task: str, *arguments: Any) -> bytes:
        """Return the JSON that a task gives; raise Problem if too many questions wait already."""
        question = json.dumps([task, *arguments])
        if question in self._kept:
            return self._kept[question]
        answer = self._asked.get(question)
        if answer is None:
            if len(self._asked) > WAITING:
                seconds = self._settings[2]
                raise Problem(503, "busy", "too many searches are waiting: try again soon", wait=max(1.0, seconds))
            answer = self._asked[question] = asyncio.create_task(self._answer(question))
            answer.add_done_callback(lambda done: (self._asked.pop(question), done.cancelled() or done.exception()))
        told = await asyncio.shield(answer)  # others may wait for the same answer
        if task in _KEEPING:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[question] = told
        return told

    async def close(self) -> None:
        """End the process."""
        for answer in self._asked.values():
            answer.cancel()
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _answer(self, question: str) -> bytes:
        async with self._turn:
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
