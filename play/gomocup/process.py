"""A brain in a process of its own: it is told lines, has so long to answer, and is killed with all that it started.

It is a stranger: it may say nothing, too much or nonsense, never read, die, or leave children behind. Whatever it does,
it costs no more than its time and some memory, and ends as a PlayerError.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from select import POLLIN, POLLOUT, poll
from time import monotonic

from play.gomocup.lines import LineCutter
from play.players.player import PlayerError
from solver.text import shown

MOST_BYTES = 1 << 20
"""How much it may say in answer to one question."""

_FAREWELL = 1.0
"""How long it may take to end when told to, in seconds."""

_BLOCK = 1 << 16


class BrainProcess:
    """A program that speaks the protocol."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it, in a process group of its own; raise PlayerError if that is not possible."""
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=0, start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:  # ValueError: a zero byte in a name
            why = getattr(error, "strerror", None) or error
            raise PlayerError(f"cannot start {shown(command[0])}: {why}") from None
        self._pipes = [pipe for pipe in (self._process.stdin, self._process.stdout) if pipe]
        self._in, self._out = (pipe.fileno() for pipe in self._pipes)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._cutter = LineCutter()

    def ask(self, text: str, seconds: float) -> Iterator[str]:
        """Yield the lines that it says in answer; raise PlayerError when its time is up, or when it has ended."""
        until = monotonic() + seconds
        self._drop_unasked()
        self._tell(f"{text}\n".encode(), until, seconds)
        said = 0
        while True:
            if not _ready(self._out, POLLIN, until):
                raise PlayerError(f"no answer in {seconds:.2f} s")
            received = self._received()
            if received is None:
                continue
            if not received:
                raise PlayerError("it has ended without an answer")
            said += len(received)
            yield from self._cutter.cut(received)
            if said > MOST_BYTES:
                raise PlayerError(f"it says too much: more than {MOST_BYTES:,} bytes and no answer")

    def end(self) -> None:
        """Tell it to end, and kill it if it does not soon; to be called once, instead of `kill`."""
        until = monotonic() + _FAREWELL
        try:
            self._tell(b"END\n", until, _FAREWELL)
            while _ready(self._out, POLLIN, until) and self._received() != b"":
                pass
        except PlayerError:
            pass  # it is killed anyway
        finally:
            self.kill()

    def kill(self) -> None:
        """End it at once, with all processes of its group."""
        if self._process.returncode is None:  # it was not waited for, so that its group is still its own
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for pipe in self._pipes:
            pipe.close()

    def _tell(self, data: bytes, until: float, seconds: float) -> None:
        while data:
            if not _ready(self._in, POLLOUT, until):
                raise PlayerError(f"it does not read what it is told, in {seconds:.2f} s")
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise PlayerError("it has ended") from None

    def _drop_unasked(self) -> None:
        """Forget what it said since its last answer, as far as it is there."""
        dropped = 0
        while dropped < MOST_BYTES and (received := self._received()):
            dropped += len(received)
        self._cutter = LineCutter()

    def _received(self) -> bytes | None:
        """Return what it has said: nothing if it has ended, None if it has said nothing yet."""
        try:
            return os.read(self._out, _BLOCK)
        except BlockingIOError:
            return None


def _ready(pipe: int, event: int, until: float) -> bool:
    """Wait until a pipe can be read or written, or has ended; tell whether that was so in time."""
    waiting = poll()
    waiting.register(pipe, event)
    return bool(waiting.poll(max(0.0, 1000 * (until - monotonic()))))
