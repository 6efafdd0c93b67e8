"""A proof: solve a game with two solvers that must agree, layer by layer, with as many hands as wanted.

What is the same for every kind of game is here; solver/proof/prove.py fills and checks the pages of games of lines, and
solver/duel/prove.py those of the duel. A task fills some pages of a layer, counts their positions, checks them by
search and passes them to the caller's `use`. Threads do the tasks, or processes, or machines: whatever is an executor.
Layers come one at a time, from the end of the game to the empty board.
"""

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from solver.errors import PagesDamaged, RecordsDamaged, SolversDisagree
from solver.proof.crew import Crew
from solver.proof.plan import CHECKED_WHOLE, Holder, Plan
from solver.proof.progress import Progress, ProgressCallback
from solver.scratch.tasks import COUNTS
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
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def to_fields(self) -> dict[str, Any]:
        """Return everything but the seconds, in a form that JSON can hold."""
        counts = {name: getattr(self, name) for name in COUNTS}
        return counts | {"plies": {ply: found.tolist() for ply, found in self.plies.items()}}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "Summary":
        """Return the summary that `to_fields` was called on."""
        plies = {int(ply): np.array(found) for ply, found in fields["plies"].items()}
        return cls(plies, **{name: fields[name] for name in COUNTS})

    def table(self) -> tuple[Ply, ...]:
        """Return the counts of positions by ply, starting with the empty board."""
        return tuple(Ply(ply, *map(int, self.plies[ply])) for ply in sorted(self.plies) if self.plies[ply].any())


class Task(NamedTuple):
    """A part of a layer, small enough to be done again: its number there, and the part as its kind of game has it."""

    layer: int
    number: int
    part: Any


class StoredPages(NamedTuple):
    """Some consecutive pages of a layer as a store has them: one row of scores for each."""

    empty: int
    numbers: np.ndarray
    scores: np.ndarray


UnpackedPages = tuple[list[int], np.ndarray]
"""Pages that an earlier build has kept: their numbers, and one row of scores for each."""

Use = Callable[[Task, Summary, Iterator[StoredPages]], Made]
"""What a caller does with the pages of a task, where they are filled. Its summary is complete when the pages end."""


class Layer(Protocol):
    """What a proof must know of a layer."""

    @property
    def number(self) -> int:
        """Its number, which counts down to 0, the empty board."""

    @property
    def ply(self) -> int:
        """How many stones are on its boards, about."""

    @property
    def tasks(self) -> Sequence[Task]:
        """Its tasks, in order, each with whole records of its own."""


class Work(Protocol):
    """What tasks do, for one kind of game. Other processes can have it only if it can be pickled."""

    def make(self, layer: Any, task: Task, summary: Summary, clock: "Clock") -> Iterator[StoredPages]:
        """Fill, count and check some pages, and yield those that a store has."""

    def restore(self, layer: Any, task: Task, kept: Iterable[UnpackedPages]) -> None:
        """Take what a task has kept, so that the next layer can be filled."""


class Kept(Protocol):
    """What earlier builds have kept."""

    def summary(self, task: Task) -> Summary | None:
        """Return the summary of a task; None if it is still to be done."""

    @property
    def unpacked(self) -> Callable[[Task], Iterator[UnpackedPages]]:
        """What reads the pages of a task that is done; it raises RecordsDamaged if they are not as they were."""


