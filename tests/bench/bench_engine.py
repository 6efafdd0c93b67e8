"""The engine's search beside a C program of the same algorithm, on one core, kernels loaded; and how fast it starts.

Usage: python tests/bench/bench_engine.py [--nodes 100000] [--rounds 3] [--starts 9] [--table-bits 20] [--compiler gcc]
           [--json]

Both search the same positions of each game, depth by depth, in turns; after each depth they must agree on value, move
and number of nodes. Only CPU time counts, and of each position the fastest round: a ratio survives a busy machine, a
time does not. Then it prints which depth both reach in a second, how long compiling takes where nothing is cached, and
how long a new process takes to its first move beside one that only imports click and lmdb.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

from measuring import compiled, options_of, timed

from solver.engine.board import BEST, KINDS, MISERE, NODES, PLIES_MOST, STOP, WEIGHT, WIDTH, WORTH, ZOBRIST
from solver.engine.engine import Engine
from solver.engine.kernels import WON
from solver.engine.tables import near_cells, tables_of
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.notation import parse_game

GAMES = "15,15,5", "10,10,5"
STONES = range(2, 13)
"""How many stones are on the board where the search begins: one position of each number."""

TIMED = "h8 i9", "h8 i9 g9 h10 i7", "h8 h9 j10 i9 g7 g9 j9 f10"
"""Positions of the first game, in which the depth of a second is measured."""

GOAL = 0.7
ENOUGH = 0.55
"""No depth is begun after this share of the second, as in the engine."""

IMPORT = "import solver.engine.engine"
FIRST_MOVE = """
from solver.engine.engine import Engine
from solver.games.notation import parse_game
game = parse_game("15,15,5")
print(game.cell_name(Engine(game).think(1 << 112, 1 << 128, nodes=1).cell))
"""
COMMANDS = "import click, lmdb"

Moves = tuple[int, ...]
Spent = tuple[float, float]
"""Wall and CPU seconds."""


class Depth(NamedTuple):
    """What was found at one depth, and the nodes and CPU seconds up to its end."""

    ahead: int
    value: int
    cell: int
    nodes: int
    seconds: float
    finished: bool


class Timed(Engine):
    """An engine that keeps what it finds at each depth."""

    def searched(self, moves: Moves, nodes: int) -> list[Depth]:
        self.forget()
        self._depths: list[Depth] = []
        self._began = process_time()
        self.think(*sides(moves), nodes=nodes)
        return self._depths

    def _look(self, ahead: int, expected: int) -> int:
        value = super()._look(ahead, expected)
        best, nodes, stopped = (int(self._s[at]) for at in (BEST, NODES, STOP))
        self._depths.append(Depth(ahead, value, best, nodes, process_time() - self._began, not stopped))
        return value


class InC:
    """The C program, which has read a game and waits for positions."""

    def __init__(self, program: Path, game: Game, table_bits: int) -> None:
        command = [program, str(table_bits)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ask(described(game))

    def searched(self, moves: Moves, nodes: int) -> list[Depth]:
        own, other = (list(cells_of(cells)) for cells in sides(moves))
        self._ask([nodes, PLIES_MOST, len(own), *own, len(other), *other])
        assert self._process.stdout
        depths = []
        while said := self._process.stdout.readline().split():
            ahead, value, cell, seen = map(int, said[:4])
            depths.append(Depth(ahead, value, cell, seen, float(said[4]), seen < nodes))
        return depths

    def close(self) -> None:
        self._process.communicate()

    def _ask(self, numbers: Iterable[int]) -> None:
        assert self._process.stdin
        self._process.stdin.write(" ".join(map(str, numbers)) + "\n")
        self._process.stdin.flush()


def main() -> None:
    options = options_of(__doc__, nodes=100_000, rounds=3, starts=9, table_bits=20, compiler="gcc", json=False)
    with TemporaryDirectory() as folder:
        program = compiled("engine", options.compiler, folder)
        speeds, rates = [], []
        for game in map(parse_game, GAMES):
            both = Timed(game, table_bits=options.table_bits), InC(program, game, options.table_bits)
            speeds.append(compare(game, both, options.nodes, options.rounds))
            rates.append(speeds[-1]["C"])
            if game.name == GAMES[0]:
                depths = [depths_of(game, both, text, int(2 * rates[0])) for text in TIMED]
            both[1].close()
        starts = started(Path(folder), options.starts)
    told = {"speed": speeds, "goal": GOAL, "depths": depths, **starts}
    print(json.dumps(told) if options.json else "\n".join(lines_of(told)))


def described(game: Game) -> Iterable[int]:
    """The numbers that tell the C program what a game is."""
    _, s = tables_of(game)
    yield from (game.cells, int(s[MISERE]), int(s[WIDTH]))
    for table in (WEIGHT, WEIGHT + 8, WORTH):
        yield from map(int, s[table : table + KINDS + 1])
    yield len(game.lines)
    for cells in (*game.lines, *near_cells(game)):
        yield from (cells.bit_count(), *cells_of(cells))
    yield from map(int, s[ZOBRIST : ZOBRIST + 2 * game.cells])


def openings(game: Game) -> list[Moves]:
    """Positions with stones near each other, in which nobody has a line that misses fewer than three cells."""
    rng, near = random.Random(1), near_cells(game)
    middle = [cell for cell in range(game.cells) if near[cell].bit_count() == max(map(int.bit_count, near))]
    found: list[Moves] = []
    for stones in STONES:
        while True:
            moves = [rng.choice(middle)]
            while len(moves) < stones:
                close = near[rng.choice(moves)]
                moves.append(rng.choice([cell for cell in cells_of(close) if cell not in moves]))
            if quiet(game, moves):
                break
        found.append(tuple(moves))
    return found


def quiet(game: Game, moves: list[int]) -> bool:
    """Whether no line misses fewer than three cells for a side that can still complete it."""
    own, other = sides(tuple(moves))
    return not any(
        not line & theirs and (line & ~mine).bit_count() < 3
        for line in game.lines
        for mine, theirs in ((own, other), (other, own))
    )


def sides(moves: Moves) -> tuple[int, int]:
    """The cells of the side to move, and the other's."""
    first, second = (sum(1 << cell for cell in moves[side::2]) for side in (0, 1))
    return (second, first) if len(moves) % 2 else (first, second)


