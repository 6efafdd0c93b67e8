"""The page as its readers have it: the board by its cells' names, and waits for what it comes to show."""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from playwright.sync_api import Locator, Page, Route, TimeoutError, expect

HERE, AWAY, ORACLE = "A friend on this screen", "A friend elsewhere", "The oracle"
EMPTY = "." * 16


def cell(page: Page, name: str) -> Locator:
    """Return a cell's button by the name that it begins with."""
    return page.locator(f'.cell[aria-label^="{name},"]')


def names(page: Page) -> list[str]:
    """Return the accessible names of all cells."""
    found: list[str] = page.locator(".cell").evaluate_all("cells => cells.map((cell) => cell.ariaLabel ?? '')")
    return found


def marks(page: Page) -> str:
    """Return the mark of each cell, as its name says it."""
    return "".join({"X": "X", "O": "O"}.get(name.split(", ")[1], ".") if name else "?" for name in names(page))


def until(page: Page, answer: Callable[[], Any], expected: Any, within: float = 10.0) -> None:
    """Wait until a question has the answer expected, while a page goes on and its requests are handled."""
    ends = time.monotonic() + within
    while (now := answer()) != expected:
        assert time.monotonic() < ends, f"still {now!r}, not {expected!r}"
        page.wait_for_timeout(50)


def shows(page: Page, board: str, within: float = 10.0) -> None:
    """Wait until a page shows a board, row separators left out."""
    until(page, lambda: marks(page), board.replace("/", ""), within)


def says(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait until the status says something; this looks more often than `expect`."""
    status = page.locator("main .status")
    try:
        status.filter(has_text=text).wait_for(state="attached")
    except TimeoutError:
        raise AssertionError(f"the status says {status.all_inner_texts()}, not {text!r}") from None


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def game_choice(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Game")


def choose_game(page: Page, name: str) -> None:
    """Choose a game by typing its name."""
    game_choice(page).select_option("")
    other = page.get_by_role("textbox", name="Another board")
    other.press_sequentially(name)
    other.press("Tab")


def begin(page: Page, opponent: str, *, side: str = "X", level: int | None = None, game: str | None = None) -> str:
    """Set up a match, begin it and return its id."""
    page.get_by_label(opponent).check()
    if opponent != HERE:
        page.get_by_label("O" if side == "O" else "X, and begin", exact=True).check()
    if level is not None:
        page.get_by_label("Level").fill(str(level))
    if game is not None:
        choose_game(page, game)
    button(page, "Start game").click()
    page.wait_for_url("**/match/*")
    expect(page.get_by_role("list", name="Moves")).to_be_attached()
    return match_of(page)


def match_of(page: Page) -> str:
    """Return the id of the match that a page is about."""
    return page.url.partition("/match/")[2].partition("#")[0]


def play(page: Page, *moves: str) -> None:
    """Pick cells, each once it can be picked, and see its mark."""
    for move in moves:
        page.locator(f'.cell[aria-label^="{move},"][aria-disabled=false]').click()
        page.locator(f'.cell:is([aria-label^="{move}, X"], [aria-label^="{move}, O"])').wait_for()


def moves_listed(page: Page) -> list[str]:
    """Return the list of moves, as `X a1`, without their grades."""
    texts = page.get_by_role("list", name="Moves").get_by_role("button").all_inner_texts()
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
