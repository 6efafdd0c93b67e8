"""Records as text: what is written is read back, and what is no record is refused with the line that is wrong."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matches import EVERY_KIND, NIM, REMARKS, SMALL, edits, given_rules, records, rules_of, seen

from play.match import FORFEITED, MOVED, RESIGNED, TOOK_BACK, Event, Match
from play.records.files import load_record
from play.records.json_form import record_as_dict, record_from_json
from play.records.text import Record, RecordError, read_record
from solver.games.rules import Outcome, set_up

FEW = settings(max_examples=30)


@FEW
@given(records())
def test_what_is_written_is_read_back(record: Record) -> None:
    text = str(record)
    again = read_record(text, rules=given_rules(record))
    assert seen(again) == seen(record)
    assert str(again) == text


@FEW
@given(records())
def test_the_result_says_who_won_and_stands_in_its_tag_and_behind_the_moves(record: Record) -> None:
    outcome, sides = record.match.outcome, record.match.rules.sides
    if outcome is None:
        assert record.result == "*"
    else:
        sharing = [outcome.winner] if outcome.winner else [side for side in sides if side not in outcome.lost]
        share = {1: "1", 2: "1/2", 3: "1/3", 4: "1/4"}[len(sharing)]
        assert record.result.split("-") == [share if side in sharing else "0" for side in sides]
    tags, _, moves = str(record).partition("\n\n")
    assert tags.split("\n")[-1] == f'[Result "{record.result}"]'
    assert moves.split()[-1] == record.result


def test_a_record_is_written_as_its_format_says() -> None:
    rules = rules_of("3,3,3", "O")
    times = iter([1_790_000_000, *range(1_790_000_003, 1_790_000_100)])
    match = Match(rules, set_up(rules, "O../.../..."), clock=times.__next__)
    for move in (4, 8):
        match.play(match.to_move or "", move)
    match.undo()
    match.redo()
    match.undo()
    match.play("O", 1)
    match.resign("O")
    match.undo()
    match.start_over()
    match.play("X", 2)
    match.forfeit("O", "too slow")
    record = Record(match, {"X": "human", "O": "oracle"}, ("# a remark",))
    assert str(record) == EVERY_KIND


@FEW
@given(records([rules_of("4,4,4")]))
def test_tags_in_any_order_and_white_space_change_nothing(record: Record) -> None:
    record.remarks = ()
    tags, _, moves = str(record).partition("\n\n")
    lines = [*reversed(tags.split("\n")), "", *moves.split()]
    assert seen(read_record("\r\n".join(f" {line}\t" for line in lines))) == seen(record)


@FEW
@given(records([rules_of("4,4,4")]), REMARKS, st.data())
def test_remarks_are_kept_wherever_they_stand(record: Record, remarks: tuple[str, ...], data: st.DataObject) -> None:
    remarks = (*remarks, "# [Game 1. a1", "#")
    record.remarks = ()
    lines, start = str(record).split("\n"), 0
    for remark in remarks:
        start = data.draw(st.integers(start, len(lines)))
        lines.insert(start, f"  {remark}\t")
        start += 1
    again = read_record("\n".join(lines))
    assert again.remarks == remarks
    assert str(again) == "\n".join([*remarks, str(record)])


def test_a_time_that_is_not_known_is_written_as_such() -> None:
    match = Match(rules_of("3,3,3"), clock=iter([None, 100, None, 200]).__next__)
    for side, move in (("X", 0), ("O", 4), ("X", 8), ("O", 1)):
        match.play(side, move)
    record = Record(match)
    assert '[Times "? 1970-01-01T00:01:40Z ? +100"]' in str(record)
    for again in (read_record(str(record)), record_from_json(json.dumps(record_as_dict(record)))):
        assert [event.time for event in again.match.events] == [None, 100, None, 200]


def test_a_clock_that_was_set_by_decades_between_two_moves_is_recorded_so() -> None:
    match = Match(rules_of("3,3,3"), clock=iter([5, 1_790_000_000, 7]).__next__)
    for side, move in (("X", 0), ("O", 4), ("X", 8)):
        match.play(side, move)
    assert '[Times "1970-01-01T00:00:05Z +1789999995 -1789999993"]' in str(Record(match))
    assert read_record(str(Record(match))).match.events == match.events


def test_each_forfeit_keeps_its_own_reason() -> None:
    match = Match(rules_of("3,3,3"))
    for reason in ("too slow", "", "no such cell"):
        match.forfeit("X", reason)
        match.undo()
    record = Record(match)
    assert '[Forfeit "too slow |  | no such cell"]' in str(record)
    assert read_record(str(record)).match.events == match.events


def test_a_reason_that_a_tag_cannot_hold_is_written_so_that_it_can_be_read() -> None:
    match = Match(rules_of("3,3,3"))
    match.forfeit("O", 'it said "no" | and\r\nleft')
    record = Record(match)
    assert read_record(str(record)).match.outcome == Outcome("X", "O forfeited: it said 'no' / and  left")
    assert record_from_json(json.dumps(record_as_dict(record))).match.events == match.events


@pytest.mark.parametrize(("first", "result"), [("X", "1-0"), ("O", "0-1")])
def test_the_tag_first_says_who_begins_and_without_it_x_does(first: str, result: str) -> None:
    tag = '[First "O"]\n' if first == "O" else ""
    text = f'[Game "3,3,3"]\n{tag}[Result "{result}"]\n\n1. a1 b1\n2. a2 b2\n3. a3 {result}\n'
    for rules in (None, rules_of("3,3,3", "O"), rules_of("3,3,3", "X")):
        record = read_record(text, rules=rules)
        assert [event.side for event in record.match.events] == [first, "XO"[first == "X"]] * 2 + [first]
        assert record.match.outcome == Outcome(first, f"{first} completed a line")
        assert str(record) == text


def test_the_tag_board_sets_up_the_first_board_and_rounds_count_from_there() -> None:
    record = read_record('[Game "3,3,3"]\n[Board "XO./.../..."]\n\n1. b2 c1\n2. c3 1-0')
    assert record.match.rules.encode(record.match.states[0]) == "XO./.../..."
    assert record_as_dict(record)["state"] == "XOO/.X./..X"
    assert record.match.outcome == Outcome("X", "X completed a line")


def check_refusal(text: str, rules: Any = None) -> None:
    """Nothing, if the text reads or is refused as it should be."""
    try:
        read_record(text, "its name", rules)
        return
    except RecordError as error:
        said = str(error)
    start, line, rest = said.partition(", line ")
    assert (start, line) == ("its name", ", line ")
    assert 1 <= int(rest.partition(":")[0]) <= len(text.split("\n"))
    assert len(said.splitlines()) == 1


@FEW
@given(records(SMALL))
def test_any_beginning_of_a_record_reads_or_is_refused_with_its_line(record: Record) -> None:
    text = str(record)
    for length in range(len(text)):
        check_refusal(text[:length], given_rules(record))


@FEW
@given(records(SMALL), st.data())
def test_an_altered_record_reads_or_is_refused_with_its_line(record: Record, data: st.DataObject) -> None:
    for text in data.draw(edits(str(record))):
        check_refusal(text, given_rules(record))


@given(st.text())
@example("")
@example("[")
@example("\x00")
def test_any_text_reads_or_is_refused_with_its_line(text: str) -> None:
    check_refusal(text)
    check_refusal(f'[Game "3,3,3"]\n{text}')
    check_refusal(f'[Game "nim:Nim"]\n{text}', NIM)


GAME = '[Game "3,3,3"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GAME + "[X]\n1. a1 *", r"line 2: '\[X\]' is not a tag"),
        (GAME + '[X "a]\n*', r"""line 2: '\[X "a\]' is not a tag"""),
        (GAME + '[X "a"b"]\n*', r"line 2: .* is not a tag"),
        (GAME + '[X "a"] 1. a1 *', r"line 2: .* is not a tag"),
        (GAME + '[X "a"]\n\n[X "b"]\n*', r"line 4: duplicate tag X"),
        (GAME + GAME + "*", r"line 2: duplicate tag Game"),
        ("1. a1 *", r"""line 1: there is no \[Game "rows,columns,k"\]"""),
        ('[Game "3,3"]\n*', r"line 1: cannot read game '3,3': write rows,columns,k"),
        ('[X "a"]\n[Game "3,3,4"]\n*', r"line 2: no game 3,3,4: 4 in a row do not fit"),
        (GAME + '[First "Z"]\n*', r"line 2: no side 'Z' can begin: choose X or O"),
        (GAME + '[Board "XXX/OO./..."]\n*', r"line 2: board 'XXX/OO./...' is a finished game: X completed a line"),
        (GAME + '[First "O"]\n[Board "X../.../..."]\n*', r"line 3: board .* O moves first"),
        (GAME + '[Times "yesterday"]\n*', r"line 2: 'yesterday' is not a list of times"),
        (GAME + '[Times "2026-11-18T20:15:00Z +x"]\n*', r"line 2: .* is not a list of times"),
        (GAME + '[Times "2026-11-18T20:15:00Z -9999999999"]\n*', r"line 2: .* is not a list of times"),
        (GAME + '[Times "0999-11-18T20:15:00Z"]\n*', r"line 2: .* is not a list of times"),
        (GAME + '1. a1 b2\n[X "a"]\n*', r"line 3: a tag comes after the moves"),
        (GAME + "1. a1 b2\n3. c3 *", r"line 3: expected 2., found 3."),
        (GAME + "2. a1 *", r"line 2: expected 1., found 2."),
        (GAME + "1. a1 2. b2 *", r"line 2: expected 1..., found 2."),
        (GAME + "1. a1\n1. b2 *", r"line 3: expected 1..., found 1."),
        (GAME + "1. a1 b2 1. c3 *", r"line 2: expected 2., found 1."),
        (GAME + "1. a1 undo 1... b2 *", r"line 2: expected 1., found 1..."),
        (GAME + "1. a1 b2\n2. c3 a1 *", r"line 3: 'a1': cell 'a1' is taken: choose an empty one"),
        (GAME + "1. a1\n\n# and\nd4 *", r"line 5: 'd4': no cell 'd4' on a 3,3,3 board"),
        (GAME + "1. a1 a2 2. b1 b2 3. c1 c2 0-1", r"line 2: 'c2': the match has ended, X has won"),
        (GAME + "1. a1 a2 2. b1 b2 3. c1\n4. c2 0-1", r"line 3: 4. comes after the end of the game"),
        (GAME + "undo *", r"line 2: 'undo': nothing to undo"),
        (GAME + "1. a1 undo redo redo *", r"line 2: 'redo': nothing to redo"),
        (GAME + "1. a1 Z-resigns 1-0", r"line 2: 'Z-resigns': no side 'Z': there are X, O"),
        (GAME + "1. a1 O-resigns b2 1-0", r"line 2: 'b2': the match has ended, X has won: O resigned"),
        (GAME + "1. a1 O-sneezes *", r"line 2: 'O-sneezes': no cell 'O-sneezes'"),
        (GAME + "1. a1 *\nb2", r"line 3: 'b2' comes after the result"),
        (GAME + "1. a1 * *", r"line 2: '\*' comes after the result"),
        (GAME + "\n1. a1\nb2\n", r"line 4: the moves end without a result \(1-0, 0-1, 1/2-1/2, or \* if"),
        (GAME, r"line 1: the moves end without a result"),
        (GAME + "1. a1 1/2-1/2", r"line 2: the result is 1/2-1/2, but the board shows \*"),
        (GAME + "1. a1 a2 2. b1 b2 3. c1 *", r"line 2: the result is \*, but the board shows 1-0"),
        (GAME + "1. a1 a2 2. b1 b2 3. c1 0-1", r"line 2: the result is 0-1, but the board shows 1-0"),
        (GAME + "1. a1 X-resigns 1-0", r"line 2: the result is 1-0, but the board shows 0-1"),
        (GAME + '[Result "0-1"]\n1. a1 1-0', r"line 3: the result is 1-0, and the tag says '0-1'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_record_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=f"^its name, {message}"):
        read_record(text, "its name")
    assert RecordError.exit_code == 2


@pytest.mark.parametrize(("result", "who", "winner"), [("1-0", "O", "X"), ("0-1", "X", "O")])
def test_a_result_that_the_board_does_not_show_is_a_resignation(result: str, who: str, winner: str) -> None:
    record = read_record(f"{GAME}1. a1 b2 {result}")
    assert record.match.events[-1] == Event(RESIGNED, who)
    assert (record.match.outcome, record.result) == (Outcome(winner, f"{who} resigned"), result)


def test_a_record_that_names_code_never_loads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trap.py").write_text("from pathlib import Path\nPath('loaded').touch()\nclass Game: ...\n")
    (tmp_path / "a.game").write_text('[Game "trap:Game"]\n[X "human"]\n[Result "*"]\n\n1. 3 *\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    refusal = "game 'trap:Game' is code, which a file cannot load"
    for rules in (None, NIM, rules_of("3,3,3")):
        with pytest.raises(RecordError, match=f"^a.game, line 1: {refusal}$") as error:
            load_record("a.game", rules)
        assert error.value.own_game_tags == {"Game": "trap:Game", "X": "human", "Result": "*"}
        with pytest.raises(RecordError, match=f"^record, line 1: {refusal}$"):
            record_from_json('{"game": "trap:Game", "events": [], "tags": {}}', rules)
    assert "trap" not in sys.modules
    assert not Path("loaded").exists()


def test_a_record_of_a_game_of_ones_own_is_read_by_the_rules_that_are_given() -> None:
    record = read_record('[Game "nim:Nim"]\n[Board "5 O"]\n\n1. 3 undo\n1. 1 X-forfeits 0-1', rules=NIM)
    assert (record.match.state, record.match.outcome) == ((4, "X"), Outcome("O", "X forfeited"))
    assert [event.kind for event in record.match.events] == [MOVED, TOOK_BACK, MOVED, FORFEITED]
    with pytest.raises(RecordError, match="line 2: nim:Nim has rules that say who begins"):
        read_record('[Game "nim:Nim"]\n[First "O"]\n*', rules=NIM)
    with pytest.raises(RecordError, match="line 2: board '0 X' is a finished game: O took the last"):
        read_record('[Game "nim:Nim"]\n[Board "0 X"]\n*', rules=NIM)


THREE = """\
[Game "3p:3,3,3"]
[X "human"]
[O "mcts:500"]
[Z "rules"]
[Result "{0}"]

