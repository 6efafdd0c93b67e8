"""Commands run in this process: to their end, or step by step, whenever they wait for a line or a key.

A command that waits runs in a greenlet, so a test and its command take turns in one thread. Nothing is polled: a
command that waits for input while the test waits for something else to be shown has failed at once.
"""

import importlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import click
import pytest
from greenlet import getcurrent, greenlet

Streams = tuple[Any, Any, Any]


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class Output(io.TextIOWrapper):
    """Standard output or error of a command, kept in memory; several may share one memory, as on a terminal."""

    def __init__(self, memory: io.BytesIO, *, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__(memory, encoding, "backslashreplace", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def close(self) -> None:
        """Keep the memory: the test reads it after the command has ended."""


def run_command(
    command: click.Command, *arguments: object, typed: str | bytes = "", encoding: str = "utf-8",
    terminal: bool = False, **env: str,
) -> Ran:  # fmt: skip
    """Run a command to its end, with these lines typed into a pipe; what it raises is the test's own failure.

    It writes into a pipe too, or to a terminal.
    """
    said = typed if isinstance(typed, bytes) else typed.encode()
    out, err = io.BytesIO(), io.BytesIO()
    streams = (
        io.TextIOWrapper(io.BytesIO(said), encoding), Output(out, terminal=terminal, encoding=encoding),
        Output(err, terminal=terminal, encoding=encoding),
    )  # fmt: skip
    before, outside = _streams(), _Surroundings()
    _set_streams(streams)
    os.environ.update(env)
    try:
        code = _exit_code(command, arguments)
    finally:
        _set_streams(before)
        outside.restore()
    return Ran(code, out.getvalue().decode(encoding), err.getvalue().decode(encoding))


def refused(ran: Any, code: int, *words: str) -> bool:
    """Tell whether the refusal has all the words; fail unless it is one line on standard error and all that is said."""
    ended, out, err = ran
    assert (ended, out, err.count("\n")) == (code, "", 1), ran
    assert err.startswith("Error: ")
    return all(word in err for word in words)


class Waiting:
    """A command that gives way to its test whenever it waits for input."""

    _under_way: ClassVar[list["Waiting"]] = []
    """Commands that have not ended: the last one has the standard streams even while the test looks, since its threads
    may write at any time."""
    _outside: ClassVar[Streams]
    """The standard streams without any command."""

    def __init__(self, command: click.Command, *arguments: object, streams: Streams, **env: str) -> None:
        self.code: int | None = None
        self._own_streams = streams
        self._surroundings = _Surroundings(env)
        self._greenlet = greenlet(lambda value: self._run(command, arguments))

    def resume(self, value: Any = None) -> Any:
        """Go on with the command, which gets a value, and return what it waits for; None if it has ended."""
        assert self.code is None, "the command has ended"
        with self._inside():
            self._greenlet.parent = getcurrent()
            return self._greenlet.switch(value)

    def wait(self, reason: Any) -> Any:
        """Give way to the test, from within the command, and return what the test resumes it with."""
        return self._greenlet.parent.switch(reason)

    def stop(self) -> None:
        """End the command, if it still waits."""
        if self._greenlet:
            self.code = -1
            with self._inside(), suppress(BaseException):
                self._greenlet.parent = getcurrent()
                self._greenlet.throw()

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Let the command have its own streams and surroundings; it keeps the streams until it ends."""
        others, outside = [each for each in self._under_way if each is not self], _Surroundings()
        if _streams()[1] not in [each._own_streams[1] for each in self._under_way]:
            Waiting._outside = _streams()
        Waiting._under_way = [*others, self]
        _set_streams(self._own_streams)
        self._surroundings.restore()
        try:
            yield
        finally:
            self._own_streams, self._surroundings = _streams(), _Surroundings()
            outside.restore()
            if self._greenlet.dead:
                Waiting._under_way = others
                _set_streams(others[-1]._own_streams if others else self._outside)

    def _run(self, command: click.Command, arguments: tuple[object, ...]) -> None:
        self.code = _exit_code(command, arguments)


def _exit_code(command: click.Command, arguments: tuple[object, ...]) -> int:
    """Run a command to its end, and then forget the user's own modules that it has loaded, as a process would."""
    importlib.invalidate_caches()
    known, folder = set(sys.modules), Path.cwd()
    try:
        with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
            command.main([str(argument) for argument in arguments], prog_name=command.name)
    finally:
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None)
            if file and folder in Path(file).parents:
                del sys.modules[name]
    return int(ended.value.code or 0)


class _Surroundings:
    """What a process has of its own besides its streams: variables, and where it looks for modules."""

    def __init__(self, changed: dict[str, str] | None = None) -> None:
        """Take what there is now, with these variables changed."""
        self._variables = {**os.environ, **(changed or {})}
        self._path = list(sys.path)

    def restore(self) -> None:
        for name in os.environ.keys() - self._variables.keys():
            del os.environ[name]
        for name, value in self._variables.items():
            if os.environ.get(name) != value:
                os.environ[name] = value
        sys.path[:] = self._path


def _streams() -> Streams:
    return sys.stdin, sys.stdout, sys.stderr


def _set_streams(streams: Streams) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams
