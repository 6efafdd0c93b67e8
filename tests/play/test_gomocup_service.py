"""Our brain served to a manager: whole matches, ends in the middle of a thought, and managers that are gone or hostile.

Most services run in this process: they read a pipe or a file, and `sys.exit` stands in for the end of the process.
"""

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

import pytest
from brains import FirstEmpty, Thought, command

from play.cli.engine import engine
from play.gomocup.brain import HURRY, Brain
from play.gomocup.manager import GomocupPlayer
from play.gomocup.places import cell_at, read_place, write_place
from play.gomocup.service import Service
from play.match import Match
from solver.games.line_rules import LineRules
from solver.games.lines import grid

OURS = str(Path(sys.executable).with_name("pbrain-ttt4"))
PATIENCE = 60.0
"""How many seconds a test waits for what happens at once, before it fails."""

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
"""A thread that is left in the middle of a thought, which would end with its process, ends with SystemExit."""

Run = Callable[..., Any]
Ask = Callable[[str], str]
Clock = Callable[[], float]
Serve = Callable[..., "Manager"]


def brain_with(thinker: Any) -> Brain:
    """A brain with an engine, at a time that stands still."""
    return Brain(lambda game, bits: thinker, clock=lambda: 0.0)


class Piped:
    """A service in a thread of this process, between two pipes."""

    def __init__(self, brain: Brain, clock: Clock = lambda: 0.0) -> None:
        self._hears, said = os.pipe()
        answers, self._says = os.pipe()
        self._said, self._answers = os.fdopen(said, "wb", 0), os.fdopen(answers, "rb")
        self._service = Service(brain, self._hears, self._says, clock=clock, leave=sys.exit)
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with pytest.raises(SystemExit):
            self._service.run()

    def send(self, lines: str | None) -> None:
        """Send some lines; None is the end of the input."""
        if lines is None:
            self._said.close()
        else:
            self._said.write(lines.encode())

    def ask(self, lines: str) -> str:
        """Send some lines, and return the answer to the last."""
        self.send(lines)
        while (line := self._answers.readline()).startswith(b"MESSAGE"):
            pass
        return line.decode().rstrip("\n")

    def ended(self) -> str:
        """Return all that is still answered, once the service has ended."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        os.close(self._says)
        with self._answers:
            said = self._answers.read().decode()
        self._said.close()
        os.close(self._hears)
        return said


class Held(FirstEmpty):
    """An engine whose thought lasts until it is let go; first it does something."""

    def __init__(self, begun: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self.begun = begun
        self.free = Event()

    def think(self, own: int, other: int, *, seconds: float | None = None, nodes: int = 0, seed: int = 0) -> Thought:
        self.begun()
        if self.free.wait(PATIENCE):
            raise SystemExit
        return super().think(own, other)  # it was waited for


def served(brain: Brain, said: bytes, clock: Clock = lambda: 0.0) -> list[str]:
    """Return the answers to all that a manager says at once before it leaves, without messages."""
    hears, says = os.memfd_create("said"), os.memfd_create("answers")
    os.write(hears, said)
    os.lseek(hears, 0, os.SEEK_SET)
    with pytest.raises(SystemExit) as ended:
        Service(brain, hears, says, clock=clock, leave=sys.exit).run()
    assert ended.value.code == 0
    os.close(hears)
    with os.fdopen(says, "rb") as answers:
        answers.seek(0)
        lines = answers.read().decode("ascii").splitlines()
    return [line for line in lines if not line.startswith("MESSAGE")]


def play_match(ask: Ask, rules: LineRules, rng: random.Random, *, begins: bool) -> Match[Any]:
    """Let a brain play a whole match against random moves; every move of it has to be legal."""
    game, match = rules.game, Match(rules)
    last = ""
    while side := match.to_move:
        if (side == "X") == begins:
            answer = ask(f"TURN {last}" if last else "BEGIN")
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
def test_whole_matches_are_played_under_a_manager(begins: bool, line_end: str) -> None:
    manager, rng = Piped(brain_with(FirstEmpty())), random.Random(2)

    def ask(line: str) -> str:
        return manager.ask(line + line_end)

    manager.send(f"INFO game_type 1{line_end}")
    assert re.fullmatch(r'name="ttt4", version="[^"]+"', ask("ABOUT"))
    assert ask("RECTSTART 9,7") == "OK"
    for _ in range(3):
        assert play_match(ask, LineRules(grid(7, 9, 5)), rng, begins=begins).outcome
        assert ask("RESTART") == "OK"
    manager.send(f"END{line_end}")
    assert manager.ended() == ""


def test_our_brain_plays_a_whole_match_under_our_own_manager() -> None:
    rules = LineRules(grid(6, 6, 5))
    players = {side: GomocupPlayer(rules.game, command("service"), 0.2) for side in "XO"}
    match = Match(rules)
    while side := match.to_move:
        match.play(side, players[side].choose(match.state))
    assert str(match.outcome) == "X has won: X completed a line"
    for player in players.values():
        player.close()


@pytest.mark.parametrize("how", [["END\n"], ["end\r\n"], ["END", None], ["TURN 1,1\n" * 30_000, "END\n"]],
                         ids=["END", "end", "unended", "behind"])  # fmt: skip
@pytest.mark.parametrize("asked", ["BEGIN", "TURN 7,7", "BOARD\r\n1,1,1\r\nDONE", "SWAP2BOARD\r\nDONE"])
def test_it_ends_at_once_in_the_middle_of_a_thought(how: list[str | None], asked: str) -> None:
    held = Held(lambda: [manager.send(lines) for lines in how])
    manager = Piped(brain_with(held))
    manager.send(f"INFO timeout_turn 60000\r\nSTART 15\r\n{asked}\r\n")
    assert manager.ended() == "OK\n"
    held.free.set()


def test_a_thought_that_takes_longer_than_it_promised_is_not_waited_for_long() -> None:
    clock = count(0.0, 0.1)
    held = Held(lambda: manager.send("END\n"))
    brain = brain_with(held)
    brain.hurried = True
    manager = Piped(brain, lambda: next(clock))
    manager.send("START 15\nBEGIN\n")
    assert manager.ended() == "OK\n"
    assert 0.8 < next(clock) < 3
    held.free.set()


class Hurrying(Brain):
    """A brain that can be waited for to be in a hurry."""

    def __init__(self, make: Callable[[Event], FirstEmpty]) -> None:
        """Make an engine that may wait until the brain is told to hurry."""
        self.told = Event()
        super().__init__(lambda game, bits: make(self.told), clock=lambda: 0.0)

    @property
    def hurried(self) -> bool:
        return self.told.is_set()

    @hurried.setter
    def hurried(self, hurried: bool) -> None:
        if hurried:
            self.told.set()


@pytest.mark.parametrize("end", ["END\n", ""])
def test_what_was_asked_before_the_end_is_answered_in_a_hurry(end: str) -> None:
    """Also while the engine is being made."""
    thinker = FirstEmpty()
    said = f"START 15\nINFO timeout_turn 60000\nBEGIN\nTURN 5,5\nABOUT\n{end}"
    answers = served(Hurrying(lambda told: thinker if told.wait(PATIENCE) else FirstEmpty()), said.encode())
    assert (answers[:3], len(answers), thinker.seconds) == (["OK", "0,0", "1,0"], 4, [HURRY, HURRY])


class Finishing(FirstEmpty):
    """An engine whose thought lasts until something has happened."""

    def __init__(self, happened: Event) -> None:
        super().__init__()
        self.happened = happened

    def think(self, own: int, other: int, *, seconds: float | None = None, nodes: int = 0, seed: int = 0) -> Thought:
        assert self.happened.wait(PATIENCE)
        return super().think(own, other, seconds=seconds)


@pytest.mark.parametrize("last", ["TURN 5,5\n", "TURN 5,5"])
def test_all_that_waits_at_the_end_of_the_input_is_answered_however_late_it_is(last: str) -> None:
    """Also the last line that nothing ends, and a thought that has begun."""
    said = "START 15\nINFO timeout_turn 60000\nBEGIN\n" + "TURN 99,99\n" * 2_000 + last
    hour = count(0.0, 3600.0)
    answers = served(Hurrying(Finishing), said.encode(), lambda: next(hour))
    assert answers == ["OK", "0,0", *["ERROR no cell '99,99' on this board"] * 2_000, "1,0"]


def test_more_lines_than_may_wait_during_a_thought_are_answered_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.gomocup.service.MOST_WAITING", 3)
    came, full = count(1), Event()

    def clock() -> float:
        if next(came) == 2 + 3 + 1:  # those that the brain has taken, those that wait, and one more
            full.set()
        return 0.0

    said = b"START 15\nBEGIN\n" + b"FOO\n" * 99
    assert served(brain_with(Finishing(full)), said, clock) == ["OK", "0,0", *["UNKNOWN command 'FOO'"] * 99]


def test_pipes_that_do_not_block_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    (hears, said), (answers, says) = os.pipe(), os.pipe()
    os.set_blocking(hears, False)
    os.set_blocking(says, False)
    read = bytearray()

    def wait(readable: list[int], writable: list[int], _: list[int]) -> None:
        if writable:
            read.extend(os.read(answers, 1 << 20))
        else:
            os.write(said, b"FOO\n" * 5_000)  # whose answers do not fit into a pipe
            os.close(said)

    monkeypatch.setattr("play.gomocup.service.select", wait)
    with pytest.raises(SystemExit):
        Service(brain_with(FirstEmpty()), hears, says, leave=sys.exit).run()
    os.close(says)
    with os.fdopen(answers, "rb") as rest:
        assert (read + rest.read()).count(b"UNKNOWN command 'FOO'\n") == 5_000
    os.close(hears)


def test_nothing_but_the_answers_is_written_however_much_is_asked() -> None:
    answers = served(brain_with(FirstEmpty()), b"START 15\n" + b"TURN 99,99\nFOO\nRESTART\n" * 4_000)
    assert answers == ["OK", *["ERROR no cell '99,99' on this board", "UNKNOWN command 'FOO'", "OK"] * 4_000]


HOSTILE = [
    random.Random(1).randbytes(1 << 16), bytes(1 << 20), b"x" * (32 << 20), b"\r\n" * (1 << 19),
    b"START 20\nBOARD\n" + b"1,1,1\n" * 10_000, b"START " + b"9" * 999_999, b"START 15\nTURN " + b"1," * 999_999,
]  # fmt: skip


def test_no_manager_makes_it_fail_or_grow() -> None:
    words = [sys.executable, "-c", MEASURED, *command("service")[1:]]
    said = b"\n".join(HOSTILE)
    ran = subprocess.run(words, input=said, capture_output=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    lines = ran.stdout.decode("ascii").splitlines()
    assert (len(lines) < 1 << 13, max(map(len, lines)) < 300) == (True, True)
    assert (lines[-2], lines[-1].startswith("ERROR no cell '1,1,")) == ("OK", True)


MEASURED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Manager:
    """Plays the role of a manager, of a brain that is a process of its own."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def send(self, *lines: str) -> None:
        assert self.process.stdin
        self.process.stdin.write("".join(f"{line}\r\n" for line in lines).encode())
        self.process.stdin.flush()

    def ask(self, *lines: str) -> str:
        """Send some lines, and return the answer to the last."""
        assert self.process.stdout
        self.send(*lines)
        while (line := self.process.stdout.readline()).startswith(b"MESSAGE"):
            pass
        return line.decode().rstrip("\r\n")

    def ended(self) -> tuple[int, str, str]:
        """Return the exit code, and all that is still said, on both streams."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve our brain; it is killed at the end, if it still runs."""
    managers: list[Manager] = []

    def serving(*words: str) -> Manager:
        managers.append(Manager(*words))
        return managers[-1]

    yield serving
    for manager in managers:
        manager.process.kill()
        manager.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_one_line(number: signal.Signals, serve: Serve) -> None:
    manager = serve(OURS)
    assert manager.ask("ABOUT")
    manager.process.send_signal(number)
    code, out, err = manager.ended()
    assert (code, out, err.count("\n"), len(err) < 20) == (128 + number, "", 1, True)