1. a1 b1 c1
2. a2 O-resigns
2... c2 {1} {0}
"""


@pytest.mark.parametrize(
    ("moves", "result"),
    [("a3", "1-0-0"), ("b2 c3", "0-0-1"), ("Z-resigns", "1-0-0"), ("b2", "*")],
)
def test_a_record_of_three_sides_has_the_share_of_each(moves: str, result: str) -> None:
    record = read_record(THREE.format(result, moves))
    assert (record.result, record.match.gone[0]) == (result, "O")
    assert read_record(str(record)).match.events == record.match.events


@pytest.mark.parametrize(
    ("moves", "result", "why"),
    [("a3", "0-1-0", "the result is 0-1-0, but the board shows 1-0-0"),
     ("b2", "1-0-0", "the result is 1-0-0, but the board shows *"),
     ("b2", "1-0", "'1-0': no cell"), ("b2", "1/2-1/2-1/2", "'1/2-1/2-1/2': no cell"),
     ("O-resigns", "*", "'O-resigns': O has left the game already"),
     ("Q-resigns", "*", "'Q-resigns': no side 'Q': there are X, O, Z")],
)  # fmt: skip
def test_a_record_of_three_sides_that_is_wrong_is_refused(moves: str, result: str, why: str) -> None:
    with pytest.raises(RecordError, match=re.escape(why)):
        read_record(THREE.format(result, moves))
