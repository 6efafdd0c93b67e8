"""Terminals of every kind: what can be shown there and, without colour or with ASCII alone, still told apart."""

import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from screens import COLOURS, ENTER, Show, ShowOnTerminal, TerminalScreen
from sessions import HUMANS, THREE

KINDS = ("xterm", "xterm-256color", "linux", "screen", "tmux-256color", "vt100")
ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
NOT_OF_THE_CONSOLE = set("╲╱╳╭╮╰╯●▸▾┏┓┗┛━┃…–")


def kinds(*by_default: str) -> list[Any]:
    """Return kinds of terminals, of which some are slow."""
    return [kind if kind in by_default else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]


@pytest.fixture
def known(kind: str) -> str:
    """Return the name of a kind of terminal that this machine knows."""
    infocmp = shutil.which("infocmp")
    if infocmp and subprocess.run([infocmp, kind], capture_output=True).returncode:
        pytest.skip(f"terminfo does not know {kind}")
    return kind


def won(screen: TerminalScreen) -> None:
    """Play a game that X wins by a1, b2 and c3."""
    screen.until("X to move.")
    screen.press(ENTER, "left", ENTER, "up", ENTER, "right", ENTER, "c", "3")
    screen.until("X has won: X completed a line.")
    screen.asleep()
    assert screen.marks() == {"b2": "X", "a2": "O", "a1": "X", "b1": "O", "c3": "X"}


@pytest.mark.parametrize("kind", kinds("linux", "vt100"))
def test_a_game_can_be_played_on_every_kind_of_terminal(
    known: str, show_on_terminal: ShowOnTerminal, store3: Path
) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, TERM=known)
    won(screen)
    screen.press("q")
    assert screen.ended() == 0
    assert screen.modes == screen.before
    if known == "linux":
        assert not NOT_OF_THE_CONSOLE & set(screen.written.decode())


@pytest.mark.parametrize("kind", kinds("xterm"))
def test_where_text_is_ascii_only_ascii_is_written(known: str, show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, **ASCII, TERM=known)
    screen.until("X to move.")
    screen.press("?")
    screen.until("Keys", "claim the cell of the cursor")
    screen.press(ENTER, "m")
    screen.until("A new game")
    screen.press("q")
    won(screen)
    screen.press("s", "q")
    assert screen.ended() == 0
    assert screen.written.isascii()


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
        *(pytest.param(env, marks=pytest.mark.slow) for env in ({"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"})),
    ],
)
def test_marks_and_frames_are_drawn_whatever_the_locale(
    env: dict[str, str], show_on_terminal: ShowOnTerminal, store3: Path
) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, **env)
    won(screen)
    frame = set("".join(screen.lines[2:15])) & set("─│┼-|+")
    assert frame in ({"─", "│", "┼"}, {"-", "|", "+"})


@pytest.mark.parametrize("kind", kinds("xterm-256color"))
def test_without_colour_nothing_is_lost(known: str, show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS, "--store", store3, NO_COLOR="1", TERM=known)
    screen.until("X to move.")
    screen.press(*"a2b2s")
    screen.until("X to move.", "O played b2.", "draws")
    screen.asleep()
    at = screen.centers()
    x, o, last = (screen.lines[at[cell][0]][at[cell][1] - 4 : at[cell][1] + 5] for cell in ("a2", "b2", "b2"))
    assert x != o
    assert "[" in last
    assert "]" in last
    assert "[" not in x
    assert {screen.lines[row][column - 1 : column + 3].strip(" │┃") for row, column in at.values()} >= {"=*"}
    assert screen.cursor() == "b2"
    screen.press("s", *"a1b3a3")
    screen.until("X has won")
    screen.asleep()
    starred = {
        cell for cell, (row, column) in screen.centers().items() if "*" in screen.lines[row][column - 3 : column + 4]
    }
    assert starred == {"a1", "a2", "a3"}
    screen.press("q")
    assert screen.ended() == 0
    assert not COLOURS.search(screen.written)


def test_looks_differ_by_more_than_colour_wherever_they_mean_different_things(show: Show, store3: Path) -> None:
    screen = show(*THREE, *HUMANS, "--store", store3, rows=10, columns=30)
    screen.until("X to move.")
    screen.press(*"a1b2", "down")
    screen.until("O played b2")
    screen.asleep()
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
