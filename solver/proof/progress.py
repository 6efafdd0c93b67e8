"""Progress reports of long work. The caller decides what to do with them."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far the work is: `done` of `total` places, now at positions with `ply` stones."""

    phase: str
    ply: int = 0
    done: int = 0
    total: int = 0
    detail: str = ""
    """What to say of work whose end is not known."""
    note: str = ""
    """A message to show once."""


ProgressCallback = Callable[[Progress], None]


def duration(seconds: float) -> str:
    """Return a duration in words, rounded for reading."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if whole >= 120 else f"{whole} s"


def silent(progress: Progress) -> None:
    """Ignore progress."""
