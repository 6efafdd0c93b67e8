"""Replace a file so that a kill or a power cut leaves the old one or the new one, whole."""

import os
from contextlib import suppress


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to a file beside `path`, then give it that name; make the folder if there is none."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    partial = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        replace_file(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def replace_file(new: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give `new`, whose content is synced, the name `path`, and sync the folder."""
    os.replace(new, path)
    with suppress(OSError):  # some file systems cannot sync a folder; the file is in its place
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
