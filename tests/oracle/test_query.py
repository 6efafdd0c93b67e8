"""`ttt4-query`: what it answers, in words and as JSON, and how it refuses."""

import json
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from select import select
from typing import Any

import click
import naive
import pytest
from commands import refused, run_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle import NotSettled, Oracle
from oracle.cli.main import main
from solver import __version__
from solver.games.board_text import parse
from solver.games.lines import grid
from solver.search.live import Search

FOUR = grid(4, 4, 4)
COMMAND = str(Path(sys.executable).with_name("ttt4-query"))
OPEN, X_WON, O_WON, FULL = "XX../OO../..../....", "XXXX/OOO./..../....", "OOOO/XXX./X.../....", "XXOO/OOXX/XXOO/OOXX"
Run = Callable[..., Any]
in_one_test = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # nothing in them changes
pytestmark = pytest.mark.usefixtures("home")


def started(*arguments: object, **streams: Any) -> Any:
    """The command as a process, its streams pipes without buffers."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([COMMAND, *map(str, arguments)], bufsize=0, **(pipes | streams))


def answered(said: bytes, *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of `ttt4-query -` and its answers to what is said, which are one a line."""
    ran = run_command(main, "-", *arguments, typed=said)
    assert ran.stderr == ""
    assert ran.stdout == "" or ran.stdout.endswith("\n")
    return ran.returncode, [json.loads(line) for line in ran.stdout.split("\n")[:-1]]


def boards(*names: str) -> st.SearchStrategy[tuple[naive.Game, str, str]]:
    """Rules, the game's name, and a board that a game reaches."""

    @st.composite
    def drawn(draw: st.DrawFn) -> tuple[naive.Game, str, str]:
        name = draw(st.sampled_from(names))
        rules = naive.Game.named(name)
        order = draw(st.permutations(range(rules.cells)))
        return rules, name, naive.played(rules, order[: draw(st.integers(0, rules.cells))])

    return drawn()


