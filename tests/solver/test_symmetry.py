"""Symmetries: a group that maps lines to lines, all of it, and the images that it makes."""

from functools import cache
from itertools import islice, product

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.games.lines import Game, grid
from solver.games.notation import parse_game
from solver.index.places import Index
from solver.index.symmetry import LARGEST, Images, Symmetry, image, inverse, symmetries

ORDERS = {"4,4,4": 32, "4,4,3": 8, "3,4,3": 4, "3,3,3": 8, "5,5,5": 32, "5,5,4": 8, "4,5,4": 4, "2,2,1": 24, "1,1,1": 1,
          "4,4,4,misere": 32}  # fmt: skip
SMALL = [
    f"{m},{n},{k}" for m, n in product(range(1, 8), repeat=2) if m * n <= 7 for k in range(1, max(m, n) + 1)
]  # fmt: skip
HUGE = ["3,4,4", "5,5,1", "2,10,10", "4,5,5", "5,3,5", "1,7,1", "5,4,5"]


@cache
def group_of(name: str) -> tuple[Symmetry, ...]:
    return symmetries(parse_game(name))


def after(g: Symmetry, h: Symmetry) -> Symmetry:
    """First h, then g."""
    return tuple(g[cell] for cell in h)


def assert_closed(group: tuple[Symmetry, ...]) -> None:
    members = set(group)
    assert len(members) == len(group)
    for g in islice(group, 0, None, max(1, len(group) // 40)):
        assert {after(g, h) for h in group} == members


@pytest.mark.parametrize("name", [*ORDERS, *HUGE])
def test_symmetries_are_a_group_of_permutations_that_keep_the_lines(name: str) -> None:
    rules, group = naive.Game.named(name), group_of(name)
    lines = naive.lines(rules)
    one = tuple(range(len(group[0])))
    assert group[0] == one
    assert list(group) == sorted(group)
    for g in group:
        assert sorted(g) == list(one)
        assert after(g, inverse(g)) == after(inverse(g), g) == one
        assert inverse(g) in group
        assert {tuple(sorted(g[cell] for cell in line)) for line in lines} == lines
    assert_closed(group)
    if name in HUGE:
        assert 1 < len(group) <= LARGEST
    else:
        assert len(group) == ORDERS[name]
        assert set(naive.geometric(rules)) <= set(group)


@pytest.mark.parametrize("name", [*SMALL, "2,4,2", "2,4,3", "2,4,4", pytest.param("3,3,3", marks=pytest.mark.slow)])
def test_the_symmetries_are_all_permutations_that_keep_the_lines(name: str) -> None:
    group = group_of(name)
    every = naive.line_symmetries(naive.Game.named(name))
    if len(every) <= LARGEST:
        assert set(group) == every
    else:
        assert len(group) <= LARGEST
        assert set(group) < every


def test_the_flagship_s_extra_symmetry_swaps_inner_and_outer_rows_and_columns() -> None:
    swap = (1, 0, 3, 2)
    g = tuple(4 * swap[row] + swap[column] for row in range(4) for column in range(4))
    assert g in symmetries(grid(4, 4, 4))
    assert g not in naive.geometric(naive.Game(4, 4, 4))
    assert g not in symmetries(grid(4, 4, 3))


def test_lines_of_unlike_length_are_never_confused() -> None:
    odd = Game("odd", 1, 5, (0b00011, 0b11100))
    group = symmetries(odd)
    assert len(group) == 2 * 6
    assert all({image(g, 0b00011), image(g, 0b11100)} == {0b00011, 0b11100} for g in group)
    assert all(image(g, 0b00011) == 0b00011 for g in group)


@given(st.sampled_from(["4,4,4", "3,4,3", "5,5,5", "3,3,3"]), st.data())
def test_images_are_those_of_each_cell(name: str, data: st.DataObject) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: images of a set under all symmetries at once
    game, group = parse_game(name), group_of(name)
    images = Images(group)
    for cells in data.draw(st.lists(st.integers(0, game.full), min_size=1, max_size=2)):
        by_hand = [sum(1 << g[cell] for cell in range(game.cells) if cells >> cell & 1) for g in group]
        assert list(images.of(cells)) == by_hand
        assert [images.one(cells, which) for which in range(len(group))] == by_hand
        assert [image(g, cells) for g in group] == by_hand
        assert [image(inverse(g), moved) for g, moved in zip(group, by_hand, strict=True)] == [cells] * len(group)


@given(st.permutations(range(16)), st.integers(0, 16))
def test_the_canonical_position_is_the_smallest_image(order: list[int], plies: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: canonical form is the brute-force minimum and an invariant
    game = grid(4, 4, 4)
    group = group_of("4,4,4")
    index = Index(game, group)
    board = naive.played(naive.Game(4, 4, 4), order[:plies])
    x, o, g = index.canonical(*naive.masks(board))
    every = [naive.masks(naive.turned(board, each)) for each in group]
    assert (x, o) == min(every) == naive.masks(naive.turned(board, g))
    assert all(index.canonical(*other)[:2] == (x, o) for other in every)
    assert (image(inverse(g), x), image(inverse(g), o)) == naive.masks(board)
