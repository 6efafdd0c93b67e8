"""Games of lines of all kinds, for tests of what has to hold in each."""

import random
from functools import cache

from solver.games.files import named_game
from solver.games.lines import Game, grid


def torus(rows: int, columns: int, k: int) -> Game:
    """k in a row on a board whose edges meet."""
    lines = {
        sum(1 << (row + i * down) % rows * columns + (column + i * right) % columns for i in range(k))
        for row in range(rows)
        for column in range(columns)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    }
    return Game(f"torus {rows},{columns},{k}", rows, columns, tuple(sorted(lines)))


def scattered(rows: int, columns: int, size: int, number: int, seed: int) -> Game:
    """Lines that are any cells, of two sizes."""
    rng = random.Random(seed)
    cells = range(rows * columns)
    lines = {sum(1 << cell for cell in rng.sample(cells, size + i % 2)) for i in range(number)}
    return Game(f"scattered {seed}", rows, columns, tuple(sorted(lines)))


@cache
def small() -> tuple[Game, ...]:
    """Games that minimax can solve, or nearly."""
    return (
        grid(3, 3, 3), grid(3, 3, 3, misere=True), grid(3, 4, 3), grid(2, 5, 3), torus(3, 3, 3),
        scattered(3, 3, 3, 9, 1), scattered(2, 5, 2, 8, 2), scattered(3, 4, 3, 12, 3),
    )  # fmt: skip


@cache
def large() -> tuple[Game, ...]:
    """Games that nobody solves."""
    return (
        grid(7, 7, 3), grid(7, 7, 4), grid(9, 9, 5), grid(15, 15, 5), grid(8, 9, 6), grid(6, 6, 4, misere=True),
        grid(5, 7, 3, misere=True), torus(7, 7, 4), torus(6, 8, 5), scattered(6, 6, 4, 60, 4),
        scattered(20, 20, 5, 400, 5), named_game("cube3"), named_game("projective3"),
    )  # fmt: skip


def random_position(game: Game, rng: random.Random, moves: int) -> tuple[int, int]:
    """The cells of X and O after some random moves, none of which ends the game."""
    x = o = 0
    for _ in range(moves):
        free = [cell for cell in range(game.cells) if not (x | o) >> cell & 1]
        rng.shuffle(free)
        for cell in free:
            if not game.after(x, o, cell)[2]:
                x, o, _ = game.after(x, o, cell)
                break
        else:
            return x, o
    return x, o
