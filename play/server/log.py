"""The log: every event of every live match, in one LMDB file, on disk before anybody is told of it.

    key      8 bytes   the match, and
             4 bytes   the version that the event makes it, big-endian; 0 for what the match began with
    value    a JSON object

    key      `secret`
    value    32 random bytes, from which the seats' tokens follow

A version is written once: a second writer is told that it is taken. One thread writes. What is asked of it while it
commits is written in its next commit, so that many matches share one sync. Several servers may use the same file;
each hears of the others' events within a quarter of a second, but not of offers to take back.
"""

import asyncio
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import lmdb

from play.server.problems import Problem
from solver.errors import StoreDamaged, StoreUnwritable

ID_BYTES, VERSION_BYTES = 8, 4
MOST_MATCHES = 20_000
"""How many matches may be kept at once."""

_MAP_BYTES = 1 << 31
_SECRET = b"secret"

Write = tuple[bytes, int, Sequence[bytes], asyncio.AbstractEventLoop, "asyncio.Future[bool]"]


class Log:
    """The log of one file; a context manager."""

    def __init__(self, path: str) -> None:
        """Open the log, or begin one."""
        self.path = path
        with _errors_of(path):
            self._env = _opened(path)
            self.secret = self._kept_secret()
        self._queue: list[Write] = []
        self._wake = threading.Condition()
        self._closing = False
        self._seen, self._foreign = self._env.info()["last_txnid"], False
        self._writer = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """Write what is still waiting, and close the file."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._writer.join()
        self._env.close()

    async def append(self, match: bytes, version: int, events: Sequence[bytes]) -> bool:
        """Write events, the first as `version`; return False if that version is taken, and then nothing is written.

        When this returns True, the events are on disk. Problem is raised if they could not be written.
        """
        loop = asyncio.get_running_loop()
        written: asyncio.Future[bool] = loop.create_future()
        with self._wake:
            self._queue.append((match, version, events, loop, written))
            self._wake.notify()
        return await asyncio.shield(written)  # a caller that has gone stops nothing

    def events(self, match: bytes, version: int = 0) -> list[bytes]:
        """Return the events of a match from a version on; none if there is no such match."""
        with self._env.begin() as transaction, transaction.cursor() as cursor:
            found = []
            if cursor.set_range(_key(match, version)):
                for key, value in cursor:
                    if key[:ID_BYTES] != match or len(key) != ID_BYTES + VERSION_BYTES:
                        break
                    found.append(bytes(value))
            return found

    def last_events(self) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Yield every match with its first and its last event."""
        with self._env.begin() as transaction, transaction.cursor() as cursor:
            more = cursor.first()
            while more:
                key = cursor.key()
                if len(key) != ID_BYTES + VERSION_BYTES:
                    more = cursor.next()
                    continue
                match, first = key[:ID_BYTES], bytes(cursor.value())
                after = cursor.set_range(_after(match))
                if after:
                    cursor.prev()
                else:
                    cursor.last()
                    while len(cursor.key()) != ID_BYTES + VERSION_BYTES:
                        cursor.prev()
                yield match, first, bytes(cursor.value())
                more = cursor.set_range(_after(match))

    def drop(self, matches: Sequence[bytes]) -> None:
        """Delete matches; raise Problem if that is impossible."""
        try:
            with self._env.begin(write=True) as transaction, transaction.cursor() as cursor:
                self._lengthen()
                for match in matches:
                    while cursor.set_range(match) and cursor.key()[:ID_BYTES] == match:
                        cursor.delete()
        except (lmdb.Error, OSError) as error:
            raise _unwritable(error) from error

    def written_elsewhere(self) -> bool:
        """Tell whether another process has written since this was last asked."""
        with self._wake:
            last = self._env.info()["last_txnid"]
            elsewhere, self._foreign = self._foreign or last > self._seen, False
            self._seen = max(last, self._seen)
        return elsewhere

    def _kept_secret(self) -> bytes:
        with self._env.begin(write=True) as transaction:
            transaction.put(_SECRET, secrets.token_bytes(32), overwrite=False)
            return bytes(transaction.get(_SECRET) or b"")

    def _write_all(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                batch, self._queue = self._queue, []
            if not batch:
                return
            try:
                results = self._commit(batch)
            except (lmdb.Error, OSError) as error:
                results = [_unwritable(error)] * len(batch)
            for (_, _, _, loop, written), result in zip(batch, results, strict=True):
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(_tell, written, result)

    def _commit(self, batch: Sequence[Write]) -> list[bool | Problem]:
        results: list[bool | Problem] = []
        with self._env.begin(write=True) as transaction:
            for match, version, events, _, _ in batch:
                taken = transaction.get(_key(match, version)) is not None
                gap = version > 0 and transaction.get(_key(match, version - 1)) is None
                if taken or gap:
                    results.append(False)
                    continue
                for at, event in enumerate(events, version):
                    transaction.put(_key(match, at), event, overwrite=False)
                results.append(True)
            number = transaction.id()
        if True in results:  # else nothing was written, and the next to write gets this number
            with self._wake:
                self._foreign |= number > self._seen + 1  # commits are numbered, whoever makes them
                self._seen = max(number, self._seen)
        return results

    def _lengthen(self) -> None:
        """Make room in the file for every page that a deletion may number, while nobody else writes.

        LMDB numbers new pages from the last one on, and does not write the ones that are free again in the end:
        without this, the file could look cut short. What is never written takes no room on the disk.
        """
        size = (2 * self._env.info()["last_pgno"] + 64) * self._env.stat()["psize"]
        if os.stat(self.path).st_size < size:
            os.truncate(self.path, size)


def _tell(written: "asyncio.Future[bool]", result: bool | Problem) -> None:
    if written.done():
        return
    if isinstance(result, Problem):
        written.set_exception(result)
    else:
        written.set_result(result)


def _unwritable(error: Exception) -> Problem:
    return Problem(503, "log-unwritable", f"the game cannot be kept: {error}", wait=5.0)


def _key(match: bytes, version: int) -> bytes:
    return match + version.to_bytes(VERSION_BYTES, "big")


def _after(match: bytes) -> bytes:
    return match + b"\xff" * (VERSION_BYTES + 1)


def _opened(path: str) -> lmdb.Environment:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    env = lmdb.open(path, subdir=False, map_size=_MAP_BYTES, mode=0o600, max_readers=64)
    if os.stat(path).st_size < (env.info()["last_pgno"] + 1) * env.stat()["psize"]:
        env.close()
        raise lmdb.CorruptedError("it was cut short")
    return env


@contextmanager
def _errors_of(path: str) -> Iterator[None]:
    """Turn errors of opening the file into StoreDamaged and StoreUnwritable."""
    try:
        yield
    except (lmdb.InvalidError, lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.VersionMismatchError) as error:
        raise StoreDamaged(
            f"the games in {path!r} cannot be read ({error}): move the file away to begin anew"
        ) from error
    except (lmdb.Error, OSError) as error:
        raise StoreUnwritable(f"cannot keep games in {path!r}: {error}") from error
