"""Exploring: every verdict is the Oracle's, boards are set up by clicking, and each position has an address."""

import re
from typing import Any

import pytest
from browsing import EMPTY, Held, Page, Visit, button, cell, choose_game, expect, marks, names, says, shows, slow, until
from web import Served

from oracle.answers import Analysis, Move
from oracle.oracle import Oracle
from solver.games.board_text import parse
from solver.games.lines import Game
from solver.games.notation import parse_game

NEARLY = "XXX./OOO./..../...."
OPEN = "XOX./.O../..X./...."


def verdict(move: Move) -> tuple[str, str]:
    """Return what a cell and its name say of a move."""
    plies = f"{move.plies} pl{'y' if move.plies == 1 else 'ies'}"
    if move.plies is None:
        return "=", "draws"
    return (f"+{move.plies}", f"wins in {plies}") if move.score > 0 else (f"−{move.plies}", f"loses in {plies}")


def cells_expected(analysis: Analysis) -> list[tuple[str, str, bool]]:
    """Return the name, the text and whether there is a ring, of each cell, but for which was claimed last."""
    made = {move.move: move for move in analysis.moves}
    telling = len(analysis.best) < len(made)
    found = []
    game = parse_game(analysis.game)
    for number, mark in enumerate(analysis.board.replace("/", "")):
        name = game.cell_name(number)
        if move := made.get(name):
            text, words = verdict(move)
            ringed = telling and move.best
            found.append((f"{name}, empty, {words}{', best' if ringed else ''}", text, ringed))
        else:
            found.append((f"{name}, {mark if mark in 'XO' else 'empty'}", "", False))
    return found


def cells_shown(page: Page) -> list[tuple[str, str, bool]]:
    found: list[list[Any]] = page.locator(".cell").evaluate_all(
        "cells => cells.map(c => [c.ariaLabel, c.textContent, c.classList.contains('best')])"
    )
    return [(name.replace(", last move", ""), text, ringed) for name, text, ringed in found]


def open_at(visit: Visit, server: Served, board: str = "", game: str = "4,4,4") -> Page:
    """Open a position, and wait for its verdict."""
    page = visit(f"{server.url}/explore/{game}{'/' if board else ''}{board}")
    expect(page.locator(".status")).not_to_be_empty()
    return page


def test_every_empty_cell_shows_the_oracles_verdict_and_the_best_have_a_ring(
    server: Served, visit: Visit, oracle: Oracle
) -> None:
    page = open_at(visit, server, OPEN)
    analysis = oracle.analysis(OPEN)
    assert cells_shown(page) == cells_expected(analysis)
    expect(page.locator(".mainline").get_by_role("button")).to_have_text(list(analysis.mainline))
    says(page, re.compile(f"^{analysis.to_move} to move: "))


def test_a_board_is_set_up_by_clicking_and_an_impossible_one_says_why(server: Served, visit: Visit) -> None:
    page = open_at(visit, server)
    page.get_by_label("Set up").check()
    cell(page, "a1").click()
    cell(page, "b1").click()
    says(page, re.compile("X has 2.*O has 0|2 X.*0 O"))
    expect(page.locator(".status")).to_have_class(re.compile("error"))
    assert not any("draws" in name for name in names(page))
    cell(page, "b1").click()
    shows(page, "XO" + EMPTY[2:])
    says(page, "X to move: a draw")
    cell(page, "b1").click()
    shows(page, "X" + EMPTY[1:])
    page.get_by_label("Set up").uncheck()
    until(page, lambda: names(page)[1], "b1, empty, draws")
    assert page.url == f"{server.url}/explore/4,4,4/X.../..../..../...."


@slow
def test_to_look_at_a_move_shows_its_line(server: Served, visit: Visit, oracle: Oracle) -> None:
    page = open_at(visit, server, NEARLY)
    after = oracle.analysis("XXX./OOO./.X../....")
    for look in (cell(page, "b3").hover, cell(page, "b3").focus):
        look()
        expect(page.locator(".line")).to_have_text(f"b3 loses in 2 plies: b3 {' '.join(after.mainline)}.")
        page.mouse.move(0, 0)
        button(page, "Clear").focus()
        expect(page.locator(".line")).to_be_empty()


def test_a_move_and_any_part_of_the_main_line_can_be_played(server: Served, visit: Visit, oracle: Oracle) -> None:
    page = open_at(visit, server, OPEN)
    main = oracle.analysis(OPEN).mainline
    page.locator(".mainline").get_by_role("button").nth(2).click()
    position = parse(oracle.game, OPEN)
    for move in main[:3]:
        position = position.play(oracle.game.cell(move))
    until(page, lambda: cells_shown(page), cells_expected(oracle.analysis(str(position))))
    assert f"{main[2]}, {'XO'[position.mover == 'X']}, last move" in names(page)
    steps = page.get_by_role("list", name="Moves to this position").get_by_role("button")
    expect(steps).to_have_text(["start", *main[:3]])
    steps.nth(1).click()
    until(page, lambda: names(page)[oracle.game.cell(main[0])].endswith("last move"), True)
    expect(steps).to_have_text(["start", *main[:3]])
    other = next(name.split(",")[0] for name in names(page) if "empty" in name and not name.startswith(main[1]))
    cell(page, other).click()
    expect(steps).to_have_text(["start", main[0], other])
    button(page, "Clear").click()
    says(page, "X to move: a draw with best play.")


