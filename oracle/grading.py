"""Grading: what a move did to the outcome, from the best score there was and the score that the move has."""

from solver.games.score import MARGIN, PLIES, outcome_of

BEST = "best"
SLOWER, SMALLER = "slower win", "smaller win"
FASTER, LARGER = "faster loss", "larger loss"
GAVE_WIN = "gave away a win"
DRAW_LOST = "turned a draw into a loss"
WIN_LOST = "turned a win into a loss"


def keeps_outcome(best: int, score: int) -> bool:
    """Tell whether a move keeps the outcome that the best move has."""
    return outcome_of(best) == outcome_of(score)


def grade_of(best: int, score: int, scale: str = PLIES) -> str:
    """Return the grade of a move with some score where the best move has `best`."""
    if score == best:
        return BEST
    if keeps_outcome(best, score):
        win, loss = (SMALLER, LARGER) if scale == MARGIN else (SLOWER, FASTER)
        return win if score > 0 else loss
    if score == 0:
        return GAVE_WIN
    return DRAW_LOST if best == 0 else WIN_LOST
