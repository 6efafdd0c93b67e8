"""What is written: only what has changed, which keeps a game playable over a slow line."""

from pathlib import Path

import pytest
from screens import ENTER, ShowOnTerminal, TerminalScreen
from sessions import HUMANS, THREE

STEP, MOVE, TYPED = 400, 500, 1000
"""How many bytes may be written at 80x24 on xterm-256color: for a step of the cursor (278 on 3,3,3), for a move at the
cursor with its reply (324), and for one whose cell is typed, to which the cursor goes (807)."""


def written_by(screen: TerminalScreen, *keys: str, until: str) -> int:
    """Return how many bytes are written from some keys on, up to where a cell has the cursor and all is done."""
    screen.asleep()
    before = len(screen.written)
    screen.press(*keys).wait(lambda: screen.cursor() == until and len(screen.written) > before).asleep()
    return len(screen.written) - before


@pytest.mark.parametrize("game", ["3,3,3", pytest.param("15,15,5", marks=pytest.mark.slow)])
def test_a_step_of_the_cursor_writes_little_and_other_keys_nothing(game: str, show_on_terminal: ShowOnTerminal) -> None:
    screen = show_on_terminal("--game", game, *HUMANS, "--live").until("X to move.")
    here = screen.cursor()
    there = chr(ord(here[0]) - 1) + here[1:]
    assert 0 < written_by(screen, "left", until=there) <= STEP
    assert 0 < written_by(screen, "right", until=here) <= STEP
    before = len(screen.written)
    screen.press("9", "0", "G", "9")  # none of which means anything now
    screen.asleep()
    assert len(screen.written) == before
    assert written_by(screen, "left", until=there) <= STEP, "nothing was written late either"


def test_a_move_and_its_reply_write_little(show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*THREE, "--o", "first", "--store", store3).until("Your turn.")
    for keys, most in (([ENTER], MOVE), ("c1", TYPED), ("a2", TYPED)):
        screen.asleep()
        made, before = len(screen.marks()), len(screen.written)
        screen.press(*keys).wait(lambda made=made: len(screen.marks()) == made + 2).until("O played")
        screen.asleep()
        assert 0 < len(screen.written) - before <= most, keys
