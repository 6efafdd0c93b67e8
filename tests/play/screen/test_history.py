"""Going back in a game, and on from there."""

from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, Screen, Show
from sessions import THREE, moves_in

from play.records.files import load_record

MADE = ["b2", "a1", "c3", "a3"]


@pytest.fixture
def screen(people: Screen) -> Screen:
    """A game between two people, four moves old."""
    return people.press(*"".join(MADE)).until("O played a3. X to move.")


def seen(screen: Screen, ply: int) -> None:
    """Wait until the position after so many moves is shown."""
    screen.until(f"Position after {ply} of 4 moves.")
    assert screen.marks() == {cell: "XO"[at % 2] for at, cell in enumerate(MADE[:ply])}


def test_keys_go_back_and_on_and_to_both_ends(screen: Screen) -> None:
    for key, ply in zip(["[", "[", "]", "home", "[", "end", "[", "home", ESCAPE, "home", "]", "]", "]", "]", "]"],
                        [3, 2, 3, 0, 0, 4, 3, 0, 4, 0, 1, 2, 3, 4, 4], strict=True):  # fmt: skip
        screen.press(key)
        seen(screen, ply)
    screen.press(*"c1").until("X played c1.")


def test_whose_turn_it_was_is_told_of_the_position_that_is_seen(screen: Screen) -> None:
    screen.press("[").until("▸ O a person", "after 3 of 4")
    screen.press("[").until("▸ X a person", "after 2 of 4")


def test_a_move_from_an_earlier_position_goes_on_from_there(screen: Screen, games: Path) -> None:
    screen.press("[", "[")
    seen(screen, 2)
    screen.press(*"c1").until("X played c1. O to move.", "2. X c1")
    assert screen.marks() == {"b2": "X", "a1": "O", "c1": "X"}
    (path,) = games.iterdir()
    assert moves_in(path) == ["b2", "a1", "c1"]
    assert [event.kind for event in load_record(str(path)).match.events] == ["moved"] * 4 + ["took back"] * 2 + [
        "moved"
    ]


def test_a_game_goes_on_from_where_it_is_seen(screen: Screen) -> None:
    screen.press("home", "]", "o").until("X played b2. O to move.", without=["Position after"])
    assert screen.marks() == {"b2": "X"}


def test_an_opponent_moves_again_from_its_own_turn(show: Show, store3: Path) -> None:
    screen = show(*THREE, "--o", "first", "--store", store3).until("Your turn.")
    screen.press(*"b1").until("O played a1.")
    screen.press("[").until("Position after 1 of 2 moves.")
    screen.press(*"c3").until("O is to move here, first; o plays on from here.")
    screen.press("o").until("O played a1. Your turn.")


def test_a_game_that_has_ended_is_looked_at_and_goes_on_from_before_its_end(screen: Screen) -> None:
    screen.press(*"c1b1a2c2")
    screen.press(*"b3").until("3,3,3 · 1 drawn", "n new", "X made 5 moves")
    screen.press("[", "[").wait(lambda: len(screen.marks()) == 7)
    screen.press("o").until("X played a2. O to move.", without=["n new  v"])
    screen.press(ENTER).until("O played b3. X to move.")
