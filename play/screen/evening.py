"""The score over the games of an evening: those that were played since the program was started."""

from collections import Counter
from typing import Any


class Evening:
    """How many games were won, lost and drawn. A game that ends again, after an undo, counts as it ended last."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._results: dict[int, tuple[Any, str, bool]] = {}

    def count(self, match: Any, winner: str | None, person: str | None) -> None:
        """Count a match that has ended: for `person`, if only one plays, else for the side that has won."""
        if person is None:
            result = f"{winner} won" if winner else "drawn"
        else:
            result = "drawn" if winner is None else "won" if winner == person else "lost"
        self._results[id(match)] = match, result, person is not None  # the match is held, so its id stays its own

    def __str__(self) -> str:
        counts = Counter(result for _, result, _ in self._results.values())
        names = ["won", "lost", "drawn"] if any(person for *_, person in self._results.values()) else sorted(counts)
        names += [name for name in sorted(counts) if name not in names]
        return ", ".join(f"{counts[name]} {name}" for name in names) if counts else ""
