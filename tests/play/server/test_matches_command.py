"""`ttt4-play matches`: what is checked, and that a backup brings back every match, its tokens and nothing damaged."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgi import InProcess
from commands import Ran, run_command

from play.cli.main import main
from play.server import log_file

Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command of `ttt4-play matches` on the log below a folder of the test's own."""

    def running(*words: object, state: str = "state") -> Ran:
        return run_command(main, "matches", *words, XDG_STATE_HOME=str(tmp_path / state))

    return running


@pytest.fixture
def played(tmp_path: Path) -> tuple[Path, list[Any]]:
    """The file of three matches with three moves each, and the matches."""
    with InProcess(tmp_path / "state", live=True) as server:
        matches = [server.begin("3,3,3") for _ in range(3)]
        for match in matches:
            for version, move in enumerate(["a1", "b1", "c1"]):
                assert server.move(match, "XO"[version % 2], version, move, f"{version}").status == 200
    return server.file, matches


def test_a_sound_log_is_said_to_be_sound(run: Run, played: tuple[Path, list[Any]]) -> None:
    ran = run("check")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"3 matches, 9 events in {played[0]}: all sound.\n", "")
    found = json.loads(run("check", "--json").stdout)
    assert found == {
        "file": str(played[0]), "matches": 3, "events": 9, "sound": True, "damaged": [], "structure": [],
    }  # fmt: skip


def test_a_damaged_match_is_named_with_its_last_sound_event(run: Run, played: tuple[Path, list[Any]]) -> None:
    file, _ = played
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"move": "b1"', b'"move": "b3"', 1))
    ran = run("check")
    name = ran.stdout.split()[1]
    assert ran.returncode == 4
    assert ran.stdout.splitlines() == [
        f"match {name} is damaged after event 1", f"3 matches, 6 events in {file}: 1 damaged.",
    ]  # fmt: skip
    assert ran.stderr.startswith("Error: the log is damaged: ")
    assert len(ran.stderr.splitlines()) == 1
    ran = run("check", "--json")
    assert (ran.returncode, json.loads(ran.stdout)["damaged"]) == (
        4, [{"match": name, "message": f"match {name} is damaged after event 1"}],
    )  # fmt: skip


def test_what_the_check_advises_repairs_the_log(run: Run, played: tuple[Path, list[Any]], tmp_path: Path) -> None:
    file, matches = played
    assert run("export", tmp_path / "backup").returncode == 0
    file.write_bytes(file.read_bytes().replace(b'"move": "b1"', b'"move": "b3"', 1))
    exported = run("export", tmp_path / "sound")
    assert (exported.returncode, exported.stdout.count("is damaged after event 1")) == (4, 1)
    file.rename(file.with_suffix(".damaged"))
    assert run("import", tmp_path / "sound").stdout == "Added 2 matches; 0 already there.\n"
    assert run("import", tmp_path / "backup").stdout == "Added 1 match; 2 already there.\n"
    assert run("check").returncode == 0
    with InProcess(tmp_path / "state", live=True) as server:
        for match in matches:
            events = server.get(f"/api/matches/{match['id']}").json["events"]
            assert [event["move"] for event in events] == ["a1", "b1", "c1"]


def test_a_backup_brings_back_matches_with_their_tokens_and_times_and_retries(
    run: Run, played: tuple[Path, list[Any]], tmp_path: Path
) -> None:
    _, matches = played
    with InProcess(tmp_path / "state", live=True) as server:
        heads = server.app.log.file.heads()
        before = [server.get(f"/api/matches/{match['id']}").body for match in matches]
    ran = run("export", tmp_path / "backup")
    assert (ran.returncode, ran.stdout) == (0, f"Exported 3 matches to {tmp_path / 'backup'}. Keep it secret.\n")
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o600
    assert run("import", tmp_path / "backup", state="fresh").stdout == "Added 3 matches; 0 already there.\n"
    with InProcess(tmp_path / "fresh", live=True) as server:
        assert server.app.log.file.heads() == heads
        assert [server.get(f"/api/matches/{match['id']}").body for match in matches] == before
        assert server.move(matches[0], "X", 2, "c1", "2").json["version"] == 3, "a retry is known"
        assert server.move(matches[0], "O", 3, "a2").status == 200
        assert server.move(matches[0], "X", 4, "b2").status == 200


