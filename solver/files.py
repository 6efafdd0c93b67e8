"""Small files as wholes: read one that may be anything, and replace one so that a kill leaves the old or the new."""

import errno
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

LARGEST_BYTES = 1 << 20

_BUFFER_BYTES = 1 << 20
"""So many bytes are collected before they are written: a third of the time that the usual 8 KiB take."""


def read_whole(path: str | os.PathLike[str], most: int = LARGEST_BYTES) -> bytes:
    """Return the content of a file; raise OSError unless it is a regular file of at most so many bytes.

    A pipe would have to be waited for, and a device may have no end.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most:,} bytes", path)
    return content


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to a file beside `path`, then give it that name; make the folder if there is none.

    A link stays a link, and a file keeps its mode.
    """
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    clear_temporaries(path, older=_ABANDONED)
    with writing_whole(path) as file:
        file.write(content)
        file.flush()
        with suppress(OSError):
            os.fchmod(file.fileno(), stat.S_IMODE(os.stat(path).st_mode))


@contextmanager
def writing_whole(path: str | os.PathLike[str], *, sync: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file beside `path`, which is given that name at the end; an exception leaves what was there.

    Without `sync`, a power failure may leave a file that is not as it was written. `mode` is that of the new file, less
    the bits of the umask.
    """
    temporary = temporary_path(path)
    try:
        with open(temporary, "wb", _BUFFER_BYTES, opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if sync:
            replace_file(temporary, path)
        else:
            os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def temporary_path(path: str | os.PathLike[str]) -> str:
    """Return a new name beside a file, which is hidden, unique and recognisably ours."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, f"{_start(name)}{os.urandom(8).hex()}{_TEMPORARY}")


def clear_temporaries(path: str | os.PathLike[str], older: float = 0.0) -> None:
    """Delete the files, older than so many seconds, that killed writers of a file left under temporary names."""
    folder, name = os.path.split(os.path.abspath(path))
    with suppress(OSError):
        for entry in os.scandir(folder):
            ours = entry.name.startswith(_start(name)) and is_temporary(entry.name)
            if ours and entry.stat().st_mtime <= time.time() - older:
                os.unlink(entry.path)


def is_temporary(name: str) -> bool:
    """Tell whether `temporary_path` makes such names."""
    return bool(_OURS.fullmatch(name))


def replace_file(new: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give `new`, whose content is synced, the name `path`, and sync the folder."""
    os.replace(new, path)
    with suppress(OSError):  # some file systems cannot sync a folder; the file is in its place
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _start(name: str) -> str:
    """Return how the temporary names of a file start, which does not grow with its name."""
    return f".{zlib.crc32(os.fsencode(name)):08x}."


_TEMPORARY = ".ttt4-new"
_OURS = re.compile(r"\.[0-9a-f]{8}\.[0-9a-f]{16}" + re.escape(_TEMPORARY))
_ABANDONED = 60.0
"""A temporary file that is older, in seconds, was left by a writer that was killed."""
