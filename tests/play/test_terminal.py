"""The terminal: a whole game at a prompt, on a pseudo-terminal and through a pipe, and every way to leave it."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from typing import Any

import click
import pytest

COMMAND = str(Path(sys.executable).with_name("ttt4-play"))
HUMANS = ["--x", "human", "--o", "human"]
THREE = ["--game", "3,3,3"]
KEPT = "The game is kept: ttt4-play resume goes on with it.\n"
LISTING = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from play.cli import main
main()
"""
SLOW_TO_LOAD = {"numba", "numpy", "llvmlite", "hashlib", "multiprocessing", "solver.writer", "solver.build"}
Start = Callable[..., "Session"]


class Session:
    """`ttt4-play` on a terminal of its own, 80 columns wide."""

    def __init__(self, *arguments: object, **env: str) -> None:
        self.child, self.terminal = pty.fork()
        if not self.child:
            os.execve(COMMAND, [COMMAND, *map(str, arguments)], {**os.environ, "TERM": "xterm", **env})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        self.written = ""
        self.code: int | None = None

    def until(self, *ends: str) -> str:
        """What is written up to one of these ends, or up to the last of all."""
        said = b""
        while not (ends and click.unstyle(said.decode(errors="replace")).endswith(ends)):
            assert select([self.terminal], [], [], 60)[0], f"it stands still after {said!r}"
            try:
                block = os.read(self.terminal, 1 << 16)
            except OSError:  # how Linux says that nobody holds the other end any more
                break
            if not block:
                break
            said += block
        text = said.decode().replace("\r\n", "\n")
        self.written += text
        return text

    def prompted(self) -> str:
        return self.until("\nX> ", "\nO> ", "\n> ")

    def type(self, line: str) -> str:
        """What comes of a line, up to the next prompt, without colour."""
        os.write(self.terminal, f"{line}\n".encode())
        return click.unstyle(self.prompted())

    def press(self, key: bytes) -> None:
        """Press a key once the process waits for one: Python's readline sleeps through a Ctrl-C just before that."""
        while Path(f"/proc/{self.child}/stat").read_text().rpartition(")")[2].split()[0] != "S":
            os.sched_yield()
        os.write(self.terminal, key)

    def ended(self) -> int:
        """The exit code, once all is written."""
        self.until()
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        return self.code

    def close(self) -> None:
        if self.code is None:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        os.close(self.terminal)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, from which neither a store nor a game is found."""
    for name in ("TTT4_STORE", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    for room in ("data", "state"):
        monkeypatch.setenv(f"XDG_{room.upper()}_HOME", str(tmp_path / room))
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    return tmp_path


@pytest.fixture
def start() -> Iterator[Start]:
    """Start sessions; each is killed at the end, if it has not ended by itself."""
    sessions: list[Session] = []

    def starting(*arguments: object, **env: str) -> Session:
        sessions.append(Session(*arguments, **env))
        return sessions[-1]

    yield starting
    for session in sessions:
        session.close()


def piped(typed: str | bytes, *arguments: object, **env: str) -> Any:
    """The command with these lines typed into a pipe, ended."""
    said = typed if isinstance(typed, bytes) else typed.encode()
    command = [COMMAND, *map(str, arguments)]
    ran = subprocess.run(command, input=said, capture_output=True, timeout=120, env={**os.environ, **env})
    return subprocess.CompletedProcess(
        command, ran.returncode, *(said.decode(errors="replace") for said in (ran.stdout, ran.stderr))
    )


def at(said: str) -> str:
    """The marks on the board drawn last."""
    rows = re.findall(r"^ \d +(.*)$", click.unstyle(said), re.M)[-3:]
    return "/".join("".join(re.findall(r"[XO.]", row)) for row in rows)


OVER = "the game is over; undo takes a move back, new begins another."
SCRIPT = [
    ("a1", "/O plays (b2)\\./", "X../.O./..."),
    ("b2", "Cell 'b2' is taken: choose an empty one.", None),
    ("z9", "No cell 'z9' on a 3,3,3 board: cells run from 'a1' to 'c3'. Or type help.", None),
    ("9 9", "No cell in row 9, column 9: rows go from 1 to 3, columns from 1 to 3. Or type help.", None),
    ("udno", "No command 'udno': did you mean 'undo'?", None),
    ("redo", "No move to make again.", None),
    ("undo", "", ".../.../..."),
    ("undo", "You have made no move to take back.", None),
    ("redo", "", "X../.O./..."),
    ("", "", None),
    ("hint", "/The oracle would play [abc][123]: a draw\\./", None),
    ("show", "X to move: a draw with best play. +n wins in n plies, = draws, -n loses in n.", None),
    ("why", "1. X a1: best, a draw.\n1. O b2: best, a draw.", None),
    ("save", "No file named: save FILE.", None),
    ("save kept.txt", "Saved to kept.txt.", None),
    ("save kept.txt/below", "/Cannot write '.*/kept.txt/below': .*; name another file\\./", None),
    ("help", "  resign   give up", None),
    ("save there.txt", "there.txt' is there and is not this game: name another file.", None),
    ("resign", "X resigns: O has won. X made 1 move: 1 best, 0 that changed the outcome.", None),
    ("resign", f"Nothing to resign: {OVER}", None),
    ("hint", f"Nothing to hint at: {OVER}", None),
    ("show", f"Nothing to show: {OVER}", None),
    ("b3", f"Nothing to play: {OVER}", None),
    ("redo", f"Nothing to make again: {OVER}", None),
    ("why", "1. X a1: best, a draw.", None),
    ("undo", "", "X../.O./..."),
    ("3 3", "/O plays ([abc][123])\\./", None),
    ("new", "", ".../.../..."),
]


def missing(said: str, expected: str) -> bool:
    """Whether what was said, however it was broken into lines, lacks a text, or between slashes a pattern."""
    said, expected = " ".join(said.split()), " ".join(expected.split())
    if expected.startswith("/"):
        return not re.search(expected[1:-1], said)
    return expected not in said


def test_a_game_on_a_terminal_heeds_every_line_and_refuses_the_wrong_ones(start: Start, store3: Path) -> None:
    Path("there.txt").write_text("my diary")
    session = start(*THREE, "--store", store3)
    assert at(session.prompted()) == ".../.../..."
    for line, expected, marks in SCRIPT:
        said = session.type(line)
        assert not missing(said, expected), (line, said)
        assert marks is None or at(said) == marks, (line, said)
    session.type("a1")
    session.press(b"quit\n")
    assert session.ended() == 0
    assert session.written.endswith(KEPT)
    assert Path("there.txt").read_text() == "my diary"
    assert sorted(path.name for path in Path().iterdir()) == ["kept.txt", "there.txt"]


def test_a_pipe_gets_what_a_terminal_gets_without_colour_and_echo(start: Start, store3: Path) -> None:
    Path("there.txt").write_text("my diary")
    lines = [*(line for line, _, _ in SCRIPT), "c1"]
    ran = piped("\n".join([*lines, "quit\n"]), *THREE, "--store", store3)
    assert (ran.returncode, ran.stderr) == (0, "")
    session = start(*THREE, "--store", store3)
    seen = session.prompted() + "".join(session.type(line).removeprefix(f"{line}\n") for line in lines)
    assert ran.stdout == click.unstyle(seen) + KEPT


@pytest.mark.parametrize(
    ("moves", "ending"),
    [("a1 a2 b1 b2 c1", "X has won."), ("a1 a2 b1 b2 c3 c2", "O has won."), ("a1 b1 c1 b2 a2 c2 b3 a3 c3", "A draw.")],
)
@pytest.mark.parametrize("game", ["3,3,3", "3,3,3,misere"])
def test_a_game_that_ends_is_told_reviewed_and_may_be_taken_back(
    moves: str, ending: str, game: str, store3: Path
) -> None:
    given = ["--live"] if "misere" in game else ["--store", store3]
    ran = piped("\n".join([*moves.split(), "b3", "undo\n"]), "--game", game, *HUMANS, *given)
    if "misere" in game and "won" in ending:
        ending = f"{'XO'[ending[0] == 'X']} has won."
    assert (ran.returncode, ran.stderr) == (0, "")
    before, after = ran.stdout.split(f"\n{ending}\n")
    assert before.count("*") == (0 if ending == "A draw." else 3)
    assert "X made " in after
    assert "new begins another game, undo takes a move back, quit leaves." in after
    assert "> Nothing to play: the game is over; undo takes a move back, new begins another." in after
    assert "undo takes a move back, quit leaves" not in before
    last = len(moves.split()) - 1
    assert re.search(rf"\n{'XO'[last % 2]}> \nThe game is kept", after)


def test_a_game_that_nobody_can_win_any_more_is_said_to_be_a_draw_once() -> None:
    ran = piped("a1\nb1\nc1\nb2\na2\nc2\nb3\na3\n", *THREE, *HUMANS, "--live")
    assert ran.stdout.count("No line can be completed any more: this will be a draw.") == 1


@pytest.mark.parametrize("game", ["1,1,1", "3,3,3", "3,3,3,misere", "4,4,4", "5,5,4"])
def test_without_a_person_a_game_is_played_to_its_end_and_the_command_leaves(game: str) -> None:
    ran = piped("", "--game", game, "--x", "random", "--o", "oracle", "--live", "--time", "0.05", "--seed", "2")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.search(r"^(X has won|O has won|A draw)\.$", ran.stdout, re.M)
    assert "> " not in ran.stdout


@pytest.mark.parametrize("side", ["X", "O"])
def test_the_person_has_the_side_that_was_asked_for(side: str, store3: Path) -> None:
    names = {"--x": "oracle", "--o": "oracle", f"--{side.lower()}": "human"}
    ran = piped("quit\n", *THREE, *[word for pair in names.items() for word in pair], "--store", store3)
    assert f"\n{side}> " in ran.stdout
    assert ("X plays " in ran.stdout) == (side == "O")


@pytest.mark.parametrize("game", ["3,3,3", "4,4,4", "15,15,5"])
def test_no_line_is_longer_than_80_columns(game: str) -> None:
    typed = "help\nhint\na1\nwhy\nb2\nshwo\nundo\nresign\nundo\nquit\n"
    ran = piped(typed, "--game", game, "--live", "--time", "0.05")
    assert ran.returncode == 0
    assert max(map(len, ran.stdout.splitlines())) <= 80


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_where_no_colour_is_wanted_no_escape_is_written(env: dict[str, str], start: Start, store3: Path) -> None:
    for plain in (False, True):
        session = start(*THREE, "--store", store3, **(env if plain else {}))
        session.prompted()
        session.type("b2")
        session.type("show")
        session.press(b"quit\n")
        assert session.ended() == 0
        assert ("\x1b" in session.written) != plain


@pytest.mark.parametrize("words", ["", "--help", "resume --help", "arena --help", "replay --help", "review --help"])
def test_without_utf8_there_is_no_traceback(words: str, store3: Path) -> None:
    given = ["--game", "3,3,3", "--store", store3] if not words else words.split()
    ran = piped("b2\nhint\nshow\nwhy\nquit\n", *given, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.isascii()


@pytest.mark.parametrize("answer", ["y", "", "n"])
def test_a_first_start_on_a_terminal_offers_a_store_and_goes_on(answer: str, start: Start, home: Path) -> None:
    store = home / "data" / "ttt4" / "3x3x3.ttt4"
    session = start(*THREE)
    assert "There is no store of 3,3,3 yet. Build it now" in session.until("[Y/n] ")
    said = session.type(answer)
    assert store.exists() == (answer != "n")
    assert ("searching live" in said) == (answer == "n")
    assert at(said) == ".../.../..."
    assert "O plays" in session.type("b2")
    session.press(b"quit\n")
    assert session.ended() == 0


def test_where_there_is_no_terminal_nothing_is_asked(home: Path) -> None:
    ran = piped("quit\n", *THREE)
    assert (ran.returncode, ran.stderr.count("\n")) == (0, 1)
    assert "Build it now" not in ran.stdout
    assert ran.stderr.endswith("searching live. For answers at once: ttt4-solve build --game 3,3,3\n")
    assert not (home / "data").exists()


@pytest.mark.parametrize("arguments", [["--live"], ["--game", "15,15,5", "--time", "0.05"]])
def test_a_start_that_wants_no_store_or_can_have_none_is_not_asked(arguments: list[str], start: Start) -> None:
    session = start(*arguments)
    assert "store" not in session.prompted()


@pytest.mark.parametrize("typed", ["", "a1\n", "a1\nundo\n", "a1\nresign\n", "quit\n", "QUIT\n", "a1", "\n\n  \n"])
def test_quit_and_the_end_of_input_end_with_0(typed: str, store3: Path) -> None:
    ran = piped(typed, *THREE, "--store", store3)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith(KEPT) == (typed.strip() == "a1")
    assert "kept" not in ran.stdout.removesuffix(KEPT)


def test_the_end_of_input_on_a_terminal_ends_with_0(start: Start, store3: Path) -> None:
    session = start(*THREE, "--store", store3)
    session.prompted()
    session.type("b2")
    session.press(b"\x04")
    assert session.ended() == 0
    assert session.written.endswith(f"\n{KEPT}")


@pytest.mark.parametrize("moves", [[], ["a1"], ["a1", "undo"]])
def test_ctrl_c_ends_with_130_and_says_how_to_go_on(moves: list[str], start: Start, store3: Path) -> None:
    session = start(*THREE, *HUMANS, "--store", store3)
    session.prompted()
    for move in moves:
        session.type(move)
    session.press(b"\x03")
    assert session.ended() == 130
    assert session.written.endswith((f"\n{KEPT}" if moves == ["a1"] else "\n") + "Interrupted.\n")
    assert ("kept" in session.written, "Traceback" in session.written) == (moves == ["a1"], False)


@pytest.mark.parametrize(
    "word", ["\x1b[31m", "\0", "\a\b", "\u202e", "é", "٣", "𝟗", "a1 b2 c3", "-1 -1", "a1;", "1,1,1"]
)
def test_a_line_that_means_nothing_is_refused_in_a_line(word: str, store3: Path) -> None:
    ran = piped(f"{word}\nquit\n", *THREE, "--store", store3)
    assert (ran.returncode, ran.stderr) == (0, "")
    refusal = ran.stdout.split("X> ")[1]
    assert (refusal.count("\n"), refusal.endswith(" Or type help.\n")) == (1, True)
    assert "\x1b" not in refusal


@pytest.mark.parametrize("other", ["oracle", "oracle:3", "random", "rules", "first"])
def test_while_a_store_serves_no_compiler_and_no_writer_is_loaded(other: str, store3: Path) -> None:
    command = [sys.executable, "-c", LISTING, *THREE, "--o", other, "--store", str(store3)]
    ran = subprocess.run(command, input="b2\nhint\nshow\nwhy\nquit\n", capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    modules = set(ran.stderr.splitlines()[-1].split())
    assert {"lmdb", "solver.store"} <= modules
    assert not modules & (SLOW_TO_LOAD | {"oracle.search"})


OFFER = "Build it now, in some seconds? [Y/n] "


def test_ctrl_c_at_the_offer_of_a_store_ends_with_130(start: Start, home: Path) -> None:
    session = start(*THREE)
    session.until(OFFER)
    session.press(b"\x03")
    assert session.ended() == 130
    assert session.written.endswith("Interrupted.\n")
    assert "Traceback" not in session.written
    assert not (home / "data").exists()


def test_the_end_of_input_at_the_offer_of_a_store_means_no(start: Start, home: Path) -> None:
    session = start(*THREE)
    session.until(OFFER)
    session.press(b"\x04")
    assert at(session.prompted()) == ".../.../..."
    assert not (home / "data").exists()


RECORD = '[Game "3,3,3"]\n[X "human"]\n[O "human"]\n\n1. a1 b2\n2. c3 *\n'


@pytest.mark.parametrize(
    ("key", "code", "last"), [(b"\x03", 130, "Interrupted.\n"), (b"\x04", 0, ""), (b"q\n", 0, "\n")]
)
def test_replay_on_a_terminal_steps_and_may_be_left(key: bytes, code: int, last: str, start: Start) -> None:
    Path("game.txt").write_text(RECORD)
    session = start("replay", "game.txt")
    boards = [session.until("q> ")]
    for line in ("", "", "b", "b", "b"):
        os.write(session.terminal, f"{line}\n".encode())
        boards.append(session.until("q> "))
    assert [int(re.findall(r"Move (\d) of 3", board)[-1]) for board in boards] == [0, 1, 2, 1, 0, 0]
    session.press(key)
    assert session.ended() == code
    assert session.written.endswith(last)
    assert "Traceback" not in session.written


@pytest.mark.parametrize("side", ["x", "o"])
@pytest.mark.parametrize("before", ["", "undo\n", "zz\nundo\n"])
def test_undo_never_takes_back_what_only_the_other_has_played(side: str, before: str, store3: Path) -> None:
    other = {"x": "o", "o": "x"}[side]
    ran = piped(f"{before}undo\nwhy\n", *THREE, f"--{side}", "human", f"--{other}", "oracle", "--store", store3)
    assert ran.stdout.count("You have made no move to take back.") == 1 + before.count("undo")
    assert ("1. X " in ran.stdout) == (side == "o")
    assert ran.stdout.endswith(KEPT) == (side == "o")


def test_undo_after_a_resignation_takes_that_back_and_no_move(store3: Path) -> None:
    ran = piped("a1\nb2\nresign\nundo\nundo\n", *THREE, *HUMANS, "--store", store3)
    boards = re.split(r"[XO]?> ", ran.stdout)[1:]
    assert [at(board) for board in boards if at(board)][-2:] == ["X../.O./...", "X../.../..."]


def test_the_board_stands_between_blank_lines_and_the_review_below_the_ending(store3: Path) -> None:
    ran = piped("a1\na2\nb1\nb2\nc1\n", *THREE, *HUMANS, "--store", store3)
    assert re.search(
        r"X> \n    a   b   c\n 1  X\*  X\*  X\*\n 2  O   O   \.\n 3  \.   \.   \.\n\nX has won\.\n\n1\. O a2: ",
        ran.stdout,
    )
    assert ran.stdout.endswith("\nnew begins another game, undo takes a move back, quit leaves.\n> \n")


def test_without_a_person_nothing_is_offered_at_the_end(store3: Path) -> None:
    ran = piped("", *THREE, "--x", "rules", "--o", "oracle", "--store", store3)
    assert (ran.returncode, "new begins another" in ran.stdout, "quit" in ran.stdout) == (0, False, False)
    assert "\nX made " in ran.stdout


@pytest.mark.parametrize("typed", ["hint\nquit\n", "show\nquit\n", "h8\nhint\nshow\nwhy\nreview\nquit\n"])
def test_what_is_not_settled_is_not_called_a_draw(typed: str) -> None:
    ran = piped(typed, "--game", "15,15,5", "--x", "human", "--o", "random", "--live", "--time", "0.05")
    assert ran.returncode == 0
    assert "a draw" not in ran.stdout.lower()
    assert "not" in ran.stdout.lower()
    assert "settled" in ran.stdout


@pytest.mark.parametrize("game", ["3,3,3", "15,15,5"])
def test_sentences_are_wrapped_at_79_columns(game: str) -> None:
    typed = (
        f"help\nhint\na1\n{'x' * 300}\n9 9999\nwhy\nb2\nshwo\nsave {'deep/' * 30}\0\nresign\nhint\nshow\nredo\nquit\n"
    )
    ran = piped(typed, "--game", game, "--live", "--time", "0.05")
    assert (ran.returncode, ran.stderr) == (0, "")
    for line in ran.stdout.splitlines():
        said = re.sub(r"^([XO]?> )+", "", line)
        assert len(said) <= 79 or " " not in said[79:], line


def test_save_writes_where_a_person_means(home: Path, store3: Path) -> None:
    (home / "target.txt").write_text('[Game "3,3,3"]\n\n*\n')
    Path("link.txt").symlink_to(home / "target.txt")
    ran = piped("a1\nsave ~/saved.txt\nsave link.txt\nsave link.txt\n", *THREE, "--store", store3, HOME=str(home))
    assert ran.stdout.count("Saved to ") == 3
    assert "1. a1 " in (home / "saved.txt").read_text()
    assert Path("link.txt").is_symlink()
    assert (home / "target.txt").read_text() == (home / "saved.txt").read_text()
    assert not list(home.rglob("*.partial"))


@pytest.mark.parametrize("name", ["diary", "bytes", "empty", "folder", "pipe", "to_diary", "loop", "nul\0.txt"])
def test_save_overwrites_nothing_but_a_record(name: str, store3: Path) -> None:
    contents = {"diary": b"my diary", "bytes": b"\xff\0", "empty": b""}
    for file, content in contents.items():
        Path(file).write_bytes(content)
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("to_diary").symlink_to("diary")
    Path("loop").symlink_to("loop")
    before = sorted(Path().iterdir())
    ran = piped(f"a1\nsave {name}\n", *THREE, "--store", store3)
    assert (ran.returncode, ran.stderr, "Saved" in ran.stdout) == (0, "", False)
    assert "ame another file." in " ".join(ran.stdout.split())
    assert sorted(Path().iterdir()) == before
    assert all(Path(file).read_bytes() == content for file, content in contents.items())
    assert Path("to_diary").is_symlink()


@pytest.mark.parametrize("typed", [b"\xff\nquit\n", "é\nquit\n".encode("latin-1"), "save ÿ.txt\nquit\n".encode()])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_bytes_that_are_no_text_cost_a_line(typed: bytes, encoding: str, store3: Path) -> None:
    ran = piped(typed, *THREE, "--store", store3, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("X> ") == 2


OWN = """
import numpy

