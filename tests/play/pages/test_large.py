"""Large boards on the page: estimates look and sound like estimates, threats are marked, and proofs are shown."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import (
    HERE,
    STILL,
    Keys,
    Page,
    Route,
    Visit,
    assert_accessible,
    begin,
    button,
    cell,
    expect,
    names,
    play,
    says,
    slow,
    until,
)
from looks import Seen, drawn, estimated, nothing, pretend, won
from web import Served

from oracle.oracle import Oracle
from solver.games.board_text import after_moves

THREE = "h8 a1 i8 c1 j8 e1"
RATED = estimated("g8 k8 h7", g8=0.93, h7=0.62, a9=0.3)
PAIRS = [{"side": side, "kind": "pairing", "pairs": [["a1", "b1"], ["c1", "c2"]]} for side in "XO"]

BOOK = Path(__file__).parents[3] / "data" / "duel.ttt4"


@pytest.fixture
def explored(server: Served, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Page]:
    """Explore a large board of which these things are said, one after the other."""

    def exploring(*looks: Seen, moves: str = THREE, game: str = "12,12,5", **options: object) -> Page:
        left, oracle = list(looks), Oracle(game, live=True)

        def answer(route: Route) -> None:
            pretend(monkeypatch, left.pop(0) if len(left) > 1 else left[0])
            route.fulfill(json=[oracle.analysis(board).as_dict() for board in route.request.post_data_json["boards"]])

        page = visit(server.url + STILL, **options)
        page.route("**/api/positions", answer)
        page.goto(f"{server.url}/explore/{game}/{after_moves(oracle.game, moves)}")
        says(page, "to move")
        return page

    return exploring


def told(page: Page) -> dict[str, str]:
    """What is said of each empty cell that has something to be said of."""
    cells = [name.split(", ", 2) for name in names(page)]
    return {each[0]: each[2] for each in cells if each[1] == "empty" and len(each) > 2}


def test_estimates_look_and_sound_like_estimates(explored: Callable[..., Page]) -> None:
    page = explored(RATED)
    says(page, "X to move: about 93% of the points for X, an estimate.")
    assert told(page) == {
        "g8": "about 93%, an estimate, looks best, X makes two threats at once",
        "k8": "X makes two threats at once",
        "h7": "about 62%, an estimate",
        "a9": "about 30%, an estimate",
    }
    expect(cell(page, "g8")).to_have_text("93%")
    expect(cell(page, "k8")).to_have_text(":")
    assert page.get_by_text("?", exact=True).count() == 0
    assert cell(page, "h7").locator(".note").evaluate("note => getComputedStyle(note).fontStyle") == "italic"
    outlined = "cell => getComputedStyle(cell).outlineStyle"
    assert (cell(page, "g8").evaluate(outlined), cell(page, "h7").evaluate(outlined)) == ("dashed", "none")
    expect(page.locator(".cell.best")).to_have_count(0)
    expect(page.get_by_role("heading", name="Expects")).to_be_visible()
    facts = page.locator(".facts")
    expect(facts).to_contain_text("Promising: g8 ~93% h7 ~62% a9 ~30%")
    expect(facts).to_contain_text("X makes two threats at once with g8, k8.")
    expect(facts).to_contain_text("Nothing is proved: this is an estimate.")
    expect(facts).to_contain_text("A live search, 9 plies deep, of 123,456 positions.")


@slow
def test_a_search_that_was_still_being_loaded_is_asked_once_more_and_a_promising_move_is_made_from_the_list(
    explored: Callable[..., Page],
) -> None:
    page = explored(nothing, RATED, estimated(g8=0.5))
    says(page, "about 93% of the points for X, an estimate")
    button(page, "h7, about 62%, an estimate").click()
    until(page, lambda: "h7, X, last move" in names(page), True)


@slow
def test_a_proved_win_has_the_ring_of_the_best_and_its_reason(explored: Callable[..., Page]) -> None:
    page = explored(won("X", "g8 f8 k8"))
    says(page, "X to move: X wins in at most 3 plies.")
    assert told(page)["g8"].startswith("wins in 3 plies, X makes two threats at once, best")
    expect(page.locator(".cell.best")).to_have_count(1)
    expect(page.get_by_role("heading", name="Main line")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("X has an answer to everything, which takes 3 plies at most.")
    expect(page.locator(".facts")).not_to_contain_text("Promising")


@slow
def test_the_pairs_of_a_draw_are_shown_on_demand_by_keyboard_alone_and_hidden_again(
    explored: Callable[..., Page],
) -> None:
    page = explored(drawn(*PAIRS), moves="h8 h9", game="9,9,5")
    keys = Keys(page)
    says(page, "X to move: a draw with best play.")
    assert told(page) == {}
    expect(page.locator(".facts")).to_contain_text("Every move draws.")
    keys.tab_to("button: Show the pairs")
    keys.press("Enter")
    shown = {"a1": "pair a, with b1", "b1": "pair a, with a1", "c1": "pair b, with c2", "c2": "pair b, with c1"}
    until(page, lambda: told(page), shown)
    assert_accessible(page)
    show = button(page, "Show the pairs on the board")
    expect(show).to_have_attribute("aria-pressed", "true")
    keys.tab_to("button: a1, ", back=True)
    keys.arrow_to("c2")
    assert keys.at == "button: c2, empty, pair b, with c1"
    show.click()
    assert told(page) == {}
    page = explored(drawn(PAIRS[0], {**PAIRS[1], "first": "e5", "pairs": [["d1", "d2"]]}), moves="h8 h9")
    button(page, "Show the pairs that stop O on the board").click()
    assert told(page) == {"e5": "to be taken first", "d1": "pair a, with d2", "d2": "pair a, with d1"}


@slow
def test_the_graph_tells_estimates_from_what_is_certain(explored: Callable[..., Page]) -> None:
    page = explored(RATED, won("O", "d1 f1 b1", mover="O"))
    assert_accessible(page)
    button(page, "g8, about 93%, an estimate").click()
    drawing = page.get_by_role("img")
    expect(drawing).to_have_attribute("aria-label", "After so many moves: 0: about 93% for X, an estimate; 1: O wins.")
    expect(page.locator(".graph .rough")).to_have_count(1)
    expect(page.locator(".graph")).to_contain_text("Empty dots are estimates.")


@slow
def test_a_large_board_is_wholly_seen_on_a_desktop(explored: Callable[..., Page]) -> None:
    page = explored(RATED, game="20,20,5", viewport={"width": 1100, "height": 900})
    frame = page.locator(".frame")
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    sizes = page.locator(".cell").evaluate_all("cells => cells.map((cell) => cell.getBoundingClientRect().width)")
    assert min(sizes) >= 24, "large enough to be hit"


@slow
def test_a_hint_names_what_looks_best_with_its_estimate(
    server: Served, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, estimated(g8=0.93, h7=0.62, a9=0.3, a8=0.2))
    with Oracle("15,15,5", live=True) as oracle:
        said = json.loads(oracle.analysis("225").as_json())
    page = visit(server.url)
    page.route("**/api/position?*", lambda route: route.fulfill(json=said))
    begin(page, HERE, game="15,15,5")
    button(page, "Hint").click()
    says(page, "Hint: g8 looks best: about 93%, an estimate.")
    assert told(page) == {move: f"about {by}%, an estimate" for move, by in (("g8", 93), ("h7", 62), ("a9", 30))}


@slow
def test_a_review_of_a_large_board_tells_mistakes_from_changes(server: Served, visit: Visit) -> None:
    move = {"before": 0, "after": 0, "better": [], "estimate_before": 0.5, "estimate_after": 0.5, "changed": False}
    graded = [
        {**move, "number": 1, "side": "X", "move": "h8", "grade": "looks fine", "outcome": "about 50%, an estimate"},
        {**move, "number": 2, "side": "O", "move": "a1", "grade": "looks like a mistake", "better": ["h7"],
         "outcome": "from about 50% to about 20%, an estimate"},
    ]  # fmt: skip
    page = visit(server.url)
    page.route("**/review", lambda route: route.fulfill(json={"moves": graded, "turning_point": None, "exact": False}))
    begin(page, HERE, game="15,15,5")
    play(page, "h8", "a1")
    button(page, "Resign").click()
    after = page.locator(".after")
    expect(after).to_contain_text("X: 0 of 1 moves look like mistakes, 0 certainly changed the outcome.")
    expect(after).to_contain_text("O: 1 of 1 moves looks like a mistake, 0 certainly changed the outcome.")
    expect(after).to_contain_text("a1 from about 50% to about 20%, an estimate. h7 looks better.")
    expect(after).to_contain_text("Percentages are estimates")
    assert "false" not in after.inner_text()
    grades = page.get_by_role("list", name="Moves").locator(".grade")
    expect(grades).to_have_text(["looks like a mistake"])


@pytest.mark.parametrize(
    ("game", "board", "sentence", "reason"),
    [
        ("5,5,4", "/".join(["....."] * 5), "X to move: a draw with best play.", "X cannot win: O has an answer"),
        ("duel", "....../....../..RR../...R../....../.GG...", "G to move: G wins by 2.", ""),
    ],
)  # fmt: skip
def test_who_wins_is_said_if_it_is_known_although_no_move_is(
    game: str, board: str, sentence: str, reason: str, server: Served, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.duel.plain._NODES_A_LOOK_AT_THE_CLOCK", 1)
    monkeypatch.setattr("solver.kernels.loading.Loader.load", lambda loader: None)
    oracle = Oracle(game, BOOK if game == "duel" else None, live=game != "duel", seconds=0.0)
    page = visit(server.url + STILL)
    page.route("**/api/positions", lambda route: route.fulfill(json=[oracle.analysis(board).as_dict()]))
    page.goto(f"{server.url}/explore/{game}/{board}")
    says(page, sentence)
    assert {said.rpartition(", ")[2] for said in names(page) if "not settled" in said} == {"not settled"}
    if reason:
        expect(page.get_by_text(reason)).to_be_visible()
