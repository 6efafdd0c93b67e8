"""Terminals of every kind: what can be shown there and, without colour or with ASCII alone, still told apart."""

import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import pytest
from screens import COLOURS, ENTER, Show, ShowOnTerminal, TerminalScreen
from sessions import HUMANS, THREE

KINDS = [
    "linux", "vt100",
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("xterm", "xterm-256color", "screen", "tmux-256color")),
]  # fmt: skip
ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
NOT_OF_THE_CONSOLE = set("╲╱╳╭╮╰╯●▸▾┏┓┗┛━┃…–")


def won(screen: TerminalScreen) -> None:
    """Play a game that X wins by a1, b2 and c3."""
    screen.until("X to move.")
    screen.press(ENTER, "left", ENTER, "up", ENTER, "right", ENTER, "c", "3").until("X has won: X completed a line.")
    screen.asleep()
    assert screen.marks() == {"b2": "X", "a2": "O", "a1": "X", "b1": "O", "c3": "X"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_terminal_has_a_game(kind: str, show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    infocmp = shutil.which("infocmp")
    if infocmp and subprocess.run([infocmp, kind], capture_output=True).returncode:
        pytest.skip(f"terminfo does not know {kind}")
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, TERM=kind)
    won(screen)
    assert screen.press("q").ended() == 0
    assert screen.modes == screen.before
    if kind == "linux":
        assert not NOT_OF_THE_CONSOLE & set(screen.written.decode())


def test_where_text_is_ascii_only_ascii_is_written(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, **ASCII, TERM="xterm").until("X to move.")
    screen.press("?").until("Keys", "claim the cell of the cursor")
    screen.press(ENTER, "m").until("A new game")
    won(screen.press("q"))
    assert screen.press("s", "q").ended() == 0
    assert screen.written.isascii()


def test_marks_and_frames_are_drawn_whatever_the_locale(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, LC_ALL="C", PYTHONUTF8="0")
    won(screen)
    frame = set("".join(screen.lines[2:15])) & set("─│┼-|+")
    assert frame in ({"─", "│", "┼"}, {"-", "|", "+"})


def test_without_colour_nothing_is_lost(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, NO_COLOR="1").until("X to move.")
    screen.press(*"a2b2s").until("X to move.", "O played b2.", "draws").asleep()
    at = screen.centers()
    x, o, last = (screen.lines[at[cell][0]][at[cell][1] - 4 : at[cell][1] + 5] for cell in ("a2", "b2", "b2"))
    assert x != o
    assert "[" in last
    assert "]" in last
    assert "[" not in x
    assert {screen.lines[row][column - 1 : column + 3].strip(" │┃") for row, column in at.values()} >= {"=*"}
    assert screen.cursor() == "b2"
    screen.press("s", *"a1b3a3").until("X has won").asleep()
    starred = {
        cell for cell, (row, column) in screen.centers().items() if "*" in screen.lines[row][column - 3 : column + 4]
    }
    assert starred == {"a1", "a2", "a3"}
    assert screen.press("q").ended() == 0
    assert not COLOURS.search(screen.written)


def test_looks_differ_by_more_than_colour_wherever_they_mean_different_things(show: Show, store3: Path) -> None:
    screen = show(*THREE, *HUMANS, "--store", store3, rows=10, columns=30).until("X to move.")
    screen.press(*"a1b2", "down").until("O played b2").asleep()
    looks = {
        cell: screen.look(row, column) + tuple(screen.lines[row][column - 1 : column + 2])
        for cell, (row, column) in screen.centers().items()
    }
    shown = [looks[cell] for cell in ("a1", "b2", "b3", "c3")]  # a mark, the last move, the cursor, an empty cell
    assert all(one != other for one, other in combinations(shown, 2))


def test_colours_are_written_where_nobody_minds(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3)
    won(screen)
    assert COLOURS.search(screen.written)
    at = screen.centers()
    assert screen.colour(*at["b2"]) != screen.colour(at["a2"][0] - 1, at["a2"][1])
