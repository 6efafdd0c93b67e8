"""Reviewing a match: what each move did to the outcome, by exact scores, and which move decided it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from oracle.answers import in_words
from oracle.grading import grade_of, keeps_outcome
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
    """The best moves there were; empty if this was one."""

    @property
    def changed(self) -> bool:
        """Whether it changed the outcome, for the worse."""
        return self.grade != UNKNOWN and not keeps_outcome(self.before, self.after)


class Review(NamedTuple):
    """Every move of a match, graded, and the one that decided it."""

    moves: tuple[Graded, ...]
    turning_point: Graded | None
    """The last move that changed the outcome; None if none did."""
    exact: bool
    solvable: bool = True
    """Whether a store could settle every position."""


def review_match(oracle: Oracle, match: Match[Any]) -> Review:
    """Return the grades of a match's moves."""
    graded, exact = [], True
    for number, (state, after) in enumerate(pairwise(match.states), 1):
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
    changes = [move for move in graded if move.changed]
    solvable = oracle.game.cells <= oracle.game.solvable_cells
    return Review(tuple(graded), changes[-1] if changes else None, exact, solvable)


def led_to(score: int, plies: int | None, scale: str, side: str, sides: Sequence[str]) -> str:
    """Return what a score of a side means, so many plies before the end."""
    return in_words(score, plies, scale, side if score > 0 else next(other for other in sides if other != side))
