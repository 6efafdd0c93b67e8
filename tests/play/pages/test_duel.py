"""The duel in the browser: whole games, captures, refusals, reviews and explorations.

Boards and margins come from an implementation of the rules that shares nothing with ours (tests/naive.py).
"""

import random
import re

import naive
from browsing import (
    AWAY,
    HERE,
    MACHINE,
    OPEN,
    PHONE,
    Held,
    Keys,
    Page,
    Visit,
    begin,
    button,
    cell,
    choose_game,
    expect,
    game_choice,
    marks,
    match_of,
    moves_listed,
    names,
    open_cells,
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

CAPTURES = ["a1", "b1", "c1", "a2", "c2", "b2", "a3", "c3", "b3"]
"""A game of duel,3,3 in which both sides capture, and G has to move anywhere after the first move."""


def name_of(duel: naive.Duel, number: int) -> str:
    return "abcdefghijkl"[number % duel.columns] + str(number // duel.columns + 1)


class Game:
    """A game by the naive rules, beside the one on a page."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.duel = naive.Duel.named(name)
        self.board = self.duel.empty
        self.captured: list[int] = []
        self.turned: list[int] = []
        self.played: list[str] = []
        self.rng = random.Random(seed)

    @property
    def side(self) -> str:
        return naive.turn(self.board)

    @property
    def legal(self) -> list[str]:
        return [name_of(self.duel, number) for number in naive.placings(self.duel, self.board, self.side)]

    def number(self, move: str) -> int:
        return (int(move[1:]) - 1) * self.duel.columns + "abcdefghijkl".index(move[0])

    def play(self, move: str) -> int:
        """Make a move and return how many tiles it captured."""
        number, side = self.number(move), self.side
        self.turned = sorted(naive.captures(self.duel, self.board, number, side))
        self.board = naive.placed(self.duel, self.board, number, side)
        self.captured.append(len(self.turned))
        self.played.append(f"{side} {move}")
        return len(self.turned)

    def choice(self) -> str:
        return self.rng.choice(self.legal)

    @property
    def ended(self) -> re.Pattern[str]:
        """What is said at the end."""
        red, green = self.board.count("R"), self.board.count("G")
        winner = "A draw" if red == green else f"{'R' if red > green else 'G'} has won"
        return re.compile(f"({winner}|You have (won|lost)): {max(red, green)} tiles to {min(red, green)}")

    def is_on(self, page: Page) -> None:
        """Wait until a page shows the board, and see that it tells the score and every move, and marks captures."""
        shows(page, self.board)
        turned = [name.split(",")[0] for name in names(page) if name.endswith(", captured")]
        assert turned == [name_of(self.duel, number) for number in self.turned]
        assert page.locator(".cell.turned").count() == len(turned)
        for side in "RG":
            count = self.board.count(side)
            row = page.locator(".players li").filter(has=page.locator(f".side.{side}"))
            expect(row).to_contain_text(f"{count} tile{'s' * (count != 1)}")
        assert moves_listed(page) == self.played
        for text, move, captured in zip(steps(page).all_inner_texts(), self.played, self.captured, strict=True):
            row, column = divmod(self.number(move[2:]), self.duel.columns)
            assert f"row {row + 1}, column {column + 1}" in text
            assert (f"captured {captured}" in text) == (captured > 0), text
            assert re.search(r"\d?\d:\d\d:\d\d", text)


def told(side: str, move: str, captured: int) -> str:
    return f"{side} played {move}{f' and captured {captured}' if captured else ''}. "


def test_two_here_play_a_whole_game_and_every_board_is_the_naive_one(page: Page) -> None:
    other = Game("duel,3,4", 1)
    begin(page, HERE, game="duel,3,4")
    says(page, "R to move.")
    while "." in other.board:
        other.is_on(page)
        assert open_cells(page) == other.legal
        side, move = other.side, other.choice()
        cell(page, move).click()
        captured = other.play(move)
        if "." in other.board:
            says(page, f"{told(side, move, captured)}{other.side} to move.")
    other.is_on(page)
    says(page, other.ended)
    assert open_cells(page) == []
    expect(page.get_by_role("button", name=re.compile("Undo|Hint|Resign"))).to_have_count(0)
    said = page.locator("main .status").inner_text()
    page.locator(".cell").first.click(force=True)
    assert (page.locator("main .status").inner_text(), marks(page)) == (said, other.board)


@slow
def test_who_plays_a_machine_hears_of_both_captures_to_the_end(page: Page) -> None:
    begin(page, "Captures first", game="duel,4,4", side="R")
    expect(page.locator(".players")).to_contain_text("captures first")
    other, heard = Game("duel,4,4"), 0
    while True:
        until(page, lambda: open_cells(page), other.legal)
        own = max(other.legal, key=lambda move: len(naive.captures(other.duel, other.board, other.number(move), "R")))
        play(page, own)
        first = other.play(own)
        until(page, lambda: len(moves_listed(page)) > len(other.played), True)
        reply = moves_listed(page)[-1][2:]
        assert reply in other.legal
        second = other.play(reply)
        other.is_on(page)
        if "." not in other.board:
            break
        said = (told("R", own, first) if first else "") + told("G", reply, second)
        says(page, re.compile(f"^{re.escape(said)}Your turn: you are R.$"))
        heard += bool(first)
    assert heard
    says(page, other.ended)
    expect(button(page, "Rematch")).to_be_focused()
    button(page, "Rematch").click()
    expect(page.locator(".players li").filter(has_text="you")).to_contain_text("G")


def test_the_cells_that_can_be_played_are_marked_and_clicks_elsewhere_are_refused_with_the_reason(
    server: Served, seat: Visit
) -> None:
    page = seat("duel,4,4", "RG")
    play(page, "a1", "d4")
    says(page, "R to move")
    dotted = page.locator(".cell").evaluate_all("""cells => cells.filter(
        (cell) => getComputedStyle(cell, "::after").content !== "none").map((cell) => cell.ariaLabel.split(",")[0])""")
    assert dotted == ["b1", "a2"] == open_cells(page)
    before = marks(page)

    def refused(name: str, why: str) -> None:
        cell(page, name).click(force=True)
        says(page, why)
        expect(page.locator("main .status")).to_have_class(re.compile("error"))
        assert marks(page) == before

    refused("a1", "a1 is taken: pick an empty cell.")
    refused("d4", "d4 is taken: pick an empty cell.")
    refused("c3", "c3 is not next to a tile of R: pick a marked cell.")
    refused("d3", "d3 is not next to a tile of R: pick a marked cell.")
    Keys(page).press("Enter")
    assert open_cells(page) == ["b1", "a2"]
    steps(page).nth(1).click()
    steps(page).nth(0).click()
    before = marks(page)
    refused("b1", "This is an earlier position: go back to the game to move.")
    assert server.get(f"/api/matches/{match_of(page)}").json["version"] == 2


@slow
def test_who_is_not_to_move_is_told_whose_turn_it_is(page: Page, visit: Visit) -> None:
    begin(page, AWAY, game="duel,3,3")
    friend = visit(page.get_by_label("Send this link").input_value())
    shows(friend, "." * 9)
    expect(friend.locator(".players")).to_contain_text("G you")
    expect(friend.get_by_role("img", name="to move")).to_have_count(1)
    cell(friend, "b2").click(force=True)
    says(friend, "It is R’s turn.")
    play(page, "b2")
    says(friend, "R played b2. Your turn: you are G.")
    assert marks(friend) == "....R...."
    expect(button(page, "Restart")).to_have_count(0)  # the friend would not know where it went on


@slow
def test_the_list_of_moves_shows_each_earlier_board_and_its_score_and_undo_gives_captured_tiles_back(
    page: Page,
) -> None:
    begin(page, HERE, game="duel,3,3")
    expect(page.locator(".players")).to_contain_text("R on this screen")
    other = Game("duel,3,3")
    boards = [other.board]
    play(page, *CAPTURES[:5])
    for number, move in enumerate(CAPTURES[:5]):
        other.play(move)
        boards.append(other.board)
        if number < 4:
            steps(page).nth(number).click()
            says(page, f"Position after {number + 1} of 5 moves.")
        else:
            button(page, "Back to the game").click()
        shows(page, other.board)
        for at, side in enumerate("RG"):
            expect(page.locator(".score").nth(at)).to_have_text(re.compile(f"^{other.board.count(side)} tile"))
        assert page.locator(".cell.turned").count() == other.captured[-1]
    for board in boards[-2::-1]:
        button(page, "Undo").click()
        shows(page, board)
    expect(button(page, "Undo")).to_be_disabled()
    assert moves_listed(page) == []


@slow
def test_restart_begins_the_same_game_with_the_same_players_at_one_click(page: Page, server: Served) -> None:
    first = begin(page, MACHINE, game="duel,3,4", side="G", level=3)
    until(page, lambda: len(moves_listed(page)), 1)
    button(page, "Restart").click()
    page.wait_for_url(lambda url: first not in url)
    expect(page.locator(".players")).to_contain_text("R the machine, level 3")
    until(page, lambda: len(moves_listed(page)), 1)
    now = server.get(f"/api/matches/{match_of(page)}").json
    assert (now["game"], now["players"], match_of(page) != first) == ("duel,3,4", {"R": "search:3", "G": "human"}, True)
    play(page, open_cells(page)[0])


def margins(duel: naive.Duel, board: str) -> dict[str, int]:
    """Return each move's margin for the side that makes it, by naive minimax."""
    side = naive.turn(board)
    return {
        name_of(duel, number): -naive.margin(duel, naive.placed(duel, board, number, side), naive.rival(side))
        for number in naive.placings(duel, board, side)
    }


@slow
def test_what_is_not_certain_is_said_to_be_so(server: Served, seat: Visit) -> None:
    page = seat("duel,8,8", "RG")
    with Oracle("duel,8,8", live=True, seconds=0) as oracle:
        said = oracle.analysis("64").as_dict()
    page.route("**/api/position?*", lambda route: route.fulfill(json=said))
    button(page, "Hint").click()
    says(page, re.compile(r"Hint: \w\d looks promising, but who wins could not be settled in time\."))
    page.route("**/api/positions", lambda route: route.fulfill(json=[said]))
    page.goto(f"{server.url}/explore/duel,8,8")
    says(page, "R to move: who wins could not be settled in time.")
    assert {name.split(", ", 1)[1] for name in names(page)} == {"empty, not settled"}


@slow
def test_a_game_too_large_to_review_says_so_in_a_line(seat: Visit) -> None:
    page = seat("duel,5,5", "RG")
    play(page, "a1")
    resign(page)
    says(page, "R has won: G resigned.")
    expect(page.locator(".after")).to_have_text(re.compile("^No review: .*too long"))


def explored(page: Page, duel: naive.Duel, board: str) -> None:
    """See that a page tells each legal move's margin, and nothing of other cells."""
    found = margins(duel, board)
    best, worst, side = max(found.values()), min(found.values()), naive.turn(board)
    expected = []
    for number, tile in enumerate(board):
        name, state, text = name_of(duel, number), tile if tile != "." else "empty", ""
        if name in found:
            by = found[name]
            text = f"{'+' if by > 0 else '−'}{abs(by)}" if by else "="
            state += f", {'wins' if by > 0 else 'loses'} by {abs(by)}" if by else ", draws"
            state += ", best" if by == best > worst else ""
        expected.append((f"{name}, {state}", text))

    def shown() -> list[tuple[str, str]]:
        cells = page.locator(".cell").evaluate_all("cells => cells.map(c => [c.ariaLabel, c.textContent])")
        return [((name or "").replace(", last move", "").replace(", captured", ""), text) for name, text in cells]

    until(page, shown, expected)
    winner = side if best > 0 else naive.rival(side)
    says(page, f"{side} to move: {f'{winner} wins by {abs(best)}' if best else 'a draw with best play'}.")


def test_exploring_shows_each_legal_moves_margin(server: Served, visit: Visit) -> None:
    page, other = visit(f"{server.url}/explore/duel,3,3"), Game("duel,3,3", 7)
    while "." in other.board:
        explored(page, other.duel, other.board)
        move = other.choice()
        cell(page, move).click()
        other.play(move)
    red, green = other.board.count("R"), other.board.count("G")
    winner, by = "R" if red > green else "G", abs(red - green)
    says(page, f"{winner} has won by {by}.")
    made = page.get_by_role("list", name="Moves to this position").get_by_role("button")
    expect(made).to_have_text(["start", *(move[2:] for move in other.played)])
    graph = page.get_by_role("img", name="After so many moves")
    expect(graph).to_have_attribute("aria-label", re.compile(f"9: {winner} wins by {by}\\."))
    button(page, "Back").click()
    until(page, lambda: sum(mark != "." for mark in marks(page)), 8)


@slow
def test_a_board_is_set_up_by_clicking_and_a_move_is_refused_with_the_reason(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/explore/duel,3,3")
    says(page, "R to move")
    page.get_by_label("Set up").check()
    cell(page, "a1").click()
    says(page, "G to move")
    cell(page, "c3").click()
    shows(page, "R.......R")
    expect(page.locator(".status")).to_have_class(re.compile("error"))
    cell(page, "c3").click()
    shows(page, "R.......G")
    says(page, "R to move")
    page.get_by_label("Set up").uncheck()
    cell(page, "b2").click(force=True)
    expect(page.locator(".line")).to_have_text("b2 is not next to a tile of R: pick a marked cell.")
    assert marks(page) == "R.......G"


@slow
def test_every_size_is_reached_by_two_choices_and_remembered(page: Page, server: Served) -> None:
    game_choice(page).hover()
    game_choice(page).select_option("duel")
    for title, size in (("Rows", "2"), ("Columns", "12")):
        choice = page.get_by_role("combobox", name=title)
        expect(choice.locator("option")).to_have_text([str(each) for each in range(2, 13)])
        choice.select_option(size)
    expect(page.locator(".cell")).to_have_count(24)
    expect(game_choice(page)).to_have_value("duel,2,12")
    page.reload()
    expect(page.locator(".cell")).to_have_count(24)
    expect(page.get_by_role("combobox", name="Rows")).to_have_value("2")
    page.get_by_label(HERE).check()
    button(page, "Start game").click()
    page.wait_for_url("**/match/*")
    assert server.get(f"/api/matches/{match_of(page)}").json["game"] == "duel,2,12"


@slow
def test_the_set_up_speaks_of_each_game_in_its_own_words(page: Page) -> None:
    opponents = page.get_by_role("group", name="Opponent").get_by_role("radio")
    expect(opponents).to_have_count(3)
    game_choice(page).hover()
    expect(game_choice(page).get_by_role("option", name="3 × 3, 3 in a row", exact=True)).to_be_attached()
    choose_game(page, "duel,4,4")
    says(page, "Red begins: pick a cell.")
    for side, open_ones in (("G", 0), ("R", 16)):
        page.get_by_label(re.compile(rf"\({side}\)")).check()
        expect(page.locator(OPEN)).to_have_count(open_ones)
    expect(opponents).to_have_count(5)
    expect(page.get_by_label("Level 3, casual")).to_have_attribute("min", "1")
    page.get_by_label("Captures first").check()
    expect(page.get_by_label("Level")).to_be_hidden()
    game_choice(page).select_option("3,3,3")
    says(page, "X begins: pick a cell.")
    expect(opponents).to_have_count(3)
    expect(page.get_by_label("The oracle")).to_be_checked()
    expect(page.get_by_role("combobox", name="Rows")).to_have_count(0)


@slow
def test_who_chooses_a_game_by_keyboard_stays_at_the_choice(page: Page) -> None:
    keys = Keys(page)
    keys.tab_to("combobox: Game")
    options = game_choice(page).get_by_role("option")
    expect(options.filter(has_text="Infinity Grid Duel, 4")).to_be_attached()
    page.keyboard.type("Infinity")
    says(page, "Red begins")
    assert keys.at == "combobox: Game"
    keys.press("Tab", "ArrowDown")
    expect(page.locator(".cell")).to_have_count(42)
    assert keys.at == "combobox: Rows"
    keys.press("Shift+Tab", "End")
    until(page, lambda: keys.at, "textbox: Another board")


@slow
def test_a_page_that_is_left_while_it_loads_never_replaces_the_next(server: Served, visit: Visit) -> None:
    page = visit(f"{server.url}/puzzles")
    page.evaluate("""localStorage.setItem("ttt4:settings", '{"game": "duel"}')""")
    held = Held()
    page.route("**/static/duel.js*", held)
    page.get_by_role("link", name="Play", exact=True).click()
    until(page, lambda: len(held.held), 1)
    page.get_by_role("link", name="Explore").click()
    says(page, "X to move")
    held.release()
    page.wait_for_timeout(200)  # nothing is to happen
    says(page, "X to move")
    expect(page.get_by_role("heading", level=1)).to_have_text("Explore")


@slow
def test_12x12_fits_a_phone_and_is_played_by_touch(server: Served, visit: Visit) -> None:
    page = visit(server.url, **PHONE)
    begin(page, HERE, game="duel,12,12")
    expect(page.locator(".cell")).to_have_count(144)
    sizes = page.evaluate("""() => {
        const frame = document.querySelector(".frame"), cell = document.querySelector(".cell").getBoundingClientRect();
        const next = document.querySelectorAll(".cell")[1].getBoundingClientRect();
        return [frame.scrollWidth - frame.clientWidth, document.documentElement.scrollWidth - innerWidth,
            next.left - cell.left, cell.width, cell.height];
    }""")
    assert sizes[:2] == [0, 0]
    assert sizes[2] >= 24  # targets may be smaller if a circle of 24 pixels around each meets no other (WCAG 2.5.8)
    assert min(sizes[3:]) > 22
    other = Game("duel,12,12", 8)
    for _ in range(6):
        move = other.choice()
        cell(page, move).tap()
        other.play(move)
        shows(page, other.board)
    other.is_on(page)


def tile_looks(page: Page) -> dict[str, list[str]]:
    """Return the path and the outline of each side's tiles."""
    found: dict[str, list[str]] = page.locator(
        ".mark"
    ).evaluate_all("""marks => Object.fromEntries(marks.map((mark) => {
        const style = getComputedStyle(mark);
        return [mark.getAttribute("class"), [mark.firstChild.getAttribute("d"), style.borderRadius, style.borderStyle,
            style.backgroundColor, style.color]];
    }))""")
    return found


@slow
def test_tiles_stand_out_from_their_letters_the_board_and_each_other_whatever_the_colours(seat: Visit) -> None:
    page = seat("duel,3,3", "RG")
    play(page, "a1", "c3", "b1", "b3")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        paper = page.locator(".cell").first.evaluate("cell => getComputedStyle(cell).backgroundColor")
        red, green = tile_looks(page)["mark R"], tile_looks(page)["mark G"]
        for *_, tile, letter in (red, green):
            assert contrast(tile, letter) >= 4.5
            assert max(contrast(paper, tile), contrast(paper, letter)) >= 3  # the letter's colour is the outline's
        assert contrast(red[3], green[3]) >= 3  # so they differ for those who see no hues
    page.emulate_media(color_scheme="light", forced_colors="active")
    red, green = tile_looks(page)["mark R"], tile_looks(page)["mark G"]
    assert red[3:] == green[3:], "the colours are not forced"
    assert red[0] != green[0]
    assert red[1] != green[1]
    assert (red[2], green[2]) == ("solid", "solid")


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as `rgb(1, 2, 3)`, by WCAG."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@slow
def test_captured_tiles_turn_unless_one_wants_no_motion(seat: Visit) -> None:
    page = seat("duel,3,3", "RG")
    page.evaluate("""() => {
        window.moved = [];
        addEventListener("animationstart", ({animationName}) => moved.push(animationName), true);
    }""")
    moved = "moved.splice(0).filter((name) => ['turn', 'appear'].includes(name))"
    play(page, "a1")
    page.wait_for_function("() => window.moved.includes('appear')")  # else it may be told of later
    page.emulate_media(reduced_motion="reduce")
    for turning in (False, True):
        page.evaluate(moved)
        play(page, "b1")
        expect(page.locator(".cell.turned")).to_have_count(1)
        page.wait_for_timeout(100)
        seen = page.evaluate(moved)
        assert (seen.count("turn"), bool(seen)) == (turning, turning)
        button(page, "Undo").click()
        shows(page, "R........")
        page.emulate_media(reduced_motion="no-preference")
