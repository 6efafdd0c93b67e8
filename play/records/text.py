"""Records: a match and who played it, as text that a person can read and write.

    [Game "4,4,4"]
    [X "human"]
    [O "oracle"]
    [Date "2026-11-18"]
    [Times "2026-11-18T20:15:00Z +4 +3 +5"]
    [Result "*"]

    1. b2 b1
    2. c3 undo
    2. a1 *

Tags in any order, then the events, then the result: `1-0` if the first of the game's sides has won, `0-1` if the
second has, `1/2-1/2` for a draw, `*` if the match goes on. Where there are more sides, the result has the share of
each: `0-0-1`, `1/3-1/3-1/3`, or `1/2-1/2-0` if the third had left before the draw. A round has as many moves as there
are sides, and begins with its number, or with `1...` after an undo or a resignation in its middle.
A move that captured tiles says how many: `b3x2`. Besides moves there are `undo`, `redo`, `restart`, `X-resigns` and
`X-forfeits`. The tag `Forfeit` has the reasons of all forfeits, joined by ` | `. In a game of two sides, a result that
the board does not show is a resignation.

`Board` sets up another first state, and `First` says which mark begins in a game of lines. `Times` holds when each
event happened: the first in full, the others in seconds since the one before, `?` if unknown. Lines that begin
with `#` are remarks. A record is played through as it is read, so that no impossible match comes out of it.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from play.match import FORFEITED, MADE_AGAIN, MOVED, RESIGNED, STARTED_OVER, TOOK_BACK, Event, Match, MatchError
from solver.errors import GameError, Ttt4Error
from solver.games.board_rules import BoardRules, captured_by
from solver.games.line_rules import EitherBegins, LineRules
from solver.games.registry import find_game, may_be_recorded
from solver.games.rules import Outcome, Rules, points, set_up
from solver.games.wide import WideRules
from solver.own_code import is_own
from solver.text import shown

ONGOING = "*"
_WORDS = {"undo": TOOK_BACK, "redo": MADE_AGAIN, "restart": STARTED_OVER}
_WRITTEN = {kind: word for word, kind in _WORDS.items()}
_GIVING_UP = {"resigns": RESIGNED, "forfeits": FORFEITED}
TAG = re.compile(r'\[(\w+)\s+"([^"\r\n]*)"\]')
_CAPTURING = re.compile(r"([a-z]+[0-9]+)x([0-9])", re.IGNORECASE | re.ASCII)
_ROUND = re.compile(r"(\d{1,6})(\.|\.\.\.)")
STAMP = "%Y-%m-%dT%H:%M:%SZ"
_TIMES = range(253_402_300_800)
"""From 1970 to the year 9999, which a stamp can say."""
_TAG_SAFE = str.maketrans('"|\r\n', "'/  ")
"""What cannot stand in a reason, because the tag could then not be read."""
OWN_TAGS = ("Game", "Board", "First", "Times", "Forfeit", "Result")
"""Tags that follow from the match; all others are the record's own."""


class RecordError(Ttt4Error):
    """What is wrong with a record, and in which line."""

    kind = "bad-record"
    exit_code = 2
    own_game_tags: dict[str, str] | None = None
    """The record's tags, if its game is code or a file, which a record alone must not open."""


@dataclass
class Record:
    """A match and what its events do not say: who played, when, and remarks."""

    match: Match[Any]
    tags: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    """Lines that begin with #; they are written above everything else."""

    @property
    def result(self) -> str:
        """`1-0`, `0-1`, `1/2-1/2` or `*`; for more sides, the share of each."""
        return _result(self.match.rules, self.match.outcome)

    def __str__(self) -> str:
        match = self.match
        tags = {"Game": match.rules.name, **start_tags(match), **self.tags, **_event_tags(match)}
        lines = [*self.remarks, *(f'[{name} "{value}"]' for name, value in tags.items()), ""]
        return "\n".join([*lines, *_rounds(match, self.result)]) + "\n"


def read_record(text: str, name: str = "record", rules: Rules[Any] | None = None) -> Record:
    """Return the match that a text records; raise RecordError, with the line, if it records none.

    A game that is the user's own code is not loaded by its name alone: it must be given as `rules`.
    """
    tags: dict[str, str] = {}
    lines: dict[str, int] = {}
    words: list[tuple[int, str]] = []
    remarks: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if line.startswith("["):
            tag = TAG.fullmatch(line)
            if not tag or words:
                raise _wrong(name, number, "a tag comes after the moves" if tag else f"{shown(line)} is not a tag")
            if tag[1] in tags:
                raise _wrong(name, number, f"duplicate tag {tag[1]}")
            tags[tag[1]] = tag[2]
            lines[tag[1]] = number
        elif line.startswith("#"):
            remarks.append(line)
        else:
            words += [(number, word) for word in line.split()]
    match = begun(tags, lines, name, rules)
    times = _read_times(tags.get("Times", ""), name, lines.get("Times", 1))
    _play_through(match, words, tags, times, name)
    return Record(match, {tag: text for tag, text in tags.items() if tag not in OWN_TAGS}, tuple(remarks))


