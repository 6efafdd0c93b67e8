"""Accessibility: axe finds nothing on any page in any state, and a keyboard and a screen reader are enough."""

import re
from collections.abc import Callable

import pytest
from browsing import (
    AWAY,
    EMPTY,
    HERE,
    ORACLE,
    STILL,
    X_WINS,
    Keys,
    Page,
    Visit,
    assert_accessible,
    begin,
    button,
    cell,
    choose_game,
    expect,
    names,
    play,
    says,
    shows,
    slow,
    until,
)
from web import Served

from oracle.oracle import Oracle
from play.puzzles import Puzzle, make_puzzle

VERDICTS = "XXX./OO../..../...."
"""A position with a move that wins, moves that draw and moves that lose."""


def setup(page: Page, url: str) -> None:
    page.goto(url)
    says(page, "pick a cell")


def no_such_board(page: Page, url: str) -> None:
    setup(page, url)
    choose_game(page, "nonsense")
    expect(page.get_by_role("alert")).to_be_visible()


def invite(page: Page, url: str) -> None:
    setup(page, url)
    begin(page, AWAY)
    play(page, "b2")
    button(page, "Undo").click()
    expect(page.locator(".offer")).to_contain_text("asked")


def lines_shown(page: Page, url: str) -> None:
    setup(page, url)
    begin(page, HERE, game="5,6,4")
    play(page, "c3")
    page.get_by_label("Show the lines").check()


def review(page: Page, url: str) -> None:
    setup(page, url)
    begin(page, HERE)
    play(page, *X_WINS)
    expect(page.get_by_role("heading", name="Review")).to_be_visible()
    page.get_by_role("list", name="Moves").get_by_role("button").nth(2).click()


def own_game(page: Page, url: str) -> None:
    setup(page, url)
    begin(page, HERE, game="nim:Nim")


def lost_connection(page: Page, url: str) -> None:
    setup(page, url)
    begin(page, ORACLE)
    play(page, "b2")
    says(page, "O played")
    page.route("**/api/**", lambda route: route.abort())
    page.evaluate("dispatchEvent(new Event('offline'))")
    expect(page.locator("#connection")).to_be_visible()


def missing_match(page: Page, url: str) -> None:
    page.goto(f"{url}/match/{'0' * 24}")
    expect(page.get_by_role("alert")).to_contain_text("there is no match")
    expect(button(page, "Try again")).to_be_visible()


def explore(page: Page, url: str) -> None:
    page.goto(f"{url}/explore/4,4,4/{VERDICTS}?moves={'+'.join(X_WINS[:5])}")
    says(page, "to move")
    expect(page.locator(".graph")).to_be_visible()
    cell(page, "d1").focus()


def setting_up(page: Page, url: str) -> None:
    explore(page, url)
    page.get_by_label("Set up").check()
    cell(page, "a4").click()
    cell(page, "b4").click()
    says(page, re.compile("X has"))


def open_puzzle(page: Page, url: str) -> None:
    page.goto(f"{url}/puzzles?seed=a")
    says(page, "Pick a cell")


def puzzle_solved(page: Page, url: str) -> None:
    open_puzzle(page, url)
    button(page, "Solution").click()
    says(page, "is the only move")


def puzzle_missed(page: Page, url: str) -> None:
    open_puzzle(page, url)
    while not page.get_by_text("does not work").count():
        page.locator('.cell[aria-disabled="false"]').last.click()
        says(page, re.compile("does not work|the only move"))
        if page.get_by_text("is the only move").count():
            button(page, "Another puzzle").click()
            says(page, "Pick a cell")


def api(page: Page, url: str) -> None:
    page.goto(f"{url}/api")
    expect(page.get_by_role("heading", level=2).first).to_be_visible()
    page.get_by_text("What it answers with").first.click()


def duel_setup(page: Page, url: str) -> None:
    page.goto(url)
    choose_game(page, "duel")
    says(page, "Red begins")


def duel(page: Page, url: str) -> None:
    page.goto(url)
    begin(page, HERE, game="duel,4,4")
    play(page, "a1", "d4", "b1", "d3", "c1", "d2", "d1")
    button(page, "Hint").click()
    says(page, "Hint")
    cell(page, "a4").click(force=True)
    says(page, "not next to")


def duel_explored(page: Page, url: str) -> None:
    page.goto(f"{url}/explore/duel,4,4/R.../.G../..../....")
    says(page, "R to move")


