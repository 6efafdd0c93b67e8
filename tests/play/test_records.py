"""Records: what is written is read back, and what is no record is refused with the line that is wrong."""

import os
from pathlib import Path
from stat import S_ISDIR

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from play.match import Match
from play.records import Record, RecordError, export_record, load_record, read_record, save_record
from play.rules import LineRules, Status
from solver.games.notation import parse_game

GAMES = ["4,4,4", "3,3,3", "3,3,3,misere", "3,4,3", "5,5,4", "15,15,5", "2,30,2"]
RESULTS = {Status.X_WON: "1-0", Status.O_WON: "0-1", Status.DRAW: "1/2-1/2", Status.IN_PROGRESS: "*"}

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True).filter(lambda name: name not in ("Game", "Result"))
VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\n\r'), max_size=30)
TAGS = st.dictionaries(NAMES, VALUES, max_size=4)
REMARKS = st.lists(VALUES.map(lambda text: f"# {text}".strip()), max_size=3).map(tuple)


def record_of(name: str, moves: list[int], tags: dict[str, str] | None = None, *, resigns: bool = False) -> Record:
    """The record of a match with these moves, or as many as it took to end it, which the side to move may give up."""
    match = Match(LineRules(parse_game(name)))
    for move in moves:
        if match.to_move:
            match.play(match.to_move, move)
    return Record(match, tags or {}, match.to_move if resigns else None)


@st.composite
def records(draw: st.DrawFn, names: list[str] = GAMES) -> Record:
    """A record of a match: ended, not ended or resigned."""
    name = draw(st.sampled_from(names))
    cells = parse_game(name).cells
    moves = draw(st.lists(st.integers(0, cells - 1), unique=True, max_size=min(cells, 25)))
    record = record_of(name, moves, draw(TAGS), resigns=draw(st.booleans()))
    record.remarks = draw(REMARKS)
    return record


def same(one: Record, other: Record) -> bool:
    shown = [
        (it.match.rules.name, it.match.states, it.match.moves, it.tags, it.resigned, it.result, it.remarks)
        for it in (one, other)
    ]
    return shown[0] == shown[1]


@given(records())
def test_what_is_written_is_read_back(record: Record) -> None:
    text = str(record)
    again = read_record(text)
    assert same(again, record)
    assert str(again) == text


@given(record=records())
def test_what_is_saved_is_loaded(tmp_path_factory: pytest.TempPathFactory, record: Record) -> None:
    path = tmp_path_factory.getbasetemp() / "records" / "deep" / "saved.game"
    save_record(record, str(path))
    assert same(load_record(str(path)), record)
    assert os.listdir(path.parent) == ["saved.game"]


@given(records())
def test_the_result_is_that_of_the_board_unless_somebody_gave_up(record: Record) -> None:
    given_up = {"X": "0-1", "O": "1-0"}.get(record.resigned or "")
    assert record.result == (given_up or RESULTS[record.match.status])
    tags, _, moves = str(record).partition("\n\n")
    assert tags.split("\n")[-1] == f'[Result "{record.result}"]'
    assert moves.split()[-1] == record.result


@given(records(["4,4,4"]))
def test_tags_in_any_order_and_white_space_change_nothing(record: Record) -> None:
    record.remarks = ()
    tags, _, moves = str(record).partition("\n\n")
    lines = [*reversed(tags.split("\n")), "", *moves.split()]
    assert same(read_record("\r\n".join(f" {line}\t" for line in lines)), record)


@given(records(["4,4,4"]), REMARKS, st.data())
def test_remarks_are_kept_wherever_they_stand_and_change_nothing_else(
    record: Record, remarks: tuple[str, ...], data: st.DataObject
) -> None:
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


def check_refusal(text: str) -> None:
    """Nothing, if the text reads or is refused as it should be."""
    try:
        read_record(text, "its name")
        return
    except RecordError as error:
        said = str(error)
    start, line, rest = said.partition(", line ")
    assert (start, line) == ("its name", ", line ")
    assert 1 <= int(rest.partition(":")[0]) <= len(text.split("\n"))
    assert len(said.splitlines()) == 1


@given(records(["4,4,4", "3,3,3", "5,5,4"]))
def test_any_beginning_of_a_record_reads_or_is_refused_with_its_line(record: Record) -> None:
    text = str(record)
    for length in range(len(text)):
        check_refusal(text[:length])


@given(records(["4,4,4", "3,3,3", "5,5,4"]), st.data())
def test_a_record_with_one_character_altered_reads_or_is_refused_with_its_line(
    record: Record, data: st.DataObject
) -> None:
    text = str(record)
    at = data.draw(st.integers(0, len(text) - 1))
    character = data.draw(st.one_of(st.sampled_from('abcdXO0123456789.-/*#[]", \n'), st.characters()))
    check_refusal(text[:at] + character + text[at + 1 :])
    check_refusal(text[:at] + character + text[at:])
    check_refusal(text[:at] + text[at + 1 :])


