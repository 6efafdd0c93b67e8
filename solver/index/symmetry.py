"""Symmetries: the permutations of the cells that map the set of lines onto itself.

They are discovered from the lines and never listed by hand. 4,4,4 has 32: the square's 8, times 4
because swapping the inner and the outer rows together with the same columns keeps all ten lines.

A symmetry is a tuple `g` with `g[cell]` the image of `cell`; the image of a set is the set of the
images. Any subgroup is sound for everything built on it, so a group of more than `LARGEST` is cut
down to the symmetries that leave some of its cells in place, which are a subgroup.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import or_

from solver.games.lines import Game

LARGEST = 512

Symmetry = tuple[int, ...]


def symmetries(game: Game) -> tuple[Symmetry, ...]:
    """The game's symmetries, sorted, the identity first; a subgroup if they are more than LARGEST."""
    for held in range(game.cells + 1):
        found = list(islice(_automorphisms(game, held), LARGEST + 1))
        if len(found) <= LARGEST:
            return tuple(sorted(found))
    raise AssertionError("holding every cell leaves the identity alone")


def image(g: Sequence[int], cells: int) -> int:
    """The image of a set of cells under one symmetry, cell by cell."""
    moved = 0
    while cells:
        low = cells & -cells
        moved |= 1 << g[low.bit_length() - 1]
        cells ^= low
    return moved


def inverse(g: Sequence[int]) -> Symmetry:
    """The symmetry that undoes `g`."""
    back = [0] * len(g)
    for cell, moved in enumerate(g):
        back[moved] = cell
    return tuple(back)


class Images:
    """The images of a set under every symmetry of a group.

    A set is taken in chunks of eight cells. Each chunk's images are computed when first met, from
    those of a set with one cell less, and kept, so a fresh process pays only for what it asks.
    """

    def __init__(self, group: Sequence[Symmetry]) -> None:
        """Prepare the images of single cells under each symmetry in `group`."""
        self._known = _Chunks({0: (0,) * len(group)})
        for cell, moved in enumerate(zip(*group, strict=True)):
            self._known[1 << cell] = tuple([1 << target for target in moved])

    def of(self, cells: int) -> Sequence[int]:
        """The images of a set of cells, in the group's order."""
        chunk = cells & 0xFF
        images: Sequence[int] = self._known[chunk]
        window = 0xFF
        while cells := cells ^ chunk:
            window <<= 8
            chunk = cells & window
            images = list(map(or_, images, self._known[chunk]))
        return images

    def one(self, cells: int, which: int) -> int:
        """The image of a set of cells under the symmetry of that number."""
        moved, window = 0, 0xFF
        while cells:
            chunk = cells & window
            moved |= self._known[chunk][which]
            cells ^= chunk
            window <<= 8
        return moved


class _Chunks(dict[int, tuple[int, ...]]):
    def __missing__(self, cells: int) -> tuple[int, ...]:
        low = cells & -cells
        found = self[cells] = tuple(map(or_, self[cells ^ low], self[low]))
        return found


def _automorphisms(game: Game, held: int) -> Iterator[Symmetry]:
    """Every permutation that keeps the set of lines and leaves cells 0..held-1 in place.

    A cell may only go where the lines through it have the same sizes, and a pair of cells only where the
    lines through both have; and what is placed of a line must lie in one of that size, or be it.
    """
    cells = game.cells
    kind = _kinds(game)
    parts = [_parts(game, cell) for cell in range(cells)]
    sized = [[(line, line.bit_count()) for line in through] for through in game.lines_through]
    g: list[int] = []

    def place(cell: int, taken: int) -> Iterator[Symmetry]:
        if cell == cells:
            yield tuple(g)
            return
        for target in [cell] if cell < held else range(cells):
            if taken >> target & 1 or kind[cell][cell] != kind[target][target]:
                continue
            if any(kind[cell][other] != kind[target][g[other]] for other in range(cell)):
                continue
            g.append(target)
            if all(_fits(image(g, part), size, sized[target]) for part, size in parts[cell]):
                yield from place(cell + 1, taken | 1 << target)
            g.pop()

    return place(0, 0)


def _parts(game: Game, cell: int) -> list[tuple[int, int]]:
    """What is placed of each line with a cell, if it is more than a pair, or all; and the size of the line."""
    placed = (2 << cell) - 1
    parts = [(line & placed, line) for line in game.lines_through[cell]]
    return [(part, line.bit_count()) for part, line in parts if part == line or part.bit_count() > 2]


def _fits(part: int, size: int, lines: list[tuple[int, int]]) -> bool:
    """Whether one of the lines, of that size, contains the part."""
    return any(part & line == part and length == size for line, length in lines)


def _kinds(game: Game) -> list[list[int]]:
    """For each pair of cells a number: the same wherever the lines through both have the same sizes."""
    numbers: dict[tuple[int, ...], int] = {}

    def kind(pair: int) -> int:
        sizes = tuple(sorted(line.bit_count() for line in game.lines if line & pair == pair))
        return numbers.setdefault(sizes, len(numbers))

    return [[kind(1 << a | 1 << b) for b in range(game.cells)] for a in range(game.cells)]
