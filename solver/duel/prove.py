"""Solve the duel on one board with both solvers: fill every place by retrograde analysis, and check it by search.

Layers come in the order of the sweep, one at a time, so the positions after each move are searched before the position
itself, and are in the table.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from solver.duel.index import PAGE_BITS, first_page, page_size, unrank
from solver.duel.search import DuelSearch
from solver.duel.sweep import Chunk, Layer, empty_layers
from solver.errors import SolversDisagree
from solver.games.duel import Duel
from solver.index.places import UNREACHED
from solver.index.symmetry import Symmetry, orbit_counts
from solver.proof.crew import Crew
from solver.proof.plan import Plan
from solver.proof.progress import Progress
from solver.proof.proof import (
    EMPTY_BOARD_LIMIT,
    NODE_LIMIT,
    Clock,
    Made,
    Proof,
    StoredPages,
    Summary,
    Task,
    UnpackedPages,
    Use,
    Work,
    sample_of,
)

_PLACES_A_SECOND = 60_000_000
"""About how many places one core of a 2.5 GHz Xeon fills, counts and packs in a second."""

_PLACES_PER_BYTE = 20
"""About how many places a store packs into a byte: most are never reached."""


@dataclass
class Held:
    """A layer, its tasks, and the layer whose scores its own follow from. All are in memory."""

    number: int
    ply: int
    tasks: list[Task]
    layer: Layer
    following: Layer | None = None


class DuelProof(Proof[Made]):
    """Solve the duel on one board with both solvers, by threads of this process."""

    def __init__(self, game: Duel, group: tuple[Symmetry, ...], use: Use[Made], *, crew: Crew, **options: Any) -> None:
        """Plan the work: `plan` then says what it needs."""
        self._rules, self._group = game, group
        super().__init__(plan_duel(game, group, crew.hands), use, crew=crew, **options)
        self._searches: SimpleQueue[DuelSearch] = SimpleQueue()  # those not in use

    def work(self) -> Work:
        """Return what tasks do."""
        return self

    def layers(self) -> list[Held]:
        """Return the layers from full boards on, once it is known which places play reaches."""
        found = empty_layers(self._rules, self._group)
        for layer, following in zip(found, [*found[1:], None], strict=True):
            layer.share_marks()
            if following is not None:
                self.on_progress(Progress("exploring", layer.number))
                for _ in self.crew.run(layer.mark_children, [(chunk, following) for chunk in layer.chunks()]):
                    pass
        return [
            Held(
                layer.number, layer.ply, [Task(layer.number, i, chunk) for i, chunk in enumerate(layer.chunks())], layer
            )
            for layer in reversed(found)
        ]

    def begin(self, layer: Held, above: Held | None, *, wanted: bool) -> None:
        """Tell a layer which one it follows from."""
        layer.following = above.layer if above else None

    def end(self, layer: Held, above: Held | None) -> None:
        """Drop the layer before."""
        layer.following = None
        if above is not None:
            above.layer.scores = np.empty((0, 0), np.int8)

    def make(self, held: Held, task: Task, summary: Summary, clock: Clock) -> Iterator[StoredPages]:
        """Fill, count and check the places of some filled sets; yield their pages, unless the boards are full."""
        layer, chunk = held.layer, task.part
        scores = layer.fill(chunk, held.following)
        summary.filled += scores.size
        summary.plies[layer.number] = layer.count(chunk)
        if layer.number == 0:
            summary.score = int(scores[0, 0])
        clock.spent("solve")
        self._check(layer, chunk, scores, summary)
        clock.spent("check")
        size = page_size(self._rules, self._rules.cells - layer.number)
        if size:
            numbers = page_numbers(layer.filled[chunk.start : chunk.stop], layer.number)
            yield StoredPages(self._rules.cells - layer.number, numbers, scores.reshape(-1, size))
            clock.spent("write")

    def restore(self, held: Held, task: Task, kept: Iterable[UnpackedPages]) -> None:
        """Take the scores of some filled sets as they were kept."""
        layer, chunk = held.layer, task.part
        size = page_size(self._rules, self._rules.cells - layer.number)
        if not size:
            layer.fill(chunk, None)
            return
        pages, at = layer.scores[chunk.start : chunk.stop].reshape(-1, size), 0
        numbers = page_numbers(layer.filled[chunk.start : chunk.stop], layer.number)
        for found, scores in kept:
            if numbers[at : at + len(found)].tolist() != found:
                raise SolversDisagree("the records that were kept have other pages than the game")
            if ((scores == UNREACHED) != (pages[at : at + len(found)] == UNREACHED)).any():
                raise SolversDisagree("the records that were kept have other positions than the game")
            pages[at : at + len(found)] = scores
            at += len(found)
        if at != len(pages):
            raise SolversDisagree("the records that were kept lack pages of the game")

    def search_empty_board(self) -> str:
        """Search the empty board with an empty table, and return in words what that took."""
        search = DuelSearch(self._rules.neighbours, self._group)
        if search.score(0, 0, EMPTY_BOARD_LIMIT) is None:
            return f"given up after {EMPTY_BOARD_LIMIT:,} nodes"
        return f"{search.nodes:,} nodes"

    def _check(self, layer: Layer, chunk: Chunk, scores: np.ndarray, summary: Summary) -> None:
        """Raise SolversDisagree unless searches of some reached places, or of all, confirm their scores."""
        places = np.flatnonzero(scores.ravel() != UNREACHED)
        budget = self.budget
        if self.sample is not None:
            rng = random.Random(int(layer.filled[chunk.start]))
            share = len(scores) / len(layer.filled)
            places = places[
                rng.sample(range(len(places)), min(len(places), sample_of(share * self.sample, rng.random())))
            ]
            budget *= share
        try:
            search = self._searches.get_nowait()
        except Empty:
            search = DuelSearch(self._rules.neighbours, self._group)
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


def plan_duel(game: Duel, group: tuple[Symmetry, ...], hands: int) -> Plan:
    """Return what a build needs: all scores are in memory at once."""
    sizes = [count << tiles for tiles, count in enumerate(orbit_counts(list(group)))]
    places = sum(sizes)
    return Plan(
        filled=places, searched=places, stored=places - sizes[-1], pages=places, always=0, cells=game.cells,
        hands=hands, places_a_second=_PLACES_A_SECOND, places_per_byte=_PLACES_PER_BYTE,
    )  # fmt: skip
