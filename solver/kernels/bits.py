"""Bit sets inside kernels: two machine instructions, and tables that permute a set.

A table splits a set into chunks of CHUNK bits and holds the image of every possible chunk; the union of
these is the image of the set. Four chunks are enough for most boards, five for 32 cells.
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

from solver.kernels.jit import helper  # isort: skip  (it sets numba's cache folder first)

import numpy as np  # isort: skip
from llvmlite import ir  # isort: skip
from numba import types  # isort: skip
from numba.core import cgutils  # isort: skip
from numba.extending import intrinsic  # isort: skip

CHUNK = 7
CHUNKS = 5
WIDTH = 1 << CHUNK

CHOOSE = np.array([[comb(n, k) for k in range(33)] for n in range(33)], np.int64)
"""CHOOSE[n, k]: the number of sets of k out of n, from which ranks are made."""


def permuting(images: Sequence[Sequence[int]]) -> np.ndarray:
    """Return tables for several permutations: with them, `carried(mask, tables, i)` moves bit b to images[i][b]."""
    tables = np.zeros((len(images), CHUNKS, WIDTH), np.uint32)
    for bit, moved in enumerate(np.array(images, np.uint32).T):
        chunk, bit = divmod(bit, CHUNK)
        without = tables[:, chunk, : 1 << bit]
        tables[:, chunk, 1 << bit : 2 << bit] = without | (np.uint32(1) << moved)[:, None]
    return tables


@helper
def carried(mask, tables, table_id):
    """Return the image of a set."""
    image = (
        tables[table_id, 0, mask & WIDTH - 1]
        | tables[table_id, 1, mask >> CHUNK & WIDTH - 1]
        | tables[table_id, 2, mask >> 2 * CHUNK & WIDTH - 1]
        | tables[table_id, 3, mask >> 3 * CHUNK & WIDTH - 1]
    )
    if mask >> 4 * CHUNK:  # on large boards only: a look-up takes longer than this test
        image |= tables[table_id, 4, mask >> 4 * CHUNK]
    return np.int64(image)


@helper
def fill_table(m, moved, tables, table_id):
    """Fill one table so that it moves each bit b below m to moved[b], or drops it if that is -1."""
    for b in range(m):
        chunk, bit = b // CHUNK, b % CHUNK
        image = 1 << moved[b] if moved[b] >= 0 else 0
        for mask in range(1 << bit):
            tables[table_id, chunk, mask | 1 << bit] = tables[table_id, chunk, mask] | image


@helper
def next_mask(mask):
    """Return the next larger number with the same number of bits."""
    if mask == 0:
        return 0
    low = mask & -mask
    ripple = mask + low
    return ripple | (mask ^ ripple) >> 2 >> lowest(low)


def _instruction(emit: Callable[[Any, Any], Any]) -> Callable[..., int]:
    """Return a function, for kernels only, that applies one machine instruction to a 64-bit set."""

    def typed(typing_context: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(builder, arguments[0])

        return types.int64(types.int64), generate

    operation: Callable[..., int] = intrinsic(typed)
    return operation


lowest = _instruction(lambda builder, mask: builder.cttz(mask, ir.Constant(ir.IntType(1), 1)))
"""Return the index of the lowest set bit of a set, which must not be empty."""

bit_count = _instruction(lambda builder, mask: builder.ctpop(mask))
"""Return the number of set bits."""


@intrinsic
def prefetch(typing_context, array, index):
    """Ask the processor to bring an element of an array into its cache, for kernels only."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, soon, data_cache = word(0), word(3), word(1)
        builder.call(function, [pointer, to_read, soon, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
