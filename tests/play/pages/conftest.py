"""What the tests of the page share: the system's browser, a server, and pages on it."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from web import Served

from oracle.oracle import Oracle
from solver.games.board import DEFAULT_GAME
from solver.games.notation import parse_game

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TESTS = Path(__file__).parents[1]

expect.set_options(timeout=10_000)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip where there is no browser; skipped here, and not by a fixture, all tests share one line of the summary."""
    if BROWSER is None:
        pytest.skip("there is no browser for the tests of the page: apt install chromium")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's browser."""
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
    started: list[Served] = []

    def start(*options: str) -> Served:
        started.append(Served(tmp_path / "state", *options, TTT4_STORE=str(store4)))
        return started[-1]

    yield start
    for each in started:
        each.__exit__()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages, each in a browser of its own unless it is given one; what goes wrong in a page fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def visiting(url: str, context: BrowserContext | None = None, **options: Any) -> Page:
        if context is None:
            context = browser.new_context(**options)
            context.on("weberror", lambda report: errors.append(str(report.error)))
            context.on("console", lambda said: "Content Security Policy" in said.text and errors.append(said.text))
            context.set_default_timeout(10_000)
            contexts.append(context)
        page = context.new_page()
        page.goto(url)
        return page

    yield visiting
    for context in contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")  # requests may still be on their way
        context.close()
    assert not errors


@pytest.fixture
def seat(server: Served, visit: Callable[..., Page]) -> Callable[..., Page]:
    """Begin matches between people, and open them where the seats of some sides are ours: by default of both."""

    def sitting(game: str = "4,4,4", sides: str = "XO", machine: str | None = None, **options: Any) -> Page:
        begun = server.begin(game, **({"RG"[sides == "R"]: machine} if machine else {}))
        ours = json.dumps({"tokens": {side: begun["tokens"][side] for side in sides}, "invites": []})
        page = visit("about:blank", **options)
        page.context.add_init_script(
            f"origin === 'null' || localStorage.setItem('ttt4:{begun['id']}', {json.dumps(ours)})"
        )
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
    page.context.add_init_script("""
        window.said = [];
        new MutationObserver((changes) => {
            const lines = document.querySelectorAll("main .status[role=status]");
            for (const line of lines) {
                if (changes.some(({target}) => line.contains(target))) said.push(line.textContent);
            }
        }).observe(document, {subtree: true, childList: true, characterData: true});
    """)
    page.reload()
    return lambda: page.evaluate("said.splice(0)")
