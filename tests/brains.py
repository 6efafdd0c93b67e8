"""Brains for tests: programs that speak the Gomocup protocol, most of them badly, and an engine that is no good.

Run as a program, `brains.py BEHAVIOUR [FILE]` plays the first empty cell, keeps what it is told in FILE, and misbehaves
as its name says; `brains.py service [SECONDS]` serves our own brain with an engine that takes so long for a thought.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

BEHAVIOURS = (
    "fair", "strict", "cr", "talks", "suggests", "repeats", "no-restart", "refuses", "no-start", "silent",
    "outside", "taken", "errs", "babbles", "floods", "endless", "dies", "deaf", "forks", "stays",
)  # fmt: skip


class Thought(NamedTuple):
    """What an engine says of a position."""

    cell: int
    share: float = 0.5
    depth: int = 3
    nodes: int = 7
    line: tuple[int, ...] = ()
    win: int = 0


class FirstEmpty:
    """An engine that plays the first empty cell, and keeps what it was asked."""

    def __init__(self, share: Callable[[int, int], float] = lambda own, other: 0.5, takes: float = 0.0) -> None:
        self.share = share
        self.takes = takes
        self.asked: list[tuple[int, int]] = []
        self.seconds: list[float] = []
        self.forgot = 0

    def think(self, own: int, other: int, *, seconds: float | None = None, nodes: int = 0, seed: int = 0) -> Thought:
        self.asked.append((own, other))
        self.seconds.append(seconds or 0.0)
        time.sleep(min(self.takes, seconds or 0.0))
        taken = own | other
        cell = (~taken & (taken + 1)).bit_length() - 1
        return Thought(cell, self.share(own, other), line=(cell,))

    def forget(self) -> None:
        self.forgot += 1


def command(behaviour: str, *arguments: object) -> tuple[str, ...]:
    """The words of a command that runs a brain."""
    return (sys.executable, str(Path(__file__)), behaviour, *map(str, arguments))


def installed(folder: Path, behaviour: str) -> Path:
    """A brain as a program of its own, without arguments."""
    path = folder / f"pbrain-{behaviour}"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__)}" {behaviour}\n')
    path.chmod(0o755)
    return path


def running(mark: str) -> list[int]:
    """The processes that have a text in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            said = (entry / "cmdline").read_bytes()
            stopped = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if mark.encode() in said and not stopped:
            found.append(int(entry.name))
    return found


class Plays:
    """The first empty cell of its board, by whatever it is told."""

    def __init__(self, behaviour: str, log: IO[str] | None, tell: Callable[[str], object]) -> None:
        self.behaviour = behaviour
        self.log = log
        self.tell = tell
        self.width = self.height = 15
        self.own: set[tuple[int, int]] = set()
        self.other: set[tuple[int, int]] = set()
        self.in_board = False
        self.heard: set[str] = set()
        self.offended = False

    def hear(self, line: str) -> None:
        if self.log:
            self.log.write(f"{line}\n")
            self.log.flush()
        word, _, rest = line.partition(" ")
        self.offended = self.offended or line in self.heard
        self.heard.add(line)
        if self.behaviour == "strict" and self.offended:  # for good, so that nobody overlooks it
            self.say(f"UNKNOWN command {line}: something was said twice")
        elif self.in_board and word != "DONE":
            x, y, who = map(int, line.split(","))
            (self.own if who == 1 else self.other).add((x, y))
        else:
            self.obey(word, rest)

    def say(self, text: str) -> None:
        self.tell(text + {"cr": "\r", "talks": "\r\n"}.get(self.behaviour, "\n"))

    def run(self) -> None:
        """Serve a manager on standard input and output, as a process of its own."""
        if self.behaviour == "deaf":
            time.sleep(99)
        while (line := sys.stdin.readline()) and line.strip() != "END":
            self.hear(line.strip())
        if line:
            self.hear("END")
        if line and self.behaviour == "stays":
            time.sleep(99)

    def obey(self, word: str, rest: str) -> None:
        self.in_board = word == "BOARD"
        if word in ("START", "RECTSTART", "RESTART"):
            self.begin(word, rest)
        elif word == "TURN":
            self.other.add(place(rest))
            self.move()
        elif word in ("BEGIN", "DONE"):
            self.move()
        elif word == "PLAY":
            self.own.add(place(rest))
            self.say(rest)

    def begin(self, word: str, rest: str) -> None:
        if self.behaviour == "no-restart" and word == "RESTART":
            self.say("UNKNOWN command")
            return
        if self.behaviour == "refuses":
            self.say("ERROR I like no board")
            return
        if self.behaviour == "no-start":
            time.sleep(99)
        if word == "START":
            self.width = self.height = int(rest)
        elif word == "RECTSTART":
            self.width, self.height = place(rest)
        self.own, self.other = set(), set()
        self.heard = {line for line in self.heard if "START " in line or line.startswith("INFO ")}
        self.say("OK")

    def move(self) -> None:
        misbehave(self)
        cells = ((x, y) for y in range(self.height) for x in range(self.width))
        x, y = next(cell for cell in cells if cell not in self.own | self.other)
        if self.behaviour == "suggests":
            self.say(f"SUGGEST {x},{y}")
            return
        if self.behaviour in ("fair", "talks"):
            self.say(f"DEBUG {sorted(self.own)};{sorted(self.other)}")
            self.say("MESSAGE depth 3, and much more")
        self.own.add((x, y))
        self.say(f"{x},{y}")
        if self.behaviour == "repeats":
            self.say(f"{x},{y}\n{x},{y}")


