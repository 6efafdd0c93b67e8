"""Signals: whenever Ctrl-C or SIGTERM comes, a command ends with one line at the most, and never a traceback."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from solver.cli.background import in_background
from solver.cli.main import main
from solver.cli.signals import Terminated, interruptible

BIN = Path(sys.executable).parent
LINES = {signal.SIGINT: "Interrupted.\n", signal.SIGTERM: "Terminated.\n"}
COMMANDS = {
    "query": ["ttt4-query", "X23O", "--game", "5,5,4", "--live", "--time", "60"],
    "play": ["ttt4-play", "--game", "5,5,4", "--x", "search", "--live", "--time", "60"],
    "build": ["ttt4-solve", "build", "--game", "4,5,4", "--store", "s"],
}


def caught(process: int) -> bool:
    """Whether a process catches SIGTERM: Python itself does not, so its command has begun."""
    status = Path(f"/proc/{process}/status").read_text()
    mask = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return bool(mask >> signal.SIGTERM - 1 & 1)


def ended(command: list[str], number: signal.Signals, seconds: float, folder: Path) -> tuple[int, str]:
    """The exit code of a command to which a signal is sent after so long, and what it says on stderr."""
    name, *arguments = command
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen([BIN / name, *arguments], cwd=folder, text=True, **pipes)  # type: ignore[call-overload]
    while not caught(process.pid):
        assert process.poll() is None, process.communicate()
        sleep(0.001)
    sleep(seconds)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def right(code: int, err: str, number: signal.Signals) -> bool:
    """Whether a command ended as it should, from the moment on at which its own code runs."""
    progress = (
        "...\n",
        " searching live",
        " may err ",
        " places: ",
        "What is solved is kept",
        "resuming",
        "doing again",
    )
    talk = [line for line in err.splitlines(keepends=True) if not any(word in line for word in progress)]
    return code == 128 + number and talk == [LINES[number]]


@pytest.mark.parametrize(
    ("name", "number", "moments"),
    [
        ("query", signal.SIGINT, 1), ("play", signal.SIGTERM, 1), ("build", signal.SIGINT, 1),
        *(pytest.param(name, number, 8, marks=pytest.mark.slow) for name in COMMANDS for number in LINES),
    ],
)  # fmt: skip
def test_a_signal_in_the_first_300_ms_ends_a_command_in_one_line(
    name: str, number: signal.Signals, moments: int, tmp_path: Path
) -> None:
    wrong = []
    for moment in range(moments):
        seconds = 0.3 * moment / moments
        code, err = ended(COMMANDS[name], number, seconds, tmp_path)
        if not right(code, err, number):
            wrong.append((seconds, code, err))
    assert wrong == []


def test_a_signal_raises_while_a_command_works_and_only_then() -> None:
    program = """
import os, signal
from solver.cli.signals import Terminated, interruptible
from solver.early import leave_on_signals
leave_on_signals()
for number, error in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)):
    leave_on_signals()
    try:
        with interruptible():
            os.kill(os.getpid(), number)
    except error as raised:
        print(type(raised).__name__, flush=True)
    os.kill(os.getpid(), number)
    print("ignored", flush=True)
    signal.signal(signal.SIGINT, signal.SIG_DFL); signal.signal(signal.SIGTERM, signal.SIG_DFL)
leave_on_signals()
os.kill(os.getpid(), signal.SIGTERM)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["KeyboardInterrupt", "ignored", "Terminated", "ignored"]
    assert (ran.returncode, ran.stderr) == (128 + signal.SIGTERM, "Terminated.\n")


def test_a_second_signal_while_the_first_ends_the_process_says_nothing() -> None:
    program = """
import os, signal
from solver import early
early.leave_on_signals()
write = os.write
def write_and_kill(*line):
    write(*line)
    for number in early.LINES:
        os.kill(os.getpid(), number)
os.write = write_and_kill
os.kill(os.getpid(), signal.SIGHUP)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (129, "Hung up.\n")


def test_a_signal_while_a_module_is_imported_ends_the_command_at_once(tmp_path: Path) -> None:
    (tmp_path / "swallowing.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGTERM)\nexcept BaseException:\n    pass\n"
    )
    program = (
        "from solver.cli.signals import interruptible\nfrom solver.early import leave_on_signals\nleave_on_signals()\n"
    )
    program += "with interruptible():\n    import swallowing\nprint('went on')"
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert (ran.returncode, ran.stdout, ran.stderr) == (143, "", "Terminated.\n")


@pytest.mark.parametrize(
    "lost", ["os.register_at_fork(before=lose); os.waitpid(os.fork() or os._exit(0), 0)", "Loses()"]
)
def test_a_signal_that_is_lost_in_a_hook_or_a_finalizer_is_sent_again(lost: str) -> None:
    program = f"""
import os, signal, time
from solver.cli.signals import Terminated, interruptible
from solver.early import leave_on_signals
leave_on_signals()
def lose():
    signal.raise_signal(signal.SIGTERM)
class Loses:
    def __del__(self):
        lose()
try:
    with interruptible():
        {lost}
        print("went on", flush=True)
        time.sleep(60)
except Terminated:
    print("ended")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.stdout.removeprefix("went on").strip(), ran.stderr) == ("ended", "")  # it is sent again at any moment


def test_a_program_that_calls_a_command_keeps_its_own_handlers() -> None:
    before = [signal.getsignal(number) for number in LINES]
    with pytest.raises(KeyboardInterrupt), interruptible():
        os.kill(os.getpid(), signal.SIGINT)
    assert [signal.getsignal(number) for number in LINES] == before
    assert issubclass(Terminated, KeyboardInterrupt)


@pytest.mark.slow
def test_a_signal_ends_a_search_for_a_proof_in_the_middle_of_compiled_code(tmp_path: Path) -> None:
    command, began = ["ttt4-solve", "prove", "--game", "8,8,5", "--time", "600"], monotonic()
    assert right(*ended(command, signal.SIGTERM, 4.0, tmp_path), signal.SIGTERM)
    assert monotonic() - began < 60


def test_a_signal_ends_long_work_that_runs_in_the_background_at_once() -> None:
    never = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        in_background(never.wait, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(TimeoutError):
        in_background(never.wait, lambda: None, lambda: True)
    never.set()
    assert in_background(lambda: 7, lambda: None) == 7
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 // 0, lambda: None)


def test_the_search_for_a_proof_runs_in_the_background(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code does not return for signals."""

    def background(*work: Callable[[], Any]) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("solver.cli.main.in_background", background)
    ran = run(main, "prove", "--game", "8,8,5", "--time", "600")
    assert (ran.code, ran.err.splitlines()[-1]) == (130, "Interrupted.")
