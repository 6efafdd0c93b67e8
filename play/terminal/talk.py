"""What is printed for a person: text within 80 columns, and a note while somebody thinks."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import click

from play.review import Review
from play.words import in_sentences, summary

THINKING_AFTER = 0.2
"""After how many seconds a note says that a player is thinking: any sooner, it would only flicker."""


def say(text: str) -> None:
    """Print text as it stands."""
    click.echo(text)


def say_wrapped(text: str) -> None:
    """Print sentences in lines of at most 79 columns."""
    click.echo(click.wrap_text(text, 79))


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


def review_lines(review: Review, *, every: bool = False) -> Iterator[str]:
    """Yield a review in lines: the moves from which something can be learned, or all of them, and what it comes to."""
    for move in review.moves if every else review.lessons:
        yield click.wrap_text(in_sentences(move), 79, "", "   ")
    for text in summary(review):
        yield click.wrap_text(text, 79, "", "  ")
