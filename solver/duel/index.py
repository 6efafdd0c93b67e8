"""The index of the duel: where each score is stored. Its own words, beside those of solver/index/places.py:

- The **filled set** of a position is the set of its tiles' cells, of either side, in canonical form: the smallest
  image, as a number, under the board's symmetries. Colours are not in it.
- A **layer** is all filled sets with the same number of tiles.
- A position's **place** says which tiles are the mover's: number the cells of the filled set 0, 1, 2, ... in order, and
  read the mover's as a binary number. So a filled set of k cells has 2^k places, one for each way to colour it.
- A **page** is 2^13 consecutive places of a filled set, or all of them if there are fewer: to read one score, no more
  has to be unpacked. Its number is the filled set's, times the number of pages that each has, plus its own. The number
  of a filled set with cells c_0 < c_1 < ... is C(c_0, 1) + C(c_1, 2) + ..., its colexicographic rank.

Whose turn it is follows from the number of tiles, so it need not be told which colour is the mover's. Full boards have
no page: the rules count them. If a symmetry maps a filled set to itself, some positions have more than one place, and
all copies have the same score. Of all places only a few in a hundred are reached by play; the others hold UNREACHED.

On boards of more than WHOLE_CELLS cells a store is a **book**: it has only the layers of up to BOOK_TILES tiles, and no
page without a position that play reaches.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb

from solver.games.board import cells_of
from solver.games.duel import Duel
from solver.index.symmetry import Images, Symmetry

PAGE_BITS = 13
"""A page has at most 2^13 places."""

WHOLE_CELLS = 20
"""The largest board of which every position is stored."""

BOOK_TILES = 5
"""How many tiles the fullest boards in a book have."""

_KEPT = 1 << 16


class DuelIndex:
    """Find the place of any position of the duel on one board."""

    def __init__(self, game: Duel, group: Sequence[Symmetry]) -> None:
        """Index `game` under `group`, which may be any subgroup of its symmetries."""
        self.game = game
        self._group = tuple(group)
        self._images = Images(self._group)
        self._filled = lru_cache(_KEPT)(self._find_filled)

    @property
    def group(self) -> tuple[Symmetry, ...]:
        """The symmetries under which positions count as equal."""
        return self._group

    def locate(self, filled: int, own: int) -> tuple[int, int]:
        """Return the number of the page and the place in it, given the filled cells and which are the mover's."""
        canonical, symmetry_ids, first_page = self._filled(filled)
        place = rank(canonical, self._images.one(own, symmetry_ids[0]))
        return first_page + (place >> PAGE_BITS), place & (1 << PAGE_BITS) - 1

    def canonical(self, x: int, o: int) -> tuple[int, int, Symmetry]:
        """Return the smallest image of a position, comparing filled cells first, and a symmetry that gives it."""
        canonical, symmetry_ids, _ = self._filled(x | o)
        one = self._images.one
        red, symmetry_id = min([(one(x, symmetry_id), symmetry_id) for symmetry_id in symmetry_ids])
        return red, canonical & ~red, self._group[symmetry_id]

    def copies(self, filled: int, own: int) -> list[int]:
        """Return the place that each symmetry which keeps a canonical filled set gives to the mover's tiles."""
        return [rank(filled, self._images.one(own, symmetry_id)) for symmetry_id in self._filled(filled)[1]]

    def _find_filled(self, filled: int) -> tuple[int, tuple[int, ...], int]:
        """Return the canonical form of a set of cells, the ids of all symmetries that give it, and its first page."""
        images = self._images.of(filled)
        smallest = min(images)
        symmetry_ids = tuple([number for number, image in enumerate(images) if image == smallest])
        return smallest, symmetry_ids, first_page(smallest)


def last_layer(game: Duel) -> int:
    """Return how many tiles the fullest boards have that a store knows of; those of a full board are not in it."""
    return game.cells if game.cells <= WHOLE_CELLS else BOOK_TILES


def page_size(game: Duel, empty: int) -> int:
    """Return the number of places in a page when so many cells are empty; 0 where there are no pages."""
    tiles = game.cells - empty
    return 1 << min(tiles, PAGE_BITS) if empty and 0 <= tiles <= last_layer(game) else 0


def first_page(filled: int) -> int:
    """Return the number of the first page of a filled set in canonical form."""
    number = sum(comb(cell, i) for i, cell in enumerate(cells_of(filled), 1))
    return number << max(0, filled.bit_count() - PAGE_BITS)


def rank(filled: int, own: int) -> int:
    """Return the place of the mover's tiles among all tiles of a filled set."""
    place = 0
    while own:
        low = own & -own
        place |= 1 << (filled & low - 1).bit_count()
        own ^= low
    return place


def unrank(filled: int, place: int) -> int:
    """Return the mover's tiles at a place: the inverse of `rank`."""
    return sum(1 << cell for number, cell in enumerate(cells_of(filled)) if place >> number & 1)
