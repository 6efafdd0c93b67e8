"""The lab: train learners, and grade any player against exact truth. From Python:

    from play.lab import Positions, exploiter, grade
    result = grade("4,4,4", "rules")
    result.given_away, result.decisive, result.refutation

play/lab/grading.py says what a grade holds, and play/lab/policies.py what can be graded. It loads numba and numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from play.lab.grades import Grade
    from play.lab.grading import Grader, exploiter, grade
    from solver.arrays.positions import Positions

_HOMES = {
    "Grade": "play.lab.grades",
    "Grader": "play.lab.grading",
    "Positions": "solver.arrays.positions",
    "exploiter": "play.lab.grading",
    "grade": "play.lab.grading",
}

__all__ = ["Grade", "Grader", "Positions", "exploiter", "grade"]


def __getattr__(name: str) -> Any:
    """Load what is asked for: the environments need nothing of it."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'play.lab' has no attribute {name!r}")
