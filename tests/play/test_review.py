"""Reviews: every move graded by minimax's own scores, and the move that decided the match."""

from functools import cache
from itertools import pairwise

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.oracle import Oracle
from play.match import Match
from play.review import (
    BEST,
    DRAW_LOST,
    FASTER,
    GAVE_WIN,
    SLOWER,
    UNKNOWN,
    WIN_LOST,
    Graded,
    Review,
    grade_of,
    review,
    told,
)
from play.rules import LineRules, LineState
from solver.games.notation import parse_game
from solver.games.position import Position

GAMES = ["3,3,3", "3,3,3,misere"]
CHANGES = {(1, 0): GAVE_WIN, (0, -1): DRAW_LOST, (1, -1): WIN_LOST}
WORSE = {1: SLOWER, -1: FASTER}


@cache
def oracle_of(name: str) -> Oracle:
    return Oracle(name, live=True, seconds=60)


def match_of(name: str, cells: list[int]) -> Match[LineState]:
    match = Match(LineRules(parse_game(name)))
    for cell in cells:
        if match.to_move:
            match.play(match.to_move, cell)
    return match


def reviewed(name: str, moves: str) -> Review:
    """A review of a match whose moves are named."""
    game = parse_game(name)
    return review(oracle_of(name), match_of(name, [game.cell(move) for move in moves.split()]).states)


def sign(score: int) -> int:
    return (score > 0) - (score < 0)


def naive_grade(rules: naive.Game, board: str, child: str) -> str:
    best, score = naive.score(rules, board), -naive.score(rules, child)
    if best == score:
        return BEST
    return WORSE[sign(best)] if sign(best) == sign(score) else CHANGES[sign(best), sign(score)]


def naive_outcome(rules: naive.Game, child: str) -> str:
    score = naive.score(rules, child)
    if not score:
        return "a draw"
    winner = naive.mover(child) if score > 0 else "XO"[naive.mover(child) == "X"]
    plies = rules.cells + 1 - abs(score) - naive.stones(child)
    moves = (plies + 1) // 2
    words = f"{moves} move{'' if moves == 1 else 's'} ({plies} {'ply' if plies == 1 else 'plies'})"
    return f"{winner} wins in {words}" if plies else f"{winner} has won"


def check_move(name: str, number: int, board: str, child: str, graded: Graded) -> None:
    rules, game = naive.Game.named(name), parse_game(name)
    cell = next(cell for cell, mark in enumerate(board) if child[cell] != mark)
    best = naive.score(rules, board)
    good = [c for c, mark in enumerate(board) if mark == "." and -naive.score(rules, naive.claim(board, c)) == best]
    assert graded == Graded(
        number, naive.mover(board), game.cell_name(cell), naive_grade(rules, board, child),
        best, -naive.score(rules, child), naive_outcome(rules, child),
        () if cell in good else tuple(map(game.cell_name, good)),
    )  # fmt: skip
    assert graded.changed == (sign(best) != sign(graded.after))


@pytest.mark.parametrize("name", GAMES)
def test_every_move_of_every_position_is_graded_by_its_exact_score(name: str) -> None:
    rules, play = naive.Game.named(name), LineRules(parse_game(name)).play
    seen = set()
    for board in naive.canonical(naive.reachable(rules), naive.geometric(rules)):
        state = LineState(Position(parse_game(name), *naive.masks(board)))
        for child in naive.children(rules, board):
            cell = next(cell for cell, mark in enumerate(board) if child[cell] != mark)
            (graded,) = review(oracle_of(name), [state, play(state, cell)]).moves
            check_move(name, 1, board, child, graded)
            seen.add(graded.grade)
    assert seen == {BEST, SLOWER, FASTER, GAVE_WIN, DRAW_LOST, WIN_LOST}


@given(st.sampled_from(GAMES), st.permutations(range(9)))
def test_a_match_is_graded_move_by_move_and_its_last_change_is_the_turning_point(name: str, order: list[int]) -> None:
    rules, states = naive.Game.named(name), match_of(name, order).states
    boards = [naive.board(rules, state.position.x, state.position.o) for state in states]
    result = review(oracle_of(name), states)
    assert result.exact
    assert len(result.moves) == len(states) - 1
    turning = None
    for graded, (number, (board, child)) in zip(result.moves, enumerate(pairwise(boards), 1), strict=True):
        check_move(name, number, board, child, graded)
        if sign(naive.score(rules, board)) != -sign(naive.score(rules, child)):
            turning = graded
    assert result.turning_point == turning


