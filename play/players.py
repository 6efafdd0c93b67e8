"""Players: who looks at a state and chooses a move. All but the human are reproducible from a seed.

A player is named by a word, and a level by a number behind the oracle's:

    human        asks at the terminal
    random       any move
    rules        win, block, then the middle, corners, edges
    search       a live search, with no store
    oracle       never errs, and sets traps; oracle:0 to oracle:10 play worse to perfectly
    first        the oracle's first best move, which sets no traps
    module:name  one of the user's own: name(game, seed) returns it
"""

import math
from collections.abc import Callable
from contextlib import ExitStack
from operator import index
from typing import TYPE_CHECKING, Protocol

from oracle.answers import Move
from oracle.oracle import SECONDS, Oracle
from play.rules import LineState
from solver.errors import Ttt4Error
from solver.folders import store_path
from solver.games.lines import Game

if TYPE_CHECKING:
    import random

BEST_LEVEL = 10

SECONDS_A_MOVE = 10.0
"""How long a player may think in the arena, if nothing else is said, before it forfeits the game."""

_KINDS = ("human", "random", "rules", "search", "oracle", "first")


class PlayerError(Ttt4Error):
    """No such player."""

    exit_code = 2


class Player(Protocol):
    """Somebody who chooses moves."""

    def choose(self, state: LineState) -> int:
        """The cell that this player claims in a state in which it is to move."""


class NoMove(Exception):
    """What a human said is no move."""


class Human:
    """Whoever sits at the terminal."""

    def __init__(self, ask: Callable[[LineState], int]) -> None:
        """Choose what `ask` answers; it may raise NoMove."""
        self.choose = ask


class RandomPlayer:
    """Any move, each as likely."""

    def __init__(self, rng: "random.Random") -> None:
        """Draw moves from `rng`."""
        self._rng = rng

    def choose(self, state: LineState) -> int:
        """Any empty cell."""
        return self._rng.choice(state.empty)


