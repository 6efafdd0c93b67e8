"""The grade of a move: what it did to the outcome, as far as that is known."""

from collections.abc import Sequence
from typing import NamedTuple

from oracle.answers import in_words
from oracle.grading import DRAW_LOST, GAVE_WIN, WIN_LOST

UNKNOWN = "not settled"


class Graded(NamedTuple):
    """A move that was made, and what it did."""

    number: int
    """Which move of the match, from 1."""
    side: str
    move: str
    grade: str
    before: int | None
    """The best score that could be had; None if that is not settled."""
    after: int | None
    """The score that the move has, for the side that made it; None if that is not settled."""
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


def led_to(score: int, plies: int | None, scale: str, side: str, sides: Sequence[str]) -> str:
    """Return what a score of a side means, so many plies before the end."""
    return in_words(score, plies, scale, side if score > 0 else next(other for other in sides if other != side))
