"""Records in files: what is saved is loaded, and nothing but a record of the same game is written over."""

import os
from pathlib import Path
from stat import S_ISDIR

import pytest
from hypothesis import given, settings
from matches import given_rules, record_of, records, seen

from play.records.files import export_record, load_record, save_record
from play.records.text import Record, RecordError, read_record

FEW = settings(max_examples=30)


@FEW
@given(record=records())
def test_what_is_saved_is_loaded(tmp_path_factory: pytest.TempPathFactory, record: Record) -> None:
    path = tmp_path_factory.getbasetemp() / "records" / "deep" / "saved.game"
    save_record(record, str(path))
    assert seen(load_record(str(path), given_rules(record))) == seen(record)
    assert os.listdir(path.parent) == ["saved.game"]


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
    assert not before or seen(load_record(str(path))) == seen(before)
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
        (b"\xff\xfe\x00", r"'.*a\.game' is not text: name a file that ttt4-play wrote"),
        (b"", r"a\.game, line 1: there is no \[Game"),
        (b'[Game "3,3,3"]\n1. a1 a1 *\n', r"a\.game, line 2: 'a1': cell 'a1' is taken"),
    ],
)
def test_a_file_without_a_record_is_refused(tmp_path: Path, content: bytes | str | None, message: str) -> None:
    path = tmp_path / "a.game"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)  # type: ignore[arg-type]
    with pytest.raises(RecordError, match=message) as refusal:
        load_record(str(path))
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize(
    "content", [b"bread\nmilk\n", b"", b"\xff\xd8\x00", b'[Game "3,3,3"]\n\n1. a1', b'[Game "3,3,3"]\n\n1. a1 a1 *\n']
)
@pytest.mark.parametrize("name", ["file", "link"])
def test_nothing_but_a_record_of_the_same_game_is_written_over(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(RecordError) as refusal:
        export_record(record_of("3,3,3", [0]), str(tmp_path / name))
    assert str(refusal.value) == f"{os.path.realpath(path)!r} exists and is not this game: name another file"
    assert path.read_bytes() == content
    assert (sorted(os.listdir(tmp_path)), (tmp_path / "link").is_symlink()) == (["file", "link"], True)


@pytest.mark.parametrize("path", ["folder", ".", "pipe", "loop", os.devnull])
def test_no_folder_pipe_loop_or_device_is_written_over(path: str, home: Path) -> None:
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("loop").symlink_to("loop")
    with pytest.raises(RecordError, match="exists and is not this game: name another file"):
        export_record(record_of("3,3,3", [0]), path)
    assert (sorted(os.listdir()), os.listdir("folder")) == (["folder", "loop", "pipe"], [])


def test_a_record_is_exported_to_a_new_file_over_the_same_game_and_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.game", tmp_path / "link.game"
    link.symlink_to(path)
    for cells in ([], [0], [0, 4], [0, 4, 8]):
        export_record(record_of("3,3,3", cells), str(link if len(cells) == 2 else path))
        assert list(load_record(str(path)).match.moves) == cells
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["a.game", "link.game"]


OTHERS = {
    "another board": record_of("4,4,4", [0, 4, 8]), "misere": record_of("3,3,3,misere", [0, 4, 8]),
    "O began": record_of("3,3,3", [0, 4, 8], first="O"), "fewer moves": record_of("3,3,3", [0, 4]),
    "other moves": record_of("3,3,3", [0, 4, 7, 8]),
    "another start": read_record('[Game "3,3,3"]\n[Board ".X./..O/..."]\n1. a1 b2\n2. c3 *'),
}  # fmt: skip


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_game_s_record_is_not_written_over(tmp_path: Path, other: Record) -> None:
    path = tmp_path / "a.game"
    export_record(record_of("3,3,3", [0, 4, 8]), str(path))
    before = path.read_bytes()
    with pytest.raises(RecordError, match="exists and is not this game: name another file"):
        export_record(other, str(path))
    assert path.read_bytes() == before


def test_a_record_is_exported_to_ones_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    export_record(record_of("3,3,3", [4]), "~/mine.game")
    assert load_record(str(tmp_path / "mine.game")).match.moves == (4,)


@pytest.mark.parametrize(
    ("name", "why"),
    [("file/a.game", "there is no such folder"), ("none/a.game", "there is no such folder"),
     ("x" * 300, "File name too long"), ("\0", "embedded null byte")],
)  # fmt: skip
def test_an_export_that_cannot_be_written_is_refused_in_one_line(name: str, why: str, home: Path) -> None:
    Path("file").write_text("untouched")
    with pytest.raises(RecordError, match=f"^cannot write '.*': {why}; name another file$"):
        export_record(record_of("3,3,3", [0]), name)
    assert os.listdir() == ["file"]
    assert Path("file").read_text() == "untouched"


def test_a_text_that_cannot_be_encoded_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="surrogates not allowed; name another file"):
        export_record(record_of("3,3,3", [0], {"X": "\udcff"}), str(tmp_path / "a.game"))
    assert os.listdir(tmp_path) == []


def test_an_export_leaves_a_file_of_a_like_name_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.partial").write_text("untouched")
    export_record(record_of("3,3,3", [0]), str(tmp_path / "notes"))
    assert (tmp_path / "notes.partial").read_text() == "untouched"
