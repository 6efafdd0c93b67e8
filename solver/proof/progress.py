"""What long work tells while it goes on, and to whom is the caller's business."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far work has come: `done` of `total` places, now at positions of `ply` stones."""

    phase: str
    ply: int = 0
    done: int = 0
    total: int = 0
    note: str = ""
    """Something to be said once."""


Tell = Callable[[Progress], None]


def duration(seconds: float) -> str:
    """So many seconds, as precise as anybody cares."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if whole >= 120 else f"{whole} s"


def silent(progress: Progress) -> None:
    """Tell nobody."""
