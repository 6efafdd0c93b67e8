"""What the page weighs: few small requests to its own host, nothing that jumps, and no frame that is late."""

import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from browsing import ORACLE, begin, cell, names, play, says
from playwright.sync_api import Page, Request, expect
from web import Served

Visit = Callable[..., Page]
slow = pytest.mark.slow

RAW, ZIPPED, REQUESTS = 50_000, 15_000, 6
DUEL = 1_750
"""How much more pages of the duel may weigh on the wire: one module."""

PHONE = {"viewport": {"width": 360, "height": 740}}

PAGES = {
    "/": "pick a cell",
    "/explore": "X to move",
    "/explore/4,4,4/XXX./OOO./..../....": "X wins in 1 ply",
    "/puzzles": "Pick a cell",
    "/match": "Your turn",
    "/api": "",
    "/duel": "Red begins",
    "/explore/duel,4,4": "R to move",
    "/match/duel": "Your turn: you are R",
}
"""Each page, and what its status says when it is complete."""


class Load(NamedTuple):
    """What was loaded for a page."""

    raw: int
    """The bytes of its files."""
    zipped: int
    """The bytes of its files on the wire."""
    files: list[str]
    data: list[str]
    """What it asked the API for, but for the stream of a match."""
    hosts: set[str]


def loaded(page: Page, server: Served, path: str) -> Load:
    """Load a page that nothing is known of yet."""
    said = PAGES[path]
    if path == "/match":
        path = server.begin()["links"]["seats"]["X"]
    elif path == "/match/duel":
        path = server.begin("duel")["links"]["seats"]["R"]
    elif path == "/duel":
        path = "/"
        page.add_init_script("""localStorage.setItem("ttt4:settings", '{"game": "duel"}')""")
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.goto(server.url + path)
    complete(page, said)
    raw = zipped = 0
    files = [request for request in asked if "/api/" not in request.url]
    for request in files:
        answer = request.response()
        assert answer
        assert answer.headers["content-encoding"] == "gzip"
        raw += len(answer.body())
        zipped += request.sizes()["responseBodySize"]
    data = [request.url for request in asked if "/api/" in request.url and not request.url.endswith("/events?after=0")]
    hosts = {request.url.split("/")[2] for request in asked if not request.url.startswith("data:")}
    return Load(raw, zipped, [request.url for request in files if not request.url.startswith("data:")], data, hosts)


def complete(page: Page, said: str) -> None:
    """Wait until a page is complete: until its status says something, or the documentation is there."""
    if said:
        says(page, said)
    else:
        expect(page.get_by_role("heading", level=2).first).to_be_visible()


@pytest.fixture
def watched(visit: Visit) -> Callable[..., Page]:
    """Open a page that keeps count of what jumps, and what its policy forbids."""

    def opening(**options: Any) -> Page:
        page = visit("about:blank", **options)
        page.add_init_script("""
            window.shifts = [];
            window.forbidden = [];
            new PerformanceObserver((list) => {
                for (const entry of list.getEntries()) {
                    const moved = entry.sources.map(({node}) => node?.outerHTML?.slice(0, 100));
                    if (!entry.hadRecentInput) shifts.push([entry.value, ...moved]);
                }
            }).observe({type: "layout-shift", buffered: true});
            addEventListener("securitypolicyviolation", (event) => forbidden.push(event.violatedDirective));
        """)
        return page

    return opening


def nothing_jumped(page: Page) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")
    assert page.evaluate("[shifts, forbidden]") == [[], []]


@pytest.mark.parametrize("path", PAGES)
def test_a_cold_page_is_small_asks_nobody_else_and_does_not_jump(
    path: str, server: Served, watched: Callable[..., Page]
) -> None:
    page = watched()
    load = loaded(page, server, path)
    print(f"{path}: {load.raw} bytes, {load.zipped} on the wire, {len(load.files) + len(load.data)} requests")
    assert load.raw <= RAW
    assert load.zipped <= ZIPPED + ("duel" in path) * DUEL
    assert ("duel.js" in " ".join(load.files)) == ("duel" in path), "other pages do without"
    assert len(load.files) + len(load.data) <= REQUESTS, load
    assert load.hosts == {server.host}
    nothing_jumped(page)


