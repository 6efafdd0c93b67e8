"""The cache of compiled kernels, so that only the first process compiles.

It is in the user's cache folder, never next to the source, because an installed package may be
read-only. numba reads the folder's name from the environment once, when it is imported, so this module
must be imported first and does not import numba itself.
"""

import hashlib
import os
import tempfile
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

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


def forget(kernel: str) -> None:
    """Delete a kernel's files, so that the next process compiles and caches it again."""
    with suppress(OSError):
        for file in CACHE.glob(f"*/*.{kernel}-*.nb?"):
            file.unlink(missing_ok=True)
