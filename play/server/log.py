"""The log: every event of every live match, on disk before anybody is told of it.

A version is written once: a second writer is told that it is taken. One thread writes. What is asked of it while it
commits is written in its next commit, so that many matches share one sync. Several servers may use the same file;
each hears of the others' events within a quarter of a second, but not of offers to take back.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from play.server.log_check import Checked, check
from play.server.log_file import LogFile
from play.server.log_rows import LogDamaged, LogFailed, MatchDamaged
from play.server.problems import Problem
from play.server.retention import MOST_MATCHES, Retention
from solver.errors import Ttt4Error

_CHECKED_BYTES = 100 << 20
"""The largest file in which every match is checked at the start."""

Result = bool | Ttt4Error


class Write(NamedTuple):
    """Events to write: the match, the version of the first, the events, and who is told of the result."""

    match: bytes
    version: int
    events: Sequence[bytes]
    played: bool
    creator: str
    loop: asyncio.AbstractEventLoop
    written: "asyncio.Future[bool]"


class Crowded(Ttt4Error):
    """There is no place for another match: of one address, or of any."""

    def __init__(self, creator: str | None) -> None:
        """Carry the address that has begun too many; None if there are too many in all."""
        super().__init__("there is no place for another match")
        self.creator = creator


class Log:
    """The log of one file; a context manager."""

    def __init__(
        self, path: str, *, most_of_one: int = MOST_MATCHES,
        wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """Open the log, or begin one, in which an address may have begun `most_of_one` of the kept matches."""
        self.path = path
        self.file = LogFile(path)
        self.wall = wall
        self.most_of_one = most_of_one
        self.retention = Retention(self.file, lambda: self.wall(), monotonic)
        self.in_use: Callable[[], Collection[bytes]] = frozenset
        """Which matches are not to be dropped now."""
        self._known: set[bytes] = set()
        self._queue: list[Write] = []
        self._wake = threading.Condition()
        self._closing = False
        self._seen = self.file.other_writes()
        self._writer = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """Write what is still waiting, and close the file."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._writer.join()
        self.file.close()

    def check(self) -> Checked:
        """Check the file, and remember which matches it has. Those of a large file are checked when they are read."""
        found = check(self.file, quick=os.stat(self.path).st_size > _CHECKED_BYTES)
        self._known |= found.matches
        return found

    async def append(
        self, match: bytes, version: int, events: Sequence[bytes], *, played: bool = False, creator: str = ""
    ) -> bool:
        """Write events, the first as `version`; return False if that version is taken, and then nothing is written.

        When this returns True, the events are on disk. An error is raised if they could not be written. `played` says
        that a person made them; the address that begins a match is its `creator`.
        """
        loop = asyncio.get_running_loop()
        written: asyncio.Future[bool] = loop.create_future()
        with self._wake:
            self._queue.append(Write(match, version, events, played, creator, loop, written))
            self._wake.notify()
        return await asyncio.shield(written)  # a caller that has gone stops nothing

    def events(self, match: bytes, version: int = 0) -> list[bytes]:
        """Return the events of a match from a version on; none if there is no such match.

        Raise MatchDamaged if they are not as they were written, and LogDamaged if they may be lost.
        """
        kept = self.file.read(match)
        if kept:
            self._known.add(match)
            return kept.entries[version:]
        if match in self._known and not self.file.damage:
            self.file.structure()
        if self.file.damage:
            raise LogDamaged(f"match {match.hex()} is not found, and the file of the matches is damaged")
        self._known.discard(match)
        return []

    def written_elsewhere(self) -> bool:
        """Tell whether another process has written since this was last asked."""
        now = self.file.other_writes()
        if now is None or now == self._seen:
            return False
        self._seen = now
        return True

    def _write_all(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                batch, self._queue = self._queue, []
            if not batch:
                return
            for write, result in zip(batch, self._results(batch), strict=True):
                with suppress(RuntimeError):  # the loop has ended
                    write.loop.call_soon_threadsafe(_tell, write.written, result)

    def _results(self, batch: Sequence[Write]) -> Sequence[Result]:
        """Commit, with more room if that helps; one by one if that may save some."""
        try:
            return self._commit(batch)
        except Ttt4Error as error:
            full = isinstance(error, LogFailed) and error.full
            if full and self._made_room():
                return self._results(batch)
            if len(batch) > 1 and (full or isinstance(error, MatchDamaged)):
                return [result for write in batch for result in self._results([write])]
            return [_as_problem(error)] * len(batch)

    def _made_room(self) -> bool:
        with suppress(LogFailed, LogDamaged):
            return self.file.is_full() and self.retention.make_room_in_file(self.in_use())
        return False

    def _commit(self, batch: Sequence[Write]) -> Sequence[Result]:
        with self.file.writing():
            return [self._written(write) for write in batch]

    def _written(self, write: Write) -> Result:
        creator = write.creator.encode()
        if write.version == 0:
            total, own = self.file.count(creator)
            if own >= self.most_of_one:
                return Crowded(write.creator)
            if total >= MOST_MATCHES:
                return Crowded(None)
        return self.file.append(
            write.match, write.version, write.events, now=int(1000 * self.wall()), played=write.played, creator=creator
        )


def _tell(written: "asyncio.Future[bool]", result: Result) -> None:
    if written.done():
        return
    if isinstance(result, Exception):
        written.set_exception(result)
    else:
        written.set_result(result)


def _as_problem(error: Ttt4Error) -> Ttt4Error:
    """Return the problem of an error that a retry may not meet again."""
    if not isinstance(error, LogFailed):
        return error
    return Problem(503, "log-unwritable", f"the game cannot be kept: {error}", wait=5.0)
