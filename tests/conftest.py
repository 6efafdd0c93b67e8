"""What all tests share: the Hypothesis profile, and games that were solved once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import settings

from solver.game import Game, parse_game
from solver.index import Index
from solver.position import Position
from solver.progress import silent
from solver.prove import Proof, Summary
from solver.sweep import Pages
from solver.symmetry import symmetries

settings.register_profile("ours", deadline=None, max_examples=100)  # compiling is slow once
settings.load_profile("ours")


@dataclass(frozen=True)
class Solved:
    """A game that both solvers have solved: what the proof came to, and every page."""

    game: Game
    index: Index
    summary: Summary
    filled: list[Pages]
    page: dict[tuple[int, int], np.ndarray]

    def score(self, x: int, o: int) -> int:
        """What the sweep says of a position that is not over, or that O has ended."""
        empty, half, place, _ = self.index.locate(x, o)
        return int(self.page[empty, half][place])

    def value(self, position: Position) -> int:
        """The score of any position, by the rules when X has a line."""
        if position.game.completed(position.x):
            over = position.score_if_over()
            assert over is not None
            return over
        return self.score(position.x, position.o)


@cache
def _solved(name: str, sample: int | None = None) -> Solved:
    game = parse_game(name)
    group = symmetries(game)
    proof: Proof[Pages] = Proof(game, group, lambda pages: pages, jobs=1, sample=sample, tell=silent)
    filled = [pages for chunks in proof for pages in chunks]
    page = {
        (pages.empty, half): scores
        for pages in filled
        for half, scores in zip(pages.halves.tolist(), pages.scores, strict=True)
    }
    return Solved(game, Index(game, group), proof.summary, filled, page)


@pytest.fixture(scope="session")
def solved() -> Callable[[str], Solved]:
    """A game by its notation, solved: all places of it were searched by alpha-beta, and no search differed."""
    return _solved
