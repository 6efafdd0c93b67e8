"""Solving a game twice over: every layer is swept, counted, and checked by alpha-beta.

A chunk of halves goes through all of that in one thread, and through whatever the caller makes of
its pages, so that only the `a` pages of two layers are held. All chunks of a layer are done
before the next one is begun, the fullest boards first: so each search finds its children in the table.
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from solver.games.lines import Game
from solver.index.symmetry import Symmetry
from solver.proof.check import check_all, check_sample
from solver.proof.plan import CHECKED_WHOLE, plan
from solver.proof.progress import Progress, Tell
from solver.search.alphabeta import AlphaBeta
from solver.store.manifest import Ply
from solver.store.record import halves_in_record
from solver.sweep.halves import all_halves, board
from solver.sweep.layers import Chunk, Filled, Layer, Pages, layers
from solver.sweep.tally import tally

SAMPLE = 1000
"""Of a game with more than CHECKED_WHOLE places, alpha-beta checks so many for each number of stones."""

NODES_A_PLY = 2_000_000
"""And fewer, if searching them visits more nodes than that."""

NODE_LIMIT = 20_000
"""After so many nodes the search of one of a sample is given up."""

Made = TypeVar("Made")

_COUNTS = ("filled", "nodes", "checked", "abandoned", "score")


@dataclass
class Summary:
    """What a proof came to, or a part of it."""

    plies: dict[int, np.ndarray] = field(default_factory=dict)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    filled: int = 0
    nodes: int = 0
    checked: int = 0
    abandoned: int = 0
    score: int = 0
    """Of the empty board."""

    def add(self, other: "Summary") -> None:
        """Take in what another part came to."""
        for ply, counts in other.plies.items():
            self.plies[ply] = self.plies.get(ply, 0) + counts
        for phase, seconds in other.seconds.items():
            self.seconds[phase] += seconds
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def to_fields(self) -> dict[str, Any]:
        """All but the seconds, to be kept as JSON."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return counts | {"plies": {ply: found.tolist() for ply, found in self.plies.items()}}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "Summary":
        """What was kept."""
        plies = {int(ply): np.array(found) for ply, found in fields["plies"].items()}
        return cls(plies, **{name: fields[name] for name in _COUNTS})

    def table(self) -> tuple[Ply, ...]:
        """The counts of positions by ply, from the empty board on."""
        return tuple(Ply(ply, *map(int, self.plies[ply])) for ply in sorted(self.plies) if self.plies[ply].any())


@dataclass(frozen=True)
class Stage(Generic[Made]):
    """A layer being solved: what was made of its chunks, in order, to be taken whole; and then what it came to."""

    xs: int
    made: Iterator[Made]
    summary: Summary


class Solved(NamedTuple):
    """What was solved before: the last of its layers, in parts that give halves with their pages where X moves."""

    xs: int
    parts: Iterable[Callable[[], tuple[list[int], np.ndarray]]]
    summary: Summary