@dataclass(frozen=True)
class Stage(Generic[Made]):
    """A layer being solved. Consume `made`, the results of `use` in order; then the layer is complete."""

    number: int
    made: Iterator[Made]


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
        self, plan: Plan, use: Use[Made], *, crew: Crew, sample: int | None = None, on_progress: ProgressCallback,
        phase: str = "solving",
    ) -> None:  # fmt: skip
        """Prepare to do what is planned.

        `sample` is the number of places of each ply to check by search; with None the game's size decides.
        """
        self.plan = plan
        self.summary = Summary()
        self.crew = crew
        self.on_progress = on_progress
        self.budget = math.inf
        """How many nodes may be visited at one ply."""
        if sample is None and plan.filled > CHECKED_WHOLE:
            sample, self.budget = SAMPLE, NODES_A_PLY
        self.sample = sample
        """How many places of each ply are checked by search; None if all are."""
        self.tasks: list[Sequence[Task]] = []
        """The tasks of each layer, once the first stage has begun."""
        self.holder = Holder.RAW
        """How pages are held."""
        self._use = use
        self.phase = phase

    @abstractmethod
    def work(self) -> Work:
        """Return what tasks do."""

    @abstractmethod
    def layers(self) -> Sequence[Any]:
        """Return the layers to fill, from the end of the game to the empty board; none has pages yet."""

    @abstractmethod
    def begin(self, layer: Any, above: Any, *, wanted: bool) -> None:
        """Prepare to fill a layer, given the one above; its own pages are wanted if the next layer is to be filled."""

    def end(self, layer: Any, above: Any) -> None:
        """Drop what nobody needs now that a layer is filled."""

    def stop(self) -> None:
        """Let tasks end soon, because nobody will use what they make."""

    def forget(self, layer: Any) -> None:
        """Drop what an earlier build has left for the next layer, which is filled already."""

    def held(self, layer: Any) -> set[int]:
        """Return the numbers of the tasks whose pages need not be restored."""
        return set()

    @abstractmethod
    def search_empty_board(self) -> str:
        """Search the empty board with an empty table, and return in words what that took."""

    def stages(self, kept: Kept | None = None) -> Iterator[Stage[Made]]:
        """Yield the layers as they are solved; what was kept is not done again."""
        layers = self.layers()
        self.tasks = [layer.tasks for layer in layers]
        todo = [[task for task in layer.tasks if not self._taken(task, kept)] for layer in layers]
        above = None
        try:
            for i, layer in enumerate(layers):
                wanted = i + 1 < len(layers) and bool(todo[i + 1])
                if todo[i] or wanted:
                    self.begin(layer, above, wanted=wanted)
                    if wanted and kept:
                        self._restore(layer, sorted(set(layer.tasks) - set(todo[i])), kept)
                    yield Stage(layer.number, self._filled(layer, todo[i], above, kept))
                    self.end(layer, above)
                elif kept:
                    self.forget(layer)
                above = layer
            self._require_covered()
        except BaseException:
            self.stop()
            self.crew.stop()
            raise

    def _taken(self, task: Task, kept: Kept | None) -> bool:
        """Tell whether a task is done already, and if so count what it did."""
        if not kept or (summary := kept.summary(task)) is None:
            return False
        self.summary.add(summary)
        return True

    def _restore(self, layer: Layer, tasks: Sequence[Task], kept: Kept) -> None:
        """Take the pages of tasks that are done, unless they are there."""
        held = self.held(layer)
        missing = [(self.work(), kept.unpacked, layer, task) for task in tasks if task.number not in held]
        for i, _ in enumerate(self.crew.run(restore, missing)):
            self.on_progress(Progress("restoring", layer.ply, i + 1, len(missing)))

    def _filled(self, layer: Layer, tasks: Sequence[Task], above: Any, kept: Kept | None) -> Iterator[Made]:
        """Yield the results of `use` for a layer's tasks, in order, and add to the summary."""

        def mend(error: BaseException) -> None:
            if not isinstance(error, PagesDamaged) or isinstance(error, RecordsDamaged) or not kept:
                raise error
            task = above.tasks[error.number]
            for _ in self.crew.run(restore, [(self.work(), kept.unpacked, above, task)]):
                pass

        calls = [(self.work(), self._use, layer, task) for task in tasks]
        for made, summary in self.crew.run(make, calls, mend):
            self.summary.add(summary)
            self.on_progress(Progress(self.phase, layer.ply, self.summary.filled, self.plan.filled, self.crew.detail()))
            yield made

    def _require_covered(self) -> None:
        """Raise SolversDisagree if fewer places were filled or checked than there are."""
        done, planned = self.summary, self.plan.filled
        if done.filled != planned:
            raise SolversDisagree(f"{done.filled:,} places were filled, but there are {planned:,}")
        if self.sample is None and done.checked != self.plan.searched:
            raise SolversDisagree(f"{done.checked:,} places were searched, but there are {self.plan.searched:,}")


def make(work: Work, use: Use[Made], layer: Layer, task: Task) -> tuple[Made, Summary]:
    """Do a task: fill, count, check and use its pages."""
    summary = Summary()
    return use(task, summary, work.make(layer, task, summary, Clock(summary))), summary


def restore(work: Work, unpacked: Callable[[Task], Iterator[UnpackedPages]], layer: Layer, task: Task) -> None:
    """Take the pages that a task has kept."""
    work.restore(layer, task, unpacked(task))


def sample_of(wanted: float, chance: float) -> int:
    """Return a whole number that is so large in the mean, given a random number from 0 to 1."""
    return int(wanted) + (chance < wanted % 1)
