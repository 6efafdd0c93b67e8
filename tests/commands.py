"""Commands run in this process: to their end, or step by step, whenever they wait for a line or a key.

A command that waits runs in a greenlet, so a test and its command take turns in one thread. Nothing is polled: a
command that waits for input while the test waits for something else to be shown has failed at once.
"""

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from greenlet import getcurrent, greenlet


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class Output(io.TextIOWrapper):
    """Standard output or error of a command, kept in memory; several may share one memory, as on a terminal."""

    def __init__(self, memory: io.BytesIO, *, terminal: bool) -> None:
        super().__init__(memory, "utf-8", "backslashreplace", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def close(self) -> None:
        """Keep the memory: the test reads it after the command has ended."""


def run_command(command: click.Command, *arguments: object, typed: str | bytes = "", **env: str) -> Ran:
    """Run a command to its end, with these lines typed into a pipe; what it raises is the test's own failure."""
    said = typed if isinstance(typed, bytes) else typed.encode()
    out, err = io.BytesIO(), io.BytesIO()
    streams = io.TextIOWrapper(io.BytesIO(said), "utf-8"), Output(out, terminal=False), Output(err, terminal=False)
    with _own_process(env), _streams(*streams):
        code = _exit_code(command, arguments)
    return Ran(code, out.getvalue().decode(), err.getvalue().decode())


def _exit_code(command: click.Command, arguments: tuple[object, ...]) -> int:
    with pytest.raises(SystemExit) as ended:
        command.main([str(argument) for argument in arguments], prog_name=command.name)
    return int(ended.value.code or 0)


class Waiting:
    """A command that gives way to its test whenever it waits for input."""

    def __init__(self, command: click.Command, *arguments: object, streams: tuple[Any, Any, Any], **env: str) -> None:
        self.code: int | None = None
        self._streams = streams
        self._env = env
        self._outer: tuple[Any, Any, Any] | None = None
        self._greenlet = greenlet(lambda value: self._run(command, arguments))

    def resume(self, value: Any = None) -> Any:
        """Go on with the command, which gets a value, and return what it waits for; None if it has ended."""
        assert self.code is None, "the command has ended"
        self._install()
        try:
            self._greenlet.parent = getcurrent()
            return self._greenlet.switch(value)
        finally:
            self._leave()

    def wait(self, reason: Any) -> Any:
        """Give way to the test, from within the command, and return what the test resumes it with."""
        return self._greenlet.parent.switch(reason)

    def stop(self) -> None:
        """End the command, if it still waits."""
        if self._greenlet and self.code is None:
            self._install()
            self._greenlet.parent = getcurrent()
            with suppress(BaseException):
                self._greenlet.throw()
            self.code = -1
        self._leave()

    def _install(self) -> None:
        """Let the command have its streams, which stay while the test looks: its threads may write at any time."""
        if sys.stdout is not self._streams[1]:
            self._outer = sys.stdin, sys.stdout, sys.stderr
            sys.stdin, sys.stdout, sys.stderr = self._streams

    def _leave(self) -> None:
        if self.code is None:
            self._streams = sys.stdin, sys.stdout, sys.stderr
        elif self._outer:
            (sys.stdin, sys.stdout, sys.stderr), self._outer = self._outer, None

    def _run(self, command: click.Command, arguments: tuple[object, ...]) -> None:
        with _own_process(self._env):
            self.code = _exit_code(command, arguments)


@contextmanager
def _streams(*streams: Any) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _own_process(env: dict[str, str]) -> Iterator[None]:
    """Take back what a command leaves in its process: variables, paths, warnings, and modules of the user's own."""
    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        for name, value in env.items():
            patched.setenv(name, value)
        patched.setattr(sys, "path", list(sys.path))
        known, folder = set(sys.modules), Path.cwd()
        try:
            yield
        finally:
            for name in set(sys.modules) - known:
                file = getattr(sys.modules[name], "__file__", None)
                if file and folder in Path(file).parents:
                    del sys.modules[name]
