"""The one move that the oracle makes: best, hardest to answer, and the same however the board is turned."""

import random
from collections.abc import Callable
from pathlib import Path

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import random_position

from oracle import Oracle
from solver.errors import BoardError
from solver.games.board_text import parse
from solver.games.lines import grid
from solver.games.position import Position
from solver.index.symmetry import Symmetry, image, symmetries

FOUR = grid(4, 4, 4)
RULES4 = naive.Game(4, 4, 4)
GROUP4 = symmetries(FOUR)
FINISHED = ["XXXX/OOO./..../....", "OOOO/XXX./X.../....", "XXOO/OOXX/XXOO/OOXX"]

Score = Callable[[Position], int]

plays = st.tuples(st.permutations(range(16)), st.integers(0, 15))


def open_boards(rng: random.Random, count: int) -> list[Position]:
    """Random positions of 4x4 at which there is something to do."""
    return [Position(FOUR, *random_position(FOUR, rng, rng.randint(0, 15))) for _ in range(count)]


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def safe_share(position: Position, score: Score) -> float:
    """The share of the replies that keep the outcome of who replies; 0 where there is no reply."""
    kept = [sign(-score(position.play(cell))) == sign(score(position)) for cell in position.legal]
    return sum(kept) / len(kept) if kept else 0


def hardest(position: Position, score: Score) -> set[int]:
    """Of the moves with the best score, those which leave the opponent the smallest share of safe replies."""
    worth = {cell: -score(position.play(cell)) for cell in position.legal}
    share = {cell: safe_share(position.play(cell), score) for cell in worth if worth[cell] == max(worth.values())}
    return {cell for cell in share if share[cell] == min(share.values())}


def hopes(position: Position, cell: int) -> int:
    """What a move leaves its maker in the lines free of the opponent, the fuller the more; 0 if it ends the game."""
    rules = naive.Game.named(position.game.name)
    board = naive.claim(naive.board(rules, position.x, position.o), cell)
    own = position.mover
    if naive.over(rules, board):
        return 0
    lines = [[board[i] for i in line] for line in naive.lines(rules)]
    return sum(4 ** line.count(own) for line in lines if set(line) <= {own, "."})


def most_tempting(position: Position, cells: set[int]) -> set[int]:
    """Of some moves, those which leave most hopes; in misère play fewest, since there a line is what loses."""
    hoped = {cell: hopes(position, cell) * (-1 if position.game.misere else 1) for cell in cells}
    return {cell for cell in cells if hoped[cell] == max(hoped.values())}


def turned(position: Position, g: Symmetry) -> Position:
    return Position(position.game, image(g, position.x), image(g, position.o))


def assert_made_by_the_rule(oracle: Oracle, position: Position, score: Score, group: tuple[Symmetry, ...]) -> None:
    """The move is one of the hardest to answer, and of the most tempting of those the first on the canonical board."""
    move = oracle.best_move(position)
    asked = oracle.analysis(position)
    chosen, candidates = oracle.game.cell(move.move), most_tempting(position, hardest(position, score))
    assert move in asked.moves
    assert move.best
    assert chosen in candidates, (position, move)
    canonical = parse(oracle.game, asked.canonical)
    ways = [g for g in group if turned(position, g) == canonical]
    first = min(g[cell] for g in ways for cell in candidates)
    assert first in {g[chosen] for g in ways}, (position, move)


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere"])
def test_the_move_in_every_3x3_position_leaves_fewest_safe_replies(name: str, store_of: Callable[[str], Path]) -> None:
    rules = naive.Game.named(name)

    def score(position: Position) -> int:
        return naive.score(rules, naive.board(rules, position.x, position.o))

    with Oracle(name, store_of(name)) as oracle:
        group = symmetries(oracle.game)
        for board in sorted(naive.canonical(naive.reachable(rules), naive.geometric(rules))):
            if not naive.over(rules, board):
                assert_made_by_the_rule(oracle, Position(oracle.game, *naive.masks(board)), score, group)


def test_the_move_in_a_4x4_position_leaves_fewest_safe_replies(store4: Path) -> None:
    with Oracle(FOUR, store4) as oracle:
        for position in open_boards(random.Random(7), 50):
            assert_made_by_the_rule(oracle, position, oracle.score, GROUP4)


def test_a_turned_board_gets_the_turned_move(store4: Path) -> None:
    with Oracle(FOUR, store4) as oracle:
        for position in open_boards(random.Random(32), 100):
            cell = FOUR.cell(oracle.best_move(position).move)
            reached = {turned(position, g): set[int]() for g in GROUP4}
            for g in GROUP4:
                reached[turned(position, g)].add(g[cell])
            for other, cells in reached.items():  # several cells, if symmetries leave the board as it is
                assert FOUR.cell(oracle.best_move(other).move) in cells, (position, other)


@given(plays)
def test_the_same_board_gets_the_same_move_from_every_oracle(store4: Path, play: tuple[list[int], int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: the same board always gets the same move
    board = naive.played(RULES4, play[0][: play[1]])
    if naive.over(RULES4, board):
        return
    position = Position(FOUR, *naive.masks(board))
    with Oracle(FOUR, store4) as used, Oracle(FOUR, store4) as fresh:
        for before in range(0, play[1], 5):
            used.best_move(Position(FOUR, *naive.masks(naive.played(RULES4, play[0][:before]))))
        used.analysis(position)
        assert used.best_move(position) == used.best_move(position) == fresh.best_move(position)


@pytest.mark.parametrize("board", FINISHED)
def test_there_is_no_move_when_the_game_is_over(board: str, store4: Path) -> None:
    for oracle in (Oracle(FOUR, store4), Oracle(FOUR, live=True)):
        with oracle, pytest.raises(BoardError, match="the game is over"):
            oracle.best_move(board)
