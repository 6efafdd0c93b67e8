"""Bad networks: requests that are late, lost, refused or overtaken never leave a board blank, wrong or stuck."""

import contextlib
import json
import re
from typing import Any

import pytest
from browsing import (
    AWAY,
    EMPTY,
    HERE,
    ORACLE,
    Held,
    Page,
    Route,
    Visit,
    begin,
    button,
    cell,
    expect,
    marks,
    match_of,
    moves_listed,
    names,
    play,
    says,
    shows,
    slow,
    until,
)
from proxy import Proxy
from web import Served

MOVES = "**/api/matches/*/moves"


class Failing:
    """Answer the first requests of a page badly, each in its way: a status, a broken connection, a lost answer."""

    def __init__(self, *ways: int | str) -> None:
        self.ways = list(ways)

    def __call__(self, route: Route) -> None:
        way = self.ways.pop(0) if self.ways else "through"
        if way == "through":
            route.continue_()
        elif way == "reset":
            route.abort("connectionreset")
        elif way == "lost":
            from playwright.sync_api import Error

            with contextlib.suppress(Error):  # a proxy may lose the answer first
                route.fetch()
            route.abort("connectionreset")
        elif way == "gateway":
            route.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>")
        else:
            body = {"error": "busy", "message": "the server is busy", "statusCode": way}
            headers = {"retry-after": "1"} if way == 429 else {}
            route.fulfill(status=int(way), content_type="application/json", body=json.dumps(body), headers=headers)


@pytest.fixture
def proxy(server: Served) -> Any:
    """A way to the server that can be broken."""
    with Proxy(server.port) as between:
        yield between


def test_a_move_that_fails_is_made_again_until_it_is_made_once(seat: Visit) -> None:
    page = seat()
    page.route(MOVES, Failing("reset", "gateway"))
    cell(page, "a1").click()
    shows(page, "X" + EMPTY[1:])
    expect(page.locator("#connection")).to_be_hidden()
    play(page, "b2")
    assert moves_listed(page) == ["X a1", "O b2"]


@slow
def test_a_move_whose_answer_was_lost_is_one_move(page: Page, server: Served) -> None:
    page.route("**/events*", lambda route: route.abort())  # else the stream would tell of it
    match = begin(page, HERE)
    sent: list[Any] = []
    page.on("request", lambda request: request.url.endswith("/moves") and sent.append(request.post_data_json))
    page.route(MOVES, Failing("lost", "lost"))
    cell(page, "a1").click()
    until(page, lambda: len(sent), 3)
    shows(page, "X" + EMPTY[1:])
    assert all(each == sent[0] for each in sent)
    assert server.get(f"/api/matches/{match}").json["moves"] == ["a1"]


@slow
@pytest.mark.parametrize(("path", "seen", "way"), [
    ("/match/", "O to move", "reset"), ("/puzzles", "Pick a cell.", "gateway"),
    ("/explore/4,4,4/XXX./OOO./..../....", "X wins in 1 ply", 429),
])  # fmt: skip
def test_a_page_whose_requests_fail_asks_again_and_is_complete(
    path: str, seen: str, way: int | str, server: Served, seat: Visit
) -> None:
    page = seat()
    if path == "/match/":
        path += match_of(page)
        play(page, "a1")
    page.route("**/api/**", Failing(way))
    page.goto(server.url + path)
    says(page, seen)
    expect(page.locator(".cell")).to_have_count(16)
    expect(page.locator("#connection")).to_be_hidden()


