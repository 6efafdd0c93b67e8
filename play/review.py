"""Reviewing a match: what each move did to the outcome, by exact scores, and which one decided it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from oracle.answers import in_moves
from oracle.oracle import Oracle
from play.rules import LineState

BEST = "best"
SLOWER = "slower win"
FASTER = "faster loss"
GAVE_WIN = "gave away a win"
DRAW_LOST = "turned a draw into a loss"
WIN_LOST = "turned a win into a loss"
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
    """The score that the move has, for who made it."""
    outcome: str
    """In words, what it led to; empty if that is not known."""
    better: tuple[str, ...]
    """The best moves there were; empty if this was one."""

    @property
    def changed(self) -> bool:
        """Whether it changed the outcome, for the worse."""
        return self.grade in (GAVE_WIN, DRAW_LOST, WIN_LOST)


class Review(NamedTuple):
    """Every move of a match, graded, and the one that decided it."""

    moves: tuple[Graded, ...]
    turning_point: Graded | None
    """The last move that changed the outcome; None if none did."""
    exact: bool


def review(oracle: Oracle, states: Sequence[LineState]) -> Review:
    """What an oracle says of the moves that lead through some states."""
    graded, exact = [], True
    for number, (state, after) in enumerate(pairwise(states), 1):
        analysis = oracle.analysis(state.position)
        exact = exact and analysis.exact
        name = oracle.game.cell_name(after.last or 0)
        move = next(move for move in analysis.moves if move.move == name)
        certain = analysis.exact or move.score < 0 < analysis.score  # a win and a loss that were found are there
        grade = grade_of(analysis.score, move.score) if certain else UNKNOWN
        plies = move.plies and move.plies - 1
        graded.append(
            Graded(
                number, state.position.mover, name, grade, analysis.score, move.score,
                told(move.score, plies, state.position.mover) if analysis.exact or move.score else "",
                () if move.best or grade == UNKNOWN else analysis.best,
            )
        )  # fmt: skip
    changes = [move for move in graded if move.changed]
    return Review(tuple(graded), changes[-1] if changes else None, exact)


def grade_of(best: int, score: int) -> str:
    """What a move of some score is where the best has that."""
    if score == best:
        return BEST
    if score > 0:
        return SLOWER
    if best > 0:
        return GAVE_WIN if score == 0 else WIN_LOST
    return DRAW_LOST if best == 0 else FASTER


def told(score: int, plies: int | None, side: str) -> str:
    """What a score of a side means, in words, so many plies before the end."""
    if not score or plies is None:
        return "a draw"
    winner = side if score > 0 else "XO"[side == "X"]
    return f"{winner} wins in {in_moves(plies)}" if plies else f"{winner} has won"
