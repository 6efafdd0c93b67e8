"""Solving a game twice over: every layer is swept, counted, and checked by alpha-beta.

A chunk of halves goes through all of that in one thread, and through whatever the caller makes of
its pages, so that only the `a` pages of two layers are held. All chunks of a layer are done
before the next one is begun, the fullest boards first: so each search finds its children in the table.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import comb
from queue import SimpleQueue
from time import perf_counter
from typing import Generic, TypeVar

import numpy as np

from solver.alphabeta import AlphaBeta
from solver.check import check_all, check_sample
from solver.game import Game
from solver.halves import board
from solver.index import page_size, xs_when
from solver.manifest import Ply
from solver.progress import Progress, Tell
from solver.sweep import Layer, Pages, layers
from solver.symmetry import Symmetry
from solver.tally import tally

CHECKED_WHOLE = 2_000_000
"""Up to so many places, alpha-beta checks all."""

SAMPLE = 1000
"""Of more, so many for each number of stones."""

NODE_LIMIT = 20_000
"""After so many nodes the search of one of a sample is given up."""

Made = TypeVar("Made")


@dataclass
class Summary:
    """What a proof came to."""

    plies: dict[int, np.ndarray] = field(default_factory=dict)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    nodes: int = 0
    checked: int = 0
    abandoned: int = 0
    score: int = 0
    """Of the empty board."""

    def add(self, other: "Summary") -> None:
        """Take in what a chunk came to."""
        for ply, counts in other.plies.items():
            self.plies[ply] = self.plies.get(ply, 0) + counts
        for phase, seconds in other.seconds.items():
            self.seconds[phase] += seconds
        self.nodes += other.nodes
        self.checked += other.checked
        self.abandoned += other.abandoned
        self.score += other.score

    def table(self) -> tuple[Ply, ...]:
        """The counts of positions by ply, from the empty board on."""
        return tuple(Ply(ply, *map(int, self.plies[ply])) for ply in sorted(self.plies) if self.plies[ply].any())


class Proof(Generic[Made]):
    """One game being solved by both solvers. Iterate over it, and then read its summary.

    It gives, for each number of empty cells, what `use` made of each chunk of pages, in order.
    """

    def __init__(
        self, game: Game, group: tuple[Symmetry, ...], use: Callable[[Pages], Made], *,
        jobs: int, sample: int | None = None, tell: Tell,
    ) -> None:  # fmt: skip
        """`sample` says how many places of each ply to check by search; None lets the game's size decide."""
        self.summary = Summary()
        self._board = board(game, group)
        self._use = use
        self._jobs = jobs
        self._tell = tell
        self._places = expected_places(game, len(group))
        if sample is None and self._places > CHECKED_WHOLE:
            sample = SAMPLE
        self._sample = sample
        first = AlphaBeta(game, group, limit=NODE_LIMIT if sample is not None else 0)
        self._searches: SimpleQueue[AlphaBeta] = SimpleQueue()  # idle ones; they share a table
        for _ in range(jobs):
            self._searches.put(first.beside())

    def __iter__(self) -> Iterator[list[Made]]:
        done = 0
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                for layer in self._layers():
                    results: list[list[Made]] = [[], []]
                    for made, summary, places in pool.map(partial(self._work, layer), layer.chunks()):
                        for kind, each in enumerate(made):
                            results[kind].append(each)
                        self.summary.add(summary)
                        done += places
                        self._tell(Progress("solving", 2 * layer.xs, done, max(done, self._places)))
                    yield from filter(None, results)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _layers(self) -> Iterator[Layer]:
        clock = perf_counter()
        for layer in layers(self._board):
            for pages in layer.fill_finished():
                counts = tally(self._board, pages.os, pages.halves, pages.scores)
                self.summary.add(Summary({2 * layer.xs - 1: counts}))
            self.summary.seconds["solve"] += (perf_counter() - clock) * self._jobs
            yield layer
            clock = perf_counter()

    def _work(self, layer: Layer, chunk: range) -> tuple[list[Made], Summary, int]:
        """Fill, count, check and use the pages of some halves."""
        summary, clock = Summary(), perf_counter()

        def spent(on: str) -> None:
            nonlocal clock
            summary.seconds[on] += perf_counter() - clock
            clock = perf_counter()

        filled = layer.fill(chunk)
        if layer.xs == 0:
            summary.score = int(filled[0].scores[0, 0])
        spent("solve")
        made = []
        for pages in filled:
            ply = self._board.cells - pages.empty
            summary.plies[ply] = tally(self._board, pages.os, pages.halves, pages.scores)
            spent("solve")
            self._check(pages, layer, summary)
            spent("check")
            made.append(self._use(pages))
            spent("write")
        return made, summary, sum(pages.scores.size for pages in filled)

    def _check(self, pages: Pages, layer: Layer, summary: Summary) -> None:
        search = self._searches.get()
        try:
            if self._sample is None:
                before = search.nodes
                check_all(search, pages.os, pages.halves, pages.scores)
                summary.checked += pages.scores.size
                summary.nodes += search.nodes - before
            else:
                self._check_some(search, pages, self._sample / len(layer.live), summary)
        finally:
            self._searches.put(search)

    def _check_some(self, search: AlphaBeta, pages: Pages, per_half: float, summary: Summary) -> None:
        rng = random.Random(int(pages.halves[0]))
        share = per_half * len(pages.halves)
        size = int(share) + (rng.random() < share % 1)
        confirmed, abandoned, nodes = check_sample(search, pages.os, pages.halves, pages.scores, size, rng)
        summary.checked += confirmed
        summary.abandoned += abandoned
        summary.nodes += nodes


def expected_places(game: Game, symmetries: int) -> int:
    """About how many places a game's pages have: no fewer than this if all halves were live."""
    return (
        sum(comb(game.cells, xs_when(game, empty)) * page_size(game, empty) for empty in range(game.cells + 1))
        // symmetries
    )
