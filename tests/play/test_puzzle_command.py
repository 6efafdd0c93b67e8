"""`ttt4-play puzzle`: what it prints, what each line does, and how it ends."""

import datetime
import json
import re
import shutil
from pathlib import Path
from typing import Any

import click
import pytest
from sessions import Start, at, piped, printed, refused

pytestmark = pytest.mark.usefixtures("home")

SEED = ["puzzle", "--seed", "a"]


def described(*arguments: object) -> dict[str, Any]:
    ran = piped("", "puzzle", "--json", *arguments)
    assert (ran.returncode, ran.stderr, ran.stdout.count("\n")) == (0, "", 1), ran
    return dict(json.loads(ran.stdout))


def empty(puzzle: dict[str, Any]) -> list[str]:
    rows = puzzle["board"].split("/")
    return [f"{'abcd'[x]}{y + 1}" for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "."]


def wrong(puzzle: dict[str, Any]) -> str:
    return next(cell for cell in empty(puzzle) if cell != puzzle["solution"])


def test_json_has_every_field_of_the_puzzle(store4: Path) -> None:
    puzzle = described("--seed", "a", "--store", store4)
    assert list(puzzle) == [
        "game", "board", "to_move", "outcome", "plies", "depth", "tempting", "stars", "goal", "solution", "seed",
    ]  # fmt: skip
    assert (puzzle["game"], puzzle["seed"]) == ("4,4,4", "a")
    assert puzzle["solution"] in empty(puzzle)


def test_without_options_it_is_the_puzzle_of_today(store4: Path) -> None:
    days = [str(datetime.datetime.now(datetime.UTC).date())]
    puzzle = described("--store", store4)
    days.append(str(datetime.datetime.now(datetime.UTC).date()))
    assert puzzle["seed"] in days


@pytest.mark.parametrize("day", ["2026-11-19", "1970-01-01", "9999-12-31"])
def test_a_date_is_the_seed_of_its_puzzle(day: str, store4: Path) -> None:
    assert described("--date", day, "--store", store4) == described("--seed", day, "--store", store4)


@pytest.mark.parametrize("day", ["", "today", "2026-13-01", "2026-02-30", "19.11.2026", "\x1b[31m"])
def test_a_date_that_is_none_ends_with_2(day: str) -> None:
    ran = piped("", "puzzle", "--live", "--date", day)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "\n\nError: Invalid value for '--date': no day '" in ran.stderr
    assert "\x1b" not in ran.stderr


def test_board_difficulty_and_goal_are_shown_and_the_end_of_input_leaves(store4: Path) -> None:
    puzzle = described("--seed", "a", "--store", store4)
    out = printed("", *SEED, "--store", store4)
    assert out.startswith(f"4,4,4: puzzle a, difficulty {puzzle['stars']} of 5. ")
    assert at(out, 4) == puzzle["board"]
    assert out.endswith(f"\n\n{puzzle['goal']}.\n{puzzle['to_move']}> \n")


def test_a_wrong_move_shows_its_refutation_and_asks_again(store4: Path) -> None:
    puzzle = described("--seed", "a", "--outcome", "draw", "--store", store4)
    out = printed(f"{wrong(puzzle)}\n{puzzle['solution']}\n", *SEED, "--outcome", "draw", "--store", store4)
    mine = puzzle["to_move"]
    _, refutation, right = out.split(f"\n{mine}> ")
    other = "XO"[mine == "X"]
    says = rf"Wrong: {wrong(puzzle)} turned a draw into a loss\. Then {other} wins in \d moves? \((\d) pl(y|ies)\)\.\n"
    said = re.match(rf"{says}Line: {wrong(puzzle)}((?: \w\d)*)\n", refutation)
    assert said, refutation
    assert len(said[3].split()) == int(said[1])
    assert right.startswith(f"Right. Only {puzzle['solution']} holds the draw.\nLine: {puzzle['solution']} ")
    assert out.endswith("\nnext gives another puzzle, quit leaves.\n> \n")


def test_the_line_is_numbered_on_the_board(store4: Path) -> None:
    ran = piped("solution\nquit\n", *SEED, "--outcome", "win", "--store", store4)
    puzzle = described("--seed", "a", "--outcome", "win", "--store", store4)
    line = re.search(r"^Line: (.*)$", ran.stdout, re.M)
    moves = line[1].split()
    assert (moves[0], len(moves)) == (puzzle["solution"], puzzle["plies"])
    rows = [row.split()[1:] for row in ran.stdout.splitlines() if re.match(r" [1-4] ", row)][-4:]
    for number, move in enumerate(moves, 1):
        assert rows[int(move[1]) - 1]["abcd".index(move[0])] == str(number)


