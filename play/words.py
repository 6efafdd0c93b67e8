"""Words for people: sentences, graded moves and reviews, as running text that whoever shows it wraps."""

from collections.abc import Iterator

from oracle.cli.why import why
from oracle.grading import BEST
from play.graded import Graded
from play.judged import MISTAKE
from play.review import Review
from play.sitting import Sitting


def sentence(text: str) -> str:
    """Return a clause with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def in_sentences(move: Graded) -> str:
    """Return a graded move as one sentence, or two."""
    text = f"{(move.number + 1) // 2}. {move.side} {move.move}: {', '.join(filter(None, (move.grade, move.outcome)))}."
    if move.better:
        would = "looks better" if move.grade == MISTAKE else "would have been better"
        text += f" {', '.join(move.better[:6])}{' ...' if len(move.better) > 6 else ''} {would}."
    return text


def summary(review: Review) -> Iterator[str]:
    """Yield what a review comes to: what is not certain, how well each side has moved, and the turning point."""
    if not review.exact:
        yield _unsettled(review)
    for side in sorted({move.side for move in review.moves}, reverse=True):
        yield _of_side(side, [move for move in review.moves if move.side == side], review)
    point = review.turning_point
    if point:
        told = f"The turning point was {point.side}'s {point.move} (move {(point.number + 1) // 2}): it {point.grade}."
        if point.better:
            would = "won" if (point.before or 0) > 0 else "held the draw"
            told += f" {', '.join(point.better[:8])} would have {would}."
        yield told


def reasons(sitting: Sitting) -> Iterator[str]:
    """Yield what the last two moves did and, on a large board, why the position is worth what it is said to be.

    The last of these texts may be a drawing, whose lines are not to be wrapped.
    """
    graded = sitting.review(2).moves
    if not graded:
        yield "No move has been made yet."
    for move in graded:
        yield in_sentences(move)
    if sitting.roster.oracle().estimates and not sitting.match.outcome:
        analysis = sitting.analysis("explain")
        yield f"{analysis.to_move} to move: {analysis.verdict}."
        yield why(sitting.match.state.position, analysis, "".join(sitting.rules.sides))


def _unsettled(review: Review) -> str:
    if any(move.estimate_before is not None for move in review.moves):
        return "Percentages are estimates; a win, a draw or a loss is certain."
    return f"Not every position could be settled in time{'; a store would settle them' if review.solvable else ''}."


def _of_side(side: str, own: list[Graded], review: Review) -> str:
    """Return how well a side has moved."""
    moves, changed = f"{len(own)} move{'s' * (len(own) != 1)}", sum(move.changed for move in own)
    if review.solvable:
        best = sum(move.grade == BEST for move in own)
        return f"{side} made {moves}: {best} best, {changed} that changed the outcome."
    wrong = sum(move.grade == MISTAKE for move in own)
    looks = "looks like a mistake" if wrong == 1 else "look like mistakes"
    return f"{side} made {moves}: {wrong} that {looks}, {changed} that certainly changed the outcome."