def _result(rules: Rules[Any], outcome: Outcome | None) -> str:
    if outcome is None:
        return ONGOING
    shares = points(rules.sides, outcome).values()
    return "-".join(_share(round(1 / share)) if share else "0" for share in shares)


def _share(among: int) -> str:
    """Return what each of so many sides gets that share the point of a game."""
    return "1" if among == 1 else f"1/{among}"


def _is_result(word: str, sides: int) -> bool:
    """Tell whether a word is a result of a game of so many sides."""
    shares = word.split("-")
    sharing = [share for share in shares if share != "0"]
    return word == ONGOING or (len(shares) == sides and set(sharing) == {_share(len(sharing))})


def start_tags(match: Match[Any]) -> dict[str, str]:
    """Return the tags that say where a match began, if that is not where its game begins."""
    rules, start = match.rules, match.start
    tags = {}
    if isinstance(rules, EitherBegins) and rules.first != "X":
        tags["First"] = rules.first
    if rules.key(start) != rules.key(rules.start()):
        tags["Board"] = rules.encode(start)
    return tags


def _event_tags(match: Match[Any]) -> dict[str, str]:
    tags = {}
    if any(event.time is not None for event in match.events):
        tags["Times"] = " ".join(_written_times([event.time for event in match.events]))
    reasons = [event.reason.translate(_TAG_SAFE) for event in match.events if event.kind == FORFEITED]
    if reasons:
        tags["Forfeit"] = " | ".join(reasons)
    return tags | {"Result": _result(match.rules, match.outcome)}


def _written_times(times: list[int | None]) -> Iterator[str]:
    """Yield the first known time in full, the others as seconds since the one before, and `?` for unknown ones."""
    before: int | None = None
    for at in times:
        if at is None:
            yield "?"
            continue
        yield time.strftime(STAMP, time.gmtime(at)) if before is None else f"{at - before:+}"
        before = at


def _rounds(match: Match[Any], result: str) -> list[str]:
    """Return the events as lines, one for each round, and the result behind the last."""
    lines: list[list[str]] = []
    made, sides = 0, len(match.rules.sides)
    for event, (depth, captured) in zip(match.events, _steps(match), strict=True):
        if event.kind == MOVED and (depth % sides == 0 or depth != made or not lines):
            lines.append([f"{depth // sides + 1}.{'..' if depth % sides else ''}"])
        elif not lines:
            lines.append([])
        if event.kind == MOVED:
            lines[-1].append(move_text(match.rules, event.move or 0, captured))
            made = depth + 1
        else:
            lines[-1].append(_written(event))
            made = -1
    if not lines:
        lines.append([])
    lines[-1].append(result)
    return [" ".join(line) for line in lines]


def move_text(rules: Rules[Any], move: int, captured: int) -> str:
    """Return a move as records write it, with the number of tiles that it captured, if any."""
    return rules.write(move) + (f"x{captured}" if captured else "")


def _steps(match: Match[Any]) -> Iterator[tuple[int, int]]:
    """Yield, for each event, how many moves were on the board before it, and how many tiles it captured."""
    now = Match(match.rules, match.start)
    for event in match.events:
        depth = len(now.moves)
        now.add(event)
        yield depth, captured_by(now.state)


def _written(event: Event) -> str:
    if event.kind in _WRITTEN:
        return _WRITTEN[event.kind]
    return f"{event.side}-{'resigns' if event.kind == RESIGNED else 'forfeits'}"


def begun(tags: dict[str, str], lines: dict[str, int], name: str, rules: Rules[Any] | None) -> Match[Any]:
    """Return the match before its first event."""
    if "Game" not in tags:
        raise _wrong(name, 1, 'there is no [Game "rows,columns,k"]')
    tag = "Game"
    try:
        if rules is None or rules.name != tags["Game"]:
            if not may_be_recorded(tags["Game"]):
                own = tags["Game"]
                what = "code, which a file cannot load" if is_own(own) else "a file, which another file cannot open"
                error = _wrong(name, lines.get(tag, 1), f"game {shown(own)} is {what}")
                error.unnamed_game, error.own_game_tags = own, tags
                raise error
            rules = find_game(tags["Game"])
        if "First" in tags or isinstance(rules, EitherBegins):
            tag = "First"
            rules = with_first(rules, tags.get("First", "X"))
        if "Board" in tags:
            tag = "Board"
            return Match(rules, set_up(rules, tags["Board"]))
        return Match(rules, rules.start())
    except RecordError:
        raise
    except Ttt4Error as error:
        raise _wrong(name, lines.get(tag, 1), str(error)) from error


