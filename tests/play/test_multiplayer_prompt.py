"""A game of three sides at the prompt: played, kept, resumed, replayed, and what it does not have."""

import json
from pathlib import Path

import pytest
from sessions import piped, printed, refused

from play.records.json_form import record_as_dict, record_from_json
from play.records.text import read_record

THREE = ["--game", "3p:4,4,3"]
PEOPLE = [*THREE, "--x", "human", "--o", "human", "--z", "human"]
SHORT = ["--game", "3p:3,3,3", "--x", "human", "--o", "human", "--z", "human"]


@pytest.fixture(autouse=True)
def _at_home(home: Path) -> None:
    """Stand in an empty folder in every test."""


def test_a_whole_game_of_three_is_played_kept_and_read_back(games: Path) -> None:
    out = printed("a1\nb2\nb1\nc1\nundo\nc2\nd4\na2\nresign\nresign\nb4\nb3\nc4\n", *PEOPLE)
    assert out.startswith("3p:4,4,3: X human, O human, Z human. A move is a3 or 3 1; help lists the\ncommands.\n")
    assert "X> X has left; the others play on.\n" in out
    assert " 2  Z   O   X   .\n 3  .   Z   .   .\n 4  .   O*  O*  O*\n\nO has won: O completed a line.\n" in out
    (path,) = games.iterdir()
    text = path.read_text()
    assert text.startswith('[Game "3p:4,4,3"]\n[X "human"]\n[O "human"]\n[Z "human"]\n')
    assert text.endswith("\n\n1. a1 b2 b1\n2. c1 undo\n2. c2 d4 a2 X-resigns\n3. b4 b3 c4 0-1-0\n")
    record = read_record(text)
    assert (record.result, record.match.gone, str(record)) == ("0-1-0", ("X",), text)
    assert record_from_json(json.dumps(record_as_dict(record))).match.events == record.match.events
    steps = printed("", "replay", path)
    assert steps.count("Ply ") == len(record.match.moves) + 1
    assert steps.endswith("Result 0-1-0.\n")
    assert "Ply 7 of 9. O plays b4." in steps, "X had left"


def test_the_other_players_are_named_by_z_and_t() -> None:
    ran = piped("quit\n", "--game", "4p:3,3,3", "--o", "random", "--z", "rules", "--t", "mcts:5", "--seed", "1")
    assert ran.stdout.startswith("4p:3,3,3: X human, O random, Z rules, T mcts:5. A move is b2 or 2 2;")


def test_who_is_not_named_is_played_by_mcts() -> None:
    assert piped("quit\n", *THREE).stdout.startswith("3p:4,4,3: X human, O mcts, Z mcts.")


def test_machines_play_on_when_the_only_person_has_left() -> None:
    out = printed("a1\nresign\nresign\n", *THREE, "--o", "rules", "--z", "random", "--seed", "2")
    before, after = out.split("X has left; the others play on.")
    assert before.count(" plays ") == 2
    assert "O has won: O completed a line." in after


def test_a_game_goes_on_without_the_side_that_left_when_it_is_resumed(games: Path) -> None:
    piped("a1\nb1\nresign\nresign\na2\nquit\n", *SHORT)
    (path,) = games.iterdir()
    out = printed("c1\na3\n", "resume", path, "--z", "human")
    assert out.splitlines()[1].startswith("3p:3,3,3: X human, O human, Z human.")
    assert "O> " in out.splitlines()[9]
    assert path.read_text().endswith("1. a1 b1 Z-resigns\n1... a2\n2. c1 a3 1-0-0\n")


def test_a_game_begins_from_a_board_that_a_side_has_left(games: Path) -> None:
    out = printed("a3\nb2\nc3\n", *SHORT, "--board", "X../Z../... X XZ")
    assert out.index("X> ") < out.index("Z> ")
    assert "O> " not in out
    (path,) = games.iterdir()
    assert '[Board "X../Z../... X XZ"]' in path.read_text()


def test_commands_for_an_oracle_are_refused_and_not_listed() -> None:
    out = piped("hint\nshow\nwhy\nreview\nhelp\nquit\n", *PEOPLE).stdout
    why = "Only games of two sides have an oracle, and 3p:4,4,3 has 3: its players are human"
    assert " ".join(out.split()).count(why) == 4
    assert "  lines " in out
    assert not any(f"  {word} " in out for word in ("hint", "show", "why", "review"))


@pytest.mark.parametrize(
    ("words", "why"),
    [("--level 3", "--level has no effect: no player of 3p:4,4,3 has levels"),
     ("--first O", "3p:4,4,3 has rules that say who begins"),
     ("--t random", "--t has no effect: 3p:4,4,3 has 3 sides"), ("--board XX", "'XX' has 2 cells"),
     ("--o oracle", "only games of two sides have the player 'oracle', and 3p:4,4,3 has 3: its players are human, ")],
)  # fmt: skip
def test_an_option_that_three_sides_do_not_have_is_refused(words: str, why: str) -> None:
    ran = piped("", *THREE, *words.split())
    assert (ran.returncode, ran.stdout, why in ran.stderr) == (2, "", True)


@pytest.mark.parametrize("command", ["puzzle", "engine", "grade random"])
def test_a_command_that_needs_a_game_of_two_sides_says_so_in_one_line(command: str) -> None:
    assert refused(piped("", *command.split(), *THREE), 2, "3p:4,4,3", "two sides")


def test_a_game_of_three_sides_of_one_s_own_says_what_follows_when_a_side_leaves() -> None:
    Path("three.py").write_text(
        "from nim import Nim\nclass Three(Nim):\n    name = 'three:Three'\n    sides = ('A', 'B', 'C')\n"
    )
    Path("nim.py").write_text(Path(__file__).with_name("nim.py").read_text())
    assert refused(piped("", "--game", "three:Three"), 2, "game 'three:Three' lacks leave")
