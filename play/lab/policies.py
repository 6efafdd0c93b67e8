"""Policies: what a player would do in many positions at once, as arrays of chances.

A player shows its chances itself, or is asked what it would choose. In the order of preference:

    chances(x, o) -> float[n, cells]    the chance of every move, in positions given as masks of cells
    choose_many(x, o) -> int[n]         the move made
    choices(state) -> {move: chance}    the same for one state, which the players of the house have
    choose(state) -> int                the move made, as in the arena

or it is an array over `Positions(game)`: a row of chances, or one move, for each position. A player that shows no
chances is asked everything twice, the second time as another seed makes it, and in another order; one that shows
chances, about some positions. If the answers differ, no policy can be known exactly, and Varies is raised.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from play.players.player import PlayerError, chosen, read_player
from play.players.roster import Contestant, Roster, called, lines_of, made
from solver.arrays.kernels import canonical, kernel_lines, sides
from solver.arrays.positions import Positions
from solver.errors import Ttt4Error
from solver.games.board_rules import BoardState
from solver.games.lines import Game
from solver.index.symmetry import Symmetry
from solver.own_code import load_own, one_line
from solver.text import shown

_NEAR = 1e-6
"""By how much chances may differ and count as equal: a network's depend on how many positions are asked at once."""

_ASKED_AGAIN = 500
"""About how many positions a player who shows chances is asked about twice."""

_CALLS = ("chances", "choose_many", "choices", "choose")


class Varies(PlayerError):
    """A player that answers the same question differently."""


class Policy(ABC):
    """What a player does in any position."""

    symmetric = False
    """Whether it does the same, up to symmetry, in positions that are equal by symmetry."""

    quick = True
    """Whether many positions are asked about at once."""

    plays = False
    """Whether the player can play in the arena, too."""

    asked_once = False
    """Whether only the first of two equal players is asked, because they are known to differ."""

    def __init__(self, game: Game, name: str) -> None:
        """Give a policy the name of its player."""
        self.game = game
        self.name = name

    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        """Return the chance of every move in open positions: float64[n, cells], each row with the sum of 1."""
        asked = self._asked(x, o)
        try:
            found = np.ascontiguousarray(asked, np.float64)
        except (TypeError, ValueError) as error:
            raise PlayerError(f"{self.name}: chances are numbers, not {one_line(error)}") from error
        if found.shape != (len(x), self.game.cells):
            raise PlayerError(f"{self.name}: chances have shape {found.shape}, not {(len(x), self.game.cells)}")
        sums = found.sum(axis=1)
        wrong = np.flatnonzero(~((found >= 0).all(axis=1) & (np.abs(sums - 1) <= _NEAR)))  # or NaN
        if len(wrong):
            row = int(wrong[0])
            board = str(self.game.at(int(x[row]), int(o[row])))
            raise PlayerError(
                f"{self.name}: chances must be 0 or more, and their sum 1; on board {board!r} the least is "
                f"{found[row].min():.4g}, and the sum {sums[row]:.6g}"
            )
        return found

    @abstractmethod
    def _asked(self, x: np.ndarray, o: np.ndarray) -> Any:
        """Return what the player answers."""


