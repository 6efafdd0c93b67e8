"""Kept games: a killed game is resumed where it was, and games are listed, replayed, reviewed or refused."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from sessions import COMMAND, HUMANS, THREE, Start, at, killed, moves_in, piped, printed, refused

from play.records.files import load_record
from play.records.json_form import record_from_json
from play.records.text import Record

pytestmark = pytest.mark.usefixtures("home")

MOVES = ["a1", "b2", "c3", "d4", "a2", "c1"]
WON = '[Game "3,3,3"]\n[X "human"]\n[O "human"]\n[Result "1-0"]\n\n1. a1 a2\n2. b1 b2\n3. c1 1-0\n'
LIVE = [*HUMANS, "--live"]


def kept(games: Path) -> Record:
    """Return the record of the one game that was kept."""
    (path,) = games.glob("*.txt")
    return load_record(str(path))


def board_of(moves: list[str], columns: int = 4) -> str:
    """Return the marks after some moves, set down one by one."""
    rows = [["."] * columns for _ in range(columns)]
    for ply, (letter, number) in enumerate(moves):
        rows[int(number) - 1]["abcd".index(letter)] = "XO"[ply % 2]
    return "/".join(map("".join, rows))


def test_a_game_that_was_killed_is_resumed_with_exactly_its_moves(games: Path) -> None:
    killed(MOVES, *LIVE)
    assert moves_in(games) == MOVES
    assert at(printed("", "resume", "--live"), 4) == board_of(MOVES)
    assert moves_in(games) == MOVES


def test_at_every_prompt_all_moves_are_kept_and_resumed(start: Start, games: Path) -> None:
    session = start(*LIVE)
    for count, move in enumerate(MOVES, 1):
        session.type(move)
        assert moves_in(games) == MOVES[:count]
        out = printed("", "resume", "--live")
        assert at(out, 4) == board_of(MOVES[:count])
        assert f"\n{'XO'[count % 2]}> " in out


def test_a_game_that_was_left_before_its_first_move_was_not_kept(games: Path) -> None:
    piped("\nzz\nundo\n", *LIVE)
    assert not games.exists() or not list(games.iterdir())
    assert refused(piped("", "resume", "--live"), 1, "no game that can go on")


def test_after_resume_a_move_that_was_taken_back_can_be_made_again() -> None:
    piped("a1\nb2\nundo\n", *THREE, *LIVE)
    said = piped("redo\n", "resume", "--live").stdout.split("O> ")
    assert [at(each) for each in said if at(each)] == ["X../.../...", "X../.O./..."]


def test_the_game_that_is_resumed_is_the_last_that_did_not_end() -> None:
    piped("a1\nb2\n", *THREE, *LIVE)
    piped("a1\na2\nb1\nb2\nc1\n", *THREE, *LIVE)
    piped("c3\nresign\nresign\n", *THREE, *LIVE)
    assert at(printed("", "resume", "--live")) == board_of(["a1", "b2"], 3)


def test_resume_says_which_game_it_continues_by_date_and_file(games: Path) -> None:
    piped("a1\n", *THREE, *LIVE)
    (path,) = games.iterdir()
    date = kept(games).tags["Date"]
    ran = piped("quit\n", "resume", "--live")
    assert ran.stdout.startswith(f"Continuing the game of {date} in {path}.\n3,3,3: X human, O human.")
    Path("game.txt").write_text('[Game "3,3,3"]\n\n1. a1 *\n')
    ran = piped("quit\n", "resume", "game.txt", "--live")
    assert ran.stdout.startswith("Continuing the game in game.txt.\n3,3,3: X human, O human.")


def test_a_resumed_game_stays_in_its_file_and_new_begins_another(games: Path) -> None:
    Path("game.txt").write_text('[Game "3,3,3"]\n[X "human"]\n[O "human"]\n[Date "1999-01-01"]\n\n1. a1 *\n')
    piped("b2\nnew\nc3\n", "resume", "game.txt", "--live")
    assert (moves_in(Path("game.txt")), load_record("game.txt").tags["Date"]) == (["a1", "b2"], "1999-01-01")
    assert moves_in(games) == ["c3"]
    assert kept(games).tags["Date"] == time.strftime("%Y-%m-%d")


@pytest.mark.parametrize(("result", "who"), [("1-0", "O"), ("0-1", "X")])
def test_a_game_that_somebody_resigned_is_shown_as_such(result: str, who: str) -> None:
    Path("game.txt").write_text(f'[Game "3,3,3"]\n[X "human"]\n[O "human"]\n\n1. a1 b2\n2. c3 {result}\n')
    ending = f"{'XO'[who == 'X']} has won: {who} resigned"
    for command, last in (("resume", f"\n{ending}.\n"), ("replay", f"\nResult {result} ({ending}).\n")):
        out = printed("", command, "game.txt", *["--live"] * (command == "resume"))
        assert last in out


@pytest.mark.parametrize("content", [None, WON.encode(), bytes(range(256))])
def test_without_a_game_that_can_go_on_resume_says_so_in_one_line(content: bytes | None, games: Path) -> None:
    if content:
        games.mkdir(parents=True)
        (games / "game.txt").write_bytes(content)
    assert refused(piped("", "resume"), 1, "no game that can go on was kept; ttt4-play begins one, or name a FILE")


def keep(games: Path, name: str, text: str | bytes, played: int) -> Path:
    """Keep a game as if it were played so many seconds after 1970."""
    games.mkdir(parents=True, exist_ok=True)
    path = games / f"{name}.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (played, played))
    return path


ONE_MOVE = '[Game "4,4,4"]\n[X "human"]\n[O "oracle:3"]\n\n1. b2 *\n'


def test_games_lists_the_kept_games_the_last_one_first_as_text_or_json(games: Path) -> None:
    later = keep(games, "a", WON, 2_000_000_000)
    first = keep(games, "b", ONE_MOVE, 1_500_000_000)
    one, file, other, other_file = printed("", "games", TZ="UTC").splitlines()
    assert one.split() == ["2033-05-18", "03:33", "3,3,3", "X", "human,", "O", "human", "5", "plies", "1-0"]
    assert other.split() == ["2017-07-14", "02:40", "4,4,4", "X", "human,", "O", "oracle:3", "1", "ply", "*"]
    assert (file, other_file) == (f"  {later}", f"  {first}")
    assert [json.loads(line) for line in printed("", "games", "--json").splitlines()] == [
        {"file": str(later), "played": 2_000_000_000, "game": "3,3,3", "players": {"X": "human", "O": "human"},
         "moves": 5, "result": "1-0", "can_go_on": False},
        {"file": str(first), "played": 1_500_000_000, "game": "4,4,4", "players": {"X": "human", "O": "oracle:3"},
         "moves": 1, "result": "*", "can_go_on": True},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [(b"\xff\xfe\0", "is not text"), ("", "line 1: there is no [Game"), (WON.replace("b1", "a1"), "'a1' is taken")],
)
def test_games_lists_a_file_that_cannot_be_read_with_the_reason(text: str | bytes, why: str, games: Path) -> None:
    path, readable = keep(games, "a", text, 2_000_000_000), keep(games, "b", ONE_MOVE, 1_500_000_000)
    out = printed("", "games", TZ="UTC")
    one, reason, _, file = out.splitlines()
    assert one == "2033-05-18 03:33  cannot be read"
    assert str(path) in reason
    assert why in reason
    assert file == f"  {readable}"
    listed = json.loads(piped("", "games", "--json").stdout.splitlines()[0])
    assert listed == {"file": str(path), "played": 2_000_000_000, "error": reason.strip()}


def test_where_no_game_is_kept_games_says_so_on_standard_error(games: Path) -> None:
    assert printed("", "games", "--json") == ""
    games.mkdir(parents=True)
    ran = piped("", "games")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "No game is kept yet: ttt4-play begins one.\n")


ODD = {
    "an unknown player": ONE_MOVE.replace("human", "wizard").encode(), "not text": bytes(range(256)),
    "an own player": ONE_MOVE.replace("human", "evil:it").encode(), "a dead link": None, "a folder": None,
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_file_hides_none_of_the_kept_games(odd: str, games: Path) -> None:
    good, path = keep(games, "good", ONE_MOVE, 1_500_000_000), games / "odd.txt"
    if content := ODD[odd]:
        path.write_bytes(content)
    elif odd == "a folder":
        path.mkdir()
    else:
        path.symlink_to("nowhere")
    for options in ([], ["--json"]):
        out = printed("", "games", *options)
        assert (str(good) in out, str(path) in out) == (True, odd != "a dead link")
    resumed = piped("", "resume", "--live")
    if odd == "an own player":
        assert refused(resumed, 1, str(path), "which a file cannot load; add --x evil:it")
    else:
        assert resumed.stdout.startswith(f"Continuing the game in {good}.\n")


@pytest.mark.parametrize("command", ["resume", "replay", "review"])
@pytest.mark.parametrize(
    ("text", "why"),
    [("", "game.txt, line 1: there is no [Game"), (WON.replace("b2", "\x1b[31m"), r"game.txt, line 7: '\x1b[31m'"),
     (None, "'game.txt': No such file"), ("\x80", "'game.txt' is not text")],
)  # fmt: skip
def test_a_file_that_is_no_record_is_refused_in_one_line(command: str, text: str | None, why: str) -> None:
    if text is not None:
        Path("game.txt").write_bytes(text.encode("latin-1"))
    assert refused(piped("", command, "game.txt"), 2, why)


def test_a_file_that_names_an_unknown_player_is_refused_in_one_line() -> None:
    Path("game.txt").write_text('[Game "3,3,3"]\n[X "wizard"]\n\n*\n')
    assert refused(piped("", "resume", "game.txt", "--live"), 2, "'wizard'")


def test_a_folder_that_takes_no_games_is_mentioned_once_and_the_game_goes_on(home: Path) -> None:
    (home / "state").write_text("a file, where a folder should be")
    assert "kept" not in printed("hint\nquit\n", *THREE, *LIVE), "no move was made"
    out = printed("a1\na2\nb1\nb2\nundo\nb2\n", *THREE, *LIVE)
    assert out.count("cannot be kept") == 1
    assert at(out) == board_of(["a1", "a2", "b1", "b2"], 3)
    assert out.endswith("The game was not kept.\n")


def test_replay_through_a_pipe_shows_every_step_and_the_result() -> None:
    Path("game.txt").write_text(WON)
    out = printed("", "replay", "game.txt")
    boards = re.split(r"^Ply \d of 5\..*$", out, flags=re.M)
    moves = ["a1", "a2", "b1", "b2", "c1"]
    assert [at(board) for board in boards[:-1]] == [board_of(moves[:n], 3) for n in range(6)]
    assert re.findall(r"([XO]) plays (\w+)\.", out) == [("XO"[n % 2], move) for n, move in enumerate(moves)]
    assert boards[-1].strip() == "Result 1-0."


def test_replay_prints_the_record_as_one_json_object_that_is_read_again() -> None:
    piped("a1\nb2\nundo\nc3\nresign\nresign\n", *THREE, *LIVE)
    out = printed("", "replay", "--json")
    assert out.count("\n") == 1
    fields = json.loads(out)
    assert [event["event"] for event in fields["events"]] == ["moved", "moved", "took back", "moved", "resigned"]
    assert (fields["game"], fields["moves"], fields["result"]) == ("3,3,3", ["a1", "c3"], "0-1")
    Path("game.txt").write_text(str(record_from_json(out)))
    assert printed("", "replay", "game.txt", "--json") == out


def test_resume_keeps_remarks_and_writes_nothing_before_a_move() -> None:
    text = '# at the lake\n[Game "3,3,3"]\n# with tea\n[X "human"]\n[O "human"]\n1. a1   *\n'
    Path("game.txt").write_text(text)
    piped("zz\nhint\nredo\nsave other.txt\nquit\n", "resume", "game.txt", "--live")
    assert Path("game.txt").read_text() == text
    piped("b2\n", "resume", "game.txt", "--live")
    again = load_record("game.txt")
    assert (again.remarks, moves_in(Path("game.txt"))) == (("# at the lake", "# with tea"), ["a1", "b2"])
    assert "# with tea" in Path("other.txt").read_text()


@pytest.mark.parametrize("tags", ['[X "evil:it"]\n[O "human"]', '[X "human"]\n[O "evil:it"]'])
@pytest.mark.parametrize("command", ["resume", "replay", "review", "games"])
def test_a_record_does_not_load_the_player_that_it_names(tags: str, command: str, games: Path, store3: Path) -> None:
    Path("evil.py").write_text("open('loaded', 'w').close()")
    path = keep(games, "game", f'[Game "3,3,3"]\n{tags}\n\n1. a1 *\n', 1_500_000_000)
    given = [] if command == "games" else [path]
    ran = piped("", command, *given, *["--store", store3] * (command in ("resume", "review")))
    if command == "resume":
        assert refused(ran, 1, str(path), "'evil:it'")
    else:
        assert (ran.returncode, ran.stderr) == (0, "")
    assert not Path("loaded").exists()


def test_a_game_that_is_resigned_is_kept_as_such_and_undo_opens_it_again(games: Path) -> None:
    piped("a1\nresign\nresign\n", *THREE, *LIVE)
    assert str(kept(games).match.outcome) == "X has won: O resigned"
    assert kept(games).result == "1-0"
    path = next(games.glob("*.txt"))
    piped("undo\nquit\n", "resume", path, "--live")
    assert (kept(games).match.outcome, moves_in(games)) == (None, ["a1"])
    assert not list(games.rglob("*.partial"))


BOTH_HUMAN = '[Game "3,3,3"]\n[X "human"]\n[O "human"]\n\n1. a1 *\n'


def test_two_sessions_of_one_game_lose_no_move(start: Start, games: Path) -> None:
    path = keep(games, "shared", BOTH_HUMAN, 1_500_000_000)
    slow = start("resume", path, "--live")
    piped("b2\nc3\n", "resume", path, "--live")
    said = slow.type("a2")
    assert "went on elsewhere meanwhile" in " ".join(said.split())
    kept_moves = sorted(map(moves_in, games.iterdir()))
    assert kept_moves == [["a1", "a2"], ["a1", "b2", "c3"]]


def test_a_game_whose_reader_leaves_ends_with_141(home: Path) -> None:
    command = f"{COMMAND} --x random --o random --game 9,9,9 --live --time 0.01 | true; exit ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.returncode, "Traceback" in ran.stderr) == (141, False)


def test_a_record_stays_a_link_and_keeps_its_mode(home: Path, games: Path) -> None:
    path = keep(games, "private", BOTH_HUMAN, 1_500_000_000)
    path.chmod(0o600)
    Path("link.txt").symlink_to(path)
    piped("b2\n", "resume", "link.txt", "--live")
    assert Path("link.txt").is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert moves_in(path) == ["a1", "b2"]


def test_a_player_of_ones_own_is_named_again_to_resume(home: Path) -> None:
    Path("mine.py").write_text(
        "class Last:\n    def __init__(self, rules, seed):\n        self.rules = rules\n"
        "    def choose(self, state):\n        return self.rules.legal(state)[-1]\n"
    )
    piped("a1\n", *THREE, "--o", "mine:Last", "--live")
    ran = piped("b2\n", "resume", "--o", "mine:Last", "--live")
    assert (ran.returncode, "O plays b3." in ran.stdout) == (0, True)
