"""The prompt: a whole game played at it, what every line does to the match, and what is printed."""

import json
import re
from pathlib import Path

import click
import naive
import pytest
from looks import nothing, pretend
from sessions import HUMANS, KEPT, THREE, Start, StartProcess, at, piped, piped_process, printed, refused

pytestmark = pytest.mark.usefixtures("home")

OVER = "the game is over; undo takes a move back, new begins another."
SCRIPT = [
    ("a1", "/O plays (b2)\\./", "X../.O./..."),
    ("b2", "Cell 'b2' is taken: choose an empty one.", None),
    ("z9", "No cell 'z9' on a 3,3,3 board: cells run from 'a1' to 'c3'. Or type help.", None),
    ("9 9", "No cell in row 9, column 9: rows go from 1 to 3, columns from 1 to 3. Or type help.", None),
    ("udno", "No command 'udno': did you mean 'undo'?", None),
    ("redo", "Nothing to redo.", None),
    ("undo", "", ".../.../..."),
    ("undo", "You have made no move to take back.", None),
    ("redo", "", "X../.O./..."),
    ("", "", None),
    ("hint", "/The oracle would play [abc][123]: a draw\\./", None),
    ("show", "X to move: a draw with best play. +n wins in n plies, = draws, -n loses in n plies.", None),
    ("why", "1. X a1: best, a draw.\n1. O b2: best, a draw.", None),
    ("save", "No file named: save FILE.", None),
    ("save kept.txt", "Saved to kept.txt.", None),
    ("save kept.txt/below", "/Cannot write '.*/kept.txt/below': .*; name another file\\./", None),
    ("a1" * 6000, "That is too long: write a move, or a command of at most 10,000 letters.", None),
    ("help", "  resign   give up", None),
    ("save there.txt", "there.txt' exists and is not this game: name another file.", None),
    ("resign", "Resign? resign again gives this game up; anything else goes on.", None),
    ("", "", None),
    ("resign", "Resign? resign again gives this game up; anything else goes on.", None),
    ("resign", "O has won: X resigned. You lost. X made 1 move: 1 best, 0 that changed the outcome.", None),
    ("resign", f"Nothing to resign: {OVER}", None),
    ("hint", f"Nothing to hint at: {OVER}", None),
    ("show", f"Nothing to show: {OVER}", None),
    ("b3", f"Nothing to play: {OVER}", None),
    ("redo", f"Nothing to make again: {OVER}", None),
    ("why", "1. X a1: best, a draw.", None),
    ("undo", "", "X../.O./..."),
    ("undo", "", ".../.../..."),
    ("redo", "", "X../.O./..."),
    ("3 3", "/O plays ([abc][123])\\./", None),
    ("new", "", ".../.../..."),
]


def missing(said: str, expected: str) -> bool:
    """Tell whether what was said, however it was wrapped, lacks a text or, between slashes, a pattern."""
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
    session.type("quit")
    assert session.ended() == 0
    assert session.written.endswith(KEPT)
    assert Path("there.txt").read_text() == "my diary"
    assert sorted(path.name for path in Path().iterdir()) == ["kept.txt", "there.txt"]


def test_a_pipe_gets_what_a_terminal_gets_uncoloured(start: Start, start_process: StartProcess, store3: Path) -> None:
    Path("there.txt").write_text("my diary")
    lines = [*(line for line, _, _ in SCRIPT), "c1"]
    session, process = start(*THREE, "--store", store3), start_process(*THREE, "--store", store3)
    seen = session.prompted() + "".join(session.type(line).removeprefix(f"{line}\n") for line in lines)
    real = process.prompted() + "".join(process.type(line).removeprefix(f"{line}\n") for line in lines)
    assert re.sub(r"the oracle is thinking\.\.\.\r +\r", "", real) == seen  # on a busy machine it may take long
    for run in (piped, piped_process):
        ran = run("\n".join([*lines, "quit\n"]), *THREE, "--store", store3)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, click.unstyle(seen) + KEPT, "")


@pytest.mark.parametrize(
    ("moves", "completer"), [("a1 a2 b1 b2 c1", "X"), ("a1 a2 b1 b2 c3 c2", "O"), ("a1 b1 c1 b2 a2 c2 b3 a3 c3", None)]
)
@pytest.mark.parametrize("game", ["3,3,3", "3,3,3,misere"])
def test_an_ending_is_announced_and_can_be_undone(moves: str, completer: str | None, game: str, store3: Path) -> None:
    given = ["--live"] if "misere" in game else ["--store", store3]
    out = printed("\n".join([*moves.split(), "b3", "undo\n"]), "--game", game, *HUMANS, *given)
    ending = "A draw: the board is full."
    if completer:
        winner = completer if "misere" not in game else "XO"[completer == "X"]
        ending = f"{winner} has won: {completer} completed a line."
    before, after = out.split(f"\n{ending}\n")
    assert before.count("*") == (3 if completer else 0)
    assert "X made " in after
    assert "new begins another game, undo takes a move back, quit leaves." in after
    assert "> Nothing to play: the game is over; undo takes a move back, new begins another." in after
    assert "undo takes a move back, quit leaves" not in before
    last = len(moves.split()) - 1
    assert re.search(rf"\n{'XO'[last % 2]}> \nThe game is kept", after)