@slow
@pytest.mark.parametrize("path", PAGES)
def test_nothing_jumps_while_a_page_loads_on_a_phone(path: str, server: Served, watched: Callable[..., Page]) -> None:
    page = watched(**PHONE)
    loaded(page, server, path)
    nothing_jumped(page)


@slow
def test_nothing_jumps_while_the_page_of_another_game_loads(server: Served, watched: Callable[..., Page]) -> None:
    page = watched()
    for game in ("fano", "6,7,4", "15,15,5", "duel,12,12"):
        page.goto(server.url)
        page.evaluate(f"localStorage.setItem('ttt4:settings', JSON.stringify({{game: '{game}'}}))")
        page.reload()
        says(page, "pick a cell")
        nothing_jumped(page)
        page.goto(f"{server.url}/explore/{game}")
        says(page, "to move")
        nothing_jumped(page)


@pytest.mark.parametrize("look", [PHONE, pytest.param({}, marks=slow)], ids=["phone", "desktop"])
def test_nothing_jumps_during_a_game(look: dict[str, Any], server: Served, watched: Callable[..., Page]) -> None:
    page = watched(**look)
    page.goto(server.url)
    begin(page, ORACLE)
    while not page.locator(".status.over").count():
        before = page.get_by_role("list", name="Moves").get_by_role("listitem").count()
        page.locator('.cell[aria-disabled="false"]').first.click()
        moves = page.get_by_role("list", name="Moves").get_by_role("listitem")
        expect(moves.nth(before)).to_be_attached()
        expect(page.locator('.cell[aria-disabled="false"]').or_(page.locator(".status.over")).first).to_be_visible()
    expect(page.get_by_role("heading", name="Review")).to_be_visible()
    nothing_jumped(page)


@slow
def test_nothing_jumps_for_who_watches(seat: Visit, watched: Callable[..., Page]) -> None:
    page = seat()
    watchers = [watched(), watched(**PHONE)]
    for watcher in watchers:
        watcher.goto(page.url)
        says(watcher, "X to move")
    for move in ["a1", "b2", "c3", "d4", "a4", "d1", "b3", "c2", "a2", "a3", "b4", "b1", "c1", "c4", "d3", "d2"]:
        play(page, move)
    for watcher in watchers:
        says(watcher, "A draw")
        expect(watcher.get_by_role("heading", name="Review")).to_be_visible()
        nothing_jumped(watcher)


@slow
def test_nothing_jumps_while_one_explores(server: Served, watched: Callable[..., Page]) -> None:
    page = watched()
    page.goto(f"{server.url}/explore")
    says(page, "X to move")
    for move in ("a1", "a2", "b1", "b2", "c1"):
        cell(page, move).click()
        says(page, "to move")
    page.wait_for_timeout(600)  # what comes within half a second of an input may move things, and is not counted
    cell(page, "d1").hover()
    expect(page.locator(".line")).to_contain_text("d1")
    nothing_jumped(page)


@slow
def test_frames_are_on_time_while_15x15_is_played(seat: Visit, visit: Visit) -> None:
    page = seat("15,15,15")
    expect(page.locator(".cell")).to_have_count(225)
    idle = visit("about:blank")
    for each in (page, idle):
        each.evaluate("""() => {
            window.late = [];
            let last = performance.now();
            const frame = (now) => { late.push(now - last); last = now; requestAnimationFrame(frame); };
            requestAnimationFrame(frame);
        }""")
    for number in range(60):
        play(page, names(page)[number * 28 % 225].split(",")[0])
    late, otherwise = (statistics.quantiles(each.evaluate("late"), n=20)[-1] for each in (page, idle))
    print(f"frames: p95 {late:.1f} ms, and {otherwise:.1f} ms on an empty page")
    assert late <= max(20, otherwise)
