"""Weights: a sum below one is never won, and the bound is sharp."""

from fractions import Fraction
from random import Random

import naive
from hypothesis import given
from hypothesis import strategies as st
from kinds import completes_alone, naive_of, random_lines, random_position

from solver.certificates.checkers import check_weights
from solver.certificates.pairing import live_lines
from solver.certificates.weights import weigh
from solver.games.lines import grid
from solver.games.position import Position


def test_a_side_whose_lines_weigh_too_little_does_not_win_by_minimax() -> None:
    random, found = Random(6), 0
    while found < 120:
        game = random_lines(random)
        x, o = random_position(game, random, random.randint(0, 4))
        score = naive.score(naive_of(game), naive.board(naive_of(game), x, o))
        for side in check_weights(game, x, o):
            assert (score <= 0) if Position(game, x, o).mover == side else (score >= 0)
            found += 1


@given(st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=6), st.booleans())
def test_weights_that_hold_stop_a_side_even_where_the_other_only_defends(sets: list[set[int]], to_move: bool) -> None:
    lines = sorted({sum(1 << cell for cell in cells) for cells in sets})
    if weigh(lines, 0b1111111, to_move=to_move).hold:
        assert not completes_alone(lines, 0, 0b1111111, to_move=to_move)


def test_the_bound_is_sharp() -> None:
    two = [0b0011, 0b1100]  # the weights are a half and a quarter: the sum is one half, and a move adds a quarter
    assert weigh(two, 0b1111, to_move=True).hold
    forks = [0b0011, 0b0101]  # the cell of both adds one half, which makes one: the side completes one of them
    assert not weigh(forks, 0b0111, to_move=True).hold
    assert completes_alone(forks, 0, 0b0111, to_move=True)
    assert weigh(forks, 0b0111, to_move=False).hold


def test_the_checker_and_the_finder_come_to_the_same_in_different_ways() -> None:
    random = Random(7)
    for _ in range(300):
        game = random_lines(random)
        x, o = random_position(game, random, random.randint(0, 5))
        free, mover = game.full & ~(x | o), Position(game, x, o).mover
        stopped = ""
        for side, their in (("X", o), ("O", x)):
            if weigh(live_lines(game, their), free, to_move=side == mover).hold:
                stopped += side
        assert stopped == check_weights(game, x, o)


def test_the_sum_of_4x4_is_ten_sixteenths_and_three_more_for_a_corner() -> None:
    game = grid(4, 4, 4)
    weights = weigh(game.lines, game.full, to_move=True)
    assert Fraction(weights.total, 1 << weights.scale) == Fraction(10, 16)
    assert Fraction(weights.added, 1 << weights.scale) == Fraction(3, 16)
    assert check_weights(game, 0, 0) == "XO"
