"""The page as its readers have it: the board by its cells' names, and waits for what it comes to show."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator
    from playwright.sync_api import Page as Page
    from playwright.sync_api import Request as Request
    from playwright.sync_api import Route as Route
else:  # Playwright is imported by the tests that run, not by all found
    Locator = Page = Request = Route = Any

Visit = Callable[..., Page]
slow = pytest.mark.slow

HERE, AWAY, ORACLE, MACHINE = "A friend on this screen", "A friend elsewhere", "The oracle", "The machine"
SIDES = {"X": "X, and begin", "O": "O", "R": "Red (R), and begin", "G": "Green (G)"}
"""What one can be, as it is offered."""

EMPTY = "." * 16
X_WINS = ["a1", "a2", "b1", "b2", "c1", "c2", "d1"]
OPEN = '.cell[aria-disabled="false"]'
"""The cells that can be picked."""

STILL = "/static/share.js"
"""A file of the server that runs nothing: where pages wait for the next test."""

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
NARROW = {"width": 360, "height": 740}
PHONE: dict[str, Any] = {"viewport": NARROW, "has_touch": True, "is_mobile": True}


def expect(actual: Any) -> Any:
    """Expect something of a page or a part of it; Playwright is imported by the tests that run, not by all found."""
    from playwright.sync_api import expect as expecting

    return expecting(actual)


def cell(page: Page, name: str) -> Locator:
    return page.locator(f'.cell[aria-label^="{name},"]')


def names(page: Page) -> list[str]:
    found: list[str] = page.locator(".cell").evaluate_all("cells => cells.map((cell) => cell.ariaLabel ?? '')")
    return found


def marks(page: Page) -> str:
    """Return the mark of each cell, as its name says it."""
    said = [name.split(", ")[1] if name else "?" for name in names(page)]
    return "".join("." if word == "empty" else word for word in said)


def until(page: Page, answer: Callable[[], Any], expected: Any, within: float = 30.0) -> None:
    """Wait until a question has the answer expected, while a page goes on and its requests are handled."""
    ends = time.monotonic() + within
    while (now := answer()) != expected:
        assert time.monotonic() < ends, f"still {now!r}, not {expected!r}"
        page.wait_for_timeout(50)


def shows(page: Page, board: str, within: float = 30.0) -> None:
    """Wait until a page shows a board, row separators left out."""
    until(page, lambda: marks(page), board.replace("/", ""), within)


def says(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait until the status says something; this looks more often than `expect`."""
    from playwright.sync_api import TimeoutError

    status = page.locator("main .status")
    try:
        status.filter(has_text=text).wait_for(state="attached")
    except TimeoutError:
        raise AssertionError(f"the status says {status.all_inner_texts()}, not {text!r}") from None


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def resign(page: Page) -> None:
    """Resign, and say that it is meant: Enter, pressed twice, does not do so."""
    button(page, "Resign").press("Enter")
    button(page, "Keep playing").press("Enter")
    button(page, "Resign").click()
    button(page, "Really resign").click()


