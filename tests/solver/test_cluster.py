"""Whatever happens to a cluster: the store is the same, or one line says why not and the same command resumes.

By default the workers are threads of this process, or dask itself is made up. The slow tests stop and kill processes.
"""

import errno
import logging
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from clusters import (
    HOST,
    Cluster,
    after_tasks,
    cluster,
    damage,
    refusal,
    resume,
    start_build,
    undisturbed,
    until,
)  # fmt: skip
from stand_in import GAME
from stores import raising

from solver.cli.main import main
from solver.errors import ScratchError
from solver.games.notation import parse_game
from solver.proof.build import build_store
from solver.proof.cluster import DaskCrew, require_safe
from solver.proof.version import OtherVersion, source_version

ADDRESS = "tcp://127.0.0.1:8786"
CONNECTED = "solver.proof.cluster._connected"
SMALL = parse_game("3,4,3")


# With dask made up


class Hands(Executor):
    """Does so many calls at once; what becomes of later ones is up to a function."""

    def __init__(self, able: int, then: Callable[["Future[Any]"], object] = lambda _: None) -> None:
        self._numbers, self._able, self._then = count(), able, then

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        if next(self._numbers) >= self._able:
            self._then(future)
            return future
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class Client:
    """A client of dask with one worker, as far as a crew needs it."""

    status, dashboard_link = "running", "http://127.0.0.1:8787/status"

    def __init__(self) -> None:
        self.workers: dict[str, Any] = {"tcp://127.0.0.1:1": {"nthreads": 1}}
        self.hands: Executor = Hands(99)
        self.closed = False
        self.answer: Callable[..., Any] = lambda function, *arguments: function(*arguments)

    def run(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        return {worker: self.answer(function, *arguments) for worker in self.workers}

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers < 0, "of all workers"
        return {"workers": self.workers}

    def get_executor(self, *, pure: bool, retries: int) -> Executor:
        assert not pure
        assert retries
        return self.hands

    def close(self, timeout: float | None = None) -> None:
        self.closed = True


@pytest.fixture
def client(stand_in: None, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The client of every cluster."""
    found = Client()
    monkeypatch.setattr(CONNECTED, lambda address: found)
    monkeypatch.setattr("solver.proof.crew._LOOK_SECONDS", 0)
    return found


def build(path: Path, address: str = ADDRESS, **options: Any) -> None:
    build_store(GAME, path, crew=partial(DaskCrew, address), **options)


def fail(error: Exception) -> Callable[["Future[Any]"], None]:
    return lambda future: future.set_exception(error)


def cancel(future: "Future[Any]") -> None:
    future.cancel()
    future.set_running_or_notify_cancel()


def refuse(future: "Future[Any]") -> None:
    raise RuntimeError("the scheduler takes\nno more")


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (cancel, f"the scheduler at '{ADDRESS}' is gone; the same command resumes the build"),
        (fail(RuntimeError("odd\nindeed")), "a task of the cluster has failed: RuntimeError: odd; the same command"),
        (refuse, "a task of the cluster has failed: RuntimeError: the scheduler takes; the same command"),
        (fail(OSError(errno.EFBIG, "File too large")), "File too large .*the same build resumes"),
        (fail(OtherVersion("here", "there")), r"a worker has another version of ttt4 \(there\) than .* \(here\): inst"),
    ],
)
def test_a_build_whose_cluster_fails_says_why_in_one_line_and_is_resumed(
    then: Any, said: str, client: Client, tmp_path: Path
) -> None:
    client.hands = Hands(7, then)
    with pytest.raises((ScratchError, OSError), match=said) as refusal:
        build(tmp_path / "s", scratch=str(tmp_path / "scratch"))
    assert "\n" not in str(refusal.value)
    assert client.closed
    client.hands = Hands(99)
    resume(tmp_path / "s", crew=partial(DaskCrew, ADDRESS), scratch=str(tmp_path / "scratch"))


def test_a_build_ends_when_the_scheduler_closes_or_there_has_been_no_worker_for_a_minute(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(0, 25)
    monkeypatch.setattr("solver.proof.cluster.monotonic", lambda: next(seconds))
    client.hands = Hands(3, lambda _: client.workers.clear())
    with pytest.raises(ScratchError, match="has had no worker for 60 s: start some, and the same command resumes"):
        build(tmp_path / "s")
    assert 50 < next(seconds) < 200
    client.workers["tcp://127.0.0.1:2"] = {"nthreads": 1}
    client.hands = Hands(3, lambda _: setattr(client, "status", "closed"))
    with pytest.raises(ScratchError, match="is gone; the same command resumes the build"):
        build(tmp_path / "s")


def test_calls_that_a_worker_loses_are_given_out_again(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.proof.crew.LATE_SECONDS", -1e9)
    given = count()

    class Losing(Hands):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> "Future[Any]":
            lost = next(given) in (0, 2, 3, 7, 9)
            return Future() if lost else super().submit(function, *arguments, **options)

    client.hands = Losing(99)
    build(tmp_path / "s")
    assert next(given) == 16 + 5
    assert (tmp_path / "s").read_bytes() == undisturbed()
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


@pytest.mark.parametrize(
    ("version", "begin", "refused", "said"),
    [
        (lambda: "0123", None, OtherVersion, rf"^tcp://\S+ has .* \(0123\) than .* \({source_version()}\): inst"),
        (raising(ModuleNotFoundError), None, ScratchError, f"'{ADDRESS}' cannot run ttt4: ModuleNotFoundError"),
        (source_version, raising(FileNotFoundError), ScratchError, "cannot read scratch .*all machines share"),
        (source_version, lambda *_: b"other", ScratchError, "another folder"),
    ],
)
def test_a_worker_that_cannot_take_part_is_refused_at_once(
    version: Any, begin: Any, refused: type[Exception], said: str, client: Client, tmp_path: Path
) -> None:
    client.answer = lambda function, *arguments: begin(*arguments) if arguments else version()
    with pytest.raises(refused, match=said):
        build(tmp_path / "s")
    assert client.closed
    assert list(tmp_path.iterdir()) == []


def test_a_crew_counts_workers_and_their_threads(client: Client) -> None:
    for workers, hands, detail in (({}, 1, "0 workers"), ({"a": 3}, 3, "1 worker"), ({"a": 3, "b": 2}, 5, "2 workers")):
        client.workers = {name: {"nthreads": threads} for name, threads in workers.items()}
        with DaskCrew(ADDRESS) as crew:
            assert (crew.hands, crew.detail(), crew.dashboard) == (hands, detail, client.dashboard_link)


def connecting(monkeypatch: pytest.MonkeyPatch, connect: Callable[..., Any] | None) -> None:
    """Let dask connect so; None if it is not installed."""
    monkeypatch.setitem(sys.modules, "distributed", connect and SimpleNamespace(Client=connect))
    monkeypatch.setattr("solver.proof.cluster.CONNECT_SECONDS", 0.0)
    monkeypatch.setattr("solver.proof.cluster._GRACE_SECONDS", 0.0)


@pytest.mark.parametrize(("address", "hint"), [(ADDRESS, False), ("tls://10.0.0.1:8786", True)])
def test_where_dask_cannot_connect_it_is_said_in_one_line_and_nothing_is_logged(
    address: str, hint: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log, given = logging.getLogger("distributed.made.up"), []

    def connect(*arguments: Any, **options: Any) -> None:
        given.append((arguments, options))
        log.error("much")
        raise OSError("no answer\nat all")

    connecting(monkeypatch, connect)
    monkeypatch.setattr("solver.proof.cluster._GRACE_SECONDS", 60.0)
    with pytest.raises(ScratchError) as refusal:
        DaskCrew(address)
    assert str(refusal.value).startswith(f"no dask scheduler answers at '{address}': OSError: no answer")
    assert ("certificates" in str(refusal.value)) == hint
    assert "\n" not in str(refusal.value)
    assert given == [((address,), {"timeout": 0.0, "set_as_default": False})]
    assert not caplog.records


def test_a_scheduler_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for_ever = threading.Event()
    connecting(monkeypatch, lambda *_, **__: for_ever.wait())
    with pytest.raises(ScratchError, match=r"no dask scheduler answers at .*: it does not answer as a scheduler"):
        DaskCrew(ADDRESS)
    for_ever.set()


def test_without_dask_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    connecting(monkeypatch, None)
    with pytest.raises(ScratchError, match=r"pip install 'ttt4\[cluster\]'"):
        DaskCrew(ADDRESS)


ELSEWHERE = ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://example.com:8786"]
NOWHERE = ["", "nonsense", "http://127.0.0.1:8786", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:port", "tcp://[::1",
           "tls:", "tcp://127.0.0.1:99999", "inproc://1", "\n", "tcp://\x00:1"]  # fmt: skip


@pytest.mark.parametrize("address", ELSEWHERE + NOWHERE)
def test_an_address_of_no_scheduler_and_one_elsewhere_without_encryption_are_refused_in_one_line(
    address: str, run: Any, tmp_path: Path
) -> None:
    said = refusal(run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--cluster", address))
    assert list(tmp_path.iterdir()) == []
    if address in ELSEWHERE:
        assert re.search("is not encrypted.*--unencrypted", said)
        require_safe(address, unencrypted=True)


# With dask's workers in this process


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler whose two workers are threads, and get what they do through sockets."""
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp://", "host": HOST}
    with LocalCluster(dashboard_address=":0", **options) as found:
        address = found.scheduler_address
        first = tmp_path_factory.mktemp("first") / "s"
        build_store(parse_game("2,2,2"), first, crew=partial(DaskCrew, address))  # which loads what others need
        yield address


@pytest.mark.parametrize("name", ["2,5,2,misere", "fano", "2,2,2"])
def test_two_workers_give_the_same_store_byte_by_byte(name: str, here: str, tmp_path: Path, store_of: Any) -> None:
    build_store(parse_game(name), tmp_path / "s", crew=partial(DaskCrew, here))
    assert (tmp_path / "s").read_bytes() == store_of(name).read_bytes()
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


@pytest.mark.usefixtures("stand_in")
def test_a_worker_of_another_version_that_joins_later_is_refused(
    here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def join(task: int) -> None:
        if task == 5:
            monkeypatch.setattr("solver.proof.version.source_version", lambda: "0123")

    with pytest.raises(OtherVersion, match=r"has another version of ttt4 \(0123\) .*: install the same on all"):
        build(tmp_path / "s", here, on_progress=after_tasks(join))


def test_the_command_says_where_to_watch_the_workers(here: str, tmp_path: Path, run: Any) -> None:
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--cluster", here)
    assert ran.code == 0
    assert "watch them" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def harm(path: Path, how: str, rng: random.Random) -> None:
    harmed = damage(path.read_bytes(), how, rng)
    path.unlink()
    if harmed is not None:
        path.write_bytes(harmed)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("kind", "how"),
    [("pages", "flipped"), ("pages", "removed"), ("records", "flipped"), ("records", "cut"), ("done", "removed")],
)
def test_a_file_that_is_damaged_during_a_build_is_made_again(kind: str, how: str, here: str, tmp_path: Path) -> None:
    rng, harmed = random.Random(11), []

    def harm_some(task: int) -> None:
        files = sorted(tmp_path.glob(f"scratch/*/*.{kind}"))
        if task in (4, 9) and files:
            harmed.append(rng.choice(files))
            harm(harmed[-1], how, rng)

    build(tmp_path / "s", here, scratch=str(tmp_path / "scratch"), on_progress=after_tasks(harm_some))
    assert harmed
    assert (tmp_path / "s").read_bytes() == undisturbed()
    assert list((tmp_path / "scratch").iterdir()) == []


# With processes


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two slow workers."""
    env = {"SLOW": "0.1", "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "8s"}
    with cluster(tmp_path_factory.mktemp("processes"), **env) as found:
        yield found


class Trial:
    """Builds of a small game by two slow workers, which tests harm after three tasks."""

    def __init__(self, found: Cluster, folder: Path, right: Path) -> None:
        self.cluster, self.store, self.scratch = found, folder / "s", folder / "scratch"
        self.notes: list[str] = []
        self._right = right.read_bytes()

    def build(self, act: Callable[[], object] = lambda: None) -> None:
        """Do something after three tasks; the store that is built is right, and nothing else is left."""
        acting = after_tasks(lambda task: act() if task == 3 else None)

        def on_progress(progress: Any) -> None:
            self.notes.append(progress.note)
            acting(progress)

        crew = partial(DaskCrew, self.cluster.address)
        build_store(SMALL, self.store, scratch=str(self.scratch), crew=crew, on_progress=on_progress)
        self.require_right()

    def require_right(self) -> None:
        assert self.store.read_bytes() == self._right
        assert list(self.scratch.iterdir()) == []

    def resume(self) -> None:
        """Repair the cluster, and let the same command go on."""
        self.cluster.repair()
        self.build()
        assert any("resuming" in note for note in self.notes)


@pytest.fixture
def trial(processes: Cluster, tmp_path: Path, store_of: Any) -> Trial:
    """A scheduler and two slow workers for one test to harm."""
    processes.repair()
    return Trial(processes, tmp_path, store_of(SMALL.name))


@pytest.mark.slow
@pytest.mark.parametrize("killed", [1, 2])
def test_workers_that_are_killed_cost_nothing_but_time_if_one_is_left_or_new_ones_come(
    killed: int, trial: Trial
) -> None:
    def kill() -> None:
        for worker in trial.cluster.workers[:killed]:
            trial.cluster.kill(worker)
        if killed == 2:
            trial.cluster.repair()

    trial.build(kill)


@pytest.mark.slow
def test_without_its_scheduler_a_build_ends_in_one_line_and_is_resumed_with_the_next(trial: Trial) -> None:
    with pytest.raises(ScratchError, match="the same command resumes"):
        trial.build(lambda: trial.cluster.kill(trial.cluster.scheduler))
    trial.resume()


@pytest.mark.slow
def test_a_client_that_is_killed_is_followed_by_one_that_resumes(trial: Trial, tmp_path: Path) -> None:
    where = ["--store", trial.store, "--scratch", trial.scratch, "--cluster", trial.cluster.address]
    begun = start_build(tmp_path / "log", "--game", SMALL.name, *where)
    until(lambda: begun.poll() is not None or len(list(trial.scratch.glob("*/*.done"))) > 2)
    begun.kill()
    begun.wait()
    trial.resume()


@pytest.mark.slow
@pytest.mark.parametrize("late", [0.5, 30.0])
def test_a_worker_that_stops_is_not_waited_for_by_build_or_scheduler(
    late: float, trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.proof.crew.LATE_SECONDS", late)
    monkeypatch.setattr("solver.proof.crew._LOOK_SECONDS", 0.1)
    stopped = trial.cluster.workers[0]
    try:
        trial.build(lambda: stopped.send_signal(signal.SIGSTOP))
    finally:
        stopped.send_signal(signal.SIGCONT)  # what it does now is for nobody
    trial.require_right()
    trial.cluster.kill(stopped)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificates")
@pytest.mark.slow
def test_over_tls_a_build_is_the_same_and_without_the_certificate_nobody_answers(
    tmp_path: Path, store_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask
    from distributed import LocalCluster, Security

    key, certificate = str(tmp_path / "ours.key"), str(tmp_path / "ours.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "2", "-subj", "/CN=ours", "-addext", f"subjectAltName=IP:{HOST}"],
        check=True, capture_output=True,
    )  # fmt: skip
    files = {"cert": certificate, "key": key}
    ours: dict[str, Any] = {f"distributed.comm.tls.{role}": files for role in ("scheduler", "worker", "client")}
    ours["distributed.comm.tls.ca-file"] = certificate
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "protocol": "tls://", "host": HOST}
    monkeypatch.setattr("solver.proof.cluster.CONNECT_SECONDS", 0.5)
    with dask.config.set(ours):
        found = LocalCluster(dashboard_address=":0", security=Security(), **options)
    with found:
        with pytest.raises(ScratchError, match="certificates"):
            DaskCrew(found.scheduler_address)
        monkeypatch.setattr("solver.proof.cluster.CONNECT_SECONDS", 10.0)
        with dask.config.set(ours):
            build_store(SMALL, tmp_path / "s", crew=partial(DaskCrew, found.scheduler_address))
    assert (tmp_path / "s").read_bytes() == store_of(SMALL.name).read_bytes()
