"""`ttt4-play` as a person uses it, on a terminal or through a pipe: in this process, or as a process of its own."""

import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from typing import Any

import click
from commands import Output, Ran, Waiting, run_command
from commands import refused as refused  # where tests of ttt4-play look for it

from play.cli.main import main
from play.records.files import load_record

COMMAND = str(Path(sys.executable).with_name("ttt4-play"))
HUMANS = ["--x", "human", "--o", "human"]
THREE = ["--game", "3,3,3"]
KEPT = "The game is kept: ttt4-play resume continues it.\n"
INTERRUPTED = object()
"""What a keyboard has instead of a line when Ctrl-C is typed."""

Start = Callable[..., "Session"]
StartProcess = Callable[..., "TerminalSession"]


def subcommands() -> dict[str, click.Command]:
    with click.Context(main) as context:
        found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: command for name, command in found.items() if command}


class Keyboard(io.TextIOBase):
    """Standard input of a command that runs in this process: whoever reads a line gives way to the test."""

    def __init__(self) -> None:
        self.wait: Callable[[Any], Any]

    def isatty(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        typed = self.wait("a line")
        if typed is INTERRUPTED:
            raise KeyboardInterrupt
        return str(typed)


class Session:
    """`ttt4-play` at a prompt on a terminal, 80 columns wide, in this process."""

    def __init__(self, *arguments: object, plain: bool = True, **env: str) -> None:
        self._memory, keyboard = io.BytesIO(), Keyboard()
        output = Output(self._memory, terminal=True)
        env = {"TERM": "xterm", "COLUMNS": "80", **env}
        given = _plainly(arguments) if plain else arguments
        self._command = Waiting(main, *given, streams=(keyboard, output, output), **env)
        keyboard.wait = self._command.wait
        self._shown = 0
        self._command.resume()

    @property
    def written(self) -> str:
        return self._memory.getvalue().decode()

    def prompted(self) -> str:
        """Return what has been written since the last time."""
        begun, self._shown = self._shown, len(self.written)
        return self.written[begun:]

    def type(self, line: str) -> str:
        """Type a line, and return what is written up to the next prompt, without colour."""
        self._memory.write(f"{line}\n".encode())  # as a terminal shows it
        self._command.resume(f"{line}\n")
        return click.unstyle(self.prompted())

    def interrupt(self) -> None:
        """Type Ctrl-C."""
        self._command.resume(INTERRUPTED)

    def end_input(self) -> None:
        """Type Ctrl-D."""
        self._command.resume("")

    def ended(self) -> int:
        """Return the exit code; type Ctrl-D, if the command still waits."""
        if self._command.code is None:
            self.end_input()
        return self._command.code

    def close(self) -> None:
        self._command.stop()


def _plainly(arguments: tuple[object, ...]) -> tuple[object, ...]:
    """Return the arguments of a command that plays at a prompt, and not on a screen."""
    playing = not arguments or str(arguments[0]).startswith("-") or arguments[0] in ("resume", "games")
    return (*arguments, "--plain") if playing else arguments


class TerminalSession:
    """`ttt4-play` as a process on a terminal of its own, 80 columns wide, at a prompt."""

    def __init__(self, *arguments: object, **env: str) -> None:
        arguments = _plainly(arguments)
        self.child, self.terminal = pty.fork()
        if not self.child:
            heed_signals()
            os.execve(COMMAND, [COMMAND, *map(str, arguments)], {**os.environ, "TERM": "xterm", **env})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        self.written = ""
        self.code: int | None = None

    def until(self, *ends: str) -> str:
        """Return what is written up to one of these ends, or up to the end of the process."""
        said = b""
        while not (ends and click.unstyle(said.decode(errors="replace")).endswith(ends)):
            assert select([self.terminal], [], [], 60)[0], f"nothing more came after {said!r}"
            try:
                block = os.read(self.terminal, 1 << 16)
            except OSError:  # how Linux says that nobody holds the other end any more
                break
            if not block:
                break
            said += block
        text = said.decode().replace("\r\n", "\n")
        self.written += text
        return text

    def prompted(self) -> str:
        return self.until("\nX> ", "\nO> ", "\n> ")

    def type(self, line: str) -> str:
        """Type a line, and return what is written up to the next prompt, without colour."""
        os.write(self.terminal, f"{line}\n".encode())
        return click.unstyle(self.prompted())

    def press(self, key: bytes) -> None:
        """Press a key once the process waits for one: Python's readline sleeps through a Ctrl-C just before that."""
        while Path(f"/proc/{self.child}/stat").read_text().rpartition(")")[2].split()[0] != "S":
            os.sched_yield()
        os.write(self.terminal, key)

    def ended(self) -> int:
        self.until()
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        return self.code

    def close(self) -> None:
        if self.code is None:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        os.close(self.terminal)


def opening(kind: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Open sessions or screens of a kind, for a fixture, and close them at the end."""
    opened: list[Any] = []

    def opens(*arguments: object, **given: Any) -> Any:
        opened.append(kind(*arguments, **given))
        return opened[-1]

    yield opens
    for each in opened:
        each.close()


def heed_signals() -> None:
    """Let the command that this process becomes heed signals that whoever runs the tests ignores, as nohup does."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def piped(typed: str | bytes, *arguments: object, encoding: str = "utf-8", **env: str) -> Ran:
    """Run the command to its end with these lines typed into a pipe, in this process."""
    return run_command(main, *arguments, typed=typed, encoding=encoding, **env)


def printed(typed: str | bytes, *arguments: object, **given: str) -> str:
    """Return what the command prints with these lines typed into a pipe; fail if it exits or complains otherwise."""
    ran = piped(typed, *arguments, **given)
    assert (ran.returncode, ran.stderr) == (0, ""), ran
    return ran.stdout


def piped_process(typed: str | bytes, *arguments: object, **env: str) -> Ran:
    """Run the command to its end with these lines typed into a pipe, as a process."""
    said = typed if isinstance(typed, bytes) else typed.encode()
    command = [COMMAND, *map(str, arguments)]
    ran = subprocess.run(command, input=said, capture_output=True, timeout=120, env={**os.environ, **env})
    return Ran(ran.returncode, *(said.decode(errors="replace") for said in (ran.stdout, ran.stderr)))


def killed(lines: list[str], *arguments: object) -> None:
    """Type lines, each when it is asked for, and kill the process with -9 when it asks for the next."""
    command = [COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
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


def moves_in(games: Path) -> list[str]:
    """Return the moves of the one game that was kept in a folder, or of a file."""
    (path,) = games.glob("*.txt") if games.is_dir() else [games]
    match = load_record(str(path)).match
    return [match.rules.write(move) for move in match.moves]


def at(said: str, rows: int = 3) -> str:
    """Return the marks on the board drawn last, row by row."""
    drawn = re.findall(r"^ +\d+ (.*)$", click.unstyle(said), re.M)[-rows:]
    return "/".join("".join(re.findall(r"[XO.]", row)) for row in drawn)
