"""Puzzles on the screen: what is right and wrong, hints, solutions and the next one."""

import re
from pathlib import Path

import pytest
from screens import Screen, Show
from sessions import HUMANS

from oracle.oracle import Oracle
from solver.games.board_text import parse
from solver.games.notation import parse_game

GAME = parse_game("3,3,3")


@pytest.fixture
def puzzle(people: Screen) -> Screen:
    return people.press("p").until("3,3,3 · puzzle 1 · 0 solved at the first try", "Difficulty *")


def right_and_wrong(screen: Screen, store: Path) -> tuple[str, str]:
    """Return the only move that keeps the outcome of the board that is shown, and one that does not."""
    marks = screen.asleep().marks()
    rows = ("".join(marks.get(f"{column}{row}", ".") for column in "abc") for row in "123")
    with Oracle(GAME, store) as oracle:
        analysis = oracle.analysis(parse(GAME, "/".join(rows)))
    (right,) = (move.move for move in analysis.moves if move.outcome == analysis.outcome)
    return right, next(move.move for move in analysis.moves if move.move != right)


def test_the_command_shows_puzzles_on_the_screen_too(show: Show, store3: Path) -> None:
    screen = show("puzzle", "--game", "3,3,3", "--seed", "a", "--store", store3)
    screen.until("3,3,3 · puzzle 1 · 0 solved at the first try", "Difficulty *", "q leave")
    screen.press("n").until("puzzle 2")
    assert screen.press("q").ended() == 0


def test_the_only_move_is_right_and_counts_as_solved(puzzle: Screen, store3: Path) -> None:
    right, _ = right_and_wrong(puzzle, store3)
    puzzle.press(*right).until(f"Right. Only {right}", "1 solved at the first try", f"Line: {right}")
    assert puzzle.notes()[right] == "1"
    puzzle.press(*right).until("1 solved at the first try")


def test_any_other_move_is_wrong_and_its_refutation_is_shown(puzzle: Screen, store3: Path) -> None:
    right, wrong = right_and_wrong(puzzle, store3)
    puzzle.press(*wrong).until(f"Wrong: {wrong}", "Try another cell.", f"Line: {wrong}")
    assert puzzle.notes()[wrong] == "1"
    puzzle.press(*right).until(f"Right. Only {right}", "0 solved at the first try")


def test_a_hint_names_the_row_or_the_column_and_the_solution_the_move(puzzle: Screen, store3: Path) -> None:
    right, _ = right_and_wrong(puzzle, store3)
    puzzle.press("t")
    said = puzzle.until("The move is in ").said
    where = re.search(r"The move is in (row|column) (\w)", said)
    assert where[2] == right[where[1] == "row"]
    puzzle.press("s").until(f"Solution. Only {right}", f"Line: {right}", "0 solved")


def test_puzzles_follow_one_another_and_lead_back_to_the_game(puzzle: Screen, store3: Path) -> None:
    for number in (2, 3):
        puzzle.press("n").until(f"puzzle {number} ·", "to move", without=["Looking"])
        right, _ = right_and_wrong(puzzle, store3)
        puzzle.press(*right).until(f"Right. Only {right}", f"{number - 1} solved at the first try")
    puzzle.press("q").until("X to move.", "X a person", without=["puzzle 3"])
    assert puzzle.marks() == {}


def test_a_cell_that_is_taken_is_neither_right_nor_wrong(puzzle: Screen, store3: Path) -> None:
    taken = next(iter(puzzle.marks()))
    puzzle.press(*taken).until(f"Cell '{taken}' is taken: choose an empty one.")
    right, _ = right_and_wrong(puzzle, store3)
    row, column = puzzle.centers()[right]
    puzzle.click(row, column).until("1 solved at the first try")


@pytest.mark.parametrize(
    ("game", "told"), [("15,15,5", "too many to solve"), ("duel,4,4", "Only games of lines have puzzles")]
)
def test_a_game_without_puzzles_says_so(game: str, told: str, show: Show) -> None:
    screen = show("--game", game, *HUMANS, "--live").until("to move.")
    screen.press("p").until(told)
