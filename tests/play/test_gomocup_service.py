"""Our brain as a process: whole matches under a manager, and managers that are gone, hostile or in a hurry."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from brains import command

from play.cli.engine import engine
from play.gomocup.manager import GomocupPlayer
from play.gomocup.places import cell_at, read_place, write_place
from play.match import Match
from solver.games.line_rules import LineRules
from solver.games.lines import grid

OURS = str(Path(sys.executable).with_name("pbrain-ttt4"))
Run = Callable[..., Any]
Serve = Callable[..., "Manager"]


class Manager:
    """Plays the role of a manager, as the protocol asks: it sends a command, and waits for the answer."""

    def __init__(self, words: tuple[str, ...], line_end: str = "\r\n") -> None:
        self.line_end = line_end
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def send(self, *lines: str) -> None:
        assert self.process.stdin
        for line in lines:
            self.process.stdin.write(f"{line}{self.line_end}".encode())
        self.process.stdin.flush()

    def ask(self, *lines: str) -> str:
        """Send some lines, and return the answer to the last."""
        assert self.process.stdout
        self.send(*lines)
        while (line := self.process.stdout.readline()).startswith((b"MESSAGE", b"DEBUG")):
            pass
        return line.decode().rstrip("\r\n")

    def ended(self, seconds: float = 1.0) -> tuple[int, str, str]:
        """Return the exit code, and all that is still said, on both streams, if the process ends within so long."""
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve our brain, by default with an engine that is no good; it is killed at the end, if it still runs."""
    managers: list[Manager] = []

    def serving(*arguments: object, words: tuple[str, ...] = (), line_end: str = "\r\n") -> Manager:
        managers.append(Manager(words or command("service", *arguments), line_end))
        return managers[-1]

    yield serving
    for manager in managers:
        manager.process.kill()
        manager.process.communicate()


def play_match(manager: Manager, rules: LineRules, rng: random.Random, *, begins: bool) -> Match[Any]:
    """Let a brain play a whole match against random moves; every move of it has to be legal."""
    game, match = rules.game, Match(rules)
    last = ""
    while side := match.to_move:
        if (side == "X") == begins:
            answer = manager.ask(f"TURN {last}" if last else "BEGIN")
            place = read_place(answer)
            assert place, answer
            cell = cell_at(game, place)
            assert cell is not None, answer
        else:
            cell = rng.choice(match.state.empty)
            last = write_place(game, cell)
        match.play(side, cell)
    return match


@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
@pytest.mark.parametrize("begins", [True, False])
def test_whole_matches_are_played_under_a_manager(begins: bool, line_end: str, serve: Serve) -> None:
    manager, rng = serve(line_end=line_end), random.Random(2)
    assert manager.ask("INFO game_type 1", "ABOUT").startswith('name="ttt4"')
    assert manager.ask("RECTSTART 9,7") == "OK"
    for _ in range(3):
        assert play_match(manager, LineRules(grid(7, 9, 5)), rng, begins=begins).outcome
        assert manager.ask("RESTART") == "OK"
    manager.send("END")
    assert manager.ended() == (0, "", "")


def test_our_brain_plays_a_whole_match_under_our_own_manager() -> None:
    rules = LineRules(grid(9, 9, 5))
    players = {side: GomocupPlayer(rules.game, command("service"), 0.2) for side in "XO"}
    match = Match(rules)
    while side := match.to_move:
        match.play(side, players[side].choose(match.state))
    assert str(match.outcome) == "X has won: X completed a line"
    for player in players.values():
        player.close()


@pytest.mark.parametrize("how", ["END", "end", "end of input"])
@pytest.mark.parametrize("command_", ["BEGIN", "TURN 7,7", "BOARD\r\n1,1,1\r\nDONE", "SWAP2BOARD\r\nDONE"])
def test_it_ends_within_a_second_in_the_middle_of_a_thought(how: str, command_: str, serve: Serve) -> None:
    manager = serve(30)
    assert manager.ask("INFO timeout_turn 60000", "START 15") == "OK"
    manager.send(command_)
    time.sleep(0.2)
    if how != "end of input":
        manager.send(how)
    assert manager.ended() == (0, "", "")


def test_end_is_heard_behind_more_lines_than_may_wait(serve: Serve) -> None:
    manager = serve(30)
    assert manager.ask("INFO timeout_turn 60000", "START 15") == "OK"
    manager.send("BEGIN", *["TURN 1,1"] * 30_000, "END")
    code, out, err = manager.ended()
    assert (code, out, err) == (0, "ERROR too many commands during a thought: some are lost\n", "")


@pytest.mark.parametrize("end", ["END\n", ""])
def test_what_was_asked_before_the_end_is_answered_in_a_hurry(end: str) -> None:
    said = f"START 15\nINFO timeout_turn 60000\nBEGIN\nTURN 5,5\nABOUT\n{end}"
    ran = subprocess.run(command("service", 30), input=said, capture_output=True, text=True, timeout=20, check=True)
    answers = [line for line in ran.stdout.splitlines() if not line.startswith("MESSAGE")]
    assert (answers[:3], len(answers), ran.stderr) == (["OK", "0,0", "1,0"], 4, "")


def test_a_last_line_without_an_end_is_a_line() -> None:
    ran = subprocess.run(command("service"), input=b"START 5\nBEGIN", capture_output=True, timeout=20, check=True)
    assert ran.stdout.endswith(b"\n0,0\n")


