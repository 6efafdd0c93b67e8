"""Whole games, from the menu to the end, another one, and out: by keys alone, and by the mouse alone."""

import re
from pathlib import Path

from screens import ENTER, ShowOnTerminal


def test_a_game_is_played_by_keys_alone(show_on_terminal: ShowOnTerminal, stores: Path, games: Path) -> None:
    screen = show_on_terminal("--store", stores).until("A new game", "4,4,4")
    screen.press("up", "up", "up", "up", "right", "down", "l", "l", ENTER)  # 3,3,3, both sides
    screen.until("X a person", "O a person", "X to move.", without=["A new game"])
    screen.press(ENTER, "left", ENTER, "k", " ", "l", ENTER)
    screen.until("1. X b2 O a2", "2. X a1 O b1", "O played b1. X to move.")
    assert screen.marks() == {"b2": "X", "a2": "O", "a1": "X", "b1": "O"}
    for key, ply in (("\x1b[5~", 3), ("home", 0), ("\x1b[6~", 1), ("end", 4), ("[", 3), ("\x1b", 4)):
        screen.press(key).until(f"Position after {ply} of 4 moves.")
    screen.press(":", "c", "\x7f", "\b", "c", "3", ENTER).until("X has won: X completed a line.", "n new")
    screen.press("n").until("3,3,3 · 1 X won", "X to move.", without=["1. X"])
    assert screen.marks() == {}
    assert screen.press("a", "1", "q").ended() == 0
    assert len(list(games.iterdir())) == 2


def test_a_game_is_played_by_the_mouse_alone(show_on_terminal: ShowOnTerminal, stores: Path, games: Path) -> None:
    screen = show_on_terminal("--store", stores, "--seed", 1).until("A new game", "4,4,4")
    row, column = screen.find("4,4,4 →")
    screen.click(row, column + 6).until("← 3,3,3 →")
    screen.click_on("Begin").until("Your turn.", without=["A new game"])
    while "n new" not in screen.said:
        made = len(screen.marks())
        screen.click(*next(at for at in screen.centers().values() if screen.look(*at)[0] == "·"))
        screen.wait(lambda made=made: len(screen.marks()) > made + 1 or "n new" in screen.said)
    plies = len(screen.marks())
    for button, ply in ((64, plies - 1), (64, plies - 2), (65, plies - 1)):
        screen.click(3, 3, button).wait(lambda ply=ply: len(screen.marks()) == ply)
    assert re.search(r"3,3,3 · \d won, \d lost, \d drawn", screen.said)
    screen.click_on("n new").until("Your turn.", without=["1. X"])
    assert screen.click_on("q quit").ended() == 0
    assert len(list(games.iterdir())) == 1
