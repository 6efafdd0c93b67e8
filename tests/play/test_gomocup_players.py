"""Programs that play by the Gomocup protocol: what they are told, and that nothing they do harms the arena."""

import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from typing import Any

import pytest
from brains import InProcess, command, installed, running
from hypothesis import given
from hypothesis import strategies as st
from sessions import piped

from play.arena import Roster, find_game, meet
from play.cli.main import main
from play.gomocup.manager import GomocupPlayer, read_guest
from play.gomocup.process import BrainProcess
from play.gomocup.swap import openings
from play.match import Match
from play.players.player import PlayerError, may_resume, read_player
from play.server.desk import Desk
from solver.games.line_rules import LineRules, LineState
from solver.games.lines import grid

Run = Callable[..., Any]
FIVE = LineRules(grid(15, 15, 5))
WIDE = LineRules(grid(6, 9, 5))
MARK = "brains.py"
FANO = str(Path(__file__).parents[2] / "data" / "games" / "fano.toml")


@pytest.fixture(autouse=True)
def nowhere(home: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Stand in an empty folder; programs are in this process, unless the test is about processes."""
    if "processes" not in request.fixturenames:
        monkeypatch.setattr("play.gomocup.manager.BrainProcess", InProcess)


@pytest.fixture
def processes() -> Iterator[None]:
    """See to it that no program of a test outlives it."""
    before = set(running(MARK))
    yield
    wait_until(lambda: not set(running(MARK)) - before)


def player_of(behaviour: str, *arguments: object, rules: LineRules = FIVE, seconds: float = 20.0) -> GomocupPlayer:
    return GomocupPlayer(rules.game, command(behaviour, *arguments), seconds)


def after(rules: LineRules, *moves: int) -> LineState:
    state = rules.start()
    for move in moves:
        state = rules.play(state, move)
    return state


def told(log: Path) -> list[str]:
    """What a program was told, but for limits."""
    return [line for line in log.read_text().splitlines() if not line.startswith("INFO")]


@pytest.mark.parametrize(
    ("rules", "asked", "replies", "expected"),
    [(FIVE, [(), (0, 16), (0, 16, 1, 224)], [0, 1, 2], "START 15|BEGIN|TURN 1,1|TURN 14,14|END"),
     (WIDE, [(10,)], [0], "RECTSTART 9,6|TURN 1,1|END"),
     (WIDE, [(10, 11, 12), (10, 11), ()], [0, 0, 0],
      "RECTSTART 9,6|BOARD|1,1,2|2,1,1|3,1,2|DONE|RESTART|BOARD|1,1,1|2,1,2|DONE|RESTART|BEGIN|END")],
    ids=["each move of the other side", "the first move", "a board if it does not continue the last"],
)  # fmt: skip
def test_a_program_is_told(
    rules: LineRules, asked: list[tuple[int, ...]], replies: list[int], expected: str, tmp_path: Path
) -> None:
    player = player_of("fair", tmp_path / "log", rules=rules)
    assert [player.choose(after(rules, *moves)) for moves in asked] == replies
    player.close()
    assert told(tmp_path / "log") == expected.split("|")


@pytest.mark.parametrize(("behaviour", "starts"), [("fair", 1), ("no-restart", 2)])
def test_a_program_is_told_its_limits_once_after_each_start(behaviour: str, starts: int, tmp_path: Path) -> None:
    player = player_of(behaviour, tmp_path / "log", seconds=1.25)
    for moves in ((), (0, 16), (5, 6)):
        player.choose(after(FIVE, *moves))
    player.close()
    limits = ["timeout_turn 1250", "timeout_match 0", "time_left 2147483647", "max_memory 0", "game_type 1", "rule 0"]
    said = (tmp_path / "log").read_text()
    assert said.count("\n".join(["START 15", *(f"INFO {limit}" for limit in limits)])) == starts
    assert said.count("INFO") == starts * len(limits)


def test_a_strict_program_plays_whole_games_of_either_colour_after_each_opening_of_swap2() -> None:
    players = [player_of("strict") for _ in range(2)]
    for number, opening in enumerate(openings(FIVE.game)):
        match = Match(FIVE)
        for cell in opening:
            match.play(match.to_move or "", cell)
        while side := match.to_move:
            match.play(side, players[("XO".index(side) + number) % 2].choose(match.state))
        assert match.outcome
    for player in players:
        player.close()


@given(st.lists(st.lists(st.integers(0, 53), max_size=9, unique=True), min_size=1, max_size=4), st.booleans())
def test_a_program_knows_every_position_that_it_is_asked_about(games: list[list[int]], restarts: bool) -> None:
    # Feature: large boards, Property: what a program has been told is the position
    player = player_of("fair" if restarts else "talks", rules=WIDE)
    for moves in games:
        state = after(WIDE, *moves)
        if state.outcome:
            continue
        player.choose(state)
        own, other = ([(cell % 9, cell // 9) for cell in sorted(moves[start::2])] for start in (0, 1))
        mine, theirs = (own, other) if len(moves) % 2 == 0 else (other, own)
        assert player.remarks[0] == f"DEBUG {sorted(mine)};{sorted(theirs)}"
    player.close()


def plays_on(behaviour: str) -> None:
    player = player_of(behaviour)
    for moves, reply in (((), 0), ((0, 16), 1), ((5, 6, 7), 0), ((5, 6, 7, 0, 1, 2), 3), ((), 0)):
        assert player.choose(after(FIVE, *moves)) == reply
    player.close()


@pytest.mark.parametrize("behaviour", ["fair", "cr", "talks", "suggests", "repeats", "no-restart"])
def test_whatever_the_protocol_allows_is_understood(behaviour: str) -> None:
    plays_on(behaviour)


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("behaviour", ["talks", "forks"])
def test_a_program_of_its_own_process_is_understood_too(behaviour: str) -> None:
    plays_on(behaviour)


HOSTILE = [
    ("silent", "no answer in 0.05 s"), ("babbles", "no answer in 0.05 s"), ("outside", "99,99, which is not on the"),
    ("errs", "it says 'ERROR I do not know'"), ("floods", "it says too much"), ("endless", "it says too much"),
    ("dies", "ended"), ("refuses", "it says 'ERROR I like no board'"),
]  # fmt: skip


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(("behaviour", "why"), HOSTILE)
def test_a_program_that_names_no_move_is_ended_and_the_reason_is_one_line(
    behaviour: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = behaviour in ("silent", "babbles")
    player = player_of(behaviour, seconds=0 if never else 20)
    if behaviour != "refuses":
        player.start()
    monkeypatch.setattr("play.gomocup.manager.GRACE", 0.05 if never else 20)
    with pytest.raises(PlayerError) as refusal:
        player.choose(after(FIVE, 0))
    assert why in str(refusal.value)
    assert len(str(refusal.value)) < 100
    assert "\n" not in str(refusal.value)
    wait_until(lambda: not running(f"{MARK}\0{behaviour}"))  # at once, and not only when it is closed


@pytest.mark.usefixtures("processes")
def test_a_program_that_does_not_begin_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.gomocup.manager.READY", 0.05)
    with pytest.raises(PlayerError, match=r"no answer in 0\.05 s"):
        player_of("no-start").start()


@pytest.mark.usefixtures("processes")
def test_a_program_that_never_reads_cannot_hold_up_whoever_tells_it_much() -> None:
    process = BrainProcess(command("deaf"))
    with pytest.raises(PlayerError, match="does not read"):
        next(process.ask("x" * (1 << 20), 0.05))
    process.kill()


@pytest.mark.usefixtures("processes")
def test_what_a_program_said_unasked_is_no_answer() -> None:
    process = BrainProcess(["sh", "-c", "echo unasked; read question; echo answer"])
    assert select([process._out], [], [], 60)[0]
    assert next(process.ask("?", 60)) == "answer"
    process.kill()


@pytest.mark.usefixtures("processes")
def test_a_program_that_has_ended_already_answers_nothing_and_can_be_ended() -> None:
    process = BrainProcess(["true"])
    process._process.wait()
    with pytest.raises(PlayerError, match=r"^it has ended$"):
        next(process.ask("?", 60))
    process.end()


@pytest.mark.usefixtures("processes")
def test_what_a_program_says_when_it_is_told_to_end_is_read_until_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("play.gomocup.process._FAREWELL", 60.0)
    talks = 'read told; head -c 1000000 /dev/zero; echo "$told" > "$0"'  # more than fits into a pipe
    process = BrainProcess(["sh", "-c", talks, str(tmp_path / "ended")])
    process.end()
    assert (tmp_path / "ended").read_text() == "END\n"


@pytest.mark.usefixtures("processes")
def test_after_an_error_a_program_is_started_again_and_told_everything(tmp_path: Path) -> None:
    player = player_of("dies", tmp_path / "log")
    for _ in range(2):
        with pytest.raises(PlayerError):
            player.choose(after(FIVE, 0, 1))
    assert told(tmp_path / "log") == ["START 15", "BOARD", "0,0,1", "1,0,2", "DONE"] * 2


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("behaviour", ["forks", "stays"])
def test_a_closed_program_is_gone_with_its_children(behaviour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.gomocup.process._FAREWELL", 0.05)
    player = player_of(behaviour)
    player.choose(after(FIVE))
    assert running(f"{MARK}\0{behaviour}")
    player.close()
    player.close()
    wait_until(lambda: not running(f"{MARK}\0{behaviour}"))


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until what was killed is gone: the system takes a moment."""
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def arena(run: Run, *arguments: object, code: int = 0) -> dict[str, Any]:
    ran = run(main, "arena", "--live", "--json", *arguments)
    assert ran.code == code, ran
    said: dict[str, Any] = json.loads(ran.out)
    return said["meetings"][0]  # type: ignore[no-any-return]


def named(behaviour: str, prefix: str = "gomocup:") -> str:
    return prefix + shlex.join(command(behaviour))


@pytest.mark.usefixtures("processes")
def test_two_programs_play_whole_games_in_the_arena(run: Run, tmp_path: Path) -> None:
    names = (f"gomocup:{installed(tmp_path, each)}" for each in ("strict", "suggests"))
    met = arena(run, "--game", "9,9,5", "--x", next(names), "--o", next(names), "--games", 2, "--swap")
    assert [player["forfeits"] for player in met["players"]] == [[], []]
    assert (met["players"][0]["games"], met["plies"]["min"] >= 9) == (2, True)


def test_a_program_that_likes_no_board_ends_the_arena_in_one_line(run: Run) -> None:
    ran = run(main, "arena", "--live", "--game", "9,9,5", "--x", "random", "--o", named("refuses"))
    assert (ran.code, ran.err.count("\n"), "ERROR I like no board" in ran.err) == (2, 1, True)


@pytest.mark.usefixtures("processes")
def test_a_program_that_is_in_the_middle_of_a_thought_when_the_limit_comes_is_ended(run: Run) -> None:
    met = arena(run, "--game", "9,9,5", "--x", "random", "--o", named("silent", "gomocup:9s:"), "--games", 2,
                "--limit", 0.05, code=1)  # fmt: skip
    assert {forfeit["reason"] for forfeit in met["players"][1]["forfeits"]} == {"no move in 0.05 s"}


@pytest.mark.usefixtures("processes")
def test_every_game_has_a_process_of_its_own_that_ends_with_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Roster(LineRules(grid(5, 5, 5)), live=True) as roster:
        meet(roster, ("random", f"gomocup:{shlex.join(command('fair', log))}"), 2, swap=True, seed=1)
        assert len(running(str(log))) == 1
    assert [line for line in told(log) if line in ("START 5", "END")] == ["START 5", "END"] * 2
    assert "RESTART" not in log.read_text()


@pytest.mark.parametrize("game", ["4,4,4", "9,9,6", "15,15,5,misere", FANO, "duel"])
def test_a_game_that_the_protocol_does_not_know_needs_a_program_that_is_told_by_arguments(
    game: str, tmp_path: Path
) -> None:
    plain, program = installed(tmp_path, "fair"), command("fair")
    with Roster(find_game(game), live=True) as roster:
        with pytest.raises(PlayerError, match=r"five in a row|games of lines"):
            roster.player(f"gomocup:{plain}", 1)
        if game != "duel":
            player = roster.player(f"gomocup:{shlex.join(program)}", 1)
            assert player is not None
            assert player.choose(roster.rules.start()) == 0


def test_a_name_has_a_time_a_path_and_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = installed(tmp_path, "fair")
    (tmp_path / "my brains").mkdir()
    blank = installed(tmp_path / "my brains", "fair")
    assert read_guest(f"gomocup:{path}") == ((str(path),), None)
    assert read_guest(f" gomocup:0.5s:{path} --game 6,6,4 ") == ((str(path), "--game", "6,6,4"), 0.5)
    assert read_guest(f"gomocup:'{blank}'") == ((str(blank),), None)
    monkeypatch.chdir(tmp_path)
    assert read_guest("gomocup:pbrain-fair").command == (str(path),)
    monkeypatch.chdir("/")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{tmp_path}")
    assert read_guest("gomocup:pbrain-fair").command == (str(path),)
    assert os.path.basename(read_guest("gomocup:pbrain-ttt4").command[0]) == "pbrain-ttt4"


@pytest.mark.parametrize("name", ["gomocup:", "gomocup: ", "gomocup:1s:", "gomocup:'x", "gomocup:no-such", "gomocup:/",
                                  "gomocup:\0", "gomocup:" + "x" * 9999])  # fmt: skip
def test_a_name_of_no_program_is_refused_in_one_line(name: str, run: Run) -> None:
    with pytest.raises(PlayerError) as refusal, Roster(FIVE, live=True) as roster:
        roster.player(name, 1)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


@pytest.mark.usefixtures("processes")
def test_a_file_that_is_no_program_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "pbrain-text"
    path.write_bytes(b"\x7fELF but no more")
    path.chmod(0o755)
    with pytest.raises(PlayerError, match="cannot start"):
        GomocupPlayer(FIVE.game, [str(path)], 1).start()


def test_neither_a_record_nor_the_server_starts_a_program(tmp_path: Path) -> None:
    name = f"gomocup:{installed(tmp_path, 'fair')}"
    assert read_player(name).kind == "gomocup"
    assert not may_resume(name)
    Path("game.txt").write_text(f'[Game "9,9,5"]\n[X "human"]\n[O "{name}"]\n[Result "*"]\n\n1. a1 *\n')
    ran = piped("", "resume", "game.txt")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n"), name in ran.stderr) == (1, "", 1, True)
    ran = piped("b2\nquit\n", "resume", "game.txt", "--o", name)
    assert (ran.returncode, ran.stderr) == (0, "")
    desk = Desk(live=True)
    for ask in (lambda: desk.player(name, FIVE), lambda: desk.choice("9,9,5", "81", name, "1")):
        with pytest.raises(PlayerError, match="not served"):
            ask()


def test_names_of_programs_may_hold_commas_between_quotes_and_tables_show_their_last_part(run: Run) -> None:
    x, y = (named("fair", f"gomocup:{seconds}s:") + f' "{word},2"' for seconds, word in ((1, "a"), (2, "b")))
    ran = run(main, "arena", "--live", "--game", "5,5,5", "--all", f"random,{x},{y}", "--games", 2)
    assert ran.code == 0, ran
    assert "gomocup:" not in ran.out
    assert re.search(r"^ +\d 1s:", ran.out, re.MULTILINE)
