"""Backups of a log: a text file of JSON, one match a line.

    {"ttt4": "matches", "format": 1}
    {"match": ID, "created": ..., "touched": ..., "played": ..., "creator": ..., "entries": [[ENTRY, DIGEST], ...],
     "seal": ...}
    {"matches": 1}

The words are those of play/server/log_file.py; ids, digests and seals are in hexadecimal. A line is sound by its own
digests, and the last line tells that none is missing.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TextIO

from play.server.log_file import LogFile
from play.server.log_rows import LONGEST_VALUE, NOT_OLD, Head, Kept, MatchDamaged, digests_of
from solver.errors import StoreDamaged

_FIRST = {"ttt4": "matches", "format": 1}
_AT_ONCE = 200
"""How many matches a commit adds, so that the moves of a running server need not wait long."""


class Imported(NamedTuple):
    """What an import has done."""

    added: int
    known: int
    """How many matches the log had already, which stay as they are."""
    problems: list[str]
    """What is damaged in the backup, and was left out."""


def export_matches(file: LogFile, out: TextIO) -> tuple[int, list[MatchDamaged]]:
    """Write all matches to a backup; return how many, and the damaged ones, which are left out."""
    written, damaged = 0, []
    print(json.dumps(_FIRST), file=out)
    for match in sorted(file.matches()):
        try:
            kept = file.read(match)
        except MatchDamaged as error:
            damaged.append(error)
            continue
        if kept:  # else it was dropped meanwhile
            print(json.dumps(_line_of(kept)), file=out)
            written += 1
    print(json.dumps({"matches": written}), file=out)
    return written, damaged


def import_matches(file: LogFile, lines: Iterable[str]) -> Imported:
    """Add the matches of a backup that a log does not have; raise StoreDamaged if it is no backup."""
    numbered = enumerate(lines, 1)
    if _parsed(next(numbered, (1, ""))[1]) != _FIRST:
        raise StoreDamaged("this file is not a backup of matches, or not of this version")
    problems: list[str] = []
    found = _sound(numbered, problems)
    added = known = 0
    while some := list(islice(found, _AT_ONCE)):
        with file.writing():
            new = sum(file.add(kept) for kept in some)
        added, known = added + new, known + len(some) - new
    return Imported(added, known, problems)


def _sound(lines: Iterable[tuple[int, str]], problems: list[str]) -> Iterator[Kept]:
    """Yield the sound matches of a backup, and tell the problems of the others."""
    for number, line in lines:
        content = _parsed(line)
        if isinstance(content, dict) and [*content] == ["matches"]:
            if content["matches"] == number - 2:
                return
            break
        kept = _kept_of(content)
        if kept:
            yield kept
        else:
            problems.append(f"line {number} of the backup is damaged")
    problems.append("the backup was cut short, or a line of it is missing")


def _line_of(kept: Kept) -> dict[str, Any]:
    head = kept.head._replace(old_since=NOT_OLD)
    digests = digests_of(head.match, kept.entries)
    return {
        "match": head.match.hex(), "created": head.created, "touched": head.touched, "played": head.played,
        "creator": _text(head.creator),
        "entries": [[_text(entry), digest.hex()] for entry, digest in zip(kept.entries, digests, strict=True)],
        "seal": head.seal().hex(),
    }  # fmt: skip


def _kept_of(line: Any) -> Kept | None:
    """Return the match in a line of a backup; None if it is not as it was written."""
    try:
        match = bytes.fromhex(line["match"])
        entries = [_bytes(entry) for entry, _ in line["entries"]]
        digests = [bytes.fromhex(digest) for _, digest in line["entries"]]
        head = Head(
            match, line["created"], line["touched"], len(entries), line["played"], NOT_OLD, _bytes(line["creator"]),
            digests[-1],
        )  # fmt: skip
        sound = digests == digests_of(match, entries) and line["seal"] == head.seal().hex()
        fits = head.is_well_formed and all(len(entry) < LONGEST_VALUE for entry in entries)
        return Kept(head, entries) if sound and fits else None
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
