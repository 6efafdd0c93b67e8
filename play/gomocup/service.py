"""How a brain is served to a manager: commands come in on one pipe, answers go out on another, until END.

The main thread reads, and another one thinks, so that END, the end of the input and signals are heard at any time. END
ends the process within a second: what was asked before is answered in a hurry, and a longer thought is abandoned. The
end of the input loses nothing: the present thought finishes, and all that waits is answered, in a hurry.
"""

import os
from collections.abc import Callable
from queue import Queue
from select import select
from threading import Thread
from time import monotonic
from typing import NoReturn

from play.gomocup.brain import HURRY, Brain
from play.gomocup.lines import LineCutter
from solver.cli.streams import reader_left

MOST_WAITING = 1 << 16
"""How many lines may wait for the brain; more stay in the pipe, where END is not heard during a thought."""

_LAST_WORDS = 0.8
"""How long the process goes on after END, in seconds: its manager waits for one."""

_STEP = 0.005
_BLOCK = 1 << 16

_Item = tuple[str, float] | None


class Service:
    """Answers the lines of one pipe on another."""

    def __init__(
        self, brain: Brain, reading: int = 0, writing: int = 1, *,
        clock: Callable[[], float] = monotonic, leave: Callable[[int], NoReturn] = os._exit,
    ) -> None:  # fmt: skip
        """Let a brain answer what comes in on one file descriptor on another; `leave` ends the process."""
        self._brain = brain
        self._reading, self._writing = reading, writing
        self._now, self._leave = clock, leave
        self._waiting: Queue[_Item] = Queue(MOST_WAITING)
        self._thread = Thread(target=self._work, daemon=True)

    def run(self) -> NoReturn:
        """Serve until END or the end of the input, and end the process."""
        self._thread.start()
        told_to_end = self._read()
        self._brain.hurried = True
        self._waiting.maxsize = 0  # nothing more is read
        self._waiting.put(None)
        self._await(told_to_end)
        self._leave(0)

    def _read(self) -> bool:
        """Let all lines wait for the brain, up to END or the end of the input; tell whether there was an END."""
        cutter = LineCutter()
        while received := self._received():
            if self._take(cutter.cut(received)):
                return True
        return self._take([cutter.rest] if cutter.rest else [])

    def _received(self) -> bytes:
        """Return what comes in next; nothing at the end of the input. The pipe may be one that does not block."""
        while True:
            try:
                return os.read(self._reading, _BLOCK)
            except BlockingIOError:
                select([self._reading], [], [])

    def _take(self, lines: list[str]) -> bool:
        """Let lines wait for the brain, up to END; tell whether there was one."""
        ends = [number for number, line in enumerate(lines) if line.partition(" ")[0].upper() == "END"]
        if ends:
            self._brain.hurried = True
            self._waiting.maxsize = 0  # so that END is heard now
            del lines[ends[0] :]
        for line in lines:
            self._waiting.put((line, self._now()))
        return bool(ends)

    def _await(self, told_to_end: bool) -> None:
        """Wait until all is answered: after END only so long as a manager waits, and never if nobody reads answers."""
        until = self._now() + _LAST_WORDS
        while self._thread.is_alive() and not (self._writing == 1 and reader_left()):
            if told_to_end and self._takes_longer(until):
                return
            self._thread.join(_STEP)

    def _takes_longer(self, until: float) -> bool:
        """Tell whether it is later than that, or the present thought is not in a hurry."""
        thinking_until, now = self._brain.thinking_until, self._now()
        return now > until or (thinking_until is not None and thinking_until > min(now + HURRY + _STEP, until))

    def _work(self) -> None:
        while item := self._waiting.get():
            for answer in self._brain.answers(*item):
                self._write(answer)

    def _write(self, line: str) -> None:
        """Write a line at once; end the process if nobody reads it any more."""
        data = f"{line}\n".encode("ascii", "replace")
        while data:
            try:
                data = data[os.write(self._writing, data) :]
            except BlockingIOError:
                select([], [self._writing], [])
            except OSError:
                self._leave(0)