STATES = [
    no_such_board, invite, lines_shown, review, own_game, lost_connection, missing_match,
    explore, setting_up, puzzle_solved, puzzle_missed, api, duel_setup, duel, duel_explored,
]  # fmt: skip


@pytest.mark.parametrize(
    "state", [pytest.param(state, id=state.__name__, marks=[] if state is review else slow) for state in STATES]
)
def test_axe_finds_nothing_wrong(state: Callable[[Page, str], None], server: Served, visit: Visit) -> None:
    page = visit(server.url + STILL)
    state(page, server.url)
    assert_accessible(page)


def test_a_whole_game_is_played_by_keyboard(page: Page) -> None:
    keys = Keys(page)
    keys.press("Tab")
    assert keys.at == "link: Skip to the board"
    keys.tab_to("radio: The oracle")
    keys.press("ArrowDown")
    assert keys.at == "radio: A friend on this screen"
    keys.tab_to("button: Start game")
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    keys.tab_to("button: a1, empty")
    for number, move in enumerate(X_WINS):
        keys.arrow_to(move)
        assert keys.at == f"button: {move}, empty"
        keys.press("Enter" if number % 2 else " ")
        shows_mark = f"{move}, {'XO'[number % 2]}, last move"
        expect(page.get_by_role("button", name=shows_mark)).to_be_attached()
    says(page, "X has won")
    expect(button(page, "Rematch")).to_be_focused()
    expect(page.get_by_role("heading", name="Review")).to_be_visible()
    keys.tab_to("button: O’s")
    keys.press("Enter")
    says(page, re.compile("Position after . of 7 moves"))
    keys.tab_to("link: Explore this game")
    button(page, "Rematch").focus()
    keys.press("Enter")
    says(page, "X to move.")


def test_a_puzzle_is_solved_by_keyboard(server: Served, visit: Visit, oracle: Oracle) -> None:
    puzzle: Puzzle = make_puzzle(oracle, "keys")
    page = visit(f"{server.url}/puzzles?seed=keys")
    says(page, puzzle.goal)
    keys = Keys(page)
    keys.tab_to("button: a1, ")
    wrong = next(n.split(",")[0] for n in names(page) if n.endswith("empty") and not n.startswith(puzzle.solution))
    keys.arrow_to(wrong)
    keys.press("Enter")
    says(page, f"{wrong} does not work")
    keys.tab_to("button: Try again")
    keys.press("Enter")
    assert keys.at == f"button: {wrong}, empty"
    keys.arrow_to(puzzle.solution)
    keys.press("Enter")
    says(page, "Right: ")
    assert keys.at == f"button: {puzzle.solution}, {puzzle.to_move}, last move"
    keys.tab_to("button: Another puzzle")


