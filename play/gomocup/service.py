"""How a brain is served to a manager: commands come in on one pipe, answers go out on another, until END.

The main thread reads, and another one thinks, so that END, the end of the input and signals are heard at any time. What
was asked before is still answered, in a hurry: a thought that would take longer is abandoned, with the process.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from queue import Full, Queue
from threading import Lock, Thread
from time import monotonic
from typing import NoReturn

from play.gomocup.brain import HURRY, Brain
from play.gomocup.lines import LineCutter
from solver.cli.streams import reader_left

MOST_WAITING = 10_000
"""How many lines may wait while the brain thinks."""

_LAST_WORDS = 0.8
"""How long the process goes on after the end of its input, in seconds: its manager waits for one."""

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
        self._lock = Lock()
        self._complained = False

    def run(self) -> NoReturn:
        """Serve until END or the end of the input, and end the process."""
        self._thread.start()
        cutter, told_to_end = LineCutter(), False
        while not told_to_end and (received := os.read(self._reading, _BLOCK)):
            lines = cutter.cut(received)
            told_to_end = self._take(lines)
        if not told_to_end:
            self._take([cutter.rest] if cutter.rest else [])
        self._brain.hurried = True
        self._await(told_to_end)
        self._leave(0)

    def _take(self, lines: list[str]) -> bool:
        """Let lines wait for the brain, up to END; tell whether there was one."""
        ends = [number for number, line in enumerate(lines) if line.partition(" ")[0].upper() == "END"]
        if ends:
            self._brain.hurried = True
            del lines[ends[0] :]
        for line in lines:
            self._put((line, self._now()))
        return bool(ends)

    def _put(self, item: _Item) -> None:
        """Let a line wait; if too many do while the brain thinks, lose it, so that END is heard behind them."""
        while not (self._waiting.full() and self._brain.thinking_until is not None):
            with suppress(Full):
                self._waiting.put(item, timeout=_STEP)
                return
        if not self._complained:
            self._complained = True
            self._write("ERROR too many commands during a thought: some are lost")

    def _await(self, told_to_end: bool) -> None:
        """Wait until all is answered, but not for a thought that takes long, nor for a reader who has left."""
        until = self._now() + _LAST_WORDS
        patience = HURRY + _STEP if told_to_end else _LAST_WORDS
        while self._thread.is_alive() and not (self._writing == 1 and reader_left()):
            if self._waiting.empty():
                self._waiting.put(None)  # the last item
            thinking_until, now = self._brain.thinking_until, self._now()
            if thinking_until is not None and thinking_until > min(now + patience, until):
                return
            if self._brain.loading and not told_to_end:
                until = now + _LAST_WORDS
            elif now > until:
                return
            self._thread.join(_STEP)

    def _work(self) -> None:
        while item := self._waiting.get():
            for answer in self._brain.answers(*item):
                self._write(answer)

    def _write(self, line: str) -> None:
        """Write a line at once; end the process if nobody reads it any more."""
        data = f"{line}\n".encode("ascii", "replace")
        try:
            with self._lock:
                while data:
                    data = data[os.write(self._writing, data) :]
        except OSError:
            self._leave(0)
