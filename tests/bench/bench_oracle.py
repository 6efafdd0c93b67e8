"""The oracle beside easyAI and OpenSpiel on the same 4x4 positions, and a query beside a bare start of Python.

Usage: pip install '.[bench]'; ttt4-solve build; python tests/bench/bench_oracle.py [--positions 200] [--rounds 5]

All are asked for the outcome of each position, and must agree on it:
- the oracle for the score alone, and for a whole analysis: every move's outcome and the main line;
- easyAI's Negamax with a transposition table, for a move: once with an empty table, and once where all of
  these positions were asked before, so that each is a look into a dictionary;
- OpenSpiel: the alpha-beta search of its Python library over its mnk game, which keeps nothing.
Positions have 7 to 11 stones, because OpenSpiel's search takes minutes on earlier ones. Everything takes
turns in one process, and each figure is the best round's: a ratio survives a busy machine, a time does not.
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence

import pyspiel
from easyAI import Negamax, TranspositionTable, TwoPlayerGame
from measuring import begin, command, drawn, in_turns, options_of, timed
from open_spiel.python.algorithms.minimax import alpha_beta_search

from oracle.oracle import Oracle
from solver.folders import store_path
from solver.games.notation import parse_game
from solver.games.position import Position

GAME = parse_game("4,4,4")
OUTCOMES = ("draw", "win", "loss")


class EasyAIGame(TwoPlayerGame):
    """4,4,4 for easyAI: a list of cells, 0 for an empty one, else the player's number."""

    def __init__(self, position: Position) -> None:
        self.players = (None, None)
        self.cells = [(position.x >> cell & 1) + 2 * (position.o >> cell & 1) for cell in range(GAME.cells)]
        self.current_player = 1 if position.mover == "X" else 2
        self.lines = [[cell for cell in range(GAME.cells) if line >> cell & 1] for line in GAME.lines]

    def possible_moves(self) -> list[int]:
        return [cell for cell, owner in enumerate(self.cells) if not owner]

    def make_move(self, move: int) -> None:
        self.cells[move] = self.current_player

    def unmake_move(self, move: int) -> None:
        self.cells[move] = 0

    def lose(self) -> bool:
        return any(all(self.cells[cell] == self.opponent_index for cell in line) for line in self.lines)

    def is_over(self) -> bool:
        return not self.possible_moves() or self.lose()

    def scoring(self) -> int:
        return -100 if self.lose() else 0

    def ttentry(self) -> tuple[int, ...]:
        return (self.current_player, *self.cells)


def main() -> None:
    options = options_of(__doc__, positions=200, rounds=5)
    positions = drawn_positions(options.positions, 7, 11)
    with Oracle(GAME, store_path(GAME)) as oracle:
        compare(oracle, positions, options.rounds)
        alone(oracle, drawn_positions(2000, 0, 15), options.rounds)
    started(options.rounds * 4)


def compare(oracle: Oracle, positions: Sequence[Position], rounds: int) -> None:
    games, table = [EasyAIGame(position) for position in positions], TranspositionTable()

    def scored() -> list[str]:
        return [OUTCOMES[(score > 0) - (score < 0)] for score in map(oracle.score, positions)]

    asked: dict[str, Callable[[], list[str]]] = {
        "ttt4, score": scored,
        "ttt4, analysis": lambda: [str(oracle.analysis(position).outcome) for position in positions],
        "easyAI, asked before": lambda: easyai_asked(games, table),
        "easyAI, empty table": lambda: easyai_asked(games, TranspositionTable()),
        "OpenSpiel": openspiel_asked(positions),
    }
    answers = [ask() for ask in asked.values()]
    assert all(answer == answers[0] for answer in answers)
    times = best_of(asked, rounds)
    print(f"{len(positions)} positions of 7 to 11 stones, microseconds each, and times an analysis:")
    for name, seconds in times.items():
        print(f"  {name:22} {1e6 * seconds / len(positions):12,.1f} {seconds / times['ttt4, analysis']:10,.2f}")


def easyai_asked(games: Sequence[EasyAIGame], table: TranspositionTable) -> list[str]:
    """What easyAI says of some positions, which it leaves as they are."""
    ai = Negamax(GAME.cells, tt=table)
    said = []
    for game in games:
        ai(game)
        said.append(OUTCOMES[(ai.alpha > 0) - (ai.alpha < 0)])
    return said


def openspiel_asked(positions: Sequence[Position]) -> Callable[[], list[str]]:
    game = pyspiel.load_game("mnk", {"m": 4, "n": 4, "k": 4})
    states = []
    for position in positions:
        state = game.new_initial_state()
        cells = [[cell for cell in range(GAME.cells) if own >> cell & 1] for own in (position.x, position.o)]
        for ply in range(position.stones):
            state.apply_action(cells[ply % 2][ply // 2])
        states.append(state)

    def ask() -> list[str]:
        return [OUTCOMES[int(alpha_beta_search(game, state=state)[0])] for state in states]

    return ask


def alone(oracle: Oracle, positions: Sequence[Position], rounds: int) -> None:
    """What one answer takes, on positions of all plies, once all were asked before."""
    boards = [str(position) for position in positions]
    store = oracle.path

    def opened() -> None:
        with Oracle(GAME, store) as fresh:
            fresh.score(positions[0])

    times = best_of(
        {
            "score": lambda: [oracle.score(position) for position in positions],
            "analysis": lambda: [oracle.analysis(position) for position in positions],
            "board to JSON": lambda: [oracle.analysis(board).as_json() for board in boards],
            "open + score": lambda: [opened() for _ in range(100)],
            "an empty loop": lambda: [None for _ in range(len(positions))],
        },
        rounds,
    )
    print("microseconds:")
    for name, seconds in times.items():
        print(f"  {name:14} {1e6 * seconds / (100 if name == 'open + score' else len(positions)):10.2f}")
    words = [command("ttt4-query"), "-", "--store", store]
    text = "\n".join(str(position) for position in drawn_positions(20_000, 0, 15))
    spent, _ = timed(lambda: subprocess.run(words, input=text, text=True, stdout=subprocess.DEVNULL, check=True))
    print(f"batch of 20,000 boards, from its start: {20_000 / spent:,.0f} a second")


def started(rounds: int) -> None:
    """From process start to answer, beside Python importing two of our dependencies."""
    query = [command("ttt4-query"), "XX../OO../..../....", "--store", store_path(GAME)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(command: list[str]) -> Callable[[], object]:
        return lambda: subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)

    asked = {"query": run(query), "python": run([sys.executable, "-c", "import click, lmdb"])}
    for start in asked.values():
        start()  # which leaves the bytecode behind
    times = best_of(asked, rounds)
    print(f"ttt4-query {1e3 * times['query']:.0f} ms, python -c 'import click, lmdb' {1e3 * times['python']:.0f} ms: "
          f"{times['query'] / times['python']:.2f} times")  # fmt: skip


def best_of(asked: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    return {name: min(taken) for name, taken in in_turns(asked, rounds).items()}


def drawn_positions(count: int, fewest: int, most: int) -> list[Position]:
    """Positions of games played at random that are not over, the same ones every time."""
    rng, found = random.Random(4), list[Position]()
    while len(found) < count:
        stones = rng.randint(fewest, most)
        position = drawn(GAME, rng, stones)
        found += [position] * (position.stones == stones)
    return found


if __name__ == "__main__":
    begin(main)