def test_that_nobody_can_win_any_more_is_announced_once() -> None:
    ran = piped("a1\nb1\nc1\nb2\na2\nc2\nb3\na3\n", *THREE, *HUMANS, "--live")
    assert ran.stdout.count("No line can be completed any more: this will be a draw.") == 1


@pytest.mark.parametrize("game", ["1,1,1", "3,3,3", "3,3,3,misere", "4,4,4", "5,5,4"])
def test_without_a_person_a_game_is_played_to_its_end_and_the_command_leaves(game: str) -> None:
    out = printed("", "--game", game, "--x", "random", "--o", "oracle", "--live", "--time", "0.05", "--seed", "2")
    assert re.search(r"^((X|O) has won: (X|O) completed a line|A draw: the board is full)\.$", out, re.M)
    assert ("\nX made " in out) == (game != "5,5,4")
    assert not re.search("> |new begins another|quit", out)


@pytest.mark.parametrize(
    "word", ["\x1b[31m", "\0", "\a\b", "\u202e", "é", "٣", "𝟗", "a1 b2 c3", "-1 -1", "a1;", "1,1,1"]
)
def test_a_word_that_means_nothing_is_refused_in_one_line(word: str, store3: Path) -> None:
    out = printed(f"{word}\nquit\n", *THREE, "--store", store3)
    refusal = out.split("X> ")[1]
    assert (refusal.count("\n"), refusal.endswith(" Or type help.\n")) == (1, True)
    assert "\x1b" not in refusal


def test_the_board_stands_between_blank_lines_and_the_review_below_the_ending(store3: Path) -> None:
    ran = piped("a1\na2\nb1\nb2\nc1\n", *THREE, *HUMANS, "--store", store3)
    assert re.search(
        r"X> \n    a   b   c\n 1  X\*  X\*  X\*\n 2  O   O   \.\n 3  \.   \.   \.\n\n"
        r"X has won: X completed a line\.\n\n1\. O a2: ",
        ran.stdout,
    )
    assert ran.stdout.endswith("\nnew begins another game, undo takes a move back, quit leaves.\n> \n")


@pytest.mark.parametrize("typed", ["hint\nquit\n", "show\nquit\n", "h8\nhint\nshow\nwhy\nreview\nquit\n"])
def test_an_unsettled_position_is_not_called_a_draw(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, nothing)
    out = printed(typed, "--game", "15,15,5", "--x", "human", "--o", "random", "--live").lower()
    assert "a draw" not in out
    assert "not" in out
    assert "settled" in out


def test_review_lists_every_move_graded_as_the_command_does(store3: Path) -> None:
    said = re.split("[XO]> ", printed("a1\nb1\nc3\na2\nreview\nquit\n", *THREE, *HUMANS, "--store", store3))[5]
    assert re.findall(r"^\d\. ([XO] \w\d): \w", said, re.M) == ["X a1", "O b1", "X c3", "O a2"]
    assert "The turning point was O's a2 (move 2): it turned a draw into a loss." in said
    assert printed("", "review", "--store", store3).endswith(f"\n\n{said}")


@pytest.mark.parametrize("game", ["3,3,3", "3,3,3,misere", "2,4,2", "6,6,4"])
def test_lines_lists_the_lines_of_the_game_or_those_through_a_cell(game: str) -> None:
    rules = naive.Game.named(game)
    names = [f"{'abcdef'[cell % rules.columns]}{cell // rules.columns + 1}" for cell in range(rules.cells)]
    defined = [{names[cell] for cell in line} for line in naive.lines(rules)]
    out = printed("lines\nlines b2\nlines B2\nquit\n", "--game", game, *HUMANS, "--live")
    _, every, through, same, _ = out.split("X> ")
    assert through == same
    for said, expected in ((every, defined), (through, [line for line in defined if "b2" in line])):
        assert said.startswith(f"Completing one of these {len(expected)} lines")
        assert f" {'loses' if rules.misere else 'wins'}:\n" in said
        listed = [set(line.split()) for line in re.findall("^  (.*)$", said, re.M)]
        assert sorted(map(sorted, listed)) == sorted(map(sorted, expected))


