"""What a person sees at a glance: the lines through each cell, some of which are overlooked.

A cell is worth the sum of its lines that have stones of one side alone; more the fewer cells they miss. Lines that
share their stones are noticed, or overlooked, together: slanted ones are overlooked more often, nearly complete ones
less.
"""

import random
from collections.abc import Callable
from functools import cached_property

from solver.games.board import cells_of
from solver.games.lines import Game

_OWN, _THEIR = {1: 100_000, 2: 400, 3: 40, 4: 8}, {1: 20_000, 2: 150, 3: 25, 4: 6}
"""What a line of one's own, or of the other side, is worth, by how many cells it misses."""

_OWN_LOSING, _THEIR_LOSING = {1: 1_000_000, 2: 40, 3: 8}, {1: 100, 2: 10, 3: 2}
"""In misère: what speaks against a cell. One that the other side must not claim is a move in reserve."""

_ANY_LINE = 2
"""What other lines are worth that have a stone."""

_SLANTED, _NEARLY_COMPLETE = 1.5, 0.5
"""How much more often such lines are overlooked."""

_REACH = 2
"""How many rows and columns from a stone people play, unless they have a reason."""

_REASON = _THEIR[2]
"""From what worth on there is one."""

Noticing = Callable[[int, int, int], bool]
"""Whether a line is noticed: it has these stones, all of one side, and misses so many cells."""


class Glance:
    """Looks at positions of one game."""

    def __init__(self, game: Game) -> None:
        """Look at positions of `game`."""
        self.game = game
        self._slanted: dict[int, bool] = {}

    def worths(self, own: int, other: int, overlooks: float, rng: random.Random) -> dict[int, float]:
        """Return the cells that come to mind, and what each is worth to the side of `own`, which is more than 0."""
        game, empty = self.game, list(cells_of(self.game.full & ~(own | other)))
        notices = self._noticing(overlooks, rng)
        if game.misere:
            against = self._sums(own, other, notices, _OWN_LOSING, _THEIR_LOSING)
            return {cell: 1 / (1 + against.get(cell, 0)) for cell in empty}
        if not own | other:
            return {cell: (1 + len(game.lines_through[cell])) / (1 + self._from_middle[cell]) ** 3 for cell in empty}
        sums = self._sums(own, other, notices, _OWN, _THEIR)
        near = {cell for stone in cells_of(own | other) for cell in self._near(stone)}
        cells = [cell for cell in empty if cell in near or sums.get(cell, 0) >= _REASON]
        return {cell: 1 + sums.get(cell, 0) for cell in cells or empty}

    def _sums(
        self, own: int, other: int, notices: Noticing, mine: dict[int, int], theirs: dict[int, int]
    ) -> dict[int, int]:
        """Return what the lines count that have stones of one side alone, for each of their cells."""
        sums: dict[int, int] = {}
        stones = own | other
        for line in dict.fromkeys(line for stone in cells_of(stones) for line in self.game.lines_through[stone]):
            if line & own and line & other:
                continue
            gaps = line & ~stones
            missing = gaps.bit_count()
            if notices(line, line & stones, missing):
                worth = (mine if line & own else theirs).get(missing, _ANY_LINE)
                for cell in cells_of(gaps):
                    sums[cell] = sums.get(cell, 0) + worth
        return sums

    def _noticing(self, overlooks: float, rng: random.Random) -> Noticing:
        """Return which lines are noticed, this time."""
        noticed: dict[int, bool] = {}

        def notices(line: int, stones: int, missing: int) -> bool:
            if not overlooks or (missing > 1 and stones & stones - 1 == 0):
                return True
            if stones not in noticed:
                chance = overlooks * (_NEARLY_COMPLETE if missing == 1 else 1.0)
                noticed[stones] = rng.random() >= chance * (_SLANTED if self._is_slanted(line) else 1.0)
            return noticed[stones]

        return notices

    def _is_slanted(self, line: int) -> bool:
        """Tell whether a line lies neither in a row nor in a column."""
        if line not in self._slanted:
            places = [divmod(self.game.squares[cell], self.game.columns) for cell in cells_of(line)]
            self._slanted[line] = all(len({place[i] for place in places}) > 1 for i in (0, 1))
        return self._slanted[line]

    def _near(self, cell: int) -> list[int]:
        """Return the cells close to one."""
        game = self.game
        row, column = divmod(game.squares[cell], game.columns)
        rows = range(max(0, row - _REACH), min(game.rows, row + _REACH + 1))
        columns = range(max(0, column - _REACH), min(game.columns, column + _REACH + 1))
        found = (game.cells_by_square.get(down * game.columns + across) for down in rows for across in columns)
        return [each for each in found if each is not None]

    @cached_property
    def _from_middle(self) -> list[int]:
        """How far each cell is from the middle of the board, squared."""
        places = [divmod(square, self.game.columns) for square in self.game.squares]
        return [
            ((2 * row + 1 - self.game.rows) ** 2 + (2 * column + 1 - self.game.columns) ** 2) // 4
            for row, column in places
        ]
