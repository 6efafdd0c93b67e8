"""The only place that calls numba's compiler: every option, and what it is for.

Cached code is loaded only if it is what was written (solver/kernels/cache.py); otherwise the kernel is
compiled again. If compiled code cannot be cached, the kernel is compiled for this process only. There is no
warning, because the results are not affected.
"""

import gc
import resource
from collections.abc import Callable
from typing import Any

from solver.kernels.cache import KEEP, forget, forget_damaged, kernel_name, write_sums

import numba  # isort: skip  (solver.kernels.cache must set its cache folder first)
from numba.extending import register_jitable  # isort: skip

Function = Callable[..., Any]

_ADDRESSES = 1 << 30
"""With less address space than this, in bytes, LLVM may end the process instead of failing."""

if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < _ADDRESSES:
    raise MemoryError("compiled code takes 1 GiB of address space")


def jit(signature: str, *, allocates: bool = False) -> Callable[[Function], Function]:
    """Return a decorator that compiles a function for one signature at import, for functions that Python calls.

    nogil lets threads run in parallel, error_model="numpy" omits the test for a zero divisor, and cache
    makes every start but the first fast. A function that makes no arrays needs no counts of references to them, which
    would take a tenth of the time where functions call each other often; one that does says that it `allocates`.
    """

    def compiled(function: Function) -> Function:
        name = kernel_name(function)
        try:
            checked = forget_damaged(name)
            kernel = _njit(signature, function, cache=KEEP, allocates=allocates)
            write_sums(name, checked)
            return kernel
        except Exception:
            # A file that changes while it is loaded can raise anything that unpickling can. If the fault is
            # in the kernel itself, compiling without the cache raises it again.
            forget(name)
            return _njit(signature, function, cache=False, allocates=allocates)

    return compiled


def helper(function: Function) -> Function:
    """Mark a function as compiled only together with the kernels that call it."""
    kernel: Function = register_jitable(no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)(function)
    return kernel


def _njit(signature: str, function: Function, *, cache: bool, allocates: bool) -> Function:
    collecting = gc.isenabled()
    gc.disable()  # compiling allocates much and frees little: collection would take a fifth of the time
    try:
        options: dict[str, Any] = {"cache": cache, "nogil": True, "error_model": "numpy", "_nrt": allocates}
        options["no_cfunc_wrapper"] = True  # which would let C call it, and takes time to compile
        kernel: Function = numba.njit(signature, **options)(function)
    finally:
        if collecting:
            gc.enable()
    return kernel
