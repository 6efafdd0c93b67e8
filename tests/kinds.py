"""Games for tests of what has to hold in each: small ones of every kind beside naive twins, and any sort of lines."""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import Any

import naive
from places import position_at

from solver.games.board import cells_of
from solver.games.files import named_game
from solver.games.lines import Game, grid
from solver.games.notation import parse_game


@dataclass(frozen=True)
class Twin:
    """A small game of some kind, and what is true of it by naive means. Boards are strings."""

    name: str
    empty: str
    group: list[naive.Permutation]
    """Its symmetries."""
    moves: Callable[[str], dict[int, str]]
    """The board after each move; nothing if the game is over."""
    score: Callable[[str], int]
    """Minimax, for the side to move."""
    masks: Callable[[str], tuple[int, int]]
    board_at: Callable[[int, int, int], str]
    """The board whose score stands at a place, given the empty cells, the page and the place."""
    patches: Mapping[str, Any]
    """What to patch for a board of this size to have a store of this kind, with several tasks a layer."""

    def __str__(self) -> str:
        return f"book of {self.name}" if "solver.duel.index.WHOLE_CELLS" in self.patches else self.name

    @property
    def plies(self) -> list[set[str]]:
        """All boards that a game reaches, move after move."""
        return _plies(self)

    @property
    def reachable(self) -> set[str]:
        return set().union(*self.plies)

    @property
    def open(self) -> list[str]:
        """Those that do not end it."""
        return sorted(board for board in self.reachable if self.moves(board))

    def move_scores(self, board: str) -> list[tuple[int, int]]:
        """Each move in the order of the cells, with its score for the side that makes it."""
        return [(cell, -self.score(after)) for cell, after in self.moves(board).items()]

    def __hash__(self) -> int:
        return hash(str(self))


@cache
def _plies(twin: Twin) -> list[set[str]]:
    found = [{twin.empty}]
    while now := {after for board in found[-1] for after in twin.moves(board).values()}:
        found.append(now)
    return found


def lines_twin(name: str, **patches: Any) -> Twin:
    """A game of lines of at most nine cells."""
    rules, game = naive.Game.named(name), parse_game(name)

    def moves(board: str) -> dict[int, str]:
        free = [] if naive.over(rules, board) else [cell for cell, mark in enumerate(board) if mark == "."]
        return {cell: naive.claim(board, cell) for cell in free}

    def board_at(empty: int, half: int, place: int) -> str:
        return naive.board(rules, *position_at(game, empty, half, place))  # type: ignore[arg-type]

    group = sorted(naive.line_symmetries(rules))
    return Twin(name, rules.empty, group, moves, partial(naive.score, rules), naive.masks, board_at, patches)


def wide_twin(name: str) -> Twin:
    """A game of lines on a wide board, which is played and never solved."""
    rules = naive.Game.named(name)

    def moves(board: str) -> dict[int, str]:
        free = [] if naive.over(rules, board) else [cell for cell, mark in enumerate(board) if mark == "."]
        return {cell: naive.claim(board, cell) for cell in free}

    def board_at(empty: int, number: int, place: int) -> str:
        raise AssertionError("a wide board has no store")

    return Twin(name, rules.empty, [], moves, partial(naive.score, rules), naive.masks, board_at, {})


def duel_twin(name: str, **patches: Any) -> Twin:
    duel = naive.Duel.named(name)

    def moves(board: str) -> dict[int, str]:
        side = naive.turn(board)
        return {cell: naive.placed(duel, board, cell, side) for cell in naive.placings(duel, board, side)}

    def score(board: str) -> int:
        return naive.margin(duel, board, naive.turn(board))

    def board_at(empty: int, number: int, place: int) -> str:
        """The page's number is the rank of a set of cells among those of its size, in the order of their numbers."""
        tiles = duel.cells - empty
        cells = sorted(combinations(range(duel.cells), tiles), key=lambda some: some[::-1])[number]
        mover = "RG"[tiles % 2]
        board = ["."] * duel.cells
        for at, cell in enumerate(cells):
            board[cell] = mover if place >> at & 1 else naive.rival(mover)
        return "".join(board)

    group = naive.geometric(naive.Game(duel.rows, duel.columns, 1))
    return Twin(name, duel.empty, group, moves, score, naive.tiles, board_at, patches)


BOOK_GAME = "duel,1,7"
BOOK: dict[str, Any] = {
    "solver.duel.index.WHOLE_CELLS": 5, "solver.duel.book._SETS_A_TASK": 3, "solver.duel.book._TABLE_BITS": 12,
    "solver.store.digests._digests": dict,
}  # fmt: skip
"""What to patch for a game of so few cells to have a book."""


@cache
def twins() -> tuple[Twin, ...]:
    """Some of every kind. A book is a kind of store of its own, which small boards have only if they are told to."""
    tasks = {"solver.proof.prove._LEAST_CHECKED_PLACES": 8, "solver.duel.sweep._CHUNK_PLACES": 32}
    return (
        lines_twin("2,3,2", **tasks), lines_twin("1,7,3,misere"),
        duel_twin("duel,2,3", **tasks), duel_twin("duel,1,5"),
        duel_twin(BOOK_GAME, **BOOK),
    )  # fmt: skip


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


def naive_of(game: Game) -> naive.Game:
    """The naive twin of any game of lines, as a single row."""
    return naive.Game(1, game.cells, 0, game.misere, frozenset(tuple(cells_of(line)) for line in game.lines))


def random_lines(rng: random.Random) -> Game:
    """A game of a few random lines, none of which holds another."""
    cells = rng.randint(5, 8)
    drawn = {frozenset(rng.sample(range(cells), rng.randint(2, 4))) for _ in range(rng.randint(2, 9))}
    lines = {line for line in drawn if not any(other < line for other in drawn)}
    return Game("random", 1, cells, tuple(sorted(sum(1 << cell for cell in line) for line in lines)))


def completes_alone(lines: Iterable[int], maker: int, free: int, *, to_move: bool) -> bool:
    """Whether a side can complete a line against one that only defends, by trying everything."""
    if any(not line & ~maker for line in lines):
        return True
    live = [line for line in lines if not line & ~(maker | free)]
    cells = [1 << cell for cell in cells_of(free)] if live else []
    if to_move:
        return any(completes_alone(live, maker | cell, free ^ cell, to_move=False) for cell in cells)
    return bool(cells) and all(completes_alone(live, maker, free ^ cell, to_move=True) for cell in cells)
