"""Players of the duel."""

import random
from typing import TYPE_CHECKING, NamedTuple

from oracle.oracle import Oracle
from play.players.mcts import BONUS
from play.players.player import BEST_LEVEL
from play.players.traps import SolvedScores, StoredScores, Traps
from solver.duel.plain import GLANCE
from solver.games.board import BoardPosition, cells_of
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

_GUESSED = 8
"""Of its nodes, one in so many is for a guess where the search does not end."""

_TEMPTED = 0.7
"""How likely the best level takes a reply to be one that `priority` would give, and so most people."""

_REPLIES, _PLAYOUTS = 4, 500
"""How many replies it looks at in solved positions, and how many random games tell each."""

_BOOK_REPLIES, _BOOK_PLAYOUTS = 2, 2_000
"""The same in positions that the book has."""


class PriorityPlayer:
    """Adds up what a move brings at once: captures, no captures for the other side next, and new ground."""

    def __init__(self, game: Duel, rng: random.Random) -> None:
        """Draw among equally good moves from `rng`."""
        self._game = game
        self._rng = rng

    def choose(self, state: DuelState) -> int:
        """Return a move with the highest sum."""
        return self._rng.choice(highest_sums(self._game, state.position))


def highest_sums(game: Duel, position: BoardPosition) -> list[int]:
    """Return the moves with the highest sum of what `priority` counts."""
    sums = {cell: _sum(game, position.x, position.o, cell) for cell in position.legal}
    best = max(sums.values())
    return [cell for cell, found in sums.items() if found == best]


def _sum(game: Duel, x: int, o: int, cell: int) -> int:
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


class Book(NamedTuple):
    """What an oracle knows of a board without a search, for all who play on it."""

    scores: StoredScores
    traps: Traps


def open_book(oracle: Oracle, live: "LiveDuel") -> Book:
    """Return what an oracle knows."""
    scores = StoredScores(oracle)
    return Book(scores, Traps(scores, lambda position: live.likely(position.x, position.o, _BOOK_PLAYOUTS, 1)))


class SearchPlayer:
    """Looks ahead, further at higher levels; the best one solves the game as soon as it can."""

    def __init__(self, live: "LiveDuel", level: int, seed: int | str, book: Book | None = None) -> None:
        """Play at a level from 0 to 10, with a search that may be shared; the best one goes by what an oracle knows."""
        self._live = live
        self._best = level == BEST_LEVEL
        self._book = book if self._best else None
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
        depth, nodes, seed = self._strength.depth, self._strength.nodes, rng.getrandbits(30)
        if self._book:
            if cells := self._book.traps.best(state.position, _BOOK_REPLIES):
                return rng.choice(cells)
            if (score := self._book.scores.of(state.position)) is not None:
                kept = self._live.keep(x, o, score, nodes - nodes // _GUESSED, seed)
                if kept is not None:
                    return kept
                return self._live.think(x, o, depth, nodes // _GUESSED, seed)
        if not self._best:
            return self._live.think(x, o, depth, nodes, seed)
        end = self._live.nodes + nodes
        cell = self._live.think(x, o, self._live.game.cells, nodes, seed)
        cells = self._solved(state.position, end - self._live.nodes, seed)
        return rng.choice(cells) if cells else cell

    def _solved(self, position: BoardPosition, nodes: int, seed: int) -> list[int]:
        """Return the best moves that promise most, as far as there is time to tell; none if they are not found."""
        scores = SolvedScores(self._live, nodes)

        def likely(position: BoardPosition) -> dict[int, float]:
            any_move = self._live.likely(position.x, position.o, _PLAYOUTS, seed)
            tempting = highest_sums(self._live.game, position)
            return {
                cell: (1 - _TEMPTED) * chance + (_TEMPTED / len(tempting) if cell in tempting else 0.0)
                for cell, chance in any_move.items()
            }

        traps = Traps(scores, likely)
        found = traps.best(position, 1)
        for replies in range(2, _REPLIES + 1):
            further = traps.best(position, replies) if found else []
            if scores.used_up:
                break
            found = further
        return found
