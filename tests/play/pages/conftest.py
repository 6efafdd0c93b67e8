"""What the tests of the page share: the system's browser, a server, and pages on it."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import pytest
from browsing import STILL
from web import Served

from oracle.oracle import Oracle
from solver.games.board import DEFAULT_GAME
from solver.games.notation import parse_game

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TESTS = Path(__file__).parents[1]

SECONDS = 30
"""Timeout for whatever a page is to show, even on a busy machine."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Function) -> None:
    """Skip where there is no browser; skipped here, and not by a fixture, all tests share one line of the summary."""
    if BROWSER is None and "browser" in item.fixturenames:
        pytest.skip("there is no browser for the tests of the page: apt install chromium")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's browser."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])


@pytest.fixture(scope="package")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory, store4: Path) -> Iterator[Served]:
    """A server with the store of 4,4,4 and a game of the operator's own."""
    state = tmp_path_factory.mktemp("state")
    with Served(state, "--game", "nim:Nim", TTT4_STORE=str(store4), PYTHONPATH=str(TESTS)) as served:
        yield served


@pytest.fixture
def serve(tmp_path: Path, store4: Path) -> Iterator[Callable[..., Served]]:
    """Start servers of a test's own, with options; they end with the test."""
    with ExitStack() as started:
        yield lambda *options: started.enter_context(Served(tmp_path / "state", *options, TTT4_STORE=str(store4)))


class Pool:
    """Pages that tests take and give back: a page in a process that runs already costs a quarter of a new one."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.errors: list[str] = []
        self._free: dict[str, list[Page]] = defaultdict(list)
        self._taken: list[tuple[str, Page]] = []
        self._own: list[BrowserContext] = []

    def take(self, *, own: bool, **options: Any) -> Page:
        """Return a page in a context with these options that no other page of the test shares."""
        if own:
            page = self._open(options)
            self._own.append(page.context)
            return page
        kind = json.dumps(options, sort_keys=True)
        page = self._free[kind].pop() if self._free[kind] else self._open(options)
        self._taken.append((kind, page))
        return page

    def _open(self, options: dict[str, Any]) -> Page:
        context = self.browser.new_context(**options)
        context.on("weberror", lambda report: self.errors.append(str(report.error)))
        context.on("console", lambda said: "Content Security Policy" in said.text and self.errors.append(said.text))
        context.set_default_timeout(SECONDS * 1000)
        return context.new_page()

    def give_back(self) -> None:
        """Take back what a test has used, as good as new, or else close it."""
        from playwright.sync_api import Error

        for kind, page in self._taken:
            try:
                _clear(page)
                self._free[kind].append(page)
            except Error:
                page.context.close()
        for context in self._own:
            for page in context.pages:
                page.unroute_all(behavior="ignoreErrors")  # requests may still be on their way
            context.close()
        self._taken, self._own = [], []


def _clear(page: Page) -> None:
    for other in page.context.pages:
        other.unroute_all(behavior="ignoreErrors")
        if other != page:
            other.close()
    page.context.set_offline(False)
    page.mouse.move(0, 0)
    page.emulate_media(color_scheme="null", forced_colors="null", reduced_motion="null")
    page.goto(urljoin(page.url, STILL))
    page.evaluate("localStorage.clear()")


@pytest.fixture(scope="package")
def pool(browser: Browser) -> Pool:
    """The pages of all tests."""
    return Pool(browser)


@pytest.fixture
def visit(pool: Pool) -> Iterator[Callable[..., Page]]:
    """Open pages, each in a context that it shares with none unless it is given one; an error in a page fails the test.

    What a test cannot take back, such as a page's clock or its scripts, takes a context of its own (`own`).
    """

    def visiting(url: str, context: BrowserContext | None = None, *, own: bool = False, **options: Any) -> Page:
        page = context.new_page() if context else pool.take(own=own, **options)
        page.goto(url)
        return page

    pool.errors.clear()
    yield visiting
    pool.give_back()
    assert not pool.errors


@pytest.fixture
def seat(server: Served, visit: Callable[..., Page]) -> Callable[..., Page]:
    """Begin matches between people, and open them where the seats of some sides are ours: by default of both."""

    def sitting(game: str = "4,4,4", sides: str = "XO", machine: str | None = None, **options: Any) -> Page:
        begun = server.begin(game, **({"RG"[sides == "R"]: machine} if machine else {}))
        ours = json.dumps({"tokens": {side: begun["tokens"][side] for side in sides}, "invites": []})
        page = visit(server.url + STILL, **options)
        page.evaluate("([name, value]) => localStorage.setItem(name, value)", [f"ttt4:{begun['id']}", ours])
        page.goto(server.url + begun["links"]["watch"])
        return page

    return sitting


@pytest.fixture
def page(server: Served, visit: Callable[..., Page]) -> Page:
    """A page where a game can be begun."""
    return visit(server.url)


@pytest.fixture(scope="package")
def oracle(store4: Path) -> Iterator[Oracle]:
    with Oracle(parse_game(DEFAULT_GAME), store4) as opened:
        yield opened


@pytest.fixture
def announced(page: Page) -> Callable[[], list[str]]:
    """Return what the status has said since the last time."""
    page.evaluate("""() => {
        window.said = [];
        new MutationObserver((changes) => {
            const lines = document.querySelectorAll("main .status[role=status]");
            for (const line of lines) {
                if (changes.some(({target}) => line.contains(target))) said.push(line.textContent);
            }
        }).observe(document, {subtree: true, childList: true, characterData: true});
    }""")
    return lambda: page.evaluate("said.splice(0)")