class Shown(Policy):
    """The policy of a player that shows its chances."""

    def __init__(self, game: Game, name: str, player: Any) -> None:
        """Ask `player.chances`."""
        super().__init__(game, name)
        self.symmetric = bool(getattr(player, "symmetric", False))
        self._player = player

    def _asked(self, x: np.ndarray, o: np.ndarray) -> Any:
        found = _safely(self.name, self._player.chances, x.copy(), o.copy())
        if not self.asked_once:
            self._ask_again(x, o, _array(found, self.name))
        return found

    def _ask_again(self, x: np.ndarray, o: np.ndarray, found: np.ndarray) -> None:
        """Ask about some of the positions once more, the last one first; raise Varies if the chances have changed."""
        some = np.arange(len(x))[:: -max(1, len(x) // _ASKED_AGAIN)]
        again = _array(_safely(self.name, self._player.chances, x[some], o[some]), self.name)
        comparable = found.shape[:1] == x.shape and found.dtype.kind in "iuf" and again.shape == found[some].shape
        if comparable and not np.allclose(again, found[some], rtol=0, atol=_NEAR, equal_nan=True):
            raise Varies(f"{self.name} does not always give the same chances")


class Rows(Policy):
    """The policy that an array over all positions up to symmetry holds."""

    symmetric = True

    def __init__(self, positions: Positions, array: Any, name: str) -> None:
        """Take chances, float[n, cells], or moves, int[n]."""
        super().__init__(positions.game, name)
        self._positions = positions
        self._array = _policy_array(_array(array, name), positions, name)
        self._images = np.array(positions.group)

    def _asked(self, x: np.ndarray, o: np.ndarray) -> Any:
        positions = self._positions
        if x is positions.x and o is positions.o:
            return self._array
        rows, symmetry_ids = positions.rows(x, o)
        return np.take_along_axis(self._array[rows], self._images[symmetry_ids], axis=1)


class Chosen(Policy):
    """The policy of a player that answers with a move for each position."""

    def __init__(self, game: Game, name: str, players: tuple[Any, Any]) -> None:
        """Ask `choose_many` of both players, who must agree."""
        super().__init__(game, name)
        self.symmetric = bool(getattr(players[0], "symmetric", False))
        self._players = players

    def _asked(self, x: np.ndarray, o: np.ndarray) -> Any:
        first = self._moves(self._players[0], x, o)
        if not self.asked_once and (first != self._asked_otherwise(x, o)).any():
            raise Varies(f"{self.name} does not always make the same move")
        return _certain(first, self.game.cells, self.name)

    def _asked_otherwise(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        """Return the second player's moves, who is asked about the last positions first, and in two parts."""
        half = len(x) // 2
        parts = [
            self._moves(self._players[1], x[part][::-1], o[part][::-1]) for part in (slice(half, None), slice(half))
        ]
        return np.concatenate(parts)[::-1]

    def _moves(self, player: Any, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        moves = _array(_safely(self.name, player.choose_many, x.copy(), o.copy()), self.name)
        if moves.shape != x.shape or (moves.dtype.kind not in "iu" and len(x)):
            raise PlayerError(f"{self.name}: moves are whole numbers of shape {x.shape}, not {_kind(moves)}")
        return moves


class Asked(Policy):
    """The policy of a player of the arena, which is asked about one state after another."""

    quick = False
    plays = True

    def __init__(self, roster: Roster, name: str, players: tuple[Any, Any]) -> None:
        """Ask both players, who must agree, unless they show their choices."""
        super().__init__(lines_of(roster.rules, "policies"), name)
        self.symmetric = bool(getattr(players[0], "symmetric", False))
        self._players = players
        self._rules = roster.rules
        self._shows = callable(getattr(players[0], "choices", None))

    def _asked(self, x: np.ndarray, o: np.ndarray) -> Any:
        found = np.zeros((len(x), self.game.cells))
        for row in range(len(x)):
            state = self._state(x, o, row)
            for move, chance in self._choices(state).items():
                found[row, self._cell(move)] += self._chance(chance)
        if not self._shows and not self.asked_once:
            for row in reversed(range(len(x))):  # so that a series of random numbers does not repeat itself
                if found[row, self._cell(_safely(self.name, chosen, self._players[1], self._state(x, o, row)))] != 1:
                    raise Varies(f"{self.name} does not always make the same move")
        return found

    def _state(self, x: np.ndarray, o: np.ndarray, row: int) -> BoardState[Any]:
        return BoardState(self.game.at(int(x[row]), int(o[row])))

    def _choices(self, state: Any) -> dict[int, float]:
        if not self._shows:
            return {_safely(self.name, chosen, self._players[0], state): 1.0}
        choices = _safely(self.name, self._players[0].choices, state)
        if not isinstance(choices, dict):
            raise PlayerError(f"{self.name}: choices are a dict of moves and chances, not {shown(choices, 40)}")
        return choices

    def _cell(self, move: Any) -> int:
        if not (isinstance(move, (int, np.integer)) and 0 <= move < self.game.cells):
            raise PlayerError(f"{self.name}: {shown(move, 40)} is no cell")
        return int(move)

    def _chance(self, chance: Any) -> float:
        if not isinstance(chance, (int, float, np.number)):
            raise PlayerError(f"{self.name}: {shown(chance, 40)} is no chance")
        return float(chance)


def policy_of(roster: Roster, who: Any, seed: int | str, positions: Positions | None = None) -> Policy:
    """Return the policy of a player: a name, an array, an object, or what makes one from rules and a seed.

    Arrays are over `positions`, which games with too many do not have.
    """
    game = lines_of(roster.rules, "policies")
    if isinstance(who, (np.ndarray, list)):
        if positions is None:
            raise PlayerError(f"{game.name} has too many positions for an array: pass an object with chances(x, o)")
        return Rows(positions, who, "array")
    players = tuple(player_of(roster, who, f"{seed} {number}") for number in range(2))
    one, other = players
    name = who.strip() if isinstance(who, str) else called(who)
    if callable(getattr(one, "chances", None)):
        return Shown(game, name, one)
    if callable(getattr(one, "choose_many", None)):
        return Chosen(game, name, (one, other))
    return Asked(roster, name, (one, other))


def player_of(roster: Roster, who: Contestant | Any, seed: str) -> Any:
    """Return a player that has at least one of the methods by which players are asked."""
    if isinstance(who, str) and read_player(who).kind != "own":
        player = roster.player(who, seed)
        if player is None:
            raise PlayerError("a human cannot be graded here: ttt4-play review grades a game")
        return player
    what = load_own(who) if isinstance(who, str) else who
    return made(what, roster.rules, seed, called(who), methods=_CALLS)


class Drawn(Policy):
    """What a player that varies did on average, when it was asked about each position several times.

    Moves that it made but once are left out, if there are others: they would lead to too many positions.
    """

    def __init__(self, policy: Policy, draws: int) -> None:
        """Ask a policy so often."""
        super().__init__(policy.game, policy.name)
        self._policy = policy
        self._draws = draws

    def _asked(self, x: np.ndarray, o: np.ndarray) -> Any:
        found = np.mean([self._policy.chances(x, o) for _ in range(self._draws)], axis=0)
        often = np.where(found > 1.5 / self._draws, found, 0.0)
        found = np.where(often.any(axis=1, keepdims=True), often, found)
        return found / found.sum(axis=1, keepdims=True)


class FirstBest(Policy):
    """The policy of making one of the moves that another policy likes best: the first one on the canonical board."""

    symmetric = True

    def __init__(self, policy: Policy, group: tuple[Symmetry, ...]) -> None:
        """Break the ties of a policy that does the same in positions that are equal under `group`."""
        super().__init__(policy.game, policy.name)
        self._policy = policy
        self._images = np.array(group)
        self._kernel = kernel_lines(policy.game, group)

    def _asked(self, x: np.ndarray, o: np.ndarray) -> Any:
        cells = self.game.cells
        keys, symmetry_ids = np.empty(len(x), np.int64), np.empty(len(x), np.int64)
        x, o = np.ascontiguousarray(x, np.int64), np.ascontiguousarray(o, np.int64)
        canonical(cells, self._kernel.images, x, o, keys, symmetry_ids)
        best = self._policy.chances(*sides(keys, cells)).argmax(axis=1)
        there = self._images[symmetry_ids] == best[:, None]  # the cell whose image is the best
        return there.astype(np.float64)


class PolicyPlayer:
    """A player of the arena that plays a policy."""

    def __init__(self, policy: Policy, seed: int | str) -> None:
        """Draw moves from `seed`."""
        self.name = policy.name
        self._policy = policy
        self._rng = np.random.default_rng(list(str(seed).encode()))

    def choose(self, state: Any) -> int:
        """Return a move, drawn by its chance."""
        position = state.position
        chances = self._policy.chances(np.array([position.x]), np.array([position.o]))[0]
        return int(self._rng.choice(len(chances), p=chances / chances.sum()))


def _policy_array(array: np.ndarray, positions: Positions, name: str) -> np.ndarray:
    rows, cells = len(positions), positions.game.cells
    if array.shape == (rows,) and array.dtype.kind in "iu":
        return _certain(array, cells, name)
    if array.shape == (rows, cells) and array.dtype.kind in "iuf":
        return array.astype(np.float64)
    raise PlayerError(
        f"{name}: {_kind(array)} is no policy of {positions.game.name}: moves are whole numbers of shape ({rows},), "
        f"chances numbers of shape ({rows}, {cells})"
    )


def _certain(moves: np.ndarray, cells: int, name: str) -> np.ndarray:
    """Return chances of 1 for moves."""
    if len(moves) and not (moves.min() >= 0 and moves.max() < cells):
        raise PlayerError(f"{name}: moves are cells from 0 to {cells - 1}")
    found = np.zeros((len(moves), cells))
    found[np.arange(len(moves)), moves] = 1.0
    return found


def _array(value: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise PlayerError(f"{name}: no array: {one_line(error)}") from error


def _safely(name: str, call: Any, *arguments: Any) -> Any:
    """Return what a player answers; raise PlayerError, with his name, if he fails."""
    try:
        return call(*arguments)
    except PlayerError as error:
        raise error if str(error).startswith(name) else PlayerError(f"{name}: {error}") from error.__cause__
    except Ttt4Error:
        raise
    except (Exception, SystemExit) as error:  # it may not be our code
        raise PlayerError(f"{name}: {one_line(error)}") from error


def _kind(array: np.ndarray) -> str:
    return f"{array.dtype} of shape {array.shape}"
