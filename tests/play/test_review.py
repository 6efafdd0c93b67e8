"""Reviews: every move graded by minimax's own scores, the move that decided the match, and how that is told."""

import re
from functools import cache
from itertools import pairwise

import naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.grading import BEST, DRAW_LOST, FASTER, GAVE_WIN, SLOWER, WIN_LOST
from oracle.oracle import Oracle
from play.graded import UNKNOWN, Graded
from play.judged import KEPT_WIN
from play.match import Match
from play.review import Review, review_match
from play.terminal.talk import review_lines
from solver.games.line_rules import LineRules, LineState
from solver.games.notation import parse_game
from solver.games.rules import set_up

GAMES = ["3,3,3", "3,3,3,misere"]
CHANGES = {(1, 0): GAVE_WIN, (0, -1): DRAW_LOST, (1, -1): WIN_LOST}
WORSE = {1: SLOWER, -1: FASTER}
OTHER = {"X": "O", "O": "X"}

FEW = settings(max_examples=30)


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plain Python search large boards, as it does until compiled code is loaded."""
    monkeypatch.setattr("solver.engine.live.takes", lambda game: False)


@cache
def oracle_of(name: str) -> Oracle:
    return Oracle(name, live=True, seconds=60)


def match_of(name: str, cells: list[int], first: str = "X", board: str | None = None) -> Match[LineState]:
    rules = LineRules(parse_game(name), first)
    match = Match(rules, None if board is None else set_up(rules, board))
    for cell in cells:
        if match.to_move:
            match.play(match.to_move, cell)
    return match


def reviewed(name: str, moves: str, first: str = "X") -> Review:
    """A review of a match whose moves are named."""
    game = parse_game(name)
    return review_match(oracle_of(name), match_of(name, [game.cell(move) for move in moves.split()], first))


def sign(score: int) -> int:
    return (score > 0) - (score < 0)


def naive_grade(best: int, score: int) -> str:
    if best == score:
        return BEST
    return WORSE[sign(best)] if sign(best) == sign(score) else CHANGES[sign(best), sign(score)]


def meaning(outcome: str) -> tuple[str | None, int]:
    """Who wins by what is told of a move, and in how many plies from then on."""
    won = re.fullmatch(r"([XO]) (?:has won|wins in (1 move|\d+ moves) \((1 ply|\d+ plies)\))", outcome)
    if not won:
        assert outcome == "a draw"
        return None, 0
    moves, plies = (int(number.split()[0]) if number else 0 for number in (won[2], won[3]))
    assert moves == (plies + 1) // 2
    return won[1], plies


def check_move(name: str, board: str, child: str, graded: Graded) -> None:
    rules, game = naive.Game.named(name), parse_game(name)
    scores = naive.move_scores(rules, board)
    cell = next(cell for cell in scores if child[cell] != ".")
    best, score, side = max(scores.values()), scores[cell], naive.mover(board)
    better = [game.cell_name(cell) for cell in sorted(naive.optimal(rules, board))] if score < best else []
    assert (graded.side, graded.move) == (side, game.cell_name(cell))
    assert (graded.before, graded.after) == (best, score)
    assert graded.grade == naive_grade(best, score)
    assert graded.better == tuple(better)
    assert graded.changed == (sign(best) != sign(score))
    winner = side if score > 0 else OTHER[side] if score < 0 else None
    plies = rules.cells + 1 - abs(score) - naive.stones(child) if score else 0
    assert meaning(graded.outcome) == (winner, plies)


@pytest.mark.parametrize("name", ["3,3,3", pytest.param("3,3,3,misere", marks=pytest.mark.slow)])
def test_every_move_of_every_position_is_graded_by_its_exact_score(name: str) -> None:
    rules = naive.Game.named(name)
    seen = set()
    for board in naive.canonical(naive.reachable(rules), naive.geometric(rules)):
        for child in naive.children(rules, board):
            cell = next(cell for cell, mark in enumerate(board) if child[cell] != mark)
            (graded,) = review_match(oracle_of(name), match_of(name, [cell], board=board)).moves
            check_move(name, board, child, graded)
            seen.add(graded.grade)
    assert seen == {BEST, SLOWER, FASTER, GAVE_WIN, DRAW_LOST, WIN_LOST}


@FEW
@given(st.sampled_from(GAMES), st.permutations(range(9)))
def test_a_match_is_graded_move_by_move_and_its_last_change_is_the_turning_point(name: str, order: list[int]) -> None:
    rules, match = naive.Game.named(name), match_of(name, order)
    boards = [naive.board(rules, state.position.x, state.position.o) for state in match.states]
    result = review_match(oracle_of(name), match)
    assert result.exact
    assert [graded.number for graded in result.moves] == list(range(1, len(boards)))
    turning = None
    for graded, (board, child) in zip(result.moves, pairwise(boards), strict=True):
        check_move(name, board, child, graded)
        if sign(naive.score(rules, board)) != -sign(naive.score(rules, child)):
            turning = graded
    assert result.turning_point == turning


@FEW
@given(st.sampled_from(GAMES), st.permutations(range(9)))
def test_with_o_first_a_review_is_the_same_with_the_marks_exchanged(name: str, order: list[int]) -> None:
    x_first, o_first = (review_match(oracle_of(name), match_of(name, order, first)).moves for first in "XO")
    exchanged = str.maketrans("XO", "OX")
    assert list(o_first) == [
        graded._replace(side=OTHER[graded.side], outcome=graded.outcome.translate(exchanged)) for graded in x_first
    ]


def test_what_could_not_be_settled_is_neither_graded_nor_a_turning_point() -> None:
    with Oracle("6,6,4", live=True, seconds=0) as hasty:
        result = review_match(hasty, match_of("6,6,4", [0, 14]))
    assert [move.grade for move in result.moves] == [UNKNOWN, UNKNOWN]
    assert [(move.outcome, move.better, move.changed) for move in result.moves] == [("", (), False)] * 2
    assert (result.turning_point, result.exact) == (None, False)


X_HAS_FOUR, O_HAS_FOUR = [0, 1, 2, 3], [12, 13, 14, 15]
EACH_HAS_FOUR = [cell for pair in zip(X_HAS_FOUR, O_HAS_FOUR, strict=True) for cell in pair]
NEXT = [
    # the moves when each can complete five, how the first is graded, what it led to, and what had been better
    ([4], [KEPT_WIN], "X has won", ()),
    ([35, 16], [WIN_LOST, KEPT_WIN], "O wins in 1 move (1 ply)", ("e1",)),
    ([16, 4], [UNKNOWN, UNKNOWN], "", ()),
]


@pytest.mark.parametrize(("cells", "grades", "outcome", "better"), NEXT)
def test_only_certainty_is_graded(cells: list[int], grades: list[str], outcome: str, better: tuple[str, ...]) -> None:
    begun = len(EACH_HAS_FOUR)
    with Oracle("6,6,5", live=True, seconds=0) as hasty:
        result = review_match(hasty, match_of("6,6,5", [*EACH_HAS_FOUR, *cells]))
    move = result.moves[begun]
    assert (move.outcome, move.better) == (outcome, better)
    assert move.before == 28, "that there is a win is certain"
    assert [other.grade for other in result.moves[begun:]] == grades
    assert result.turning_point == (move if WIN_LOST in grades else None)
    assert not result.exact


def told(review: Review) -> str:
    return " ".join(" ".join(review_lines(review)).split())


@FEW
@given(st.sampled_from(GAMES), st.permutations(range(9)))
def test_better_moves_than_the_turning_point_would_have_won_a_win_or_held_a_draw(name: str, order: list[int]) -> None:
    rules, game = naive.Game.named(name), parse_game(name)
    review = review_match(oracle_of(name), match_of(name, order))
    if not review.turning_point:
        return
    number = review.turning_point.number
    board = naive.played(rules, order[: number - 1])
    best, better = naive.score(rules, board), sorted(naive.optimal(rules, board))
    assert best >= 0, "a lost game cannot be lost once more"
    assert told(review).endswith(
        f"The turning point was {naive.mover(board)}'s {game.cell_name(order[number - 1])} (move {(number + 1) // 2}): "
        f"it {review.turning_point.grade}. {', '.join(map(game.cell_name, better))} would have "
        f"{'won' if best > 0 else 'held the draw'}."
    )


def test_a_match_without_a_turning_point_is_told_by_its_counts_alone() -> None:
    one_best = "1 move: 1 best, 0 that changed the outcome."
    assert told(reviewed("3,3,3", "b2 a1")) == f"X made {one_best} O made {one_best}"
    assert told(reviewed("3,3,3", "")) == ""


NOT_BEST = """\
1. O b1: turned a draw into a loss, X wins in 3 moves (5 plies). a1, c1, a3, c3
   would have been better.
