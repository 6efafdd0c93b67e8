"""Every way to leave the screen: the terminal is as before, the game is kept, and a line says how to go on."""

import signal
from pathlib import Path

import pytest
from screens import Screen, Show, ShowOnTerminal, TerminalScreen
from sessions import HUMANS, KEPT, THREE, moves_in

WAYS = {
    "Ctrl-C": ("\x03", 0, 130, "Interrupted.\n"),
    "SIGTERM": ("", signal.SIGTERM, 143, "Terminated.\n"),
    "SIGHUP": ("", signal.SIGHUP, 129, "Hung up.\n"),
    "q": ("q", 0, 0, ""),
}
SCREEN, HIDDEN, MOUSE = "\x1b[?1049", "\x1b[?25", "\x1b[?1006;1000"
"""What is switched on by `h` and off by `l`: the other screen, the cursor, and the mouse."""


def begun(screen: Screen | TerminalScreen, *cells: str) -> None:
    """Make moves in a game between two people, and wait until they are shown."""
    screen.until("X to move.")
    screen.press(*"".join(cells))
    if cells:
        screen.until(f"played {cells[-1]}.")
    screen.asleep()


def given_back(screen: TerminalScreen) -> str:
    """Check that the terminal is as before, and return all that was written."""
    assert screen.modes == screen.before
    written = screen.written.decode()
    for mode, end in ((SCREEN, "l"), (HIDDEN, "h"), (MOUSE, "l")):
        assert written[written.rindex(mode) + len(mode)] == end
    return written


def leave(screen: TerminalScreen, way: str) -> None:
    """Leave in some way, and check that the terminal is given back."""
    key, number, code, last = WAYS[way]
    if number:
        screen.signal(number)
    screen.press(*key)
    assert screen.ended() == code
    written = given_back(screen)
    told = written[written.rindex(f"{SCREEN}l") :].replace("\r\n", "\n")
    assert told.endswith(last)
    assert "Traceback" not in told


@pytest.mark.parametrize("way", WAYS)
def test_leaving_restores_the_terminal(way: str, show_on_terminal: ShowOnTerminal, store3: Path, games: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3)
    begun(screen, "b2", "a1", "c3")
    assert screen.modes != screen.before
    leave(screen, way)
    assert screen.written.decode().replace("\r\n", "\n").endswith(KEPT + WAYS[way][3])
    assert moves_in(games) == ["b2", "a1", "c3"]


def test_the_menu_and_a_thinking_opponent_can_be_left_too(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    Path("slow_players.py").write_text(
        "import time\n\nclass Slow:\n    def __init__(self, rules, seed):\n        pass\n\n"
        "    def choose(self, state):\n        time.sleep(60)\n"
    )
    screen = show_on_terminal(*THREE, "--x", "slow_players:Slow", "--store", store3)
    screen.until("slow_players:Slow, is thinking")
    screen.press("m").until("A new game")
    leave(screen, "Ctrl-C")


def test_a_game_that_is_left_is_resumed(show: Show, store3: Path, games: Path) -> None:
    begun(first := show(*THREE, *HUMANS, "--store", store3), "b2", "a1", "c3")
    first.press("q")
    assert (first.ended(), first.printed) == (0, KEPT)
    second = show("resume", "--store", store3).until("O to move.", "1. X b2 O a1", "2. X c3")
    assert second.marks() == {"b2": "X", "a1": "O", "c3": "X"}
    second.press(*"a3").until("O played a3.")
    second.press("q")
    assert (second.ended(), second.printed) == (0, KEPT)
    assert moves_in(games) == ["b2", "a1", "c3", "a3"]


def test_a_stopped_game_goes_on_redrawn(show_on_terminal: ShowOnTerminal, store3: Path, games: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3)
    begun(screen, "b2", "a1")
    during, text = screen.modes, screen.text
    screen.press("\x1a")
    screen.stopped()
    screen.read()
    given_back(screen)
    screen.garble()
    screen.signal(signal.SIGCONT).wait(lambda: screen.text == text).wait(lambda: screen.modes == during)
    screen.garble()
    screen.press("\x0c").wait(lambda: screen.text == text)
    screen.press("down").wait(lambda: screen.cursor() == "a2")
    screen.press(*"c3").until("X played c3.")
    row, column = screen.centers()["a3"]
    screen.click(row, column).until("O played a3.").asleep()
    screen.press("\x1a")
    screen.stopped()
    screen.resize(15, 40, while_stopped=True)
    screen.signal(signal.SIGCONT).until("X to move.", "Enter play")
    assert screen.marks() == {"b2": "X", "a1": "O", "c3": "X", "a3": "O"}
    leave(screen, "q")
    assert moves_in(games) == ["b2", "a1", "c3", "a3"]


@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_window_ends_all(ignored: bool, show_on_terminal: ShowOnTerminal, store3: Path, games: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, hangup_ignored=ignored)
    begun(screen, "b2")
    screen.hang_up()
    screen.ended()  # with a code that nobody reads
    assert not Path(f"/proc/{screen.child}").exists()
    assert moves_in(games) == ["b2"]