def test_of_more_than_60_lines_only_those_through_a_cell_are_listed_however_many() -> None:
    out = printed("lines\nlines a1\nlines h8\nquit\n", "--game", "7,7,4", *HUMANS, "--live")
    _, every, corner, nowhere, _ = out.split("X> ")
    assert every == "7,7,4 has 88 lines: name a cell, as in lines a1.\n"
    assert sorted(corner.splitlines()[1:]) == ["  a1 a2 a3 a4", "  a1 b1 c1 d1", "  a1 b2 c3 d4"]
    assert nowhere == "No cell 'h8' on a 7,7,4 board: cells run from 'a1' to 'g7'.\n"
    out = printed("lines k10\nquit\n", "--game", "19,20,10", *HUMANS, "--live")
    assert "Completing one of these 40 lines through k10 wins:\n" in out
    assert len(re.findall(r"^  (?=.*\bk10\b)", out, re.M)) == 40


BEGUN = "XX./OO./..."


def test_a_game_can_start_from_a_board(store3: Path) -> None:
    lines = ["hint", "c1", "undo", "undo", "a3", "restart", "new", "b3"]
    out = printed("\n".join([*lines, "quit\n"]), *THREE, *HUMANS, "--board", BEGUN.lower(), "--store", store3)
    said = re.split("[XO]?> ", out)
    assert [at(each) for each in said if at(each)] == [
        BEGUN, "XXX/OO./...", BEGUN, "XX./OO./X..", BEGUN, BEGUN, "XX./OO./.X.",
    ]  # fmt: skip
    assert said[1] == "The oracle would play c1: X wins in 1 move (1 ply).\n"
    assert "You have made no move to take back." in said[4]
    record = json.loads(piped("", "replay", "--json").stdout)
    assert (record["board"], record["moves"], record["state"]) == (BEGUN, ["b3"], "XX./OO./.X.")
    resumed = piped("c2\n", "resume", "--store", store3)
    assert at(resumed.stdout.split("O> ")[0]) == "XX./OO./.X."
    assert "O has won: O completed a line." in resumed.stdout


@pytest.mark.parametrize(
    ("first", "board", "why"),
    [("X", "XXX/OO./...", "X completed a line"), ("X", "", "0 cells"), ("O", "X../.../...", "has 0 O and 1 X: O"),
     ("O", "Z........", "write O, X and .")],
)  # fmt: skip
def test_a_board_on_which_nobody_can_move_is_refused_in_the_marks_that_it_has(first: str, board: str, why: str) -> None:
    assert refused(piped("", *THREE, "--live", "--first", first, "--board", board), 2, repr(board), why)


def exchanged(text: str) -> str:
    return re.sub(r"\b[XO]\b", lambda mark: "XO"[mark[0] == "X"], text)


def without_totals(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of a text below its first, and apart from them those that stand in the order of the sides."""
    lines = text.splitlines()[1:]
    return [line for line in lines if " made " not in line], sorted(line for line in lines if " made " in line)


@pytest.mark.parametrize("boards", [None, ("X.O/.../...", "O.X/.../...")])
def test_with_first_o_everything_is_said_with_the_marks_exchanged(boards: tuple[str, str] | None, store3: Path) -> None:
    lines = ["hint", "show", "b2", "b1", "hint", "show", "why", "9 9", "b3", "review", "a2", "undo", "c2", "a3"]
    typed = "\n".join([*lines, "resign", "resign", "why", "hint", "undo\n"])
    said = []
    for number, first in enumerate("Xo"):
        start = ["--board", boards[number]] if boards else []
        ran = piped(typed, *THREE, *HUMANS, "--store", store3, "--first", first, *start)
        replay, review = piped("", "replay"), piped("", "review", "--store", store3)
        assert (ran.returncode, ran.stderr, replay.stderr, review.stderr) == (0, "", "", "")
        said.append([ran.stdout, f"\n{replay.stdout}", f"\n{review.stdout}"])
    for usual, other in zip(*said, strict=True):
        assert "X" in usual
        assert without_totals(other) == without_totals(exchanged(usual))


@pytest.mark.parametrize("does", ['raise ValueError("lost, " + "very " * 99 + "far\\nand wide")', "return 0"])
def test_an_own_player_that_makes_no_move_ends_the_command_with_one_line(does: str, store3: Path) -> None:
    Path("own.py").write_text(
        f"class It:\n    __init__ = lambda *_: None\n    def choose(self, state):\n        {does}\n"
    )
    ran = piped("a1\n", *THREE, "--o", "own:It", "--store", store3)
    assert (ran.returncode, ran.stderr.count("\n"), ran.stderr.startswith("Error: ")) == (2, 1, True)
    assert len(ran.stderr) < 160
