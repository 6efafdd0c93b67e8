"""Going back in a game, and on from there."""

from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, Screen, Show
from sessions import HUMANS, THREE

from play.records.files import load_record

MADE = ["b2", "a1", "c3", "a3"]


@pytest.fixture
def screen(show: Show, store3: Path) -> Screen:
    """A game between two people, four moves old."""
    screen = show(*THREE, *HUMANS, "--store", store3)
    screen.until("X to move.")
    screen.press(*"".join(MADE))
    screen.until("O played a3. X to move.")
    return screen


def seen(screen: Screen, ply: int) -> None:
    """Wait until the position after so many moves is shown."""
    screen.until(f"Position after {ply} of 4 moves.")
    assert screen.marks() == {cell: "XO"[at % 2] for at, cell in enumerate(MADE[:ply])}


def test_keys_go_back_and_on_and_to_both_ends(screen: Screen) -> None:
    for key, ply in zip(["[", "[", "]", "home", "[", "end", "[", "home", "]", "]", "]", "]", "]"],
                        [3, 2, 3, 0, 0, 4, 3, 0, 1, 2, 3, 4, 4], strict=True):  # fmt: skip
        screen.press(key)
        seen(screen, ply)
    screen.press(*"c1")
    screen.until("X played c1.")


def test_whose_turn_it_was_is_told_of_the_position_that_is_seen(screen: Screen) -> None:
    screen.press("[")
    screen.until("▸ O a person", "after 3 of 4")
    screen.press("[")
    screen.until("▸ X a person", "after 2 of 4")


def test_escape_returns_to_the_game(screen: Screen) -> None:
    screen.press("home")
    seen(screen, 0)
    screen.press(ESCAPE)
    seen(screen, 4)


def test_a_move_from_an_earlier_position_goes_on_from_there(screen: Screen, games: Path) -> None:
    screen.press("[", "[")
    seen(screen, 2)
    screen.press(*"c1")
    screen.until("X played c1. O to move.", "2. X c1")
    assert screen.marks() == {"b2": "X", "a1": "O", "c1": "X"}
    (path,) = games.iterdir()
    match = load_record(str(path)).match
    assert [match.rules.write(move) for move in match.moves] == ["b2", "a1", "c1"]
    assert [event.kind for event in match.events] == ["moved"] * 4 + ["took back"] * 2 + ["moved"]


def test_a_game_goes_on_from_where_it_is_seen(screen: Screen) -> None:
    screen.press("home", "]", "o")
    screen.until("X played b2. O to move.", without=["Position after"])
    assert screen.marks() == {"b2": "X"}


def test_an_opponent_moves_again_from_its_own_turn(show: Show, store3: Path) -> None:
    screen = show(*THREE, "--o", "first", "--store", store3)
    screen.until("Your turn.")
    screen.press(*"b1")
    screen.until("O played a1.")
    screen.press("[")
    screen.until("Position after 1 of 2 moves.")
    screen.press(*"c3")
    screen.until("O is to move here, first; o plays on from here.")
    screen.press("o")
    screen.until("O played a1. Your turn.")


def test_a_game_that_has_ended_is_looked_at_and_goes_on_from_before_its_end(screen: Screen) -> None:
    screen.press(*"c1b1a2c2")
    screen.press(*"b3")
    screen.until("3,3,3 · 1 drawn", "n new", "X made 5 moves")
    screen.press("[", "[")
    screen.wait(lambda: len(screen.marks()) == 7)
    screen.press("o")
    screen.until("X played a2. O to move.", without=["n new  v"])
    screen.press(ENTER)
    screen.until("O played b3. X to move.")
