"""Records: a match as text that a person can read, in the manner of chess's PGN.

    [Game "4,4,4"]
    [X "human"]
    [O "oracle"]
    [Date "2026-11-18"]
    [Result "*"]

    1. b2 c3
    2. a1 *

Tags in any order, then numbered pairs of moves, X's first, and the result: `1-0` X has won, `0-1` O has,
`1/2-1/2` a draw, `*` not ended. A result that the board does not show is a resignation. Lines that begin
with `#` are remarks. A record that is read is played through, so that no impossible game comes of it.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field

from play.match import Match
from play.rules import LineRules, LineState, Status
from solver.atomic import write_whole
from solver.errors import Ttt4Error
from solver.games.notation import parse_game

RESULTS = {Status.X_WON: "1-0", Status.O_WON: "0-1", Status.DRAW: "1/2-1/2", Status.IN_PROGRESS: "*"}
_STATUSES = {result: status for status, result in RESULTS.items()}
_TAG = re.compile(r'\[(\w+)\s+"([^"]*)"\]')


class RecordError(Ttt4Error):
    """What is wrong with a record, and in which line."""

    exit_code = 2


@dataclass
class Record:
    """A match, who played it, and how it ended if not by its last move."""

    match: Match[LineState]
    tags: dict[str, str] = field(default_factory=dict)
    resigned: str | None = None
    """Who gave up, if somebody did."""
    remarks: tuple[str, ...] = ()
    """Lines that begin with #; they are written above the rest."""

    @property
    def result(self) -> str:
        """`1-0`, `0-1`, `1/2-1/2` or `*`."""
        if self.resigned:
            return RESULTS[Status.O_WON if self.resigned == "X" else Status.X_WON]
        return RESULTS[self.match.status]

    def __str__(self) -> str:
        tags = {"Game": self.match.rules.name, **self.tags, "Result": self.result}
        moves = [self.match.rules.write(move) for move in self.match.moves]
        pairs = [f"{i // 2 + 1}. {' '.join(moves[i : i + 2])}" for i in range(0, len(moves), 2)]
        pairs[-1:] = [f"{pairs[-1] if pairs else ''} {self.result}".strip()]
        lines = [*self.remarks, *(f'[{name} "{value}"]' for name, value in tags.items()), "", *pairs]
        return "\n".join(lines) + "\n"


def read_record(text: str, name: str = "record") -> Record:
    """The match that a text records; RecordError, naming the line, if it records none."""
    tags: dict[str, str] = {}
    words: list[tuple[int, str]] = []
    remarks: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if line.startswith("["):
            tag = _TAG.fullmatch(line)
            if not tag or words:
                raise _wrong(name, number, f"{line[:60]!r} is no tag" if not tag else "a tag stands below the moves")
            if tag[1] in tags:
                raise _wrong(name, number, f"tag {tag[1]} stands there twice")
            tags[tag[1]] = tag[2]
            if tag[1] == "Game":
                _checked_game(tag[2], name, number)
        elif line.startswith("#"):
            remarks.append(line)
        else:
            words += [(number, word) for word in line.split()]
    if "Game" not in tags:
        raise _wrong(name, 1, 'there is no [Game "rows,columns,k"]')
    match = Match(LineRules(parse_game(tags.pop("Game"))))
    said = tags.pop("Result", None)
    resigned = _play_through(match, words, said, name)
    return Record(match, tags, resigned, tuple(remarks))


def load_record(path: str) -> Record:
    """The record in a file; RecordError if it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return read_record(file.read(), path)
    except UnicodeDecodeError:
        raise RecordError(f"{path!r} is no text: name a file that ttt4-play wrote") from None
    except OSError as error:
        raise RecordError(f"cannot read {path!r}: {error.strerror}; name a file that ttt4-play wrote") from error


def export_record(record: Record, path: str) -> None:
    """Write a record where a person wants it: to a new file, or over another record; RecordError if it cannot be."""
    try:
        path = os.path.realpath(os.path.expanduser(path))
        if os.path.lexists(path):
            _require_same_game(record, path)
        elif not os.path.isdir(os.path.dirname(path)):
            raise RecordError(f"cannot write {path!r}: there is no such folder; name another file")
        save_record(record, path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordError(f"cannot write {path!r}: {why}; name another file") from error


def save_record(record: Record, path: str) -> None:
    """Write a record; a kill or a power cut leaves what was there before, or all of it."""
    write_whole(path, str(record).encode())


def _require_same_game(record: Record, path: str) -> None:
    """Nothing, if what stands there is this game, at most some moves ago."""
    before: tuple[int, ...] | None = None
    if os.path.isfile(path):
        with suppress(RecordError):
            there = load_record(path).match
            before = there.moves if there.rules == record.match.rules else None
    if before is None or record.match.moves[: len(before)] != before:
        raise RecordError(f"{path!r} is there and is not this game: name another file")


def _checked_game(text: str, name: str, number: int) -> None:
    try:
        parse_game(text)
    except Ttt4Error as error:
        raise _wrong(name, number, str(error)) from error


def _play_through(match: Match[LineState], words: list[tuple[int, str]], said: str | None, name: str) -> str | None:
    """Make the moves, compare the result, and tell who resigned."""
    result = None
    for number, word in words:
        if result:
            raise _wrong(name, number, f"{word[:20]!r} stands behind the result")
        if word in _STATUSES:
            result = word
        elif re.fullmatch(r"\d{1,6}\.", word):
            if match.over:
                raise _wrong(name, number, f"{word} stands behind the end of the game")
            if len(match.moves) % 2:
                raise _wrong(name, number, f"{word} stands where O's move is due")
            if int(word[:-1]) != len(match.moves) // 2 + 1:
                raise _wrong(name, number, f"{word} stands where move {len(match.moves) // 2 + 1} is due")
        else:
            try:
                match.play(match.to_move or "X", match.rules.read(word))
            except Ttt4Error as error:
                raise _wrong(name, number, f"{word[:20]!r}: {error}") from error
    last = words[-1][0] if words else 1
    if result is None:
        raise _wrong(name, last, "the moves end without a result (1-0, 0-1, 1/2-1/2, or * if the game goes on)")
    if said is not None and said != result:
        raise _wrong(name, last, f"the result is {result}, and the tag says {said[:20]!r}")
    if result == RESULTS[match.status]:
        return None
    if match.over or result == RESULTS[Status.DRAW]:
        raise _wrong(name, last, f"the result is {result}, but the board shows {RESULTS[match.status]}")
    return "O" if result == RESULTS[Status.X_WON] else "X"


def _wrong(name: str, number: int, why: str) -> RecordError:
    return RecordError(f"{name}, line {number}: {why}")