def test_a_position_is_explored_by_keyboard(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/explore/4,4,4/{VERDICTS}")
    says(page, "O to move")
    keys = Keys(page)
    keys.tab_to("button: a1, X")
    keys.arrow_to("d1")
    assert keys.at == "button: d1, empty, draws, best"
    expect(page.locator(".line")).to_contain_text("d1 draws: d1")
    keys.press("ArrowDown")
    assert keys.at == "button: d2, empty, loses in 2 plies"
    keys.press("Home")
    assert keys.at == "button: a2, O"
    keys.press("End", "ArrowUp", "Enter")
    says(page, "X to move")
    assert keys.at == "button: d1, O, last move"
    keys.tab_to("button: Back")
    keys.press("Enter")
    says(page, "O to move")
    assert keys.at == "button: Forward"
    keys.tab_to("checkbox: Set up")
    keys.press(" ")
    keys.tab_to("button: d1, empty", back=True)
    keys.press("Enter")
    shows(page, "XXXXOO..........")


@slow
def test_a_game_of_the_operators_own_is_played_by_keyboard(page: Page) -> None:
    begin(page, HERE, game="nim:Nim")
    keys = Keys(page)
    keys.tab_to("button: 1")
    for left in ("6 O", "5 X", "4 O"):
        keys.press("Enter")
        expect(page.locator("pre")).to_have_text(left)
        assert keys.at == "button: 1"


@slow
def test_the_focus_stays_near_where_it_was_when_its_button_is_drawn_anew_or_goes(seat: Visit) -> None:
    page = seat()
    play(page, "a1", "b1", "c1")
    keys = Keys(page)
    for name, at in (("X a1", "X a1"), ("O b1", "O b1"), ("Back to the game", "Undo"), ("Undo", "Undo")):
        button(page, name).focus()
        keys.press("Enter")
        until(page, lambda: keys.at, f"button: {at}")
    for board in ("XO" + EMPTY[2:], "X" + EMPTY[1:]):
        shows(page, board)
        keys.press("Enter")
    shows(page, EMPTY)
    until(page, lambda: keys.at, "button: Hint")  # as there is nothing more to undo


@slow
def test_the_focus_stays_among_the_steps_and_the_main_line_of_an_exploration(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/explore/4,4,4/XXX./OO../O.../....?moves=a1+a2+b1+b2+c1+a3")
    says(page, "X to move")
    keys = Keys(page)
    for within, name in ((".moves", "b1"), (".mainline", "")):
        held = page.locator(within).get_by_role("button", name=name).first
        held.focus()
        before = page.url
        keys.press("Enter")
        until(page, lambda: page.url != before, True)  # noqa: B023 - it is asked at once
        says(page, "to move")
        until(page, lambda: page.locator(f"{within} :focus").count(), 1)  # noqa: B023 - it is asked at once


@slow
def test_the_board_is_one_tab_stop_and_arrows_skip_holes_and_stop_at_the_edge(seat: Visit) -> None:
    page = seat("cross")
    keys, stops = Keys(page), page.locator('.cell[tabindex="0"]')
    expect(stops).to_have_count(1)
    assert page.locator('.cell[tabindex="-1"]').count() == 11
    page.locator(".cell").last.click()
    expect(stops).to_have_attribute("data-cell", "11")
    expect(stops).to_have_count(1)
    cell(page, "b1").focus()
    for key, at in (("ArrowLeft", "b1"), ("ArrowDown", "b2"), ("Home", "a2"), ("ArrowUp", "a2"), ("End", "d2")):
        keys.press(key)
        assert keys.at.startswith(f"button: {at}, "), key


def test_the_status_is_announced_once_a_move(page: Page, announced: Callable[[], list[str]]) -> None:
    begin(page, HERE)
    says(page, "X to move.")
    announced()
    for number, move in enumerate(X_WINS[:-1]):
        play(page, move)
        says(page, f"{'XO'[number % 2]} played {move}. {'OX'[number % 2]} to move.")
        heard = [text for text in announced() if text != "Sending …"]  # which is only said when it is slow
        assert heard == [f"{'XO'[number % 2]} played {move}. {'OX'[number % 2]} to move."]
    play(page, X_WINS[-1])
    until(page, lambda: page.locator(".after p").count() > 0, True)
    assert [text for text in announced() if text != "Sending …"] == ["X has won: X completed a line."]


def verdicts(page: Page) -> dict[str, list[str]]:
    """Return the text and the shape of every verdict on the board, by its words."""
    found: dict[str, list[str]] = page.locator(".cell:has(.note)").evaluate_all("""cells => Object.fromEntries(
        cells.map((cell) => {
            const {borderStyle, borderRadius} = getComputedStyle(cell.querySelector(".note"));
            return [cell.ariaLabel.split(", ")[2], [cell.textContent, `${borderStyle} ${borderRadius}`]];
        }))""")
    return found


@slow
def test_verdicts_differ_by_text_and_shape_where_all_colours_are_equal(server: Served, visit: Visit) -> None:
    found: dict[str, list[str]] = {}
    page = visit(server.url + STILL)
    page.emulate_media(forced_colors="active")
    for board in (VERDICTS, "XXX./OOO./..../....", "X.O./.XO./.O.O/XX.."):
        page.goto(f"{server.url}/explore/4,4,4/{board}")
        says(page, "to move")
        found |= verdicts(page)
    assert len({text for text, _ in found.values()}) == len(found) > 3
    shapes = {(words.split()[0], shape) for words, (_, shape) in found.items()}
    assert sorted(kind for kind, _ in shapes) == ["draws", "loses", "wins"]
    assert len({shape for _, shape in shapes}) == 3


@slow
def test_every_state_of_a_cell_differs_where_all_colours_are_equal(seat: Visit) -> None:
    page = seat()
    play(page, *X_WINS)
    looks = page.locator(".cell").evaluate_all("""cells => cells.map((cell) => {
        const style = getComputedStyle(cell), mark = cell.querySelector("path");
        return [mark?.getAttribute("d") ?? "", style.borderWidth, style.borderStyle].join();
    })""")
    assert len({looks[0], looks[4], looks[15]}) == 3  # in the line that ended the game, O's and empty
