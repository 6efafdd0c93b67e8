"""Where compiled kernels are kept between two processes, so that only the first one compiles.

It is a folder of the user's, never one beside the source: an installed package may be read-only. This
module does not import numba, which reads the folder's name from the environment once, when imported.
"""

import hashlib
import os
import tempfile
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from solver.folders import cache_folder


def source_digest(package: Path) -> str:
    """Digest every Python file below a package: numba itself notices a change in a kernel's own file only."""
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
    """Whether a kernel was compiled before, or there is nowhere to keep it in any case."""
    return not KEEP or any(CACHE.glob(f"*/*.{kernel}-*.nbi"))


def forget(kernel: str) -> None:
    """Delete what is kept of a kernel, so that the next process writes it anew."""
    with suppress(OSError):
        for file in CACHE.glob(f"*/*.{kernel}-*.nb?"):
            file.unlink(missing_ok=True)
