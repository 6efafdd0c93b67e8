"""Solve a game with both solvers: sweep every layer, count its positions, and check it by alpha-beta.

One thread does all of this for a chunk of halves, and also passes the pages to the caller's `use`. So
only the `o_to_move` pages of two layers stay in memory. Layers come in the order of the sweep, one at a
time, so the positions after each move are searched before the position itself, and are in the table.
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

from solver.errors import SolversDisagree
from solver.games.lines import Game
from solver.index.symmetry import Symmetry
from solver.proof.check import check_all, check_sample
from solver.proof.plan import CHECKED_WHOLE, plan_build
from solver.proof.progress import Progress, ProgressCallback
from solver.search.alphabeta import AlphaBeta
from solver.store.manifest import Ply
from solver.store.record import halves_in_record
from solver.sweep.halves import all_halves, kernel_game
from solver.sweep.layers import Chunk, Filled, Layer, Pages, layers
from solver.sweep.tally import count_positions

SAMPLE = 1000
"""How many places of each ply alpha-beta checks, in a game with more than CHECKED_WHOLE places."""

NODES_A_PLY = 2_000_000
"""It checks fewer once it has visited this many nodes at one ply."""

NODE_LIMIT = 20_000
"""It gives up a single search after this many nodes."""

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


@dataclass(frozen=True)
class Stage(Generic[Made]):
    """A layer being solved. Consume `made`, the results of `use` in order; then `summary` is complete."""

    x_count: int
    made: Iterator[Made]
    summary: Summary


class Solved(NamedTuple):
    """The work of an earlier build: its last layer, in parts that return halves with their `x_to_move` pages."""

    x_count: int
    parts: Iterable[Callable[[], tuple[list[int], np.ndarray]]]
    summary: Summary


class Proof(Generic[Made]):
    """Solve one game with both solvers. Consume its stages one by one, then read its summary."""

    def __init__(
        self, game: Game, group: tuple[Symmetry, ...], use: Callable[[Filled], Made], *,
        jobs: int, sample: int | None = None, on_progress: ProgressCallback, phase: str = "solving",
    ) -> None:  # fmt: skip
        """Plan the work: `plan` then says what it needs.

        `sample` is the number of places of each ply to check by search; with None the game's size
        decides. `use` is called with the pages of open halves, in the thread that filled them.
        """
        self.summary = Summary()
        self._game = kernel_game(game, group)
        self._halves = all_halves(self._game)
        self.plan = plan_build(game.cells, self._halves, jobs)
        self._use = use
        self._jobs = jobs
        self._on_progress = on_progress
        self._phase = phase
        self._budget = math.inf
        if sample is None and self.plan.filled > CHECKED_WHOLE:
            sample, self._budget = SAMPLE, NODES_A_PLY
        self._sample = sample
        first = AlphaBeta(game, group, limit=NODE_LIMIT if sample is not None else 0)
        self._searches: SimpleQueue[AlphaBeta] = SimpleQueue()  # those not in use; all share a table
        for _ in range(jobs):
            self._searches.put(first.beside())

    def stages(self, before: Solved | None = None) -> Iterator[Stage[Made]]:
        """Yield the layers as they are solved, starting below the last one that was solved before."""
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                for layer in layers(self._game, self._halves, before and self._restored(pool, before)):
                    summary = Summary()
                    yield Stage(layer.x_count, self._filled(pool, layer, summary), summary)
                    self.summary.add(summary)
                self._require_covered()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _require_covered(self) -> None:
        """Raise SolversDisagree if fewer places were filled or checked than there are."""
        done, planned = self.summary, self.plan.filled
        if done.filled != planned:
            raise SolversDisagree(f"{done.filled:,} places were filled, but there are {planned:,}")
        if self._sample is None and done.checked != self.plan.searched:
            raise SolversDisagree(f"{done.checked:,} places were searched, but there are {self.plan.searched:,}")

    def _restored(self, pool: ThreadPoolExecutor, before: Solved) -> Layer:
        """Return the last layer that was solved before, with its `o_to_move` pages computed anew from `x_to_move`."""
        self._on_progress(Progress("restoring"))
        self.summary.add(before.summary)
        layer = Layer(self._game, before.x_count, self._halves[before.x_count], None)
        if before.x_count:  # else there is no layer left to solve

            def restore(part: Callable[[], tuple[list[int], np.ndarray]]) -> int:
                halves, pages = part()
                start = int(np.searchsorted(layer.open, halves[0]))
                if layer.open[start : start + len(halves)].tolist() != halves:
                    raise SolversDisagree("the journal has other halves than the game")
                layer.restore(start, pages)
                return len(halves)

            if layer.x_to_move_size:
                restored = sum(pool.map(restore, before.parts))
            else:
                restored = sum(chunk.stop - chunk.start for chunk in _chunks(layer) if chunk.open and layer.fill(chunk))
            if restored != len(layer.open):
                raise SolversDisagree("the journal lacks halves of the game")
        return layer

    def _filled(self, pool: ThreadPoolExecutor, layer: Layer, total: Summary) -> Iterator[Made]:
        """Yield the results of `use` for a layer's chunks of open halves, in order, and add to `total`."""
        before = self.summary.filled
        for made, summary in pool.map(partial(self._work, layer), _chunks(layer)):
            total.add(summary)
            self._on_progress(Progress(self._phase, 2 * layer.x_count, before + total.filled, self.plan.filled))
            yield from made

    def _work(self, layer: Layer, chunk: Chunk) -> tuple[list[Made], Summary]:
        """Fill, count, check and use the pages of some halves; return the result of `use`, if any."""
        summary, clock = Summary(), perf_counter()

        def spent(on: str) -> None:
            nonlocal clock
            summary.seconds[on] += perf_counter() - clock
            clock = perf_counter()

        filled = layer.fill(chunk)
        if layer.x_count == 0 and filled.x_to_move:
            summary.score = int(filled.x_to_move.scores[0, 0])
        pages_of_both = list(filter(None, filled))
        for pages in pages_of_both:
            ply = self._game.cells - pages.empty
            summary.plies[ply] = count_positions(self._game, pages.o_count, pages.halves, pages.scores)
            summary.filled += pages.scores.size
        spent("solve")
        if not chunk.open:
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
                check_all(search, pages.o_count, pages.halves, pages.scores)
                summary.checked += pages.scores.size
                summary.nodes += search.nodes - before
            else:
                self._check_some(search, pages, len(pages.halves) / len(layer.open), self._sample, summary)
        finally:
            self._searches.put(search)

    def _check_some(self, search: AlphaBeta, pages: Pages, share: float, sample: int, summary: Summary) -> None:
        rng = random.Random(int(pages.halves[0]))
        size = int(share * sample) + (rng.random() < share * sample % 1)
        confirmed, abandoned, nodes = check_sample(
            search, pages.o_count, pages.halves, pages.scores, size, share * self._budget, rng
        )
        summary.checked += confirmed
        summary.abandoned += abandoned
        summary.nodes += nodes


def _chunks(layer: Layer) -> Iterator[Chunk]:
    """Yield the layer in chunks of whole records."""
    return layer.chunks(halves_in_record(layer.x_to_move_size))