def misbehave(brain: Plays) -> None:
    """Do in place of a move, or before it, what a behaviour is named for."""
    say, behaviour = brain.say, brain.behaviour
    if behaviour == "silent":
        time.sleep(99)
    elif behaviour == "outside":
        say("99,99")
    elif behaviour == "taken":
        say(",".join(map(str, min(brain.own | brain.other, default=(0, 0)))))
        brain.own.add((0, 0))
        brain.move = lambda: None  # type: ignore[method-assign]
    elif behaviour == "errs":
        say("ERROR I do not know")
    elif behaviour == "babbles":
        while True:
            say("what a game\n\x00\xff7;7\n7,7,7")
            time.sleep(0.01)
    elif behaviour == "floods":
        while True:
            say("MESSAGE " + "x" * 9999)
    elif behaviour == "endless":
        while True:
            sys.stdout.write("9" * 9999)
    elif behaviour == "dies":
        os._exit(3)
    elif behaviour == "forks" and not os.fork():
        time.sleep(99)


def place(text: str) -> tuple[int, int]:
    x, y = map(int, text.split(","))
    return x, y


class InProcess:
    """A brain in this process, in place of a BrainProcess: it answers at once, or never."""

    def __init__(self, command: Sequence[str]) -> None:
        self.said = ""
        behaviour, *log = command[2:] or [Path(command[0]).name.removeprefix("pbrain-")]
        self.brain = Plays(behaviour, open(log[0], "a") if log else None, self._tell)  # noqa: SIM115 - see `kill`

    def _tell(self, text: str) -> None:
        self.said += text

    def ask(self, text: str, seconds: float) -> Iterator[str]:
        from play.gomocup.lines import LineCutter  # only now: as a program, this has to start fast
        from play.players.player import PlayerError

        self.said = ""
        for line in text.splitlines():
            self.brain.hear(line)
        yield from LineCutter().cut(self.said.encode())
        raise PlayerError(f"no answer in {seconds:.2f} s")

    def end(self) -> None:
        self.brain.hear("END")
        self.kill()

    def kill(self) -> None:
        if self.brain.log:
            self.brain.log.close()


def written(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def serve(takes: float) -> None:
    """Serve our own brain, with an engine that is no good."""
    from play.gomocup.brain import Brain
    from play.gomocup.service import Service

    Service(Brain(lambda game, bits: FirstEmpty(takes=takes))).run()


if __name__ == "__main__":
    if sys.argv[1] == "service":
        from solver.cli.console import command_errors
        from solver.start import prepare_streams

        prepare_streams()
        command_errors(serve)(float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
    else:
        with open(sys.argv[2] if len(sys.argv) > 2 else os.devnull, "a") as heard:
            Plays(sys.argv[1], heard, written).run()
