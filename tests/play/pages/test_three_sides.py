"""A game of three sides on the page: chosen, played on one screen and between screens, with a mark of its own for Z."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from browsing import cell, choose_game, expect, marks, says, shows

if TYPE_CHECKING:
    from playwright.sync_api import Page

Visit = Callable[..., "Page"]


@pytest.fixture
def chosen(page: Page) -> Page:
    """The page of new games, with 3p:5,5,4 chosen."""
    choose_game(page, "3p:5,5,4")
    page.get_by_role("radio", name="Z", exact=True).wait_for()
    return page


def moves(page: Page, *names: str) -> None:
    for name in names:
        cell(page, name).click()
        expect(cell(page, name)).not_to_have_attribute("aria-label", f"{name}, empty")


def test_three_friends_play_on_one_screen_and_one_leaves(chosen: Page) -> None:
    page = chosen
    page.get_by_label("Friends on this screen").check()
    page.get_by_role("button", name="Start game").click()
    page.get_by_text("X to move.").wait_for()
    moves(page, "a1", "b1", "c1")
    shows(page, "XOZ" + "." * 22)
    expect(cell(page, "c1")).to_have_attribute("aria-label", "c1, Z, last move")
    shapes = page.locator(".cell .mark path").evaluate_all("paths => paths.map((path) => path.getAttribute('d'))")
    assert len(set(shapes)) == 3, "the marks differ in shape, not only in colour"
    page.get_by_role("button", name="Resign").click()
    says(page, "X has left.")
    expect(page.locator(".players li").first).to_have_text("X on this screenhas left")
    moves(page, "a2", "b2")
    shows(page, "XOZ..OZ" + "." * 18)
    page.get_by_role("button", name="Undo").click()
    shows(page, "XOZ..O." + "." * 18)
    page.get_by_role("button", name="Resign").click()
    says(page, "O has won: the others have left.")
    expect(page.get_by_role("button", name="Hint")).to_have_count(0)
    page.get_by_role("button", name="Rematch").click()
    says(page, "X to move.")
    assert marks(page) == "." * 25


def test_a_person_plays_two_machines_as_the_third_side(chosen: Page) -> None:
    page = chosen
    page.get_by_label("Random moves").check()
    page.get_by_role("radio", name="Z", exact=True).check()
    page.get_by_role("button", name="Start game").click()
    says(page, "Your turn: you are Z.")
    assert sorted(marks(page).replace(".", "")) == ["O", "X"]
    expect(page.locator(".players li")).to_have_text(["X random moves", "O random moves", "Z you to move"])


def test_two_friends_elsewhere_get_a_link_each_and_both_are_asked(chosen: Page, visit: Visit) -> None:
    page = chosen
    page.get_by_label("Friends elsewhere").check()
    page.get_by_role("button", name="Start game").click()
    says(page, "Your turn: you are X.")
    others = [
        visit(page.get_by_label(f"Send this link to your friend, who plays {side}").input_value()) for side in "OZ"
    ]
    for other, side in zip(others, "OZ", strict=True):
        expect(other.locator(".players")).to_contain_text(f"{side} you")
    moves(page, "a1")
    page.get_by_role("button", name="Undo").click()
    for other in others:
        other.get_by_text("X asks to take a move back.").wait_for()
    others[0].get_by_role("button", name="Agree").click()
    others[0].get_by_text("X asked to take a move back.").wait_for()
    assert marks(page) == "X" + "." * 24
    others[1].get_by_role("button", name="Agree").click()
    shows(page, "." * 25)