def check_sentence(rules: naive.Game, board: str, out: str) -> None:
    """Compare who is to move, who wins and how soon, as the text says, with minimax."""
    score = naive.score(rules, board)
    if naive.over(rules, board):
        found = re.search(r"^The game is over: (?:([XO]) has won|a draw)\.$", out, re.M)
        assert found
        assert found[1] == naive.winner(rules, board)
        return
    found = re.search(
        r"^([XO]) to move: (?:a draw with best play|([XO]) wins in (\d+) moves? \((\d+) (?:ply|plies)\))\.$", out, re.M
    )
    assert found
    mover = naive.mover(board)
    assert found[1] == mover
    assert found[2] == (None if not score else mover if score > 0 else "XO"[mover == "X"])
    if score:
        plies = rules.cells + 1 - abs(score) - naive.stones(board)
        assert (int(found[3]), int(found[4])) == ((plies + 1) // 2, plies)


def named_cells(rules: naive.Game, names: str) -> list[int]:
    return [int(name[1:]) * rules.columns - rules.columns + ord(name[0]) - ord("a") for name in names.split()]


@in_one_test
@given(boards("3,3,3", "3,3,3,misere"))
def test_the_text_says_what_minimax_finds(store3: Path, run: Run, position: tuple[naive.Game, str, str]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: the outcome in words, the best moves and the main line are minimax's
    rules, name, board = position
    given_store = ["--store", store3] if name == "3,3,3" else ["--live"]
    ran = run(main, board, "--game", name, *given_store)
    assert (ran.code, ran.err) == (0, "")
    check_sentence(rules, board, ran.out)
    assert ("Best" in ran.out) == ("Main line" in ran.out) == (not naive.over(rules, board))
    if not naive.over(rules, board):
        best = named_cells(rules, re.search(r"^Best +(.*)$", ran.out, re.M)[1])  # type: ignore[index]
        scores = {cell: -naive.score(rules, naive.claim(board, cell)) for cell in range(9) if board[cell] == "."}
        assert best == [cell for cell, score in scores.items() if score == max(scores.values())]
        for cell in named_cells(rules, re.search(r"^Main line +(.*)$", ran.out, re.M)[1]):  # type: ignore[index]
            assert -naive.score(rules, naive.claim(board, cell)) == naive.score(rules, board)
            board = naive.claim(board, cell)
        assert naive.over(rules, board)


@pytest.mark.parametrize(("board", "sentence"), [
    (OPEN, "X to move: a draw with best play."),
    (".XX./O.O./O..O/.X.X", "X to move: X wins in 3 moves (5 plies)."),
    ("XXX./OOO./..../....", "X to move: X wins in 1 move (1 ply)."),
    ("XXX./XO.O/XO../.O..", "O to move: X wins in 1 move (2 plies)."),
    (X_WON, "The game is over: X has won."), (O_WON, "The game is over: O has won."),
    (FULL, "The game is over: a draw."),
])  # fmt: skip
def test_the_answer_is_the_same_from_a_store_and_from_search(store4: Path, run: Run, board: str, sentence: str) -> None:
    stored = run(main, board, "--store", store4).out.splitlines()
    searched = run(main, board, "--live", "--time", "99").out.splitlines()
    assert stored[:-1] == searched[:-1]
    assert sentence in stored
    assert (stored[-1].endswith("4x4x4.ttt4."), searched[-1]) == (True, "From a live search: exact.")


@in_one_test
@given(boards("4,4,4", "5,5,4"))
def test_no_line_is_longer_than_80_columns(store4: Path, run: Run, position: tuple[naive.Game, str, str]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a page fits a terminal
    _, name, board = position
    if not Path("s").exists():
        Path("s").symlink_to(store4)
    ran = run(main, board, "--game", name, *(["--store", "s"] if name == "4,4,4" else ["--live", "--time", "0"]))
    assert ran.code == ("to move: not settled" in ran.out)
    assert max(map(len, ran.out.splitlines())) <= 80


def test_a_list_of_moves_too_long_for_a_line_goes_on_below_itself(run: Run) -> None:
    lines = run(main, "25", "--live", "--game", "5,5,1").out.splitlines()  # each of the 25 moves wins
    first = next(number for number, line in enumerate(lines) if line.startswith("Best "))
    assert max(map(len, lines)) <= 80
    assert lines[first + 1].startswith(" " * 11)
    assert len((lines[first] + lines[first + 1]).split()) == 1 + 25


@pytest.mark.parametrize("board", [OPEN, X_WON, O_WON, FULL])
def test_json_is_the_oracle_s_in_one_line(board: str, store4: Path, run: Run) -> None:
    with Oracle(store=store4) as oracle:
        assert run(main, board, "--json", "--store", store4) == (0, oracle.analysis(board).as_json() + "\n", "")


def test_each_line_gets_the_line_that_json_gives_of_it(store4: Path, run: Run) -> None:
    asked = [OPEN, "", "1x14", X_WON, "nonsense", ".XX./O.O./O..O/.X.X", "XX../..../..../....", FULL]
    code, answers = answered("\n".join(asked).encode(), "--store", store4)
    assert (code, len(answers)) == (1, len(asked))
    for board, answer in zip(asked, answers, strict=True):
        ran = run(main, board, "--json", "--store", store4)
        error = ran.err.removeprefix("Error: ").strip()
        assert answer == json.loads(ran.out), "alone or in a list"
        assert ran.code == (2 if "error" in answer else 0)
        assert error == answer.get("message", "")


@pytest.mark.parametrize(("said", "code", "found"), [
    (b"", 0, []), (b"16", 0, ["16"]), (b"16\r\nX15\r\n", 0, ["16", "X15"]), (b"16\n\n16\n", 1, ["16", "", "16"]),
    (b"\xef\xbb\xbf16\nX15\n", 0, ["16", "X15"]), (b"\xff\xfe\n16\n", 1, ["\ufffd\ufffd", "16"]),
    (b"\0\n\x1b[31m\n16", 1, ["\0", "\x1b[31m", "16"]), (b"X" * 100_000 + b"\n16", 1, ["X" * 100_000, "16"]),
])  # fmt: skip
def test_any_input_gets_an_answer_a_line(said: bytes, code: int, found: list[str], store4: Path) -> None:
    ended, answers = answered(said, "--store", store4)
    assert ended == code
    for answer, board in zip(answers, found, strict=True):
        if "error" in answer:
            assert (list(answer), answer["board"]) == (["error", "message", "board"], board)
            assert answer["error"] == "bad-board"
        else:
            assert answer["board"] == str(parse(FOUR, board))


def test_an_answer_comes_before_the_next_board_is_written_and_an_interrupt_ends_the_wait_for_it(store4: Path) -> None:
    with started("-", "--store", store4) as process:
        for board in (OPEN, "bad", X_WON, "16", OPEN):
            process.stdin.write(f"{board}\n".encode())
            assert select([process.stdout], [], [], 60)[0], "it waits for more"
            assert {"board": board}.items() <= json.loads(process.stdout.readline()).items() or board == "16"
        process.send_signal(signal.SIGINT)
        assert process.communicate() == (b"", b"Interrupted.\n")
    assert process.returncode == 130


def test_a_reader_that_leaves_before_the_last_answer_ends_the_command_in_silence(store4: Path) -> None:
    Path("boards").write_text("16\n" * 5000)
    with open("boards", "rb") as boards, started("-", "--store", store4, stdin=boards) as process:
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


@in_one_test
@given(boards("3,3,3"), st.randoms(use_true_random=False))
def test_moves_lead_to_the_position(
    store3: Path, run: Run, position: tuple[naive.Game, str, str], rng: random.Random
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: moves in any case, behind spaces or commas, are played in turn
    rules, _, board = position
    xs, os = ([cell for cell in range(9) if board[cell] == mark] for mark in "XO")
    rng.shuffle(xs)
    rng.shuffle(os)
    order = [(xs, os)[ply % 2][ply // 2] for ply in range(len(xs) + len(os))]
    names = [rng.choice((str.lower, str.upper))(f"{'abc'[cell % 3]}{cell // 3 + 1}") for cell in order]
    ran = run(main, "--moves", "".join(name + rng.choice((" ", ",", ", ", "\n")) for name in names), "--json",
              "--game", "3,3,3", "--store", store3)  # fmt: skip
    if naive.played(rules, order) == board:
        assert json.loads(ran.out)["board"].replace("/", "") == board
    else:  # a line was complete before the last move
        assert (ran.code, json.loads(ran.out)["error"], ran.err.count("\n")) == (2, "bad-board", 1)
        assert "the game is over" in ran.err


@pytest.mark.parametrize(
    ("moves", "number"),
    [("z9", 1), ("b2 b2", 2), ("a1 b1 e1", 3), ("a1,b1,c", 3), ("a1 a2 b1 b2 c1 c2 d1 d2", 8), ("é", 1), ("b2 \0", 2)],
)
def test_a_move_that_cannot_be_made_is_refused_by_its_number(moves: str, number: int, run: Run) -> None:
    assert refused(run(main, "--moves", moves), 2, f"move {number}, ")


@pytest.mark.parametrize("arguments", [[], ["16", "--moves", "a1"], ["-", "--moves", ""], ["16", "16"], ["--jsn"]])
def test_a_wrong_use_ends_with_2(arguments: list[str], run: Run) -> None:
    ran = run(main, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: ttt4-query ")
    assert ran.err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("board", ["-X--/O---/----/----", "-x--o-----------", "-x2/o3/4/4", "-1-1/4/4/4", "-" * 16])
def test_a_board_that_begins_with_a_dash_is_a_board(board: str, store4: Path, run: Run) -> None:
    options = ["--json", "--store", store4]
    for asked in ([*options, board], [board, *options], [*options, "--", board]):
        assert json.loads(run(main, *asked).out)["board"] == str(parse(FOUR, board))


def test_a_bad_board_and_a_missing_store_get_a_json_error_with_the_fact_and_a_line_on_stderr(run: Run) -> None:
    ran = run(main, "X?..", "--json")
    said = json.loads(ran.out)
    assert (ran.code, ran.err) == (2, f"Error: {said['message']}\n")
    assert said == {"error": "bad-board", "message": said["message"], "board": "X?.."}
    ran = run(main, "16", "--json", "--store", "none")
    said = json.loads(ran.out)
    assert (ran.code, said["error"], said["message"]) == (3, "store-missing", "no store at 'none'")
    assert "ttt4-solve build --store none" in ran.err


ANYTHING = [
    st.text(), st.text("XOxo._-/0123456789", min_size=1, max_size=25), st.just("X" * 9999),
    st.text("\0\x1b\x7f\x85\u2028\n\t X.", min_size=9), st.text(st.characters(categories=["Cs", "Nd", "No"])),
]  # fmt: skip


@in_one_test
@given(st.one_of(ANYTHING).filter(lambda text: text != "-"))
def test_no_text_does_worse_than_be_refused_in_one_line(run: Run, text: str) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a text is a board, or is refused in one line
    ran = run(main, "--live", "--time", "0", "--", text)
    assert refused(ran, 2, "Error: board ") if ran.code == 2 else (ran.code in (0, 1) and not ran.err)


@pytest.mark.parametrize("time", ["nan", "-1", "-0.5", "-inf", "x", ""])
def test_a_time_that_is_no_number_of_seconds_is_refused(time: str, run: Run) -> None:
    ran = run(main, "16", f"--time={time}")
    assert (ran.code, ran.out) == (2, "")
    assert "Invalid value for '--time'" in ran.err.splitlines()[-1]


def test_a_search_that_has_no_time_says_that_nothing_is_settled_and_ends_with_1(run: Run) -> None:
    asked = ["X23O", "--game", "5,5,4", "--live", "--time", "0"]  # no proof is at hand
    ran = run(main, *asked, "--json")
    assert (ran.code, ran.err) == (1, "")
    answer = json.loads(ran.out)
    assert (answer["exact"], answer["outcome"], answer["best"], answer["mainline"]) == (False, None, [], [])
    page = run(main, *asked)
    assert page.code == 1
    assert "X to move: not settled" in page.out
    assert "\nPromising  c3 " in page.out
    assert not re.search(r"^Best|^Main line|\*$", page.out, re.M)
    assert "--time" in page.out.splitlines()[-1]


def test_a_main_line_that_time_cut_short_is_said_to_be(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*arguments: object) -> int:
        raise NotSettled("too late")

    monkeypatch.setattr(Search, "first_best", too_late)
    board = ".XX./O.O./O..O/.X.X"
    assert "\nMain line  a1 ... (cut short by --time)\n" in run(main, board, "--live", "--time", "99").out
    answer = json.loads(run(main, board, "--live", "--time", "99", "--json").out)
    assert (answer["mainline"], answer["mainline_complete"], answer["exact"]) == (["a1"], False, True)


def test_an_interrupt_ends_a_search_in_one_line() -> None:
    with started("X23O", "--game", "5,5,4", "--time", "1000") as process:
        assert b"searching live" in process.stderr.readline()  # said when all is loaded
        process.send_signal(signal.SIGINT)
        assert process.communicate() == (b"", b"Interrupted.\n")
    assert process.returncode == 130


def test_help_tells_of_every_option_in_80_columns(run: Run) -> None:
    assert run(main, "--version") == (0, f"ttt4-query, version {__version__}\n", "")
    ran = run(main, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: ttt4-query [OPTIONS] [BOARD]")
    assert max(map(len, ran.out.splitlines())) <= 80
    for option in main.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert option.opts[0] in ran.out
    assert "ttt4-solve build" in ran.out
