"""The lab's learner beside OpenSpiel's tabular Q-learner, and its grader's own times.

Usage: pip install '.[bench]'; ttt4-solve build; python tests/bench/bench_lab.py [--game 3,3,3] [--seconds 10]

Both learners play themselves on the same board, epsilon-greedily with the same epsilon and step, on one thread; they
take turns in one process, and CPU time is counted. OpenSpiel's is `open_spiel.python.algorithms.tabular_qlearner`, in
the loop of its own example, on `tic_tac_toe` or `mnk(m=4,n=4,k=4)`. Ours explores by visits as well, which is slower
and learns more. Then an array policy is graded, and the value of a deterministic callable is worked out.
"""

from time import process_time

import numpy as np
from measuring import options_of, timed
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import tabular_qlearner

from oracle.oracle import Oracle
from play.lab.grading import Grader
from play.lab.q import QLearner
from solver.games.notation import parse_game

EPSILON, STEP = 0.2, 0.5
PORTION = 20_000


def openspiel_games(game: str, seconds: float) -> float:
    """Return how many games OpenSpiel's learners play in a second of CPU time."""
    rows, columns, k = game.split(",")
    named = "tic_tac_toe" if game == "3,3,3" else f"mnk(m={rows},n={columns},k={k})"
    env = rl_environment.Environment(named)
    actions = env.action_spec()["num_actions"]
    agents = [
        tabular_qlearner.QLearner(player_id=side, num_actions=actions, step_size=STEP, epsilon_schedule=_constant())
        for side in range(2)
    ]
    start, games = process_time(), 0
    while process_time() - start < seconds:
        now = env.reset()
        while not now.last():
            now = env.step([agents[now.observations["current_player"]].step(now).action])
        for agent in agents:
            agent.step(now)
        games += 1
    return games / (process_time() - start)


def our_games(grader: Grader, seconds: float, epsilon: float | None) -> float:
    """Return how many games our learner plays in a second of CPU time."""
    learner = QLearner(grader.positions, 1, epsilon=epsilon, step=STEP)
    start, games = process_time(), 0
    while process_time() - start < seconds:
        learner.train(games, PORTION)
        games += PORTION
    return games / (process_time() - start)


class FirstFree:
    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        free = ~(x | o)
        return np.bitwise_count((free & -free) - 1).astype(np.int64)


def _constant():
    from open_spiel.python import rl_tools

    return rl_tools.ConstantSchedule(EPSILON)


def main() -> None:
    asked = options_of(__doc__, game=parse_game("4,4,4"), seconds=10.0)
    name = asked.game.name
    made, grader = timed(lambda: Grader(name))
    with grader:
        read, positions = timed(lambda: grader.positions)
        uniform = positions.legal / positions.legal.sum(axis=1, keepdims=True)
        first, again = (timed(lambda: grader.grade(uniform))[0] for _ in range(2))
        value, _ = timed(lambda: grader.exploiter(FirstFree()))
        print(f"an array policy of {name} graded in {made + read + first:.2f} s with set-up, {again:.2f} s after")
        print(f"the value of a deterministic callable, both sides, in {value:.3f} s")
        theirs = openspiel_games(name, asked.seconds)
        for how, epsilon in (("epsilon-greedy", EPSILON), ("by visits", None)):
            ours = our_games(grader, asked.seconds, epsilon)
            print(f"q {how}: {ours:,.0f} games/s, OpenSpiel {theirs:,.0f}: {ours / theirs:,.0f} times")
        with Oracle(name) as oracle:
            some = np.random.default_rng(1).permutation(len(positions))[:50_000]
            x, o = positions.x[some], positions.o[some]
            boards = [oracle.game.at(*cells) for cells in zip(x.tolist(), o.tolist(), strict=True)]
            if oracle.source != "store":
                return
            oracle.scores(x, o)
            many, together = timed(lambda: oracle.scores(x, o))
            one, single = timed(lambda: [oracle.score(board) for board in boards])
            if single != together.tolist():
                raise SystemExit("the scores differ")
            each, alone = 1e9 * many / len(x), 1e9 * one / len(x)
            print(f"{len(x):,} scores: {each:,.0f} ns each at once, {alone:,.0f} one by one: {one / many:.0f} times")


if __name__ == "__main__":
    main()
