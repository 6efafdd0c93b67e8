"""Scores: one signed number that ranks every way in which a game can end.

    cells + 1 - stones on the board when the game ends      for a win
    the same, negated                                       for a loss
    0                                                       for a draw

So a sooner win scores higher, and a later loss. A score is that of the side to move unless said otherwise,
and it counts from the end of the game: a position's score is the negated score of its best child.
"""

PLIES, MARGIN = "plies", "margin"
"""What a score says besides who wins: by how soon, as above, or by how many cells (solver/games/duel.py)."""


def win_score(cells: int, stones: int) -> int:
    """Return the score of a game won with so many stones on a board of so many cells."""
    return cells + 1 - stones


def plies_to_end(score: int, empty: int) -> int | None:
    """Return how many plies a position with so many empty cells is from its end; None for a draw."""
    return empty + 1 - abs(score) if score else None


def result_of(score: int) -> float:
    """Return what a score is worth to its side as points: 1 for a win, a half for a draw, 0 for a loss."""
    return (score > 0) + (score == 0) / 2


def outcome_of(score: int) -> str:
    """Return `win`, `draw` or `loss` for the side that the score belongs to."""
    return "win" if score > 0 else "loss" if score else "draw"
