"""Reviewing a match: what each move did to the outcome, by exact scores, and which move decided it.

On boards too large to settle, only what is proved is called certain (play/judged.py), unless there is a store.
"""

from itertools import pairwise
from typing import Any, NamedTuple

from oracle.answers import Analysis, Move
from oracle.grading import BEST, grade_of, keeps_outcome
from oracle.oracle import Oracle
from play.advice import analyse
from play.graded import UNKNOWN, Graded, led_to
from play.judged import QUIET, judged_moves
from play.match import Match


class Review(NamedTuple):
    """Every move of a match, graded, and the one that decided it."""

    moves: tuple[Graded, ...]
    turning_point: Graded | None
    """The last move that changed the outcome; None if none did."""
    exact: bool
    solvable: bool = True
    """Whether every position can be settled: by a store, or by a search that has the time."""

    @property
    def lessons(self) -> list[Graded]:
        """The moves of which there is something to tell: those that were not best, as far as that is known."""
        quiet = (BEST,) if self.solvable else (*QUIET, UNKNOWN)
        return [move for move in self.moves if move.grade not in quiet]


def review_match(oracle: Oracle, match: Match[Any], last: int | None = None) -> Review:
    """Return the grades of a match's moves, or of the last few.

    On a board too large to settle, all positions together get no more than a few times the oracle's time.
    """
    if oracle.estimates:
        graded, exact = judged_moves(oracle, match, last)
    else:
        graded, exact = _exact_grades(oracle, match, last)
    changes = [move for move in graded if move.changed]
    solvable = not oracle.estimates and oracle.game.cells <= oracle.game.solvable_cells
    return Review(tuple(graded), changes[-1] if changes else None, exact, solvable)


def _exact_grades(oracle: Oracle, match: Match[Any], last: int | None) -> tuple[list[Graded], bool]:
    """Return the grades of moves by the scores of all moves there were, and whether all of those are exact."""
    graded, exact = [], True
    first = 0 if last is None else max(0, len(match.states) - 1 - last)
    for number, (state, after) in enumerate(pairwise(match.states[first:]), first + 1):
        analysis = analyse(oracle, match, state)
        exact = exact and analysis.exact
        move = next(move for move in analysis.moves if move.cell == after.last)
        side = analysis.to_move or ""
        grade, meaning = _graded(analysis, move), ""
        if move.score is not None:
            meaning = led_to(move.score, move.plies and move.plies - 1, analysis.scale, side, match.rules.sides)
        graded.append(
            Graded(
                number, side, move.move, grade, analysis.score, move.score,
                meaning,
                () if move.best or grade == UNKNOWN else analysis.best,
            )
        )  # fmt: skip
    return graded, exact


def _graded(analysis: Analysis, move: Move) -> str:
    """Return what a move did, if that is certain. If a sooner win is possible, moves that win differ unseen."""
    if analysis.score is None or move.score is None:
        return UNKNOWN
    if analysis.bound and keeps_outcome(analysis.score, move.score):
        return UNKNOWN
    return grade_of(analysis.score, move.score, analysis.scale)
