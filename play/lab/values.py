"""What a player is worth from the empty board: exactly, against best replies.

The positions that the player can meet are found ply by ply, whatever the opponent does, and valued from the last ply to
the first. If the player does the same in positions that are equal by symmetry, one of them stands for all.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from play.lab.kernels import NEVER, least, mean, soonest
from play.lab.policies import Policy, Varies
from play.match import Match
from play.records.text import Record
from solver.arrays.kernels import UNMADE, canonical, kernel_lines
from solver.arrays.positions import Positions
from solver.arrays.walk import Walk, walk
from solver.errors import TooLarge
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.registry import rules_of
from solver.index.symmetry import Symmetry, symmetries

MOST_MET = 10_000_000
"""How many positions a player may meet, for its value to be worked out: all of 4x4, at about 300 bytes each."""

SIDES = "XO"
_OTHER = {"X": "O", "O": "X"}

Group = tuple[Symmetry, ...] | None
"""The symmetries under which positions count as equal; None stands for the identity alone."""

Report = Callable[[str, float], None]
"""Tells what is under way, and which share of it is done."""

_AT_ONCE = 100_000
"""So many positions are asked about at once, which bounds what a slow player's answers take."""

_NEAR = 1e-12


class Worth:
    """What a policy is worth as one side, and how it is beaten."""

    def __init__(
        self, policy: Policy, side: int, met: Walk, chances: dict[int, np.ndarray], group: Group = None
    ) -> None:
        """Value the rows of `met`; `chances` has those of the player's moves, by ply."""
        self.policy = policy
        self.side = side
        self.game: Game = policy.game
        self._met = met
        self._chances = chances
        self._kernel = kernel_lines(self.game, group)
        self._values = np.empty(len(met.x))
        for ply, first, child in self._last_to_first():
            if ply in chances:
                mean(first, child, chances[ply], *self._ends(ply), self._values)
            else:
                least(first, child, self._ends(ply)[0], self._values)

    @property
    def value(self) -> float:
        """The result from the empty board, on average, against best replies."""
        return _rounded(self._values[0])

    @cached_property
    def met(self) -> int:
        """How many positions the player can meet, or his opponent has to answer."""
        met = np.zeros(len(self._met.x), np.bool_)
        met[0] = True
        for ply, first, child in reversed(list(self._last_to_first())):
            after = child[met[first : first + len(child)]]
            if ply in self._chances:
                after = np.where(self._chances[ply][met[first : first + len(child)]] > 0, after, UNMADE)
            met[after[after >= 0]] = True
        return int(met.sum())

    def against_random(self) -> float:
        """Return the result against random moves."""
        values = np.empty(len(self._met.x))
        for ply, first, child in self._last_to_first():
            chances = self._chances.get(ply)
            mean(first, child, _random(child) if chances is None else chances, *self._ends(ply), values)
        return _rounded(values[0])

    def refutation(self, entitled: int) -> Record | None:
        """Return a shortest game in which the player gets less than it is entitled to; None if there is none.

        Of several moves that it might make, the one is made that leads there soonest. A claim of a taken cell forfeits.
        """
        plies = np.full(len(self._met.x), NEVER, np.int32)
        none = np.zeros((0, self.game.cells))
        for ply, first, child in self._last_to_first():
            chances, (line, _) = self._chances.get(ply), self._ends(ply)
            soonest(first, child, none if chances is None else chances, chances is not None, line, entitled - 1, plies)
        if plies[0] >= NEVER:
            return None
        rules = rules_of(self.game)
        match: Match[Any] = Match(rules, clock=lambda: None)
        while match.outcome is None:
            position = match.state.position
            if position.stones % 2 == self.side and self._fouls(position):
                match.forfeit(match.to_move or "", "claimed a taken cell")
                break
            moves = self._ways(position, plies, entitled - 1)
            if not moves:
                raise Varies(f"{self.policy.name} does not always make the same move")
            match.play(match.to_move or "", min(moves, key=moves.__getitem__))
        names = (self.policy.name, "exploiter") if self.side == 0 else ("exploiter", self.policy.name)
        return Record(match, dict(zip(SIDES, names, strict=True)))

    def meets(self, x: int, o: int) -> bool:
        """Tell whether the player lets a position be."""
        return self._row(x, o) is not None

    def best_replies(self, x: int, o: int) -> list[int]:
        """Return the cells of the opponent's best moves in a position, as far as the player lets it come to that."""
        values = self._after(x, o, self._values, float, unmet=0.0)
        return [cell for cell, value in values.items() if value == min(values.values())]

    @cached_property
    def _keys(self) -> np.ndarray:
        keys: np.ndarray = self._met.x << self.game.cells | self._met.o
        return keys

    def _fouls(self, position: Any) -> bool:
        """Tell whether the player may claim a taken cell."""
        chances = self.policy.chances(np.array([position.x]), np.array([position.o]))[0]
        return any(chances[cell] > 0 for cell in cells_of(position.x | position.o))

    def _ways(self, position: Any, plies: np.ndarray, enough: int) -> dict[int, float]:
        """Return the moves that can lead to `enough` or less, each with the plies that it takes from there."""
        x, o = position.x, position.o
        ways = self._after(x, o, plies, lambda result: 0 if result <= enough else NEVER, unmet=NEVER)
        if position.stones % 2 == self.side:
            chances = self.policy.chances(np.array([x]), np.array([o]))[0]
            ways = {cell: way for cell, way in ways.items() if chances[cell] > 0}
        return {cell: way for cell, way in ways.items() if way < NEVER}

    def _after(
        self, x: int, o: int, known: np.ndarray, ended: Callable[[int], float], unmet: float
    ) -> dict[int, float]:  # fmt: skip
        """Return what is `known` of each legal move's position; `ended` tells it of the player's results."""
        game, found = self.game, dict[int, float]()
        moves = (x | o).bit_count() % 2 == self.side
        for cell in game.at(x, o).legal:
            x_after, o_after, over = game.after(x, o, cell)
            if over:
                own = o_after if o_after != o else x_after
                result = game.result(own, x_after | o_after, cell) or 0
                found[cell] = ended(result if moves else -result)
            else:
                row = self._row(x_after, o_after)
                found[cell] = unmet if row is None else float(known[row])
        return found

    def _row(self, x: int, o: int) -> int | None:
        """Return the row of a position; None if it is not met."""
        key, symmetry_id = np.empty((1,), np.int64), np.empty((1,), np.int64)
        canonical(self.game.cells, self._kernel.images, np.array([x]), np.array([o]), key, symmetry_id)
        first, last = self._met.first[(x | o).bit_count() :][:2]
        row = first + int(np.searchsorted(self._keys[first:last], key[0]))
        return int(row) if row < last and self._keys[row] == key[0] else None

    def _last_to_first(self) -> Any:
        met = self._met
        for ply in range(len(met.first) - 2, -1, -1):
            first, last = int(met.first[ply]), int(met.first[ply + 1])
            yield ply, first, met.child[first:last]

    def _ends(self, ply: int) -> tuple[float, float]:
        """Return what completing a line at some ply brings the player, and what claiming a taken cell does."""
        mine = 1.0 if ply % 2 == self.side else -1.0
        return -mine if self.game.misere else mine, -mine


