"""The rows of the log's file: digests by which damage is noticed, and the errors that name it."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from solver.errors import Ttt4Error

ID_BYTES, DIGEST_BYTES = 8, 16
NOT_OLD = -1
START = bytes(DIGEST_BYTES)

LONGEST_VALUE = 1 << 20
"""The longest entry."""


class MatchDamaged(Ttt4Error):
    """A match is not as it was written."""

    kind = "match-damaged"
    exit_code = 4

    def __init__(self, match: bytes, problem: str) -> None:
        """Name the match, and say what is wrong with it."""
        super().__init__(f"match {match.hex()} is damaged{problem}")
        self.match = match


class LogDamaged(Ttt4Error):
    """The file's structure is damaged, so that nothing more is written to it."""

    kind = "log-damaged"
    exit_code = 4


class LogFailed(Ttt4Error):
    """The file cannot be read or written now: no room, no permission, a failing disk, or another process holds it."""

    kind = "log-failed"

    def __init__(self, message: str, *, full: bool = False) -> None:
        """Carry the message, and whether there is no room in the file or on the disk."""
        super().__init__(message)
        self.full = full


class Head(NamedTuple):
    """What is kept of a match besides its entries; in the order of the columns."""

    match: bytes
    created: int
    touched: int
    entries: int
    played: int
    old_since: int
    creator: bytes
    digest: bytes

    @property
    def is_well_formed(self) -> bool:
        """Whether each column has its type."""
        typed = [*map(type, self)] == [bytes, int, int, int, int, int, bytes, bytes]
        return typed and len(self.match) == ID_BYTES and all(-1 << 63 <= each < 1 << 63 for each in self[1:6])

    def seal(self) -> bytes:
        """Return the seal of this row."""
        words = (each.hex() if isinstance(each, bytes) else str(each) for each in self)
        return _digest(" ".join(words).encode())


class Kept(NamedTuple):
    """A match as it is kept: its head, and its entries."""

    head: Head
    entries: list[bytes]


def digests_of(match: bytes, entries: Iterable[bytes], *, after: bytes = START, at: int = 0) -> list[bytes]:
    """Return the digest of each entry of a match, the first as version `at`, after the digest of the one before it."""
    found = []
    for version, entry in enumerate(entries, at):
        after = _digest(after + match + version.to_bytes(4, "big") + entry)
        found.append(after)
    return found


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


def head_of(row: tuple[Any, ...] | None) -> Head | None:
    """Return a row of `matches` without its seal; None if it is not as it was written."""
    if row is None:
        return None
    head = Head(*row[:-1])
    return head if head.is_well_formed and head.seal() == row[-1] else None


def sound_entries(match: bytes, events: Iterable[tuple[Any, ...]]) -> tuple[list[bytes], bytes]:
    """Return the entries before the first one that is not as it was written, and the last one's digest."""
    entries: list[bytes] = []
    last = START
    for version, entry, digest in events:
        if version != len(entries) or not isinstance(entry, bytes):
            break
        (expected,) = digests_of(match, [entry], after=last, at=len(entries))
        if digest != expected:
            break
        entries.append(entry)
        last = expected
    return entries, last
