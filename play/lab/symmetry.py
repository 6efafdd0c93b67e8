"""Whether a policy does the same in positions that are equal by symmetry."""

import numpy as np

from play.lab.policies import Policy
from play.lab.sampling import image_of
from solver.arrays.kernels import expand, kernel_lines
from solver.index.symmetry import Symmetry

_NEAR = 1e-6


def agreement(policy: Policy, group: tuple[Symmetry, ...], x: np.ndarray, o: np.ndarray, seed: int) -> float:
    """Return in which share of positions a policy does the same, up to symmetry, in a random image."""
    chosen = np.array(group)[np.random.default_rng(seed).integers(0, len(group), len(x))]
    image_x, image_o = image_of(x, chosen), image_of(o, chosen)
    here, there = (_after(policy, group, *boards) for boards in ((x, o), (image_x, image_o)))
    same = [
        all(abs(one.get(key, 0.0) - other.get(key, 0.0)) < _NEAR for key in one | other)
        for one, other in zip(here, there, strict=True)
    ]
    return sum(same) / len(same)


def _after(policy: Policy, group: tuple[Symmetry, ...], x: np.ndarray, o: np.ndarray) -> list[dict[int, float]]:
    """Return, for each position, the chances of what may follow, where equal positions count as one."""
    kernel = kernel_lines(policy.game, group)
    keys = np.empty((len(x), kernel.cells), np.int64)
    expand(kernel.cells, kernel.through, kernel.images, x, o, np.ones(keys.shape, np.bool_), keys)
    found = []
    for row, chances in zip(keys.tolist(), policy.chances(x, o).tolist(), strict=True):
        sums: dict[int, float] = {}
        for key, chance in zip(row, chances, strict=True):
            sums[key] = sums.get(key, 0.0) + chance
        found.append(sums)
    return found