def worth_everywhere(policy: Policy, side: int, positions: Positions, chances: np.ndarray) -> Worth:
    """Return what a symmetric policy is worth as one side: X is 0, and O is 1; `chances` are those in all positions."""
    plies = zip(positions.first[side::2], positions.first[side + 1 :: 2], strict=False)
    known = {side + 2 * number: chances[first:last] for number, (first, last) in enumerate(plies)}
    return Worth(policy, side, positions.met, known, positions.group)


def worth_of(policy: Policy, side: int, most: int = MOST_MET, report: Report = lambda what, share: None) -> Worth:
    """Return what a policy is worth as one side: X is 0, and O is 1.

    Raise TooLarge if it meets too many positions, or more than `most` in which it has to be asked.
    """
    game = policy.game
    group: Group = symmetries(game) if policy.symmetric else None
    asked: dict[int, np.ndarray] = {}

    def moves(ply: int, x: np.ndarray, o: np.ndarray) -> np.ndarray | None:
        if ply % 2 != side:
            return None
        if sum(map(len, asked.values())) + len(x) > most:
            raise TooLarge(f"{policy.name} would have to be asked about more than {most:,} positions")
        found = np.empty((len(x), game.cells))
        for start in range(0, len(x), _AT_ONCE):  # a player that is asked one by one makes objects for each
            report(f"value as {SIDES[side]}, ply {ply}", start / len(x))
            rows = slice(start, start + _AT_ONCE)
            found[rows] = policy.chances(x[rows], o[rows])
        asked[ply] = found
        return found > 0

    try:
        met = walk(kernel_lines(game, group), MOST_MET, moves)
    except TooLarge:
        promise = "" if policy.symmetric else "; symmetric = True, where it is true, leaves fewer"
        raise TooLarge(f"{policy.name} can meet more than {MOST_MET:,} positions{promise}") from None
    return Worth(policy, side, met, asked, group)


def between(x: Policy, o: Policy) -> float:
    """Return X's result on average when two policies play; raise TooLarge if they meet in too many positions."""
    game, asked = x.game, list[np.ndarray]()

    def moves(ply: int, x_cells: np.ndarray, o_cells: np.ndarray) -> np.ndarray:
        asked.append((o if ply % 2 else x).chances(x_cells, o_cells))
        return asked[ply] > 0

    met = walk(kernel_lines(game), MOST_MET, moves)
    chances = dict(enumerate(asked))
    return Worth(x, 0, met, chances).value


class Exploiter:
    """The best response to a player: no opponent does better against it. It is a player itself."""

    def __init__(self, worths: dict[str, Worth], positions: Positions | None = None) -> None:
        """Know what the player is worth as X or as O, or both; play perfectly, by `positions`, where it never gets."""
        self._worths = worths
        self._positions = positions
        self.name = f"exploiter of {next(iter(worths.values())).policy.name}"

    @property
    def value(self) -> dict[str, float]:
        """The result, on average, that the exploiter has as each side against the player."""
        return {side: -self._worths[_OTHER[side]].value for side in SIDES if _OTHER[side] in self._worths}

    def choose(self, state: Any) -> int:
        """Return the first of the best moves against the player."""
        position = state.position
        worth = self._worths[_OTHER[SIDES[position.stones % 2]]]
        if self._positions is None or worth.meets(position.x, position.o):
            return worth.best_replies(position.x, position.o)[0]
        rows, symmetry_ids = self._positions.rows(np.array([position.x]), np.array([position.o]))
        best = int(self._positions.scores[rows[0]].argmax())
        return self._positions.group[symmetry_ids[0]].index(best)


def _rounded(value: float) -> float:
    """Return a value without what adding up chances has left at its end, where that shows: at -1, 0 and 1."""
    whole = round(value)
    return float(whole) if abs(value - whole) < _NEAR else float(value)


def _random(child: np.ndarray) -> np.ndarray:
    """Return the chances of random moves."""
    legal = (child >= 0) | ((child < -1) & (child != UNMADE))
    return np.ascontiguousarray(legal / legal.sum(axis=1, keepdims=True))
