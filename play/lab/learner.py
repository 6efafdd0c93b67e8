"""What a learner is: something that plays games by number, learns from them, and has a policy at any time."""

from typing import Any, ClassVar, NamedTuple, Protocol

from play.lab.policies import Policy
from play.lab.runs import Arrays


class Played(NamedTuple):
    """What came of some training games."""

    x_wins: int
    draws: int
    o_wins: int
    plies: int
    attempts: int = 0
    """How often a taken cell was tried."""

    def __add__(self, other: Any) -> "Played":
        """Return what came of both."""
        return Played(*(one + more for one, more in zip(self, other, strict=True)))

    @property
    def games(self) -> int:
        """How many games there were."""
        return self.x_wins + self.draws + self.o_wins


class Learner(Protocol):
    """Learns one game. Every training game draws its random numbers from the seed and its own number alone."""

    name: ClassVar[str]
    goal: ClassVar[str]
    """The share that tells when it is done: `optimal`, or `kept` if it does not learn how far the end is."""
    portion: ClassVar[int]
    """It plays so many games in well under a second."""

    def train(self, start: int, count: int) -> Played:
        """Play so many games, from number `start` on, and learn from each."""

    def policy(self) -> Policy:
        """Return what it would play now."""

    def entropy(self) -> float:
        """Return the mean number of bits by which its best moves are left open, because others seem as good."""

    @property
    def seen(self) -> int:
        """How many entries of its tables it has learned something about."""

    def arrays(self) -> Arrays:
        """Return all that was learned."""

    def load(self, arrays: Arrays) -> None:
        """Go on from what was learned before; raise ValueError if it is of another game or learner."""


def fill(into: Arrays, arrays: Arrays) -> None:
    """Copy arrays into others of the same names, shapes and types; raise ValueError if they are not."""
    for name, array in into.items():
        found = arrays.get(name)
        if found is None or found.shape != array.shape or found.dtype != array.dtype:
            raise ValueError(f"{name} is not {array.dtype} of shape {array.shape}")
        array[...] = found