@pytest.mark.parametrize(
    ("name", "moves", "grades", "turning"),
    [
        ("3,3,3", "", [], None),
        ("3,3,3", "b2 a1", [BEST, BEST], None),
        ("3,3,3", "b2 b1", [BEST, DRAW_LOST], "b1"),
        ("3,3,3", "b2 b1 b3", [BEST, DRAW_LOST, GAVE_WIN], "b3"),
    ],
)
def test_a_match_known_by_heart_is_graded_so(name: str, moves: str, grades: list[str], turning: str | None) -> None:
    result = reviewed(name, moves)
    assert [move.grade for move in result.moves] == grades
    assert (result.turning_point and result.turning_point.move) == turning


@pytest.mark.parametrize("name", GAMES)
def test_a_match_that_has_not_begun_has_no_turning_point(name: str) -> None:
    assert review(oracle_of(name), match_of(name, []).states) == Review((), None, True)


def test_what_could_not_be_settled_is_neither_graded_nor_a_turning_point() -> None:
    with Oracle("6,6,5", live=True, seconds=0) as hasty:
        result = review(hasty, match_of("6,6,5", [0, 14]).states)
    assert [move.grade for move in result.moves] == [UNKNOWN, UNKNOWN]
    assert [(move.outcome, move.better, move.changed) for move in result.moves] == [("", (), False)] * 2
    assert (result.turning_point, result.exact) == (None, False)


X_HAS_FOUR, O_HAS_FOUR = [0, 1, 2, 3], [12, 13, 14, 15]
NEXT = [
    # the moves when each can complete five, how the first is graded, what it led to, and what had been better
    ([4], UNKNOWN, "X has won", ()),
    ([35, 16], WIN_LOST, "O wins in 1 move (1 ply)", ("e1",)),
    ([16, 4], UNKNOWN, "", ()),
]


@pytest.mark.parametrize(("cells", "grade", "outcome", "better"), NEXT)
def test_of_what_is_not_settled_only_a_certain_loss_in_place_of_a_certain_win_is_graded(
    cells: list[int], grade: str, outcome: str, better: tuple[str, ...]
) -> None:
    begun = [cell for pair in zip(X_HAS_FOUR, O_HAS_FOUR, strict=True) for cell in pair]
    with Oracle("6,6,5", live=True, seconds=0) as hasty:
        result = review(hasty, match_of("6,6,5", [*begun, *cells]).states)
    move = result.moves[len(begun)]
    assert (move.grade, move.outcome, move.better) == (grade, outcome, better)
    assert move.before == 28, "that there is a win is certain"
    assert [other.grade for other in result.moves[len(begun) + 1 :]] == [UNKNOWN] * (len(cells) - 1)
    assert result.turning_point == (move if grade == WIN_LOST else None)
    assert not result.exact


@pytest.mark.parametrize("grade", [BEST, SLOWER, FASTER, GAVE_WIN, DRAW_LOST, WIN_LOST, UNKNOWN])
def test_three_grades_change_the_outcome(grade: str) -> None:
    graded = Graded(1, "X", "a1", grade, 0, 0, "", ())
    assert graded.changed is (grade in CHANGES.values())


@given(st.integers(-17, 17), st.integers(-17, 17))
def test_a_grade_is_the_change_of_outcome_or_of_speed(one: int, other: int) -> None:
    best, score = max(one, other), min(one, other)
    change = CHANGES.get((sign(best), sign(score)))
    assert grade_of(best, score) == (BEST if best == score else change or WORSE[sign(best)])


@pytest.mark.parametrize(
    ("score", "plies", "side", "words"),
    [
        (0, None, "X", "a draw"),
        (5, 0, "X", "X has won"),
        (-5, 0, "X", "O has won"),
        (5, 1, "O", "O wins in 1 move (1 ply)"),
        (-5, 4, "O", "X wins in 2 moves (4 plies)"),
    ],
)
def test_a_score_is_told_in_words(score: int, plies: int | None, side: str, words: str) -> None:
    assert told(score, plies, side) == words
