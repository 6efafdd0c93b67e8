"""What keys do in a game: take back, advise, explain, change sides and players, and give up."""

from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, Screen, Show
from sessions import HUMANS, THREE

FIRST = [*THREE, "--o", "first"]


@pytest.fixture
def screen(show: Show, store3: Path) -> Screen:
    """A game of 3,3,3 against the oracle's first move, where X has made the mistake c1."""
    screen = show(*FIRST, "--store", store3)
    screen.until("Your turn.")
    for cell, reply in (("b1", "a1"), ("c1", "a2")):
        screen.press(*cell)
        screen.until(f"O played {reply}. Your turn.")
    return screen


def moves(screen: Screen) -> int:
    return len(screen.marks())


def test_undo_takes_back_to_an_own_move_and_redo_makes_it_again(screen: Screen) -> None:
    screen.press("u")
    screen.wait(lambda: moves(screen) == 2)
    screen.press("u")
    screen.until("Your turn.", without=["played"])
    assert moves(screen) == 0
    screen.press("u")
    screen.until("You have made no move to take back.")
    screen.press("r", "r")
    screen.wait(lambda: moves(screen) == 4)
    screen.press("r")
    screen.until("Nothing to redo.")


def test_a_hint_names_the_move_of_the_oracle_and_points_at_it(screen: Screen) -> None:
    screen.press("t")
    screen.until("The oracle would play a3: O wins in 2 moves (4 plies).")
    row, column = screen.centers()["a3"]
    assert screen.look(row, column)[1:3] == (True, True)
    assert not screen.look(*screen.centers()["b3"])[2]
    screen.press(*"a3")
    screen.until("O played")
    assert not screen.look(*screen.centers()["b3"])[2]


def test_why_tells_what_the_last_moves_changed(screen: Screen) -> None:
    screen.press("w")
    screen.until("Why", "2. X c1: turned a draw into a loss, O wins in 3 moves (5 plies).", "Enter close")
    screen.press(ENTER)
    screen.until("2. X c1 O a2", without=["Why"])


def test_a_review_steps_only_through_moves_that_taught_something(screen: Screen) -> None:
    screen.press("v")
    screen.until("1 of 1: 2. X c1: turned a draw into a loss", "2. X c1? O a2")
    assert moves(screen) == 3
    assert {cell for cell, at in screen.centers().items() if screen.look(*at)[2]} == {"a2", "b2", "a3", "c3"}
    screen.press("v")
    screen.until("1 of 1:")
    screen.press(ESCAPE)
    screen.until("Position after 4 of 4 moves.")
    assert moves(screen) == 4


def test_a_review_after_the_end_counts_the_mistakes_of_both(show: Show, store3: Path) -> None:
    screen = show(*THREE, *HUMANS, "--store", store3)
    screen.until("X to move.")
    screen.press(*"b2a2a1b1c3")
    screen.until("X has won: X completed a line.", "O made 2 moves: 0 best, 1 that changed the outcome.")
    screen.press("v")
    screen.until("1 of 2: 1. O a2: turned a draw into a loss")
    screen.press("v")
    screen.until("2 of 2: 2. O b1: faster loss")
    screen.press("v")
    screen.until("1 of 2:")


def test_a_review_of_no_move_or_of_no_mistake_says_so(show: Show, store3: Path) -> None:
    screen = show(*THREE, *HUMANS, "--store", store3)
    screen.until("X to move.")
    screen.press("v")
    screen.until("No move has been made yet.")
    screen.press(*"b2a1v")
    screen.until("X made 1 move: 1 best", "O made 1 move: 1 best")


def test_whoever_resigns_has_lost_and_may_take_that_back(screen: Screen) -> None:
    screen.press("x")
    screen.until("3,3,3 · 0 won, 1 lost, 0 drawn", "O has won: X resigned.", "n new")
    screen.asleep()
    screen.press("x")
    screen.until("Nothing to resign: the game is over")
    screen.press("t")
    screen.until("Nothing to hint at: the game is over")
    screen.press(*"a3")
    screen.until("The match has ended, O has won: X resigned.")
    screen.press("u")
    screen.until("O played a2. Your turn.")
    assert moves(screen) == 4


