"""Records as JSON: the same events as in text, and what is no record is refused in one line."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matches import EVERY_KIND, SMALL, edits, given_rules, records, seen

from play.match import RESIGNED, STARTED_OVER, Event
from play.records.json_form import record_as_dict, record_from_json
from play.records.text import Record, RecordError, read_record

FEW = settings(max_examples=30)


@FEW
@given(records())
def test_text_and_json_are_two_forms_of_the_same_events(record: Record) -> None:
    rules = given_rules(record)
    from_text = read_record(str(record), rules=rules)
    from_json = record_from_json(json.dumps(record_as_dict(record)), rules)
    assert from_text.match.events == from_json.match.events == record.match.events
    assert record_as_dict(from_text) == record_as_dict(from_json) == record_as_dict(record)
    assert str(from_json) == str(record)


def test_a_record_in_json_has_every_event_and_what_they_come_to() -> None:
    record = read_record(EVERY_KIND)
    fields = record_as_dict(record)
    events = fields.pop("events")
    assert fields == {
        "game": "3,3,3",
        "first": "O",
        "board": "O../.../...",
        "tags": {"X": "human", "O": "oracle"},
        "remarks": ["# a remark"],
        "version": 11,
        "moves": ["c1"],
        "state": "O.X/.../...",
        "to_move": None,
        "outcome": {"winner": "X", "reason": "O forfeited: too slow"},
        "result": "1-0",
    }
    assert [event["event"] for event in events] == [event.kind for event in record.match.events]
    assert events[0] == {"event": "moved", "side": "X", "move": "b2", "time": "2026-09-21T14:13:20Z"}
    assert events[2] == {"event": "took back", "time": "2026-09-21T14:13:24Z"}
    assert events[-1] == {
        "event": "forfeited", "side": "O", "reason": "too slow", "time": "2026-09-21T14:13:32Z",
    }  # fmt: skip


def check_json(text: str, rules: Any = None) -> None:
    """Nothing, if the JSON is refused in one line, or reads as a record that can be written in both forms."""
    try:
        record = record_from_json(text, rules)
    except RecordError as error:
        said = str(error)
        assert said.startswith(("not a record in JSON: ", "record, line 1: "))
        assert len(said.splitlines()) == 1
        return
    rules = given_rules(record)
    assert seen(record_from_json(json.dumps(record_as_dict(record)), rules)) == seen(record)
    str(record).encode()
    again = read_record(str(record), rules=rules)
    assert (again.match.states, again.match.moves, again.tags) == (record.match.states, record.match.moves, record.tags)


@FEW
@given(records(SMALL), st.data())
def test_json_with_one_character_altered_reads_or_is_refused_in_one_line(record: Record, data: st.DataObject) -> None:
    for text in data.draw(edits(json.dumps(record_as_dict(record)))):
        check_json(text, given_rules(record))


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Where a value stands in JSON: what it is in, and its name or number there."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield tree, key
        yield from places(value)


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["X", "a1", "\n"]))
JSONS = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)), max_leaves=3)


@FEW
@given(records(SMALL), st.data())
def test_json_with_another_value_anywhere_reads_or_is_refused_in_one_line(record: Record, data: st.DataObject) -> None:
    tree = record_as_dict(record)
    inside, key = data.draw(st.sampled_from(list(places(tree))))
    if data.draw(st.booleans()):
        inside[key] = data.draw(JSONS)
    else:
        del inside[key]
    check_json(json.dumps(tree), given_rules(record))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a record in JSON: JSONDecodeError"),
        ("1", "not a record in JSON: TypeError"),
        ("[" * 100_000, "not a record in JSON: RecursionError"),
        ("{}", r"record, line 1: there is no \[Game"),
        ('{"game": "3,3"}', "record, line 1: cannot read game '3,3'"),
        ('{"game": "3,3,3"}', "not a record in JSON: KeyError.'events'"),
        ('{"game": "3,3,3", "board": "XXX/OO./..."}', "record, line 1: board 'XXX/OO./...' is a finished game"),
        ('{"game": "3,3,3", "first": "Z"}', "record, line 1: no side 'Z' can begin"),
        ('{"game": "3,3,3", "events": [], "tags": {"Game": "4,4,4"}}', "'Game': '4,4,4' is not a tag"),
        ('{"game": "3,3,3", "events": [], "tags": {"X": 1}}', "'X': 1 is not a tag"),
        ('{"game": "3,3,3", "events": [], "tags": {"X ": "a"}}', "'X ': 'a' is not a tag"),
        ('{"game": "3,3,3", "events": [], "tags": {"X": "a\\nb"}}', "'X': .* is not a tag"),
        ('{"game": "3,3,3", "events": [], "tags": {"X": "\\ud800"}}', "UnicodeEncodeError"),
        ('{"game": "3,3,3", "events": [], "tags": {}, "remarks": ["# one", "two"]}', "'two' is not a remark"),
        ('{"game": "3,3,3", "events": [], "tags": {}, "remarks": ["# one\\n# two"]}', "'# one.*# two' is not a remark"),
        ('{"game": "3,3,3", "events": [], "tags": {}, "remarks": ["# one "]}', "'# one ' is not a remark"),
        ('{"game": "3,3,3", "events": [], "tags": {}, "remarks": [1]}', "1 is not a remark"),
    ],
)
def test_json_that_is_no_record_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message) as refusal:
        record_from_json(text)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"event": "sneezed"}, "no event 'sneezed'"),
        ({"event": "moved", "side": "O", "move": "a1"}, "it is X's turn, not O's"),
        ({"event": "moved", "side": "X", "move": "d4"}, "no cell 'd4' on a 3,3,3 board"),
        ({"event": "moved", "side": "X", "move": "a1", "time": "yesterday"}, "time data 'yesterday' does not match"),
        ({"event": "moved", "side": "X", "move": "a1", "time": "0999-01-01T00:00:00Z"}, "not between 1970 and 9999"),
        ({"event": "took back"}, "nothing to undo"),
        ({"event": "resigned", "side": "Z"}, "no side 'Z': there are X, O"),
        ({"event": "forfeited", "side": "X", "reason": 5}, "the reason 5 is not text"),
    ],
)
def test_json_with_an_event_that_cannot_happen_is_refused_with_the_reason(event: dict[str, str], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        record_from_json(json.dumps({"game": "3,3,3", "events": [event], "tags": {}}))


def test_in_json_an_event_has_no_other_fields_than_its_kind_has() -> None:
    odd = {"side": "Z", "move": "a1", "reason": "why not", "more": 1}
    events = [{"event": "started over", **odd}, {"event": "resigned", **odd, "side": "X"}]
    record = record_from_json(json.dumps({"game": "3,3,3", "events": events, "tags": {}}))
    assert record.match.events == (Event(STARTED_OVER), Event(RESIGNED, "X"))
