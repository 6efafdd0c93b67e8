"""Players on wide boards: they look at stones and at what is near them, however large the board is.

The levels glance, as on narrow boards (play/players/glance.py), at a part of the board around the last stone of each
side. What happens elsewhere they do not see.
"""

import random
from collections.abc import Iterable

from play.players.glance import Glance
from play.players.levels import LEVELS
from play.players.player import LEVELLED, Player
from solver.games.lines import grid
from solver.games.wide import DIRECTIONS, SIDES, Stones, WideRules, WideState

PART = 19
"""How many rows and columns a glance takes in."""

_TRIES = 1000


def wide_player(rules: WideRules, kind: str, level: int, seed: int | str) -> Player:
    """Return the player of a kind; `require_player_of` has refused what there is not."""
    rng = random.Random(str(seed))
    if kind in LEVELLED and level:
        return WideGlancer(rules, level, seed)
    return WideTactician(rules, rng) if kind == "rules" else WideRandom(rng)


class WideRandom:
    """Any move, each as likely as the others."""

    def __init__(self, rng: random.Random) -> None:
        """Draw moves from `rng`."""
        self._rng = rng

    def choose(self, state: WideState) -> int:
        """Return any empty cell."""
        return state.empty.drawn(self._rng)


class WideTactician:
    """Complete a line, else block one, else take a cell in the middle, else a corner, else any."""

    def __init__(self, rules: WideRules, rng: random.Random) -> None:
        """Draw among equally good cells from `rng`."""
        game = rules.game
        self._misere, self._rng, self._threats = game.misere, rng, Threats()
        middle = {(game.rows - 1) // 2, game.rows // 2}, {(game.columns - 1) // 2, game.columns // 2}
        corners = {0, game.rows - 1}, {0, game.columns - 1}
        self._tiers = [
            [row * game.columns + column for row in sorted(rows) for column in sorted(columns)]
            for rows, columns in (middle, corners)
        ]

    def choose(self, state: WideState) -> int:
        """Return a cell by the first rule that names one."""
        named = self.named(state)
        if named:
            return self._rng.choice(named)
        avoided = self._avoided(state)
        drawn = (state.empty.drawn(self._rng) for _ in range(_TRIES))
        found = next((cell for cell in drawn if cell not in avoided), None)
        return self._rng.choice([cell for cell in state.empty if cell not in avoided]) if found is None else found

    def named(self, state: WideState) -> list[int]:
        """Return the cells of the first rule that names any; none if any cell will do that need not be avoided."""
        threats = self._threats.of(state)
        if not self._misere and any(threats):
            return sorted(threats[state.mover] or set().union(*threats))
        avoided = self._avoided(state)
        tiers = ([cell for cell in tier if state.side(cell) is None and cell not in avoided] for tier in self._tiers)
        return next(filter(None, tiers), [])

    def _avoided(self, state: WideState) -> set[int]:
        """Return the cells that lose in misère play, unless all do."""
        losing = self._threats.of(state)[state.mover] if self._misere else set[int]()
        return losing if len(losing) < len(state.empty) else set()


class Threats:
    """The empty cells that complete a line of a side, found by looking at each stone once as it comes."""

    def __init__(self) -> None:
        """Begin with no stones."""
        self._stones = Stones([])
        self._count = 0
        self._cells: tuple[set[int], ...] = ()

    def of(self, state: WideState) -> tuple[set[int], ...]:
        """Return the cells for each side."""
        if state.stones is not self._stones or state.count < self._count or not self._cells:
            self._stones, self._count = state.stones, 0
            self._cells = tuple(set() for _ in range(SIDES))
        for cell in state.latest(state.count - self._count):
            self._take(state, cell)
        self._count = state.count
        for cells in self._cells:
            cells -= {cell for cell in cells if state.side(cell) is not None}
        return self._cells

    def _take(self, state: WideState, stone: int) -> None:
        """Add the gaps at both ends of the runs of a stone, where they complete a line."""
        game, side = state.game, state.side(stone)
        if side is None:
            return
        row, column = divmod(stone, game.columns)
        for down, right in (*DIRECTIONS, *((-down, -right) for down, right in DIRECTIONS)):
            steps = state.reach(stone, side, down, right) + 1
            at, beside = row + steps * down, column + steps * right
            if 0 <= at < game.rows and 0 <= beside < game.columns:
                gap = at * game.columns + beside
                if state.side(gap) is None and state.completes(gap, side):
                    self._cells[side].add(gap)


class WideGlancer:
    """Plays at a level from 1 to 4, by a glance at the parts of the board where something has just happened."""

    def __init__(self, rules: WideRules, level: int, seed: int | str) -> None:
        """Glance as a player of this level does."""
        game = rules.game
        self._game, self._strength, self._seed = game, LEVELS[level], f"{seed} {level}"
        self._rows, self._columns = min(PART, game.rows), min(PART, game.columns)
        k = min(game.k, max(self._rows, self._columns))
        self._glance = Glance(grid(self._rows, self._columns, k, misere=game.misere))

    def choose(self, state: WideState) -> int:
        """Return a move that looks good to a player of this level."""
        latest = state.latest(SIDES)
        rng, worths = random.Random(f"{self._seed} {state.count} {latest}"), dict[int, float]()
        for corner in dict.fromkeys(map(self._corner, latest or [self._game.middle])):
            for cell, worth in self._worths(state, corner, rng):
                worths[cell] = max(worth, worths.get(cell, 0.0))
        if not worths:
            return state.empty.drawn(rng)
        most = max(worths.values())
        weights = [(worth / most) ** self._strength.sharpness for worth in worths.values()]
        return rng.choices(list(worths), weights)[0]

    def _corner(self, cell: int) -> int:
        """Return the top left cell of the part of the board around a cell."""
        row, column = divmod(cell, self._game.columns)
        top = min(max(0, row - self._rows // 2), self._game.rows - self._rows)
        left = min(max(0, column - self._columns // 2), self._game.columns - self._columns)
        return top * self._game.columns + left

    def _worths(self, state: WideState, corner: int, rng: random.Random) -> Iterable[tuple[int, float]]:
        """Yield the cells of a part of the board that come to mind, and what each is worth."""
        own = other = 0
        cells = [
            corner + row * self._game.columns + column for row in range(self._rows) for column in range(self._columns)
        ]
        for number, cell in enumerate(cells):
            side = state.side(cell)
            if side == state.mover:
                own |= 1 << number
            elif side is not None:
                other |= 1 << number
        for number, worth in self._glance.worths(own, other, self._strength.overlooks, rng).items():
            yield cells[number], worth
