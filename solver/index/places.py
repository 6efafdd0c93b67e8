"""The index: every position has a place, and no key is stored for it.

A position is found in three steps.

1. The **half**: take the images of X's cells under the game's symmetries, and keep the smallest (as
   a number) and a symmetry g that gives it. The position now means the same as (half, g(O)).
2. The **page**: all positions with this half and as many O's. X moves first, so the number of empty
   cells says how many X's and O's there are: pages are named by (empty cells, half).
3. The **place**: number the cells outside the half 0, 1, 2, ... in order. O's cells are then
   numbers b_0 < b_1 < ..., and the place is C(b_0, 1) + C(b_1, 2) + C(b_2, 3) + ..., the
   colexicographic rank: 0 for the first sets in a row, C(m, o) - 1 for the last.

    X..X        half 0b1001, the cells outside numbered    .01.
    .O..                                                   2345
    ....        O on 3 of 0..13: place C(3, 1) = 3         6789  and so on

Among sets of the same size, colexicographic order is the order of the masks as numbers, so a page
is read and filled by counting upwards.

A half that a symmetry maps to itself holds some positions at more than one place; all copies have
the same score. A half that contains a line has no pages: the game is over, and the rules say how.
Pages also hold places that no game reaches (O has two lines that no single move completes, or O has
a line and yet X moved last); they are marked UNREACHED, and no count includes them.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from typing import NamedTuple

from solver.games.lines import Game
from solver.index.symmetry import Images, Symmetry

UNREACHED = -128
"""What stands at a place that no game reaches."""

_KEPT = 1 << 16
"""How many results of a step an index keeps: whoever asks for a position soon asks for those beside it."""


class Place(NamedTuple):
    """Where a position stands, and how the board was turned to find it."""

    empty: int
    half: int
    place: int
    symmetry: Symmetry


class Index:
    """Positions to places and back, for one game under one group of its symmetries."""

    def __init__(self, game: Game, group: Sequence[Symmetry]) -> None:
        """Index `game` under `group`, which any subgroup of its symmetries may be."""
        self.game = game
        self.group = tuple(group)
        self.images = Images(self.group)
        self.turns = _Turns(self.images)

    def locate(self, x: int, o: int) -> Place:
        """The place of the position with these cells of X and of O."""
        half, ways = self.turns[x]
        empty = self.game.cells - x.bit_count() - o.bit_count()
        return Place(empty, half, rank(half, self.images.one(o, ways[0])), self.group[ways[0]])

    def position(self, empty: int, half: int, place: int) -> tuple[int, int]:
        """X's cells and O's cells at a place: the inverse of `locate` up to symmetry."""
        return half, unrank(half, self.game.cells, os_when(self.game, empty), place)

    def canonical(self, x: int, o: int) -> tuple[int, int, Symmetry]:
        """The smallest image of a position, X's cells first, and a symmetry that gives it."""
        half, ways = self.turns[x]
        os, which = min([(self.images.one(o, which), which) for which in ways])
        return half, os, self.group[which]


class _Turns(dict[int, tuple[int, tuple[int, ...]]]):
    """For each set of X's cells its half, and the numbers of the symmetries that turn it into that."""

    def __init__(self, images: Images) -> None:
        super().__init__()
        self._images = images

    def __missing__(self, x: int) -> tuple[int, tuple[int, ...]]:
        images = self._images.of(x)
        half = min(images)
        if len(self) >= _KEPT:
            self.clear()
        found = self[x] = half, tuple([which for which, moved in enumerate(images) if moved == half])
        return found


def rank(half: int, os: int) -> int:
    """The place of O's cells in the page of a half."""
    place = free = taken = 0
    while os:
        more, free, taken = _past_eight(half & 0xFF, os & 0xFF, free, taken)
        place += more
        half >>= 8
        os >>= 8
    return place


@lru_cache(_KEPT)
def _past_eight(half: int, os: int, free: int, taken: int) -> tuple[int, int, int]:
    """What the O's in eight cells add to the rank, and how many free cells and O's are passed after them."""
    place = 0
    for cell in range(8):
        if os >> cell & 1:
            taken += 1
            place += comb(free, taken)
        free += not half >> cell & 1
    return place, free, taken


def unrank(half: int, cells: int, count: int, place: int) -> int:
    """O's cells, `count` of them, at a place in the page of a half: the inverse of `rank`."""
    free = [cell for cell in range(cells) if not half >> cell & 1]
    os, b = 0, len(free)
    for i in range(count, 0, -1):
        b -= 1
        while comb(b, i) > place:
            b -= 1
        place -= comb(b, i)
        os |= 1 << free[b]
    return os


def xs_when(game: Game, empty: int) -> int:
    """How many X's there are when so many cells are empty."""
    return (game.cells - empty + 1) // 2


def os_when(game: Game, empty: int) -> int:
    """How many O's there are when so many cells are empty."""
    return (game.cells - empty) // 2


def page_size(game: Game, empty: int) -> int:
    """How many places a page has when so many cells are empty."""
    return comb(game.cells - xs_when(game, empty), os_when(game, empty))
