"""Look-ups in a large store beside those in the 4x4 one: cold records, and whole queries, in turns.

Usage: python tests/bench/bench_probe.py --game 5,5,5 (or duel,4,5) [--store PATH] [--positions 2000] [--rounds 9]

Positions are drawn by random play. A cold look-up is the first one into its record in a store that was
just opened, so that the record is read and unpacked; the file itself is as warm as the system keeps it.
Both stores must be there. Queries ask for boards of as many stones, each a process of its own.
"""

import random
import subprocess
from statistics import median, quantiles
from typing import Any

from measuring import begin, command, drawn, options_of, timed

from solver.folders import store_path
from solver.games.board import DEFAULT_GAME, BoardGame, BoardPosition
from solver.games.notation import parse_game
from solver.kinds import kind_of
from solver.store.store import Store


def main() -> None:
    options = options_of(__doc__, game=parse_game("5,5,5"), store="", positions=2000, rounds=9)
    small = parse_game(DEFAULT_GAME)
    stores = {options.game: store_path(options.game, options.store or None), small: store_path(small)}

    for game, path in stores.items():
        times = cold(game, path, options.positions)
        for mover in game.marks:
            some = [1e6 * seconds for position, seconds in times if position.mover == mover]
            print(
                f"{game.name}, {mover} to move: a cold look-up takes {median(some):.0f} us, "
                f"90 of 100 less than {quantiles(some, n=10)[-1]:.0f}, at most {max(some):.0f}"
            )
    rng, seconds = random.Random(3), {game: [] for game in stores}  # type: dict[BoardGame[Any], list[float]]
    for _ in range(options.rounds):
        for game, path in stores.items():
            seconds[game].append(query(game, path, drawn(game, rng, 5)))
    best = {game: median(found) for game, found in seconds.items()}
    ratio = best[options.game] / best[small]
    print(", ".join(f"ttt4-query {game.name}: {1000 * found:.0f} ms" for game, found in best.items()), end="")
    print(f", {ratio:.2f} times")


def cold(game: BoardGame[Any], path: str, count: int) -> list[tuple[BoardPosition, float]]:
    """Seconds that the first look-up into a record takes."""
    rng, times = random.Random(1), []
    with Store(path, game) as store:
        scores: Any = kind_of(game).scores(store, 0.0)[0]
        for _ in range(count):
            position = drawn(game, rng, rng.randrange(1, game.cells))
            scores.forget()
            times.append((position, timed(lambda position=position: scores.score(position))[0]))
    return times


def query(game: BoardGame[Any], path: str, position: BoardPosition) -> float:
    words = [command("ttt4-query"), str(position), "--game", game.notation, "--store", path]
    return timed(lambda: subprocess.run(words, check=True, capture_output=True))[0]


if __name__ == "__main__":
    begin(main)