@given(st.text())
@example("")
@example("[")
@example("\x00")
def test_any_text_reads_or_is_refused_with_its_line(text: str) -> None:
    check_refusal(text)
    check_refusal(f'[Game "3,3,3"]\n{text}')


GAME = '[Game "3,3,3"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GAME + "[X]\n1. a1 *", r"line 2: '\[X\]' is no tag"),
        (GAME + '[X "a]\n*', r"""line 2: '\[X "a\]' is no tag"""),
        (GAME + '[X "a"b"]\n*', r"line 2: .* is no tag"),
        (GAME + '[X "a"] 1. a1 *', r"line 2: .* is no tag"),
        (GAME + '[X "a"]\n\n[X "b"]\n*', r"line 4: tag X stands there twice"),
        (GAME + GAME + "*", r"line 2: tag Game stands there twice"),
        ("1. a1 *", r"""line 1: there is no \[Game "rows,columns,k"\]"""),
        ('[Game "3,3"]\n*', r"line 1: cannot read game '3,3': write rows,columns,k"),
        ('[X "a"]\n[Game "3,3,4"]\n*', r"line 2: no game 3,3,4: 4 in a row do not fit"),
        (GAME + '1. a1 b2\n[X "a"]\n*', r"line 3: a tag stands below the moves"),
        (GAME + "1. a1 b2\n3. c3 *", r"line 3: 3. stands where move 2 is due"),
        (GAME + "2. a1 *", r"line 2: 2. stands where move 1 is due"),
        (GAME + "1. a1 2. b2 *", r"line 2: 2. stands where O's move is due"),
        (GAME + "1. a1\n1. b2 *", r"line 3: 1. stands where O's move is due"),
        (GAME + "1. a1 b2 1. c3 *", r"line 2: 1. stands where move 2 is due"),
        (GAME + "1. a1 b2\n2. c3 a1 *", r"line 3: 'a1': cell 'a1' is taken: choose an empty one"),
        (GAME + "1. a1\n\n# and\nd4 *", r"line 5: 'd4': no cell 'd4' on a 3,3,3 board"),
        (GAME + "1. a1 a2 2. b1 b2 3. c1 c2 0-1", r"line 2: 'c2': the match has ended, X has won"),
        (GAME + "1. a1 *\nb2", r"line 3: 'b2' stands behind the result"),
        (GAME + "1. a1 * *", r"line 2: '\*' stands behind the result"),
        (GAME + "\n1. a1\nb2\n", r"line 4: the moves end without a result \(1-0, 0-1, 1/2-1/2, or \* if"),
        (GAME, r"line 1: the moves end without a result"),
        (GAME + "1. a1 1/2-1/2", r"line 2: the result is 1/2-1/2, but the board shows \*"),
        (GAME + "1. a1 a2 2. b1 b2 3. c1 *", r"line 2: the result is \*, but the board shows 1-0"),
        (GAME + "1. a1 a2 2. b1 b2 3. c1 0-1", r"line 2: the result is 0-1, but the board shows 1-0"),
        (GAME + '[Result "0-1"]\n1. a1 1-0', r"line 3: the result is 1-0, and the tag says '0-1'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_record_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=f"^its name, {message}"):
        read_record(text, "its name")
    assert RecordError.exit_code == 2


@pytest.mark.parametrize(("result", "who"), [("1-0", "O"), ("0-1", "X")])
def test_a_result_that_the_board_does_not_show_is_a_resignation(result: str, who: str) -> None:
    record = read_record(f"{GAME}1. a1 b2 {result}")
    assert (record.resigned, record.result, record.match.over) == (who, result, False)


def failing(*arguments: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["replace", "fsync"])
@pytest.mark.parametrize("before", [None, record_of("3,3,3", [0])])
def test_a_record_that_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, before: Record | None
) -> None:
    path = tmp_path / "kept.game"
    if before:
        save_record(before, str(path))
    monkeypatch.setattr(os, step, failing)
    with pytest.raises(OSError, match="No space left"):
        save_record(record_of("3,3,3", [4, 0, 8]), str(path))
    monkeypatch.undo()
    assert os.listdir(tmp_path) == (["kept.game"] if before else [])
    assert not before or same(load_record(str(path)), before)
    save_record(record_of("3,3,3", [4]), str(path))
    assert load_record(str(path)).match.moves == (4,)


def test_a_folder_that_cannot_be_synced_loses_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def only_files(handle: int) -> None:
        if S_ISDIR(os.fstat(handle).st_mode):
            failing()

    monkeypatch.setattr(os, "fsync", only_files)
    save_record(record_of("3,3,3", [0, 4]), str(tmp_path / "kept.game"))
    assert load_record(str(tmp_path / "kept.game")).match.moves == (0, 4)


