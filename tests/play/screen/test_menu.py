"""The menu: every choice, another game or player typed in, and errors that cost a sentence."""

from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, Screen, Show

from play.screen.menu import GAMES


@pytest.fixture
def menu(show: Show) -> Screen:
    """The menu that comes first, with the cursor on Begin, where every game is searched live."""
    return show("--live").until("A new game", "Game ← 4,4,4 →")


def choose(menu: Screen, row: int, *keys: str) -> Screen:
    """Go up to a row from Begin, and press keys."""
    return menu.press(*["up"] * (4 - row), *keys)


def test_every_game_that_is_offered_can_be_chosen(menu: Screen) -> None:
    choose(menu, 0)
    for game in [*GAMES[1:], "another …", *GAMES[:2]]:
        menu.press("right").until(f"← {game} →")
    for game in [GAMES[0], "another …", *GAMES[::-1]]:
        menu.press("left").until(f"← {game} →")


def test_sides_opponents_and_levels_are_chosen(menu: Screen) -> None:
    choose(menu, 1)
    for playing in ("O", "both sides", "none: watch", "X, and begin"):
        menu.press("right").until(f"You play ← {playing} →")
    menu.press("down")
    for opponent in ("first", "mcts", "rules", "random"):
        menu.press("l").until(f"Opponent ← {opponent} →", "Level ← none →")
    menu.press("h", "h", "h", "h", "down")
    for level in ("5", "6", "7", "8", "9", "10, the best"):
        menu.press("right").until(f"Level ← {level} →")
    menu.press("right", "left").until("Level ← 9 →")


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (["right"], ["X oracle, level 4", "O you"]), (["right", "right"], ["X a person", "O a person"]),
        (["right", "down", "right"], ["X first", "O you"]), (["down", "right", "right", "right"], ["X you", "O rules"]),
        (["down", "down", "right"], ["X you", "O oracle, level 5"]),
    ],
)  # fmt: skip
def test_what_is_chosen_is_played(keys: list[str], shown: list[str], menu: Screen) -> None:
    choose(menu, 0, "right", "down", *keys, ENTER)
    menu.until("3,3,3", *shown, without=["A new game", "Beginning", "thinking"])


def test_two_machines_can_be_watched(menu: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.screen.match_view.WATCHED", 0)
    choose(menu, 0, "right", "down", "left", "down", "right", ENTER)
    menu.until("X first", "O first", "1 drawn", without=["A new game"])
    assert len(menu.marks()) == 9


def test_the_duel_is_played(menu: Screen) -> None:
    choose(menu, 0, *["right"] * GAMES.index("duel,4,4"))
    menu.until("Game ← duel,4,4 →", "R, and begin", "Opponent ← oracle →")
    menu.press("down", "down", "right", "right", "right").until("Opponent ← random →")
    menu.press(ENTER).until("duel,4,4", "R you", "G random", "Your turn.")
    menu.press(ENTER).until("G played", "Your turn.")
    assert menu.look(*menu.find("R you"))[0] == "R"


def test_the_usual_opponent_of_a_game_is_proposed_unless_another_was_chosen(menu: Screen) -> None:
    choose(menu, 0, *["right"] * GAMES.index("duel")).until("← duel →", "Opponent ← search →")
    menu.press("left").until("← duel,4,4 →", "Opponent ← oracle →")
    menu.press("down", "down", "right", "up", "up", "right").until("← duel →", "Opponent ← mcts →")


def test_another_game_is_typed_in(menu: Screen) -> None:
    Path("corners3.toml").write_text('about = "Corners."\nboard = ["...", "...", "..."]\nlines = ["a1 c1 a3"]\n')
    for game, cells in (("2,3,2", 6), ("corners3.toml", 9)):
        choose(menu, 0, *["left"] * (GAMES.index("4,4,4") + 1)).until("← another … →", "Enter type it")
        menu.press(ENTER)
        menu.until("Game (such as")
        menu.press(*game, ENTER)
        menu.until("A new game", without=["(such as", "← 4,4,4 →"])
        menu.press("down", "down", "down", "down", ENTER).until("Your turn.", without=["A new game", "4,4,4"])
        assert len(menu.centers()) == cells
        menu.press("m").until("A new game")
        choose(menu, 0, "right").until("← 4,4,4 →")
        menu.press("down", "down", "down", "down")


@pytest.mark.parametrize(
    ("row", "typed", "told"),
    [
        (0, "nonsense", "No game 'nonsense'"), (0, "1,1", "Cannot read game '1,1'"),
        (2, "nobody", "No player 'nobody'"),
        (0, "no.toml", "no.toml"), (2, "oracle:99", "No player 'oracle:99'"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_in_the_menu(row: int, typed: str, told: str, menu: Screen) -> None:
    choose(menu, row, "left", ENTER)
    menu.until("(such as")
    menu.press(*typed, ENTER).until(told, "A new game", "← another … →")
    menu.press("right").until("← 4,4,4 →", "← oracle →")
    menu.press(ESCAPE).until("Your turn.", without=["A new game"])


def test_a_player_that_the_game_does_not_have_is_refused_when_it_begins(menu: Screen) -> None:
    choose(menu, 2, "left", ENTER)
    menu.press(*"priority", ENTER).until("← priority →")
    menu.press(ENTER)
    menu.until("Only games of capture have the player 'priority', and 4,4,4 is not one.", without=["A new game"])
    menu.press("m").until("A new game")


def test_a_player_is_typed_in(menu: Screen) -> None:
    choose(menu, 0, "right", "down", "down", "left", ENTER)
    menu.press(*"oracle:7", ENTER).until("← oracle →", "← 7 →")
    menu.press(ENTER).until("O oracle, level 7", "Your turn.", without=["A new game"])


@pytest.mark.parametrize("key", [ESCAPE, "q", "m"])
def test_the_menu_is_closed_without_a_change(key: str, menu: Screen) -> None:
    choose(menu, 0, "right", key).until("4,4,4", "Your turn.", without=["A new game"])


def test_every_row_of_the_menu_can_be_clicked(menu: Screen) -> None:
    for label, more, value in (("Game", "← 4,4,4", "← 3,3,3 →"), ("You play", "← X, and begin", "← O →"),
                               ("Opponent", "← oracle", "← first →"), ("Opponent", "← first", "← mcts →")):  # fmt: skip
        menu.click_on(label).until(f"▸ {label}")
        row, column = menu.find(more)
        menu.click(row, column + 2).until(value)
    menu.click(*menu.find("← mcts")).until("← first →")
    menu.click(*menu.find("← first")).until("← oracle →", "← 4 →")
    menu.click_on("Level")
    menu.click(*menu.find("← 4")).until("← 3 →")
    menu.click_on("Begin").until("3,3,3", "X oracle, level 3", "O you", without=["A new game"])
