"""Standard streams that are closed, full, or closed by their reader: no work is lost, and none is claimed."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest

from solver.cli.main import main
from solver.cli.streams import prepare_streams
from solver.games.lines import grid
from solver.store.store import Store

Shell = Callable[..., tuple[int, bytes, bytes]]
BIN = Path(sys.executable).parent
THREE = ["--game", "3,3,3"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run a command with redirections in a shell: its own exit code, and what came out of the pipeline."""

    def running(words: list[object], redirected: str = "", **env: str) -> tuple[int, bytes, bytes]:
        command = " ".join([shlex.quote(str(BIN / str(words[0]))), *(shlex.quote(str(word)) for word in words[1:])])
        script = f"{{ {command} {redirected}; }}; exit ${{PIPESTATUS[0]}}"
        ran = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, input=b"9\nX8\n", capture_output=True, timeout=120, env=env or None
        )
        return ran.returncode, ran.stdout, ran.stderr

    return running


def built(path: Path) -> bool:
    with Store(path, grid(3, 3, 3)) as store:
        return bool(store.count())


@pytest.mark.slow
@pytest.mark.parametrize("redirected", ["2>&1 | head -1", "2>/dev/full", "2>&-", "<&-", "2>/dev/full | true"])
def test_a_build_whose_talk_nobody_hears_is_done(redirected: str, shell: Shell, tmp_path: Path) -> None:
    code, _, err = shell(["ttt4-solve", "build", *THREE, "--store", "s"], redirected)
    assert (code, b"Traceback" in err) == (0, False)
    assert built(tmp_path / "s")
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


ASKED = [
    ["ttt4-solve", "verify", *THREE], ["ttt4-solve", "info", *THREE], ["ttt4-query", "9", *THREE],
    ["ttt4-play", "arena", *THREE, "--x", "oracle", "--o", "random", "--games", "3"],
]  # fmt: skip
UNHEARD = ["2>&1 | head -1", "2>&1 | true", "2>/dev/full", "2>&-", "| true"]
SOME = list(zip(ASKED, UNHEARD, strict=False))


@pytest.mark.parametrize(
    ("command", "redirected"),
    [
        pytest.param(command, redirected, marks=() if (command, redirected) in SOME else pytest.mark.slow)
        for command in ASKED
        for redirected in UNHEARD
    ],
)
def test_a_damaged_store_is_never_answered_from_whoever_listens(
    command: list[str], redirected: str, shell: Shell, store3: Path, tmp_path: Path
) -> None:
    whole = bytearray(store3.read_bytes())
    whole[len(whole) // 2] ^= 1
    (tmp_path / "s").write_bytes(whole)
    assert shell([*command, "--store", "s"], redirected)[0] == 4


COMMANDS = [
    ["ttt4-query", "9", *THREE],
    ["ttt4-query", "-", *THREE],
    ["ttt4-solve", "games"],
    ["ttt4-solve", "build", *THREE, "--store", "s"],
    ["ttt4-play", "arena", *THREE, "--x", "random", "--o", "rules", "--games", "2"],
    ["ttt4-play", *THREE],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_closed_standard_output_is_refused_before_the_work(command: list[str], shell: Shell, tmp_path: Path) -> None:
    assert shell(command, ">&-") == (1, b"", b"Error: standard output is closed\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [*COMMANDS[:3], *(pytest.param(each, marks=pytest.mark.slow) for each in COMMANDS[3:5]), COMMANDS[5]],
    ids=" ".join,
)
def test_a_full_standard_output_is_a_failure_in_one_line(command: list[str], shell: Shell) -> None:
    code, _, err = shell(command, ">/dev/full", PATH="/usr/bin:/bin", XDG_STATE_HOME="/nonexistent")
    talk = [line for line in err.splitlines() if not line.endswith(b"...") and b"searching live" not in line]
    assert code == 1
    assert len(talk) == 1
    assert b"No space left on device" in talk[0]


@pytest.mark.parametrize(
    ("command", "redirected"),
    [
        pytest.param(command, redirected, marks=() if i == j else pytest.mark.slow)
        for i, command in enumerate([COMMANDS[4], [*COMMANDS[0], "--json"], COMMANDS[2]])
        for j, redirected in enumerate(["<&-", "2>&-", "2>/dev/full"])
    ],
)
def test_a_result_is_the_same_whatever_the_other_streams_are(command: list[str], redirected: str, shell: Shell) -> None:
    code, out, _ = shell(command)
    again = shell(command, redirected)
    assert (again[0], len(again[1].splitlines())) == (code, len(out.splitlines())) != (0, 0)


def test_a_pipe_that_breaks_inside_the_program_is_not_taken_for_a_reader_who_left(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("solver.proof.build.build_store", broken)
    ran = run(main, "build", "--game", "3,3,3", "--store", "/tmp/never")
    assert (ran.code, ran.err) == (1, "Error: system error: Broken pipe\n")


def test_a_command_whose_reader_left_ends_well_and_what_it_still_writes_is_lost(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as left, monkeypatch.context() as patched:
        patched.setattr("solver.proof.build.build_store", broken)
        patched.setattr("solver.cli.console.reader_left", lambda: True)
        patched.setattr("sys.stdout", left)
        ran = run(main, "build", "--game", "3,3,3", "--store", "/tmp/never")
        assert (ran.code, ran.err) == (0, "")
        assert os.write(writing, b"more") == 4


def test_a_full_terminal_that_does_not_wait_holds_nothing_up(forked: Any) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))

    def talking() -> str:
        os.dup2(writing, 2)
        prepare_streams()
        for _ in range(3):
            click.echo("solving..." * 10_000, err=True)
        return "went on"

    assert forked(talking) == (0, "went on")
    os.close(reading)
    os.close(writing)


def test_boards_from_a_closed_standard_input_are_refused(shell: Shell) -> None:
    code, out, err = shell(["ttt4-query", "-", *THREE, "--live"], "<&-")
    assert (code, out, err) == (1, b"", b"Error: standard input is closed\n")


def test_in_an_ascii_locale_odd_names_are_escaped(shell: Shell) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": "/usr/bin:/bin"}
    code, out, err = shell(["ttt4-query", "X\u00e9", *THREE], **env)
    assert (code, out, err.count(b"\n"), err.isascii()) == (2, b"", 1, True)
    code, _, err = shell(["ttt4-solve", "verify", "--store", "\u00e9"], **env)
    assert (code, err.isascii(), b"Traceback" in err) == (3, True, False)
