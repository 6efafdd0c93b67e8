"""Players of the duel."""

import random
from typing import TYPE_CHECKING, NamedTuple

from play.players.mcts import BONUS
from play.players.player import BEST_LEVEL
from play.players.traps import Traps
from solver.duel.plain import GLANCE
from solver.games.board import cells_of
from solver.games.duel import Duel, movers
from solver.games.duel_rules import DuelState

if TYPE_CHECKING:
    from solver.duel.live import LiveDuel

CAPTURE, SAVE, GROUND = 10, 5, 1
"""What `priority` counts for a tile captured, for leaving the other side nothing to capture, and for new ground: a cell
that comes into reach."""


class Strength(NamedTuple):
    """What a level of `search` is."""

    slips: float
    """How often it makes any move."""
    depth: int
    """How many plies it looks ahead."""
    nodes: int
    """How many positions it may visit, at most."""


LEVELS = (
    Strength(1.0, 1, 1), Strength(0.55, 1, 1_000), Strength(0.4, 1, 1_000), Strength(0.3, 2, 5_000),
    Strength(0.22, 2, 5_000), Strength(0.16, 3, 20_000), Strength(0.12, 4, 20_000), Strength(0.08, 6, 50_000),
    Strength(0.05, 8, 200_000), Strength(0.03, 10, 1_000_000), Strength(0.0, 144, 12_000_000),
)  # fmt: skip
"""The levels of `search`, from 0 to 10."""


class PriorityPlayer:
    """Adds up what a move brings at once: captures, no captures for the other side next, and new ground."""

    def __init__(self, game: Duel, rng: random.Random) -> None:
        """Draw among equally good moves from `rng`."""
        self._game = game
        self._rng = rng

    def choose(self, state: DuelState) -> int:
        """Return a move with the highest sum."""
        sums = {cell: self._sum(state, cell) for cell in state.position.legal}
        best = max(sums.values())
        return self._rng.choice([cell for cell, found in sums.items() if found == best])

    def _sum(self, state: DuelState, cell: int) -> int:
        game, x, o = self._game, state.position.x, state.position.o
        own, other = movers(x, o)
        captured = (other & game.neighbours[cell]).bit_count()
        x, o, _ = game.after(x, o, cell)
        mine = movers(x, o)[1]
        replies = game.legal(x, o)
        safe = not any(game.neighbours[reply] & mine for reply in cells_of(replies))
        new = game.neighbours[cell] & game.full & ~(own | other | game.reach(own))
        return CAPTURE * captured + SAVE * safe + GROUND * bool(new)


class PlayoutPlayer:
    """Monte Carlo tree search, compiled."""

    def __init__(self, game: Duel, playouts: int, rng: random.Random) -> None:
        """Play so many games for each move, with chances from `rng`."""
        self._game = game
        self._playouts = playouts
        self._rng = rng

    def choose(self, state: DuelState) -> int:
        """Return the move that was tried most."""
        from solver.duel.playouts import best_of_playouts  # only now: it takes compiled code

        own, other = movers(state.position.x, state.position.o)
        seed = self._rng.getrandbits(60)
        return best_of_playouts(self._game.neighbours, own, other, self._playouts, BONUS, seed)


class SearchPlayer:
    """Looks ahead, further at higher levels; the best one solves the game as soon as it can."""

    def __init__(self, live: "LiveDuel", level: int, seed: int | str, traps: Traps | None = None) -> None:
        """Play at a level from 0 to 10, with a search that may be shared; the best sets traps where an oracle knows."""
        self._live = live
        self._best = level == BEST_LEVEL
        self._traps = traps if self._best else None
        self._strength = LEVELS[min(level, BEST_LEVEL)]
        self._seed = str(seed)
        if self._strength.depth > GLANCE:
            live.load()

    def choose(self, state: DuelState) -> int:
        """Return the move that the search finds, or now and then any."""
        x, o = state.position.x, state.position.o
        rng = random.Random(f"{self._seed} {x} {o}")
        if rng.random() < self._strength.slips:
            return rng.choice(state.position.legal)
        if self._traps and self._traps.known(state.position):
            return rng.choice(self._traps.best(state.position))
        seed = rng.getrandbits(30)
        if self._traps and (score := self._traps.score(state.position)) is not None:
            kept = self._live.keep(x, o, score, self._strength.nodes // 2, seed)
            if kept is not None:
                return kept
        if self._best:
            return self._live.choose(x, o, self._strength.nodes, seed)
        return self._live.think(x, o, self._strength.depth, self._strength.nodes, seed)
