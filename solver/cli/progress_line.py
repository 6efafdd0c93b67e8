"""Progress shown to a person: one line on standard error."""

import sys
from time import monotonic

import click

from solver.proof.progress import Progress, duration

_FORESEEN = 0.02
"""From what share of the work on it can be said how long the rest takes: the first plies go slowly."""


_REDRAWN, _SAID_AGAIN = 0.1, 60.0
"""After how many seconds the line is drawn anew on a terminal, and written again elsewhere."""


class ProgressLine:
    """Progress on standard error: one line that is drawn over on a terminal, else a line a phase, and a few more."""

    def __init__(self) -> None:
        """Start the clock."""
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._start = self._drawn = monotonic()
        self._phase = ""
        self._before = 0
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Show how far work has come."""
        now = monotonic()
        if progress.note:
            self.clear()
            click.echo(progress.note, err=True)
        if progress.phase != self._phase:
            self._phase, self._start, self._before = progress.phase, now, progress.done
            if not self._terminal:
                click.echo(f"{progress.phase}...", err=True)
            self._drawn = now if not self._terminal else 0.0
        if now - self._drawn < (_REDRAWN if self._terminal else _SAID_AGAIN):
            return
        self._drawn = now
        text = _describe(progress, progress.done - self._before, now - self._start)
        if self._terminal:
            self._draw(text)
        else:
            click.echo(text, err=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._terminal and self._width:
            self._width = min(self._width + len("^C"), 79)  # which the terminal may have written behind it
            self._draw("")

    def _draw(self, text: str) -> None:
        click.echo(f"\r{text:{self._width}}" + ("" if text else "\r"), nl=False, err=True)
        self._width = len(text)


def _describe(progress: Progress, done: int, seconds: float) -> str:
    """The line, `done` places having been done in so many seconds."""
    if not progress.total:
        return f"{progress.phase}..."
    share = progress.done / progress.total
    bar = "#" * int(20 * share)
    rate = done / seconds / 1e6 if seconds > 0 else 0.0
    where = f"{progress.phase} [{bar:20}] {share:4.0%}  ply {progress.ply:2}"
    if done < _FORESEEN * progress.total:
        return f"{where}  {rate:.1f} million/s"[:79]
    left = duration((progress.total - progress.done) / (done / seconds))
    return f"{where}  {rate:.1f} million/s  {left} left"[:79]