def game_choice(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Game")


def choose_game(page: Page, name: str) -> None:
    game_choice(page).select_option("")
    other = page.get_by_role("textbox", name="Another board")
    other.press_sequentially(name)
    other.press("Tab")


def begin(
    page: Page, opponent: str, *, side: str | None = None, level: int | None = None, game: str | None = None
) -> str:
    """Set up a match, begin it and return its id."""
    first = "R" if game and game.startswith("duel") else "X"
    if game is not None:
        choose_game(page, game)
    page.get_by_label(SIDES[first], exact=True).wait_for()
    page.get_by_label(opponent).check()
    if opponent != HERE:
        page.get_by_label(SIDES[side or first], exact=True).check()
    if level is not None:
        page.get_by_label("Level").fill(str(level))
    button(page, "Start game").click()
    page.wait_for_url("**/match/*")
    expect(page.get_by_role("list", name="Moves")).to_be_attached()
    return match_of(page)


def match_of(page: Page) -> str:
    return page.url.partition("/match/")[2].partition("#")[0]


def play(page: Page, *moves: str) -> None:
    """Pick cells, each once it can be picked, and see its mark."""
    taken = ", ".join(f'[aria-label^="{{0}}, {side}"]' for side in SIDES)
    for move in moves:
        page.locator(f'.cell[aria-label^="{move},"][aria-disabled=false]').click()
        page.locator(f".cell:is({taken.format(move)})").wait_for()


def open_cells(page: Page) -> list[str]:
    """Return the names of the cells that can be picked."""
    found: list[str] = page.locator(OPEN).evaluate_all("cells => cells.map(c => c.ariaLabel.split(',')[0])")
    return found


def steps(page: Page) -> Locator:
    """Return the buttons of the list of moves."""
    return page.get_by_role("list", name="Moves").get_by_role("button")


def moves_listed(page: Page) -> list[str]:
    """Return the list of moves, as `X a1`, without their grades."""
    texts = steps(page).all_inner_texts()
    return [" ".join(text.split()[:2]) for text in texts]


class Held:
    """Requests that were answered, but whose answers have not arrived; a handler for `page.route`."""

    def __init__(self, most: int = 1) -> None:
        """Hold the first few, and let the others through."""
        self.room = most
        self.held: list[tuple[Route, Any]] = []

    def __call__(self, route: Route) -> None:
        self.room -= 1
        if self.room >= 0:
            self.held.append((route, route.fetch()))
        else:
            route.continue_()

    def release(self, order: Sequence[int] | None = None) -> None:
        """Let the answers arrive, by default in the order of the questions."""
        for each in range(len(self.held)) if order is None else order:
            route, answer = self.held[each]
            route.fulfill(response=answer)


def assert_accessible(page: Page) -> None:
    """See that axe finds nothing wrong with a page: on a desk in light colours, and on a phone in dark ones."""
    assert violations(page) == []
    size = page.viewport_size
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme="dark")
    try:
        assert violations(page) == []
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], "the page is wider than the window"
    finally:
        page.emulate_media(color_scheme="null")
        page.set_viewport_size(size)


def violations(page: Page) -> list[str]:
    from axe_playwright_python.base import AXE_FILE_PATH

    page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_FILE_PATH.read_text())
    options = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": TAGS}}
    found = page.evaluate("options => axe.run(options)", options)
    assert len(found["passes"]) > 10
    return [
        f"{each['id']}: {node['html'][:120]} {node.get('failureSummary', '')[:300]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


class Keys:
    """A page that is used by keyboard alone, and known by what a screen reader would say."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._session = page.context.new_cdp_session(page)

    @property
    def at(self) -> str:
        """The role and the name of what has the focus, as the browser tells a screen reader."""
        focus = self._session.send("Runtime.evaluate", {"expression": "document.activeElement"})["result"]["objectId"]
        asked = {"objectId": focus, "fetchRelatives": False}
        node = self._session.send("Accessibility.getPartialAXTree", asked)["nodes"][0]
        return "" if node["ignored"] else f"{node['role']['value']}: {node['name']['value']}"

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, what: str, *, back: bool = False) -> None:
        """Press Tab until something has the focus."""
        for _ in range(25):
            if re.match(what, self.at):
                return
            self.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"{what} is not reached by Tab; the focus is on {self.at}")

    def arrow_to(self, name: str) -> None:
        """Move within the board by arrow keys."""
        found = re.match(r"button: ([a-z]+)(\d+), ", self.at)
        assert found, self.at
        right, down = ord(name[0]) - ord(found[1]), int(name[1:]) - int(found[2])
        self.press(*(["ArrowRight" if right > 0 else "ArrowLeft"] * abs(right)))
        self.press(*(["ArrowDown" if down > 0 else "ArrowUp"] * abs(down)))
        assert self.at.startswith(f"button: {name}, "), self.at
