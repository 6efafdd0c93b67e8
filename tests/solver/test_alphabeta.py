"""Alpha-beta: exact scores, sound bounds, and shortcuts that change nothing but the effort."""

import random
from functools import cache
from typing import Any

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.games.notation import parse_game
from solver.games.position import Position
from solver.index.symmetry import image, symmetries
from solver.search.alphabeta import _WORD_BITS, AlphaBeta, _key, search
from solver.search.live import Search

WINDOWED = ["4,4,4", "4,4,4,misere", "4,4,3", "4,4,3,misere", "3,3,3", "3,3,3,misere", "3,4,3", "3,4,3,misere"]


def solver_of(name: str, **options: int) -> AlphaBeta:
    game = parse_game(name)
    return AlphaBeta(game, symmetries(game), **options)


def bounded(solver: AlphaBeta, board: str, alpha: int, beta: int) -> int:
    """What a search of an open position gives under a window."""
    x, o = naive.masks(board)
    own, their = (x, o) if naive.mover(board) == "X" else (o, x)
    solver.memory[:4] = 0
    return int(search(own, their, alpha, beta, solver.memory, solver.table))


def some_positions(name: str, count: int, *, least: int = 0) -> list[str]:
    """Positions at random, with at least so many stones."""
    rules, rng = naive.Game.named(name), random.Random(name)
    found: set[str] = set()
    while len(found) < count:
        order = rng.sample(range(rules.cells), rng.randint(least, rules.cells))
        board = naive.played(rules, order)
        if naive.stones(board) >= least:
            found.add(board)
    return sorted(found)


