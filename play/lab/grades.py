"""Grades: what is known of how good a player is.

`value` is what the player gets on average against an opponent that knows it and makes the best replies, and
`given_away` is what it gets less than perfect play gives its side. `nash_conv` is what both sides give away together;
OpenSpiel's `exploitability` is half of it. `decisive`, `kept` and `optimal` are shares of positions, which
play/lab/shares.py explains.

A mean hides failure, so what is given away comes first: a player that errs at one ply alone may keep the outcome in
99.9 % of all positions, and yet be beaten every time.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from play.arena.meetings import interval
from play.records.text import Record

if TYPE_CHECKING:
    from play.lab.shares import Shares

ALL, CANONICAL = "all", "canonical"


CLASSES = ("take", "stop", "only", "trap", "lost", "indifferent")
DECISIVE = CLASSES[:4]


class Share(NamedTuple):
    """The shares of some positions in which a player does well."""

    positions: float
    """How many positions, by weight."""
    kept: float | None
    """In which share of them the outcome is kept; None if there are none."""
    optimal: float | None


class Estimate(NamedTuple):
    """A value that was measured in games: the true one, against best replies, may well be lower."""

    value: float
    low: float
    high: float
    """The 95% confidence interval of the result in such games."""
    games: int
    opponent: str


@dataclass(frozen=True)
class Grade:
    """How good a player is at a game."""

    game: str
    player: str
    perfect: int | None
    """X's result with perfect play: 1, 0 or -1; None if it is not known."""
    value: dict[str, float]
    """The player's result as each side, on average, against best replies; empty if it was not worked out."""
    given_away: dict[str, float] | None
    """By side, what perfect play gets more than the player."""
    v_random: dict[str, float] | None
    """The player's result as each side against random moves."""
    positions: str | int
    """Which positions the shares are of: all, canonical, or how many were drawn."""
    varies: bool
    """Whether the player answers differently from time to time, so that the shares are what it did once."""
    shares: "Shares | None"
    """In how many positions the player keeps the outcome; None where no scores are known."""
    met: dict[str, int] | None
    """How many positions the player can meet as each side, up to symmetry if he is symmetric."""
    refutations: dict[str, Record]
    """By side, a shortest game in which the player gets less than perfect play does."""
    estimates: dict[str, Estimate]
    """By side, how the values were estimated; none if they are exact."""

    why_not_exact: str = ""
    """Why the values are not exact, if they are not."""

    @property
    def exact(self) -> bool:
        """Whether the values are exact."""
        return bool(self.value) and not self.estimates

    @property
    def nash_conv(self) -> float | None:
        """What both sides give away together: twice what OpenSpiel calls exploitability."""
        return sum(self.given_away.values()) if self.given_away else None

    @property
    def kept(self) -> float | None:
        """The share of positions in which the outcome is kept."""
        return self.shares.of().kept if self.shares else None

    @property
    def decisive(self) -> float | None:
        """The share of decisive positions in which the outcome is kept."""
        return self.shares.of(*DECISIVE).kept if self.shares else None

    @property
    def optimal(self) -> float | None:
        """The share of positions in which no other move wins sooner or loses later."""
        return self.shares.of().optimal if self.shares else None

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The 95% confidence intervals of the shares, if positions were drawn or the player varies."""
        if self.shares is None or (self.positions in (ALL, CANONICAL) and not self.varies):
            return {}
        parts = {"decisive": self.shares.of(*DECISIVE), "kept": self.shares.of()}
        return {
            name: interval(share.kept * share.positions, share.positions)
            for name, share in parts.items()
            if share.kept is not None
        }

    @property
    def by_ply(self) -> list[tuple[int, Share, Share]]:
        """By ply, the shares of all positions and of the decisive ones."""
        return list(self.shares.by_ply()) if self.shares else []

    @property
    def by_class(self) -> dict[str, Share]:
        """The shares of each class of positions: play/lab/shares.py explains them."""
        return self.shares.by_class() if self.shares else {}

    @property
    def refutation(self) -> Record | None:
        """The shortest game in which the player gets less than perfect play does; None if there is none."""
        return min(self.refutations.values(), key=lambda record: len(record.match.moves), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return the grade as JSON has it."""
        return {
            "game": self.game,
            "player": self.player,
            "exact": self.exact,
            "why_not_exact": self.why_not_exact or None,
            "perfect": self.perfect,
            "value": self.value,
            "given_away": self.given_away,
            "nash_conv": self.nash_conv,
            "estimates": {side: estimate._asdict() for side, estimate in self.estimates.items()},
            "v_random": self.v_random,
            "met": self.met,
            "positions": self.positions,
            "varies": self.varies,
            "decisive": self.decisive,
            "kept": self.kept,
            "optimal": self.optimal,
            "intervals": self.intervals,
            "invalid": self.shares.invalid if self.shares else None,
            "by_ply": [
                {"ply": ply, **_fields(of_all), "decisive": _fields(of_decisive)}
                for ply, of_all, of_decisive in self.by_ply
            ],
            "by_class": {kind: _fields(share) for kind, share in self.by_class.items()},
            "refutations": {side: [record.match.rules.write(move) for move in record.match.moves]
                            for side, record in self.refutations.items()},
        }  # fmt: skip


def _fields(share: Share) -> dict[str, Any]:
    """Return a share as JSON has it, its number of positions as a whole number where it is one."""
    whole = share.positions.is_integer()
    return {**share._asdict(), "positions": int(share.positions) if whole else share.positions}
