"""Whatever happens to a cluster: the store is the same, or one line says why not and the same command resumes."""

import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from clusters import HOST, TREE, Build, Cluster, cluster, damage, digest_of, free_port, until

from solver.errors import ScratchError
from solver.games.notation import parse_game
from solver.proof import crew as crews
from solver.proof.build import build_store
from solver.proof.cluster import DaskCrew, require_safe
from solver.scratch.folder import is_of_task

TIMES = int(os.environ.get("TTT4_TIMES", "1"))
"""How often each fault is tried."""

FEW = pytest.mark.parametrize("times", [pytest.param(TIMES, marks=pytest.mark.slow)])
PHASES = ("compiling...", "solving...", "writing...")
LASTS = 2.5
"""About how many seconds the tasks of a build of 4,4,4 take, where workers are slow."""


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers that nobody harms."""
    with cluster(tmp_path_factory.mktemp("quick")) as found:
        yield found


class Trial:
    """Builds of 4,4,4 with slow workers, again and again, and what became of them."""

    def __init__(self, found: Cluster, folder: Path, right: str) -> None:
        self.cluster, self.folder, self.right = found, folder, right
        self.store, self.scratch = folder / "s", folder / "scratch"
        self.outcomes: list[str] = []
        self.rng = random.Random(11)

    def begin(self) -> Build:
        """Start a build, and return when the workers are at work."""
        self.store.unlink(missing_ok=True)
        return self.resume()

    def resume(self) -> Build:
        """The same command, whatever is there."""
        where = ["--store", self.store, "--scratch", self.scratch, "--cluster", self.cluster.address]
        build = Build(self.folder / "log", "--game", "4,4,4", *where)
        build.await_talk("watch them")
        return build

    def wait(self, seconds: float = LASTS) -> None:
        """Let some time pass."""
        time.sleep(self.rng.uniform(0, seconds))

    def require_right(self, build: Build) -> None:
        """Wait for the end of a build that must succeed and clear up."""
        assert build.end() == 0, build.talk
        self.require_clean()
        kinds = ("resuming", "doing it again", "restoring")
        self.outcomes.append(" and ".join(kind for kind in kinds if kind in build.talk) or "done")

    def require_clean(self) -> None:
        """The store is right, and nothing else is left."""
        assert digest_of(self.store) == self.right
        assert list(self.scratch.iterdir()) == []
        assert {path.name for path in self.folder.iterdir()} == {"s", "scratch", "log", "cluster"}

    def files(self, kind: str) -> list[Path]:
        """The files of tasks that are there now."""
        return sorted(self.scratch.glob(f"*/*.{kind}"))

    def say(self) -> None:
        """Print what became of the builds."""
        print({outcome: self.outcomes.count(outcome) for outcome in sorted(set(self.outcomes))})


@pytest.fixture
def trial(tmp_path: Path, store4: Path) -> Iterator[Trial]:
    """A scheduler and two slow workers for one test to harm."""
    env = {"SLOW": "0.1", "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "2s"}
    with cluster(tmp_path / "cluster", env=env) as found:
        running = Trial(found, tmp_path, digest_of(store4))
        yield running
        running.say()


@pytest.mark.parametrize(
    "name", ["4,4,4", "3,4,3,misere", "3,3,3,misere", "fano", "2,2,2", pytest.param("4,5,4", marks=pytest.mark.slow)]
)
def test_two_workers_give_the_same_store_byte_by_byte(name: str, quick: Cluster, tmp_path: Path) -> None:
    game = parse_game(name)
    build_store(game, tmp_path / "right", jobs=2)
    build_store(game, tmp_path / "s", crew=lambda: DaskCrew(quick.address))
    assert (tmp_path / "s").read_bytes() == (tmp_path / "right").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["right", "s"]


@FEW
def test_a_worker_that_is_killed_costs_nothing_but_time(times: int, trial: Trial) -> None:
    for number in range(times):
        build = trial.begin()
        trial.wait()
        trial.cluster.kill(trial.rng.choice(trial.cluster.workers))
        if number % 2:
            trial.cluster.add_worker(wait=False)
        trial.require_right(build)
        while len(trial.cluster.workers) < 2:
            trial.cluster.add_worker()


@FEW
def test_a_build_whose_workers_were_all_killed_goes_on_with_new_ones(times: int, trial: Trial) -> None:
    for _ in range(times):
        build = trial.begin()
        trial.wait()
        for worker in list(trial.cluster.workers):
            trial.cluster.kill(worker)
        trial.cluster.add_workers(2)
        trial.require_right(build)


@FEW
def test_without_its_scheduler_a_build_ends_in_one_line_and_is_resumed_with_the_next(times: int, trial: Trial) -> None:
    for _ in range(times):
        build = trial.begin()
        trial.wait(0.6 * LASTS)
        trial.cluster.kill(trial.cluster.scheduler)
        if build.end() == 0:  # it was done already
            trial.require_clean()
        else:
            assert "the same command resumes" in build.errors()[0], build.talk
            trial.outcomes.append("refused")
        for worker in list(trial.cluster.workers):
            trial.cluster.kill(worker)
        trial.cluster.start_scheduler()
        trial.cluster.add_workers(2)
        if not trial.store.exists():
            trial.require_right(trial.resume())


@FEW
def test_a_client_that_is_killed_is_followed_by_one_that_resumes(times: int, trial: Trial) -> None:
    for _ in range(times):
        build = trial.begin()
        trial.wait()
        build.process.kill()
        build.process.wait()
        trial.require_right(trial.resume())


@FEW
def test_a_worker_that_stops_for_longer_than_the_scheduler_waits_costs_nothing_but_time(
    times: int, trial: Trial
) -> None:
    for _ in range(times):
        build = trial.begin()
        trial.wait(0.6 * LASTS)
        stopped = trial.rng.choice(trial.cluster.workers)
        stopped.send_signal(signal.SIGSTOP)
        trial.require_right(build)
        stopped.send_signal(signal.SIGCONT)  # what it does now is for nobody
        time.sleep(0.5)
        trial.require_clean()
        trial.cluster.kill(stopped)
        trial.cluster.add_worker()


@pytest.mark.parametrize("kind", ["pages", "records", "done"])
@FEW
def test_a_file_that_is_damaged_during_a_build_is_made_again(times: int, kind: str, trial: Trial) -> None:
    for number in range(times):
        how = ("flipped", "removed", "cut")[number % 3]
        build = trial.begin()
        trial.wait(0.8 * LASTS)
        until(lambda build=build: trial.files(kind) or build.process.poll() is not None)  # type: ignore[misc]
        for path in trial.files(kind)[: trial.rng.randrange(1, 3)]:
            try:
                harmed = damage(path.read_bytes(), how, trial.rng)
            except FileNotFoundError:
                continue
            if harmed is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(harmed)
            trial.outcomes.append(how)
        trial.require_right(build)


@FEW
def test_files_that_are_damaged_between_two_builds_are_made_again(times: int, trial: Trial) -> None:
    for number in range(times):
        build = trial.begin()
        trial.wait()
        build.process.kill()
        build.process.wait()
        time.sleep(0.5)  # the tasks that are under way end
        for path in [path for path in trial.scratch.glob("*/*") if is_of_task(path.name)]:
            if trial.rng.random() < 0.3:
                harmed = damage(path.read_bytes(), ("flipped", "removed", "cut")[number % 3], trial.rng)
                if harmed is None:
                    path.unlink()
                else:
                    path.write_bytes(harmed)
        trial.require_right(trial.resume())


@pytest.mark.slow
def test_a_second_build_at_one_scratch_is_refused(trial: Trial) -> None:
    build = trial.begin()
    where = ["--scratch", trial.scratch, "--cluster", trial.cluster.address]
    second = Build(trial.folder / "log", "--game", "4,4,4", "--store", trial.folder / "other", *where)
    assert second.end() == 1
    assert "another build" in second.errors()[0]
    trial.require_right(build)


@pytest.fixture
def other_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with a comment that the one here has not."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(TREE / "solver", tree / "solver", ignore=shutil.ignore_patterns("__pycache__"))
    with open(tree / "solver" / "errors.py", "a") as file:
        file.write("# another version\n")
    return tree


@pytest.mark.slow
def test_workers_of_another_version_are_refused(trial: Trial, other_tree: Path) -> None:
    trial.cluster.add_worker(tree=other_tree)
    build = Build(trial.folder / "log", "--store", trial.store, "--cluster", trial.cluster.address)
    assert build.end() == 1
    assert "has another version of ttt4" in build.errors()[0]
    assert "install the same on all" in build.errors()[0]


@pytest.mark.slow
def test_a_worker_of_another_version_that_joins_later_is_refused(trial: Trial, other_tree: Path) -> None:
    trial.cluster.kill(trial.cluster.workers[1])
    trial.cluster.kill(trial.cluster.workers[0])
    trial.cluster.add_worker(env={"SLOW": "1"})
    build = trial.begin()
    other = trial.cluster.add_worker(tree=other_tree)
    assert build.end() == 1
    assert "has another version of ttt4" in build.errors()[0]
    trial.cluster.kill(other)
    trial.cluster.add_worker()
    trial.require_right(trial.resume())


def test_a_worker_without_the_program_is_refused(trial: Trial, tmp_path_factory: pytest.TempPathFactory) -> None:
    tree = tmp_path_factory.mktemp("tree")
    (tree / "solver").mkdir()
    (tree / "solver" / "__init__.py").write_text("")
    worker = trial.cluster.add_worker(tree=tree, wait=False)
    until(lambda: worker.poll() is not None or b"Registered" in (trial.cluster.folder / "3.log").read_bytes())
    if worker.poll() is None:
        build = Build(trial.folder / "log", "--store", trial.store, "--cluster", trial.cluster.address)
        assert build.end() == 1
        assert "cannot run ttt4" in build.errors()[0]


@pytest.mark.slow
def test_a_full_scratch_is_called_that_and_after_there_is_room_the_same_command_resumes(
    trial: Trial, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for worker in list(trial.cluster.workers):
        trial.cluster.kill(worker)
    full = tmp_path_factory.mktemp("full")
    (full / "sitecustomize.py").write_text(
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
    )
    space = {"PYTHONPATH": f"{full}{os.pathsep}{TREE}"}
    worker = trial.cluster.add_worker(env=space)
    build = trial.begin()
    assert build.end() == 1
    assert "File too large" in build.errors()[0]
    assert "the same build resumes" in build.errors()[0]
    assert not trial.store.exists()
    trial.cluster.kill(worker)
    trial.cluster.add_workers(2)
    trial.require_right(trial.resume())
    assert trial.outcomes in (["resuming"], ["resuming and restoring"])


def test_a_worker_that_is_late_is_not_waited_for(
    quick: Cluster, tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crews, "LATE_SECONDS", 0.5)
    monkeypatch.setattr(crews, "_LOOK_SECONDS", 0.1)
    stopped: list[subprocess.Popen[bytes]] = []

    def stop(progress: Any) -> None:
        if progress.phase == "solving" and progress.done and not stopped:
            stopped.append(quick.workers[0])
            stopped[0].send_signal(signal.SIGSTOP)

    try:
        ending = threading.Timer(15, lambda: stopped[0].send_signal(signal.SIGCONT))
        ending.start()
        begun = time.monotonic()
        build_store(parse_game("4,4,4"), tmp_path / "s", crew=lambda: DaskCrew(quick.address), on_progress=stop)
        assert time.monotonic() - begun < 14
    finally:
        ending.cancel()
        for worker in stopped:
            worker.send_signal(signal.SIGCONT)
    assert digest_of(tmp_path / "s") == digest_of(store4)
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


def test_a_build_that_has_no_worker_for_long_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.proof.cluster.ALONE_SECONDS", 0.5)
    with cluster(tmp_path / "cluster", workers=0) as found, pytest.raises(ScratchError, match="has had no worker for"):
        build_store(parse_game("3,3,3"), tmp_path / "s", crew=lambda: DaskCrew(found.address))
    assert [path.name for path in tmp_path.iterdir()] == ["cluster"]


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://example.com:8786"])
def test_a_scheduler_elsewhere_that_is_not_encrypted_is_refused(address: str, run: Any, tmp_path: Path) -> None:
    from solver.cli.main import main

    begun = time.monotonic()
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--cluster", address)
    assert ran.code == 1
    talk = [line for line in ran.err.splitlines() if line not in PHASES]
    assert len(talk) == 1
    assert "is not encrypted" in talk[0]
    assert "--unencrypted" in talk[0]
    assert time.monotonic() - begun < 4
    assert list(tmp_path.iterdir()) == []
    require_safe(address, unencrypted=True)


@pytest.mark.parametrize(
    "address",
    ["", "nonsense", "http://127.0.0.1:8786", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:port", "tcp://[::1", "tls:",
     "tcp://127.0.0.1:99999", "tls://127.0.0.1:1", "inproc://1", "tcp://127.0.0.1:8786/x y", "\n", "tcp://\x00:1"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_in_one_line(
    address: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from solver.cli.main import main

    monkeypatch.setattr("solver.proof.cluster.CONNECT_SECONDS", 0.5)
    begun = time.monotonic()
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--cluster", address)
    talk = [line for line in ran.err.splitlines() if line not in PHASES]
    assert (ran.code, len(talk)) == (1, 1), ran.err
    assert talk[0].startswith("Error: ")
    assert time.monotonic() - begun < 4
    assert list(tmp_path.iterdir()) == []


def test_where_nobody_listens_it_is_said_in_one_line(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from solver.cli.main import main

    monkeypatch.setattr("solver.proof.cluster.CONNECT_SECONDS", 0.5)
    begun = time.monotonic()
    address = f"tcp://{HOST}:{free_port()}"
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--cluster", address)
    talk = [line for line in ran.err.splitlines() if line not in PHASES]
    assert (ran.code, len(talk)) == (1, 1), ran.err
    assert "no dask scheduler answers" in talk[0]
    assert time.monotonic() - begun < 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_where_something_else_listens_it_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind((HOST, 0))
        silent.listen()
        address = f"tcp://{HOST}:{silent.getsockname()[1]}"
        build = Build(tmp_path / "log", "--game", "3,3,3", "--store", tmp_path / "s", "--cluster", address)
        assert build.end(40) == 1
    assert "no dask scheduler answers" in build.errors()[0]
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.fixture
def certificates(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Make an authority with a key of its own, and return what dask's settings are for it."""

    def made(name: str) -> dict[str, str]:
        folder = tmp_path / "certificates"
        folder.mkdir(exist_ok=True)
        key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
             "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:{HOST}"],
            check=True, capture_output=True,
        )  # fmt: skip
        tls = "DASK_DISTRIBUTED__COMM__TLS__"
        env = {f"{tls}CA_FILE": str(certificate)}
        for role in ("SCHEDULER", "WORKER", "CLIENT"):
            env |= {f"{tls}{role}__CERT": str(certificate), f"{tls}{role}__KEY": str(key)}
        return env

    return made


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificates")
@pytest.mark.slow
def test_over_tls_a_build_is_the_same_and_without_the_certificate_nobody_answers(
    certificates: Any, tmp_path: Path, store4: Path
) -> None:
    ours, others = certificates("ours"), certificates("others")
    with cluster(tmp_path / "cluster", protocol="tls", env=ours) as found:
        arguments = ["--game", "4,4,4", "--store", tmp_path / "s", "--cluster", found.address]
        for env in ({}, others):
            begun = time.monotonic()
            build = Build(tmp_path / "log", *arguments, env=env)
            assert build.end() == 1
            assert time.monotonic() - begun < 20
            assert not (tmp_path / "s").exists()
        build = Build(tmp_path / "log", *arguments, env=ours)
        assert build.end() == 0
        assert digest_of(tmp_path / "s") == digest_of(store4)
        assert not (tmp_path / "s.partial").exists()
