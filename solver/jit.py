"""The one way in which this project compiles: every numba option, and what each is for.

Compiled code is kept in the user's cache folder, never beside the source: an installed package may
be read-only. Where no folder can be written, or where a cached file is damaged, the kernel is
compiled for this process alone and nothing is said, because nothing is wrong with the answer.
"""

import gc
import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from solver.folders import cache_folder

Function = Callable[..., Any]


def _source_digest() -> str:
    """A name for the sources as they are: numba itself notices a change in a kernel's own file only."""
    sources = sorted((file.name, file.read_bytes()) for file in files("solver").iterdir() if file.name[-3:] == ".py")
    return hashlib.sha256(repr(sources).encode()).hexdigest()[:12]


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


_FOLDER = cache_folder()
if "NUMBA_CACHE_DIR" not in os.environ and _FOLDER is not None:
    os.environ["NUMBA_CACHE_DIR"] = str(_FOLDER / f"numba-{_source_digest()}")

import numba  # noqa: E402  (numba reads the line above once, on import)
from numba.extending import register_jitable  # noqa: E402

CACHE = Path(os.environ.get("NUMBA_CACHE_DIR", os.devnull))
_KEEP = _usable(CACHE)


def jit(signature: str) -> Callable[[Function], Function]:
    """Compile for one explicit signature, at import; the way for what Python calls.

    nogil lets threads run side by side, error_model="numpy" drops the test for a zero divisor, and
    cache spares a user's second start the compiling.
    """

    def compiled(function: Function) -> Function:
        try:
            return _njit(signature, function, cache=_KEEP)
        except Exception:
            # A damaged cache file fails in as many ways as unpickling can. Without it, a fault of
            # the kernel's own shows itself again, and is raised.
            _forget(function)
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


def is_cached(kernel: str) -> bool:
    """Whether a kernel was compiled before, or there is nowhere to keep it in any case."""
    return not _KEEP or any(CACHE.glob(f"*/*.{kernel}-*.nbi"))


def _forget(function: Function) -> None:
    """Delete what is cached of a function, so that the next process writes it anew."""
    with suppress(OSError):
        for file in CACHE.glob(f"*/*.{function.__name__}-*.nb?"):
            file.unlink(missing_ok=True)
