"""How late is a move? Let the engine play many moves with a time for each, and report the slowest.

    python tests/bench/bench_deadline.py [--game 15,15,5] [--moves 5000] [--seconds 0.1] [--jobs 2]

A time says nothing on a machine that does something else: run it alone.
"""

import argparse
import json
import random
from concurrent.futures import ProcessPoolExecutor
from time import monotonic

from solver.engine.live import LiveEngine
from solver.games.lines import Game
from solver.games.notation import parse_game


def spent(name: str, moves: int, seconds: float, seed: int) -> list[float]:
    """Return how long each move of some games took, from asking to the answer."""
    game = parse_game(name)
    assert isinstance(game, Game)
    rng, source, times = random.Random(seed), LiveEngine(game, seconds), []
    source.compiled(monotonic() + 300)
    while len(times) < moves:
        x, o, over = 0, 0, False
        source.forget()
        while not over and (x | o) != game.full and len(times) < moves:
            if not x or rng.random() < 0.1:
                cell = rng.choice([cell for cell in range(game.cells) if not (x | o) >> cell & 1])
            else:
                asked = monotonic()
                cell = source.move(x, o, source.deadline()).scores[0][0]
                times.append(monotonic() - asked)
            x, o, over = game.after(x, o, cell)
    return times


def main() -> None:
    """Print the slowest move, and how many took half as long again as they should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="15,15,5")
    parser.add_argument("--moves", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.jobs) as pool:
        each = asked.moves // asked.jobs
        found = [pool.submit(spent, asked.game, each, asked.seconds, seed) for seed in range(asked.jobs)]
        times = sorted(time for future in found for time in future.result())
    late = sum(time > 1.5 * asked.seconds for time in times)
    facts = {
        "game": asked.game, "moves": len(times), "seconds": asked.seconds, "slowest": times[-1],
        "of_1000": times[-1 - len(times) // 1000], "median": times[len(times) // 2], "late": late,
    }  # fmt: skip
    if asked.json:
        print(json.dumps(facts))
    else:
        print(
            f"{asked.game}: {len(times):,} moves of {asked.seconds:g} s; the slowest took {times[-1]:.3f} s, one in a "
            f"thousand {facts['of_1000']:.3f} s or more, half of them {facts['median']:.3f} s; {late} took half as "
            "long again."
        )


if __name__ == "__main__":
    main()
