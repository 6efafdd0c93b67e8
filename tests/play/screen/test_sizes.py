"""A window of any size, changed in the middle of a game: the board is whole, or scrolls, or the window is too small."""

from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, MOVES_CURSOR, Screen, Show, ShowOnTerminal, TerminalScreen
from sessions import HUMANS

MADE = {"b2": "X", "a1": "O", "d4": "X", "c3": "O", "a4": "X"}


def test_the_board_is_right_in_every_size_that_a_window_takes(show: Show, stores: Path) -> None:
    screen = show("--game", "4,4,4", *HUMANS, "--store", stores).until("X to move.")
    screen.press(*"b2a1d4c3a4", "right").until("X played a4. O to move.")
    for rows, columns in ((24, 80), (15, 40), (60, 200), (24, 80), (10, 30), (25, 33), (12, 200), (24, 80)):
        screen.resize(rows, columns).until("4,4,4", "O to move.").asleep()
        assert (screen.marks(), screen.cursor()) == (MADE, "b4"), screen.text
        assert len(screen.centers()) == 16
        assert len(screen.lines) == rows
    screen.press(ENTER).until("O played b4.")


def test_marks_grow_with_the_window(show: Show, store3: Path) -> None:
    screen = show("--game", "3,3,3", *HUMANS, "--store", store3, rows=10, columns=30).until("X to move.")
    screen.press(*"b2a1").until("O played a1")
    middles = []
    for rows, columns in ((10, 30), (24, 80), (60, 200)):
        screen.resize(rows, columns).until("O played a1").asleep()
        middles.append(screen.look(*screen.centers()["b2"])[0])
    assert middles == ["X", "╳", "█"]


def test_a_board_without_room_scrolls_so_that_the_cursor_is_seen(show: Show) -> None:
    screen = show("--game", "15,15,5", *HUMANS, rows=15, columns=40).until("X to move.")
    assert screen.cursor() == "h8"
    assert len(screen.centers()) < 15 * 15
    screen.press(ENTER).until("X played h8")
    for key, cells in (
        ("right", "i8 j8 k8 l8 m8 n8 o8"), ("down", "o9 o10 o11 o12 o13 o14 o15"),
        ("left", "n15 m15 l15 k15 j15 i15 h15 g15 f15 e15 d15 c15 b15 a15"),
        ("up", "a14 a13 a12 a11 a10 a9 a8 a7 a6 a5 a4 a3 a2 a1"),
    ):  # fmt: skip
        for cell in cells.split():
            screen.press(key).wait(lambda cell=cell: screen.cursor() == cell)
            assert screen.marks() == ({"h8": "X"} if "h8" in screen.centers() else {})
    screen.press(ENTER).until("O played a1")
    screen.resize(24, 80).until("O played a1").asleep()
    assert (screen.marks(), screen.cursor(), len(screen.centers())) == ({"h8": "X", "a1": "O"}, "a1", 225)


def made_too_small(screen: Screen | TerminalScreen, rows: int, columns: int) -> None:
    """Make the window of a game too small, and large again."""
    screen.until("X to move.")
    screen.press(*"b2").until("X played b2")
    screen.resize(rows, columns).wait(lambda: screen.text.strip() == "Too small: 30x10 at least."[:columns])
    screen.resize(24, 80).until("X played b2").asleep()
    assert screen.marks() == {"b2": "X"}
    assert screen.press("q").ended() == 0


@pytest.mark.parametrize(("rows", "columns"), [(9, 80), (24, 29), (1, 1), (2, 200)])
def test_too_small_a_window_says_so_and_the_game_comes_back(rows: int, columns: int, show: Show, store3: Path) -> None:
    made_too_small(show("--game", "3,3,3", *HUMANS, "--store", store3), rows, columns)


def test_a_terminal_tells_its_new_size(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    made_too_small(show_on_terminal("--game", "3,3,3", *HUMANS, "--store", store3), 9, 80)


def test_too_small_a_window_at_first_has_the_prompt(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal("--game", "3,3,3", "--store", store3, rows=9, columns=40)
    screen.wait(lambda: screen.text.rstrip().endswith("X>"))
    assert screen.press("\x04").ended() == 0
    assert not MOVES_CURSOR.search(screen.written)


@pytest.mark.parametrize(("rows", "columns"), [(10, 30), (12, 40), (50, 132)])
def test_every_view_can_be_drawn_in_a_window_of_any_size(rows: int, columns: int, show: Show, store3: Path) -> None:
    screen = show("--game", "3,3,3", *HUMANS, "--store", store3, rows=rows, columns=columns).until("X to move.")
    for key, title in (("m", "A new game"), ("?", "Keys"), (":", " :"), ("p", "puzzle 1")):
        screen.press(key).until(title)
        for height, width in ((9, 29), (10, 30), (24, 80), (rows, columns)):
            screen.resize(height, width).until(title if (height, width) != (9, 29) else "Too small")
        screen.press(ESCAPE).until("3,3,3", without=[title])
    assert screen.press("q").ended() == 0