def with_first(rules: Rules[Any], first: str) -> Rules[Any]:
    """Return the same rules with another mark to begin; raise GameError if the game has no such choice."""
    if not isinstance(rules, LineRules | WideRules):
        raise GameError(f"{rules.name} has rules that say who begins")
    if first not in rules.sides:
        raise GameError(f"no side {shown(first, 24)} can begin: choose X or O")
    return replace(rules, first=first)


def _play_through(
    match: Match[Any], words: list[tuple[int, str]], tags: dict[str, str], times: list[int | None], name: str
) -> None:
    """Let the events happen, and compare the result."""
    sides = match.rules.sides
    result, stamps, reasons = None, iter(times), iter(tags.get("Forfeit", "").split(" | "))
    for number, word in words:
        if result:
            raise _wrong(name, number, f"{shown(word, 24)} comes after the result")
        if _is_result(word, len(sides)):
            result = word
        elif _ROUND.fullmatch(word):
            _check_round(match, word, name, number)
        else:
            try:
                named, captured = _named(match.rules, word)
                match.add(_event(match, named, reasons, next(stamps, None)))
                if captured is not None and captured != captured_by(match.state):
                    raise MatchError(f"it captures {captured_by(match.state)}, not {captured}")
            except Ttt4Error as error:
                raise _wrong(name, number, f"{shown(word, 24)}: {error}") from error
    last = words[-1][0] if words else 1
    if result is None:
        endings = "1-0, 0-1, 1/2-1/2" if len(sides) == 2 else "the share of each side"
        raise _wrong(name, last, f"the moves end without a result ({endings}, or * if the game goes on)")
    if tags.get("Result", result) != result:
        raise _wrong(name, last, f"the result is {result}, and the tag says {shown(tags['Result'], 24)}")
    reached = _result(match.rules, match.outcome)
    if result != reached:
        if match.outcome or result not in ("1-0", "0-1"):
            raise _wrong(name, last, f"the result is {result}, but the board shows {reached}")
        match.add(Event(RESIGNED, sides[result == "1-0"]))


def _named(rules: Rules[Any], word: str) -> tuple[str, int | None]:
    """Return what a word names, and how many tiles it says that a move captured, in a game of capture."""
    found = _CAPTURING.fullmatch(word) if isinstance(rules, BoardRules) and rules.captures else None
    return (found[1], int(found[2])) if found else (word, None)


def _check_round(match: Match[Any], word: str, name: str, number: int) -> None:
    """Raise RecordError unless the number is that of the round whose move comes next."""
    said = _ROUND.fullmatch(word)
    count, middle = divmod(len(match.moves), len(match.rules.sides))
    if match.outcome:
        raise _wrong(name, number, f"{word} comes after the end of the game")
    due = f"{count + 1}{'...' if middle else '.'}"
    if said and (int(said[1]) != count + 1 or bool(middle) != (said[2] == "...")):
        raise _wrong(name, number, f"expected {due}, found {word}")


def _event(match: Match[Any], word: str, reasons: Iterator[str], at: int | None) -> Event:
    if word in _WORDS:
        return Event(_WORDS[word], time=at)
    side, dash, does = word.partition("-")
    if dash and does in _GIVING_UP:
        reason = next(reasons, "") if does == "forfeits" else ""
        return Event(_GIVING_UP[does], side, reason=reason, time=at)
    move = match.rules.read(word)
    return Event(MOVED, match.to_move or match.rules.sides[0], move, time=at)


def _read_times(text: str, name: str, number: int) -> list[int | None]:
    """Return the times of the events, None for unknown ones."""
    times: list[int | None] = []
    before: int | None = None
    try:
        for word in text.split():
            if word == "?":
                times.append(None)
                continue
            before = seconds_of(word) if before is None else _checked_time(before + int(word))
            times.append(before)
    except ValueError:
        raise _wrong(name, number, f"{shown(text, 44)} is not a list of times") from None
    return times


def seconds_of(stamp: str) -> int:
    """Return a time in UTC as seconds since 1970."""
    from calendar import timegm  # only here: a new game does not wait for it

    return _checked_time(timegm(time.strptime(stamp, STAMP)))


def _checked_time(at: int) -> int:
    """Return the time; raise ValueError if no stamp can say it."""
    if at not in _TIMES:
        raise ValueError("a time is not between 1970 and 9999")
    return at


def _wrong(name: str, number: int, why: str) -> RecordError:
    return RecordError(f"{name}, line {number}: {why}")
