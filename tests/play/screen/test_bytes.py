"""What is written: only what has changed, which keeps a game playable over a slow line."""

from pathlib import Path
from select import select

import pytest
from screens import ENTER, Screen, Show
from sessions import HUMANS, THREE

STEP, MOVE, TYPED = 400, 500, 1000
"""How many bytes may be written at 80x24 on xterm-256color: for a step of the cursor (278 on 3,3,3), for a move at the
cursor with its reply (324), and for one whose cell is typed, to which the cursor goes (807)."""


def written_by(screen: Screen, *keys: str, until: str) -> int:
    """Return how many bytes are written from some keys on, up to where a cell has the cursor and all is done."""
    screen.asleep()
    before = len(screen.written)
    screen.press(*keys)
    screen.wait(lambda: screen.cursor() == until and len(screen.written) > before)
    screen.asleep()
    return len(screen.written) - before


@pytest.mark.parametrize("game", ["3,3,3", "4,4,4", "15,15,5"])
def test_a_step_of_the_cursor_writes_little(game: str, show: Show, stores: Path) -> None:
    screen = show("--game", game, *HUMANS, *(["--store", stores] if game != "15,15,5" else []))
    screen.until("X to move.")
    here = screen.cursor()
    there = chr(ord(here[0]) - 1) + here[1:]
    assert 0 < written_by(screen, "left", until=there) <= STEP
    assert 0 < written_by(screen, "right", until=here) <= STEP


@pytest.mark.parametrize("game", ["3,3,3", "4,4,4"])
def test_a_move_and_its_reply_write_little(game: str, show: Show, stores: Path) -> None:
    screen = show("--game", game, "--o", "first", "--store", stores)
    screen.until("Your turn.")
    for keys, most in (([ENTER], MOVE), ("c1", TYPED), ("a2", TYPED)):
        screen.asleep()
        made, before = len(screen.marks()), len(screen.written)
        screen.press(*keys)
        screen.wait(lambda made=made: len(screen.marks()) == made + 2)
        screen.until("O played")
        screen.asleep()
        assert 0 < len(screen.written) - before <= most, keys


def test_where_nothing_changes_nothing_is_written(show: Show, store3: Path) -> None:
    screen = show(*THREE, *HUMANS, "--store", store3)
    screen.until("X to move.")
    screen.asleep()
    before = len(screen.written)
    screen.press("9", "0", "G", "9")  # none of which means anything now
    screen.asleep()
    assert not select([screen.terminal], [], [], 0.3)[0]
    screen.press("left")
    screen.wait(lambda: screen.cursor() == "a2")
    screen.asleep()
    said = screen.written[before:]
    assert len(said) <= STEP
