"""Environments over the house's rules, for learners from elsewhere; any game on a board.

    env("4,4,4")                                PettingZoo, both sides: `player_1` begins, `player_2` replies
    OpponentEnv("4,4,4", opponent="oracle:5")   Gymnasium, one side: a player of the house makes the other's moves

An action is a cell, numbered row by row from the top left; holes have no number (solver/games/board.py). An observation
is a dict of two int8 arrays:

    observation  (rows, columns, 2)  one's own stones, then the other side's; a hole is 0 in both
    action_mask  (cells,)            1 for each legal action; all 0 out of turn and when the game is over

The reward comes at the end: 1 for a win, -1 for a loss, 0 for a draw.
"""

from contextlib import ExitStack
from operator import index
from typing import Any

from play.picture import picture
from play.players.player import Player, PlayerError, chosen
from play.players.roster import Contestant, Roster
from solver.errors import BoardError, GameError, Ttt4Error
from solver.games.board import DEFAULT_GAME, BoardGame, cells_of
from solver.games.board_rules import BoardRules
from solver.games.registry import find_game

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded
    from numpy.typing import NDArray
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper
except ImportError as error:
    raise ImportError(f"{error}: pip install 'ttt4[rl]'", name=error.name) from None

Observation = dict[str, NDArray[np.int8]]

METADATA = {"name": "ttt4_v0", "render_modes": ["human", "ansi"], "render_fps": 1, "is_parallelizable": False}

_SIDES = {"first": (0,), "second": (1,), "either": (0, 1)}


def env(game: str = DEFAULT_GAME, render_mode: str | None = None) -> Any:
    """Return a PettingZoo environment in which an illegal move loses, as in PettingZoo's own games.

    It ends the game with -1 for its side and 0 for the other. An action that is no cell fails an assertion.
    """
    legal = TerminateIllegalWrapper(raw_env(game, render_mode), illegal_reward=-1)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(legal))


def raw_env(game: str = DEFAULT_GAME, render_mode: str | None = None) -> "BoardEnv":
    """Return the same without wrappers: an illegal move raises BoardError and changes nothing."""
    return BoardEnv(game, render_mode)


