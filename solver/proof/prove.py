"""Solve a game of lines with both solvers: sweep every layer, count its positions, and check it by alpha-beta.

Only the `o_to_move` pages of two layers stay in memory. The positions after each move are searched before the position
itself, and are in the table.
"""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np

from solver.errors import SolversDisagree
from solver.games.lines import Game
from solver.games.position import Position
from solver.index.symmetry import Symmetry
from solver.proof.check import check_all, check_sample
from solver.proof.plan import plan_build
from solver.proof.proof import EMPTY_BOARD_LIMIT, NODE_LIMIT, Clock, Made, Proof, Solved, StoredPages, Summary, Use
from solver.search.alphabeta import AlphaBeta
from solver.store.record import pages_in_record
from solver.sweep.halves import all_halves, kernel_game
from solver.sweep.layers import Chunk, Filled, Layer, Pages, layers
from solver.sweep.tally import count_positions


class LineProof(Proof[Made]):
    """Solve one game of lines with both solvers."""

    def __init__(self, game: Game, group: tuple[Symmetry, ...], use: Use[Made], *, jobs: int, **options: Any) -> None:
        """Plan the work: `plan` then says what it needs."""
        self._rules, self._group = game, group
        self._game = kernel_game(game, group)
        self._halves = all_halves(self._game)
        super().__init__(plan_build(game.cells, self._halves, jobs), use, jobs=jobs, **options)
        first = AlphaBeta(game, group, limit=NODE_LIMIT if self.sample is not None else 0)
        self._searches: SimpleQueue[AlphaBeta] = SimpleQueue()  # those not in use; all share a table
        for _ in range(jobs):
            self._searches.put(first.beside())

    def layers(self, pool: ThreadPoolExecutor, before: Solved | None) -> Iterator[Layer]:
        """Yield the layers, from the most X's to none."""
        return layers(self._game, self._halves, before and self._restored(pool, before))

    def chunks(self, layer: Layer) -> Iterator[Chunk]:
        """Yield the layer in chunks of whole records."""
        return layer.chunks(pages_in_record(layer.x_to_move_size))

    def fill(self, layer: Layer, chunk: Chunk, summary: Summary, clock: Clock) -> StoredPages | None:
        """Fill, count and check the pages of some halves; return those where X is to move, if there are any."""
        filled = layer.fill(chunk)
        if layer.x_count == 0 and filled.x_to_move:
            summary.score = int(filled.x_to_move.scores[0, 0])
        pages_of_both = list(filter(None, filled))
        for pages in pages_of_both:
            ply = self._game.cells - pages.empty
            summary.plies[ply] = count_positions(self._game, pages.o_count, pages.halves, pages.scores)
            summary.filled += pages.scores.size
        clock.spent("solve")
        if not chunk.open:
            return None
        for pages in pages_of_both:
            self._check(pages, layer, summary)
        clock.spent("check")
        return self.stored(filled)

    def stored(self, filled: Filled) -> StoredPages | None:
        """Return what a store has of some pages: those where X is to move, if there are any."""
        pages = filled.x_to_move
        return StoredPages(pages.empty, pages.halves, pages.scores) if pages else None

    def search_empty_board(self) -> str:
        """Search the empty board with an empty table, and return in words what that took."""
        search = AlphaBeta(self._rules, self._group, table_bits=18, limit=EMPTY_BOARD_LIMIT)
        if search.score(Position(self._rules)) is None:
            return f"given up after {EMPTY_BOARD_LIMIT:,} nodes"
        return f"{search.nodes:,} nodes, {search.cutoffs:,} cut-offs, {search.hits:,} table hits"

    def _restored(self, pool: ThreadPoolExecutor, before: Solved) -> Layer:
        """Return the last layer that was solved before, with its `o_to_move` pages computed anew from `x_to_move`."""
        layer = Layer(self._game, before.number, self._halves[before.number], None)
        if before.number:  # else there is no layer left to solve

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
                chunks = self.chunks(layer)
                restored = sum(chunk.stop - chunk.start for chunk in chunks if chunk.open and layer.fill(chunk))
            if restored != len(layer.open):
                raise SolversDisagree("the journal lacks halves of the game")
        return layer

    def _check(self, pages: Pages, layer: Layer, summary: Summary) -> None:
        search = self._searches.get()
        try:
            if self.sample is None:
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
        size = self.sample_of(share, rng)
        confirmed, abandoned, nodes = check_sample(
            search, pages.o_count, pages.halves, pages.scores, size, share * self.budget, rng
        )
        summary.checked += confirmed
        summary.abandoned += abandoned
        summary.nodes += nodes