class Proof(Generic[Made]):
    """One game being solved by both solvers. Take its stages one by one, and then read its summary."""

    def __init__(
        self, game: Game, group: tuple[Symmetry, ...], use: Callable[[Filled], Made], *,
        jobs: int, sample: int | None = None, tell: Tell, phase: str = "solving",
    ) -> None:  # fmt: skip
        """`sample` says how many places of each ply to check by search; None lets the game's size decide.

        `use` makes something of the pages of live halves, in the thread that filled them.
        """
        self.summary = Summary()
        self.board = board(game, group)
        self._halves = all_halves(self.board)
        self.plan = plan(game.cells, self._halves, jobs)
        self._use = use
        self._jobs = jobs
        self._tell = tell
        self._phase = phase
        self._budget = math.inf
        if sample is None and self.plan.filled > CHECKED_WHOLE:
            sample, self._budget = SAMPLE, NODES_A_PLY
        self._sample = sample
        first = AlphaBeta(game, group, limit=NODE_LIMIT if sample is not None else 0)
        self._searches: SimpleQueue[AlphaBeta] = SimpleQueue()  # idle ones; they share a table
        for _ in range(jobs):
            self._searches.put(first.beside())

    def stages(self, before: Solved | None = None) -> Iterator[Stage[Made]]:
        """The layers, solved one by one, from the one below what was solved before."""
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                for layer in layers(self.board, self._halves, before and self._restored(pool, before)):
                    summary = Summary()
                    yield Stage(layer.xs, self._filled(pool, layer, summary), summary)
                    self.summary.add(summary)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _restored(self, pool: ThreadPoolExecutor, before: Solved) -> Layer:
        """The last layer that was solved before, with its `a` pages made again from the pages beside them."""
        self._tell(Progress("restoring"))
        self.summary.add(before.summary)
        layer = Layer(self.board, before.xs, self._halves[before.xs], None)
        if before.xs:  # else all is done

            def restore(part: Callable[[], tuple[list[int], np.ndarray]]) -> int:
                halves, pages = part()
                start = int(np.searchsorted(layer.live, halves[0]))
                if layer.live[start : start + len(halves)].tolist() != halves:
                    raise AssertionError("what was solved before has other halves than the game")
                layer.restore(start, pages)
                return len(halves)

            if layer.b_size:
                restored = sum(pool.map(restore, before.parts))
            else:
                restored = sum(chunk.stop - chunk.start for chunk in _chunks(layer) if chunk.live and layer.fill(chunk))
            if restored != len(layer.live):
                raise AssertionError("what was solved before lacks halves of the game")
        return layer

    def _filled(self, pool: ThreadPoolExecutor, layer: Layer, total: Summary) -> Iterator[Made]:
        """What is made of each live chunk of a layer, in order; afterwards the total is complete."""
        before = self.summary.filled
        for made, summary in pool.map(partial(self._work, layer), _chunks(layer)):
            total.add(summary)
            self._tell(Progress(self._phase, 2 * layer.xs, before + total.filled, self.plan.filled))
            yield from made

    def _work(self, layer: Layer, chunk: Chunk) -> tuple[list[Made], Summary]:
        """Fill, count, check and use the pages of some halves."""
        summary, clock = Summary(), perf_counter()

        def spent(on: str) -> None:
            nonlocal clock
            summary.seconds[on] += perf_counter() - clock
            clock = perf_counter()

        filled = layer.fill(chunk)
        if layer.xs == 0 and filled.x_moves:
            summary.score = int(filled.x_moves.scores[0, 0])
        pages_of_both = list(filter(None, filled))
        for pages in pages_of_both:
            ply = self.board.cells - pages.empty
            summary.plies[ply] = tally(self.board, pages.os, pages.halves, pages.scores)
            summary.filled += pages.scores.size
        spent("solve")
        if not chunk.live:
            return [], summary
        for pages in pages_of_both:
            self._check(pages, layer, summary)
        spent("check")
        made = self._use(filled)
        spent("write")
        return [made], summary

    def _check(self, pages: Pages, layer: Layer, summary: Summary) -> None:
        search = self._searches.get()
        try:
            if self._sample is None:
                before = search.nodes
                check_all(search, pages.os, pages.halves, pages.scores)
                summary.checked += pages.scores.size
                summary.nodes += search.nodes - before
            else:
                self._check_some(search, pages, len(pages.halves) / len(layer.live), self._sample, summary)
        finally:
            self._searches.put(search)

    def _check_some(self, search: AlphaBeta, pages: Pages, share: float, sample: int, summary: Summary) -> None:
        rng = random.Random(int(pages.halves[0]))
        size = int(share * sample) + (rng.random() < share * sample % 1)
        confirmed, abandoned, nodes = check_sample(
            search, pages.os, pages.halves, pages.scores, size, share * self._budget, rng
        )
        summary.checked += confirmed
        summary.abandoned += abandoned
        summary.nodes += nodes


def _chunks(layer: Layer) -> Iterator[Chunk]:
    """Cut a layer so that no record is cut."""
    return layer.chunks(halves_in_record(layer.b_size))
