"""Levels 0 to 9 on boards that are too large to solve: from any move to a good look ahead.

The low levels glance, as a person does (play/players/glance.py). The high ones look ahead with the engine
(solver/engine/engine.py), for so many nodes and not for so long, and begin anew each time. So a move depends on nothing
but seed, level and position. Where there is no compiled code, all of them glance.
"""

import random
from math import exp
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from play.players.glance import Glance
from solver.engine import takes
from solver.games.line_rules import LineState
from solver.games.lines import Game
from solver.kernels.loading import Loader

if TYPE_CHECKING:
    from solver.engine.engine import Engine


class Strength(NamedTuple):
    """What a level is."""

    overlooks: float
    """How often it overlooks a line."""
    sharpness: float
    """How strongly it prefers what looks better at a glance: 0 is any move."""
    slips: float = 1.0
    """How often it only glances."""
    depth: int = 0
    """How many plies it looks ahead otherwise, and further where there are threats."""
    nodes: int = 0
    """How many positions it may visit, at most."""
    spread: float = 1.0
    """By how much less a move must be worth to be chosen e times less often, in the engine's units."""


LEVELS = (
    Strength(1.0, 0.0), Strength(0.5, 1.0), Strength(0.36, 1.5), Strength(0.25, 2.0), Strength(0.2, 2.5),
    Strength(0.25, 2.3, 0.65, 1, 2_000, 40.0), Strength(0.25, 2.2, 0.4, 2, 10_000, 25.0),
    Strength(0.3, 1.7, 0.22, 3, 20_000, 12.0), Strength(0.36, 1.5, 0.14, 4, 50_000, 8.0),
    Strength(0.36, 1.5, 0.03, 6, 150_000, 3.0),
)  # fmt: skip
"""The levels from 0 to 9; level 10 is the engine with all its time."""

_MOVES = 5
"""Among how many moves it chooses when it looks ahead."""

_TABLE_BITS = 16

_PATIENCE = 1.0
"""How many seconds a move waits for compiled code, which is enough where it is cached."""


class NodeSearch(Loader):
    """The engine, limited by nodes, from a clean slate for each question. Threads may share it."""

    kernel = "engine/kernels.search"
    module = "solver.engine.engine"

    def __init__(self, game: Game) -> None:
        """Prepare to search a game; nothing is loaded yet."""
        super().__init__(may_compile=takes(game))
        self.game = game
        self.glance = Glance(game)

    def make(self) -> "Engine":
        """Return the engine."""
        from solver.engine.engine import Engine  # only now: it takes compiled code

        return Engine(self.game, table_bits=_TABLE_BITS)

    def values(self, own: int, other: int, depth: int, nodes: int, seed: int) -> list[tuple[int, int]]:
        """Return the best few moves and what each is worth; none while there is no compiled code."""
        engine: Engine | None = self.compiled(monotonic() + _PATIENCE)
        if engine is None:
            return []
        with self._searching:
            engine.forget()
            found = engine.values(own, other, depth=depth, most=_MOVES, nodes=nodes, seed=seed)
            if not found:  # so many nodes are not enough for the depth
                thought = engine.think(own, other, depth=depth, nodes=nodes, seed=seed)
                found = [(thought.cell, thought.value)]
            return found


class LargeBoardPlayer:
    """Plays a game of lines at a level below the best."""

    def __init__(self, search: NodeSearch, level: int, seed: int | str) -> None:
        """Play at a level from 0 to 9, with a search that may be shared."""
        self._search = search
        self._strength = LEVELS[level]
        self._seed = f"{seed} {level}"
        if self._strength.depth:
            search.load()

    def choose(self, state: LineState) -> int:
        """Return a move that looks good to a player of this level."""
        x, o = state.position.x, state.position.o
        own, other = (x, o) if state.position.mover == "X" else (o, x)
        strength, rng = self._strength, random.Random(f"{self._seed} {x} {o}")
        if not strength.sharpness:
            return rng.choice(state.empty)
        if x and rng.random() >= strength.slips:
            values = self._search.values(own, other, strength.depth, strength.nodes, rng.getrandbits(30))
            if values:
                return _drawn(values, strength.spread, rng)
        worths = self._search.glance.worths(own, other, strength.overlooks, rng)
        most = max(worths.values())
        return rng.choices(list(worths), [(worth / most) ** strength.sharpness for worth in worths.values()])[0]


def _drawn(values: list[tuple[int, int]], spread: float, rng: random.Random) -> int:
    """Return a move, the likelier the more it is worth."""
    best = max(value for _, value in values)
    return rng.choices([cell for cell, _ in values], [exp((value - best) / spread) for _, value in values])[0]
