"""The index: each position has one place, and each place its position."""

from functools import cache
from itertools import combinations
from math import comb

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import position_at

from solver.games.lines import Game, grid
from solver.games.notation import parse_game
from solver.index.places import Index, o_count_when, page_size, rank, unrank, x_count_when
from solver.index.symmetry import image, symmetries


@cache
def indexed(name: str) -> tuple[Game, Index]:
    game = parse_game(name)
    return game, Index(game, symmetries(game))


def located(index: Index, x: int, o: int) -> tuple[tuple[int, int], int]:
    """The page of a position, as empty cells and half, and its place there."""
    half, o_mask, _ = index.locate(x, o)
    return (index.game.cells - x.bit_count() - o.bit_count(), half), rank(half, o_mask)


def subsets(cells: list[int], count: int) -> list[int]:
    """All sets of so many of the cells, as numbers, ascending."""
    return sorted(sum(1 << cell for cell in chosen) for chosen in combinations(cells, count))


@pytest.mark.parametrize("name", ["3,3,3", "2,4,2", "3,4,3", "1,7,3"])
def test_every_place_of_every_page_holds_a_position_that_stands_there(name: str) -> None:
    game, index = indexed(name)
    for empty in range(game.cells + 1):
        every = subsets(list(range(game.cells)), x_count_when(game, empty))
        for half in (x for x in every if min(image(g, x) for g in index.group) == x):
            free = [cell for cell in range(game.cells) if not half >> cell & 1]
            expected = subsets(free, o_count_when(game, empty))
            assert page_size(game, empty) == len(expected)
            found = [position_at(game, empty, half, place) for place in range(len(expected))]
            assert found == [(half, o) for o in expected]
            assert [located(index, *position) for position in found] == [
                ((empty, half), place) for place in range(len(expected))
            ]


@given(st.permutations(range(16)), st.integers(0, 16), st.integers(0, 31))
def test_images_of_a_position_of_the_flagship_share_its_page_and_copies(
    order: list[int], plies: int, which: int
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a position and its images are stored once, or as equal copies
    game, index = indexed("4,4,4")
    x, o = naive.masks(naive.played(naive.Game(4, 4, 4), order[:plies]))
    g = index.group[which]
    (page, place), (other_page, other) = located(index, x, o), located(index, image(g, x), image(g, o))
    assert page == other_page
    held = [index.canonical(*position_at(game, *page, each))[:2] for each in (place, other)]
    assert held == [index.canonical(x, o)[:2]] * 2


@given(st.integers(0, 2**25 - 1), st.integers(0, 2**25 - 1), st.integers(0, 2**25 - 1))
def test_rank_and_unrank_undo_each_other_and_keep_the_order(half: int, one: int, two: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: colexicographic rank on the largest board
    one, two = one & ~half, two & ~half
    for os in (one, two):
        place = rank(half, os)
        assert 0 <= place < comb(25 - half.bit_count(), os.bit_count())
        assert unrank(half, 25, os.bit_count(), place) == os
    if one.bit_count() == two.bit_count():
        assert (rank(half, one) < rank(half, two)) == (one < two)


@given(st.integers(0, 25), st.data())
def test_the_rank_is_the_sum_of_binomials_that_defines_it(xs: int, data: st.DataObject) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: definition of a place
    order = data.draw(st.permutations(range(25)))
    half = sum(1 << cell for cell in order[:xs])
    os = sum(1 << cell for cell in order[xs : data.draw(st.integers(xs, 25))])
    outside = [cell for cell in range(25) if not half >> cell & 1]
    bits = [b for b, cell in enumerate(outside) if os >> cell & 1]
    assert rank(half, os) == sum(comb(b, i + 1) for i, b in enumerate(bits))


def test_the_docstring_s_example_stands_where_it_says() -> None:
    assert rank(0b1001, 1 << 5) == comb(3, 1)
    assert position_at(grid(4, 4, 4), 13, 0b1001, 3) == (0b1001, 1 << 5)


@pytest.mark.parametrize("cells", [1, 2, 9, 12, 16, 25])
def test_empty_cells_tell_how_many_stones_each_side_has(cells: int) -> None:
    game = grid(1, cells, 1)
    for stones in range(cells + 1):
        board = "".join("XO"[i % 2] for i in range(stones))
        empty = cells - stones
        assert (x_count_when(game, empty), o_count_when(game, empty)) == (board.count("X"), board.count("O"))
        assert page_size(game, empty) == comb(cells - board.count("X"), board.count("O"))
