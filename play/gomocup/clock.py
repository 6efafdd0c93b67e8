"""How long may a move take? What INFO said of time, and how the time of a whole match is split.

A limit of a turn is used up to a margin, because the manager's clock starts earlier and stops later than ours. Of what
is left of the match, a move takes an equal part of what an average game may still need, so a long game never runs out.
"""

USUAL = 2.0
"""How long a move takes if nobody limits it, in seconds."""

LEAST = 0.01
"""How long a move takes when it must be as fast as possible, in seconds."""

UNLIMITED = 2**31 - 1
"""What a manager says is left of the time for a match that has no limit, in milliseconds."""

_MARGIN, _MARGIN_SHARE = 0.05, 0.03
_MOST_MOVES, _FEWEST_MOVES = 30, 10


class Clock:
    """The limits that a manager set."""

    def __init__(self) -> None:
        """Begin without limits."""
        self.turn: float | None = None
        self.match: float | None = None
        self.left: float | None = None
        self.spent = 0.0
        """How long moves have taken in this match, in seconds."""

    def set(self, key: str, milliseconds: int) -> None:
        """Take a limit over: `timeout_turn`, `timeout_match` or `time_left`."""
        seconds = milliseconds / 1000
        if key == "timeout_turn":
            self.turn = max(0.0, seconds)
        elif key == "timeout_match":
            self.match = seconds if seconds > 0 else None
        else:
            self.left = None if milliseconds >= UNLIMITED else seconds

    def seconds(self, moves: int) -> float:
        """Return how long to think about a move, after so many moves of one's own."""
        left = self.match - self.spent if self.left is None and self.match is not None else self.left
        part = None if left is None else left / max(_FEWEST_MOVES, _MOST_MOVES - moves)
        limits = [limit for limit in (self.turn, part) if limit is not None]
        allowed = min(limits, default=USUAL)
        return max(LEAST, allowed - min(_MARGIN + _MARGIN_SHARE * allowed, allowed / 2))
