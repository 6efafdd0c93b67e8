"""What keys do in a game: take back, advise, explain, change sides and players, and give up."""

from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, Screen, Show
from sessions import HUMANS, THREE

FIRST = [*THREE, "--o", "first"]


@pytest.fixture
def screen(show: Show, store3: Path) -> Screen:
    """A game of 3,3,3 against the oracle's first move, where X has made the mistake c1."""
    screen = show(*FIRST, "--store", store3).until("Your turn.")
    for cell, reply in (("b1", "a1"), ("c1", "a2")):
        screen.press(*cell).until(f"O played {reply}. Your turn.")
    return screen


def pointed(screen: Screen) -> set[str]:
    return {cell for cell, at in screen.centers().items() if screen.look(*at)[2]}


def moves(screen: Screen) -> int:
    return len(screen.marks())


def test_undo_takes_back_to_an_own_move_and_redo_makes_it_again(screen: Screen) -> None:
    screen.press("u").wait(lambda: moves(screen) == 2)
    screen.press("u").until("Your turn.", without=["played"])
    assert moves(screen) == 0
    screen.press("u").until("You have made no move to take back.")
    screen.press("r", "r").wait(lambda: moves(screen) == 4)
    screen.press("r").until("Nothing to redo.")


def test_a_hint_names_the_move_of_the_oracle_and_points_at_it(screen: Screen) -> None:
    screen.press("t").until("The oracle would play a3: O wins in 2 moves (4 plies).")
    row, column = screen.centers()["a3"]
    assert screen.look(row, column)[1:3] == (True, True)
    assert not screen.look(*screen.centers()["b3"])[2]
    screen.press(*"a3").until("O played")
    assert not screen.look(*screen.centers()["b3"])[2]


def test_why_tells_what_the_last_moves_changed(screen: Screen) -> None:
    screen.press("w").until("Why", "2. X c1: turned a draw into a loss, O wins in 3 moves (5 plies).", "Enter close")
    screen.press(ENTER).until("2. X c1 O a2", without=["Why"])


def test_a_review_steps_only_through_moves_that_taught_something(screen: Screen) -> None:
    screen.press("v").until("1 of 1: 2. X c1: turned a draw into a loss", "2. X c1? O a2")
    assert moves(screen) == 3
    assert pointed(screen) == {"a2", "b2", "a3", "c3"}
    screen.press("v").until("1 of 1:")
    screen.press(ESCAPE).until("Position after 4 of 4 moves.")
    assert moves(screen) == 4


def test_a_review_after_the_end_counts_the_mistakes_of_both(people: Screen) -> None:
    people.press(*"b2a2a1b1c3")
    people.until("X has won: X completed a line.", "O made 2 moves: 0 best, 1 that changed the outcome.")
    people.press("v").until("1 of 2: 1. O a2: turned a draw into a loss")
    people.press("v").until("2 of 2: 2. O b1: faster loss")
    people.press("v").until("1 of 2:")


def test_the_turning_point_is_told_whole_on_a_small_screen(people: Screen) -> None:
    people.press(*"b2a2a1b1c3").until("X has won", "The turning point was O's a2", "would have held the draw.")


def test_a_review_of_no_move_or_of_no_mistake_says_so(people: Screen) -> None:
    people.press("v").until("No move has been made yet.")
    people.press(*"b2a1v").until("X made 1 move: 1 best", "O made 1 move: 1 best")


def test_whoever_resigns_has_lost_and_may_take_that_back(screen: Screen) -> None:
    screen.press("x").until("Resign? x again gives this game up; any other key goes on.", without=["resigned"])
    screen.press("up").until("Your turn.", without=["Resign?"])
    screen.press("x").until("Resign?")
    screen.press("x").until("3,3,3 · 0 won, 1 lost, 0 drawn", "O has won: X resigned. You lost.", "n new").asleep()
    screen.press("x").until("Nothing to resign: the game is over")
    screen.press("t").until("Nothing to hint at: the game is over")
    screen.press(*"a3").until("The match has ended, O has won: X resigned.")
    screen.press("u").until("O played a2. Your turn.")
    assert moves(screen) == 4


def test_a_game_that_ends_again_after_an_undo_counts_once(people: Screen) -> None:
    people.press(*"b2a2a1b1c3").until("· 1 X won", "n new")
    people.press("u", *"c2", *"c3").until("O played c3")
    people.press("u", "u")
    people.press(*"c3").until("· 1 X won", "X has won")
    people.press("n").until("· 1 X won", "X to move.", without=["1. X"])


def test_swap_gives_the_opponent_the_own_side(screen: Screen) -> None:
    screen.press("z").until("X first", "O you", "X played a3")
    assert moves(screen) == 5


def test_the_opponent_is_made_better_or_worse(show: Show, store3: Path) -> None:
    screen = show(*THREE, "--level", 9, "--store", store3).until("O oracle, level 9", "Your turn.")
    for key, level in (("+", 10), ("+", 10), ("-", 9), ("-", 8)):
        screen.press(key).until(f"O is oracle, level {level} from now on.", f"O oracle, level {level}")
    screen.press("!").until("O is oracle, level 10 from now on.")
    screen.press("!").until("O is oracle, level 8 from now on.")
    for _ in range(9):
        screen.press("-")
    screen.until("O is oracle, level 0 from now on.")


def test_where_there_is_no_level_keys_say_why(screen: Screen, people: Screen) -> None:
    screen.press("+").until("First has no levels; ! calls the strongest opponent.")
    people.press("!").until("There is not one opponent whose level could be set; m chooses players.")


def test_lines_are_those_through_the_cursor(people: Screen) -> None:
    people.press("i").wait(lambda: pointed(people) == set(people.centers()))
    people.press("left").wait(lambda: pointed(people) == {"a1", "a2", "a3", "b2", "c2"})
    people.press("i").wait(lambda: not pointed(people))


def test_a_letter_that_is_a_column_and_a_command_waits_for_more(show: Show) -> None:
    screen = show("--game", "10,10,5", *HUMANS).until("X to move.")
    screen.press("i").until("Cell i_ (Enter: lines)")
    screen.press("\x7f").until("X to move.", without=["Cell i_"])
    screen.press("i", "3").until("X played i3.")
    screen.press("a", "1", "0").until("O played a10.")
    screen.press("a", "1", ENTER).until("X played a1.")


def test_help_lists_every_key(screen: Screen) -> None:
    screen.press("?").until("Keys", "type a cell (a1", "to c3), or click.", "u take back your last move")
    screen.press("down", "down", *["j"] * 20)
    screen.until(": a line to type: save FILE, restart, level 5, game 3,4,3, lines b2")
    screen.press("q").until("Your turn.", without=["Keys"])


def test_clicks_on_buttons_moves_and_the_wheel_mean_keys(screen: Screen) -> None:
    screen.click_on("c1  O").until("Position after 3 of 4 moves.")
    screen.click(5, 5, 64).until("Position after 2 of 4 moves.")
    screen.click(5, 5, 65).until("Position after 3 of 4 moves.")
    screen.click_on("Esc back").until("Position after 4 of 4 moves.")
    screen.click_on("u undo").until("O played a1.")
    screen.click_on("m menu").until("A new game")
    screen.press(ESCAPE).until("Your turn.", without=["A new game"])
    screen.click_on("? help").until("Keys")
    screen.click(3, 3).until("Your turn.", without=["Keys"])
