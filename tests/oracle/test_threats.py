"""Threats: the cells that complete a line next, and those that make two such threats, as brute force finds them."""

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.oracle import Oracle
from oracle.threats import threats_of
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.position import Position

GAMES = ["5,6,4", "5,5,4", "4,5,3", "4,4,3", "5,4,4,misere"]


@st.composite
def open_positions(draw: st.DrawFn) -> Position:
    name = draw(st.sampled_from(GAMES))
    rules = naive.Game.named(name)
    order = draw(st.permutations(range(rules.cells)))
    board = naive.played(rules, order[: draw(st.integers(0, 16))])
    while naive.over(rules, board):
        order = order[: naive.stones(board) - 1]
        board = naive.played(rules, order)
    game = parse_game(name)
    assert isinstance(game, Game)
    return Position(game, *naive.masks(board))


def completing(game: Game, own: int, free: int) -> set[int]:
    return {cell for cell in range(game.cells) if free >> cell & 1 and game.completed(own | 1 << cell)}


def with_two(game: Game, own: int, free: int) -> set[int]:
    """The cells, none of which completes a line, through each of which two other cells come to complete one."""
    found, before = set(), completing(game, own, free)
    for cell in range(game.cells):
        if free >> cell & 1 and cell not in before:
            after = completing(game, own | 1 << cell, free & ~(1 << cell))
            new = {gap for gap in after if any(
                line >> cell & 1 and line >> gap & 1 and not line & ~(own | 1 << cell | 1 << gap) for line in game.lines
            )}  # fmt: skip
            found |= {cell} if len(new) > 1 else set()
    return found


@given(open_positions())
def test_threats_are_those_that_brute_force_finds(position: Position) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a threat is a cell that completes a line, or after which two cells do
    game, free = position.game, position.game.full & ~(position.x | position.o)
    own, their = (position.x, position.o) if position.mover == "X" else (position.o, position.x)
    expected = {
        "completes": completing(game, own, free), "blocks": completing(game, their, free),
        "makes_two": with_two(game, own, free), "stops_two": with_two(game, their, free),
    }  # fmt: skip
    if game.misere:
        expected = {name: cells if name == "completes" else set() for name, cells in expected.items()}
    assert {name: set(map(game.cell, cells)) for name, cells in threats_of(position).items()} == expected


@pytest.mark.parametrize(("name", "large"), [("4,4,4", False), ("5,5,4", False), ("duel,3,3", False), ("5,6,4", True)])
def test_only_answers_about_large_boards_of_lines_have_threats(name: str, large: bool) -> None:
    with Oracle(name, live=True, seconds=0) as oracle:
        analysis = oracle.analysis(str(oracle.game.cells))
        assert (analysis.threats is not None) == oracle.estimates == large
