"""A wide board on a screen: the part around the cursor is drawn, which goes everywhere and to every move."""

import re
from pathlib import Path

from screens import ENTER, Screen, Show
from sessions import HUMANS

from solver.games.wide import WideGame

MILLION = ["--game", "1000,1000,5"]


def cursor(screen: Screen) -> str:
    """The cell that is reversed, by the names around the board."""
    lines = screen.lines
    top = next(row for row, line in enumerate(lines) if re.match("[ ←→↑↓]{4,}[a-z]", line))
    named = re.match(r"([ ←→↑↓]+[a-z]{1,3}\b)+", lines[top])
    assert named
    names = {name.start(): name[0] for name in re.finditer("[a-z]+", named[0])}
    row, column = next(
        (row, column) for row in range(top, 20) for column in range(len(named[0])) if screen.look(row, column)[3]
    )
    return names[min(names, key=lambda at: abs(at - column))] + lines[row][:5].strip()


def say(screen: Screen, line: str) -> Screen:
    return screen.press(":", *line, ENTER)


def test_the_part_around_the_cursor_is_drawn_and_follows_it(show: Show) -> None:
    screen = show(*MILLION, *HUMANS).until("X to move.")
    assert cursor(screen) == "sg501"
    screen.press(ENTER).until("X played sg501. O to move.")
    screen.press("right").press(ENTER).until("O played sh501. X to move.")
    for _ in range(30):
        screen.press("down")
    assert cursor(screen) == "sh531"
    say(screen, "look all1000")
    assert cursor(screen) == "all1000"
    screen.press("right", "down", ENTER).until("X played all1000. O to move.")
    screen.press(*"sc999").until("O played sc999.")
    assert cursor(screen) == "sc999"
    screen.press("u", ENTER).until("O to move.")
    say(screen, "look alm1").until("No cell 'alm1' on a 1000,1000,5 board")


def test_the_cursor_goes_to_a_machine_s_move(show: Show) -> None:
    screen = show(*MILLION, "--o", "random", "--seed", "1").until("Your turn.")
    screen.press(ENTER).until("O played", "Your turn.")
    played = screen.said.partition("O played ")[2].split(".")[0]
    assert cursor(screen) == played


def test_every_key_works_or_says_who_plays_on_such_a_board(show: Show) -> None:
    screen = show(*MILLION, "--o", "rules", "--seed", "1").until("Your turn.")
    screen.press(ENTER).until("O played", "Your turn.")
    for line in ("show", "hint", "why", "review"):
        say(screen, line).until("boards of up to 400 cells have an oracle", "its players are human, random, rules")
    say(screen, "lines").until("boards of up to 400 cells have lines to point at")
    say(screen, "puzzle").until("boards of up to 400 cells have puzzles")
    say(screen, "level 5").until("the player 'oracle:5'")
    say(screen, "level 4").until("O is oracle, level 4 from now on.")
    screen.press("!").until("O is oracle, level 4")
    screen.press("+").until("O is oracle, level 4 from now on.")
    say(screen, "resign")
    screen.press("x").until("O has won: X resigned.")


def test_a_wide_board_is_chosen_in_the_menu_and_resumed_from_the_list(show: Show, games: Path, store3: Path) -> None:
    screen = show("--game", "3,3,3", *HUMANS, "--store", store3).until("X to move.")
    say(screen, "game 25,25,5").wait(lambda: screen.lines[0].strip() == "25,25,5").until("X to move.")
    screen.press(ENTER).until("X played m13.")
    screen.press("q")
    listed = show("games").until("25,25,5")
    listed.press(ENTER).until("O to move.", "m13")


def test_names_are_found_as_on_a_narrow_board() -> None:
    game = WideGame(30, 40, 5)
    names = {game.cell_name(cell) for cell in range(game.cells)}
    texts = {name[:end] for name in names for end in range(1, 5)} | {"b31", "b0", "ao", "ba1", "a01"}
    for text in texts:
        expected, found = {name for name in names if name.startswith(text)}, game.names_from(text)
        assert set(found) <= expected
        assert (bool(found), text in found, found == [text]) == (bool(expected), text in expected, expected == {text})