def test_back_and_forward_go_by_buttons_and_by_the_browsers_history(server: Served, visit: Visit) -> None:
    page = open_at(visit, server)
    boards = [EMPTY, "X" + EMPTY[1:], "X....O.........."]
    expect(button(page, "Back")).to_be_disabled()
    for move, board in (("a1", boards[1]), ("b2", boards[2])):
        cell(page, move).click()
        shows(page, board)
    assert page.url.endswith("/explore/4,4,4/X.../.O../..../....")
    for name, board in (("Back", 1), ("Back", 0), ("Forward", 1), ("Forward", 2)):
        button(page, name).click()
        shows(page, boards[board])
    expect(button(page, "Forward")).to_be_disabled()
    for board in (1, 0, 1, 2):
        page.go_back()
        shows(page, boards[board])
    page.go_forward()
    shows(page, boards[1])
    says(page, "O to move")
    expect(page.get_by_role("list", name="Moves to this position").get_by_role("button")).to_have_count(3)


@slow
@pytest.mark.parametrize(("address", "board"), [
    ("cross/X.O.........", "X./O.../..../.."),  # rows of two dots would be steps up
    ("4,4,4/xo2/1x2/4/3o", "XO../.X../..../...O"),
])  # fmt: skip
def test_every_position_has_an_address_that_shows_it(address: str, board: str, server: Served, visit: Visit) -> None:
    page = open_at(visit, server, *reversed(address.split("/", 1)))
    shows(page, board)
    says(page, re.compile("^. to move: "))
    open_cell = next(name for name in names(page) if "empty" in name).split(",")[0]
    cell(page, open_cell).click()
    until(page, lambda: sum(mark != "." for mark in marks(page)), sum(mark in "XO" for mark in board) + 1)
    text = marks(page)
    assert page.url.split("/explore/")[1].split("/", 1)[1].replace("/", "") == text
    page.reload()
    shows(page, text)


@slow
def test_the_graph_says_in_words_who_wins_and_how_many_moves_keep_that(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/explore/4,4,4/XXXX/OO../..../...O?moves=a1+a2+b1+b2+c1+d4+d1")
    drawn = "".join(f"{ply}: draw, {16 - ply} of {16 - ply} moves keep it; " for ply in range(5))
    expect(page.get_by_role("img", name="After so many moves")).to_have_accessible_name(
        f"After so many moves: {drawn}5: draw, 1 of 11 moves keep it; 6: X wins, 1 of 10 moves keep it; 7: X wins."
    )
    says(page, "X has won")


@slow
def test_a_late_answer_never_replaces_a_newer_one(server: Served, visit: Visit, oracle: Oracle) -> None:
    page, held = open_at(visit, server), Held()
    page.route("**/api/positions", held)
    cell(page, "a1").click()
    says(page, "Working it out")
    shows(page, "X" + EMPTY[1:])
    cell(page, "d4").click(force=True)  # nothing can be played from a position that nothing is known of yet
    button(page, "Back").click()
    says(page, "X to move: a draw")
    cell(page, "b2").click()
    newer = cells_expected(oracle.analysis("..../.X../..../...."))
    until(page, lambda: cells_shown(page), newer)
    held.release()
    page.wait_for_timeout(250)  # nothing is to happen, neither by the answer nor by the sign that it was late
    assert cells_shown(page) == newer
    says(page, "O to move: a draw")


@slow
def test_a_sign_of_waiting_never_replaces_a_newer_answer(server: Served, visit: Visit, oracle: Oracle) -> None:
    page, held = open_at(visit, server), Held()
    page.route("**/api/positions", held)
    page.evaluate("""() => {
        const click = (name) => document.querySelector(`[aria-label^="${name},"]`).click();
        click("a1");
        [...document.querySelectorAll("button")].find((each) => each.textContent === "Back").disabled = false;
        [...document.querySelectorAll("button")].find((each) => each.textContent === "Back").click();
    }""")
    until(page, lambda: len(held.held), 1)
    expected = cells_expected(oracle.analysis(EMPTY))
    until(page, lambda: cells_shown(page), expected)
    page.wait_for_timeout(250)  # longer than the 150 ms after which a wait is shown
    assert cells_shown(page) == expected
    says(page, "X to move: a draw")
    held.release()


@slow
def test_a_double_click_plays_one_move(server: Served, visit: Visit) -> None:
    page, held = open_at(visit, server), Held()
    page.route("**/api/positions", held)
    cell(page, "c2").dblclick()
    until(page, lambda: len(held.held), 1)
    held.release()
    shows(page, "......X.........")
    says(page, "O to move: a draw")


@slow
def test_another_game_is_a_choice_away(server: Served, visit: Visit) -> None:
    page = open_at(visit, server)
    choose_game(page, "2,2,2")
    expect(page).to_have_url(f"{server.url}/explore/2,2,2")
    says(page, "X to move: X wins in 3 plies.")
    choose_game(page, "9,9,99")
    expect(page.get_by_role("alert").or_(page.locator(".status.error"))).to_contain_text("99")


@slow
def test_a_game_that_has_no_board_has_nothing_to_explore_and_says_so(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/explore/nim:Nim")
    expect(page.get_by_role("alert")).to_contain_text("nim:Nim: a game without positions to look up")


@slow
def test_lines_are_shown_on_demand(server: Served, visit: Visit) -> None:
    page = open_at(visit, server, game="cube3")
    game: Game = parse_game("cube3")
    page.get_by_label("Show the lines").check()
    through = [line for line in game.lines if line >> game.cell("f2") & 1]
    cell(page, "f2").hover()
    expect(page.locator(".lines").nth(1)).to_contain_text(f"{len(through)} through f2")
    assert sum("pointed out" in name for name in names(page)) == 27