@given(st.sampled_from(WINDOWED), st.randoms(use_true_random=False), st.integers(-18, 17), st.integers(1, 8))
def test_a_result_outside_the_window_is_a_bound_and_inside_it_exact(
    name: str, rng: random.Random, alpha: int, width: int
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: fail-soft alpha-beta
    rules = naive.Game.named(name)
    plies = rng.randint(max(0, rules.cells - 8), rules.cells)
    board = naive.played(rules, rng.sample(range(rules.cells), plies))
    if naive.over(rules, board) or naive.stones(board) < rules.cells - 9:
        return
    exact = naive.score(rules, board)
    fresh = solver_of(name, table_bits=10)
    for beta in (alpha + width, alpha + 1, alpha + width):  # the second and third find the first's bounds in the table
        result = bounded(fresh, board, alpha, beta)
        if result <= alpha:
            assert exact <= result
        elif result >= beta:
            assert exact >= result
        else:
            assert exact == result


@pytest.mark.parametrize("name", WINDOWED)
def test_narrow_windows_close_in_on_the_exact_score_in_a_table_they_share(name: str) -> None:
    rules, shared = naive.Game.named(name), solver_of(name, table_bits=12)
    for board in some_positions(name, 20, least=rules.cells - 7):
        if naive.over(rules, board):
            continue
        exact = naive.score(rules, board)
        for alpha in range(-rules.cells - 2, rules.cells + 2):
            result = bounded(shared, board, alpha, alpha + 1)
            assert (result > alpha) == (exact > alpha)
            assert exact >= result if result > alpha else exact <= result
        assert shared.score(Position(shared.game, *naive.masks(board))) == exact


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere", "2,4,2", "1,8,3", "2,4,3,misere"])
def test_pruning_changes_no_score_and_saves_nodes(name: str) -> None:
    rules = naive.Game.named(name)
    for board in some_positions(name, 40):
        pruned, whole = solver_of(name, table_bits=12), solver_of(name, prune=False, table_bits=12)
        position = Position(pruned.game, *naive.masks(board))
        assert pruned.score(position) == whole.score(position) == naive.score(rules, board)
        assert pruned.nodes <= whole.nodes
        assert whole.cutoffs == 0


def test_the_empty_4x4_board_takes_under_ten_thousand_nodes() -> None:
    solver = solver_of("4,4,4")
    assert solver.score(Position(solver.game)) == 0
    assert 1000 < solver.nodes < 10_000
    assert solver.cutoffs > 0
    assert solver.hits > 0


def test_symmetries_save_nodes_and_change_no_score() -> None:
    game = parse_game("4,4,4")
    every = AlphaBeta(game, symmetries(game))
    turns = AlphaBeta(game, naive.geometric(naive.Game(4, 4, 4)))
    none = AlphaBeta(game, [tuple(range(16))])
    empty = Position(game)
    assert every.score(empty) == turns.score(empty) == none.score(empty) == 0
    assert every.nodes < turns.nodes < none.nodes


@pytest.mark.parametrize("table_bits", [2, 4, 7])
@pytest.mark.parametrize("name", ["3,3,3", "3,4,3", "3,4,3,misere", "4,4,4"])
def test_a_table_of_any_size_gives_the_same_scores(name: str, table_bits: int) -> None:
    small, large = solver_of(name, table_bits=table_bits), solver_of(name)
    for board in some_positions(name, 60, least=7 if name == "4,4,4" else 2):
        position = Position(small.game, *naive.masks(board))
        assert small.score(position) == large.score(position)


def test_a_search_that_reaches_its_limit_gives_no_score() -> None:
    needed = solver_of("4,4,4")
    empty = Position(needed.game)
    needed.score(empty)
    enough = solver_of("4,4,4", limit=needed.nodes)
    assert enough.score(empty) == 0
    for limit in (1, 10, needed.nodes // 2, needed.nodes - 1):
        solver = solver_of("4,4,4", limit=limit)
        assert solver.score(empty) is None
        assert solver.nodes <= limit + 1
        assert solver.score(Position(solver.game, 0b1111, 0b1110000)) == -10, "the next search starts afresh"


def test_a_search_given_up_leaves_nothing_wrong_in_the_table() -> None:
    solver = solver_of("3,4,3", table_bits=12)
    for limit in range(1, 400, 7):
        solver.memory[7] = limit
        solver.score(Position(solver.game))
    solver.memory[7] = 0
    rules = naive.Game(3, 4, 3)
    for board in some_positions("3,4,3", 80, least=5):
        assert solver.score(Position(solver.game, *naive.masks(board))) == naive.score(rules, board)


def test_the_plain_search_forgets_when_it_remembers_too_much_and_finds_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Sized(dict[int, tuple[int, int, int]]):
        largest = 0

        def __setitem__(self, key: int, value: tuple[int, int, int]) -> None:
            super().__setitem__(key, value)
            self.largest = max(self.largest, len(self))

    monkeypatch.setattr("solver.search.live._NODES_A_LOOK_AT_THE_CLOCK", 1)
    game, largest = parse_game("3,3,3"), []
    for kept in (1000, 20):
        monkeypatch.setattr("solver.search.live._KEPT", kept)
        search = Search(game, symmetries(game), 1e9)
        search.known = Sized()
        assert search.score(Position(game)) == 0
        largest.append(search.known.largest)
    assert largest[0] > 60
    assert 20 < largest[1] <= 20 + game.cells


def test_a_search_beside_another_shares_its_table_and_counts_for_itself() -> None:
    first = solver_of("4,4,4")
    beside = first.beside()
    empty = Position(first.game)
    assert first.score(empty) == 0
    nodes = first.nodes
    assert beside.nodes == 0
    assert beside.score(empty) == 0
    assert 0 < beside.nodes < nodes / 10
    assert first.nodes == nodes


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere", "4,4,4", "4,4,4,misere"])
def test_a_finished_game_is_scored_without_a_search(name: str) -> None:
    rules, solver = naive.Game.named(name), solver_of(name)
    ended = [board for board in some_positions(name, 200, least=rules.cells - 4) if naive.over(rules, board)]
    assert ended
    for board in ended:
        assert solver.score(Position(solver.game, *naive.masks(board))) == naive.score(rules, board)
    assert solver.nodes == 0


EDGES = ["3,9,5", "4,7,5", "1,31,6", "4,8,5"]
"""Boards of 27, 28, 31 and 32 cells."""

group_of = cache(symmetries)


@cache
def searches_of(game: Any) -> tuple[AlphaBeta, AlphaBeta]:
    """A search without symmetries, and one with all."""
    alone = [tuple(range(game.cells))]
    return AlphaBeta(game, alone, table_bits=2), AlphaBeta(game, group_of(game), table_bits=2)


@pytest.mark.parametrize("name", EDGES)
@given(st.randoms(use_true_random=False))
def test_a_key_tells_every_cell_and_fits_into_a_word(name: str, rng: random.Random) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: two positions that are not equal by symmetry have different keys
    game = parse_game(name)
    marks = rng.choices(range(3), k=game.cells) if rng.randrange(4) else [rng.randrange(3)] * game.cells
    own, their = (sum(1 << cell for cell, mark in enumerate(marks) if mark == side) for side in (1, 2))
    one, every = searches_of(game)
    key = int(_key(own, their, one.memory))
    assert [key // 3**cell % 3 for cell in range(game.cells)] == marks
    assert 0 <= key < 1 << 63 - _WORD_BITS
    images = {(image(g, own), image(g, their)) for g in group_of(game)}
    smallest = min(int(_key(*each, one.memory)) for each in images)
    assert int(_key(own, their, every.memory)) == smallest


@pytest.mark.parametrize(("name", "suffix"), [*zip(EDGES, ("", ",misere") * 2, strict=True)])
def test_boards_of_27_to_32_cells_are_searched_as_plain_python_searches_them(name: str, suffix: str) -> None:
    rules, shared = naive.Game.named(name + suffix), solver_of(name + suffix, table_bits=16)
    plain, rng = Search(shared.game, group_of(shared.game), 60), random.Random(name)
    seen = 0
    while seen < 15:
        board = naive.played(rules, rng.sample(range(rules.cells), rules.cells - rng.randint(4, 7)))
        if not naive.over(rules, board):
            position = Position(shared.game, *naive.masks(board))
            assert shared.score(position) == plain.score(position), board
            seen += 1
