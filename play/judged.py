"""Judging the moves of a match on a board too large to settle: certainly where something is proved, else by estimates.

Every position is looked at once, the last one first: what is found there helps to see it coming in those before.
"""

from itertools import pairwise
from typing import Any

from oracle.answers import Analysis, in_words, percent
from oracle.grading import BEST, DRAW_LOST, GAVE_WIN, WIN_LOST
from oracle.oracle import Oracle
from play.advice import analyse
from play.graded import UNKNOWN, Graded
from play.match import Match

KEPT_WIN, KEPT_DRAW, STILL_LOST = "kept the win", "kept the draw", "was lost already"
FINE, HOPELESS, MISTAKE = "looks fine", "looked lost already", "looks like a mistake"
QUIET = (BEST, KEPT_WIN, KEPT_DRAW, STILL_LOST, FINE, HOPELESS)
"""The grades of moves of which a review has nothing to tell."""

LOST = 0.25
"""A move that loses so large a share of the points, by an estimate, looks like a mistake."""

MOST_LOOKS = 5
"""How many times the time of an answer all positions together may take."""

_EACH = 0.5
"""How much of the time of an answer each position may take."""

_VALUES = {"win": 1, "draw": 0, "loss": -1}
_WORDS = {1: "a win", 0: "a draw", -1: "a loss"}
_KEPT = {1: KEPT_WIN, 0: KEPT_DRAW, -1: STILL_LOST}
_CHANGED = {(1, 0): GAVE_WIN, (0, -1): DRAW_LOST, (1, -1): WIN_LOST}


def judged_moves(oracle: Oracle, match: Match[Any], last: int | None) -> tuple[list[Graded], bool]:
    """Return the grades of a match's moves, or of the last few, and whether all that is said is exact."""
    first = 0 if last is None else max(0, len(match.states) - 1 - last)
    states = match.states[first:]
    seconds = oracle.seconds * min(_EACH, MOST_LOOKS / len(states))
    seen = [analyse(oracle, match, state, seconds) for state in reversed(states)][::-1]
    graded = [
        _judged(number, before, after, next(move.move for move in before.moves if move.cell == state.last))
        for number, ((before, after), state) in enumerate(zip(pairwise(seen), states[1:], strict=True), first + 1)
    ]
    return graded, all(analysis.exact for analysis in seen)


def _judged(number: int, before: Analysis, after: Analysis, move: str) -> Graded:
    """Return the grade of a move from what is known of the positions before and after it."""
    side = before.to_move or ""
    was, now = _value(before, side), _value(after, side)
    had, has = _share(before, side), _share(after, side)
    better: tuple[str, ...] = ()
    if was is not None and now is not None:
        grade = _KEPT[now] if now >= was else _CHANGED[was, now]
        meaning = _certain(after, now, side)
        better = before.best if now < was else ()
    elif had is None or has is None:
        grade, meaning = UNKNOWN, "" if now is None else _certain(after, now, side)
    elif had - has >= LOST and move != before.moves[0].move:
        grade, better = MISTAKE, (before.moves[0].move,)
        meaning = f"from {_in_short(was, had)} to {_in_short(now, has)}, an estimate"
    else:
        grade = HOPELESS if now == -1 else FINE
        meaning = f"{_in_short(now, has)}, an estimate" if now is None else _certain(after, now, side)
    return Graded(
        number, side, move, grade, before.score, None if after.score is None else -after.score, meaning, better,
        had if was is None else None, has if now is None else None,
    )  # fmt: skip


def _value(analysis: Analysis, side: str) -> int | None:
    """Return whether a side certainly wins (1), draws (0) or loses (-1); None if that is not certain."""
    if analysis.over:
        return 0 if analysis.winner is None else 1 if analysis.winner == side else -1
    if analysis.outcome is None:
        return None
    return _VALUES[analysis.outcome] * (1 if analysis.to_move == side else -1)


def _share(analysis: Analysis, side: str) -> float | None:
    """Return the share of points that a side may expect; None if nothing is known of that."""
    value = _value(analysis, side)
    if value is not None:
        return (1 + value) / 2
    if analysis.estimate is None:
        return None
    return analysis.estimate if analysis.to_move == side else 1 - analysis.estimate


def _certain(after: Analysis, value: int, side: str) -> str:
    """Return what a move has certainly led to, in words."""
    if not value:
        return "a draw"
    winner = side if value > 0 else "XO"[side == "X"]
    return in_words(value, None if after.over else after.plies, after.scale, winner, exact=not after.bound)


def _in_short(value: int | None, share: float) -> str:
    return f"about {percent(share)}%" if value is None else _WORDS[value]
