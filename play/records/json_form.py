"""Records as JSON: the same events as in the text, each with its own fields.

Besides the events, which say everything, there is what follows from them: the moves, the state now, the result.
"""

import json
import time
from typing import Any

from play.match import FORFEITED, MOVED, RESIGNED, Event, Match
from play.records.text import OWN_TAGS, STAMP, TAG, Record, RecordError, begun, seconds_of, start_tags
from solver.errors import Ttt4Error
from solver.games.board_rules import BoardRules, captured_by
from solver.games.rules import Rules
from solver.text import shown


def record_as_dict(record: Record) -> dict[str, Any]:
    """Return the record as JSON has it."""
    match, rules = record.match, record.match.rules
    outcome = match.outcome
    return {
        "game": rules.name,
        **{name.lower(): text for name, text in start_tags(match).items()},
        "tags": record.tags,
        "remarks": list(record.remarks),
        "version": len(match),
        "events": [event_dict(rules, event) for event in match.events],
        "moves": [rules.write(move) for move in match.moves],
        **captures(match),
        "state": rules.encode(match.state),
        "to_move": match.to_move,
        "outcome": outcome and outcome.as_dict(),
        "result": record.result,
    }


def captures(match: Match[Any]) -> dict[str, list[int]]:
    """Return how many tiles each move of a match captured, as a field, if the game is one of capture."""
    if not isinstance(match.rules, BoardRules) or not match.rules.captures:
        return {}
    return {"captured": [captured_by(state) for state in match.states[1:]]}


def record_from_json(text: str, rules: Rules[Any] | None = None) -> Record:
    """Return the record that `record_as_dict` gave; raise RecordError if the text is none."""
    try:
        fields = json.loads(text)
        json.dumps(fields, ensure_ascii=False).encode()  # half a surrogate pair could not be saved
        tags = {tag: fields[tag.lower()] for tag in ("Game", "Board", "First") if tag.lower() in fields}
        match = begun(tags, {}, "record", rules)
        for event in fields["events"]:
            match.add(event_from(match.rules, event))
        return Record(match, _own_tags(fields["tags"]), _remarks(fields.get("remarks", [])))
    except RecordError:
        raise
    except (Ttt4Error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error) if isinstance(error, Ttt4Error) else shown(error, 120)
        raise RecordError(f"not a record in JSON: {why}") from error


def event_dict(rules: Rules[Any], event: Event) -> dict[str, Any]:
    """Return an event as JSON has it."""
    fields: dict[str, Any] = {"event": event.kind}
    if event.side is not None:
        fields["side"] = event.side
    if event.move is not None:
        fields["move"] = rules.write(event.move)
    if event.reason:
        fields["reason"] = event.reason
    if event.time is not None:
        fields["time"] = time.strftime(STAMP, time.gmtime(event.time))
    return fields


def event_from(rules: Rules[Any], fields: dict[str, Any]) -> Event:
    """Return the event that `event_dict` gave, with no other fields than its kind has."""
    kind, stamp = fields["event"], fields.get("time")
    side = fields["side"] if kind in (MOVED, RESIGNED, FORFEITED) else None
    move = rules.read(fields["move"]) if kind == MOVED else None
    reason = fields.get("reason", "") if kind == FORFEITED else ""
    if not isinstance(reason, str):
        raise TypeError(f"the reason {reason!r} is not text")
    return Event(kind, side, move, reason, None if stamp is None else seconds_of(stamp))


def _remarks(lines: list[str]) -> tuple[str, ...]:
    """Return a record's remarks; raise ValueError if its text could not hold one of them."""
    for line in lines:
        if not isinstance(line, str) or not line.startswith("#") or line != line.strip() or "\n" in line:
            raise ValueError(f"{line!r} is not a remark")
    return tuple(lines)


def _own_tags(fields: dict[str, Any]) -> dict[str, str]:
    """Return a record's tags; raise ValueError if its text could not hold one of them."""
    for name, text in fields.items():
        tag = TAG.fullmatch(f'[{name} "{text}"]')
        if not isinstance(text, str) or not tag or tag[1] != name or name in OWN_TAGS:
            raise ValueError(f"{name!r}: {text!r} is not a tag")
    return dict(fields)
