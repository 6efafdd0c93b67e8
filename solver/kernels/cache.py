"""The cache of compiled kernels, so that only the first process compiles.

It is in the user's cache folder, never next to the source, because an installed package may be
read-only. numba reads the folder's name from the environment once, when it is imported, so this module
must be imported first and does not import numba itself.

numba runs what it finds in its files, unread: one flipped bit is a crash, or a kernel that computes
something else. So each file has its digest beside it (`<file>.sum`), and before a kernel is loaded, files
that do not match theirs are deleted, which makes numba compile the kernel again.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from solver.files import write_whole
from solver.folders import cache_folder


def source_digest(package: Path) -> str:
    """Return a digest of every Python file in a package: numba notices changes only in a kernel's own file."""
    sources = sorted((str(file.relative_to(package)), file.read_bytes()) for file in package.rglob("*.py"))
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
    os.environ["NUMBA_CACHE_DIR"] = os.path.join(_FOLDER, f"numba-{source_digest(Path(str(files('solver'))))}")

CACHE = Path(os.environ.get("NUMBA_CACHE_DIR", os.devnull))
KEEP = _usable(CACHE)


def is_cached(kernel: str) -> bool:
    """Return whether a kernel, such as `search/alphabeta.search`, is cached, or there is no usable cache folder."""
    return not KEEP or any(file.suffix == ".nbi" for file in _files(kernel))


def kernel_name(function: Callable[..., object]) -> str:
    """Return how the cache names a function: `folder/module.function-line`."""
    code = function.__code__
    source = Path(code.co_filename)
    return f"{source.parent.name}/{source.stem}.{function.__qualname__}-{code.co_firstlineno}"


def forget_damaged(kernel: str) -> dict[Path, int]:
    """Delete a kernel's files unless all of them match their digests; return those that are left, and their times."""
    if not KEEP:
        return {}
    try:
        files = _files(kernel)
        if all(_sum_file(file).read_bytes() == _sum(file) for file in files):
            return {file: file.stat().st_mtime_ns for file in files}
    except OSError:
        pass  # a digest is missing, or a file cannot be read
    forget(kernel)
    return {}


def forget(kernel: str) -> None:
    """Delete a kernel's files, so that it is compiled again."""
    with suppress(OSError):
        for file in _files(kernel):
            file.unlink(missing_ok=True)
            _sum_file(file).unlink(missing_ok=True)


def write_sums(kernel: str, checked: dict[Path, int]) -> None:
    """Write the digests of the files that numba has written since `forget_damaged` returned `checked`."""
    if not KEEP:
        return
    with suppress(OSError):
        for file in _files(kernel):
            if checked.get(file) != file.stat().st_mtime_ns:
                write_whole(_sum_file(file), _sum(file))


def _files(kernel: str) -> list[Path]:
    """Return numba's index of a kernel and the compiled code that it names."""
    folder, _, name = kernel.partition("/")
    return list(CACHE.glob(f"{folder}_*/{name}[-.]*.nb?"))


def _sum_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.sum")


def _sum(file: Path) -> bytes:
    return hashlib.blake2b(file.read_bytes()).hexdigest().encode()
