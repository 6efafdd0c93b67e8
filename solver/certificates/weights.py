"""Draws by weights: a sum over lines, below one, that shows that a side can never complete any of them.

Erdős and Selfridge (On a combinatorial game, 1973): give each line that a side can still complete the weight 2^-n, n
being its number of empty cells. A completed line has weight 1. Let the other side always claim the cell whose lines
weigh most. That takes their weight off the sum. The first side's next move then doubles the weight of the lines through
its cell, which adds no more than was taken off. So with the other side to move, a sum below 1 stays below 1 for good,
and no line is ever completed. With the side itself to move, the sum must still be below 1 after its next move: the sum
and the largest weight of a cell together are below 1. (A sum below 1/2 is enough for that, as the theorem often says.)

Weights are kept as integers: everything is multiplied by 2^scale, scale being the largest n.

In misère play this says nothing, as with pairings (solver/certificates/pairing.py).
"""

from collections.abc import Sequence
from typing import NamedTuple

from solver.games.board import cells_of


class Weights(NamedTuple):
    """A sum of weights, and what the side can add with its next move, each in units of 2^-scale."""

    total: int
    added: int
    scale: int

    @property
    def hold(self) -> bool:
        """Whether the sum shows that no line is ever completed."""
        return self.total + self.added < 1 << self.scale


NOTHING = Weights(0, 0, 0)
"""The sum of no lines."""


def weigh(lines: Sequence[int], free: int, *, to_move: bool) -> Weights:
    """Return the sum for lines that a side can still complete; `to_move` tells whether it is that side's turn."""
    empties = [(line & free).bit_count() for line in lines]
    scale = max(empties, default=0)
    weights = [1 << scale - count for count in empties]
    added = max(cell_weights(lines, free, weights).values(), default=0) if to_move else 0
    return Weights(sum(weights), added, scale)


def cell_weights(lines: Sequence[int], free: int, weights: Sequence[int]) -> dict[int, int]:
    """Return, for each empty cell of a line, what the lines through it weigh together."""
    by_cell: dict[int, int] = {}
    for line, weight in zip(lines, weights, strict=True):
        for cell in cells_of(line & free):
            by_cell[cell] = by_cell.get(cell, 0) + weight
    return by_cell
