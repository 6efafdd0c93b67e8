"""The file of the log: live matches in an SQLite database, each protected by a chain of digests.

    matches    match      8 bytes, its id
               created    when it was begun, in milliseconds since 1970
               touched    when its last entry was written
               entries    how many entries it has
               played     1 if a person has done anything in it, else 0
               old_since  the reading of `clock` at which it was first found old; -1 if it is not old
               creator    the address that began it
               digest     16 bytes, the digest of its last entry
               seal       16 bytes, see below
    events     match      8 bytes
               version    0 for what the match began with, then 1, 2, ...
               entry      a JSON object
               digest     16 bytes, see below
    clock      running    seconds that servers have run on this file
               read_at    the monotonic clock when that was written

    digest     blake2b of the digest before it (16 zero bytes for version 0), the match, the version as 4 bytes, big
               end first, and the entry; 16 bytes long
    seal       blake2b of the row's other columns as text with a space between each two, bytes in hexadecimal

So a changed bit, and an entry that is missing, moved or exchanged, are noticed when the match is read. An entry 0 has
the key from which the tokens of the match's seats follow, so the file is a secret.

The database has the application id `ttt4`, and its user version is the version of this format. A commit uses a rollback
journal and syncs everything (`synchronous=FULL`), so the file alone has every committed entry. Several processes may
use it.
"""

import math
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from play.server.log_rows import (
    ID_BYTES,
    LONGEST_VALUE,
    NOT_OLD,
    START,
    Head,
    Kept,
    LogDamaged,
    LogFailed,
    MatchDamaged,
    digests_of,
    head_of,
    sound_entries,
)  # fmt: skip
from solver.errors import StoreDamaged, StoreMissing, StoreUnwritable

FILE_BYTES = 2 << 30
"""The largest file."""

_PAGE_BYTES = 4096
_SPARE_PAGES = 256
"""How far beyond its limit the file may grow while matches are deleted."""

_PATIENCE = 10.0
"""How many seconds another process may hold the file."""

_APPLICATION, _FORMAT = int.from_bytes(b"ttt4", "big"), 1

_SCHEMA = {
    b"clock": b"CREATE TABLE clock (running REAL, read_at REAL)",
    b"events": b"CREATE TABLE events (match BLOB, version INTEGER, entry BLOB, digest BLOB, "
    b"PRIMARY KEY (match, version)) WITHOUT ROWID",
    b"matches": b"CREATE TABLE matches (match BLOB PRIMARY KEY, created INTEGER, touched INTEGER, entries INTEGER, "
    b"played INTEGER, old_since INTEGER, creator BLOB, digest BLOB, seal BLOB) WITHOUT ROWID",
}
_UPDATE = (
    "UPDATE matches SET created = ?2, touched = ?3, entries = ?4, played = ?5, old_since = ?6, creator = ?7, "
    "digest = ?8, seal = ?9 WHERE match = ?1"
)
_SETTINGS = (
    "mmap_size = 0", "cell_size_check = ON", "trusted_schema = OFF", "cache_size = -16000", "synchronous = FULL",
    "journal_mode = PERSIST", "journal_size_limit = 1048576",
)  # fmt: skip
_TRANSIENT = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM,
}  # fmt: skip
_SECTIONS = 4096
"""Into how many parts the ids are divided where damage stops a look through all of them."""