def used(process: int) -> int:
    """The processor time of a process, in hundredths of a second."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, None])
def test_a_signal_or_end_ends_it_in_the_middle_of_a_search(number: signal.Signals | None, serve: Serve) -> None:
    manager = serve(OURS)
    assert manager.ask("INFO timeout_turn 60000", "START 15") == "OK"
    before = used(manager.process.pid)
    manager.send("BOARD", "7,7,2", "DONE")
    while used(manager.process.pid) < before + 10:
        assert manager.process.poll() is None
    if number:
        manager.process.send_signal(number)
    else:
        manager.send("END")
    assert manager.ended() == ((128 + number, "", "Terminated.\n") if number else (0, "", ""))


def test_it_ends_when_nobody_reads_its_answers(serve: Serve) -> None:
    manager = serve(*command("service"))
    assert manager.ask("START 15") == "OK"
    assert manager.process.stdout
    manager.process.stdout.close()
    manager.send("BEGIN")
    assert manager.process.wait(PATIENCE) == 0


def test_the_command_refuses_a_game_that_is_none_of_lines(run: Run) -> None:
    assert run(engine, "--game", "duel").code == 2
    assert run(engine, "--game", "nonsense").code == 2


def test_other_commands_load_nothing_of_it() -> None:
    load_all = "[main.get_command(None, name) for name in main.list_commands(None)]"
    listing = f"import sys; from play.cli.main import main; {load_all}; print(*sorted(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert "play.cli.engine" in ran.stdout
    assert not re.search(r"play\.gomocup|solver\.engine\.(?!limits)|numba|subprocess", ran.stdout)


FOUR = ["BOARD", *(f"{x},7,{who}" for who, xs in ((1, range(4)), (2, range(9, 12))) for x in xs), "DONE"]
"""Four in a row of one's own, and three of the other side."""


