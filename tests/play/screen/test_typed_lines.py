"""Lines that are typed after a colon, as at the prompt."""

from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, Screen, Show
from sessions import moves_in


@pytest.fixture
def screen(show: Show, stores: Path) -> Screen:
    """A game of 3,3,3 against the oracle's first move, two plies old."""
    screen = show("--game", "3,3,3", "--o", "first", "--store", stores).until("Your turn.")
    return screen.press(*"b2").until("O played a1. Your turn.")


def say(screen: Screen, line: str) -> Screen:
    return screen.press(":", *line, ENTER)


@pytest.mark.parametrize("name", ["game.txt", "with blanks.txt"])
def test_save_writes_the_record(name: str, screen: Screen) -> None:
    say(screen, f"save {name}").until(f"Saved to {name}.")
    assert moves_in(Path(name)) == ["b2", "a1"]


def test_restart_begins_the_same_match_anew(screen: Screen) -> None:
    say(screen, "restart").until("Your turn.", without=["played"])
    assert screen.marks() == {}


def test_level_and_game_change_what_is_played(screen: Screen) -> None:
    say(screen, "level 5").until("O is oracle, level 5 from now on.", "O oracle, level 5")
    say(screen, "game 4,4,4").until("4,4,4", "X you", "O oracle, level 5", "Your turn.")
    assert len(screen.centers()) == 16


def test_a_game_without_a_store_is_searched_for_or_refused_in_a_sentence(show: Show) -> None:
    screen = show("--game", "3,3,3", "--o", "first", "--live").until("Your turn.")
    say(screen, "game 3,3,3,misere").until("3,3,3,misere", "Your turn.", without=["begins"])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("undo", "Your turn."), ("hint", "The oracle would play"), ("a2", "O played"), ("3 1", "O played"),
        ("menu", "A new game"), ("help", "Keys"), ("why", "1. X b2: best"), ("resign", "X resigned"),
        ("new", "Your turn."), ("lines c1", "Your turn."),
    ],
)  # fmt: skip
def test_words_of_the_prompt_do_what_they_do_there(line: str, told: str, screen: Screen) -> None:
    say(screen, line).until(told, without=["O played a1."] if told == "Your turn." and line != "lines c1" else [])
    if line == "lines c1":
        screen.wait(lambda: screen.cursor() == "c1")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("undo 3", "Undo takes no words, such as '3'."), ("save", "No file named: save FILE."),
        ("restrat", "No command 'restrat': did you mean 'restart'?"),
        ("nonsense", "No cell 'nonsense' on a 3,3,3 board"), ("level", "No level '': choose 0 to 10."),
        ("level 11", "No level '11': choose 0 to 10."), ("level x", "No level 'x': choose 0 to 10."),
        ("game nonsense", "No game 'nonsense'"), ("game 9,9", "Cannot read game '9,9'"),
        ("game 3,3,3,misere", "No store at"), ("save /no/such/folder", "Cannot write"),
        ("save .", "name another file."),
        ("9 9", "No cell in row 9, column 9"), ("a1", "Cell 'a1' is taken"), ("x" * 200, "No cell 'xxx"),
        ("é", "No cell 'é'"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_costs_a_sentence(line: str, told: str, screen: Screen) -> None:
    say(screen, line).until(told)
    screen.press("u").until("Your turn.", without=[told, "played"])


def test_an_own_game_is_not_loaded_from_the_screen(screen: Screen, home: Path) -> None:
    Path("nim.py").write_text((Path(__file__).parents[1] / "nim.py").read_text())
    say(screen, "game nim:Nim").until("Nim has no board: ttt4-play --plain --game nim:Nim plays it.")


def test_a_line_is_edited_and_given_up(screen: Screen) -> None:
    screen.press(":", *"resignn", "\x7f").until(":resign")
    screen.press(ESCAPE).until("O played a1. Your turn.", "Enter play")
    screen.press(":", "a", "\x7f", "\x7f").until("O played a1. Your turn.", "Enter play")
    screen.press(":", ENTER).until("O played a1. Your turn.", "Enter play")
    say(screen, "exit")
    assert screen.ended() == 0
