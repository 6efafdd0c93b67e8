"""The terminal: how a game starts on one and through a pipe, how it looks, every way to leave it, and wrong usage."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sessions import HUMANS, KEPT, THREE, Start, StartProcess, at, piped, piped_process, printed, subcommands

from play.cli.main import main
from play.terminal.talk import THINKING_AFTER

pytestmark = pytest.mark.usefixtures("home")

LISTING = """
import sys
from contextlib import suppress
from play.cli.main import main
from play.terminal.talk import THINKING_AFTER

store, *others = sys.argv[1:]
for other in others:
    with suppress(SystemExit):
        main(["--game", "3,3,3", "--o", other, "--store", store])
    print(*sorted(sys.modules), file=sys.stderr)
"""
SLOW_TO_LOAD = {
    "numba", "numpy", "llvmlite", "hashlib", "multiprocessing", "solver.store.writer", "solver.proof.build",
    "solver.search.live", "play.lab.playing", "play.lab.runs",
}  # fmt: skip


HELP = [["--help"], *([name, "--help"] for name in subcommands())]


@pytest.mark.parametrize("words", [[*THREE, "--live"], *HELP], ids=" ".join)
def test_without_utf8_there_is_no_traceback(words: list[str]) -> None:
    out = printed("b2\nhint\nshow\nwhy\nquit\n", *words, encoding="ascii")
    assert out


def test_a_process_without_utf8_writes_ascii(store3: Path) -> None:
    given = [*THREE, "--store", store3]
    ran = piped_process("é\nshow\nquit\n", *given, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.isascii()
    assert ran.stdout == piped("é\nshow\nquit\n", *given, encoding="ascii").stdout


OFFER = "There is no store for 3,3,3 yet. Build it now, in a few seconds? [Y/n] "


@pytest.mark.parametrize("answer", ["y", "", "n", "Ctrl-D", pytest.param("yes", marks=pytest.mark.slow)])
def test_a_first_start_on_a_terminal_offers_a_store_and_goes_on(
    answer: str, start: Start, home: Path, store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = home / "data" / "ttt4" / "3x3x3.ttt4"
    if answer != "yes":

        def build(command: list[str], **how: object) -> None:
            assert command[-5:] == ["build", "--game", "3,3,3", "--store", str(store)]
            store.parent.mkdir(parents=True)
            shutil.copy(store3, store)

        monkeypatch.setattr("subprocess.run", build)
    session = start(*THREE)
    assert session.prompted() == OFFER
    if answer == "Ctrl-D":
        session.end_input()
    said = session.prompted() if answer == "Ctrl-D" else session.type(answer)
    assert store.exists() == (answer not in ("n", "Ctrl-D"))
    assert ("searching live" in said) == (not store.exists())
    assert at(said) == ".../.../..."
    assert "O plays" in session.type("b2")
    session.type("quit")
    assert session.ended() == 0


def test_where_there_is_no_terminal_nothing_is_asked(home: Path) -> None:
    ran = piped("quit\n", *THREE)
    assert (ran.returncode, ran.stderr.count("\n")) == (0, 1)
    assert "Build it now" not in ran.stdout
    assert ran.stderr.endswith("searching live. For answers at once: ttt4-solve build --game 3,3,3\n")
    assert not (home / "data").exists()


@pytest.mark.parametrize("arguments", [["--live"], ["--game", "15,15,5", "--time", "0.05"]])
def test_a_game_that_wants_no_store_or_can_have_none_offers_none(arguments: list[str], start: Start) -> None:
    assert "Build it now" not in start(*arguments).prompted()


@pytest.mark.parametrize(
    "typed", ["", "a1\n", "a1\nundo\n", "a1\nresign\nresign\n", "quit\n", "QUIT\n", "a1", "\n\n  \n"]
)
def test_quit_and_the_end_of_input_end_with_0(typed: str, store3: Path) -> None:
    out = printed(typed, *THREE, "--store", store3)
    assert out.endswith(KEPT) == (typed.split() in (["a1"], ["a1", "undo"]))
    assert "kept" not in out.removesuffix(KEPT)


@pytest.mark.parametrize(("key", "code", "last"), [(b"\x04", 0, ""), (b"\x03", 130, "Interrupted.\n")])
def test_ctrl_d_and_ctrl_c_end_a_process_without_a_traceback(
    key: bytes, code: int, last: str, start_process: StartProcess, store3: Path
) -> None:
    session = start_process(*THREE, *HUMANS, "--store", store3)
    session.prompted()
    session.type("a1")
    session.press(key)
    assert session.ended() == code
    assert session.written.endswith(f"\n{KEPT}{last}")
    assert "Traceback" not in session.written


@pytest.mark.parametrize("moves", [[], ["a1"], ["a1", "undo"]])
def test_ctrl_c_ends_with_130_and_says_how_to_go_on(moves: list[str], start: Start, store3: Path) -> None:
    session = start(*THREE, *HUMANS, "--store", store3)
    for move in moves:
        session.type(move)
    session.interrupt()
    assert session.ended() == 130
    assert session.written.endswith((f"\n{KEPT}" if moves else "\n") + "Interrupted.\n")
    assert ("kept" in session.written) == bool(moves)


def test_while_a_store_answers_no_compiler_no_writer_and_no_search_is_loaded(store3: Path) -> None:
    others = ["oracle", "oracle:3", "random", "rules", "first"]
    command = [sys.executable, "-c", LISTING, str(store3), *others]
    ran = subprocess.run(command, input="b2\nhint\nshow\nwhy\nquit\n" * 5, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert len(re.findall(r"^X> O plays \w\d\.$", ran.stdout, re.M)) == 5
    for other, loaded in zip(others, ran.stderr.splitlines(), strict=True):
        modules = set(loaded.split())
        assert "solver.store.store" in modules
        assert not modules & SLOW_TO_LOAD, other


def test_ctrl_c_at_the_offer_of_a_store_ends_with_130(start: Start, home: Path) -> None:
    session = start(*THREE)
    assert session.prompted() == OFFER
    session.interrupt()
    assert session.ended() == 130
    assert session.written.endswith("Interrupted.\n")
    assert not (home / "data").exists()


RECORD = '[Game "3,3,3"]\n[X "human"]\n[O "human"]\n\n1. a1 b2\n2. c3 *\n'


@pytest.mark.parametrize(("way", "code", "last"), [("Ctrl-C", 130, "Interrupted.\n"), ("Ctrl-D", 0, ""), ("q", 0, "")])
def test_replay_on_a_terminal_steps_and_can_be_left(way: str, code: int, last: str, start: Start) -> None:
    Path("game.txt").write_text(RECORD)
    session = start("replay", "game.txt")
    boards = [session.prompted(), *map(session.type, ("", "", "b", "b", "b"))]
    assert all(board.endswith("q> ") for board in boards)
    assert [int(re.findall(r"Ply (\d) of 3", board)[-1]) for board in boards] == [0, 1, 2, 1, 0, 0]
    if way == "Ctrl-C":
        session.interrupt()
    elif way == "q":
        session.type("q")
    assert session.ended() == code
    assert session.written.endswith(last)


@pytest.mark.parametrize("game", ["3,3,3", "4,4,4", "15,15,5"])
def test_no_line_is_longer_than_79_columns_unless_it_is_one_word(game: str) -> None:
    words = ["help", "hint", "a1", "x" * 300, "9 9999", "why", "b2", "shwo", f"save {'deep/' * 30}\0", "undo", "resign"]
    typed = "\n".join([*words, "hint", "show", "redo", "undo", "lines", "review", "quit\n"])
    out = printed(typed, "--game", game, "--live", "--time", "0.05")
    for line in out.splitlines():
        said = re.sub(r"^([XO]?> )+", "", line)
        assert len(said) <= 79 or " " not in said[79:], line


@pytest.mark.parametrize("typed", [b"\xff\nquit\n", "é\nquit\n".encode("latin-1"), "save ÿ.txt\nquit\n".encode()])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_bytes_that_are_not_text_cost_one_line(typed: bytes, encoding: str, store3: Path) -> None:
    out = printed(typed, *THREE, "--store", store3, encoding=encoding)
    assert out.count("X> ") == 2


def test_bytes_that_are_not_text_cost_a_process_one_line(store3: Path) -> None:
    ran = piped_process(b"\xff\nquit\n", *THREE, "--store", store3, PYTHONIOENCODING="utf-8", PYTHONUTF8="0")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("X> That could not be read: write letters and digits.\nX> \n")


VALUES = {
    "--game": ["3,3,3"], **dict.fromkeys(["--x", "--o", "--z", "--t"], ("random",)), "--level": ["3"], "--first": ["O"],
    "--seed": ["1"], "--board": ["X../.../..."], "--plain": [], "--store": ["there"], "--live": [], "--time": ["1"],
}  # fmt: skip


@pytest.mark.parametrize("name", subcommands())
@pytest.mark.parametrize("option", [option.opts[0] for option in main.params if option.name != "version"])
def test_an_option_before_a_subcommand_is_refused_with_advice(option: str, name: str, run: Callable[..., Any]) -> None:
    given = [option, *VALUES[option]]
    before, behind = run(main, *given, name), run(main, name, *given, "--help")
    assert (before.code, before.out) == (2, "")
    refusal = before.err.splitlines()[-1]
    if "No such option" in behind.err:
        assert refusal == f"Error: {option} before {name} has no effect: {name} has no option {option}"
    else:
        assert refusal == f"Error: {option} before {name} has no effect: put it after {name}"


@pytest.mark.parametrize(
    "words", ["--time nan", "resume --time nan", "--level 11", "--level 3 --x human --o random", "--first Z"]
)
def test_wrong_usage_ends_with_2(words: str) -> None:
    ran = piped("", *words.split())
    assert (ran.returncode, ran.stdout, "Traceback" in ran.stderr) == (2, "", False)


PLAYER = """
class Slow:
    __init__ = lambda *_: None
    choose = lambda self, state: state.empty[0]
"""
THINKING = "slow_players:Slow is thinking..."


class Due:
    """A timer whose time comes at once."""

    daemon = False

    def __init__(self, seconds: float, then: Callable[[], None]) -> None:
        assert seconds == 0.2
        self.start = then

    def cancel(self) -> None:
        pass


def test_after_200_ms_a_player_is_said_to_think(start: Start, store3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("slow_players.py").write_text(PLAYER)
    given = [*THREE, "--o", "slow_players:Slow", "--store", store3]
    session = start(*given)
    session.prompted()
    monkeypatch.setattr("play.terminal.talk.Timer", Due)
    monkeypatch.setattr("play.terminal.talk.THINKING_AFTER", THINKING_AFTER)
    assert session.type("b2").startswith(f"b2\n{THINKING}\r{' ' * len(THINKING)}\rO plays a1.\n")
    assert session.written.count("thinking") == 1
    out = printed("b2\nquit\n", *given)
    assert ("O plays a1.\n" in out, "thinking" in out) == (True, False), "on no terminal"