@slow
def test_what_goes_on_failing_is_said_and_tried_again_by_a_button(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/explore", own=True)
    says(page, "X to move")
    page.clock.install()
    page.route("**/api/positions", Failing(*[500] * 40))
    cell(page, "a1").click()
    for _ in range(12):
        page.clock.run_for(4000)
    expect(page.get_by_role("alert")).to_contain_text("the server is busy")
    shows(page, "X" + EMPTY[1:])
    page.unroute("**/api/positions")
    button(page, "Try again").click()
    says(page, "O to move: a draw")
    assert "draws" in names(page)[1]


@slow
def test_offline_is_said_and_the_game_goes_on_by_itself(page: Page) -> None:
    begin(page, ORACLE)
    play(page, "a1")
    says(page, "O played")
    page.context.set_offline(True)
    expect(page.locator("#connection")).to_contain_text("No connection")
    before = marks(page)
    move = next(name.split(",")[0] for name in names(page) if "empty" in name)
    cell(page, move).click()
    says(page, "Sending")
    assert marks(page) == before
    page.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    expect(cell(page, move)).to_have_attribute("aria-label", re.compile("X"))
    says(page, "Your turn")


@slow
def test_a_server_that_cannot_be_reached_is_said_and_found_again(proxy: Proxy, visit: Visit) -> None:
    page = visit(proxy.url)
    begin(page, HERE)
    play(page, "a1")
    proxy.refusing = True
    proxy.reset()
    expect(page.locator("#connection")).to_contain_text("Connection lost: reconnecting.")
    cell(page, "b1").click()
    says(page, "Sending")
    assert marks(page) == "X" + EMPTY[1:]
    proxy.refusing = False
    shows(page, "XO" + EMPTY[2:])
    expect(page.locator("#connection")).to_be_hidden()


@slow
def test_a_stream_that_goes_silent_is_noticed(proxy: Proxy, visit: Visit) -> None:
    page = visit(proxy.url)
    match = begin(page, HERE)
    other = visit(f"{proxy.url}/match/{match}", own=True)
    shows(other, EMPTY)
    other.clock.install()
    other.reload()
    shows(other, EMPTY)
    proxy.stall()
    play(page, "a1")
    other.clock.run_for(25_000)
    shows(other, "X" + EMPTY[1:], within=30)  # a connection that the browser uses again may be a stalled one


@slow
def test_while_nothing_arrives_a_page_asks_for_the_match_once_at_a_time(server: Served, visit: Visit) -> None:
    page = visit(server.url, own=True)
    page.clock.install()
    begin(page, HERE)
    asked: list[Route] = []
    page.route(re.compile("/api/matches/[0-9a-f]+$"), lambda route: asked.append(route))
    page.route("**/events*", lambda route: route.abort())
    page.reload()
    until(page, lambda: len(asked), 1)
    asked.pop().continue_()
    shows(page, EMPTY)
    for _ in range(10):
        page.clock.run_for(3_000)
    until(page, lambda: len(asked), 1)
    asked.pop().abort()


@slow
def test_steps_that_overtake_each_other_lead_to_the_board_of_the_last(seat: Visit, visit: Visit) -> None:
    page = seat()
    other = visit(page.url, page.context)
    held = Held(2)
    other.route(MOVES, held)
    play(other, "a1")  # told by the stream, as the answer is held
    other.reload()
    shows(other, "X" + EMPTY[1:])
    play(other, "b1")
    play(page, "c1")
    shows(other, "XOX" + EMPTY[3:])
    held.release([1])
    other.wait_for_timeout(100)  # nothing is to happen
    shows(other, "XOX" + EMPTY[3:])
    play(other, "d1")
    shows(page, "XOXO" + EMPTY[4:])


@slow
def test_who_moves_too_late_is_shown_what_was_moved(seat: Visit, visit: Visit) -> None:
    page = seat()
    other = visit(page.url, page.context)
    shows(other, EMPTY)
    other.evaluate(
        "Object.defineProperty(document, 'hidden', {value: true}); "
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    play(page, "a1")
    cell(other, "d4").click()
    says(other, "The game had gone on meanwhile: X played a1. Look again.")
    shows(other, "X" + EMPTY[1:])
    play(other, "d4")
    shows(page, "X..............O")


@slow
def test_a_slow_network_shows_what_is_awaited(server: Served, visit: Visit) -> None:
    page = visit(server.url)
    held = Held()
    page.route("**/api/matches", held)
    cell(page, "c3").click()
    says(page, "Setting up the board")
    expect(page.locator(".cell")).to_have_count(16)
    until(page, lambda: len(held.held), 1)
    held.release()
    says(page, "Your turn")
    assert names(page)[10] == "c3, X"
    late = Held()
    page.route("**/api/matches/*", late)
    page.reload()
    expect(page.locator("main")).to_contain_text("Loading")
    until(page, lambda: len(late.held), 1)
    late.release()
    expect(cell(page, "c3")).to_have_attribute("aria-label", re.compile("^c3, X"))


@slow
def test_a_page_that_could_not_be_fetched_comes_when_there_is_a_connection_again(page: Page) -> None:
    page.context.set_offline(True)
    page.get_by_role("link", name="Explore").click()
    expect(page.get_by_role("heading", name="That did not work")).to_be_visible()
    page.context.set_offline(False)
    says(page, "X to move")


@slow
def test_a_hint_that_comes_after_the_next_move_is_not_shown(seat: Visit) -> None:
    page, held = seat(), Held()
    page.route("**/api/position?*", held)
    button(page, "Hint").click()
    until(page, lambda: len(held.held), 1)
    play(page, "a1")
    held.release()
    page.wait_for_timeout(200)  # nothing is to happen
    assert not any("a good move" in name for name in names(page))
    says(page, "X played a1. O to move.")


@slow
def test_puzzles_that_come_in_another_order_leave_the_one_asked_for_last(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/puzzles?seed=one")
    says(page, "Pick a cell.")
    held = Held(2)
    page.route("**/api/puzzle?*", held)
    button(page, "Another puzzle").click()
    until(page, lambda: len(held.held), 1)
    button(page, "Another puzzle").click()
    until(page, lambda: len(held.held), 2)
    boards = [answer.json()["board"] for _, answer in held.held]
    held.release([1, 0])
    shows(page, boards[1])
    page.wait_for_timeout(100)  # nothing is to happen
    shows(page, boards[1])
    says(page, "Pick a cell.")


@slow
def test_a_game_through_a_proxy_that_does_all_this_is_played_out(proxy: Proxy, visit: Visit, server: Served) -> None:
    page = visit(proxy.url)
    match = begin(page, AWAY)
    friend = visit(page.get_by_label("Send this link").input_value())
    watcher = visit(f"{proxy.url}/match/{match}")
    players = [page, friend]
    for each in players:
        each.route(MOVES, Failing("reset", 500, "lost", "through", 429, "lost", "through", "gateway", "lost"))
    proxy.delay = 0.1
    for number, move in enumerate(["a1", "a2", "b1", "b2", "c1", "c2", "d1"]):
        play(players[number % 2], move)
        if number % 2:
            proxy.reset()
    for each in (*players, watcher):
        shows(each, "XXXXOOO.........")
        assert len(moves_listed(each)) == 7
        expect(each.locator("#connection")).to_be_hidden()
    assert server.get(f"/api/matches/{match}").json["version"] == 7
