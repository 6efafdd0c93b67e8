"""The pairing of the plane that stops nine in a row on any board.

Every line of the 8x8 torus, across, down and along both diagonals, has 8 cells. There are 32 such lines, and 64 cells:
just enough for each line to own two neighbouring cells. Repeat such a pairing over the plane, and any 9 cells in a row
contain the pair of their line, because a pair comes once every 8 cells and 9 cells hold all neighbours among 8.

That such a pairing exists is well known (Hales and Jewett, 1963, started it; Berlekamp, Conway and Guy show one in
Winning Ways). Here it is found by search as an exact cover, in a few milliseconds.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from solver.games.lines import Game

SIDE = 8
SHORTEST = 9
"""The pattern stops lines of so many cells in a row."""

_STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))

Pairs = tuple[tuple[int, int], ...]


@lru_cache(1)
def torus_pairs() -> Pairs:
    """Return the 32 pairs of neighbours on the torus, as squares row * 8 + column, that serve each of its lines."""
    found = _cover(_choices(), [])
    if found is None:
        raise AssertionError("the torus has a pairing")
    return tuple((first, second) for _, first, second in found)


def pattern_pairings(game: Game, free: int) -> Iterator[Pairs]:
    """Yield the pairs of empty cells of the pattern, laid on the board in each of 64 positions."""
    mates = {first: (_towards(first, second), second) for first, second in torus_pairs()}
    for down, right in product(range(SIDE), repeat=2):
        yield tuple(_laid(game, free, mates, down, right))


def _laid(
    game: Game, free: int, mates: dict[int, tuple[tuple[int, int], int]], down: int, right: int
) -> Iterator[tuple[int, int]]:
    for cell, square in enumerate(game.squares):
        row, column = divmod(square, game.columns)
        mate = mates.get((row + down) % SIDE * SIDE + (column + right) % SIDE)
        if mate and free >> cell & 1:
            row, column = row + mate[0][0], column + mate[0][1]
            if 0 <= row < game.rows and 0 <= column < game.columns:
                other = game.cells_by_square.get(row * game.columns + column)
                if other is not None and free >> other & 1:
                    yield cell, other


def _towards(first: int, second: int) -> tuple[int, int]:
    """Return the step that leads from a square of the torus to its neighbour."""
    return next(step for step in _STEPS if _stepped(first, step) == second)


def _stepped(square: int, step: tuple[int, int]) -> int:
    row, column = divmod(square, SIDE)
    return (row + step[0]) % SIDE * SIDE + (column + step[1]) % SIDE


def _choices() -> list[tuple[int, int, int]]:
    """Return every pair of neighbours on the torus: its line, and both squares."""
    choices = []
    for direction, step in enumerate(_STEPS):
        for square in range(SIDE * SIDE):
            row, column = divmod(square, SIDE)
            line = (row, column, column - row, column + row)[direction] % SIDE
            choices.append((direction * SIDE + line, square, _stepped(square, step)))
    return choices


def _cover(
    choices: list[tuple[int, int, int]], chosen: list[tuple[int, int, int]]
) -> list[tuple[int, int, int]] | None:
    """Return choices, added to those chosen, that give each line a pair and use every square once; None if none do.

    The line or square with the fewest choices left goes first.
    """
    if len(chosen) == len(_STEPS) * SIDE:
        return chosen
    needs: dict[tuple[bool, int], list[tuple[int, int, int]]] = {}
    for choice in choices:
        for need in ((True, choice[0]), (False, choice[1]), (False, choice[2])):
            needs.setdefault(need, []).append(choice)
    if len(needs) < (len(_STEPS) * SIDE - len(chosen)) * 3:
        return None
    for line, first, second in min(needs.values(), key=len):
        used = {first, second}
        left = [choice for choice in choices if choice[0] != line and not used & {choice[1], choice[2]}]
        if found := _cover(left, [*chosen, (line, first, second)]):
            return found
    return None
