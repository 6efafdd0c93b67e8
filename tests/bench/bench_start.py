"""How soon the first board is there, on a screen and at the prompt, beside a Python that imports click and lmdb alone.

Usage: ttt4-solve build; python tests/bench/bench_start.py [--rounds 20]

All take turns, and each figure is the best round's and the median's: a ratio survives a busy machine, a time does not.
"""

import argparse
import os
import pty
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

COMMAND = str(Path(sys.executable).with_name("ttt4-play"))


def bare() -> float:
    """Return how many seconds Python and the two packages take that every command needs."""
    begun = perf_counter()
    subprocess.run([sys.executable, "-c", "import click, lmdb"], check=True)
    return perf_counter() - begun


def first_board(*arguments: str, end: bytes) -> float:
    """Return how many seconds pass until the last of what a terminal shows first has come."""
    begun = perf_counter()
    child, terminal = pty.fork()
    if not child:
        os.execve(COMMAND, [COMMAND, *arguments], {**os.environ, "TERM": "xterm", "LINES": "24", "COLUMNS": "80"})
    shown = b""
    while end not in shown:
        shown += os.read(terminal, 1 << 16)
    taken = perf_counter() - begun
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(terminal)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    measures = {
        "click and lmdb": bare,
        "screen": lambda: first_board("--game", "4,4,4", end=b"quit"),
        "prompt": lambda: first_board("--plain", end=b"X> "),
    }
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(measure())
    base = taken["click and lmdb"]
    for name, seconds in taken.items():
        best, middle = min(seconds), median(seconds)
        print(
            f"{name:14} best {1e3 * best:4.0f} ms, {best / min(base):.2f} times; "
            f"median {1e3 * middle:4.0f} ms, {middle / median(base):.2f} times"
        )


if __name__ == "__main__":
    main()