def test_a_game_that_ends_again_after_an_undo_counts_once(show: Show, store3: Path) -> None:
    screen = show(*THREE, *HUMANS, "--store", store3)
    screen.until("X to move.")
    screen.press(*"b2a2a1b1c3")
    screen.until("· 1 X won", "n new")
    screen.press("u", *"c2", *"c3")
    screen.until("O played c3")
    screen.press("u", "u")
    screen.press(*"c3")
    screen.until("· 1 X won", "X has won")
    screen.press("n")
    screen.until("· 1 X won", "X to move.", without=["1. X"])


def test_swap_gives_the_opponent_the_own_side(screen: Screen) -> None:
    screen.press("z")
    screen.until("X first", "O you", "X played a3")
    assert moves(screen) == 5


def test_the_opponent_is_made_better_or_worse(show: Show, store3: Path) -> None:
    screen = show(*THREE, "--level", 9, "--store", store3)
    screen.until("O oracle, level 9", "Your turn.")
    for key, level in (("+", 10), ("+", 10), ("-", 9), ("-", 8)):
        screen.press(key)
        screen.until(f"O is oracle, level {level} from now on.", f"O oracle, level {level}")
    screen.press("!")
    screen.until("O is oracle, level 10 from now on.")
    screen.press("!")
    screen.until("O is oracle, level 8 from now on.")
    for _ in range(9):
        screen.press("-")
    screen.until("O is oracle, level 0 from now on.")


def test_where_there_is_no_level_keys_say_why(screen: Screen, show: Show, store3: Path) -> None:
    screen.press("+")
    screen.until("First has no levels; ! calls the strongest opponent.")
    people = show(*THREE, *HUMANS, "--store", store3)
    people.until("X to move.")
    people.press("!")
    people.until("There is not one opponent whose level could be set; m chooses players.")


def test_lines_are_those_through_the_cursor(show: Show, store3: Path) -> None:
    screen = show(*THREE, *HUMANS, "--store", store3)
    screen.until("X to move.")

    def pointed() -> set[str]:
        return {cell for cell, at in screen.centers().items() if screen.look(*at)[2]}

    screen.press("i")
    screen.wait(lambda: pointed() == set(screen.centers()))
    screen.press("left")
    screen.wait(lambda: pointed() == {"a1", "a2", "a3", "b2", "c2"})
    screen.press("i")
    screen.wait(lambda: not pointed())


def test_a_cell_that_is_taken_costs_a_sentence(screen: Screen) -> None:
    screen.press(*"a1")
    screen.until("Cell 'a1' is taken: choose an empty one.")
    assert moves(screen) == 4


def test_a_letter_that_is_a_column_and_a_command_waits_for_more(show: Show) -> None:
    screen = show("--game", "10,10,5", *HUMANS)
    screen.until("X to move.")
    screen.press("i")
    screen.until("Cell i_ (Enter: lines)")
    screen.press("\x7f")
    screen.until("X to move.", without=["Cell i_"])
    screen.press("i", "3")
    screen.until("X played i3.")
    screen.press("a", "1", "0")
    screen.until("O played a10.")
    screen.press("a", "1", ENTER)
    screen.until("X played a1.")


def test_help_lists_every_key(screen: Screen) -> None:
    screen.press("?")
    screen.until("Keys", "type a cell (a1", "to c3), or click.", "u take back your last move")
    screen.press("down", "down", *["j"] * 20)
    screen.until(": a line to type: save FILE, restart, level 5, game 3,4,3, lines b2")
    screen.press("q")
    screen.until("Your turn.", without=["Keys"])


def test_clicks_on_buttons_moves_and_the_wheel_mean_keys(screen: Screen) -> None:
    screen.click_on("c1  O")
    screen.until("Position after 3 of 4 moves.")
    screen.click(5, 5, 64)
    screen.until("Position after 2 of 4 moves.")
    screen.click(5, 5, 65)
    screen.until("Position after 3 of 4 moves.")
    screen.click_on("Esc back")
    screen.until("Position after 4 of 4 moves.")
    screen.click_on("u undo")
    screen.until("O played a1.")
    screen.click_on("m menu")
    screen.until("A new game")
    screen.press(ESCAPE)
    screen.until("Your turn.", without=["A new game"])
    screen.click_on("? help")
    screen.until("Keys")
    screen.click(3, 3)
    screen.until("Your turn.", without=["Keys"])