class BoardEnv(AECEnv):
    """Both sides of a game, for PettingZoo. It leaves nothing to chance, so that seeds change nothing."""

    metadata = METADATA

    def __init__(self, game: str = DEFAULT_GAME, render_mode: str | None = None) -> None:
        """Set up a game by its notation; `render_mode` is None, `ansi` or `human`."""
        super().__init__()
        _require("render_mode", render_mode, (None, "ansi", "human"))
        rules = find_game(game)
        if not isinstance(rules, BoardRules):
            raise GameError(f"only games on a board have an environment, and {rules.name} is not one")
        self.rules: BoardRules[Any] = rules
        self.game = rules.game
        self.board = rules.start()
        self.render_mode = render_mode
        self.possible_agents = ["player_1", "player_2"]
        self.agents: list[str] = []
        self.terminations: dict[str, bool] = {}
        self.observation_spaces = {agent: _seen_in(self.game) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.game.cells) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations; the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions; the same object every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game."""
        self.board = self.rules.start()
        self.agents = list(self.possible_agents)
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._show()

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees, in new arrays."""
        game, position = self.game, self.board.position
        begins = agent == self.possible_agents[0]
        planes = np.zeros((game.rows * game.columns, 2), np.int8)
        for plane, cells in enumerate((position.x, position.o) if begins else (position.o, position.x)):
            planes[[game.squares[cell] for cell in cells_of(cells)], plane] = 1
        mask = np.zeros(game.cells, np.int8)
        if agent == self.agent_selection and not self.over:
            mask[self.rules.legal(self.board)] = 1
        return {"observation": planes.reshape(game.rows, game.columns, 2), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Fill a cell for the agent to move; once the game is over, None removes the agent, as PettingZoo has it."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if refusal := self.refusal(action):
            raise BoardError(refusal)
        self.board = self.rules.play(self.board, index(action))  # numpy's integers are too short for sets of cells
        outcome = self.rules.outcome(self.board)
        if outcome:
            for each, mark in zip(self.agents, self.rules.marks, strict=True):
                self.rewards[each] = 0.0 if outcome.winner is None else 1.0 if outcome.winner == mark else -1.0
                self.terminations[each] = True
            self._accumulate_rewards()
        self.agent_selection = next(other for other in self.agents if other != agent)
        self._show()

    def refusal(self, action: Any) -> str | None:
        """Return why the agent to move may not fill a cell, None if it may; raise BoardError if it is no cell."""
        refusal = self.rules.refusal(self.board, index(action))
        if refusal and not 0 <= action < self.game.cells:
            raise BoardError(refusal)
        return refusal

    @property
    def over(self) -> bool:
        """Whether no game is under way."""
        return all(self.terminations.values())

    def render(self) -> str | None:
        """Return the board as text if the mode is `ansi`; print it if the mode is `human`, as every step does too."""
        if self.render_mode is None:
            gymnasium.logger.warn("nothing is rendered without a render_mode: choose 'ansi' or 'human'")
            return None
        text = picture(self.rules, self.board)
        if self.render_mode == "ansi":
            return text
        print(text, end="\n\n", flush=True)
        return None

    def close(self) -> None:
        """Do nothing, because nothing is open."""

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


class OpponentEnv(gymnasium.Env[Observation, np.int64]):
    """One side of a game, for Gymnasium: each step is a move and the opponent's reply.

    The opponent is one of the house's players by name (play/players/player.py), or one of your own: MODULE:NAME, a
    class or a function makes a player for each game from rules and a seed; an object with `choose(state)` stays the
    same. `reset(seed=...)` settles all that varies: the opponent's seeds and, where `side` is `either`, who begins. So
    the same seed and actions give the same games, unless a live search runs out of time or an object remembers.

    An illegal action loses: the board stays as it was, the reward is -1, and `info["illegal"]` says why. An action that
    is no cell raises BoardError, a step outside of a game ResetNeeded, and an opponent that makes no legal move
    PlayerError. `info["action_mask"]` repeats the mask.
    """

    metadata = METADATA

    def __init__(
        self, game: str = DEFAULT_GAME, opponent: Contestant = "rules", side: str = "first", *,
        store: str | None = None, live: bool = False, render_mode: str | None = None,
    ) -> None:  # fmt: skip
        """Set up a game by its notation; the agent's `side` is `first`, `second` or `either`, drawn for each game.

        `store` and `live` say where an opponent that asks the oracle gets its answers (play/players/roster.py).
        """
        _require("side", side, tuple(_SIDES))
        self.both = BoardEnv(game, render_mode)
        self.render_mode = render_mode
        self._sides = _SIDES[side]
        self._agent = self.both.possible_agents[self._sides[0]]
        self.observation_space = self.both.observation_space(self._agent)
        self.action_space = self.both.action_space(self._agent)
        self._open = ExitStack()
        self._roster = self._open.enter_context(Roster(self.both.rules, store, live=live))
        self._contestant = opponent
        self._opponent = self._player(0)  # now, so that a wrong name is refused here
        self._roster.ready()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game, with the opponent's move if it is first; return what the agent sees, and info."""
        super().reset(seed=seed)
        self._agent = self.both.possible_agents[self._sides[int(self.np_random.integers(len(self._sides)))]]
        self._roster.forget()
        self._opponent = self._player(int(self.np_random.integers(1 << 62)))
        self.both.reset()
        if self.both.agent_selection != self._agent:
            self._reply()
        return self._seen()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move, and let the opponent reply; return observation, reward, terminated, truncated (never), info."""
        if self.both.over:
            raise ResetNeeded("no game is under way: call reset() first")
        if refusal := self.both.refusal(action):
            self.both.terminations = dict.fromkeys(self.both.agents, True)
            observation, info = self._seen()
            return observation, -1.0, True, False, info | {"illegal": refusal}
        self.both.step(action)
        if not self.both.over:
            self._reply()
        observation, info = self._seen()
        return observation, self.both.rewards[self._agent], self.both.over, False, info

    def render(self) -> str | None:
        """Return the board as text if the mode is `ansi`; print it if the mode is `human`, as every move does too."""
        return self.both.render()

    def close(self) -> None:
        """Close what the opponent has open, such as a store; the environment is then of no more use."""
        self._open.close()

    def _player(self, seed: int) -> Player:
        player = self._roster.player(self._contestant, seed)
        if player is None:
            raise PlayerError("a human can play only at the terminal: name another opponent")
        return player

    def _reply(self) -> None:
        move = chosen(self._opponent, self.both.board)
        if refusal := self.both.rules.refusal(self.both.board, move):
            raise PlayerError(f"the opponent made no move: {refusal}")
        self.both.step(move)

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        observation = self.both.observe(self._agent)
        return observation, {"action_mask": observation["action_mask"].copy()}


def _seen_in(game: BoardGame[Any]) -> spaces.Dict:
    """Return the space of what can be seen in a game."""
    planes = spaces.Box(0, 1, (game.rows, game.columns, 2), np.int8)
    return spaces.Dict(observation=planes, action_mask=spaces.Box(0, 1, (game.cells,), np.int8))


def _require(what: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise Ttt4Error(f"no {what} {value!r}: choose {', '.join(map(repr, allowed))}")