def test_an_import_changes_no_match_that_is_there(run: Run, played: tuple[Path, list[Any]], tmp_path: Path) -> None:
    run("export", tmp_path / "backup")
    with InProcess(tmp_path / "state", live=True) as server:
        assert server.move(played[1][0], "O", 3, "a2").status == 200
        assert run("import", tmp_path / "backup").stdout == "Added 0 matches; 3 already there.\n"
        assert server.get(f"/api/matches/{played[1][0]['id']}").json["version"] == 4
        assert run("check").stdout.startswith("3 matches, 10 events")


def test_a_backup_replaces_no_file(run: Run, played: tuple[Path, list[Any]], tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    for target, why in ((tmp_path / "mine", "exists: name another file"), (tmp_path, "not a regular file")):
        ran = run("export", target)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert why in ran.stderr
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_backup_that_is_forced_over_a_file_is_for_its_owner_alone(
    run: Run, played: tuple[Path, list[Any]], tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("mine")
    assert run("export", tmp_path / "mine", "--force").returncode == 0
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o600
    assert run("import", tmp_path / "mine").stdout == "Added 0 matches; 3 already there.\n"


def test_a_backup_that_cannot_be_written_whole_is_not_left_there(
    run: Run, played: tuple[Path, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run("export", tmp_path / "backup")
    assert (ran.returncode, ran.stderr) == (1, f"Error: cannot write '{tmp_path}/backup': No space left on device\n")
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("what", ["entry", "digest", "head", "order", "short", "missing", "noise"])
def test_a_damaged_line_of_a_backup_is_named_and_left_out(
    what: str, run: Run, played: tuple[Path, list[Any]], tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    run("export", backup)
    lines = backup.read_text().splitlines()
    line = json.loads(lines[2])
    if what == "entry":
        line["entries"][1][0] = line["entries"][1][0].replace("a1", "a2")
    elif what == "digest":
        line["entries"][3][1] = "0" * 32
    elif what == "head":
        line["touched"] += 1
    elif what == "order":
        line["entries"][1:3] = line["entries"][2:0:-1]
    elif what == "short":
        line["entries"].pop()
    lines[2:3] = [] if what == "missing" else ["[" * 10_000] if what == "noise" else [json.dumps(line)]
    backup.write_text("\n".join([*lines, ""]))
    ran = run("import", backup, state="fresh")
    assert ran.returncode == 4
    line = "the backup was cut short, or a line of it is missing"
    named = line if what == "missing" else "line 3 of the backup is damaged"
    assert ran.stdout.splitlines() == ["Added 2 matches; 0 already there.", named]
    assert run("check", state="fresh").stdout.startswith("2 matches, 6 events")


@pytest.mark.parametrize("content", ["", "dear diary\n", '{"ttt4": "matches", "format": 2}\n', "\0\xff\n", "1\n"])
def test_what_is_no_backup_is_refused(content: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(content.encode("latin-1"))
    ran = run("import", tmp_path / "other")
    assert (ran.returncode, ran.stdout) == (4, "")
    assert ran.stderr == "Error: this file is not a backup of matches, or not of this version\n"


def test_where_no_matches_are_kept_there_is_nothing_to_check(run: Run, tmp_path: Path) -> None:
    for words in (["check"], ["export", tmp_path / "backup"]):
        ran = run(*words)
        assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (3, "", 1)
    assert run("import", tmp_path / "none").returncode == 2
    assert not (tmp_path / "state").exists()


def test_a_backup_for_which_there_is_no_room_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = log_file.LogFile(str(tmp_path / "state" / "ttt4" / "matches.sqlite"))
    with file.writing():
        assert file.append(b"a match ", 0, [b"x" * 500] * 100, now=1, played=True, creator=b"")
    file.close()
    assert run("export", tmp_path / "backup").returncode == 0
    monkeypatch.setattr(log_file, "FILE_BYTES", 8 * 4096)
    ran = run("import", tmp_path / "backup", state="fresh")
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1)
    assert "full" in ran.stderr
