"""A trained run as a player: of the arena and everywhere else, and one who shows his chances to be graded."""

import numpy as np

from play.lab.policies import Policy
from play.lab.runs import Run
from play.lab.training import learner_of, load_state
from play.players.player import PlayerError
from solver.games.board_rules import BoardState
from solver.games.lines import Game
from solver.games.position import Position


class RunPlayer:
    """Plays what a run has learned: always the best move that it knows."""

    symmetric = True

    def __init__(self, game: Game, folder: str) -> None:
        """Load the run in a folder, which must have learned this game."""
        run = Run.open(folder)
        if run.game != game:
            raise PlayerError(f"run {folder!r} has learned {run.game.name}, not {game.name}")
        arrays = run.require_trained()
        learner = learner_of(run.config, game)
        load_state(run, learner, arrays)
        self.name = f"run:{folder}"
        self._policy: Policy = learner.policy()

    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        """Return the chance of every move in positions given as masks of cells: 1 for the move made."""
        return self._policy.chances(x, o)

    def choose(self, state: BoardState[Position]) -> int:
        """Return the best move that was learned."""
        position = state.position
        return int(self.chances(np.array([position.x]), np.array([position.o]))[0].argmax())
