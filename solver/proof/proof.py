"""A proof: solve a game with two solvers that must agree, layer by layer, in as many threads as wanted.

What is the same for every kind of game is here; solver/proof/prove.py fills and checks the pages of games of lines, and
solver/duel/prove.py those of the duel. One thread fills a chunk of pages, counts their positions, checks them by search
and passes them to the caller's `use`. Layers come one at a time, from the end of the game to the empty board.
"""

import math
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from solver.errors import SolversDisagree
from solver.proof.plan import CHECKED_WHOLE, Plan
from solver.proof.progress import Progress, ProgressCallback
from solver.store.manifest import Ply

SAMPLE = 1000
"""How many places of each ply are checked by search, in a game with more than CHECKED_WHOLE places."""

NODES_A_PLY = 2_000_000
"""Fewer are checked once so many nodes were visited at one ply."""

NODE_LIMIT = 20_000
"""A single search is given up after this many nodes."""

EMPTY_BOARD_LIMIT = 200_000
"""The search of the empty board, which is made for its node count, is given up after this many nodes."""

Made = TypeVar("Made")

_COUNTS = ("filled", "nodes", "checked", "abandoned", "score")


@dataclass
class Summary:
    """The results of a proof, or of a part of one."""

    plies: dict[int, np.ndarray] = field(default_factory=dict)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    filled: int = 0
    nodes: int = 0
    checked: int = 0
    abandoned: int = 0
    score: int = 0
    """The score of the empty board."""

    def add(self, other: "Summary") -> None:
        """Add the results of another part."""
        for ply, counts in other.plies.items():
            self.plies[ply] = self.plies.get(ply, 0) + counts
        for phase, seconds in other.seconds.items():
            self.seconds[phase] += seconds
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def to_fields(self) -> dict[str, Any]:
        """Return everything but the seconds, in a form that JSON can hold."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return counts | {"plies": {ply: found.tolist() for ply, found in self.plies.items()}}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "Summary":
        """Return the summary that `to_fields` was called on."""
        plies = {int(ply): np.array(found) for ply, found in fields["plies"].items()}
        return cls(plies, **{name: fields[name] for name in _COUNTS})

    def table(self) -> tuple[Ply, ...]:
        """Return the counts of positions by ply, starting with the empty board."""
        return tuple(Ply(ply, *map(int, self.plies[ply])) for ply in sorted(self.plies) if self.plies[ply].any())


class StoredPages(NamedTuple):
    """Some consecutive pages of a layer as a store has them: one row of scores for each."""

    empty: int
    numbers: np.ndarray
    scores: np.ndarray


Use = Callable[[StoredPages], Made]
"""What a caller does with filled pages, in the thread that filled them."""


@dataclass(frozen=True)
class Stage(Generic[Made]):
    """A layer being solved. Consume `made`, the results of `use` in order; then `summary` is complete."""

    number: int
    made: Iterator[Made]
    summary: Summary


class Solved(NamedTuple):
    """The work of an earlier build: its last layer, in parts that return the pages' numbers and scores."""

    number: int
    ply: int
    parts: Iterable[Callable[[], tuple[list[int], np.ndarray]]]
    summary: Summary


class Layer(Protocol):
    """What a proof must know of a layer."""

    @property
    def number(self) -> int:
        """Its number, which counts down to 0, the empty board."""

    @property
    def ply(self) -> int:
        """How many stones are on its boards, about."""


class Clock:
    """Adds the time since it was last read to a phase of a summary."""

    def __init__(self, summary: Summary) -> None:
        """Begin now."""
        self._summary = summary
        self._last = perf_counter()

    def spent(self, on: str) -> None:
        """Count the time since the last call."""
        now = perf_counter()
        self._summary.seconds[on] += now - self._last
        self._last = now


class Proof(ABC, Generic[Made]):
    """Solve one game with both solvers. Consume its stages one by one, then read its summary."""

    def __init__(
        self, plan: Plan, use: Use[Made], *, jobs: int, sample: int | None = None, on_progress: ProgressCallback,
        phase: str = "solving",
    ) -> None:  # fmt: skip
        """Prepare to do what is planned.

        `sample` is the number of places of each ply to check by search; with None the game's size decides.
        """
        self.plan = plan
        self.summary = Summary()
        self.jobs = jobs
        self.on_progress = on_progress
        self.budget = math.inf
        """How many nodes may be visited at one ply."""
        if sample is None and plan.filled > CHECKED_WHOLE:
            sample, self.budget = SAMPLE, NODES_A_PLY
        self.sample = sample
        """How many places of each ply are checked by search; None if all are."""
        self.stopping = False
        """Whether what goes on in other threads is to end soon, because nobody will use it."""
        self._use = use
        self.phase = phase

    @abstractmethod
    def layers(self, pool: ThreadPoolExecutor, before: Solved | None) -> Iterator[Any]:
        """Yield the layers to fill, from the end of the game, or from below the last one that was solved before."""

    @abstractmethod
    def chunks(self, layer: Any) -> Iterable[Any]:
        """Yield a layer in chunks, each with whole records of its own."""

    @abstractmethod
    def fill(self, layer: Any, chunk: Any, summary: Summary, clock: Clock) -> StoredPages | None:
        """Fill, count and check a chunk; return what of it a store has, if anything."""

    @abstractmethod
    def search_empty_board(self) -> str:
        """Search the empty board with an empty table, and return in words what that took."""

    def stages(self, before: Solved | None = None) -> Iterator[Stage[Made]]:
        """Yield the layers as they are solved, starting below the last one that was solved before."""
        if before:
            self.on_progress(Progress("restoring"))
            self.summary.add(before.summary)
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                for layer in self.layers(pool, before):
                    summary = Summary()
                    yield Stage(layer.number, self._filled(pool, layer, summary), summary)
                    self.summary.add(summary)
                self._require_covered()
            except BaseException:
                self.stopping = True
                pool.shutdown(cancel_futures=True)
                raise

    def sample_of(self, share: float, rng: random.Random) -> int:
        """Return how many places of a part of a layer are to be checked, given its share of the layer."""
        wanted = share * (self.sample or 0)
        return int(wanted) + (rng.random() < wanted % 1)

    def _require_covered(self) -> None:
        """Raise SolversDisagree if fewer places were filled or checked than there are."""
        done, planned = self.summary, self.plan.filled
        if done.filled != planned:
            raise SolversDisagree(f"{done.filled:,} places were filled, but there are {planned:,}")
        if self.sample is None and done.checked != self.plan.searched:
            raise SolversDisagree(f"{done.checked:,} places were searched, but there are {self.plan.searched:,}")

    def _filled(self, pool: ThreadPoolExecutor, layer: Layer, total: Summary) -> Iterator[Made]:
        """Yield the results of `use` for a layer's chunks, in order, and add to `total`."""
        before = self.summary.filled
        for made, summary in pool.map(partial(self._work, layer), self.chunks(layer)):
            total.add(summary)
            self.on_progress(Progress(self.phase, layer.ply, before + total.filled, self.plan.filled))
            yield from made

    def _work(self, layer: Layer, chunk: Any) -> tuple[list[Made], Summary]:
        """Fill, count, check and use the pages of a chunk; return the result of `use`, if any."""
        summary = Summary()
        clock = Clock(summary)
        pages = self.fill(layer, chunk, summary, clock)
        if pages is None:
            return [], summary
        made = self._use(pages)
        clock.spent("write")
        return [made], summary
