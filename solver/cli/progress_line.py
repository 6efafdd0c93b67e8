"""Progress on standard error."""

import sys
from time import monotonic

import click

from solver.proof.progress import Progress, duration
from solver.text import printable

_FORESEEN = 0.02
"""The share of the work after which the remaining time is estimated: the first plies are slow."""

_FAST = 50_000
"""From so many places a second on, the speed is told in millions."""

_REDRAWN, _SAID_AGAIN = 0.1, 60.0
"""How many seconds pass between two updates: on a terminal, and elsewhere."""


class ProgressLine:
    """Shows progress: on a terminal one line that is redrawn, elsewhere a line for each phase and one a minute.

    As a context manager it erases the line at the end. It never hides the cursor.
    """

    def __init__(self, *, phases: bool = True) -> None:
        """Start the clock; without `phases` there is only the line a minute elsewhere."""
        self._phases = phases
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._start = self._drawn = monotonic()
        self._phase = ""
        self._before = 0
        self._width = 0

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()

    def __call__(self, progress: Progress) -> None:
        """Show how far the work is."""
        now = monotonic()
        if progress.note:
            self.clear()
            click.echo("\n".join(map(printable, progress.note.split("\n"))), err=True)
        if progress.phase != self._phase:
            self._phase, self._start, self._before = progress.phase, now, progress.done
            if not self._terminal and self._phases:
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
        """Erase the line."""
        if self._terminal and self._width:
            self._width = min(self._width + len("^C"), 79)  # which the terminal may have echoed after it
            self._draw("")

    def _draw(self, text: str) -> None:
        click.echo(f"\r{text:{self._width}}" + ("" if text else "\r"), nl=False, err=True)
        self._width = len(text)


def _describe(progress: Progress, done: int, seconds: float) -> str:
    """Return the line to show when `done` places took so many seconds."""
    if not progress.total:
        return f"{progress.phase}... {progress.detail}".rstrip()[:79]
    share = progress.done / progress.total
    bar = "#" * int(20 * share)
    rate = done / seconds if seconds > 0 else 0.0
    speed = f"{rate / 1e6:.1f} million/s" if rate >= _FAST else f"{rate:,.0f}/s"
    where = f"{progress.phase} [{bar:20}] {share:4.0%}" + (f"  ply {progress.ply:2}" if progress.ply else "")
    if progress.detail:
        where += f"  {progress.detail}"
    if done < _FORESEEN * progress.total:
        return f"{where}  {speed}"[:79]
    left = duration((progress.total - progress.done) / (done / seconds))
    return f"{where}  {speed}  {left} left"[:79]
