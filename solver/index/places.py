"""The index: where each position's score is stored. No keys are stored.

Our own words, as every file in this project uses them:

- **half**: X's cells in canonical form, which is the smallest image of the set (as a number) under
  the game's symmetries.
- **page**: the scores of all positions with the same half and the same number of O's. X moves first,
  so the number of empty cells determines both counts, and (empty, half) names a page.
- **place**: the position's number within its page.
- **layer**: all halves with the same number of X's.
- A half is **finished** if it contains a line, so that X has won (or, in misère play, lost); else it
  is **open**.

To find a position:

1. Find its half, and a symmetry g that maps X's cells to it. The position is equivalent to (half, g(O)).
2. Count the empty cells. This gives the page.
3. Number the cells outside the half 0, 1, 2, ... in order. If O's cells have the numbers
   b_0 < b_1 < ..., the place is C(b_0, 1) + C(b_1, 2) + C(b_2, 3) + ..., their colexicographic
   rank. Ranks run from 0 to C(m, o) - 1 for o O's on m cells.

    X..X        half 0b1001; the cells outside it are numbered    .01.
    .O..                                                          2345
    ....        O is on number 3 of 0..13: place C(3, 1) = 3      6789  and so on

Colexicographic order of sets of the same size is the order of their masks as numbers, so a program
can walk a page by counting upwards.

If a symmetry maps a half to itself, its pages contain some positions at more than one place. All
these copies have the same score. Finished halves have no stored pages: the rules give the result.
Pages also have places for positions that no game reaches (O has two lines that no single move can
complete, or O has a line and X moved last). Those hold UNREACHED and are not counted.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from typing import NewType, Protocol

from solver.games.lines import Game
from solver.index.symmetry import Images, Symmetry

Half = NewType("Half", int)
"""X's cells in canonical form, as a bit mask."""

Place = NewType("Place", int)
"""A position's number within its page. Not a mask of O's cells: `rank` makes one from the other."""

Score = NewType("Score", int)
"""A score for the side to move: positive for a win, negative for a loss, 0 for a draw; or UNREACHED."""


class Page(Protocol):
    """The scores of a page, in memory: a memoryview of signed bytes that only a place can index."""

    def __getitem__(self, place: Place, /) -> Score:
        """Return the score at a place."""

    def __len__(self) -> int: ...


UNREACHED = -128
"""The value at a place that no game reaches."""

_KEPT = 1 << 16
"""How many results each cache of the index holds: queries tend to ask for related positions."""


class Index:
    """Find the place of any position of one game, under one group of its symmetries."""

    def __init__(self, game: Game, group: Sequence[Symmetry]) -> None:
        """Index `game` under `group`, which may be any subgroup of its symmetries."""
        self.game = game
        self.group: tuple[Symmetry, ...] = tuple(group)
        images = Images(self.group)
        self._halves = _Halves(images)
        self._image = images.one

    def locate(self, x: int, o: int) -> tuple[Half, int, int]:
        """Return the half for X's cells, O's cells under the same symmetry, and that symmetry's id.

        The id is an index into `group`. `rank(half, o_mask)` is the position's place.
        """
        half, symmetry_ids = self._halves[x]
        symmetry_id = symmetry_ids[0]
        return half, self._image(o, symmetry_id), symmetry_id

    def canonical(self, x: int, o: int) -> tuple[Half, int, Symmetry]:
        """Return the smallest image of a position, comparing X's cells first, and a symmetry that gives it."""
        half, symmetry_ids = self._halves[x]
        image = self._image
        o_mask, symmetry_id = min([(image(o, symmetry_id), symmetry_id) for symmetry_id in symmetry_ids])
        return half, o_mask, self.group[symmetry_id]


class _Halves(dict[int, tuple[Half, tuple[int, ...]]]):
    """The half for each set of X's cells, with the ids of all symmetries that map the set to it."""

    def __init__(self, images: Images) -> None:
        super().__init__()
        self._images = images

    def __missing__(self, x: int) -> tuple[Half, tuple[int, ...]]:
        images = self._images.of(x)
        half = min(images)
        if len(self) >= _KEPT:
            self.clear()
        symmetry_ids = tuple([symmetry_id for symmetry_id, moved in enumerate(images) if moved == half])
        found = self[x] = Half(half), symmetry_ids
        return found


def rank(half: Half, o_mask: int) -> Place:
    """Return the place of O's cells in a page of the half."""
    x_mask: int = half
    place = free = taken = 0
    while o_mask:
        more, free, taken = _rank_byte(x_mask & 0xFF, o_mask & 0xFF, free, taken)
        place += more
        x_mask >>= 8
        o_mask >>= 8
    return place  # type: ignore[return-value]  # calling Place would cost a tenth of this function


@lru_cache(_KEPT)
def _rank_byte(x_mask: int, o_mask: int, free: int, taken: int) -> tuple[int, int, int]:
    """Return what the O's on eight cells add to the rank, and the counts of free cells and of O's so far."""
    place = 0
    for cell in range(8):
        if o_mask >> cell & 1:
            taken += 1
            place += comb(free, taken)
        free += not x_mask >> cell & 1
    return place, free, taken


def unrank(half: Half, cells: int, o_count: int, place: Place) -> int:
    """Return O's cells at a place, given their number: the inverse of `rank`."""
    free = [cell for cell in range(cells) if not half >> cell & 1]
    o_mask, rest, b = 0, int(place), len(free)
    for i in range(o_count, 0, -1):
        b -= 1
        while comb(b, i) > rest:
            b -= 1
        rest -= comb(b, i)
        o_mask |= 1 << free[b]
    return o_mask


def x_count_when(game: Game, empty: int) -> int:
    """Return the number of X's when this many cells are empty."""
    return (game.cells - empty + 1) // 2


def o_count_when(game: Game, empty: int) -> int:
    """Return the number of O's when this many cells are empty."""
    return (game.cells - empty) // 2


def page_size(game: Game, empty: int) -> int:
    """Return the number of places in a page when this many cells are empty."""
    return comb(game.cells - x_count_when(game, empty), o_count_when(game, empty))
