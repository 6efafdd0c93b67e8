"""How much a look at a large board may take: a time or, so that it is the same on every machine, a number of nodes."""

from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any, Protocol

NODES_A_SECOND = 1_000_000
"""The number of nodes that stand for a second: about what the engine visits on a quiet machine."""

_PLAIN = 25
"""So many times more costly a node is in plain Python."""


class Limit(Protocol):
    """A limit of a look; each part of the look has to end by some share of it."""

    def deadline(self, share: float, most: float = inf) -> float:
        """Return the time by which plain Python has to end, after at `most` so many seconds."""

    def postpone(self, seconds: float) -> None:
        """Begin so much later."""

    def nodes(self, share: float) -> float:
        """Return the number of nodes that plain Python may visit."""

    def search(self, share: float, most: int = 0) -> dict[str, Any]:
        """Return the arguments that limit a search by the engine, which has at `most` so many nodes."""

    def spend(self, nodes: int) -> None:
        """Count nodes that the engine has visited."""

    @property
    def spent(self) -> bool:
        """Whether nothing is left for the engine."""


@dataclass
class Time:
    """A limit in seconds, from a time on."""

    start: float
    span: float

    def deadline(self, share: float, most: float = inf) -> float:
        """Return the time after that share of the span."""
        return self.start + min(share * self.span, most)

    def postpone(self, seconds: float) -> None:
        """Begin so much later."""
        self.start += seconds

    def nodes(self, share: float) -> float:
        """Return infinity."""
        return inf

    def search(self, share: float, most: int = 0) -> dict[str, Any]:
        """Return the seconds that are left."""
        return {"seconds": max(0.0, self.deadline(share) - monotonic()), "nodes": most}

    def spend(self, nodes: int) -> None:
        """Count nothing: time passes by itself."""

    @property
    def spent(self) -> bool:
        """False: searches end at their deadline."""
        return False


class Nodes:
    """A limit in nodes."""

    def __init__(self, nodes: int) -> None:
        """Allow so many nodes."""
        self._all = self._left = nodes

    def deadline(self, share: float, most: float = inf) -> float:
        """Return infinity."""
        return inf

    def postpone(self, seconds: float) -> None:
        """Do nothing: nodes do not pass by themselves."""

    def nodes(self, share: float) -> float:
        """Return that share of the nodes, at the price that they have in plain Python."""
        return share * self._all / _PLAIN

    def search(self, share: float, most: int = 0) -> dict[str, Any]:
        """Return the nodes that are left of that share, one at least."""
        left = max(1, self._left - int((1 - share) * self._all))
        return {"nodes": min(most, left) if most else left}

    def spend(self, nodes: int) -> None:
        """Count them."""
        self._left -= nodes

    @property
    def spent(self) -> bool:
        """Whether no nodes are left."""
        return self._left <= 0
