"""How soon the first board is there, on a screen and at the prompt, beside a Python that imports click and lmdb alone.

Usage: ttt4-solve build; python tests/bench/bench_start.py [--rounds 20]

All take turns, and each figure is the best round's and the median's: a ratio survives a busy machine, a time does not.
"""

import os
import pty
import subprocess
import sys
from statistics import median

from measuring import command, in_turns, options_of

COMMAND = command("ttt4-play")


def bare() -> None:
    """Start Python and import the two packages that every command needs."""
    subprocess.run([sys.executable, "-c", "import click, lmdb"], check=True)


def first_board(*arguments: str, end: bytes) -> None:
    """Start the command on a terminal, and end it when the last of what is shown first has come."""
    child, terminal = pty.fork()
    if not child:
        os.execve(COMMAND, [COMMAND, *arguments], {**os.environ, "TERM": "xterm", "LINES": "24", "COLUMNS": "80"})
    shown = b""
    while end not in shown:
        shown += os.read(terminal, 1 << 16)
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(terminal)


def main() -> None:
    measures = {
        "click and lmdb": bare,
        "screen": lambda: first_board("--game", "4,4,4", end=b"quit"),
        "prompt": lambda: first_board("--plain", end=b"X> "),
    }
    taken = in_turns(measures, options_of(__doc__, rounds=20).rounds)
    base = taken["click and lmdb"]
    for name, seconds in taken.items():
        best, middle = min(seconds), median(seconds)
        print(
            f"{name:14} best {1e3 * best:4.0f} ms, {best / min(base):.2f} times; "
            f"median {1e3 * middle:4.0f} ms, {middle / median(base):.2f} times"
        )


if __name__ == "__main__":
    main()
