"""Records: a game that was killed goes on where it was, and one in a file is replayed, reviewed or refused."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import naive
import pytest

from play.match import Match
from play.records import Record, read_record, save_record
from play.rules import LineRules
from solver.games.notation import parse_game

pytestmark = pytest.mark.usefixtures("home")

COMMAND = str(Path(sys.executable).with_name("ttt4-play"))
MOVES = ["a1", "b2", "c3", "d4", "a2", "c1"]
WON = '[Game "3,3,3"]\n[X "human"]\n[O "human"]\n[Result "1-0"]\n\n1. a1 a2\n2. b1 b2\n3. c1 1-0\n'
CHANGES = {(0, -1): "turned a draw into a loss", (1, 0): "gave away a win", (1, -1): "turned a win into a loss"}
HUMANS = ["--x", "human", "--o", "human", "--live"]


def played(*arguments: object, typed: str = "") -> Any:
    """The command with these lines typed into a pipe, ended."""
    return subprocess.run([COMMAND, *map(str, arguments)], input=typed, capture_output=True, text=True, timeout=120)


def killed(lines: list[str], *arguments: object) -> None:
    """Type lines, each once it is asked for, and kill the process where it asks for the next."""
    command = [COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in [*lines, None]:
            said = b""
            while not said.endswith(b"> "):
                block = process.stdout.read(4096)
                assert block, said
                said += block
            if line is not None:
                process.stdin.write(f"{line}\n".encode())
        process.kill()
    assert process.returncode == -9


def kept(home: Path) -> Record:
    """The one game that was kept."""
    (path,) = (home / "state" / "ttt4" / "games").glob("*.txt")
    return read_record(path.read_text())


def moves_of(record: Record) -> list[str]:
    return [record.match.rules.write(move) for move in record.match.moves]


def marks(said: str, rows: int = 4) -> str:
    """The marks on the board that was drawn last."""
    drawn = re.findall(r"^ +\d+ .*$", said, re.M)[-rows:]
    return "".join("".join(re.findall(r"[XO.]", row)) for row in drawn)


def board_of(moves: list[str], game: str = "4,4,4") -> str:
    """The marks after some moves, written down by hand."""
    _, columns, _ = map(int, game.split(",")[:3])
    cells = ["."] * (columns * columns)
    for ply, move in enumerate(moves):
        cells["abcdefgh".index(move[0]) + columns * (int(move[1]) - 1)] = "XO"[ply % 2]
    return "".join(cells)


def refused(ran: Any, code: int, *words: str) -> bool:
    """Whether a command ended so, with nothing on stdout and one line on stderr that has all the words."""
    assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (code, "", 1), ran
    assert ran.stderr.startswith("Error: ")
    return all(word in ran.stderr for word in words)


@pytest.mark.parametrize("count", range(1, 7))
def test_a_game_that_was_killed_goes_on_with_exactly_its_moves(count: int, home: Path) -> None:
    killed(MOVES[:count], *HUMANS)
    assert moves_of(kept(home)) == MOVES[:count]
    ran = played("resume", "--live")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert marks(ran.stdout) == board_of(MOVES[:count])
    assert f"\n{'XO'[count % 2]}> " in ran.stdout
    assert moves_of(kept(home)) == MOVES[:count]


def test_a_game_that_was_killed_before_its_first_move_was_not_kept(home: Path) -> None:
    killed(["", "zz", "undo"], *HUMANS)
    assert not (home / "state").exists() or not list((home / "state").rglob("*.*"))
    assert refused(played("resume", "--live"), 1, "no game to go on with")


@pytest.mark.parametrize(("side", "count"), [("o", 0), *((side, count) for side in "xo" for count in (1, 2, 3))])
def test_a_game_against_another_player_that_was_killed_goes_on_with_its_moves_too(
    side: str, count: int, store4: Path, home: Path
) -> None:  # nobody can have four in a row yet
    other = {"x": "o", "o": "x"}[side]
    first = ["hint", *["a1"] * (side == "x")]
    killed(first, f"--{side}", "human", f"--{other}", "random", "--seed", 1, "--store", store4)
    assert len(moves_of(kept(home))) == (2 if side == "x" else 1)
    path = next((home / "state" / "ttt4" / "games").glob("*.txt"))
    for _ in range(count - (side == "x")):
        free = [cell for cell in range(16) if not kept(home).match.rules.taken(kept(home).match.state, cell)]
        killed([kept(home).match.rules.write(random.Random(count).choice(free))], "resume", "--store", store4)
    assert len(moves_of(kept(home))) == 2 * count + (side == "o")
    ran = played("resume", path, "--store", store4)
    assert marks(ran.stdout) == board_of(moves_of(kept(home)))


@pytest.mark.parametrize(
    "lines", [["undo"], ["undo", "undo"], ["undo", "redo"], ["undo", "d1"], ["undo", "d1", "undo"]]
)
def test_what_was_undone_before_the_kill_stays_undone(lines: list[str], home: Path) -> None:
    killed([*MOVES[:3], *lines], *HUMANS)
    done, undone = MOVES[:3], []
    for line in lines:
        if line == "undo":
            undone.append(done[-1])
            done = done[:-1]
        else:
            done = [*done, undone.pop() if line == "redo" else line]
    assert moves_of(kept(home)) == done
    assert marks(played("resume", "--live").stdout) == board_of(done)


def test_the_game_that_goes_on_is_the_last_that_did_not_end(home: Path) -> None:
    played(*HUMANS, "--game", "3,3,3", typed="a1\nb2\n")
    played(*HUMANS, "--game", "3,3,3", typed="a1\na2\nb1\nb2\nc1\n")
    played(*HUMANS, "--game", "3,3,3", typed="c3\nresign\n")
    ran = played("resume", "--live")
    assert marks(ran.stdout, 3) == board_of(["a1", "b2"], "3,3,3")


def test_a_game_that_goes_on_stays_in_its_file_and_new_begins_another(home: Path) -> None:
    Path("game.txt").write_text('[Game "3,3,3"]\n[X "human"]\n[O "human"]\n[Date "1999-01-01"]\n\n1. a1 *\n')
    played("resume", "game.txt", "--live", typed="b2\nnew\nc3\n")
    again = read_record(Path("game.txt").read_text())
    assert (moves_of(again), again.tags["Date"]) == (["a1", "b2"], "1999-01-01")
    assert moves_of(kept(home)) == ["c3"]


@pytest.mark.parametrize(("result", "who"), [("1-0", "O"), ("0-1", "X")])
def test_a_game_that_somebody_resigned_is_read_as_such(result: str, who: str) -> None:
    Path("game.txt").write_text(f'[Game "3,3,3"]\n[X "human"]\n[O "human"]\n\n1. a1 b2\n2. c3 {result}\n')
    ran = played("resume", "game.txt", "--live")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"{who} resigns: {'XO'[who == 'X']} has won." in ran.stdout


@pytest.mark.parametrize("state", ["nothing", "an empty folder", "an ended game", "no text"])
def test_without_a_game_to_go_on_with_resume_says_so_in_a_line(state: str, home: Path) -> None:
    games = home / "state" / "ttt4" / "games"
    if state != "nothing":
        games.mkdir(parents=True)
    if state in ("an ended game", "no text"):
        (games / "game.txt").write_bytes(WON.encode() if state == "an ended game" else bytes(range(256)))
    assert refused(played("resume"), 1, "no game to go on with", "ttt4-play begins one")


def replaced(old: str, new: str) -> str:
    assert WON.count(old) == 1
    return WON.replace(old, new)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, 'there is no [Game "rows,columns,k"]'),
        (replaced('[X "human"]', "[X human]"), 2, "is no tag"),
        (WON[: WON.index(" 1-0")], 8, "end without a result"),
        (WON[: WON.index("c1")], 8, "end without a result"),
        (replaced("3,3,3", "3,3,9"), 1, "9 in a row do not fit"),
        (replaced("3,3,3", "three"), 1, "no game 'three'"),
        (replaced('[O "', '[X "'), 3, "tag X stands there twice"),
        (replaced('"1-0"]', '"0-1"]'), 8, "the tag says '0-1'"),
        (replaced("a2", "a1"), 6, "'a1' is taken"),
        (replaced("b2", "b4"), 7, "no cell 'b4'"),
        (replaced("b2", "\x1b[31m"), 7, r"'\x1b[31m'"),
        (replaced("2. ", "5. "), 7, "5. stands where move 2 is due"),
        (replaced("c1 1-0", "c1 c2 1-0"), 8, "the match has ended"),
        (replaced("c1 1-0", "c1 0-1").replace('[Result "1-0"]\n', ""), 7, "but the board shows 1-0"),
        (replaced("c1 1-0", "c1 1-0 c2"), 8, "behind the result"),
        (WON + '[Date "today"]\n', 9, "below the moves"),
    ],
)
@pytest.mark.parametrize("command", ["resume", "replay", "review"])
def test_a_file_that_was_cut_or_edited_is_refused_by_line_and_reason(
    text: str, line: int, why: str, command: str
) -> None:
    Path("game.txt").write_text(text)
    assert refused(played(command, "game.txt"), 2, f"game.txt, line {line}: ", why)


@pytest.mark.parametrize("command", ["resume", "replay", "review"])
@pytest.mark.parametrize(("name", "why"), [("none.txt", "No such file"), (".", "Is a directory"), ("bytes", "no text")])
def test_a_file_that_cannot_be_read_is_refused_in_a_line(command: str, name: str, why: str) -> None:
    Path("bytes").write_bytes(b"\xff\xfe\0")
    assert refused(played(command, name), 2, repr(name), why)


def test_a_file_that_names_an_unknown_player_is_refused_in_a_line() -> None:
    Path("game.txt").write_text('[Game "3,3,3"]\n[X "wizard"]\n\n*\n')
    assert refused(played("resume", "game.txt", "--live"), 2, "'wizard'")


def test_a_folder_that_takes_no_games_is_told_once_and_the_game_goes_on(home: Path) -> None:
    (home / "state").write_text("a file, where a folder should be")
    ran = played(*HUMANS, "--game", "3,3,3", typed="a1\na2\nb1\nb2\nundo\nb2\n")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("cannot be kept") == 1
    assert marks(ran.stdout, 3) == board_of(["a1", "a2", "b1", "b2"], "3,3,3")
    assert ran.stdout.endswith("The game was not kept.\n")


def test_replay_through_a_pipe_shows_every_step_and_the_result() -> None:
    Path("game.txt").write_text(WON)
    ran = played("replay", "game.txt")
    boards = re.split(r"^Move \d of 5\..*$", ran.stdout, flags=re.M)
    moves = ["a1", "a2", "b1", "b2", "c1"]
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [marks(board, 3) for board in boards[:-1]] == [board_of(moves[:n], "3,3,3") for n in range(6)]
    assert re.findall(r"([XO]) plays (\w+)\.", ran.stdout) == [("XO"[n % 2], move) for n, move in enumerate(moves)]
    assert boards[-1].strip() == "Result 1-0."


def graded(rules: naive.Game, order: list[int]) -> list[str]:
    """What each move did, by minimax alone."""
    grades = []
    for ply, cell in enumerate(order):
        board = naive.played(rules, order[:ply])
        best, score = naive.score(rules, board), -naive.score(rules, naive.claim(board, cell))
        changed = CHANGES.get(((best > 0) - (best < 0), (score > 0) - (score < 0)))
        grades.append(changed or ("best" if score == best else "slower win" if score > 0 else "faster loss"))
    return grades


@pytest.mark.parametrize("source", ["store", "search"])
def test_review_grades_every_move_as_minimax_does(source: str, store3: Path) -> None:
    rules, rng, seen = naive.Game.named("3,3,3"), random.Random(6), set()
    given = ["--store", store3] if source == "store" else ["--live", "--time", "99"]
    for _ in range(12):
        match = Match(LineRules(parse_game("3,3,3")))
        while match.to_move:
            match.play(match.to_move, rng.choice(match.rules.legal(match.state)))
        save_record(Record(match), "game.txt")
        ran = played("review", "game.txt", *given)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert max(map(len, ran.stdout.splitlines())) <= 80
        grades = graded(rules, list(match.moves))
        said = re.findall(r"\d\. ([XO]) (\w\d): ([a-z ]+),", " ".join(ran.stdout.split()))
        assert said == [("XO"[ply % 2], match.rules.write(move), grades[ply]) for ply, move in enumerate(match.moves)]
        decisive = [said[ply] for ply, grade in enumerate(grades) if grade in CHANGES.values()]
        assert bool(decisive) == ("The turning point was" in ran.stdout)
        assert not decisive or f"The turning point was {decisive[-1][0]}'s {decisive[-1][1]} (" in ran.stdout
        seen |= set(grades)
    assert seen >= {"best", *CHANGES.values()}


@pytest.mark.parametrize("game", ["3,3,3", "4,4,4", "3,3,3,misere", "1,1,1", "15,15,5", "2,30,2"])
def test_what_is_written_is_read_again(game: str) -> None:
    rng = random.Random(game)
    for _ in range(30):
        match = Match(LineRules(parse_game(game)))
        for _ in range(rng.randrange(12)):
            if match.to_move:
                match.play(match.to_move, rng.choice(match.rules.legal(match.state)))
        record = Record(match, {"X": "human", "O": "oracle:3"}, None if match.over else rng.choice([None, "X", "O"]))
        again = read_record(str(record))
        assert (str(again), again.match.moves, again.resigned) == (str(record), match.moves, record.resigned)


def test_a_write_that_fails_leaves_the_game_that_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("game.txt").write_text(WON)
    record = Record(Match(LineRules(parse_game("3,3,3"))))
    monkeypatch.setattr(os, "fsync", lambda handle: os.write(-1, b""))
    with pytest.raises(OSError, match="Bad file descriptor"):
        save_record(record, "game.txt")
    assert Path("game.txt").read_text() == WON


def test_resume_keeps_remarks_and_writes_nothing_before_a_move() -> None:
    text = '# at the lake\n[Game "3,3,3"]\n# with tea\n[X "human"]\n[O "human"]\n1. a1   *\n'
    Path("game.txt").write_text(text)
    played("resume", "game.txt", "--live", typed="zz\nhint\nredo\nsave other.txt\nquit\n")
    assert Path("game.txt").read_text() == text
    played("resume", "game.txt", "--live", typed="b2\n")
    lines = Path("game.txt").read_text().splitlines()
    assert [line for line in lines if line.startswith("#")] == ["# at the lake", "# with tea"]
    assert lines[-1] == "1. a1 b2 *" or lines[-2:] == ["1. a1 b2", "*"]
    assert "# with tea" in Path("other.txt").read_text()


@pytest.mark.parametrize("tags", ['[X "evil:it"]\n[O "human"]', '[X "human"]\n[O "evil:it"]'])
def test_a_record_does_not_load_what_it_names(tags: str) -> None:
    Path("evil.py").write_text("open('loaded', 'w').close()")
    Path("game.txt").write_text(f'[Game "3,3,3"]\n{tags}\n\n1. a1 *\n')
    ran = played("resume", "game.txt", "--live")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (ran.returncode or -1, "", 1)
    assert "'evil:it'" in ran.stderr
    assert not Path("loaded").exists()


def test_a_game_without_a_move_says_nothing_of_keeping(home: Path) -> None:
    (home / "state").write_text("a file, where a folder should be")
    ran = played(*HUMANS, "--game", "3,3,3", typed="hint\nquit\n")
    assert (ran.returncode, ran.stderr, "kept" in ran.stdout) == (0, "", False)


def test_a_game_that_is_resigned_is_kept_as_such_and_undo_opens_it_again(home: Path) -> None:
    played(*HUMANS, "--game", "3,3,3", typed="a1\nresign\n")
    assert (kept(home).resigned, kept(home).result) == ("O", "1-0")
    path = next((home / "state" / "ttt4" / "games").glob("*.txt"))
    played("resume", path, "--live", typed="undo\nquit\n")
    assert (kept(home).resigned, moves_of(kept(home))) == (None, ["a1"])
    assert not list(home.rglob("*.partial"))