def compare(game: Game, both: tuple[Timed, InC], nodes: int, rounds: int) -> dict[str, Any]:
    """Search each position with both, in turns; return how many nodes a second each visits."""
    seconds: dict[tuple[Moves, int], list[float]] = {}
    visited = 0
    for turn in range(rounds):
        for moves in openings(game):
            found = {}
            for who in (turn % 2, 1 - turn % 2):
                found[who] = both[who].searched(moves, nodes)
                seconds.setdefault((moves, who), []).append(found[who][-1].seconds)
            require_same(game, moves, found[0], found[1])
            visited += 0 if turn else found[0][-1].nodes
    numba, c = (visited / sum(min(taken) for (_, by), taken in seconds.items() if by == who) for who in (0, 1))
    return {"game": game.name, "positions": len(STONES), "nodes": visited, "numba": numba, "C": c, "ratio": numba / c}


def require_same(game: Game, moves: Moves, ours: list[Depth], theirs: list[Depth]) -> None:
    """Exit unless both found the same at every depth, with as many nodes."""
    found, said = ([depth._replace(seconds=0.0) for depth in depths] for depths in (ours, theirs))
    if found != said:
        first = next((pair for pair in zip(found, said, strict=False) if pair[0] != pair[1]), (found[-1], said[-1]))
        names = " ".join(map(game.cell_name, moves))
        sys.exit(f"{game.name} after {names}: numba finds {first[0]}, C {first[1]}; is engine.c a port of kernels.py?")


def depths_of(game: Game, both: tuple[Timed, InC], text: str, nodes: int) -> dict[str, Any]:
    """Return which depth both reach in a second, and how many nodes they have visited at its end."""
    moves = tuple(map(game.cell, text.split()))
    ours, theirs = (depth_in_a_second(one.searched(moves, nodes)) for one in both)
    return {"position": text, "numba": ours, "C": theirs}


def depth_in_a_second(depths: list[Depth]) -> dict[str, Any]:
    """Return the last depth that is finished within a CPU second, if the engine's rule begins it."""
    reached, begun = None, 0.0
    for depth in depths:
        if begun > ENOUGH or depth.seconds > 1 or not depth.finished:
            break
        reached, begun = depth, depth.seconds
    assert reached
    return {"depth": reached.ahead, "nodes": reached.nodes, "seconds": reached.seconds, "won": abs(reached.value) > WON}


def started(folder: Path, starts: int) -> dict[str, Any]:
    """Return the wall and CPU seconds of a first start, which compiles, and of later ones beside two imports."""
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "cache")
    cold = run(IMPORT)
    taken: dict[str, list[Spent]] = {"import again": [], "first move": [], "click and lmdb": []}
    for _ in range(starts):
        for name, code in zip(taken, (IMPORT, FIRST_MOVE, COMMANDS), strict=True):
            taken[name].append(run(code))
    warm = {name: middle(times) for name, times in taken.items()}
    return {"cold": dict(zip(("wall", "CPU"), cold, strict=True)), "warm": warm}


def middle(times: list[Spent]) -> dict[str, float]:
    wall, cpu = (median(spent) for spent in zip(*times, strict=True))
    return {"wall": wall, "CPU": cpu}


def run(code: str) -> Spent:
    """Run code in a new Python process, and return the wall and CPU seconds that it took."""
    before = getrusage(RUSAGE_CHILDREN)
    wall, _ = timed(lambda: subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True))
    after = getrusage(RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines_of(told: dict[str, Any]) -> Iterable[str]:
    for speed in told["speed"]:
        yield (
            f"{speed['game']}: {speed['positions']} positions agree at every depth, {speed['nodes']:,} nodes; "
            f"numba {speed['numba'] / 1000:,.0f}, C {speed['C'] / 1000:,.0f} thousand nodes a CPU second, "
            f"ratio {speed['ratio']:.2f} (goal {told['goal']})"
        )
    for at in told["depths"]:
        numba, c = (
            f"depth {one['depth']}{' (won)' if one['won'] else ''}, {one['nodes']:,} nodes, {one['seconds']:.2f} s"
            for one in (at["numba"], at["C"])
        )
        yield f"{GAMES[0]} after {at['position']}, in a CPU second: numba {numba}; C {c}"
    yield f"first import, which compiles: {spent(told['cold'])}"
    yield from (f"{name}, warm: {spent(times)}" for name, times in told["warm"].items())


def spent(times: dict[str, float]) -> str:
    return f"{times['wall']:.2f} s, {times['CPU']:.2f} s of CPU"


if __name__ == "__main__":
    main()
