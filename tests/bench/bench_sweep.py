"""The sweep beside a plain C program of the same design, in turns, on one core, kernels loaded.

Usage: python tests/bench/bench_sweep.py [--game 4,5,4] [--rounds 3] [--compiler cc]

Both count every place with a win, a draw and a loss; the counts must be the same. It prints the
seconds of each round and the ratio of the best ones: a ratio survives a busy machine, a time does not.
"""

import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from measuring import compiled, options_of

from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.index.places import UNREACHED
from solver.index.symmetry import Symmetry, symmetries
from solver.sweep.halves import all_halves, kernel_game
from solver.sweep.layers import sweep

Counts = tuple[int, int, int]


def main() -> None:
    options = options_of(__doc__, game=parse_game("4,5,4"), rounds=3, compiler="cc")
    game, group = options.game, symmetries(options.game)

    times: dict[str, list[float]] = {"numba": [], "C": []}
    with tempfile.TemporaryDirectory() as folder:
        program = compiled("sweep", options.compiler, folder)
        for _ in range(options.rounds):
            in_c, places, counts = run_c(program, game, group)
            in_numba, found = run_numba(game, group)
            assert found == counts, f"numba counts {found}, C {counts}"
            times["numba"].append(in_numba)
            times["C"].append(in_c)
            print(f"{game.name}: numba {in_numba:.3f} s, C {in_c:.3f} s ({places:,} places)")
    best = {name: min(seconds) for name, seconds in times.items()}
    print(f"ratio of the best: {best['numba'] / best['C']:.2f} (numba {1e9 * best['numba'] / places:.1f} ns a place)")


def run_c(program: Path, game: Game, group: tuple[Symmetry, ...]) -> tuple[float, int, Counts]:
    """Seconds, places and counts of the C program."""
    k = game.lines[0].bit_count()
    turns = "\n".join(" ".join(map(str, g)) for g in group)
    command = [str(part) for part in (program, game.rows, game.columns, k, len(group))]
    output = subprocess.run(command, input=turns, capture_output=True, text=True, check=True).stdout.split()
    wins, draws, losses = map(int, output[3:])
    return float(output[0]), int(output[1]), (wins, draws, losses)


def run_numba(game: Game, group: tuple[Symmetry, ...]) -> tuple[float, Counts]:
    """Seconds and counts of the sweep. Counting, which C does on the way, is left out of its time."""
    counts = np.zeros(3, np.int64)
    seconds = 0.0
    clock = perf_counter()
    known = kernel_game(game, group)
    for filled in sweep(known, all_halves(known)):
        seconds += perf_counter() - clock
        for pages in filter(None, filled):
            counts += count(pages.scores)
        clock = perf_counter()
    wins, draws, losses = map(int, counts)
    return seconds + perf_counter() - clock, (wins, draws, losses)


def count(scores: np.ndarray) -> np.ndarray:
    wins, unreached = np.count_nonzero(scores > 0), np.count_nonzero(scores == UNREACHED)
    draws = np.count_nonzero(scores == 0)
    return np.array([wins, draws, scores.size - wins - draws - unreached])


if __name__ == "__main__":
    main()
