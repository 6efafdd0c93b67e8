"""Answers: what an analysis says about a move, and how a board may be given."""

import pytest

from oracle import Oracle
from solver.games.notation import parse_game


@pytest.mark.parametrize("name", ["3,3,3", "3,4,3", "fano"])
def test_a_move_has_the_number_the_name_and_the_square_of_one_cell(name: str) -> None:
    game = parse_game(name)
    with Oracle(game, live=True, seconds=60) as oracle:
        for move in [*oracle.analysis(str(game.cells)).moves, oracle.best_move(str(game.cells))]:
            assert move.cell == game.cell(move.move)
            assert game.squares[move.cell] == move.row * game.columns + move.col
