"""`ttt4-play games` on a terminal: a list to resume, review and delete from; through a pipe it is as before."""

import os
from pathlib import Path

import pytest
from screens import ENTER, ESCAPE, Screen, Show
from sessions import HUMANS, KEPT, THREE, piped


@pytest.fixture
def listed(show: Show, store3: Path, games: Path) -> Screen:
    """A list of three games: one that goes on, one that X has won, and one that cannot be read, from new to old."""
    piped("b2\na1\n", *THREE, *HUMANS, "--store", store3)
    (ongoing,) = games.iterdir()
    (games / "won.txt").write_text('[Game "3,3,3"]\n[X "human"]\n[O "human"]\n\n1. b2 a2\n2. a1 b1\n3. c3 1-0\n')
    (games / "damaged.txt").write_text("nothing\n")
    for age, path in enumerate((ongoing, games / "won.txt", games / "damaged.txt")):
        os.utime(path, (1e9 - age, 1e9 - age))
    screen = show("games", "--store", store3)
    screen.until("Kept games: 3", "2 plies", "5 plies", "cannot be read", "Enter resume")
    return screen


def chosen(screen: Screen) -> str:
    (line,) = (line for line in screen.lines if line.startswith(" ▸"))
    return line


def test_a_game_is_resumed_from_the_list_and_left_to_it(listed: Screen, games: Path) -> None:
    assert "2 plies" in chosen(listed)
    listed.press(ENTER).until("1. X b2 O a1", "X to move.")
    listed.press(*"c3").until("X played c3.")
    listed.press("q").until("Kept games: 3", "3 plies")
    listed.press("q")
    assert (listed.ended(), listed.printed) == (0, KEPT)
    assert any("c3" in path.read_text() for path in games.iterdir() if path.name not in ("won.txt", "damaged.txt"))


def test_a_game_that_has_ended_is_reviewed_but_does_not_count(listed: Screen) -> None:
    listed.press("down", ENTER).until("X has won: X completed a line.", "O made 2 moves: 0 best", "n new")
    assert "won," not in listed.said
    assert "1 X won" not in listed.said
    listed.press("v").until("1 of 2: 1. O a2: turned a draw into a loss")


def test_a_game_that_cannot_be_read_says_why(listed: Screen) -> None:
    listed.press("j", "j", "j", ENTER).wait(lambda: "cannot be read" in chosen(listed) and listed.lines[-2].strip())
    assert "Kept games: 3" in listed.text


def test_a_game_with_a_player_of_ones_own_says_how_it_is_resumed(show: Show, games: Path) -> None:
    games.mkdir(parents=True)
    (games / "own.txt").write_text('[Game "3,3,3"]\n[X "human"]\n[O "evil:it"]\n\n1. b2 *\n')
    screen = show("games", columns=90)
    screen.press(ENTER)
    screen.until("A player of this game is your own code: ttt4-play resume with --x or --o continues it.")


def test_a_game_that_cannot_be_deleted_says_why(listed: Screen, games: Path) -> None:
    (games / "damaged.txt").unlink()
    listed.press("down", "down", "d", "y").until("It cannot be deleted: No such file or directory.", "Kept games: 3")


def test_a_game_is_deleted_after_y_and_not_after_anything_else(listed: Screen, games: Path) -> None:
    for key in ("n", ENTER, ESCAPE, "q", "d"):
        listed.press("down", "d")
        listed.until("Delete 2001-09-09", "3,3,3 X human, O human 5 plies 1-0?", "y delete it for good")
        listed.press(key).until("Enter review", without=["y delete"])
        listed.press("up")
        assert len(list(games.iterdir())) == 3
    listed.press("down", "d", "y").until("Kept games: 2", "Deleted.")
    assert not (games / "won.txt").exists()
    listed.press("d", "y").until("Kept games: 1")
    listed.press("d", "y").until("Kept games: 0")
    assert listed.press("d", "y", ENTER, "q").ended() == 0


def test_a_click_chooses_a_game_and_another_opens_it(listed: Screen) -> None:
    listed.click_on("5 plies").wait(lambda: "5 plies" in chosen(listed))
    listed.click_on("5 plies").until("X has won")
    listed.click_on("q quit").until("Kept games: 3")
    listed.click_on("d delete").until("y delete it for good")
    listed.click_on("n keep it").until("Enter review")
    assert listed.click_on("q leave").ended() == 0


def test_more_games_than_there_are_rows_scroll(show: Show, games: Path) -> None:
    games.mkdir(parents=True)
    for number in range(30):
        path = games / f"{number:02}.txt"
        path.write_text(f'[Game "3,3,3"]\n[X "{"human" if number else "random"}"]\n[O "human"]\n\n1. b2 *\n')
        os.utime(path, (1e9 + number, 1e9 + number))
    screen = show("games", rows=12, columns=60).until("Kept games: 30")
    screen.press(*["down"] * 40).wait(lambda: "X random" in chosen(screen))
    screen.press(*["up"] * 40).wait(lambda: screen.lines[2].startswith(" ▸"))


def test_where_no_game_is_kept_a_line_says_so(show: Show) -> None:
    screen = show("games")
    assert (screen.ended(), screen.printed) == (0, "No game is kept yet: ttt4-play begins one.\n")
    assert not screen.used


@pytest.mark.parametrize("arguments", [["--plain"], ["--json"]])
def test_whoever_asks_for_text_gets_it_on_a_terminal(arguments: list[str], show: Show, store3: Path) -> None:
    piped("b2\na1\n", *THREE, *HUMANS, "--store", store3)
    screen = show("games", *arguments)
    assert (screen.ended(), screen.printed) == (0, piped("", "games", *arguments).stdout)
    assert not screen.used
    assert "\x1b" not in screen.printed
