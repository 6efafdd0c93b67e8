"""Solve a game of lines with both solvers: sweep every layer, count its positions, and check it by alpha-beta.

The pages where O is to move stay on a shelf until the next layer is filled. The positions after each move are searched
before the position itself, and are in the table of a process that has searched them.
"""

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any

import numpy as np

from solver.errors import NotSettled, SolversDisagree
from solver.games.lines import Game
from solver.games.position import Position
from solver.index.symmetry import Symmetry
from solver.proof.check import check_all, check_sample
from solver.proof.crew import Crew
from solver.proof.plan import CHECKED_WHOLE, FEW_HALVES_CELLS, Holder, around_bytes, plan_lines
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
from solver.scratch.folder import Folder, MemoryFolder
from solver.search.alphabeta import AlphaBeta
from solver.store.record import pages_in_record
from solver.sweep.desk import Desk
from solver.sweep.halves import LayerHalves, kernel_game, layer_halves, set_counts
from solver.sweep.layers import Chunk, Filled, Layer, Pages, page_sizes
from solver.sweep.shelf import NoShelf, PackedShelf, RawShelf, Shelf
from solver.sweep.tally import count_positions

_TASKS_A_LAYER, _MOST_PLACES = 64, 1 << 29
_LEAST_PLACES, _LEAST_CHECKED_PLACES = 1 << 22, 1 << 14
"""A layer is cut into about so many tasks, but none has more places, or fewer, unless it is a single half or record.

The least is smaller where every place is searched. All builds of a game cut it in the same way, so that each can go on
with what another has done.
"""


