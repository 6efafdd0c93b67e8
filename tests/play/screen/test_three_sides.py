"""A game of three sides on a screen: its marks, its players, the menu, and a side that leaves."""

import pytest
from screens import ENTER, Screen, Show
from sessions import HUMANS

THREE = ["--game", "3p:4,4,3"]


@pytest.fixture
def three(show: Show) -> Screen:
    """A game between three people, before its first move."""
    return show(*THREE, *HUMANS, "--z", "human").until("▸ X a person", "O a person", "Z a person", "X to move.")


def test_three_people_move_in_turn(three: Screen) -> None:
    three.press(*"a1", *"b1", *"c1").until("Z played c1. X to move.")
    assert three.marks() == {"a1": "X", "b1": "O", "c1": "Z"}


def test_the_moves_are_listed_three_a_row(three: Screen) -> None:
    three.press(*"a1", *"b1", *"c1", *"d1").until("1. X a1 O b1 Z c1", "2. X d1")


def test_who_resigns_leaves_and_the_others_play_on(three: Screen) -> None:
    three.press(*"a1", *"b1", "x", "x").until("Z has left. X to move.", "Z a person, has left")
    three.press(*"a2", *"b2", *"a3").until("X has won: X completed a line.", "1 X won")
    three.press("u", "u", "u", "u").until("Z to move.", without=["has left"])


def test_the_last_one_left_wins(three: Screen) -> None:
    three.press("x", "x", "x", "x").until("Z has won: the others have left.")


@pytest.mark.parametrize(("key", "told"), [("s", "Only games of two sides have an oracle, and 3p:4,4,3 has 3: its"),
                                           ("t", "Only games of two sides have an oracle"), ("v", "Only games of two"),
                                           ("w", "Only games of two sides have an oracle"),
                                           ("p", "Only games of two sides have puzzles")])  # fmt: skip
def test_what_needs_an_oracle_says_so(three: Screen, key: str, told: str) -> None:
    three.press(*"a1").until("O to move.").press(key).until(told)


def test_players_change_sides_by_one(show: Show) -> None:
    screen = show(*THREE, "--o", "random", "--z", "rules").until("X you", "O random", "Z rules", "Your turn.")
    screen.press("z").until("X rules", "O you", "Z random")


def test_it_is_chosen_in_the_menu(show: Show) -> None:
    menu = show("--live").until("A new game", "Game ← 4,4,4 →")
    menu.press("up", "up", "up", "up", "left", ENTER).until("Game (such as")
    menu.press(*"3p:3,3,3", ENTER).until("← 3p:3,3,3 →", "Opponent ← mcts →", "Level ← none →")
    menu.press("down")
    for playing in ("O", "Z", "all sides", "none: watch", "X, and begin", "O", "Z"):
        menu.press("right").until(f"You play ← {playing} →")
    menu.press("down", "right", "right").until("Opponent ← random →").press("down", "down", ENTER)
    menu.until("X random", "O random", "Z you", "Your turn.", without=["A new game"])


def test_another_game_keeps_the_players_that_it_has(three: Screen) -> None:
    three.press(":", *"game 3,3,3", ENTER).until("3,3,3", "X a person", "O a person", "X to move.", without=["Z"])
    three.press(":", *"game 4p:3,3,3", ENTER).until("X a person", "O a person", "Z mcts", "T mcts")
