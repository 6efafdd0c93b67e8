"""Little memory, few threads, a full disk: one line and exit code 1."""

import errno
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from oracle.cli.main import main as query
from oracle.oracle import Oracle
from solver.errors import refusal_of
from solver.kernels.loading import Loader

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "too little memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "too little memory"),
        (ImportError("libx.so: failed to map segment: Cannot allocate memory"), "too little memory"),
        (RuntimeError("can't start new thread"), "no thread can be started"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
    ],
)
def test_a_failure_of_the_system_ends_a_command_in_one_line(
    error: Exception, said: str, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(Oracle, "analysis", failing)
    ran = run(query, "--game", "3,3,3", "--live", ".........")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert said in ran.err


def test_a_fault_of_ours_is_no_failure_of_the_system() -> None:
    for error in (ValueError("x"), RuntimeError("x"), KeyError(1), AssertionError()):
        assert refusal_of(error) is None
    of_numba = ValueError("what numba makes of it")
    of_numba.__context__ = MemoryError()
    assert "too little memory" in str(refusal_of(of_numba))


class Failing(Loader):
    kernel, module = "none", "none"

    def make(self) -> Any:
        raise MemoryError


@pytest.mark.parametrize("threads", [True, False])
def test_without_memory_or_threads_for_compiled_code_plain_code_goes_on(
    threads: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    if not threads:
        monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr("solver.kernels.cache.is_cached", lambda kernel: True)
    failing = Failing(may_compile=True)
    assert failing.compiled(threading.TIMEOUT_MAX) is None
    assert capfd.readouterr().err == ""


def test_with_little_address_space_compiled_code_is_refused_before_it_can_abort(tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20))

    ran = subprocess.run(
        [BIN / "ttt4-solve", "build", "--game", "3,3,3", "--store", tmp_path / "s"],
        preexec_fn=limited, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["games", "--help"], []])
def test_help_that_cannot_be_written_is_one_line(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run([BIN / "ttt4-solve", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    if words:
        assert (ran.returncode, ran.stderr) == (1, "Error: system error: No space left on device\n")
    else:
        assert "Traceback" not in ran.stderr
