"""Positions to ask a player about: so many drawn at random, or every image of those that stand for all."""

from collections.abc import Callable, Iterator, Sequence
from math import comb

import numpy as np

from solver.arrays.kernels import ABSENT, FULL, LINE, KernelLines, expand, is_key, sides
from solver.arrays.positions import Positions
from solver.games.lines import Game

_AT_ONCE = 1 << 17
_ROUNDS = 30


def drawn(game: Game, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells of `count` random positions that are not over, each as likely as every other.

    Where such positions are so rare that few are found in a few seconds, there are fewer, but at least the empty board.
    """
    rng = np.random.default_rng(seed)
    ways = np.array([comb(game.cells, stones) * comb(stones, stones // 2) for stones in range(game.cells)], np.float64)
    found, total = list[tuple[np.ndarray, np.ndarray]](), 0
    for _ in range(_ROUNDS):
        x, o = _thrown(game, rng.choice(len(ways), _AT_ONCE, p=ways / ways.sum()), rng)
        over = np.zeros(_AT_ONCE, np.bool_)
        for line in game.lines:
            over |= (x & line == line) | (o & line == line)
        found.append((x[~over], o[~over]))
        total += len(found[-1][0])
        if total >= count:
            break
    else:
        if not total:
            return np.zeros(1, np.int64), np.zeros(1, np.int64)
    x, o = (np.concatenate(cells)[:count] for cells in zip(*found, strict=True))
    return x, o


def some_of(positions: Positions, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same where all positions are known: random images of random rows."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(positions), count, p=positions.orbit / positions.orbit.sum())
    g = np.array(positions.group)[rng.integers(0, len(positions.group), count)]
    return image_of(positions.x[rows], g), image_of(positions.o[rows], g)


def _thrown(game: Game, stones: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return boards with so many stones each, on random cells."""
    order = rng.random((len(stones), game.cells)).argsort(axis=1).argsort(axis=1)
    x_count, bits = ((stones + 1) // 2)[:, None], 1 << np.arange(game.cells)
    x: np.ndarray = ((order < x_count) * bits).sum(axis=1)
    o: np.ndarray = (((order >= x_count) & (order < stones[:, None])) * bits).sum(axis=1)
    return x, o


def images(positions: Positions) -> Iterator[tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]]:
    """Yield every position that is not over, in parts: how far it is, x, o, the scores of moves, and weights.

    A position with a symmetry of its own comes several times, and its weights add up to one.
    """
    order = len(positions.group)
    for number, g in enumerate(positions.group):
        back = np.argsort(g)
        for start in range(0, len(positions), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            x, o = (image_of(cells[rows], g) for cells in (positions.x, positions.o))
            done = (number + start / len(positions)) / order
            yield done, (x, o, positions.scores[rows][:, back], positions.orbit[rows] / order)


def move_scores(
    game: KernelLines, x: np.ndarray, o: np.ndarray, scores: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the score of each move for the side that makes it, where `scores` gives those of positions."""
    keys = np.empty((len(x), game.cells), np.int64)
    expand(game.cells, game.through, game.images, x, o, np.ones(keys.shape, np.bool_), keys)
    found = np.full(keys.shape, ABSENT, np.int8)
    found[keys == FULL] = 0
    won = game.cells - np.bitwise_count(x | o).astype(np.int64)
    completes = keys == LINE
    found[completes] = np.broadcast_to((-won if game.misere else won)[:, None], keys.shape)[completes]
    on = is_key(keys)
    found[on] = -scores(*sides(keys[on], game.cells))
    return found


def image_of(cells: np.ndarray, g: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the images of sets of cells: under one symmetry, or each under its own row of `g`."""
    g = np.asarray(g)
    image: np.ndarray = ((cells[:, None] >> np.arange(g.shape[-1]) & 1) << g).sum(axis=1)
    return image
