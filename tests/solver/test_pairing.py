"""Pairings: what pairs of cells stop is never won, and they are found where they are known to exist."""

from itertools import pairwise
from random import Random
from time import monotonic

import naive
import pytest
from kinds import naive_of, random_lines, random_position

from solver.certificates.checkers import check_pairing
from solver.certificates.draws import PAIRING, Stop, check_draw, check_stop, draw_certificate, stop_certificate
from solver.certificates.pairing import find_pairing
from solver.certificates.pattern import torus_pairs
from solver.certificates.refusals import Refuted
from solver.games.board import cells_of
from solver.games.lines import Game, grid
from solver.games.position import Position

KNOWN = ["5,5,5", "6,6,6", "7,7,6", "9,6,6", "8,8,7", "10,10,7", "13,13,8", "9,9,9", "15,15,9", "20,20,9", "20,20,11"]
CERTIFICATES = 60


def game_named(name: str) -> Game:
    return grid(*map(int, name.split(",")))


def score_of(game: Game, x: int, o: int) -> int:
    twin = naive_of(game)
    return naive.score(twin, naive.board(twin, x, o))


def wins(game: Game, x: int, o: int, side: str) -> bool:
    """Whether a side wins with best play."""
    score = score_of(game, x, o)
    return score > 0 if Position(game, x, o).mover == side else score < 0


@pytest.mark.parametrize("name", KNOWN)
def test_a_pairing_is_found_for_every_board_that_is_known_to_have_one(name: str) -> None:
    game, start = game_named(name), monotonic()
    pairs = find_pairing(game, 0, 0, start + 10)
    assert pairs is not None
    assert check_pairing(game, 0, 0, pairs) == "XO"


@pytest.mark.parametrize("name", ["3,3,3", "4,4,4", "5,5,4", "15,15,5"])
def test_no_pairing_is_found_where_there_are_too_few_cells_for_the_lines(name: str) -> None:
    assert find_pairing(game_named(name), 0, 0, monotonic() + 10) is None


def test_the_pattern_gives_every_line_of_the_torus_a_pair_of_neighbours_and_uses_every_cell_once() -> None:
    pairs = torus_pairs()
    assert sorted(cell for pair in pairs for cell in pair) == list(range(64))
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        starts = [(i, 0) for i in range(8)] if right == 1 and not down else [(0, i) for i in range(8)]
        for row, column in starts:
            line = [(row + i * down) % 8 * 8 + (column + i * right) % 8 for i in range(9)]
            assert any({*two} == {*pair} for two in pairwise(line) for pair in pairs)


def test_what_a_pairing_stops_is_not_won_by_minimax() -> None:
    random, found = Random(3), 0
    while found < CERTIFICATES:
        game = random_lines(random)
        for _ in range(6):
            x, o = random_position(game, random, random.randint(0, 4))
            for side, own, their in (("X", x, o), ("O", o, x)):
                pairs = find_pairing(game, own, their, monotonic() + 10)
                if pairs:
                    assert side in check_pairing(game, x, o, pairs)
                    assert not wins(game, x, o, side), (game.lines, x, o, pairs)
                    found += 1


def test_a_draw_certificate_is_of_a_draw_by_minimax_and_its_check_agrees() -> None:
    random, found = Random(4), 0
    while found < CERTIFICATES:
        game = random_lines(random)
        x, o = random_position(game, random, random.randint(0, 4))
        certificate = draw_certificate(game, x, o, monotonic() + 10)
        if certificate:
            assert score_of(game, x, o) == 0, (game.lines, x, o, certificate)
            check_draw(game, x, o, certificate)
            assert certificate.as_dict(game)["kind"] == certificate.kind
            assert "cannot win" in certificate.in_words(game) or certificate.in_words(game).startswith("Nobody")
            found += 1


def test_any_pairs_that_the_checker_accepts_stop_the_side() -> None:
    random, found = Random(5), 0
    while found < CERTIFICATES:
        game = random_lines(random)
        x, o = random_position(game, random, random.randint(0, 3))
        empty = list(cells_of(game.full & ~(x | o)))
        random.shuffle(empty)
        pairs = list(zip(empty[::2], empty[1::2], strict=False))
        for side in check_pairing(game, x, o, pairs):
            assert not wins(game, x, o, side)
            found += 1


def test_pairs_that_overlap_or_lie_on_stones_are_refuted() -> None:
    game = grid(5, 5, 5)
    pairs = find_pairing(game, 0, 0, monotonic() + 10)
    assert pairs
    taken = 1 << pairs[0][0]
    for x, o, wrong in (
        (0, 0, [*pairs, (pairs[0][0], pairs[1][1])]),
        (0, 0, [*pairs, (3, 25)]),
        (0, 0, [*pairs, (-1, 3)]),
        (taken, 0, pairs),
        (taken, taken, []),
    ):
        with pytest.raises(Refuted):
            check_pairing(game, x, o, wrong)


def test_leaving_out_a_pair_lets_some_line_through() -> None:
    game = grid(7, 7, 6)
    pairs = find_pairing(game, 0, 0, monotonic() + 10)
    assert pairs
    dropped = [check_pairing(game, 0, 0, [*pairs[:i], *pairs[i + 1 :]]) for i in range(len(pairs))]
    assert "" in dropped


def test_nothing_is_claimed_in_misere_while_a_line_is_left() -> None:
    game = grid(5, 5, 5, misere=True)
    assert draw_certificate(game, 0, 0, monotonic() + 10) is None
    with pytest.raises(Refuted):
        check_pairing(game, 0, 0, [])
    small = grid(3, 3, 3, misere=True)
    alive, dead = naive.masks("XOXOOX..."), naive.masks("XOXXOOOX.")
    assert draw_certificate(small, *alive, monotonic() + 10) is None
    certificate = draw_certificate(small, *dead, monotonic() + 10)
    assert certificate is not None
    assert certificate.in_words(small) == "Nobody can win: every line has a stone of each side."


def test_the_stopping_side_may_first_claim_a_cell_if_it_is_to_move() -> None:
    lines = tuple(0b11 | 1 << cell for cell in range(2, 6))  # X has a1, and all of his lines go through b1
    game = Game("fan", 1, 6, lines)
    stop = stop_certificate(game, 1, 0, "X", monotonic() + 10)
    assert stop is not None
    assert stop.first == 1
    check_stop(game, 1, 0, stop)
    assert stop.in_words(game) == "X cannot win: after O b1, every line has a stone of O."
    with pytest.raises(Refuted):
        check_stop(game, 1, 0, Stop("X", stop.kind, 2))


def test_a_certificate_of_an_empty_board_names_its_pairs() -> None:
    game = grid(7, 7, 6)
    certificate = draw_certificate(game, 0, 0, monotonic() + 10)
    assert certificate is not None
    assert certificate.kind == PAIRING
    assert certificate.as_dict(game)["stops"][0]["pairs"][0][0] in game.cells_by_name
    assert certificate.in_words(game).startswith("Nobody can win. ")
