"""Retention: how many matches are kept, for how long, and which go first.

A match is old some days after its last event. It is dropped when a day of the server's running time has passed since
it was first found old, so that a clock that jumps deletes nothing at once. Where there are too many matches, those in
which nobody has moved make room, first of all the older ones of the address that has most of them. A match with a move
makes room for nobody.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable

from play.server.log_file import LogFile
from play.server.log_rows import NOT_OLD, Head

KEPT_DAYS = 30
"""How long a match is kept after its last event."""

UNPLAYED_DAYS = 7
"""How long a match is kept in which nobody has moved."""

MOST_MATCHES = 20_000
"""The most matches kept at once."""

MOST_OF_ONE = 1_000
"""The most matches kept at once that one address has begun. At their longest they take half of the file."""

_DAY = 86_400
_AT_ONCE = 500
"""How many matches a commit may drop, so that moves need not wait long."""


class Retention:
    """Drops matches from a file."""

    def __init__(self, file: LogFile, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        """Go by these clocks."""
        self._file = file
        self._wall = wall
        self._monotonic = monotonic
        self._read_at = monotonic()

    def tidy(self, in_use: Collection[bytes]) -> None:
        """Drop matches that have been found old for a day, and note which others are old."""
        running = self._running()
        now = self._wall()
        heads = [head for head in self._file.heads() if head.match not in in_use]
        old = {head for head in heads if is_old(head, now)}
        marked = {head for head in old if NOT_OLD < head.old_since <= running}
        marks = [(head, running) for head in old - marked]
        marks += [(head, NOT_OLD) for head in heads if head not in old and head.old_since != NOT_OLD]
        for at in range(0, len(marks), _AT_ONCE):
            with self._file.writing(deleting=True):
                for head, since in marks[at : at + _AT_ONCE]:
                    self._file.mark(head, since)
        self._drop([head for head in marked if running - head.old_since >= _DAY])

    def make_room(self, creator: str | None, most: int, in_use: Collection[bytes]) -> bool:
        """Make room for another match, of an address or of any; return False if all have moves or are in use."""
        with self._file.writing():
            total, own = self._file.count((creator or "").encode())
        surplus = (total if creator is None else own) - most
        if surplus < 0:
            return True
        heads = self._file.heads(unplayed=True, creator=None if creator is None else creator.encode())
        return self._drop(first_to_go(heads, in_use)[: surplus + max(1, most // 100)]) > surplus

    def make_room_in_file(self, in_use: Collection[bytes]) -> bool:
        """Make room in a file that is full; return False if all matches have moves or are in use."""
        heads = first_to_go(self._file.heads(unplayed=True), in_use)
        return self._drop(heads[: max(1, len(heads) // 20)]) > 0

    def _drop(self, heads: list[Head]) -> int:
        dropped = 0
        for at in range(0, len(heads), _AT_ONCE):
            with self._file.writing(deleting=True):
                dropped += self._file.drop(heads[at : at + _AT_ONCE])
        return dropped

    def _running(self) -> int:
        """Return for how many seconds servers have run on this file."""
        monotonic = self._monotonic()
        with self._file.writing(deleting=True):
            running = self._file.run_clock(monotonic, self._read_at)
        self._read_at = monotonic
        return running


def is_old(head: Head, now: float) -> bool:
    """Tell whether a match has had no event for so long that it may go, `now` being in seconds."""
    return now - head.touched / 1000 > (KEPT_DAYS if head.played else UNPLAYED_DAYS) * _DAY


def first_to_go(heads: Iterable[Head], in_use: Collection[bytes]) -> list[Head]:
    """Return the unplayed matches, the first to go first: an address has only its newest one among the last."""
    newest_first = sorted((head for head in heads if not head.played and head.match not in in_use), key=_age)
    seen: Counter[bytes] = Counter()
    places = {}
    for head in newest_first:
        seen[head.creator] += 1
        places[head] = seen[head.creator]
    return sorted(newest_first, key=lambda head: (-places[head], head.created, head.match))


def _age(head: Head) -> tuple[int, bytes]:
    return -head.created, head.match
