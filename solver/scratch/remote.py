"""A folder in an object store, or in whatever else fsspec can reach: `s3://bucket/folder`.

An object appears when it is complete, so nothing need be renamed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from solver.errors import ScratchError
from solver.scratch.folder import BEGIN, LOCK, Range, is_of_task

import fsspec  # isort: skip  (not everybody has it)

_IN_MEMORY = 1 << 26
"""What is written is collected in memory up to this size, and then in a temporary file, until it is complete."""


@dataclass(frozen=True)
class RemoteFolder:
    """A folder of an object store, by its URL. Its settings and keys are those of fsspec, such as AWS_ENDPOINT_URL."""

    url: str

    def make(self) -> None:
        """Make the folder, unless it is a mere part of names, as where a bucket would be made instead."""
        if self.url.partition("://")[0] in ("file", "sftp", "ssh", "smb", "hdfs"):
            with _errors():
                self._files().makedirs(self._path(), exist_ok=True)

    def sizes(self) -> dict[str, int]:
        """Return the size of each file by its name."""
        with _errors():
            files = self._files()
            files.invalidate_cache()
            try:
                found = files.ls(self._path(), detail=True)
            except FileNotFoundError:
                return {}
            return {
                each["name"].rstrip("/").rsplit("/", 1)[-1]: each["size"] for each in found if each["type"] == "file"
            }

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Write a file, which appears at the end, unless there is an exception."""
        with SpooledTemporaryFile(_IN_MEMORY) as whole:
            yield cast(BinaryIO, whole)
            whole.seek(0)
            with _errors(), self._files().open(self._path(name), "wb") as file:
                while part := whole.read(_IN_MEMORY):
                    file.write(part)

    def reading(self, name: str) -> BinaryIO:
        """Open a file, to be read from its beginning."""
        with _errors():
            return cast(BinaryIO, self._files().open(self._path(name), "rb"))

    def end_of(self, name: str, count: int) -> bytes:
        """Return the last `count` bytes of a file."""
        with _errors():
            return cast(bytes, self._files().cat_file(self._path(name), start=-count))

    def ranges(self, wanted: Sequence[Range]) -> list[bytes]:
        """Return parts of files, many at a time."""
        names, starts, stops = zip(*wanted, strict=True) if wanted else ((), (), ())
        with _errors():
            return cast(
                list[bytes],
                self._files().cat_ranges(list(map(self._path, names)), list(starts), list(stops), on_error="raise"),
            )

    def remove(self, names: Sequence[str]) -> None:
        """Delete files, if they are there."""
        there = self.sizes()
        paths = [self._path(name) for name in names if name in there]
        if paths:
            with _errors():
                self._files().rm(paths)

    def remove_all(self) -> None:
        """Delete all that a build has left."""
        self.remove(list(filter(is_of_task, self.sizes())))
        self.remove([BEGIN, LOCK])

    def _files(self) -> Any:
        protocol = self.url.partition("://")[0]
        try:
            return fsspec.filesystem(protocol)
        except ImportError as error:
            raise ScratchError(f"{self.url!r} takes a package that is not installed: {error}") from error
        except ValueError as error:
            raise ScratchError(f"{self.url!r} is nothing that fsspec knows: {error}") from error

    def _path(self, name: str = "") -> str:
        folder = self.url.partition("://")[2].rstrip("/")
        return f"{folder}/{name}" if name else folder


@contextmanager
def _errors() -> Iterator[None]:
    """Turn what else a store may raise into OSError."""
    try:
        yield
    except (OSError, ScratchError):
        raise
    except Exception as error:
        raise OSError(0, f"{type(error).__name__}: {error}"[:200]) from error