def test_a_record_in_place_of_a_folder_or_below_a_file_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("untouched")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "a.game", tmp_path / "folder"):
        with pytest.raises(OSError):  # noqa: PT011 - which, is the system's to say
            save_record(record_of("3,3,3", [0]), str(path))
    assert (tmp_path / "file").read_text() == "untouched"
    assert os.listdir(tmp_path / "folder") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"cannot read '.*a\.game': No such file or directory; name a file that ttt4-play wrote"),
        ("folder", r"cannot read '.*a\.game': Is a directory; name a file"),
        (b"\xff\xfe\x00", r"'.*a\.game' is no text: name a file that ttt4-play wrote"),
        (b"", r"a\.game, line 1: there is no \[Game"),
        (b'[Game "3,3,3"]\n1. a1 a1 *\n', r"a\.game, line 2: 'a1': cell 'a1' is taken"),
    ],
)
def test_a_file_that_is_no_record_is_refused_in_one_line(
    tmp_path: Path, content: bytes | str | None, message: str
) -> None:
    path = tmp_path / "a.game"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)  # type: ignore[arg-type]
    with pytest.raises(RecordError, match=message) as refusal:
        load_record(str(path))
    assert len(str(refusal.value).splitlines()) == 1


NOT_RECORDS = [
    ("notes.txt", b"bread\nmilk\n"),
    ("empty", b""),
    ("image", b"\xff\xd8\x00"),
    ("cut.game", b'[Game "3,3,3"]\n\n1. a1'),
    ("impossible.game", b'[Game "3,3,3"]\n\n1. a1 a1 *\n'),
]


@pytest.mark.parametrize(("name", "content"), NOT_RECORDS)
@pytest.mark.parametrize("linked", [False, True])
def test_nothing_but_a_record_of_the_same_game_is_written_over(
    tmp_path: Path, name: str, content: bytes, linked: bool
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if linked:
        (tmp_path / "link").symlink_to(path)
    there = sorted(os.listdir(tmp_path))
    with pytest.raises(RecordError) as refusal:
        export_record(record_of("3,3,3", [0]), str(tmp_path / "link" if linked else path))
    assert str(refusal.value) == f"{os.path.realpath(path)!r} is there and is not this game: name another file"
    assert path.read_bytes() == content
    assert sorted(os.listdir(tmp_path)) == there


@pytest.mark.parametrize("path", ["folder", ".", os.devnull])
def test_neither_a_folder_nor_a_device_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(RecordError, match="is there and is not this game: name another file"):
        export_record(record_of("3,3,3", [0]), path)
    assert (os.listdir(), os.listdir("folder")) == (["folder"], [])


def test_a_record_is_exported_to_a_new_file_over_the_same_game_and_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.game", tmp_path / "link.game"
    link.symlink_to(path)
    for cells in ([], [0], [0, 4], [0, 4, 8]):
        export_record(record_of("3,3,3", cells), str(link if len(cells) == 2 else path))
        assert list(load_record(str(path)).match.moves) == cells
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["a.game", "link.game"]


@pytest.mark.parametrize(("game", "cells"), [("4,4,4", [0, 4, 8]), ("3,3,3", [0, 4]), ("3,3,3", [0, 4, 7, 8])])
def test_another_game_s_record_is_not_written_over(tmp_path: Path, game: str, cells: list[int]) -> None:
    path = tmp_path / "a.game"
    export_record(record_of("3,3,3", [0, 4, 8]), str(path))
    before = path.read_bytes()
    with pytest.raises(RecordError, match="is there and is not this game: name another file"):
        export_record(record_of(game, cells), str(path))
    assert path.read_bytes() == before


def test_a_record_is_exported_to_ones_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    export_record(record_of("3,3,3", [4]), "~/mine.game")
    assert load_record(str(tmp_path / "mine.game")).match.moves == (4,)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("file/a.game", "there is no such folder"),
        ("none/a.game", "there is no such folder"),
        ("x" * 300, "File name too long"),
        ("\0", "embedded null byte"),
    ],
)
def test_an_export_that_cannot_be_written_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("untouched")
    with pytest.raises(RecordError, match=f"^cannot write '.*': {why}; name another file$"):
        export_record(record_of("3,3,3", [0]), name)
    assert os.listdir() == ["file"]
    assert (tmp_path / "file").read_text() == "untouched"


def test_a_text_that_cannot_be_encoded_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="surrogates not allowed; name another file"):
        export_record(record_of("3,3,3", [0], {"X": "\udcff"}), str(tmp_path / "a.game"))
    assert os.listdir(tmp_path) == []


def test_an_export_leaves_a_file_of_a_like_name_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.partial").write_text("untouched")
    export_record(record_of("3,3,3", [0]), str(tmp_path / "notes"))
    assert (tmp_path / "notes.partial").read_text() == "untouched"
