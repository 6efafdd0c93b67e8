"""Sixty-four small numbers at once: the operations that the sweep reads, compares and writes scores with.

A score is one byte. A processor that adds 64-bit numbers can as well work on eight bytes side by side, and today's
processors have registers of 16, 32 or 64 such **lanes**. LLVM, numba's compiler, has a type for 64 of them,
`<64 x i8>`, and splits it into as many registers as the processor needs, so the operations below work everywhere.
For example, a kernel that looks for the smallest of many scores in each lane of `word` repeats

    least = chosen(word, smaller(least, load(pages, place)), least)

which reads 64 scores that are next to each other, starting at `place`. A **word** is a set of lanes: a 64-bit number
whose bit i stands for lane i, like the sets of solver/kernels/bits.py.

Scores that are not next to each other in the right order have to be rearranged: `permuted` and `looked_up` read a table
of 64 or 128 bytes at 64 indexes. LLVM has no such operation. Processors with AVX-512 VBMI have an instruction for each.
For others there is a loop, the same in plain steps; a kernel does better without it, and FAST tells it so.
"""

from collections.abc import Callable
from typing import Any

import solver.kernels.jit  # noqa: F401  isort: skip  (it sets numba's cache folder first)

from llvmlite import ir  # isort: skip
from numba import types  # isort: skip
from numba.core import cgutils, codegen, config  # isort: skip
from numba.extending import intrinsic, models, register_model  # isort: skip

LANES = 64


def _has(feature: str) -> bool:
    """Return whether numba compiles for a processor with this feature."""
    settings: Any = config
    features = settings.CPU_FEATURES  # set by the user, or by numba for NUMBA_CPU_NAME=generic
    return f"+{feature}" in (codegen.get_host_cpu_features() if features is None else features).split(",")


FAST = _has("avx512vbmi")
"""Whether `permuted` and `looked_up` take one instruction. If not, it is faster to read scores one by one."""


class Vector(types.Type):
    """numba's name for the type of 64 signed bytes."""


_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_BYTES, _FLAGS = ir.VectorType(_BYTE, LANES), ir.VectorType(ir.IntType(1), LANES)
_VECTOR = Vector(name="Vector")


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _BYTES)


def _operation(result: Any, *kinds: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a function that writes LLVM's code of an operation, given its arguments' types.

    Of an array the function gets the address of the data.
    """

    def decorated(emit: Callable[..., Any]) -> Callable[..., Any]:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(builder, *(
                context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, arguments, strict=True)
            )) or context.get_dummy_value()  # fmt: skip

        def typed(*given: Any) -> Any:
            arguments = [mine if kind is types.Array else kind for kind, mine in zip(kinds, given, strict=True)]
            return result(*arguments), generate

        # numba looks at the parameters, so each number of them takes a function of its own.
        of_any: list[Any] = [
            lambda typing_context, a: typed(a),
            lambda typing_context, a, b: typed(a, b),
            lambda typing_context, a, b, c: typed(a, b, c),
        ]
        operation: Callable[..., Any] = intrinsic(of_any[len(kinds) - 1])
        operation.__doc__ = emit.__doc__
        return operation

    return decorated


def _at(builder, data, index):
    """Return the address of 64 bytes in an array of bytes."""
    return builder.bitcast(builder.gep(data, [index]), _BYTES.as_pointer())


def _in_each_lane(builder, value):
    """Return a number in all lanes."""
    first = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), builder.trunc(value, _BYTE), ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(first, ir.Constant(_BYTES, ir.Undefined), everywhere)


def _call(builder, name, *arguments):
    """Call one of LLVM's functions of vectors."""
    kind = ir.FunctionType(_BYTES, [_BYTES] * len(arguments))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@_operation(_VECTOR, types.int64)
def filled(builder, value):
    """Return a number in all lanes."""
    return _in_each_lane(builder, value)


@_operation(_VECTOR, types.Array, types.int64)
def load(builder, data, index):
    """Return the 64 bytes of a flat array from an index on, all of which must be there."""
    vector = builder.load(_at(builder, data, index))
    vector.align = 1
    return vector


@_operation(types.void, types.Array, types.int64, _VECTOR)
def store(builder, data, index, vector):
    """Write the 64 lanes to a flat array of bytes from an index on."""
    builder.store(vector, _at(builder, data, index)).align = 1


@_operation(_VECTOR, types.int64, _VECTOR, _VECTOR)
def chosen(builder, word, inside, outside):
    """Return the lanes of `inside` that are in a word, and those of `outside` that are not."""
    return builder.select(builder.bitcast(word, _FLAGS), inside, outside)


@_operation(_VECTOR, _VECTOR, _VECTOR)
def smaller(builder, one, other):
    """Return the smaller number in each lane."""
    return builder.select(builder.icmp_signed("<", one, other), one, other)


@_operation(_VECTOR, _VECTOR, _VECTOR)
def larger(builder, one, other):
    """Return the larger number in each lane."""
    return builder.select(builder.icmp_signed(">", one, other), one, other)


@_operation(_VECTOR, _VECTOR)
def negated(builder, vector):
    """Return each lane's number with the other sign."""
    return builder.neg(vector)


@_operation(_VECTOR, _VECTOR, types.int64)
def united(builder, vector, bits):
    """Return each lane's number with more bits set."""
    return builder.or_(vector, _in_each_lane(builder, bits))


@_operation(types.int64, _VECTOR, types.int64)
def equal(builder, vector, value):
    """Return the word of the lanes that hold a number."""
    return builder.bitcast(builder.icmp_signed("==", vector, _in_each_lane(builder, value)), _WORD)


@_operation(_VECTOR, _VECTOR, _VECTOR)
def permuted(builder, table, indexes):
    """Return table[index] for each lane's index, which must be below 64."""
    if FAST:
        return _call(builder, "llvm.x86.avx512.permvar.qi.512", table, indexes)
    return _read_in_steps(builder, [table], indexes)


@_operation(_VECTOR, types.Array, types.int64, _VECTOR)
def looked_up(builder, data, start, indexes):
    """Return data[start + index] for each lane's index, which must be below 128, from a flat array of bytes."""
    halves = [builder.load(_at(builder, data, builder.add(start, _WORD(part)))) for part in (0, LANES)]
    for half in halves:
        half.align = 1
    if FAST:
        return _call(builder, "llvm.x86.avx512.vpermi2var.qi.512", halves[0], indexes, halves[1])
    return _read_in_steps(builder, halves, indexes)


def _read_in_steps(builder, tables, indexes):
    """Return what `permuted` and `looked_up` do, by a loop: the bytes of some vectors at the index in each lane."""
    memory = cgutils.alloca_once(builder, ir.ArrayType(_BYTES, len(tables) + 2))
    start = builder.bitcast(memory, _BYTE.as_pointer())
    for part, vector in enumerate([*tables, indexes]):
        builder.store(vector, _at(builder, start, _WORD(part * LANES)))
    first_index, first_result = len(tables) * LANES, (len(tables) + 1) * LANES
    with cgutils.for_range(builder, _WORD(LANES)) as loop:
        index = builder.load(builder.gep(start, [builder.add(loop.index, _WORD(first_index))]))
        found = builder.load(builder.gep(start, [builder.zext(index, _WORD)]))
        builder.store(found, builder.gep(start, [builder.add(loop.index, _WORD(first_result))]))
    return builder.load(_at(builder, start, _WORD(first_result)))
