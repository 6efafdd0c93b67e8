"""Keys while a machine thinks, players of one's own that fail or talk, and notices that nobody has asked for."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from screens import ENTER, Screen, Show
from sessions import THREE

PLAYERS = """
import threading

go = threading.Event()

class Player:
    def __init__(self, rules, seed):
        self.rules = rules

class Waiting(Player):
    def choose(self, state):
        go.wait()
        return self.rules.legal(state)[0]

class Raising(Player):
    def choose(self, state):
        raise ValueError("boom")

class Talking(Player):
    def choose(self, state):
        print("I take the last one.")
        return self.rules.legal(state)[-1]
"""


@pytest.fixture
def against(show: Show, store3: Path) -> Callable[[str], Screen]:
    """A game against some player, in which X claims b2."""
    Path("slow.py").write_text(PLAYERS)
    return lambda who: show(*THREE, "--o", who, "--store", store3).until("Your turn.").press(ENTER)


@pytest.fixture
def waiting(against: Callable[[str], Screen]) -> Screen:
    """A game in which X has claimed b2, and O thinks."""
    return against("slow:Waiting").until("O, slow:Waiting, is thinking …")


def let_move() -> None:
    sys.modules["slow"].go.set()


def test_whoever_resigns_while_the_other_thinks_has_lost(waiting: Screen) -> None:
    waiting.press(*"xx").until("O has won: X resigned.", "0 won, 1 lost, 0 drawn")
    let_move()
    waiting.asleep()
    assert waiting.marks() == {"b2": "X"}


def test_a_reply_that_comes_after_an_undo_is_dropped_and_so_is_its_error(waiting: Screen) -> None:
    waiting.press("u").until("Your turn.", without=["thinking"])
    waiting.press(*"a1").until("is thinking …")
    let_move()
    waiting.until("O played b1. Your turn.").asleep()
    assert waiting.marks() == {"a1": "X", "b1": "O"}


def test_whoever_changes_sides_while_the_other_thinks_moves_himself(waiting: Screen) -> None:
    waiting.press("z").until("You have changed sides.", "X slow:Waiting", "O you", without=["thinking"])
    let_move()
    waiting.asleep()
    assert waiting.marks() == {"b2": "X"}
    waiting.press(*"c3").until("X played a1. Your turn.")


def test_while_another_player_thinks_the_oracle_answers(waiting: Screen) -> None:
    waiting.press("s", "t").until("The oracle would play a1")
    let_move()
    waiting.until("O played a1. Your turn.")


def test_another_game_begins_though_a_player_is_still_thinking(waiting: Screen) -> None:
    waiting.press(":", *"game 3,3,3", ENTER).until("Your turn.", without=["thinking", "1. X b2"])
    let_move()
    waiting.asleep()
    assert waiting.marks() == {}


def test_a_player_that_fails_is_named_with_what_helps(against: Callable[[str], Screen]) -> None:
    told = "Slow:Raising as O: ValueError: boom: u takes your move back, m chooses another opponent."
    screen = against("slow:Raising").until(told)
    screen.press(*"a1").until(told)
    screen.press("!").until("O oracle, level 10", "1. X b2 O ", "Your turn.")


def test_what_a_player_prints_comes_when_the_screen_is_gone(against: Callable[[str], Screen]) -> None:
    screen = against("slow:Talking").until("O played c3. Your turn.", without=["I take"])
    assert screen.press("q").ended() == 0
    assert "I take the last one." in screen.text


def test_where_games_cannot_be_kept_that_is_said_at_the_first_move(
    against: Callable[[str], Screen], home: Path
) -> None:
    (home / "state").write_text("")
    screen = against("first").until(
        "Games cannot be kept: Not a directory. Save this one elsewhere: save FILE. O played a1."
    )
    screen.press(*"c3").until("O played", without=["Games cannot be kept"])


def test_the_score_counts_a_game_for_whoever_sat_there_when_it_ended(show: Show, store3: Path) -> None:
    screen = show(*THREE, "--o", "first", "--store", store3).until("Your turn.")
    screen.press(*"xx").until("0 won, 1 lost, 0 drawn")
    screen.press("z").until("You have changed sides.", "0 won, 1 lost, 0 drawn")


def test_after_the_strongest_opponent_the_one_before_comes_back(show: Show, store3: Path) -> None:
    screen = show(*THREE, "--level", 10, "--store", store3).until("O oracle, level 10")
    screen.press("!").until("O is oracle, level 4 from now on.")
    screen.press("!", "!").until("O is oracle, level 4 from now on.")