class Player:
    def __init__(self, choose):
        self.choose = choose

def raising(state):
    raise ValueError("lost my way, " + "very " * 99 + "far\\nand wide")

def leaving(state):
    raise SystemExit(0)

def made(choose):
    return lambda game, seed: Player(choose)

raises, leaves, outside, text = made(raising), made(leaving), made(lambda state: 99), made(lambda state: "b2")
taken = made(lambda state: 0)
numbers = made(lambda state: numpy.int64(state.empty[0]))
half = made(lambda state: state.empty[0] + 0.5)
"""


@pytest.mark.parametrize("name", ["raises", "leaves", "outside", "text", "taken", "half"])
def test_an_own_player_that_makes_no_move_ends_the_game_in_a_line(name: str, store3: Path) -> None:
    Path("own_players.py").write_text(OWN)
    ran = piped("a1\n", *THREE, "--o", f"own_players:{name}", "--store", store3)
    assert (ran.returncode, ran.stderr.count("\n"), ran.stderr.startswith("Error: ")) == (2, 1, True)
    assert len(ran.stderr) < 160


def test_an_own_player_may_answer_with_any_whole_number(store3: Path) -> None:
    Path("own_players.py").write_text(OWN)
    ran = piped("b2\nquit\n", *THREE, "--o", "own_players:numbers", "--store", store3)
    assert (ran.returncode, ran.stderr, "O plays a1." in ran.stdout) == (0, "", True)


@pytest.mark.parametrize(
    ("words", "option"),
    [("--game 3,3,3 arena --x random --o rules", "--game"), ("--o random resume", "--o"), ("--x rules resume", "--x"),
     ("--level 3 replay game.txt", "--level"), ("--live review game.txt", "--live"), ("--seed 1 resume", "--seed"),
     ("--time 1 resume", "--time"), ("--store there resume", "--store")],
)  # fmt: skip
def test_an_option_before_a_subcommand_is_a_usage_error_that_names_it(words: str, option: str) -> None:
    Path("game.txt").write_text(RECORD)
    ran = piped("", *words.split())
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1].startswith(f"Error: {option} ")


@pytest.mark.parametrize("words", ["--time nan", "resume --time nan", "--level 11", "--level 3 --x human --o random"])
def test_a_wrong_use_ends_with_2(words: str) -> None:
    ran = piped("", *words.split())
    assert (ran.returncode, ran.stdout, "Traceback" in ran.stderr) == (2, "", False)
