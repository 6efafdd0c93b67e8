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


Tell = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Tell nobody."""
