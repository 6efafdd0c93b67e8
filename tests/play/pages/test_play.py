"""Playing in the browser: the oracle, a friend here or elsewhere, watching, and any game."""

import re

from browsing import (
    AWAY,
    EMPTY,
    HERE,
    ORACLE,
    X_WINS,
    Page,
    Visit,
    begin,
    button,
    cell,
    expect,
    game_choice,
    marks,
    moves_listed,
    names,
    play,
    resign,
    says,
    shows,
    slow,
    steps,
    until,
)
from web import Served

from oracle.oracle import Oracle
from play.match import Match
from play.review import review_match
from solver.games.line_rules import LineRules


def state_of(server: Served, match: str) -> str:
    """Return the board of a match, as the server has it."""
    board: str = server.get(f"/api/matches/{match}").json["state"]
    return board


def plays_best(page: Page, oracle: Oracle) -> None:
    """Answer the machine's moves by the best ones until the game is over."""
    while True:
        turn = page.locator('.cell[aria-disabled="false"]')
        expect(turn.or_(page.locator(".status.over")).first).to_be_visible()
        if page.locator(".status.over").count():
            return
        play(page, oracle.analysis("/".join(re.findall("....", marks(page)))).best[0])


def test_a_game_against_the_oracle_is_played_by_clicking_at_the_level_and_on_the_side_chosen(
    page: Page, server: Served, oracle: Oracle
) -> None:
    match = begin(page, ORACLE, side="O", level=4)
    expect(page.locator(".players")).to_contain_text("X the oracle, level 4")
    expect(page.locator(".players")).to_contain_text("O you")
    says(page, re.compile(r"X played \w\d\. Your turn: you are O\."))
    assert sorted(marks(page)) == sorted(EMPTY[1:] + "X")
    plays_best(page, oracle)
    shows(page, state_of(server, match))
    expect(page.locator(".status")).to_contain_text(re.compile("You have won|A draw"))
    expect(button(page, "Rematch")).to_be_focused()
    button(page, "Rematch").click()
    says(page, "Your turn: you are X.")
    assert (marks(page), match in page.url) == (EMPTY, False)
    expect(page.locator(".players")).to_contain_text("O the oracle, level 4")


@slow
def test_picking_a_cell_begins_the_game_with_that_move(page: Page) -> None:
    says(page, "X begins: pick a cell.")
    cell(page, "b3").click()
    says(page, re.compile(r"O played \w\d\. Your turn"))
    assert names(page)[9].startswith("b3, X")
    expect(cell(page, "b3")).to_be_focused()
    assert sorted(marks(page)) == sorted(EMPTY[2:] + "XO")


@slow
def test_the_choices_are_remembered(page: Page, server: Served) -> None:
    begin(page, ORACLE, side="O", level=9, game="3,3,3")
    page.goto(server.url)
    expect(page.get_by_label("O", exact=True)).to_be_checked()
    expect(page.get_by_label("Level 9 (expert)")).to_have_value("9")
    expect(game_choice(page)).to_have_value("3,3,3")
    expect(page.locator(".cell")).to_have_count(9)


@slow
def test_undo_takes_back_ones_own_move_and_the_answer_to_it_and_who_resigns_has_lost(page: Page) -> None:
    begin(page, ORACLE)
    expect(button(page, "Undo")).to_be_disabled()
    play(page, "a1")
    says(page, "O played")
    button(page, "Undo").click()
    shows(page, EMPTY)
    assert moves_listed(page) == []
    play(page, "d4")
    says(page, "O played")
    assert moves_listed(page)[0] == "X d4"
    resign(page)
    says(page, "You have lost")
    assert page.locator('.cell[aria-disabled="false"]').count() == 0
    expect(page.get_by_role("button", name=re.compile("Undo|Hint|Resign"))).to_have_count(0)
    expect(button(page, "Rematch")).to_be_visible()
    button(page, "New game").click()
    expect(page).to_have_url(re.compile("/play$"))


@slow
def test_a_hint_marks_the_best_moves(seat: Visit, oracle: Oracle) -> None:
    page = seat()
    play(page, "a1", "a2", "b1", "b2", "c1")
    button(page, "Hint").click()
    best = oracle.analysis("XXX./OO../..../....").best
    says(page, f"Hint: {', '.join(best)}.")
    assert [name.split(",")[0] for name in names(page) if "a good move" in name] == list(best)
    play(page, best[0])
    assert not any("a good move" in name for name in names(page))


