"""Boards of 10, 100 and 1000 rows side by side: what a move, a stone and a start cost, beside a plain loop on a dict.

    python tests/bench/bench_wide.py [--moves 1000] [--starts 10]

A move is `Match.play`: whether it is allowed, the state after it, and whether it wins. The plain loop puts a stone into
a dict and counts the stones in line with it, for the same moves. Times are of the CPU. A start is `ttt4-play --plain`
with a board, from the process to the first prompt, in turn with one on 4,4,4; the smallest of several is taken.
"""

import argparse
import os
import random
import subprocess
import sys
import tracemalloc
from time import perf_counter, thread_time
from typing import Any

from play.arena import Roster
from play.match import Match
from solver.games.registry import find_game

BOARDS = ("10,10,5", "100,100,5", "1000,1000,5")
PLAYERS = ("random", "rules", "oracle:1", "oracle:4")
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def plainly(cells: list[int], columns: int) -> float:
    """Return how long the plain loop takes for a game, in seconds of the CPU."""
    board: dict[tuple[int, int], int] = {}
    begun = thread_time()
    for number, cell in enumerate(cells):
        row, column, side = *divmod(cell, columns), number % 2
        board[row, column] = side
        for down, right in DIRECTIONS:
            length = 1
            for way in (1, -1):
                at = row + way * down, column + way * right
                while board.get(at) == side:
                    length, at = length + 1, (at[0] + way * down, at[1] + way * right)
            if length >= 5:
                break
    return thread_time() - begun


def games(name: str, count: int) -> list[list[int]]:
    """Return random games of so many moves together, each to its end or to 1,000 moves."""
    rules, rng, found = find_game(name), random.Random(name), list[list[int]]()
    while sum(map(len, found)) < count:
        match = Match(rules, clock=lambda: 0)
        for cell in rng.sample(range(rules.game.cells), min(1000, rules.game.cells)):
            if match.outcome is None:
                match.play(match.to_move or "", cell)
        found.append(list(match.moves))
    return found


def played(rules: Any, cells: list[int]) -> tuple[float, float]:
    """Return how long a game takes, and its slowest move, in seconds of the CPU."""
    match, slowest, begun = Match(rules, clock=lambda: 0), 0.0, thread_time()
    for number, cell in enumerate(cells):
        before = thread_time()
        match.play("XO"[number % 2], cell)
        slowest = max(slowest, thread_time() - before)
    return thread_time() - begun, slowest


def memory(name: str) -> tuple[int, float]:
    """Return how many bytes a match takes before its first move, and for each of its moves."""
    cells = max(games(name, 1), key=len)
    tracemalloc.start()
    rules = find_game(name)
    match = Match(rules, clock=lambda: 0)
    rules.outcome(match.state)
    empty, _ = tracemalloc.get_traced_memory()
    for number, cell in enumerate(cells):
        match.play("XO"[number % 2], cell)
    full, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return empty, (full - empty) / len(cells)


def thinking(name: str, who: str) -> float:
    """Return how long a player takes for a move against the best one there is, in seconds of the CPU."""
    with Roster(find_game(name)) as roster:
        spent, count = 0.0, 0
        for seed in range(4):
            players = [roster.player(who, seed), roster.player("oracle:4", seed)]
            match = Match(roster.rules, clock=lambda: 0)
            while match.outcome is None and len(match.moves) < 60:
                begun = thread_time()
                move = players[len(match.moves) % 2].choose(match.state)
                if len(match.moves) % 2 == 0:
                    spent, count = spent + thread_time() - begun, count + 1
                match.play(match.to_move or "", move)
    return spent / count


def start(name: str) -> tuple[float, float]:
    """Return the seconds, and those of the CPU, from the start of a process to its first prompt, and its end."""
    command = [sys.executable, "-c", "from solver.start import play; play()", "--plain", "--game", name]
    begun = perf_counter()
    process = subprocess.Popen(
        [*command, "--x", "human", "--o", "random", "--live"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    return perf_counter() - begun, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=10)
    asked = parser.parse_args()
    print("board         a move   slowest   plain loop   ratio   empty board   a move's memory")
    for name in BOARDS:
        rules, all_games = find_game(name), games(name, asked.moves)
        moves = sum(map(len, all_games))
        times = [played(rules, cells) for cells in all_games]
        took, slowest = sum(time for time, _ in times), max(slow for _, slow in times)
        plain = sum(plainly(cells, rules.game.columns) for cells in all_games)
        empty, each = memory(name)
        print(
            f"{name:12} {took / moves * 1e6:4.0f} us {slowest * 1e6:6.0f} us {plain / moves * 1e6:9.1f} us "
            f"{took / plain:7.1f} {empty / 1000:10.1f} kB {each:10.0f} bytes"
        )
    for name in BOARDS[1:]:
        spent = ", ".join(f"{who} {thinking(name, who) * 1000:.2f} ms" for who in PLAYERS)
        print(f"{name}: a machine's move takes {spent} of the CPU")
    starts: dict[str, list[tuple[float, float]]] = {name: [] for name in ("4,4,4", *BOARDS)}
    for _ in range(asked.starts):
        for name, found in starts.items():
            found.append(start(name))
    for name, found in starts.items():
        wall, cpu = (min(each[i] for each in found) for i in (0, 1))
        print(f"start with {name:12} {wall * 1000:5.0f} ms, {cpu * 1000:5.0f} ms of the CPU")


if __name__ == "__main__":
    main()
