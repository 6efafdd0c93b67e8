"""What is printed for a person: sentences within 80 columns, graded moves, and a note while somebody thinks."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import click

from oracle.cli.why import why
from oracle.grading import BEST
from play.graded import Graded
from play.judged import MISTAKE
from play.review import Review
from play.sitting import Sitting

THINKING_AFTER = 0.2
"""After how many seconds a note says that a player is thinking: any sooner, it would only flicker."""


def say(text: str) -> None:
    """Print text as it stands."""
    click.echo(text)


def say_wrapped(text: str) -> None:
    """Print sentences in lines of at most 79 columns."""
    click.echo(click.wrap_text(text, 79))


def sentence(text: str) -> str:
    """Return a clause with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


@contextmanager
def thinking(who: str) -> Iterator[None]:
    """Say on a terminal that somebody is thinking, if it takes long."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield
        return
    shown: list[str] = []

    def show() -> None:
        shown.append(f"{who} is thinking...")
        click.echo(shown[0], nl=False, err=True)

    timer = Timer(THINKING_AFTER, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shown:
            click.echo(f"\r{' ' * len(shown[0])}\r", nl=False, err=True)


def explained(move: Graded) -> str:
    """Return a graded move as one sentence, or two, in lines."""
    return click.wrap_text(in_sentences(move), 79, "", "   ")


def in_sentences(move: Graded) -> str:
    """Return a graded move as one sentence, or two."""
    text = f"{(move.number + 1) // 2}. {move.side} {move.move}: {', '.join(filter(None, (move.grade, move.outcome)))}."
    if move.better:
        would = "looks better" if move.grade == MISTAKE else "would have been better"
        text += f" {', '.join(move.better[:6])}{' ...' if len(move.better) > 6 else ''} {would}."
    return text


def review_lines(review: Review, *, every: bool = False) -> Iterator[str]:
    """Yield a review line by line: the moves that were not best, or all of them, a summary, and the turning point.

    On boards too large to settle, moves of which nothing is known are not worth a line.
    """
    for move in review.moves if every else review.lessons:
        yield explained(move)
    if not review.exact:
        yield _unsettled(review)
    for side in sorted({move.side for move in review.moves}, reverse=True):
        yield _summary(side, [move for move in review.moves if move.side == side], review)
    point = review.turning_point
    if point:
        told = f"The turning point was {point.side}'s {point.move} (move {(point.number + 1) // 2}): it {point.grade}."
        if point.better:
            would = "won" if point.before > 0 else "held the draw"
            told += f" {', '.join(point.better[:8])} would have {would}."
        yield click.wrap_text(told, 79, "", "  ")


def why_lines(sitting: Sitting) -> Iterator[str]:
    """Explain the last two moves and, on a large board, why the position is worth what it is said to be."""
    graded = sitting.review(2).moves
    if not graded:
        yield "No move has been made yet."
    for move in graded:
        yield explained(move)
    if sitting.roster.oracle().estimates and not sitting.match.outcome:
        analysis = sitting.analysis("explain")
        yield click.wrap_text(f"{analysis.to_move} to move: {analysis.verdict}.", 79)
        yield why(sitting.match.state.position, analysis, "".join(sitting.rules.sides))


def _unsettled(review: Review) -> str:
    if any(move.estimate_before is not None for move in review.moves):
        return "Percentages are estimates; a win, a draw or a loss is certain."
    return f"Not every position could be settled in time{'; a store would settle them' if review.solvable else ''}."


def _summary(side: str, own: list[Graded], review: Review) -> str:
    """Return in a line how well a side has moved."""
    moves, changed = f"{len(own)} move{'s' * (len(own) != 1)}", sum(move.changed for move in own)
    if review.solvable:
        best = sum(move.grade == BEST for move in own)
        return f"{side} made {moves}: {best} best, {changed} that changed the outcome."
    wrong = sum(move.grade == MISTAKE for move in own)
    looks = "looks like a mistake" if wrong == 1 else "look like mistakes"
    told = f"{side} made {moves}: {wrong} that {looks}, {changed} that certainly changed the outcome."
    return click.wrap_text(told, 79, "", "  ")
