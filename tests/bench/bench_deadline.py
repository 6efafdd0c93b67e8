"""How late is a move? Let the engine play many moves with a time for each, and report the slowest.

    python tests/bench/bench_deadline.py [--game 15,15,5] [--moves 5000] [--seconds 0.1] [--jobs 2]

A time says nothing on a machine that does something else: run it alone.
"""

import json
import random
from concurrent.futures import ProcessPoolExecutor
from time import monotonic

from measuring import options_of

from solver.engine.live import LiveEngine
from solver.games.lines import Game
from solver.games.notation import parse_game


def spent(game: Game, moves: int, seconds: float, seed: int) -> list[float]:
    """Return how long each move of some games took, from asking to the answer."""
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
    asked = options_of(__doc__, game=parse_game("15,15,5"), moves=5000, seconds=0.1, jobs=2, json=False)
    with ProcessPoolExecutor(asked.jobs) as pool:
        each = asked.moves // asked.jobs
        found = [pool.submit(spent, asked.game, each, asked.seconds, seed) for seed in range(asked.jobs)]
        times = sorted(time for future in found for time in future.result())
    late = sum(time > 1.5 * asked.seconds for time in times)
    facts = {
        "game": asked.game.name, "moves": len(times), "seconds": asked.seconds, "slowest": times[-1],
        "of_1000": times[-1 - len(times) // 1000], "median": times[len(times) // 2], "late": late,
    }  # fmt: skip
    if asked.json:
        print(json.dumps(facts))
    else:
        print(
            f"{asked.game.name}: {len(times):,} moves of {asked.seconds:g} s; the slowest took {times[-1]:.3f} s, one "
            f"in a thousand {facts['of_1000']:.3f} s or more, half of them {facts['median']:.3f} s; {late} took half "
            "as long again."
        )


if __name__ == "__main__":
    main()