class LogFile:
    """The file of one log, opened; threads take turns."""

    def __init__(self, path: str, *, create: bool = True, most_bytes: int | None = None) -> None:
        """Open the file; begin one if there is none and `create` is true."""
        self.path = path
        self.damage = ""
        """What is wrong with the file's structure, as far as that is known."""
        self._lock = threading.RLock()
        self._most_pages = (most_bytes or FILE_BYTES) // _PAGE_BYTES
        if not create and not os.path.exists(path):
            raise StoreMissing(f"no matches are kept yet: there is no {path!r}")
        with _errors_of_opening(path):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with suppress(FileExistsError):  # which is opened by SQLite only: another close would end its locks
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=64
            )
            try:
                self._set_up()
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    # Reading

    def read(self, match: bytes) -> Kept | None:
        """Return a match; None if it is not there. Raise MatchDamaged if it is not as it was written."""
        try:
            with self._transaction("BEGIN"):
                row = self._one("SELECT * FROM matches WHERE match = ?", match)
                events = self._all("SELECT version, entry, digest FROM events WHERE match = ? ORDER BY version", match)
        except LogDamaged as error:
            raise MatchDamaged(match, f": {self.damage}") from error
        except LogFailed as error:
            raise LogFailed(f"match {match.hex()} cannot be read now: {error}") from error
        if row is None and not events:
            return None
        entries, last = sound_entries(match, events)
        head = head_of(row)
        if head is None or head.match != match:
            raise MatchDamaged(match, ": what is kept besides its events is lost")
        if (len(events), len(entries), last) != (head.entries, head.entries, head.digest):
            raise MatchDamaged(match, f" after event {len(entries) - 1}" if entries else " from its beginning on")
        return Kept(head, entries)

    def heads(self, *, unplayed: bool = False, creator: bytes | None = None) -> list[Head]:
        """Return what is kept of matches besides their entries: of all, of unplayed ones, or of those of an address.

        Damaged ones are left out.
        """
        question = "SELECT * FROM matches WHERE (?1 IS NULL OR creator = ?1) AND (NOT ?2 OR NOT played)"
        with self._transaction("BEGIN"):
            rows = self._all(question, creator, unplayed)
        return [head for head in map(head_of, rows) if head]

    def matches(self) -> set[bytes]:
        """Return the ids of all matches, also of damaged ones, as far as they can still be found."""
        found: set[bytes] = set()
        for question in ("SELECT match FROM matches WHERE {}", "SELECT DISTINCT match FROM events WHERE {}"):
            try:
                found |= self._ids(question.format("?"), 1)
            except (LogDamaged, LogFailed):
                for bounds in _sections():
                    with suppress(LogDamaged, LogFailed):
                        found |= self._ids(question.format("match >= ? AND match < ?"), *bounds)
        return found

    def structure(self) -> list[str]:
        """Return what SQLite finds wrong with the file's structure."""
        try:
            with self._transaction("BEGIN"):
                rows = self._all("PRAGMA quick_check(10)")
                clocks = self._one("SELECT count(*) FROM clock")
        except LogDamaged:
            return [self.damage]
        lines = [line for (text,) in rows for line in bytes(text).decode(errors="replace").splitlines()]
        found = [line for line in lines if line != "ok" and not line.startswith("***")]
        found += ["the table `clock` has no single row"] if clocks != (1,) else []
        self.damage = self.damage or ", ".join(found[:1])
        return found

    def other_writes(self) -> int | None:
        """Return a number that changes when another connection writes; None while the file is in use here."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            with self._errors():
                return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        finally:
            self._lock.release()

    # Writing

    @contextmanager
    def writing(self, *, deleting: bool = False) -> Iterator[None]:
        """Commit all that is written meanwhile, or nothing if an error is raised."""
        if self.damage:
            raise LogDamaged(self.damage)
        with self._lock:
            with self._errors():
                pages = self._most_pages + _SPARE_PAGES * deleting
                self._connection.execute(f"PRAGMA max_page_count = {pages}")
            with self._transaction("BEGIN IMMEDIATE"):
                yield

    def append(
        self, match: bytes, version: int, entries: Sequence[bytes], *, now: int, played: bool, creator: bytes
    ) -> bool:
        """Write entries, the first as `version`; return False if that version is taken, or not the next one."""
        row = self._one("SELECT * FROM matches WHERE match = ?", match)
        head = Head(match, now, now, 0, 0, NOT_OLD, creator, START) if row is None else head_of(row)
        if head is None or head.match != match:
            raise MatchDamaged(match, ": what is kept besides its events is lost")
        if head.entries != version:
            return False
        later = head._replace(
            touched=now, entries=version + len(entries), played=int(head.played or played), old_since=NOT_OLD,
            digest=self._write_events(head, entries),
        )  # fmt: skip
        self._write_head(later, new=row is None)
        return True

    def add(self, kept: Kept) -> bool:
        """Write a whole match; return False if there is one with its id."""
        head = kept.head
        known = "SELECT 1 FROM matches WHERE match = ?1 UNION SELECT 1 FROM events WHERE match = ?1"
        if self._one(known, head.match):
            return False
        self._write_events(head._replace(entries=0, digest=START), kept.entries)
        self._write_head(head, new=True)
        return True

    def mark(self, head: Head, old_since: int) -> None:
        """Note since when a match is old, unless it has changed."""
        marked = head._replace(old_since=old_since)
        self._connection.execute(
            "UPDATE matches SET old_since = ?, seal = ? WHERE match = ? AND seal = ?",
            (old_since, marked.seal(), head.match, head.seal()),
        )

    def drop(self, heads: Iterable[Head]) -> int:
        """Delete matches that have not changed, and return how many."""
        dropped = 0
        for head in heads:
            found = self._connection.execute(
                "DELETE FROM matches WHERE match = ? AND seal = ?", (head.match, head.seal())
            )
            if found.rowcount:
                self._connection.execute("DELETE FROM events WHERE match = ?", (head.match,))
                dropped += 1
        return dropped

    def count(self, creator: bytes) -> tuple[int, int]:
        """Return the number of all matches, and of those that an address has begun; ask while `writing`."""
        counts = self._one("SELECT count(*), count(CASE WHEN creator = ? THEN 1 END) FROM matches", creator)
        return counts or (0, 0)

    def run_clock(self, monotonic: float, since: float) -> int:
        """Add the seconds of this machine's clock since a reading to `clock`, and return what that says then.

        Of several servers on this machine, the later one adds what the earlier one has not.
        """
        row = self._one("SELECT running, read_at FROM clock") or ()
        running, read_at = row if all(isinstance(each, float) and math.isfinite(each) for each in row) else (0.0, 0.0)
        begun = read_at if since < read_at <= monotonic else since
        running += max(0.0, monotonic - begun)
        self._connection.execute("UPDATE clock SET running = ?, read_at = ?", (running, monotonic))
        return int(running)

    def is_full(self) -> bool:
        """Tell whether the file is about as large as it may be."""
        with self._transaction("BEGIN"):
            (pages,) = self._one("PRAGMA page_count") or (0,)
            (free,) = self._one("PRAGMA freelist_count") or (0,)
        return bool(pages - free + _SPARE_PAGES >= self._most_pages)

    def _write_events(self, head: Head, entries: Sequence[bytes]) -> bytes:
        """Write the entries that follow those of a match, and return the digest of the last one."""
        digests = digests_of(head.match, entries, after=head.digest, at=head.entries)
        events = [(head.match, at, *each) for at, each in enumerate(zip(entries, digests, strict=True), head.entries)]
        try:
            self._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", events)
        except sqlite3.IntegrityError as error:
            raise MatchDamaged(head.match, f" after event {head.entries - 1}") from error
        return digests[-1] if digests else head.digest

    def _write_head(self, head: Head, *, new: bool) -> None:
        row = (*head, head.seal())
        if new:
            self._connection.execute("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            return
        found = self._connection.execute(_UPDATE, row)
        if found.rowcount != 1:
            raise MatchDamaged(head.match, ": it was found once, and then not")

    def _ids(self, question: str, *bounds: object) -> set[bytes]:
        with self._transaction("BEGIN"):
            rows = self._all(question, *bounds)
        return {match for (match,) in rows if isinstance(match, bytes) and len(match) == ID_BYTES}

    def _one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._connection.execute(statement, values).fetchone()
        return row

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def _set_up(self) -> None:
        connection = self._connection
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        if self._found_schema():
            self._require_ours()
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}").fetchall()
        if not self._found_schema():
            connection.execute("BEGIN IMMEDIATE")
            if not self._found_schema():  # else another server was quicker
                if os.stat(self.path).st_size:
                    raise sqlite3.DatabaseError("it is something else")
                for statement in _SCHEMA.values():
                    connection.execute(statement.decode())
                connection.execute("INSERT INTO clock VALUES (0.0, 0.0)")
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("COMMIT")
        self._require_ours()

    def _found_schema(self) -> dict[bytes, bytes]:
        return dict(self._all("SELECT name, sql FROM sqlite_schema"))

    def _require_ours(self) -> None:
        ours = self._one("PRAGMA application_id") == (_APPLICATION,) and self._one("PRAGMA user_version") == (_FORMAT,)
        if not ours or self._found_schema() != _SCHEMA:
            raise sqlite3.DatabaseError("its tables are not those of a log of matches")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._lock, self._errors():
            self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of SQLite into LogDamaged, which is noted, and LogFailed."""
        try:
            yield
        except MemoryError as error:
            raise LogFailed("there is not enough memory") from error
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a message with a damaged name is no text
            if _is_transient(error):
                full = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
                raise LogFailed(str(error), full=full) from error
            self.damage = self.damage or str(error)
            raise LogDamaged(f"the file of the matches is damaged: {error}") from error


def _sections() -> Iterator[tuple[bytes, bytes]]:
    """Yield bounds that divide all ids into parts."""
    bounds = [(at << 8 * ID_BYTES) // _SECTIONS for at in range(_SECTIONS)]
    starts = [bound.to_bytes(ID_BYTES, "big") for bound in bounds]
    yield from zip(starts, [*starts[1:], b"\xff" * (ID_BYTES + 1)], strict=True)


def _is_transient(error: Exception) -> bool:
    """Tell whether an error says nothing about what the file holds."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, sqlite3.ProgrammingError) or (code is not None and code & 0xFF in _TRANSIENT)


@contextmanager
def _errors_of_opening(path: str) -> Iterator[None]:
    """Turn errors of opening the file into StoreDamaged and StoreUnwritable."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) or _is_transient(error):
            raise StoreUnwritable(f"cannot keep games in {path!r}: {error}") from error
        message = f"the games in {path!r} cannot be read ({error}): move the file away to begin anew or from a backup"
        raise StoreDamaged(message) from error
