"""What tests of clusters share: dask's processes on this machine, an object store, and builds that are disturbed."""

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from stand_in import GAME, use_stand_in

import solver
from solver.proof.build import build_store
from solver.proof.progress import Progress, ProgressCallback
from solver.store.digests import content_digest
from solver.store.store import Store

_TREE = Path(solver.__file__).parents[1]
"""The tree that this process has its modules from: so must all that it starts."""

HOST = "127.0.0.1"

_PRELOADED = """
import os, time
from solver.proof.prove import LineWork

def slowed(self, layer, task, summary, clock, make=LineWork.make):
    seconds = float(os.environ["SLOW"])
    time.sleep(seconds / 2)
    yield from make(self, layer, task, summary, clock)
    time.sleep(seconds / 2)

LineWork.make = slowed
"""
"""What a worker loads that is to be slow."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


def until(holds: Callable[[], Any], seconds: float = 120.0) -> Any:
    """What a function returns as soon as that is true."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, f"{holds} did not come true in {seconds} s"
        time.sleep(0.02)
    return found


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


Process = subprocess.Popen[bytes]


def start(command: list[Any], log: Path, **env: str) -> Process:
    """A process that writes to a file, in whose folder it runs, and that ends at the latest when this one does."""
    with open(log, "wb") as out:
        return subprocess.Popen(
            [str(each) for each in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out,
            cwd=log.parent, env={**os.environ, "PYTHONPATH": str(_TREE), **env}, preexec_fn=_end_with_parent,
        )  # fmt: skip


def start_build(log: Path, *arguments: object) -> Process:
    """A `ttt4-solve build` that is under way, as a process of its own."""
    return start([Path(sys.executable).with_name("ttt4-solve"), "build", *arguments], log, PYTHONWARNINGS="default")


class Cluster:
    """A scheduler and two workers. The scheduler has the same address whenever it is started again."""

    def __init__(self, folder: Path, **env: str) -> None:
        self._folder, self._env, self._port = folder, {"SLOW": "0", "PYTHONWARNINGS": "ignore"} | env, free_port()
        self.address = f"tcp://{HOST}:{self._port}"
        self.scheduler: Process | None = None
        self.workers: list[Process] = []
        self._logs = (folder / f"{number}.log" for number in count())
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "preloaded.py").write_text(_PRELOADED)

    def repair(self) -> None:
        """Start what is missing, all at once."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        if self.scheduler is None or self.scheduler.poll() is not None:
            for worker in list(self.workers):
                self.kill(worker)
            self.scheduler, _ = self._start("scheduler", "--host", HOST, "--port", self._port)
            until(self._listens)
        options = ("--no-nanny", "--nthreads", 1, "--memory-limit", 0, "--host", HOST, "--local-directory", "space")
        missing = range(2 - len(self.workers))
        new = [self._start("worker", self.address, *options, "--preload", "preloaded.py") for _ in missing]
        self.workers += [worker for worker, _ in new]
        until(lambda: all(b"Registered to" in log.read_bytes() for _, log in new))

    def kill(self, process: Process | None) -> None:
        if process:
            process.kill()
            process.wait()
            if process in self.workers:
                self.workers.remove(process)

    def _start(self, what: str, *options: object) -> tuple[Process, Path]:
        log, command = next(self._logs), [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard"]
        return start([*command, *options], log, **self._env), log

    def _listens(self) -> bool:
        assert self.scheduler
        assert self.scheduler.poll() is None
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self._port)) == 0


@contextmanager
def cluster(folder: Path, **env: str) -> Iterator[Cluster]:
    """A scheduler and two workers, which are ended in any case."""
    found = Cluster(folder, **env)
    try:
        found.repair()
        yield found
    finally:
        for process in [*found.workers, found.scheduler]:
            found.kill(process)


@cache
def undisturbed() -> bytes:
    """The store of the stand-in, from a build that nobody disturbs."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        use_stand_in(patch)
        build_store(GAME, f"{folder}/s")
        return Path(f"{folder}/s").read_bytes()


def after_tasks(act: Callable[[int], object]) -> ProgressCallback:
    """What calls a function with the number of tasks that are done, whenever one more is."""
    numbers = count(1)

    def on_progress(progress: Progress) -> None:
        if progress.phase == "solving" and progress.done:
            act(next(numbers))

    return on_progress


def interrupt_after(tasks: int) -> ProgressCallback:
    """What interrupts a build as soon as so many tasks are done."""

    def interrupt(task: int) -> None:
        if task == tasks:
            raise KeyboardInterrupt

    return after_tasks(interrupt)


def resume(path: Path, **options: Any) -> list[str]:
    """Build the stand-in where another build has left off, to the same store as undisturbed; what it has noted."""
    notes: list[str] = []
    build_store(GAME, path, on_progress=lambda each: notes.append(each.note), **options)
    assert any("resuming" in note for note in notes)
    assert path.read_bytes() == undisturbed()
    return notes


def refusal(ran: Any) -> str:
    """The one line with which a build has failed that was run in this process."""
    (line,) = [line for line in ran.err.splitlines() if line not in ("compiling...", "solving...", "writing...")]
    assert (ran.code, ran.out) == (1, "")
    assert line.startswith("Error: ")
    return str(line)


def digest_of(path: Path) -> str:
    """The digest of what a store holds, which must be the one that it claims."""
    with Store(path) as store:
        assert content_digest(store) == store.manifest.digest
        return str(store.manifest.digest)


def damage(content: bytes, how: str, rng: random.Random) -> bytes | None:
    """A file that is not as it was: `flipped`, `cut` or `removed`, which is None."""
    if how == "removed" or not content:
        return None
    if how == "cut":
        return content[: rng.randrange(len(content))]
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)
