"""Solve the duel on one board with both solvers: fill every place by retrograde analysis, and check it by search.

Layers come in the order of the sweep, one at a time, so the positions after each move are searched before the position
itself, and are in the table.
"""

import random
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np

from solver.duel.index import PAGE_BITS, first_page, page_size, unrank
from solver.duel.search import DuelSearch
from solver.duel.sweep import Chunk, Layer, empty_layers
from solver.errors import SolversDisagree
from solver.games.duel import Duel
from solver.index.places import UNREACHED
from solver.index.symmetry import Symmetry, orbit_counts
from solver.proof.plan import Plan
from solver.proof.progress import Progress
from solver.proof.proof import EMPTY_BOARD_LIMIT, NODE_LIMIT, Clock, Made, Proof, Solved, StoredPages, Summary, Use

_PLACES_A_SECOND = 60_000_000
"""About how many places one core of a 2.5 GHz Xeon fills, counts and packs in a second."""

_PLACES_PER_BYTE = 20
"""About how many places a store packs into a byte: most are never reached."""


class DuelProof(Proof[Made]):
    """Solve the duel on one board with both solvers."""

    def __init__(self, game: Duel, group: tuple[Symmetry, ...], use: Use[Made], *, jobs: int, **options: Any) -> None:
        """Plan the work: `plan` then says what it needs."""
        self._rules, self._group = game, group
        super().__init__(plan_duel(game, group, jobs), use, jobs=jobs, **options)
        self._searches: SimpleQueue[DuelSearch] = SimpleQueue()  # those not in use
        for _ in range(jobs):
            self._searches.put(DuelSearch(game.neighbours, group))

    def layers(self, pool: ThreadPoolExecutor, before: Solved | None) -> Iterator[Layer]:
        """Yield the layers from full boards on, once it is known which places play reaches."""
        found = empty_layers(self._rules, self._group)
        for layer, following in zip(found, [*found[1:], None], strict=True):
            layer.share_marks()
            if following is not None:
                self.on_progress(Progress("exploring", layer.number))
                marking = partial(layer.mark_children, following=following)
                deque(pool.map(marking, layer.chunks()), maxlen=0)
        self._following: Layer | None = None
        if before:
            self._following = self._restored(found[before.number], before)
        for layer in reversed(found[: before.number if before else len(found)]):
            yield layer
            self._following = layer
            found.pop()

    def chunks(self, layer: Layer) -> Iterable[Chunk]:
        """Yield the layer in chunks of whole records."""
        return layer.chunks()

    def fill(self, layer: Layer, chunk: Chunk, summary: Summary, clock: Clock) -> StoredPages | None:
        """Fill, count and check the places of some filled sets; return their pages, unless the boards are full."""
        scores = layer.fill(chunk, self._following)
        summary.filled += scores.size
        summary.plies[layer.number] = layer.count(chunk)
        if layer.number == 0:
            summary.score = int(scores[0, 0])
        clock.spent("solve")
        self._check(layer, chunk, scores, summary)
        clock.spent("check")
        size = page_size(self._rules, self._rules.cells - layer.number)
        if not size:
            return None
        numbers = page_numbers(layer.filled[chunk.start : chunk.stop], layer.number)
        return StoredPages(self._rules.cells - layer.number, numbers, scores.reshape(-1, size))

    def search_empty_board(self) -> str:
        """Search the empty board with an empty table, and return in words what that took."""
        search = DuelSearch(self._rules.neighbours, self._group)
        if search.score(0, 0, EMPTY_BOARD_LIMIT) is None:
            return f"given up after {EMPTY_BOARD_LIMIT:,} nodes"
        return f"{search.nodes:,} nodes"

    def _restored(self, layer: Layer, before: Solved) -> Layer:
        """Return the last layer that was solved before, with its scores as they were kept."""
        size = page_size(self._rules, self._rules.cells - layer.number)
        if not size:
            layer.fill(Chunk(0, 1), None)
            return layer
        pages, at = layer.scores.reshape(-1, size), 0
        numbers = page_numbers(layer.filled, layer.number)
        for part in before.parts:
            found, scores = part()
            if numbers[at : at + len(found)].tolist() != found:
                raise SolversDisagree("the journal has other pages than the game")
            if ((scores == UNREACHED) != (pages[at : at + len(found)] == UNREACHED)).any():
                raise SolversDisagree("the journal has other positions than the game")
            pages[at : at + len(found)] = scores
            at += len(found)
        if at != len(pages):
            raise SolversDisagree("the journal lacks pages of the game")
        return layer

    def _check(self, layer: Layer, chunk: Chunk, scores: np.ndarray, summary: Summary) -> None:
        """Raise SolversDisagree unless searches of some reached places, or of all, confirm their scores."""
        places = np.flatnonzero(scores.ravel() != UNREACHED)
        budget = self.budget
        if self.sample is not None:
            rng = random.Random(int(layer.filled[chunk.start]))
            share = len(scores) / len(layer.filled)
            places = places[rng.sample(range(len(places)), min(len(places), self.sample_of(share, rng)))]
            budget *= share
        search = self._searches.get()
        try:
            start = search.nodes
            for number in places.tolist():
                if search.nodes - start > budget:
                    break
                self._check_one(search, layer, chunk, scores, number, summary)
            summary.nodes += search.nodes - start
        finally:
            self._searches.put(search)
        if self.sample is None:
            summary.checked += scores.size - len(places)  # the others are never reached, and were not counted

    def _check_one(
        self, search: DuelSearch, layer: Layer, chunk: Chunk, scores: np.ndarray, number: int, summary: Summary
    ) -> None:
        row, place = divmod(number, scores.shape[1])
        filled = int(layer.filled[chunk.start + row])
        own = unrank(filled, place)
        searched = search.score(own, filled & ~own, NODE_LIMIT if self.sample is not None else 0)
        if searched is None:
            summary.abandoned += 1
        elif searched != scores[row, place]:
            x, o = (filled & ~own, own) if layer.number % 2 else (own, filled & ~own)
            raise SolversDisagree(
                f"board {str(self._rules.at(x, o))!r} of {self._rules.name}: the sweep says {scores[row, place]}, "
                f"the search says {searched}"
            )
        else:
            summary.checked += 1


def page_numbers(filled: np.ndarray, tiles: int) -> np.ndarray:
    """Return the numbers of the pages of some filled sets with so many tiles, in order."""
    firsts = np.array([first_page(each) for each in filled.tolist()], np.int64)
    found: np.ndarray = (firsts[:, None] + np.arange(1 << max(0, tiles - PAGE_BITS))).ravel()
    return found


def plan_duel(game: Duel, group: tuple[Symmetry, ...], jobs: int) -> Plan:
    """Return what a build needs: all scores are in memory at once."""
    sizes = [count << tiles for tiles, count in enumerate(orbit_counts(list(group)))]
    places = sum(sizes)
    return Plan(
        filled=places, searched=places, stored=places - sizes[-1], pages=places, cells=game.cells, jobs=jobs,
        places_a_second=_PLACES_A_SECOND, places_per_byte=_PLACES_PER_BYTE,
    )  # fmt: skip