2. X b3: gave away a win, a draw. a1, c1, a2, c2, a3, c3 would have been
   better.
"""
SUMMARY = """\
X made 2 moves: 1 best, 1 that changed the outcome.
O made 2 moves: 1 best, 1 that changed the outcome.
The turning point was X's b3 (move 2): it gave away a win. a1, c1, a2, c2, a3,
  c3 would have won.
"""


def test_a_review_tells_the_moves_that_were_not_best_or_all_of_them_and_then_a_summary() -> None:
    review = reviewed("3,3,3", "b2 b1 b3 a1")
    assert "\n".join([*review_lines(review), ""]) == NOT_BEST + SUMMARY
    assert "\n".join([*review_lines(review, every=True), ""]) == (
        f"1. X b2: best, a draw.\n{NOT_BEST}2. O a1: best, a draw.\n{SUMMARY}"
    )


def test_a_review_says_that_a_store_would_settle_what_was_not_settled_in_time() -> None:
    with Oracle("6,6,5", live=True, seconds=0) as hasty:
        review = review_match(hasty, match_of("6,6,5", [*EACH_HAS_FOUR, 35, 16]))
    assert "Not every position could be settled in time." in list(review_lines(review))
    advised = "Not every position could be settled in time; a store would settle them."
    assert advised in list(review_lines(review._replace(solvable=True)))
    assert told(review).endswith("X's f6 (move 5): it turned a win into a loss. e1 would have won.")


def test_a_graded_move_is_told_within_79_columns_with_at_most_six_better_ones() -> None:
    better = ("a1", "b1", "c1", "d1", "a2", "b2", "c2")
    move = Graded(3, "X", "d4", DRAW_LOST, 0, -5, "O wins in 4 moves (8 plies)", better)
    text = next(review_lines(Review((move,), None, True)))
    assert " ".join(text.split()) == (
        "2. X d4: turned a draw into a loss, O wins in 4 moves (8 plies). "
        "a1, b1, c1, d1, a2, b2 ... would have been better."
    )
    assert max(map(len, text.splitlines())) <= 79
