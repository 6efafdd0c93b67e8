"""Puzzles in the browser: today's, right and wrong answers, and others as hard as one likes."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from browsing import Held, Page, Visit, button, cell, expect, game_choice, marks, names, says, shows, slow, until
from web import Served

from oracle.oracle import Oracle
from play.puzzles import Puzzle, answer_to, daily_puzzle, make_puzzle


@pytest.fixture
def puzzle(oracle: Oracle) -> Puzzle:
    """Return a puzzle in which one has to win."""
    return make_puzzle(oracle, "a test's", outcome="win")


@pytest.fixture
def page(server: Served, visit: Visit, puzzle: Puzzle) -> Page:
    """A page with that puzzle."""
    page = visit(f"{server.url}/puzzles?seed=a test's&outcome=win")
    says(page, f"{puzzle.goal}. Pick a cell.")
    return page


def wrong_moves(page: Page, puzzle: Puzzle) -> list[str]:
    """Return the cells that are empty, but for the solution."""
    empty = [name.split(",")[0] for name in names(page) if name.endswith("empty")]
    return [move for move in empty if move != puzzle.solution]


def stars(page: Page) -> Any:
    return expect(page.locator(".stars"))


@slow
def test_the_puzzle_of_the_day_is_shown_first(server: Served, visit: Visit, oracle: Oracle) -> None:
    puzzle = daily_puzzle(oracle, datetime.now(UTC).date())
    page = visit(f"{server.url}/puzzles")
    says(page, f"{puzzle.goal}. Pick a cell.")
    shows(page, puzzle.board)
    stars(page).to_contain_text(f"difficulty {puzzle.stars} of 5")
    page.get_by_role("link", name="Play").click()
    page.get_by_role("link", name="Puzzles").click()
    shows(page, puzzle.board)


@slow
def test_the_right_answer_is_praised_and_shows_how_the_game_goes_on(page: Page, puzzle: Puzzle, oracle: Oracle) -> None:
    cell(page, puzzle.solution).click()
    says(page, f"Right: {puzzle.solution} is the only move.")
    line = answer_to(oracle, puzzle, puzzle.solution).line
    steps = page.locator(".reply p").get_by_role("button")
    expect(steps).to_have_text(list(line))
    assert len(line) == puzzle.plies
    steps.last.click()
    assert sum(mark != "." for mark in marks(page)) == sum(mark in "XO" for mark in puzzle.board) + len(line)
    assert page.locator('.cell[aria-disabled="false"]').count() == 0
    page.get_by_role("link", name="Explore it").click()
    shows(page, puzzle.board)


def test_a_wrong_answer_shows_its_refutation_and_can_be_taken_back(page: Page, puzzle: Puzzle, oracle: Oracle) -> None:
    answers = {}
    for move in wrong_moves(page, puzzle):
        answer = answer_to(oracle, puzzle, move)
        answers.setdefault(answer.outcome.split(" in ")[0], (move, answer))
    for outcome, (move, answer) in answers.items():
        cell(page, move).click()
        says(page, f"{move} does not work: {'it only draws' if outcome == 'a draw' else outcome}")
        expect(page.locator(".reply p")).to_contain_text("The refutation: ")
        expect(page.locator(".reply p").get_by_role("button")).to_have_text(list(answer.line))
        assert cell(page, move).get_attribute("aria-label") == f"{move}, {puzzle.to_move}, last move"
        button(page, "Try again").click()
        shows(page, puzzle.board)
    cell(page, puzzle.solution).click()
    says(page, "Right: ")


@slow
def test_other_puzzles_are_as_hard_as_one_likes_and_of_other_games(page: Page) -> None:
    page.get_by_label("Difficulty").select_option("2")
    page.get_by_label("Find").select_option("draw")
    before = marks(page)
    button(page, "Another puzzle").click()
    until(page, lambda: marks(page) != before, True)
    stars(page).to_contain_text("difficulty 2 of 5")
    says(page, "only one move holds the draw")
    page.get_by_label("Difficulty").select_option("")
    page.get_by_label("Find").select_option("")
    game_choice(page).select_option("3,3,3")
    button(page, "Another puzzle").click()
    expect(page.locator(".cell")).to_have_count(9)
    says(page, "Pick a cell.")
    button(page, "Today’s").click()
    expect(page.locator(".cell")).to_have_count(16)


@slow
def test_a_late_answer_never_replaces_the_one_to_a_later_move(page: Page, puzzle: Puzzle) -> None:
    held = Held()
    page.route("**/api/position?*", held)
    first, second = wrong_moves(page, puzzle)[:2]
    cell(page, first).click()
    says(page, "Checking")
    cell(page, second).click()
    says(page, f"{second} does not work: ")
    now = marks(page)
    held.release()
    page.wait_for_timeout(200)  # nothing is to happen
    assert marks(page) == now
    says(page, f"{second} does not work: ")


@slow
def test_a_kind_of_puzzle_that_there_is_not_is_said_to_be_missing(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/puzzles?game=2,2,2")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("no puzzle in .* positions of game '2,2,2'"))
    button(page, "Today’s").click()
    says(page, "Pick a cell.")
