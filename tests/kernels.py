"""Compile every kernel before the workers of a run start: each of them would compile all of them for itself."""

import os
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).parents[1]


def kernel_modules() -> list[str]:
    """Return the modules that have kernels, by name."""
    files = sorted(file for room in ("solver", "play") for file in (TREE / room).rglob("*.py"))
    return [".".join(file.relative_to(TREE).with_suffix("").parts) for file in files if "\n@jit(" in file.read_text()]


def compile_kernels() -> None:
    """Compile what the cache does not have, in as many processes as there are processors."""
    from solver.kernels.cache import CACHE, KEEP

    def is_cached(module: str) -> bool:
        *_, room, name = module.split(".")
        return any(CACHE.glob(f"{room}_*/{name}.*.nbi"))

    missing = [module for module in kernel_modules() if KEEP and not is_cached(module)]
    rooms = sorted({module.rpartition(".")[0] for module in missing})  # what is in one room shares kernels
    count = os.cpu_count() or 1
    shares = [[module for module in missing if module.rpartition(".")[0] in rooms[at::count]] for at in range(count)]
    compilers = [
        subprocess.Popen([sys.executable, "-P", "-c", f"import {', '.join(share)}"], cwd=TREE / "tests")
        for share in shares
        if share
    ]
    for compiler in compilers:
        compiler.wait()  # a kernel that cannot be compiled fails the tests that use it