class RulesPlayer:
    """Completes a line, else stops one, else takes a cell as near the middle as can be, else a corner, else any."""

    def __init__(self, game: Game, rng: "random.Random") -> None:
        """Draw among equally good cells from `rng`."""
        self._game = game
        self._rng = rng
        middle = {(game.rows - 1) // 2, game.rows // 2}, {(game.columns - 1) // 2, game.columns // 2}
        ends = {0, game.rows - 1}, {0, game.columns - 1}
        places = [divmod(square, game.columns) for square in game.squares]
        self._tiers = [
            {cell for cell, (row, column) in enumerate(places) if row in rows and column in columns}
            for rows, columns in (middle, ends)
        ]

    def choose(self, state: LineState) -> int:
        """A cell by the first rule that names one."""
        x, o = state.position.x, state.position.o
        mine, theirs = (x, o) if state.position.mover == "X" else (o, x)
        empty = state.empty
        completing = [cell for cell in empty if self._game.completes(mine | 1 << cell, cell)]
        if self._game.misere:
            empty = [cell for cell in empty if cell not in completing] or empty
        elif completing:
            return self._rng.choice(completing)
        elif stopping := [cell for cell in empty if self._game.completes(theirs | 1 << cell, cell)]:
            return self._rng.choice(stopping)
        tiers = [[cell for cell in empty if cell in tier] for tier in self._tiers]
        return self._rng.choice(next(filter(None, tiers), empty))


class OraclePlayer:
    """The oracle: never errs, and of its best moves makes the one that is easiest to answer wrongly."""

    def __init__(self, oracle: Oracle) -> None:
        """Play what `oracle` plays."""
        self._oracle = oracle

    def choose(self, state: LineState) -> int:
        """The oracle's own move."""
        return _cell(state, self._oracle.best_move(state.position))


class FirstPlayer:
    """The first best move in the order of the cells: as strong as the oracle, and without malice."""

    def __init__(self, oracle: Oracle) -> None:
        """Play the first best move that `oracle` names."""
        self._oracle = oracle

    def choose(self, state: LineState) -> int:
        """The first of the best moves."""
        return _cell(state, self._oracle.analysis(state.position).moves[0])


class LevelPlayer:
    """Plays like a person of some strength: the better a move, and the nearer what it leads to, the likelier.

    A move is worth +1 for a win, 0 for a draw, -1 for a loss, and as much again when the end is a ply away,
    less the further it is: near things are seen by everybody. Moves are drawn with weights that grow
    exponentially with worth, by a factor that grows with the level: at level 0 all are equal.
    """

    def __init__(self, oracle: Oracle, level: int, rng: "random.Random") -> None:
        """Play at a level from 0 to 9; 10 is the oracle itself."""
        self._oracle = oracle
        self._rng = rng
        self._keenness = SHARPNESS[level]

    def choose(self, state: LineState) -> int:
        """A move drawn by its worth."""
        moves = self._oracle.analysis(state.position).moves
        weights = [math.exp(self._keenness * _worth(move)) for move in moves]
        return _cell(state, self._rng.choices(moves, weights)[0])


SHARPNESS = (0.0, 0.22, 0.47, 0.72, 0.98, 1.25, 1.57, 1.92, 2.45, 3.7)
"""By level: how much likelier a better move is."""


class Cast:
    """Makes the players of a game, who share what they need; a context manager that closes it."""

    def __init__(self, game: Game, store: str | None = None, *, live: bool = False, seconds: float = SECONDS) -> None:
        """Cast players for `game`, with a store from the usual place or the one named."""
        self.game = game
        self._open = ExitStack()
        self._arguments = store, live, seconds
        self.path = store_path(game, store)
        self._oracles: dict[bool, Oracle] = {}

    def __enter__(self) -> "Cast":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def oracle(self, *, live: bool = False) -> Oracle:
        """The oracle that all players share; with `live`, the one that searches in any case."""
        store, never, seconds = self._arguments
        live = live or never
        if live not in self._oracles:
            oracle = Oracle(self.game, None if live else store, live=live, seconds=seconds)
            self._oracles[live] = self._open.enter_context(oracle)
        return self._oracles[live]

    def player(self, name: str, seed: int | str, ask: Callable[[LineState], int] | None = None) -> Player:
        """The player of that name; PlayerError if there is none."""
        kind, level = read_player(name)
        if kind == "human":
            if ask is None:
                raise PlayerError("a human can play at the terminal alone: name another player")
            return Human(ask)
        if kind in ("search", "first"):
            return FirstPlayer(self.oracle(live=kind == "search"))
        if kind == "oracle" and level == BEST_LEVEL:
            return OraclePlayer(self.oracle())

        if kind == "own":
            return _own(name, self.game, seed)

        import random  # only now: a game against the oracle does not wait for it

        rng = random.Random(str(seed))
        if kind == "oracle":
            return LevelPlayer(self.oracle(), level, rng)
        return RandomPlayer(rng) if kind == "random" else RulesPlayer(self.game, rng)


def read_player(name: str) -> tuple[str, int]:
    """A player's kind and level; PlayerError, with the names that there are, if there is no such player."""
    kind, colon, level = name.strip().partition(":")
    if kind in _KINDS and not colon:
        return kind, BEST_LEVEL
    if kind == "oracle" and level in map(str, range(BEST_LEVEL + 1)):
        return kind, int(level)
    if colon and level.isidentifier() and all(part.isidentifier() for part in kind.split(".")):
        return "own", BEST_LEVEL
    raise PlayerError(
        f"no player {name!r}: there are {', '.join(_KINDS)}, oracle:0 to oracle:{BEST_LEVEL}, and your own as "
        f"module:name"
    )


def may_resume(name: str) -> bool:
    """Whether a record may call this player back: a file must not make the program load somebody's code."""
    return read_player(name)[0] != "own"


def _own(name: str, game: Game, seed: int | str) -> Player:
    """A player that the user wrote."""
    import os
    import sys
    from importlib import import_module

    module, _, factory = name.strip().partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # where python -m would look too
    try:
        player: Player = getattr(import_module(module), factory)(game, seed)
        able = callable(getattr(player, "choose", None))
    except (Exception, SystemExit) as error:  # it is not our code
        raise PlayerError(f"no player {name!r}: {one_line(error)}") from error
    if not able:
        raise PlayerError(f"no player {name!r}: what it returns has no choose(state)")
    return player


def chosen(player: Player, state: LineState) -> int:
    """The cell that a player names; PlayerError if it fails to name one, whatever it does instead."""
    try:
        return index(player.choose(state))
    except Ttt4Error:
        raise
    except (Exception, SystemExit) as error:  # it may not be our code
        raise PlayerError(one_line(error)) from error


def one_line(error: BaseException) -> str:
    """An error of somebody else's, short enough to be shown."""
    try:
        said = str(error).split("\n")[0]
    except Exception:  # even this is not our code
        said = "it does not say why"
    text = "".join(letter if letter.isprintable() else " " for letter in f"{type(error).__name__}: {said}")
    return text if len(text) <= 60 else f"{text[:57]}..."


def _worth(move: Move) -> float:
    if move.plies is None:
        return 0.0
    size = 1 + 1 / move.plies
    return size if move.score > 0 else -size


def _cell(state: LineState, move: Move) -> int:
    return state.position.game.cells_by_name[move.move]