@pytest.fixture
def brain_of(monkeypatch: pytest.MonkeyPatch, run: Run) -> Callable[..., Brain]:
    """The brain that the command serves, with the engine that it plays with, in this process."""
    from solver.engine.engine import Engine

    Engine(grid(5, 5, 5), table_bits=12).think(0, 1, nodes=10)  # loads it, which takes the better part of a second
    brains: list[Brain] = []

    class Kept:
        def __init__(self, brain: Brain) -> None:
            brains.append(brain)

        def run(self) -> None:
            sys.exit(0)

    def made(*arguments: str) -> Brain:
        assert run(engine, *arguments).code == 0
        return brains[-1]

    monkeypatch.setattr("play.gomocup.service.Service", Kept)
    return made


def test_the_command_serves_the_engine(brain_of: Callable[..., Brain]) -> None:
    brain = brain_of()
    assert [brain.answers(line) for line in ("START 15", "INFO timeout_turn 0")] == [["OK"], []]
    assert [brain.answers(line) for line in FOUR][-1][-1] == "4,7", "it makes five"
    brain.answers("SWAP2BOARD")
    assert len(brain.answers("DONE")[-1].split()) == 3


def test_the_smallest_board_is_played(brain_of: Callable[..., Brain]) -> None:
    brain = brain_of("--game", "1,1,1")
    assert (brain.answers("START 1"), brain.answers("BEGIN")[-1]) == (["OK"], "0,0")


