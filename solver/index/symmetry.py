"""Symmetries: the permutations of the cells that map the set of lines onto itself.

They are discovered from the lines, not listed by hand. 4,4,4 has 32: the 8 of the square, times 4,
because swapping the inner and the outer rows together with the same columns keeps all ten lines.

A symmetry is a tuple `g`, where `g[cell]` is the image of `cell`; the image of a set is the set of the
images. A symmetry's id is its index in the group. Any subgroup is sound for everything built on it, so
a group with more than `LARGEST` symmetries is cut down to those that fix the first few cells, which
form a subgroup. The same is done if the search for them takes more than `STEPS` steps, as in games whose lines
look alike everywhere; a number of steps, unlike a time, gives the same group on every machine.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import or_

from solver.games.lines import Game

LARGEST = 512

STEPS = 400_000
"""How many cells a search may try to place: about a second's work."""

_COMPARISONS = 64
"""So many comparisons of lines count as one more step."""

Symmetry = tuple[int, ...]


def symmetries(game: Game, steps: int = STEPS) -> tuple[Symmetry, ...]:
    """Return the game's symmetries, sorted, the identity first; a subgroup if there are too many or too few steps."""
    for fixed in range(game.cells):
        search = _Automorphisms(game, fixed, steps)
        found = list(islice(search, LARGEST + 1))
        if len(found) <= LARGEST and not search.given_up:
            return tuple(sorted(found))
        steps = max(steps - search.tried, STEPS // 10)
    return (tuple(range(game.cells)),)  # with every cell fixed only the identity is left


def orbit_counts(group: Sequence[Symmetry]) -> list[int]:
    """Return, for each size, how many sets of cells there are up to symmetry.

    Burnside's lemma: the mean, over the group, of the number of sets that a symmetry maps to themselves. Such a set
    takes each cycle of the symmetry whole or not at all, so their number is a coefficient of the product of
    1 + t^length over the cycles.
    """
    cells = len(group[0])
    total = [0] * (cells + 1)
    for g in group:
        sets = [1] + [0] * cells
        for length in _cycle_lengths(g):
            sets = [count + (sets[size - length] if size >= length else 0) for size, count in enumerate(sets)]
        total = [old + new for old, new in zip(total, sets, strict=True)]
    return [count // len(group) for count in total]


def image(g: Sequence[int], cells: int) -> int:
    """Return the image of a set of cells under one symmetry, cell by cell."""
    moved = 0
    while cells:
        low = cells & -cells
        moved |= 1 << g[low.bit_length() - 1]
        cells ^= low
    return moved


def inverse(g: Sequence[int]) -> Symmetry:
    """Return the symmetry that undoes `g`."""
    back = [0] * len(g)
    for cell, moved in enumerate(g):
        back[moved] = cell
    return tuple(back)


class Images:
    """Compute images of sets under the symmetries of a group.

    A set is split into chunks of eight cells. The images of a chunk are computed when first needed, from
    those of the chunk with one cell less, and cached, so a fresh process computes only what it uses.
    """

    def __init__(self, group: Sequence[Symmetry]) -> None:
        """Compute the images of single cells under each symmetry in `group`."""
        self._known = _Chunks({0: (0,) * len(group)})
        for cell, moved in enumerate(zip(*group, strict=True)):
            self._known[1 << cell] = tuple([1 << target for target in moved])

    def of(self, cells: int) -> Sequence[int]:
        """Return the images of a set of cells under every symmetry, in the group's order."""
        chunk = cells & 0xFF
        images: Sequence[int] = self._known[chunk]
        window = 0xFF
        while cells := cells ^ chunk:
            window <<= 8
            chunk = cells & window
            images = list(map(or_, images, self._known[chunk]))
        return images

    def one(self, cells: int, symmetry_id: int) -> int:
        """Return the image of a set of cells under one symmetry."""
        moved, window = 0, 0xFF
        while cells:
            chunk = cells & window
            moved |= self._known[chunk][symmetry_id]
            cells ^= chunk
            window <<= 8
        return moved


class _Chunks(dict[int, tuple[int, ...]]):
    def __missing__(self, cells: int) -> tuple[int, ...]:
        low = cells & -cells
        found = self[cells] = tuple(map(or_, self[cells ^ low], self[low]))
        return found


def _cycle_lengths(g: Symmetry) -> Iterator[int]:
    seen: set[int] = set()
    for start in range(len(g)):
        cell, length = start, 0
        while cell not in seen:
            seen.add(cell)
            cell, length = g[cell], length + 1
        if length:
            yield length


class _Automorphisms:
    """Every permutation that keeps the set of lines and fixes the cells 0..fixed-1, found in so many steps.

    Backtracking, with three tests for each cell that is placed. The lines through the cell and those
    through its image must have the same sizes; so must the lines through each pair of it and an earlier
    cell; and the image of each line, as far as its cells are placed, must lie in a line of the same size.
    """

    def __init__(self, game: Game, fixed: int, steps: int) -> None:
        self._cells = game.cells
        self._fixed = fixed
        self._steps = steps
        self._kind = _kinds(game)
        self._parts = [_parts(game, cell) for cell in range(game.cells)]
        self._sized = [[(line, line.bit_count()) for line in through] for through in game.lines_through]
        self._g: list[int] = []
        self.tried = 0

    @property
    def given_up(self) -> bool:
        """Whether the search used up its steps, so that it may have missed some."""
        return self.tried > self._steps

    def __iter__(self) -> Iterator[Symmetry]:
        return self._extend(0, 0)

    def _extend(self, cell: int, taken: int) -> Iterator[Symmetry]:
        g, kind = self._g, self._kind
        if cell == self._cells:
            yield tuple(g)
            return
        for target in [cell] if cell < self._fixed else range(self._cells):
            if taken >> target & 1 or kind[cell][cell] != kind[target][target]:
                continue
            if any(kind[cell][other] != kind[target][g[other]] for other in range(cell)):
                continue
            self.tried += 1 + len(self._parts[cell]) * len(self._sized[target]) // _COMPARISONS
            if self.given_up:
                return
            g.append(target)
            if all(_fits(image(g, part), size, self._sized[target]) for part, size in self._parts[cell]):
                yield from self._extend(cell + 1, taken | 1 << target)
            g.pop()


def _parts(game: Game, cell: int) -> list[tuple[int, int]]:
    """Return, for each line through a cell, its cells up to this one, and its size.

    Parts of one or two cells are left out unless they are a whole line: `_kinds` covers them.
    """
    placed = (2 << cell) - 1
    parts = [(line & placed, line) for line in game.lines_through[cell]]
    return [(part, line.bit_count()) for part, line in parts if part == line or part.bit_count() > 2]


def _fits(part: int, size: int, lines: list[tuple[int, int]]) -> bool:
    """Return whether a line of this size contains the part."""
    return any(part & line == part and length == size for line, length in lines)


def _kinds(game: Game) -> list[list[int]]:
    """Return a number for each pair of cells: equal numbers mean that the lines through both have equal sizes."""
    numbers: dict[tuple[int, ...], int] = {}

    def kind(pair: int) -> int:
        sizes = tuple(sorted(line.bit_count() for line in game.lines if line & pair == pair))
        return numbers.setdefault(sizes, len(numbers))

    return [[kind(1 << a | 1 << b) for b in range(game.cells)] for a in range(game.cells)]
