"""Wide boards on the page: a part is seen, which keys, buttons and the name of a cell move."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from browsing import (
    HERE,
    NARROW,
    Keys,
    assert_accessible,
    begin,
    button,
    cell,
    choose_game,
    expect,
    moves_listed,
    names,
    play,
    says,
    until,
)
from web import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

Seat = Callable[..., "Page"]
MILLION = "1000,1000,5"

slow = pytest.mark.slow


def seen(page: Page) -> tuple[str, str, int]:
    """The first and the last cell that are seen, and how many."""
    all_names = [name.split(",")[0] for name in names(page)]
    return all_names[0], all_names[-1], len(all_names)


def show(page: Page, name: str) -> None:
    """Ask for the part around a cell."""
    page.get_by_role("textbox", name="Cell").fill(name)
    button(page, "Show").click()


def test_a_part_of_a_million_cells_is_seen_played_on_and_moved(seat: Seat) -> None:
    page = seat(MILLION)
    says(page, "X to move.")
    assert seen(page) == ("ry493", "sm507", 225)
    caption = page.locator(".seen")
    expect(caption).to_have_text("Rows 493 to 507 of 1000, columns ry to sm (493 to 507) of 1000.")
    play(page, "sg500", "sh500")
    says(page, "O played sh500. X to move.")
    button(page, "Move right").click()
    assert seen(page) == ("sf493", "st507", 225)
    assert {"sg500, X", "sh500, O, last move"} <= set(names(page))
    for move, first in (("Move down", "sf500"), ("Move left", "ry500"), ("Move up", "ry493")):
        button(page, move).click()
        assert seen(page)[0] == first
    show(page, "ALL1000")
    assert seen(page) == ("akx986", "all1000", 225)
    play(page, "all1000")
    button(page, "Move down").click()
    assert seen(page)[1] == "all1000"
    show(page, "alm1000")
    expect(caption).to_have_text("No cell alm1000: they run from a1 to all1000.")
    show(page, "a1")
    assert seen(page) == ("a1", "o15", 225)
    button(page, "Last move").click()
    assert seen(page)[1] == "all1000"
    assert moves_listed(page) == ["X sg500", "O sh500", "X all1000"]
    page.get_by_role("list", name="Moves").get_by_role("button").first.click()
    assert "sg500, X, last move" in names(page), "an earlier position is shown where it was played"


@slow
def test_arrow_keys_go_on_beyond_the_edge_and_stop_at_the_edge_of_the_board(seat: Seat) -> None:
    page = seat(MILLION)
    says(page, "X to move.")
    keys = Keys(page)
    cell(page, "sm500").focus()
    keys.press("ArrowRight")
    assert keys.at == "button: sn500, empty"
    assert seen(page)[0] == "sf493"
    keys.press(*["ArrowDown"] * 9)
    assert keys.at == "button: sn509, empty"
    keys.press("Enter")
    until(page, lambda: keys.at, "button: sn509, X, last move")
    show(page, "a1")
    cell(page, "c1").focus()
    keys.press("ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert keys.at == "button: a1, empty"
    show(page, "all1000")
    cell(page, "all1000").focus()
    keys.press("ArrowRight", "ArrowDown")
    assert keys.at == "button: all1000, empty"
    keys.press(*["ArrowUp"] * 20)
    assert keys.at == "button: all980, empty"
    grid = page.get_by_role("grid")
    assert [grid.get_attribute(f"aria-{each}count") for each in ("row", "col")] == ["1000", "1000"]
    rows = page.locator(".board .row")
    assert rows.first.get_attribute("aria-rowindex") == seen(page)[0].removeprefix("akx")


@slow
def test_a_game_is_begun_and_won_and_the_page_is_accessible(server: Served, page: Page) -> None:
    begin(page, HERE, game=MILLION)
    assert_accessible(page)
    play(page, "sg500", "ry493", "sh500", "rz493", "si500", "sa493", "sj500", "sc493", "sk500")
    says(page, "X has won: X completed a line.")
    ended = [name for name in names(page) if "in the line that ended the game" in name]
    assert [name.split(",")[0] for name in ended] == ["sg500", "sh500", "si500", "sj500", "sk500"]
    assert button(page, "Hint").count() == 0
    assert page.get_by_role("heading", name="Review").count() == 0
    assert page.get_by_label("Show the lines").count() == 0
    assert_accessible(page)


@slow
def test_a_machine_s_move_elsewhere_is_brought_into_sight(server: Served, page: Page) -> None:
    choose_game(page, MILLION)
    page.get_by_label("Random moves").check()
    cell(page, "sg500").click()
    page.wait_for_url("**/match/*")
    says(page, re.compile("O played .* Your turn"))
    last = moves_listed(page)[-1].split()[1]
    until(page, lambda: f"{last}, O, last move" in names(page), True)


@slow
def test_what_is_taken_is_refused_and_a_move_is_taken_back(seat: Seat) -> None:
    page = seat(MILLION)
    play(page, "sg500")
    cell(page, "sg500").click(force=True)
    says(page, "sg500 is taken: pick an empty cell.")
    button(page, "Undo").click()
    until(page, lambda: "sg500, empty" in names(page), True)


@slow
def test_on_a_phone_the_part_fits_the_window(seat: Seat) -> None:
    page = seat(MILLION, viewport=NARROW)
    says(page, "X to move.")
    assert seen(page)[2] == 81
    frame = page.locator(".frame")
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")


@slow
def test_there_is_nothing_to_explore_on_a_wide_board(server: Served, page: Page) -> None:
    page.goto(f"{server.url}/explore/{MILLION}")
    expect(page.get_by_role("alert")).to_contain_text("a game without positions to look up")
