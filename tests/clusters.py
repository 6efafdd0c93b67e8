"""What tests of clusters share: dask's processes on this machine, an object store, and builds that are disturbed."""

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
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
import solver.proof.version
from solver.proof.prove import LineWork

def slowed(self, layer, task, summary, clock, make=LineWork.make):
    seconds = float(os.environ["SLOW"])
    time.sleep(seconds / 2)
    yield from make(self, layer, task, summary, clock)
    time.sleep(seconds / 2)

LineWork.make = slowed
if version := os.environ.get("VERSION"):
    solver.proof.version.source_version = lambda: version
"""
"""What a worker loads that is to be slow, or to have another version, which is otherwise a matter of the source."""


def free_port() -> int:
    """A port of this machine that nobody listens at."""
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


def start(command: list[Any], log: Path, env: Mapping[str, str], cwd: Path) -> "subprocess.Popen[bytes]":
    """A process that writes to a file, and that ends at the latest when this one does."""
    with open(log, "wb") as out:
        return subprocess.Popen(
            [str(each) for each in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out, cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(_TREE), **env}, preexec_fn=_end_with_parent,
        )  # fmt: skip


class Cluster:
    """A scheduler and workers. The scheduler has the same address whenever it is started again."""

    def __init__(self, folder: Path, *, protocol: str = "tcp", env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.env = {"SLOW": "0", "PYTHONWARNINGS": "ignore"} | dict(env or {})
        self._protocol, self._port = protocol, free_port()
        self.address = f"{protocol}://{HOST}:{self._port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self._logs: dict[int, Path] = {}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "preloaded.py").write_text(_PRELOADED)

    def start_scheduler(self) -> None:
        """Start a scheduler, and wait until it listens."""
        command = ["scheduler", "--host", HOST, "--protocol", self._protocol, "--port", self._port, "--no-dashboard"]
        self.scheduler = self._start(command, {})
        until(self._listens)

    def add_worker(self, *, wait: bool = True, env: Mapping[str, str] | None = None) -> Any:
        """Start a worker, and wait until the scheduler has it."""
        command = ["worker", self.address, "--no-nanny", "--nthreads", 1, "--no-dashboard", "--memory-limit", 0]
        command += ["--host", HOST, "--protocol", self._protocol, "--local-directory", self.folder / "space"]
        worker = self._start([*command, "--preload", self.folder / "preloaded.py"], env or {})
        self.workers.append(worker)
        if wait:
            self.await_worker(worker)
        return worker

    def repair(self, count: int = 2) -> None:
        """Start what is missing of a scheduler and so many workers, all at once."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        if self.scheduler is None or self.scheduler.poll() is not None:
            for worker in list(self.workers):
                self.kill(worker)
            self.start_scheduler()
        for worker in [self.add_worker(wait=False) for _ in range(count - len(self.workers))]:
            self.await_worker(worker)

    def await_worker(self, worker: "subprocess.Popen[bytes]") -> None:
        """Wait until the scheduler has a worker."""
        until(lambda: b"Registered to" in self._logs[worker.pid].read_bytes())

    def kill(self, process: "subprocess.Popen[bytes] | None") -> None:
        """End a process at once."""
        if process:
            process.kill()
            process.wait()
            if process in self.workers:
                self.workers.remove(process)

    def end(self) -> None:
        """End all processes."""
        for process in [*self.workers, self.scheduler]:
            self.kill(process)

    def _start(self, command: list[Any], env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        log = self.folder / f"{len(self._logs)}.log"
        whole = [sys.executable, "-m", f"distributed.cli.dask_{command[0]}", *command[1:]]
        process = start(whole, log, self.env | dict(env), self.folder)
        self._logs[process.pid] = log
        return process

    def _listens(self) -> bool:
        assert self.scheduler
        assert self.scheduler.poll() is None
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self._port)) == 0


@contextmanager
def cluster(folder: Path, workers: int = 2, **options: Any) -> Iterator[Cluster]:
    """A scheduler and so many workers, which are ended in any case."""
    found = Cluster(folder, **options)
    try:
        found.repair(workers)
        yield found
    finally:
        found.end()


class Build:
    """A `ttt4-solve build` that is under way, as a process of its own."""

    def __init__(self, folder: Path, *arguments: object, env: Mapping[str, str] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / f"build-{time.monotonic_ns()}.log"
        command = [Path(sys.executable).with_name("ttt4-solve"), "build", *arguments]
        self.process = start(command, self._log, {"PYTHONWARNINGS": "default", **(env or {})}, folder)

    @property
    def talk(self) -> str:
        """What it has written to standard error."""
        return self._log.read_text()

    def end(self, seconds: float = 120.0) -> int:
        """Wait for its end, and return its exit code; it must have been civil."""
        try:
            code = self.process.wait(seconds)
        finally:
            self.process.kill()
            self.process.wait()
        assert "Traceback" not in self.talk, self.talk
        return code


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
