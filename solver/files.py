"""Small files as wholes: read one that may be anything, and replace one so that a kill leaves the old or the new."""

import errno
import os
import stat
from contextlib import suppress

LARGEST_BYTES = 1 << 20


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; raise OSError unless it is a regular file of at most LARGEST_BYTES.

    A pipe would have to be waited for, and a device may have no end.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise OSError(errno.EFBIG, f"larger than {LARGEST_BYTES:,} bytes", path)
    return content


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to a file beside `path`, then give it that name; make the folder if there is none."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    temporary = temporary_path(path)
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        replace_file(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def temporary_path(path: str | os.PathLike[str]) -> str:
    """Return a new name beside a file, which is hidden, unique and recognisably ours."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, f".{name}.{os.urandom(8).hex()}{_TEMPORARY}")


def clear_temporaries(path: str | os.PathLike[str]) -> None:
    """Delete the files that killed writers of a file left under names of `temporary_path`."""
    folder, name = os.path.split(os.path.abspath(path))
    with suppress(OSError):
        for entry in os.scandir(folder):
            start, end = f".{name}.", _TEMPORARY
            middle = entry.name[len(start) : -len(end)]
            if entry.name == f"{start}{middle}{end}" and len(middle) == 16 and set(middle) <= set("0123456789abcdef"):
                os.unlink(entry.path)


def replace_file(new: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give `new`, whose content is synced, the name `path`, and sync the folder."""
    os.replace(new, path)
    with suppress(OSError):  # some file systems cannot sync a folder; the file is in its place
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


_TEMPORARY = ".ttt4-new"