def test_the_list_of_moves_steps_back_and_forth(seat: Visit) -> None:
    page = seat()
    play(page, *X_WINS[:4])
    assert moves_listed(page) == ["X a1", "O a2", "X b1", "O b2"]
    made = steps(page)
    made.nth(0).click()
    assert marks(page) == "X" + EMPTY[1:]
    says(page, "Position after 1 of 4 moves.")
    assert page.locator('.cell[aria-disabled="false"]').count() == 0
    made.nth(2).click()
    assert marks(page) == "XX..O..........."
    expect(made.nth(2)).to_have_attribute("aria-current", "step")
    button(page, "Back to the game").click()
    assert marks(page) == "XX..OO.........."
    says(page, "O played b2. X to move.")
    made.nth(0).click()
    made.nth(3).click()
    expect(button(page, "Back to the game")).to_have_count(0)
    play(page, "c1")


def test_the_review_has_each_moves_grade_and_the_turning_point_each_a_click_away(seat: Visit, oracle: Oracle) -> None:
    page = seat()
    play(page, *X_WINS)
    says(page, "X has won")
    assert [name for name in names(page) if "in the line that ended the game" in name] == [
        f"{name}, X{', last move' if name == 'd1' else ''}, in the line that ended the game" for name in X_WINS[::2]
    ]
    rules = LineRules(oracle.game)
    match = Match(rules)
    for move in X_WINS:
        match.play(match.to_move or "", rules.read(move))
    review = review_match(oracle, match)
    after = page.locator(".after")
    expect(after.get_by_role("heading", name="Review")).to_be_visible()
    for side in "XO":
        own = [move for move in review.moves if move.side == side]
        best = sum(move.grade == "best" for move in own)
        expect(after).to_contain_text(
            f"{side}: {best} of {len(own)} moves were best, {sum(m.changed for m in own)} changed"
        )
    for graded, step in zip(review.moves, steps(page).all(), strict=True):
        text = step.inner_text()
        assert (graded.grade in text) == (graded.grade != "best"), text
        assert ("✗" in text) == graded.changed
        step.click()
        assert marks(page) == rules.encode(match.states[graded.number]).replace("/", "")
    point = review.turning_point
    assert point
    expect(after).to_contain_text(f"{point.side}’s {point.move}: it {point.grade}. {', '.join(point.better[:6])} would")
    after.get_by_role("button", name=re.compile(point.move)).click()
    assert marks(page) == rules.encode(match.states[point.number - 1]).replace("/", "")
    after.get_by_role("link", name="Explore this game").click()
    expect(page.get_by_role("list", name="Moves to this position").get_by_role("button")).to_have_count(8)


def test_a_friend_elsewhere_comes_by_a_link_that_opens_his_seat_alone(page: Page, server: Served, visit: Visit) -> None:
    match = begin(page, AWAY)
    says(page, "Your turn: you are X.")
    invite = page.get_by_label("Send this link").input_value()
    seat, _, token = invite.partition("#")[2].partition(".")
    own = page.evaluate(f"JSON.parse(localStorage.getItem('ttt4:{match}')).tokens")
    assert (seat, list(own)) == ("O", ["X"])
    assert own["X"] not in invite
    friend = visit(invite)
    expect(friend.locator(".players")).to_contain_text("O you")
    assert token not in friend.url
    assert friend.url == f"{server.url}/match/{match}"
    assert friend.locator('.cell[aria-disabled="false"]').count() == 0
    play(page, "a1")
    play(friend, "b2")
    for each in (page, friend):
        shows(each, "X.../.O../..../....")
    friend.reload()  # the seat is kept, though the address has no token any more
    expect(friend.locator(".players")).to_contain_text("O you")


@slow
def test_a_friend_elsewhere_is_asked_before_a_move_is_taken_back(page: Page, visit: Visit) -> None:
    begin(page, AWAY)
    friend = visit(page.get_by_label("Send this link").input_value())
    play(page, "a1")
    for word, board in (("Decline", "X" + EMPTY[1:]), ("Agree", EMPTY)):
        shows(friend, "X" + EMPTY[1:])
        button(page, "Undo").click()
        expect(page.locator(".offer")).to_contain_text("X asked to take a move back.")
        expect(friend.get_by_role("alert")).to_contain_text("X asks to take a move back.")
        button(friend, word).click()
        for each in (page, friend):
            shows(each, board)
            expect(each.locator(".offer")).to_be_empty()


@slow
def test_a_machine_that_searches_is_said_to_be_thinking(page: Page) -> None:
    begin(page, ORACLE, game="15,15,5", level=10)
    play(page, "h8")
    says(page, re.compile("O, the oracle.*, is thinking …"))
    expect(page.locator('.cell[aria-disabled="false"]')).to_have_count(0)
    says(page, re.compile(r"O played \w\d+\. Your turn"))


