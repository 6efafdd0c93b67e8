"""Records in files: load one that may be anything, and write one without losing what was there."""

import os
from typing import Any

from play.records.text import Record, RecordError, read_record
from solver.files import read_whole, write_whole
from solver.games.rules import Rules


def load_record(path: str, rules: Rules[Any] | None = None) -> Record:
    """Return the record in a file; raise RecordError if it cannot be read."""
    try:
        return read_record(read_whole(path).decode("utf-8-sig"), path, rules)
    except UnicodeDecodeError:
        raise RecordError(f"{path!r} is not text: name a file that ttt4-play wrote") from None
    except OSError as error:
        raise RecordError(f"cannot read {path!r}: {error.strerror}; name a file that ttt4-play wrote") from error


def save_record(record: Record, path: str) -> None:
    """Write a record; a kill or a power cut leaves what was there before, or all of it."""
    write_whole(path, str(record).encode())


def export_record(record: Record, path: str) -> None:
    """Write a record where a person wants it: to a new file or over the same match; raise RecordError otherwise."""
    try:
        path = os.path.realpath(os.path.expanduser(path))
        if os.path.lexists(path):
            _require_same_match(record, path)
        elif not os.path.isdir(os.path.dirname(path)):
            raise RecordError(f"cannot write {path!r}: there is no such folder; name another file")
        save_record(record, path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordError(f"cannot write {path!r}: {why}; name another file") from error


def _require_same_match(record: Record, path: str) -> None:
    """Raise RecordError unless the file holds this record, perhaps some events ago."""
    if not os.path.isfile(path) or not _continues(record, path):
        raise RecordError(f"{path!r} exists and is not this game: name another file")


def _continues(record: Record, path: str) -> bool:
    """Tell whether a record is the one in a file, with more events perhaps."""
    try:
        there = load_record(path, record.match.rules)
    except RecordError:
        return False
    before, now = there.match, record.match
    same = before.rules == now.rules and before.rules.key(before.start) == now.rules.key(now.start)
    events = [[event._replace(time=None) for event in match.events] for match in (before, now)]
    return (
        same
        and events[1][: len(events[0])] == events[0]
        and there.tags.items() <= record.tags.items()
        and there.remarks == record.remarks
    )
