"""In how many positions a player keeps the outcome, and plays best: by ply, and by the class of the position.

Every position that is not over is of one class:

    take         decisive, and the side to move can complete a line
    stop         decisive, and the other side would complete a line
    only         decisive otherwise, and exactly one move keeps the outcome
    trap         decisive otherwise: some moves keep the outcome, others lose it, and only looking ahead tells which
    lost         every move loses
    indifferent  all moves lead to the same outcome, a win or a draw

A position is **decisive** if its moves differ in outcome. A move **keeps** the outcome if no other leads to a better
one; it is **optimal** if, besides, no other wins sooner or loses later.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from play.lab.grades import CLASSES, DECISIVE, Share
from play.lab.kernels import find_threats
from solver.arrays.kernels import ABSENT
from solver.arrays.kernels import KernelLines as Lines

_NEAR = 1e-9
_PARTS = 4  # weight, kept, optimal, taken


class Shares:
    """Sums over positions: how many there are, and in how many a player keeps the outcome, by ply and class."""

    def __init__(self, lines: Lines) -> None:
        """Begin with none."""
        self._lines = lines
        self._sums = np.zeros((lines.cells, len(CLASSES), _PARTS))
        self._wrong, self._made = np.zeros((2, lines.cells))

    def add(
        self, x: np.ndarray, o: np.ndarray, scores: np.ndarray, chances: np.ndarray, weights: np.ndarray | float = 1.0
    ) -> None:
        """Add positions, with the score of each move and its chance; a position counts as often as its weight says."""
        legal = scores != ABSENT
        best = np.where(legal, scores, ABSENT).max(axis=1)
        keeps = legal & (np.sign(scores) == np.sign(best)[:, None])
        kept, optimal, taken = (
            _whole(np.einsum("ij,ij->i", chances, moves))
            for moves in (keeps, legal & (scores == best[:, None]), ~legal)
        )
        kinds = self._classes(x, o, best, keeps.sum(axis=1), legal.sum(axis=1))
        at = (np.bitwise_count(x) + np.bitwise_count(o)).astype(np.int64) * len(CLASSES) + kinds
        bins = self._sums.shape[0] * len(CLASSES)
        for part, what in enumerate((np.ones(len(x)), kept, optimal, taken)):
            self._sums[:, :, part] += np.bincount(at, what * weights, bins).reshape(self._sums.shape[:2])
        weighed = chances * np.broadcast_to(weights, len(x))[:, None]
        self._made += weighed.sum(axis=0)
        self._wrong += np.where(keeps, 0.0, weighed).sum(axis=0)

    def of(self, *classes: str) -> Share:
        """Return the shares of all positions, or of those of some classes."""
        kinds = [CLASSES.index(kind) for kind in classes or CLASSES]
        return _share(self._sums[:, kinds].sum(axis=(0, 1)))

    def by_class(self) -> dict[str, Share]:
        """Return the shares of each class."""
        return {kind: self.of(kind) for kind in CLASSES}

    def by_ply(self) -> Iterator[tuple[int, Share, Share]]:
        """Yield each ply that has positions, with the shares of all of them and of the decisive ones."""
        for ply, sums in enumerate(self._sums):
            if sums[:, 0].any():
                yield ply, _share(sums.sum(axis=0)), _share(sums[: len(DECISIVE)].sum(axis=0))

    def by_cell(self, group: Sequence[Sequence[int]]) -> list[float]:
        """Return, for each cell, in which share of the moves there the outcome is given away.

        Cells that a symmetry exchanges count as one.
        """
        images = np.array(group)
        made, wrong = self._made[images].sum(axis=0), self._wrong[images].sum(axis=0)
        shares: list[float] = np.divide(wrong, made, out=np.zeros(len(made)), where=made > 0).tolist()
        return shares

    @property
    def invalid(self) -> float:
        """The mean chance of choosing a taken cell."""
        weight, _, _, taken = self._sums.sum(axis=(0, 1))
        return float(taken / weight) if weight else 0.0

    def _classes(
        self, x: np.ndarray, o: np.ndarray, best: np.ndarray, keeping: np.ndarray, moves: np.ndarray
    ) -> np.ndarray:
        own, other = np.empty((2, len(x)), np.int64)
        find_threats(self._lines.cells, self._lines.through, x, o, own, other)
        threats = not self._lines.misere
        kinds = [keeping == moves, (own > 0) & threats, (other > 0) & threats, keeping == 1]
        same = np.where(best < 0, CLASSES.index("lost"), CLASSES.index("indifferent"))
        return np.select(kinds, [same, *(np.full(len(x), i) for i in range(3))], CLASSES.index("trap"))


def _whole(chance: np.ndarray) -> np.ndarray:
    """Return chances without what adding them up has left: whatever is all but certain is certain."""
    return np.where(chance > 1 - _NEAR, 1.0, chance)


def _share(sums: np.ndarray) -> Share:
    weight, kept, optimal, _ = map(float, sums)
    return Share(round(weight, 6), kept / weight, optimal / weight) if weight else Share(0.0, None, None)