@dataclass
class Shelved:
    """A layer as its tasks are told of it: its number, and where its pages and those of the layer above are."""

    number: int
    ply: int
    tasks: list[Task]
    above: Shelf
    onto: Shelf

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: not the other tasks."""
        return self.__dict__ | {"tasks": []}


class LineWork:
    """What a task does. Another process makes its own of the same game, and keeps it for its next task."""

    def __init__(
        self, game: Game, group: tuple[Symmetry, ...], sample: int | None, budget: float, hands: int = 0
    ) -> None:
        """Prepare to check so many places of each ply, within a budget of nodes; all, if `sample` is None.

        So many `hands` share this; or, if that is 0, as many as there are cores share the machine.
        """
        self._given = game, group, sample, budget
        self.stopping = Event()
        """Set when nobody will use what tasks are making."""
        self._finding = Lock()
        self._rules, self._group, self._sample, self._budget = game, group, sample, budget
        self._around = around_bytes(hands)
        self.game = kernel_game(game, group)
        self._counts = set_counts(self.game)
        self._found = lru_cache(None if game.cells <= FEW_HALVES_CELLS else 3)(self._find_halves)
        self._first = AlphaBeta(game, group, limit=NODE_LIMIT if sample is not None else 0)
        self._searches: SimpleQueue[AlphaBeta] = SimpleQueue()  # those not in use; all share a table
        self._desks: SimpleQueue[Desk] = SimpleQueue()  # those not in use

    def __reduce__(self) -> Any:
        return _of_this_process, (type(self), self._given)

    def make(self, layer: Shelved, task: Task, summary: Summary, clock: Clock) -> Iterator[StoredPages]:
        """Fill, count and check the pages of some halves, and yield those that a store has."""
        sweeping, chunk = self._layer(layer.number), task.part
        if not chunk.open:
            for part in chunk.cut(sweeping.at_once(False)):
                room = NoShelf(sweeping.o_to_move_size).room(part.stop - part.start)
                self._count(sweeping.fill(part, None, room), summary)
                clock.spent("solve")
            return
        with layer.onto.part(task.number) as shelf, self._desk() as desk:
            together = pages_in_record(sweeping.x_to_move_size)
            for whole, around in sweeping.gathered(chunk, layer.above, desk, together):
                clock.spent("gather")
                for part in whole.cut(sweeping.at_once(True, together)):
                    if self.stopping.is_set():
                        raise NotSettled("the build is to stop")
                    room = shelf.room(part.stop - part.start)
                    filled = sweeping.fill(part, around, room)
                    if layer.number == 0 and filled.x_to_move:
                        summary.score = int(filled.x_to_move.scores[0, 0])
                    self._count(filled, summary)
                    clock.spent("solve")
                    self._check(filled, sweeping, summary)
                    clock.spent("check")
                    shelf.put(room)
                    clock.spent("shelve")
                    yield from self.stored(filled)
                    clock.spent("write")
        clock.spent("shelve")

    def restore(self, layer: Shelved, task: Task, kept: Iterable[UnpackedPages]) -> None:
        """Put the `o_to_move` pages of some halves on the shelf again, computed from those that their records have."""
        chunk = task.part
        if not chunk.open:
            return
        sweeping = self._layer(layer.number)
        at = chunk.start
        with layer.onto.part(task.number) as shelf:
            if not sweeping.x_to_move_size:  # then nothing is stored, and everything follows from the rules
                kept = ((sweeping.open[at:stop].tolist(), _NONE) for at, stop in [(chunk.start, chunk.stop)])
            for halves, x_to_move in kept:
                if sweeping.open[at : at + len(halves)].tolist() != halves:
                    raise SolversDisagree("the records that were kept have other halves than the game")
                room = shelf.room(len(halves))
                sweeping.restore(at, x_to_move, room)
                shelf.put(room)
                at += len(halves)
            if at != chunk.stop:
                raise SolversDisagree("the records that were kept lack halves of the game")

    def stored(self, filled: Filled) -> Iterator[StoredPages]:
        """Yield what a store has of some pages: those where X is to move, if there are any."""
        if pages := filled.x_to_move:
            yield StoredPages(pages.empty, pages.halves, pages.scores)

    def _layer(self, number: int) -> Layer:
        with self._finding:  # once, and not by every hand
            halves, above = self._found(number), np.empty(0, np.int64)
            if len(halves.open) and 2 * number < self.game.cells:
                above = self._found(number + 1).open
        return Layer(self.game, number, halves, above)

    def _find_halves(self, x_count: int) -> LayerHalves:
        return layer_halves(self.game, x_count, self._counts)

    @contextmanager
    def _desk(self) -> Iterator[Desk]:
        """Lend a desk, with what another task has left on it."""
        try:
            desk = self._desks.get_nowait()
        except Empty:
            desk = Desk(self._around)
        try:
            yield desk
        finally:
            self._desks.put(desk)

    def _count(self, filled: Filled, summary: Summary) -> None:
        for pages in filter(None, filled):
            ply = self.game.cells - pages.empty
            found = count_positions(self.game, pages.o_count, pages.halves, pages.scores)
            summary.plies[ply] = summary.plies.get(ply, 0) + found
            summary.filled += pages.scores.size

    def _check(self, filled: Filled, layer: Layer, summary: Summary) -> None:
        try:
            search = self._searches.get_nowait()
        except Empty:
            search = self._first.beside()
        try:
            for pages in filter(None, filled):
                if self._sample is None:
                    before = search.nodes
                    check_all(search, pages.o_count, pages.halves, pages.scores)
                    summary.checked += pages.scores.size
                    summary.nodes += search.nodes - before
                else:
                    self._check_some(search, pages, len(pages.halves) / len(layer.open), summary)
        finally:
            self._searches.put(search)

    def _check_some(self, search: AlphaBeta, pages: Pages, share: float, summary: Summary) -> None:
        rng = random.Random(int(pages.halves[0]))
        size = sample_of(share * (self._sample or 0), rng.random())
        confirmed, abandoned, nodes = check_sample(
            search, pages.o_count, pages.halves, pages.scores, size, share * self._budget, rng
        )
        summary.checked += confirmed
        summary.abandoned += abandoned
        summary.nodes += nodes


@lru_cache(2)
def _of_this_process(working: type[LineWork], given: tuple[Any, ...]) -> LineWork:
    """Return the work of this process for a game, which has found its halves and filled its table for earlier tasks."""
    return working(*given)


_NONE = np.empty((0, 0), np.int8)


class LineProof(Proof[Made]):
    """Solve one game of lines with both solvers."""

    working = LineWork

    def __init__(
        self, game: Game, group: tuple[Symmetry, ...], use: Use[Made], *, crew: Crew, folder: Folder | None = None,
        holder: Holder | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Plan the work: `plan` then says what it needs.

        Pages are held as `holder` says, or, if that is not given, as there is room for. A folder of files is `folder`.
        """
        self._rules, self._group, self._folder = game, group, folder
        kernels = kernel_game(game, group)
        counts = set_counts(kernels)
        self.layout = {}
        for number in range((game.cells + 1) // 2 + 1):
            if game.cells > FEW_HALVES_CELLS:
                options["on_progress"](Progress("counting", detail=f"halves of {number} cells"))
            opened, finished = map(len, layer_halves(kernels, number, counts))
            self.layout[number] = opened, finished
            if not opened:  # then no half with more X's is reached
                break
        super().__init__(plan_lines(game.cells, self.layout, crew.hands), use, crew=crew, **options)
        self.holder = holder or self.plan.choose(files=folder is not None)
        if not crew.shares_memory:
            self.holder = Holder.FILES
        hands = crew.hands if crew.shares_memory else 0
        self._in_memory: list[Shelf] = []
        self._work = self.working(game, group, self.sample, self.budget, hands)

    def work(self) -> Work:
        """Return what tasks do."""
        return self._work

    def stop(self) -> None:
        """Let tasks end soon, because nobody will use what they make, and let go of the memory."""
        self._work.stopping.set()
        for shelf in self._in_memory:
            shelf.remove()

    def layers(self) -> list[Shelved]:
        """Return the layers, from the most X's to none."""
        return [
            Shelved(number, 2 * number, self._tasks(number), NoShelf(), NoShelf())
            for number in sorted(self.layout, reverse=True)
        ]

    def begin(self, layer: Shelved, above: Shelved | None, *, wanted: bool) -> None:
        """Give a layer its shelves."""
        if above is not None:
            layer.above = above.onto
        size = page_sizes(self._rules.cells, layer.number)[1]
        starts = self._starts(layer)
        if not wanted:
            layer.onto = NoShelf(size)
        elif self.holder is Holder.RAW:
            layer.onto = RawShelf(starts, size)
        else:
            files = self._folder if self.holder is Holder.FILES else None
            layer.onto = PackedShelf(files or MemoryFolder(), layer.number, starts, size)
        if self.holder is not Holder.FILES:
            self._in_memory = [*self._in_memory[-1:], layer.onto]

    def end(self, layer: Shelved, above: Shelved | None) -> None:
        """Drop the pages of the layer above."""
        if above is not None:
            above.onto.remove()
            layer.above = NoShelf()

    def forget(self, layer: Shelved) -> None:
        """Delete the pages that an earlier build has left of a layer."""
        if self._folder is not None:
            PackedShelf(self._folder, layer.number, self._starts(layer), 1).remove()

    def held(self, layer: Shelved) -> set[int]:
        """Return the numbers of the tasks whose pages need not be restored."""
        return layer.onto.held()

    def search_empty_board(self) -> str:
        """Search the empty board with an empty table, and return in words what that took."""
        search = AlphaBeta(self._rules, self._group, table_bits=18, limit=EMPTY_BOARD_LIMIT)
        if search.score(Position(self._rules)) is None:
            return f"given up after {EMPTY_BOARD_LIMIT:,} nodes"
        return f"{search.nodes:,} nodes, {search.cutoffs:,} cut-offs, {search.hits:,} table hits"

    def _starts(self, layer: Shelved) -> list[int]:
        """Return the first half of each task, and the number of all open halves."""
        return [task.part.start for task in layer.tasks if task.part.open] + [self.layout[layer.number][0]]

    def _tasks(self, number: int) -> list[Task]:
        sizes = page_sizes(self._rules.cells, number)
        chunks: list[Chunk] = []
        least = _LEAST_PLACES if self.plan.filled > CHECKED_WHOLE else _LEAST_CHECKED_PLACES
        for is_open, count in zip((True, False), self.layout[number], strict=True):
            size = max(1, sizes[1] + is_open * sizes[0])
            places = min(max(count * size // _TASKS_A_LAYER, least), _MOST_PLACES)
            together = pages_in_record(sizes[0]) if is_open else 1
            chunks += Chunk(is_open, 0, count).cut(max(1, places // size // together) * together)
        return [Task(number, i, chunk) for i, chunk in enumerate(chunks)]
