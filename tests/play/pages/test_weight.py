"""What the page weighs: few small requests to its own host, nothing that jumps, and no frame that is late."""

import re
import statistics
from typing import NamedTuple

import pytest
from browsing import NARROW, ORACLE, STILL, Page, Request, Visit, begin, cell, expect, names, play, says, slow
from web import Served

from play.server.pages import Pages

RAW, ZIPPED, REQUESTS = 50_000, 15_000, 6
DUEL = 1_750
"""How much more pages of the duel may weigh on the wire: one module."""


class Address(NamedTuple):
    """A page."""

    path: str
    parts: str
    """The modules that it loads besides app.js and what they import."""
    asked: int
    """How often it asks the API, but for the stream of a match."""
    said: str
    """What its status says when it is complete; the documentation has none."""


PAGES = [
    Address("/", "play", 1, "pick a cell"),
    Address("/explore", "explore", 1, "X to move"),
    Address("/explore/4,4,4/XXX./OOO./..../....", "explore", 1, "X wins in 1 ply"),
    Address("/puzzles", "puzzles", 1, "Pick a cell"),
    Address("/match", "match", 1, "Your turn"),
    Address("/api", "docs", 1, ""),
    Address("/duel", "play duel duel_setup", 0, "Red begins"),
    Address("/explore/duel,4,4", "explore duel", 1, "R to move"),
    Address("/match/duel", "match duel", 1, "Your turn: you are R"),
]


def files_of(page: Address) -> list[str]:
    """Return the files of a page: index.html, what it names, its modules, and what they import."""
    pages = Pages()
    found = ["/" + page.path.split("/")[1], *(f"/static/{part}.js" for part in page.parts.split())]
    for path in found:
        file = pages.find(path if path.startswith("/static/") else "/")
        assert file, path
        text = file.body.decode()
        named = re.findall(r'(?:href|src)="(/static/[^"]+)"', text) if not path.endswith(".js") else []
        imported = re.findall(r'(?m)^(?:import|\} from)\b.*"\./(\w+\.js)";$', text)
        found += [each for each in (*named, *(f"/static/{name}" for name in imported)) if each not in found]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_the_files_of_a_page_are_few_and_small(page: Address) -> None:
    pages = Pages()
    files = [pages.find(path) or pages.find("/") for path in files_of(page)]
    assert sum(len(file.body) for file in files if file) <= RAW
    assert sum(len(file.zipped) for file in files if file) <= ZIPPED + ("duel" in page.path) * DUEL
    assert len(files) + page.asked <= REQUESTS


def loaded(page: Page, server: Served, at: Address) -> list[Request]:
    """Load a page that nothing is known of yet, and return its requests."""
    path = at.path
    if path.startswith("/match"):
        game, side = ("duel", "R") if "duel" in path else ("4,4,4", "X")
        path = server.begin(game)["links"]["seats"][side]
    elif path == "/duel":
        path = "/"
        page.evaluate("""localStorage.setItem("ttt4:settings", '{"game": "duel"}')""")
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.goto(server.url + path)
    if at.said:
        says(page, at.said)
    else:
        expect(page.get_by_role("heading", level=2).first).to_be_visible()
    return [request for request in asked if not request.url.startswith("data:")]


def nothing_jumped(page: Page) -> None:
    """See that since a page was loaded nothing has moved in it but after an input."""
    jumps = page.evaluate("""new Promise((done) => {
        const shifts = [];
        new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) {
                const moved = entry.sources.map(({node}) => node?.outerHTML?.slice(0, 100));
                if (!entry.hadRecentInput) shifts.push([entry.value, ...moved]);
            }
        }).observe({type: "layout-shift", buffered: true});
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(shifts))));
    })""")
    assert jumps == []


@slow
def test_cold_pages_ask_for_their_files_and_nobody_else_and_do_not_jump_on_a_phone(
    server: Served, visit: Visit
) -> None:
    page = visit(server.url + STILL, own=True, viewport=NARROW)
    session = page.context.new_cdp_session(page)
    for each in PAGES:
        session.send("Network.clearBrowserCache")
        asks_for_its_files(each, server, loaded(page, server, each))
        nothing_jumped(page)
        page.evaluate("localStorage.clear()")


def asks_for_its_files(page: Address, server: Served, asked: list[Request]) -> None:
    files = [request for request in asked if "/api/" not in request.url]
    paths = {"/" + request.url.split("/", 3)[3] for request in files}
    assert {path for path in paths if "/static/" in path} == {path for path in files_of(page) if "/static/" in path}
    for request in files:
        answer = request.response()
        assert answer
        assert answer.headers["content-encoding"] == "gzip"
    data = [each for each in asked if "/api/" in each.url and not each.url.endswith("/events?after=0")]
    assert len(data) <= page.asked
    assert {request.url.split("/")[2] for request in asked} == {server.host}


@slow
def test_nothing_jumps_while_the_page_of_another_game_loads(server: Served, visit: Visit) -> None:
    page = visit(server.url + STILL)
    for game in ("fano", "15,15,5", "duel,12,12"):
        page.evaluate(f"localStorage.setItem('ttt4:settings', JSON.stringify({{game: '{game}'}}))")
        page.goto(server.url)
        says(page, "pick a cell")
        nothing_jumped(page)
    page.goto(f"{server.url}/explore/fano")
    says(page, "to move")
    nothing_jumped(page)


def test_nothing_jumps_during_a_game_on_a_phone(server: Served, visit: Visit) -> None:
    page = visit(server.url, viewport=NARROW)
    begin(page, ORACLE)
    moves = page.get_by_role("list", name="Moves").get_by_role("listitem")
    over, open_cells = page.locator(".status.over"), page.locator('.cell[aria-disabled="false"]')
    while not over.count():
        before = moves.count()
        open_cells.first.click()
        expect(moves.nth(before)).to_be_attached()
        expect(open_cells.or_(over).first).to_be_visible()
    expect(page.get_by_role("heading", name="Review")).to_be_visible()
    nothing_jumped(page)


@slow
@pytest.mark.parametrize(("game", "moves"), [
    ("4,4,4", "a1 a2 b1 b2 c1 c2 d1"), ("duel,3,3", "a1 b1 c1 a2 c2 b2 a3 c3 b3"),
])  # fmt: skip
def test_nothing_jumps_for_who_watches(game: str, moves: str, seat: Visit, visit: Visit) -> None:
    page = seat(game, "RG" if "duel" in game else "XO")
    watchers = [visit(page.url), visit(page.url, viewport=NARROW)]
    for watcher in watchers:
        says(watcher, "to move")
    play(page, *moves.split())
    for watcher in watchers:
        expect(watcher.get_by_role("heading", name="Review")).to_be_visible()
        nothing_jumped(watcher)


@slow
def test_nothing_jumps_while_one_explores(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/explore")
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
    for number in range(10):
        play(page, names(page)[number * 28 % 225].split(",")[0])
    late, otherwise = (statistics.quantiles(each.evaluate("late"), n=20)[-1] for each in (page, idle))
    print(f"frames: p95 {late:.1f} ms, and {otherwise:.1f} ms on an empty page")
    assert late <= otherwise + 17  # one frame at 60 Hz
