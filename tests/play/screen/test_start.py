"""The first picture: the menu unless options say what to play, and nothing is loaded that it can do without."""

from pathlib import Path

import pytest
from screens import Show, ShowOnTerminal
from sessions import COMMAND, HUMANS, THREE

NOT_NEEDED = {
    "numba", "numpy", "llvmlite", "multiprocessing", "asyncio", "http", "socket", "ssl", "uvicorn", "httptools",
    "msgspec", "play.server", "play.lab", "play.arena", "play.screen.menu", "play.screen.puzzle", "solver.search.live",
    "solver.store.writer", "solver.proof.build",
}  # fmt: skip
LISTED = """#!{python}
import atexit, os, sys
from pathlib import Path

leave = os._exit

def leaving(code):
    Path("modules").write_text(" ".join(sorted(sys.modules)))
    leave(code)

os._exit = leaving
from solver.start import play
play()
"""


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Let the command write down at its end what it has loaded."""
    command = Path("listed")
    command.write_text(LISTED.replace("{python}", str(Path(COMMAND).with_name("python"))))
    command.chmod(0o755)
    monkeypatch.setattr("screens.COMMAND", str(command.absolute()))


@pytest.mark.usefixtures("listed")
def test_while_a_store_answers_little_is_loaded(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, "--o", "oracle", "--store", store3).until("Your turn.")
    screen.press(*"b2s").until("O played", "All moves").asleep()
    assert screen.press("t", "q").ended() == 0
    modules = set(Path("modules").read_text().split())
    assert {"curses", "play.screen.game", "solver.store.store"} <= modules
    assert not modules & NOT_NEEDED


def test_without_a_word_of_what_to_play_the_menu_comes_first(show: Show, stores: Path) -> None:
    screen = show("--store", stores).until("A new game", "Game ← 4,4,4 →", "Opponent ← oracle →", "Level ← 4 →")
    screen.press("\x1b").until("4,4,4", "O oracle, level 4", "Your turn.", without=["A new game"])


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([*THREE], "O oracle, level 4"), ([*THREE, "--level", "7"], "O oracle, level 7"),
        ([*THREE, "--o", "oracle"], "O oracle"), ([*THREE, *HUMANS], "O a person"),
        ([*THREE, "--board", "X../.O./..."], "Your turn."), ([*THREE, "--x", "first", "--o", "human"], "X first"),
    ],
)  # fmt: skip
def test_options_that_say_what_to_play_begin_it(arguments: list[str], shown: str, show: Show, store3: Path) -> None:
    show(*arguments, "--store", store3).until(shown, "3,3,3", without=["A new game", "thinking"])


def test_the_offer_of_a_store_comes_before_the_screen(show_on_terminal: ShowOnTerminal, home: Path) -> None:
    screen = show_on_terminal(*THREE, *HUMANS).until("There is no store for 3,3,3 yet.")
    assert b"\x1b[?1049h" not in screen.written
    screen.press("n\n").until("X to move.")
    assert not (home / "data").exists()
