"""Bit sets inside kernels: two machine instructions, and tables that permute a set.

A table takes a set apart into chunks of CHUNK bits, and holds the image of every chunk: the image
of the whole is the union. Four chunks are enough for any board that is solved.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from solver.kernels.jit import helper

CHUNK = 7
CHUNKS = 4
WIDTH = 1 << CHUNK


def permuting(images: Sequence[Sequence[int]]) -> np.ndarray:
    """The tables of several permutations: `carried(set, tables, i)` moves bit b to images[i][b]."""
    tables = np.zeros((len(images), CHUNKS, WIDTH), np.uint32)
    for bit, moved in enumerate(np.array(images, np.uint32).T):
        chunk, bit = divmod(bit, CHUNK)
        half = tables[:, chunk, : 1 << bit]
        tables[:, chunk, 1 << bit : 2 << bit] = half | (np.uint32(1) << moved)[:, None]
    return tables


@helper
def carried(mask, tables, which):
    """The image of a set."""
    return np.int64(
        tables[which, 0, mask & WIDTH - 1]
        | tables[which, 1, mask >> CHUNK & WIDTH - 1]
        | tables[which, 2, mask >> 2 * CHUNK & WIDTH - 1]
        | tables[which, 3, mask >> 3 * CHUNK & WIDTH - 1]
    )


@helper
def fill_table(m, moved, tables, which):
    """Set one table to move bit b to moved[b], or to drop it where that is -1, for bits below m."""
    for b in range(m):
        chunk, bit = b // CHUNK, b % CHUNK
        image = 1 << moved[b] if moved[b] >= 0 else 0
        for mask in range(1 << bit):
            tables[which, chunk, mask | 1 << bit] = tables[which, chunk, mask] | image


@helper
def next_mask(mask):
    """The next larger set, as a number, with as many bits."""
    if mask == 0:
        return 0
    low = mask & -mask
    ripple = mask + low
    return ripple | (mask ^ ripple) >> 2 >> lowest(low)


def _instruction(emit: Callable[[Any, Any], Any]) -> Callable[..., int]:
    """An operation on one 64-bit set that is a machine instruction, to be called by kernels alone."""

    def typed(typing_context: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(builder, arguments[0])

        return types.int64(types.int64), generate

    operation: Callable[..., int] = intrinsic(typed)
    return operation


lowest = _instruction(lambda builder, mask: builder.cttz(mask, ir.Constant(ir.IntType(1), 1)))
"""The number of the lowest set bit of a set that is not empty."""

bit_count = _instruction(lambda builder, mask: builder.ctpop(mask))
"""How many bits are set."""