@pytest.mark.slow
def test_as_many_answers_come_out_as_lines_went_in() -> None:
    said = b"START 15\n" + b"TURN 99,99\nFOO\nABOUT\n" * 20_000
    ran = subprocess.run([OURS], input=said, capture_output=True, check=True)
    assert (len(ran.stdout.splitlines()), ran.stderr) == (60_001, b"")


@pytest.mark.slow
@pytest.mark.parametrize("words", [(OURS,), (str(Path(OURS).with_name("ttt4-play")), "engine")])
def test_both_names_of_the_command_play_in_time(words: tuple[str, ...], serve: Serve) -> None:
    manager, rng, slowest = serve(*words), random.Random(5), 0.0
    assert manager.ask("START 15") == "OK"
    assert read_place(manager.ask("INFO timeout_turn 100", "BEGIN"))
    assert manager.ask(*FOUR) == "4,7", "it makes five"
    for _ in range(5):
        stones = rng.sample(range(225), 2 * rng.randrange(1, 20))
        lines = [f"{cell % 15},{cell // 15},{1 + number % 2}" for number, cell in enumerate(stones)]
        assert manager.ask("RESTART") == "OK"
        start = perf_counter()
        assert read_place(manager.ask("BOARD", *lines, "DONE"))
        slowest = max(slowest, perf_counter() - start)
    assert slowest < 0.6, "other tests run beside it; tests/bench/bench_deadline.py measures it alone"
    manager.send("END")
    code, _, err = manager.ended()
    assert (code, err) == (0, "")
