"""What the benchmarks share: options, C programs, times, and positions of random play."""

import argparse
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from solver.advice import with_advice
from solver.errors import Ttt4Error
from solver.games.board import BoardGame
from solver.games.notation import parse_game


def options_of(about: str | None, **defaults: Any) -> argparse.Namespace:
    """Return the options of a benchmark: each is of its default's type; `game` is a game, and a list is repeatable."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        if default is False:
            parser.add_argument(f"--{name.replace('_', '-')}", action="store_true")
        elif default == []:
            parser.add_argument(f"--{name.replace('_', '-')}", action="append", required=True)
        else:
            kind = parse_game if name == "game" else type(default)
            parser.add_argument(f"--{name.replace('_', '-')}", type=kind, default=default)
    return parser.parse_args()


def begin(main: Callable[[], None]) -> None:
    """Run a benchmark; what it refuses is one line."""
    try:
        main()
    except Ttt4Error as error:
        sys.exit(with_advice(error))


def compiled(name: str, compiler: str, folder: str) -> Path:
    """Compile a C program of this folder for this machine, and return its path."""
    program, source = Path(folder, name), Path(__file__).with_name(f"{name}.c")
    subprocess.run([compiler, "-O3", "-march=native", "-o", program, source], check=True)
    return program


def command(name: str) -> str:
    """Return the path of one of our commands."""
    return str(Path(sys.executable).with_name(name))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return how many seconds a call takes, and what it returns."""
    start = perf_counter()
    found = call()
    return perf_counter() - start, found


def in_turns(measures: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds that each takes in each round."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(timed(measure)[0])
    return taken


def drawn(game: BoardGame[Any], rng: random.Random, stones: int) -> Any:
    """Return a position that random play reaches, with so many stones, or fewer where the next would end the game."""
    position: Any = game.at(0, 0)
    while position.stones < stones:
        after = position.play(rng.choice(position.legal))
        if after.over:
            break
        position = after
    return position
