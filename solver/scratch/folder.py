"""Where an unfinished build keeps its files: a folder, memory, or an object store.

A file gets its name when it is complete, and is never changed afterwards, only replaced as a whole. So nobody reads
half a file, and writing the same file twice does no harm.
"""

import io
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO, Protocol

from solver.errors import ScratchError
from solver.files import is_temporary, writing_whole

_ABANDONED = 600.0
"""A file that is half written, and older in seconds, was left by a writer that was killed."""

Range = tuple[str, int, int]
"""A part of a file: its name, and the first byte and the one after the last."""


class Folder(Protocol):
    """A flat folder of files. Every method raises OSError if it fails, FileNotFoundError for lack of a file."""

    @property
    def url(self) -> str:
        """What the folder is called in messages."""

    def make(self) -> None:
        """Make the folder, if there is none."""

    def sizes(self) -> dict[str, int]:
        """Return the size of each complete file by its name."""

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write a file, which gets its name at the end, unless there is an exception."""

    def reading(self, name: str) -> BinaryIO:
        """Open a file, to be read from its beginning."""

    def end_of(self, name: str, count: int) -> bytes:
        """Return the last `count` bytes of a file."""

    def ranges(self, wanted: Sequence[Range]) -> list[bytes]:
        """Return parts of files. The parts of one file come one after the other."""

    def remove(self, names: Sequence[str]) -> None:
        """Delete files, if they are there."""

    def remove_all(self) -> None:
        """Delete the folder and all that a build has left in it."""


@dataclass(frozen=True)
class LocalFolder:
    """A folder of this machine, or of a file system that all machines of a cluster share."""

    url: str

    def make(self) -> None:
        """Make the folder, if there is none."""
        os.makedirs(self.url, exist_ok=True)

    def sizes(self) -> dict[str, int]:
        """Return the size of each complete file by its name."""
        sizes = {}
        with os.scandir(self.url) as found:
            for entry in found:
                with suppress(FileNotFoundError):  # it may go meanwhile
                    if not is_temporary(entry.name):
                        sizes[entry.name] = entry.stat().st_size
                    elif entry.stat().st_mtime < time.time() - _ABANDONED:
                        os.unlink(entry.path)
        return sizes

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write a file, which gets its name at the end, unless there is an exception."""
        return writing_whole(self._path(name), sync=name == BEGIN)

    def reading(self, name: str) -> BinaryIO:
        """Open a file, to be read from its beginning."""
        return open(self._path(name), "rb")

    def end_of(self, name: str, count: int) -> bytes:
        """Return the last `count` bytes of a file."""
        with open(self._path(name), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - count))
            return file.read(count)

    def ranges(self, wanted: Sequence[Range]) -> list[bytes]:
        """Return parts of files. The parts of one file come one after the other."""
        found = []
        for name, parts in groupby(wanted, itemgetter(0)):
            with open(self._path(name), "rb", buffering=0) as file:
                found += [os.pread(file.fileno(), stop - start, start) for _, start, stop in parts]
        return found

    def remove(self, names: Sequence[str]) -> None:
        """Delete files, if they are there."""
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(self._path(name))

    def remove_all(self) -> None:
        """Delete all that a build has left in the folder, and the folder, unless there is something else in it."""
        with suppress(FileNotFoundError):
            self.remove([name for name in os.listdir(self.url) if is_of_task(name) or is_temporary(name)])
            self.remove([BEGIN, LOCK])  # last, so that a kill leaves what the next build takes for its own
            with suppress(OSError):
                os.rmdir(self.url)

    def _path(self, name: str) -> str:
        return os.path.join(self.url, name)


@dataclass(frozen=True, eq=False)
class MemoryFolder:
    """A folder in this process."""

    url: str = "memory"
    _files: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def make(self) -> None:
        """Do nothing: it is there."""

    def sizes(self) -> dict[str, int]:
        """Return the size of each complete file by its name."""
        with self._lock:
            return {name: len(content) for name, content in self._files.items()}

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Write a file, which gets its name at the end, unless there is an exception."""
        file = io.BytesIO()
        yield file
        with self._lock:
            self._files[name] = file.getvalue()

    def reading(self, name: str) -> BinaryIO:
        """Open a file, to be read from its beginning."""
        return io.BytesIO(self._content(name))

    def end_of(self, name: str, count: int) -> bytes:
        """Return the last `count` bytes of a file."""
        return self._content(name)[-count:]

    def ranges(self, wanted: Sequence[Range]) -> list[bytes]:
        """Return parts of files."""
        return [self._content(name)[start:stop] for name, start, stop in wanted]

    def remove(self, names: Sequence[str]) -> None:
        """Delete files, if they are there."""
        with self._lock:
            for name in names:
                self._files.pop(name, None)

    def remove_all(self) -> None:
        """Delete all files."""
        with self._lock:
            self._files.clear()

    def _content(self, name: str) -> bytes:
        try:
            return self._files[name]
        except KeyError:
            raise FileNotFoundError(name) from None


def folder_at(url: str) -> Folder:
    """Return the folder at a path, or in an object store such as `s3://bucket/folder`."""
    if "://" not in url:
        return LocalFolder(os.path.abspath(url))
    try:
        from solver.scratch.remote import RemoteFolder  # only now: few builds leave this machine
    except ImportError as error:
        raise ScratchError(f"{url!r} takes fsspec, which is not installed: pip install 'ttt4[cluster]'") from error
    return RemoteFolder(url)


def file_name(layer: int, number: int, kind: str) -> str:
    """Return the name of a file of a task: `12.000345.records`."""
    return f"{layer:02}.{number:06}.{kind}"


def is_of_task(name: str) -> bool:
    """Tell whether `file_name` makes such names."""
    return bool(_OF_TASK.fullmatch(name))


_OF_TASK = re.compile(r"[0-9]{2}\.([0-9]{6}|[1-9][0-9]{6,})\.(records|done|pages)")
BEGIN, LOCK = "begin", "lock"
"""The other two files: see solver/scratch/journal.py."""
