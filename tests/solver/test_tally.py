"""Counts: how many positions a game reaches, and how many are left when images count as one."""

from math import comb
from typing import Any

import naive
import pytest
from places import position_at
from whole import whole

from solver.errors import SolversDisagree
from solver.games.notation import parse_game
from solver.index.symmetry import Symmetry, image, symmetries
from solver.store.manifest import Ply
from solver.sweep.halves import kernel_game
from solver.sweep.tally import count_positions


def table_under(name: str, group: tuple[Symmetry, ...]) -> tuple[Ply, ...]:
    """The counts by ply of a game solved under some of its symmetries."""
    return whole(parse_game(name), group, lambda filled: None, sample=3)[1].table()


def totals(table: tuple[Ply, ...]) -> tuple[int, int]:
    return sum(ply.reachable for ply in table), sum(ply.canonical for ply in table)


@pytest.mark.parametrize(
    ("name", "reachable", "canonical"),
    [
        ("3,3,3", 5_478, 765),
        ("3,4,3", 111_973, 28_275),
        ("4,4,3", 6_036_001, 756_387),
        ("4,4,4", 9_722_011, 307_639),
        ("4,4,4,misere", 9_722_011, 307_639),
    ],
)
def test_a_game_reaches_as_many_positions_as_is_known(solved: Any, name: str, reachable: int, canonical: int) -> None:
    assert totals(solved(name).summary.table()) == (reachable, canonical)


def test_under_the_square_s_eight_symmetries_4x4_has_1217977_positions() -> None:
    turns = tuple(naive.geometric(naive.Game(4, 4, 4)))
    assert len(turns) == 8
    assert totals(table_under("4,4,4", turns)) == (9_722_011, 1_217_977)


@pytest.mark.parametrize("name", ["3,3,3", "3,4,3", "3,4,4"])
def test_without_symmetries_every_reachable_position_is_canonical(name: str) -> None:
    game = parse_game(name)
    alone = table_under(name, (tuple(range(game.cells)),))
    assert all(ply.canonical == ply.reachable for ply in alone)
    reduced = table_under(name, symmetries(game))
    assert [ply.reachable for ply in alone] == [ply.reachable for ply in reduced]


def test_before_anybody_can_have_won_the_counts_are_burnside_s(solved: Any) -> None:
    # At ply 7 X may have won, but only just now: every way to place the stones is still reached.
    group = symmetries(parse_game("4,4,4"))
    for ply in solved("4,4,4").summary.table()[:8]:
        xs, os = (ply.ply + 1) // 2, ply.ply // 2
        assert ply.reachable == comb(16, xs) * comb(16 - xs, os) == naive.orbits([tuple(range(16))], xs, os)
        assert ply.canonical == naive.orbits(group, xs, os)


def test_copies_of_a_position_that_differ_are_refused(solved: Any) -> None:
    game = solved("3,3,3")
    prepared = kernel_game(game.game, game.index.group)
    rules, refused = naive.Game(3, 3, 3), 0
    for pages in game.filled:
        for i, half in enumerate(pages.halves.tolist()):
            for place in range(pages.scores.shape[1]):
                at = naive.board(rules, *position_at(game.game, pages.empty, half, place))
                own = {g for g in game.index.group if image(g, half) == half}
                scores = pages.scores.copy()
                scores[i, place] = 9 if scores[i, place] != 9 else 8
                if len({naive.turned(at, g) for g in own}) > 1:
                    refused += 1
                    with pytest.raises(SolversDisagree, match=f"half {half:#x}: two images of one position"):
                        count_positions(prepared, pages.o_count, pages.halves, scores)
                else:
                    count_positions(prepared, pages.o_count, pages.halves, scores)
    assert refused > 200
