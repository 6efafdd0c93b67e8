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
    """Raise RecordError unless the file holds this match, perhaps some moves ago."""
    before: tuple[int, ...] | None = None
    if os.path.isfile(path):
        try:
            there = load_record(path, record.match.rules).match
        except RecordError:
            pass
        else:
            same = there.rules == record.match.rules and there.states[0] == record.match.states[0]
            before = there.moves if same else None
    if before is None or record.match.moves[: len(before)] != before:
        raise RecordError(f"{path!r} exists and is not this game: name another file")
