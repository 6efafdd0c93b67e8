"""A game that is not about lines, in one file: played, recorded, resumed, replayed, listed and met in the arena."""

import json
import re
import shutil
from pathlib import Path

import pytest
from sessions import KEPT, piped, printed, refused

FILE = Path(__file__).with_name("nim.py")
NIM = ["--game", "nim:Nim"]
HUMANS = [*NIM, "--x", "human", "--o", "human"]
ONLY_BOARDS = "nly games on a board have "
PERFECT = """
class Perfect:
    def __init__(self, rules, seed):
        self.rules = rules

    def choose(self, state):
        return state.left % 4 or 1
"""


@pytest.fixture(autouse=True)
def folder(home: Path) -> None:
    """Stand in a folder with the game and an own player of it."""
    shutil.copy(FILE, "nim.py")
    Path("mine.py").write_text(PERFECT)


@pytest.fixture
def kept(games: Path) -> Path:
    """Keep a game of two people, in which X took 2 and O took 3, and return its file."""
    piped("2\n3\n", *HUMANS)
    (path,) = games.iterdir()
    return path


def heaps(said: str) -> list[str]:
    return re.findall(r"^(\d [XO])$", said, re.M)


def test_a_whole_game_is_one_file_of_fewer_than_60_lines() -> None:
    assert len(FILE.read_text().splitlines()) < 60


def test_it_is_played_at_the_prompt_to_its_end() -> None:
    out = printed("3\n1\n2\n1\n", *HUMANS)
    assert out.startswith("nim:Nim: X human, O human. A move is 1 or 2 or 3;")
    assert heaps(out) == ["7 X", "4 O", "3 X", "1 O", "0 X"]
    assert "\nO has won: O took the last.\n" in out
    assert "X made" not in out, "no oracle could review it"


def test_a_machine_plays_it_by_default_because_there_is_no_oracle_of_it() -> None:
    out = printed("3\nquit\n", *NIM, "--seed", "1")
    assert "nim:Nim: X human, O random." in out
    assert re.search(r"^X> O plays [123]\.$", out, re.M)
    assert out.endswith(KEPT)


def test_a_wrong_move_is_refused_in_the_game_s_own_words() -> None:
    out = printed("4\ntwo\n3\n3\n2\nquit\n", *HUMANS)
    assert heaps(out) == ["7 X", "4 O", "1 X"]
    for why in ("Nobody can take 4: take 1, 2 or 3.", "Cannot take 'two': write 1, 2 or 3. Or type help.",
                "The heap has only 1 left.\n"):  # fmt: skip
        assert f"X> {why}" in out


@pytest.mark.parametrize("word", ["hint", "show", "why", "review", "lines", "lines b2"])
def test_a_word_that_is_for_games_on_a_board_says_so_in_one_line(word: str) -> None:
    said = printed(f"1\n{word}\nquit\n", *HUMANS).split("O> ")[1]
    assert re.fullmatch(r"Only games o.* nim:Nim is not one\.\n", said)


@pytest.mark.parametrize(
    "words",
    ["--o oracle", "--o oracle:3", "--x rules", "--o search", "--o first", "--first O",
     "arena --x random --o oracle", "arena --x rules --o random", "arena --all random,first,mine:Perfect"],
)  # fmt: skip
def test_a_player_or_an_option_that_is_for_games_on_a_board_says_so_in_one_line(words: str) -> None:
    command = ["arena"] if "arena" in words else []
    ran = piped("", *command, *NIM, *words.removeprefix("arena ").split())
    assert refused(ran, 2, "nim:Nim has rules that say who begins" if "--first" in words else "nly games o")


def test_a_heap_to_start_from_is_read_by_the_game(games: Path) -> None:
    assert heaps(printed("3\n", *HUMANS, "--board", "5 O")) == ["5 O", "2 X"]
    (path,) = games.iterdir()
    assert '[Board "5 O"]' in path.read_text()
    assert refused(piped("", *NIM, "--board", "8 X"), 2, "no heap '8 X'", "'7 X'")
    assert refused(piped("", *NIM, "--board", "0 X"), 2, "'0 X' is a finished game: O took the last")


def test_a_game_that_was_left_is_resumed_to_its_end(games: Path) -> None:
    piped("2\n3\nundo\n1\n", *HUMANS)
    (path,) = games.iterdir()
    out = printed("1\n3\n", "resume", *NIM)
    assert str(path) in out.splitlines()[0]
    assert heaps(out) == ["4 X", "3 O", "0 X"]
    assert "\nO has won: O took the last.\n" in out
    assert path.read_text().startswith('[Game "nim:Nim"]\n[X "human"]\n[O "human"]\n')
    assert path.read_text().endswith("\n\n1. 2 3 undo\n1... 1\n2. 1 3 0-1\n")


def test_it_is_replayed_step_by_step_and_as_json(kept: Path) -> None:
    out = printed("", "replay", *NIM)
    assert heaps(out) == ["7 X", "5 O", "2 X"]
    assert re.findall(r"([XO]) plays (\d)\.", out) == [("X", "2"), ("O", "3")]
    record = json.loads(printed("", "replay", *NIM, kept, "--json"))
    assert (record["game"], record["moves"], record["state"]) == ("nim:Nim", ["2", "3"], "2 X")


def test_games_lists_it_without_loading_its_code(kept: Path) -> None:
    Path("nim.py").write_text("open('loaded', 'w').close()")
    out = printed("", "games")
    assert re.fullmatch(rf"\S+ \S+  nim:Nim +your own game \*\n  {kept}\n", out)
    listed = json.loads(printed("", "games", "--json"))
    assert listed == {"file": str(kept), "played": listed["played"], "game": "nim:Nim", "result": "*"}
    assert not Path("loaded").exists()


@pytest.mark.parametrize("command", ["resume", "replay", "review"])
@pytest.mark.parametrize("named", [False, True])
def test_a_record_alone_never_loads_the_code_and_says_what_to_type(command: str, named: bool, kept: Path) -> None:
    Path("nim.py").write_text("open('loaded', 'w').close()")
    ran = piped("", command, *[kept] * named)
    assert refused(ran, 2 if named else 1, str(kept), "add --game nim:Nim")
    assert not Path("loaded").exists()


def test_the_command_review_says_that_it_is_for_games_on_a_board(kept: Path) -> None:
    assert refused(piped("", "review", *NIM), 2, ONLY_BOARDS, "nim:Nim is not one")


def test_in_the_arena_a_perfect_own_player_always_wins_as_x() -> None:
    out = printed("", "arena", *NIM, "--x", "mine:Perfect", "--o", "random", "--games", 60, "--json")
    perfect, rival = json.loads(out)["meetings"][0]["players"]
    assert (perfect["forfeits"], rival["forfeits"], perfect["wins"]["count"]) == ([], [], 60)
    assert (perfect["kept"], rival["kept"]) == (None, None), "only an oracle grades moves"
