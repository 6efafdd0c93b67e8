"""Reviewing a match: what each move did to the outcome, by exact scores, and which move decided it.

On boards too large to settle, only what is proved is called certain (play/judged.py).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from oracle.answers import in_words
from oracle.grading import DRAW_LOST, GAVE_WIN, WIN_LOST, grade_of
from oracle.oracle import Oracle
from play.advice import analyse
from play.match import Match

UNKNOWN = "not settled"


class Graded(NamedTuple):
    """A move that was made, and what it did."""

    number: int
    """Which move of the match, from 1."""
    side: str
    move: str
    grade: str
    before: int
    """The best score that could be had."""
    after: int
    """The score that the move has, for the side that made it."""
    outcome: str
    """What it led to, in words; empty if that is not known."""
    better: tuple[str, ...]
    """The best moves there were; empty if this was one. If the grade is an estimate, the move that looks best."""
    estimate_before: float | None = None
    """The share of points that the side could expect before the move; None where that is certain, or unknown."""
    estimate_after: float | None = None
    """The share of points that it could expect after the move; None where that is certain, or unknown."""

    @property
    def changed(self) -> bool:
        """Whether it certainly changed the outcome, for the worse."""
        return self.grade in (GAVE_WIN, DRAW_LOST, WIN_LOST)


class Review(NamedTuple):
    """Every move of a match, graded, and the one that decided it."""

    moves: tuple[Graded, ...]
    turning_point: Graded | None
    """The last move that changed the outcome; None if none did."""
    exact: bool
    solvable: bool = True
    """Whether a store could settle every position."""


def review_match(oracle: Oracle, match: Match[Any], last: int | None = None) -> Review:
    """Return the grades of a match's moves, or of the last few.

    On a board too large to settle, all positions together get no more than a few times the oracle's time.
    """
    if oracle.estimates:
        from play.judged import judged_moves  # only now: it grades as this module says

        graded, exact = judged_moves(oracle, match, last)
    else:
        graded, exact = _exact_grades(oracle, match, last)
    changes = [move for move in graded if move.changed]
    solvable = oracle.game.cells <= oracle.game.solvable_cells
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
        certain = analysis.exact or move.score < 0 < analysis.score  # a win and a loss that were found are exact
        grade = grade_of(analysis.score, move.score, analysis.scale) if certain else UNKNOWN
        plies = move.plies and move.plies - 1
        meaning = led_to(move.score, plies, analysis.scale, side, match.rules.sides)
        graded.append(
            Graded(
                number, side, move.move, grade, analysis.score, move.score,
                meaning if analysis.exact or move.score else "",
                () if move.best or grade == UNKNOWN else analysis.best,
            )
        )  # fmt: skip
    return graded, exact


def led_to(score: int, plies: int | None, scale: str, side: str, sides: Sequence[str]) -> str:
    """Return what a score of a side means, so many plies before the end."""
    return in_words(score, plies, scale, side if score > 0 else next(other for other in sides if other != side))