def test_a_terminal_gets_what_a_pipe_gets(start: Start, store4: Path) -> None:
    puzzle = described("--seed", "a", "--store", store4)
    taken = next(cell for cell in ("a1", "b2", "c3", "d4", "a2", "b1") if cell not in empty(puzzle))
    lines = ["", "hint", "HELP", "nonsense", "z9", "9 9", taken, wrong(puzzle), puzzle["solution"], "next", "solution"]
    session = start(*SEED, "--plain", "--store", store4)
    seen = session.prompted() + "".join(session.type(line).removeprefix(f"{line}\n") for line in lines)
    session.type("q")
    assert session.ended() == 0
    out = printed("\n".join([*lines, "q\n"]), *SEED, "--store", store4)
    assert out == click.unstyle(seen)
    for said in (
        "The move is in ", "  solution the move, and how", "No cell 'nonsense' on a 4,4,4 board", "Or type help.",
        "No cell in row 9, column 9", f"Cell '{taken}' is taken", f"Wrong: {wrong(puzzle)} ",
        f"Right. Only {puzzle['solution']} ", "4,4,4: puzzle a 2, difficulty ", "Solution. Only ",
    ):  # fmt: skip
        assert said in out, said


def test_next_gives_puzzles_of_the_same_kind_and_their_seeds_give_them_again(store4: Path) -> None:
    asked = ["--outcome", "win", "--stars", "3", "--store", store4]
    ran = piped("next\nnext\n", *SEED, *asked)
    shown = [at(said, 4) for said in re.split("[XO]> ", ran.stdout) if at(said, 4)]
    assert shown == [described("--seed", seed, *asked)["board"] for seed in ("a", "a 2", "a 3")]
    assert ran.stdout.count("difficulty 3 of 5") == 3


def test_interrupting_leaves_with_130(start: Start, store4: Path) -> None:
    session = start(*SEED, "--plain", "--store", store4)
    session.prompted()
    session.interrupt()
    assert session.ended() == 130


def test_a_live_search_gives_the_same_puzzle_and_says_that_there_is_no_store(store3: Path) -> None:
    stored = described("--seed", "a", "--game", "3,3,3", "--store", store3)
    assert described("--seed", "a", "--game", "3,3,3", "--live") == stored
    ran = piped("", *SEED, "--game", "3,3,3", "--json")
    assert json.loads(ran.stdout) == stored
    assert (ran.returncode, ran.stderr.count("\n")) == (0, 1)
    assert "No store at " in ran.stderr


@pytest.mark.parametrize("game", ["3,3,3", "3,4,3", "cross", "3,3,3,misere", "4,4,3"])
def test_every_line_fits_into_80_columns(game: str) -> None:
    out = printed("help\nhint\nsolution\nnext\nsolution\n", *SEED, "--game", game, "--live")
    assert all(len(line) < 80 for said in re.split("[XO]?> ", out) for line in said.splitlines())
    assert "\x1b" not in out
    assert ("Completing a line loses." in out) == ("misere" in game)


def test_a_game_or_store_without_puzzles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.puzzles.MOST_LOOKS", 1000)
    shutil.copy(Path(__file__).with_name("nim.py"), "nim.py")
    assert refused(piped("", "puzzle", "--game", "nim:Nim"), 2, "only games of lines have puzzles")
    assert refused(piped("", "puzzle", "--game", "6,6,4"), 2, "too many to solve")
    assert refused(piped("", "puzzle", "--game", "fano", "--live"), 1, "no puzzle in 1,000 positions of game 'fano'")
    assert refused(piped("", "puzzle", "--game", "6,6,4", "--json"), 2, "too many to solve")
    assert refused(piped("", "puzzle", "--store", "none"), 3, "'none'", "ttt4-solve build")


@pytest.mark.parametrize(
    "options",
    [["--date", "2026-11-19", "--seed", "a"], ["--stars", "0"], ["--stars", "6"], ["--outcome", "loss"], ["b2"]],
)
def test_options_that_mean_nothing_end_with_2(options: list[str]) -> None:
    ran = piped("", "puzzle", "--live", *options)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1].startswith("Error: ")