@slow
def test_who_watches_takes_a_seat_by_its_link_and_comes_to_the_rematch_with_sides_changed(
    page: Page, visit: Visit
) -> None:
    begin(page, AWAY)
    invite = page.get_by_label("Send this link").input_value()
    friend = visit(invite.partition("#")[0])
    expect(friend.get_by_text("a person elsewhere")).to_have_count(2)
    friend.goto(invite)  # in the tab that watched
    expect(friend.locator(".players")).to_contain_text("O you")
    assert "#" not in friend.url
    resign(friend)
    says(page, "You have won: O resigned")
    button(page, "Rematch").click()
    expect(page.locator(".players")).to_contain_text("O you")
    button(friend, "Join the rematch").click()
    expect(friend.locator(".players")).to_contain_text("X you")
    assert friend.url == page.url
    play(friend, "c3")
    shows(page, "..........X.....")


@slow
def test_who_watches_sees_every_move_and_can_make_none(seat: Visit, visit: Visit) -> None:
    page = seat()
    page.get_by_text("Let others watch").click()
    watcher = visit(page.get_by_label("Anybody with this link can watch").input_value())
    expect(watcher.get_by_role("button", name=re.compile("Undo|Hint|Resign|Rematch"))).to_have_count(0)
    for move in X_WINS:
        assert watcher.locator('.cell[aria-disabled="false"]').count() == 0
        play(page, move)
        shows(watcher, marks(page))
    says(watcher, "X has won")
    expect(watcher.get_by_role("heading", name="Review")).to_be_visible()
    assert watcher.evaluate("document.activeElement === document.body")


def test_a_game_of_the_operators_own_is_played(page: Page, server: Served) -> None:
    game_choice(page).hover()
    expect(game_choice(page).get_by_role("option", name="nim:Nim")).to_be_attached()
    game_choice(page).select_option("nim:Nim")
    match = begin(page, HERE)
    picture = page.get_by_role("region", name="Board")
    for move, left in (("3", "4 O"), ("3", "1 X"), ("1", "0 O")):
        button(page, move).click()
        expect(picture.locator("pre")).to_have_text(left)
    assert state_of(server, match) == "0 O"
    says(page, "X has won: X took the last")
    assert moves_listed(page) == ["X 3", "O 3", "X 1"]


@slow
def test_of_five_tabs_on_a_game_those_seen_follow_it_and_the_others_catch_up_when_they_are(
    server: Served, visit: Visit
) -> None:
    page = visit(server.url, own=True)
    match = begin(page, HERE)
    page.context.add_init_script("""
        let hidden = true;
        Object.defineProperty(document, "hidden", {get: () => hidden});
        window.seen = (now) => { hidden = !now; document.dispatchEvent(new Event("visibilitychange")); };
    """)
    streams: list[object] = []
    page.context.on("request", lambda request: "/events" in request.url and streams.append(request))
    for how in ("requestfailed", "requestfinished"):
        page.context.on(how, lambda request: request in streams and streams.remove(request))
    tabs = [visit(f"{server.url}/match/{match}", page.context) for _ in range(4)]
    for tab in tabs:
        shows(tab, EMPTY)
    assert streams == []
    for seen in (tabs[:1], tabs[1:]):
        for tab in tabs:
            tab.evaluate("now => seen(now)", tab in seen)
        until(page, lambda: len(streams), len(seen))
        move = next(name.split(",")[0] for name in names(page) if "empty" in name)
        play(page, move)
        for tab in seen:
            shows(tab, marks(page), within=1.0)
    for tab in tabs:
        tab.evaluate("seen(false)")
    until(page, lambda: len(streams), 0)
    play(page, "d4")
    for tab in tabs:
        tab.evaluate("seen(true)")
        shows(tab, marks(page), within=1.0)
        tab.evaluate("seen(false)")


@slow
def test_a_board_with_holes_shows_its_lines_on_demand_and_is_played_to_its_end(page: Page, server: Served) -> None:
    match = begin(page, HERE, game="cross")
    page.get_by_label("Show the lines through a cell").check()
    cell(page, "b1").hover()
    expect(page.locator(".lines")).to_contain_text("2 through b1")
    assert sum("pointed out" in name for name in names(page)) == 5
    page.get_by_label("Show the lines through a cell").uncheck()
    expect(page.locator(".cell.shown")).to_have_count(0)
    while (now := server.get(f"/api/matches/{match}").json)["outcome"] is None:
        play(page, now["legal"][len(now["events"]) * 7 % len(now["legal"])])
    says(page, re.compile("has won|A draw"))
    shows(page, now["state"])
