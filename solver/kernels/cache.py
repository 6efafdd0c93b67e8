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
    """Return whether a kernel is in the cache, or there is no usable cache folder."""
    return not KEEP or any(CACHE.glob(f"*/*.{kernel}-*.nbi"))


def forget_damaged(kernel: str) -> None:
    """Delete a kernel's files unless all of them match their digests, so that it is compiled again."""
    if not KEEP:
        return
    try:
        if all(_sum_file(file).read_bytes() == _sum(file) for file in _files(kernel)):
            return
    except OSError:
        pass  # a digest is missing, or a file cannot be read
    forget(kernel)


def forget(kernel: str) -> None:
    """Delete a kernel's files, so that it is compiled again."""
    with suppress(OSError):
        for file in _files(kernel):
            file.unlink(missing_ok=True)
            _sum_file(file).unlink(missing_ok=True)


def seal(kernel: str) -> None:
    """Write the digests of a kernel's files that have none: they were written since `forget_damaged`."""
    if not KEEP:
        return
    with suppress(OSError):
        for file in _files(kernel):
            if not _sum_file(file).exists():
                write_whole(_sum_file(file), _sum(file))


def _files(kernel: str) -> list[Path]:
    """Return numba's index of a kernel and the compiled code that it names."""
    return list(CACHE.glob(f"*/*.{kernel}-*.nb?"))


def _sum_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.sum")


def _sum(file: Path) -> bytes:
    return hashlib.blake2b(file.read_bytes()).hexdigest().encode()