def test_nothing_but_the_answers_is_written_however_much_is_asked() -> None:
    said = b"START 15\n" + b"TURN 99,99\nFOO\nRESTART\n" * 20_000
    ran = subprocess.run(command("service"), input=said, capture_output=True, timeout=60, check=True)
    assert ran.stdout.splitlines()[1:4] == [b"ERROR no cell '99,99' on this board", b"UNKNOWN command 'FOO'", b"OK"]
    assert (ran.stdout.count(b"\n"), ran.stderr) == (60_001, b"")


HOSTILE = {
    "binary": os.urandom(1 << 20),
    "zeros": bytes(1 << 20),
    "one long line": b"x" * (64 << 20),
    "line ends": b"\r\n" * (8 << 20),
    "a board without end": b"START 20\nBOARD\n" + b"1,1,1\n" * 200_000,
    "huge numbers": b"START " + b"9" * 999_999 + b"\n",
    "a long line of moves": b"START 15\nTURN " + b"1," * 999_999 + b"\n",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_manager_makes_it_fail_or_grow(what: str) -> None:
    words = [sys.executable, "-c", MEASURED, *command("service")[1:]]
    ran = subprocess.run(words, input=HOSTILE[what], capture_output=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.count(b"\n") < 1 << 15
    assert all(len(line) < 300 and line.isascii() for line in ran.stdout.splitlines())


MEASURED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("thinking", [True, False])
def test_a_signal_ends_it_in_one_line(number: signal.Signals, thinking: bool, serve: Serve) -> None:
    manager = serve(words=(OURS,))
    assert manager.ask("INFO timeout_turn 60000", "START 15" if thinking else "ABOUT")
    if thinking:
        manager.send("BOARD", "7,7,2", "DONE")
        time.sleep(0.3)
    manager.process.send_signal(number)
    code, out, err = manager.ended()
    assert (code, out, err.count("\n"), len(err) < 20) == (128 + number, "", 1, True)


def test_it_ends_within_a_second_in_the_middle_of_a_search(serve: Serve) -> None:
    manager = serve(words=(OURS,))
    assert manager.ask("INFO timeout_turn 60000", "START 15") == "OK"
    manager.send("BOARD", "7,7,2", "DONE")
    time.sleep(0.5)
    manager.send("END")
    assert manager.ended() == (0, "", "")


def test_it_ends_when_nobody_reads_its_answers(serve: Serve) -> None:
    manager = serve()
    assert manager.ask("START 15") == "OK"
    assert manager.process.stdout
    manager.process.stdout.close()
    manager.send("BEGIN")
    assert manager.process.wait(1) == 0


def test_the_command_refuses_a_game_that_is_none_of_lines(run: Run) -> None:
    assert run(engine, "--game", "duel").code == 2
    assert run(engine, "--game", "nonsense").code == 2


def test_other_commands_load_nothing_of_it() -> None:
    load_all = "[main.get_command(None, name) for name in main.list_commands(None)]"
    listing = f"import sys; from play.cli.main import main; {load_all}; print(*sorted(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert "play.cli.engine" in ran.stdout
    assert not re.search(r"play\.gomocup|solver\.engine\.|numba|subprocess", ran.stdout)


@pytest.mark.parametrize("words", [(OURS,), (str(Path(OURS).with_name("ttt4-play")), "engine")])
def test_both_names_of_the_command_play_with_the_engine(words: tuple[str, ...], serve: Serve) -> None:
    manager = serve(words=words)
    assert manager.ask("START 15") == "OK"
    assert read_place(manager.ask("INFO timeout_turn 50", "BEGIN"))
    stones = [f"{x},7,{who}" for who, xs in ((1, range(4)), (2, range(9, 12))) for x in xs]
    assert manager.ask("BOARD", *stones, "DONE") == "4,7", "it makes five"
    assert len(manager.ask("RESTART", "SWAP2BOARD", "DONE")) == 2
    manager.send("END")
    code, _, err = manager.ended()
    assert (code, err) == (0, "")


def test_the_smallest_board_is_played(serve: Serve) -> None:
    manager = serve(words=(OURS, "--game", "1,1,1"))
    assert manager.ask("START 1") == "OK"
    assert manager.ask("BEGIN") == "0,0"


@pytest.mark.parametrize("begins", [True, False])
def test_the_engine_wins_a_whole_match_under_a_manager(begins: bool, serve: Serve) -> None:
    manager = serve(words=(OURS, "--game", "9,8,4"))
    assert manager.ask("RECTSTART 8,9") == "OK"
    manager.send("INFO timeout_turn 60")
    outcome = play_match(manager, LineRules(grid(9, 8, 4)), random.Random(5), begins=begins).outcome
    assert outcome
    assert outcome.winner == ("X" if begins else "O")


@pytest.mark.parametrize("turn", [0, 50, 100, 300])
def test_the_engine_keeps_the_time_of_a_turn(turn: int, serve: Serve) -> None:
    manager, rng, slowest = serve(words=(OURS,)), random.Random(turn), 0.0
    assert manager.ask(f"INFO timeout_turn {turn}", "START 15") == "OK"
    for _ in range(5):
        stones = rng.sample(range(225), 2 * rng.randrange(1, 20))
        lines = [f"{cell % 15},{cell // 15},{1 + number % 2}" for number, cell in enumerate(stones)]
        assert manager.ask("RESTART") == "OK"
        start = time.perf_counter()
        assert read_place(manager.ask("BOARD", *lines, "DONE"))
        slowest = max(slowest, time.perf_counter() - start)
    assert slowest < turn / 1000 + 0.5, "other tests run beside it; tests/bench/bench_deadline.py measures it alone"
