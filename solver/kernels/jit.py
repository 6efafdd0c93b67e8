"""The one way in which this project compiles: every numba option, and what each is for.

Where compiled code cannot be kept, or where a kept file is damaged, a kernel is compiled for this
process alone and nothing is said, because nothing is wrong with the answer.
"""

import gc
from collections.abc import Callable
from typing import Any

from solver.kernels.cache import KEEP, forget

import numba  # isort: skip  (solver.kernels.cache says where it keeps what it compiles)
from numba.extending import register_jitable  # isort: skip

Function = Callable[..., Any]


def jit(signature: str) -> Callable[[Function], Function]:
    """Compile for one explicit signature, at import; the way for what Python calls.

    nogil lets threads run side by side, error_model="numpy" drops the test for a zero divisor, and
    cache spares a user's second start the compiling.
    """

    def compiled(function: Function) -> Function:
        try:
            return _njit(signature, function, cache=KEEP)
        except Exception:
            # A damaged cache file fails in as many ways as unpickling can. Without it, a fault of
            # the kernel's own shows itself again, and is raised.
            forget(function.__name__)
            return _njit(signature, function, cache=False)

    return compiled


def helper(function: Function) -> Function:
    """Leave a function to be compiled with the kernels that call it, and for them alone."""
    kernel: Function = register_jitable(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return kernel


def _njit(signature: str, function: Function, *, cache: bool) -> Function:
    collecting = gc.isenabled()
    gc.disable()  # compiling makes much and drops little: looking for garbage would be a fifth of its time
    try:
        kernel: Function = numba.njit(signature, cache=cache, nogil=True, error_model="numpy")(function)
    finally:
        if collecting:
            gc.enable()
    return kernel
