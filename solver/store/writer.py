"""Write a store (solver/store/store.py describes the format). A kill leaves the old file or the new one.

Records are written in order to a temporary file in the same folder. That file is sealed, synced, read back and
compared, and only then renamed.
"""

import errno
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import lmdb

from solver.errors import StoreError, StoreUnwritable
from solver.files import clear_temporaries, replace_file, temporary_path
from solver.store.manifest import Manifest
from solver.store.record import with_checksum
from solver.store.sealed import seal
from solver.store.store import MANIFEST_KEY, Store

_NO_ROOM = 1 << 16
"""A disk with fewer bytes than this is full."""

_SPARE = 64 << 20
"""Address space that LMDB is given besides four times the size of the records, which it cannot exceed."""


class StoreWriter:
    """Write a store: a context manager that leaves no file behind unless `finish` is called.

    The caller makes sure that nothing else writes to the same path; a build holds the journal's lock.
    """

    def __init__(self, path: str | os.PathLike[str], size: int = 0) -> None:
        """Begin a new file in the same folder, for records of about so many bytes in all."""
        self.path = Path(path)
        self.new = Path(temporary_path(path))
        self._crc = 0
        self.in_place = False
        """Whether the store has been renamed to `path`."""
        with writing(self.path):
            clear_temporaries(path)
            try:
                self._environment = lmdb.open(
                    str(self.new), subdir=False, lock=False, map_size=4 * size + _SPARE, metasync=False, sync=False,
                    mode=0o644,
                )  # fmt: skip
                try:
                    self._transaction = self._environment.begin(write=True)
                except BaseException:
                    self._environment.close()
                    raise
            except BaseException:
                self.new.unlink(missing_ok=True)
                raise

    def __enter__(self) -> "StoreWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._environment.close()
        self.new.unlink(missing_ok=True)

    def put(self, key: bytes, value: bytes) -> None:
        """Add a record. Records must come in the order of their keys."""
        with writing(self.path):
            if not self._transaction.put(key, value, append=True):
                raise AssertionError(f"record {key.hex()} came out of order")
        self._crc = zlib.crc32(value, self._crc)

    def finish(self, manifest: Manifest, confirm: Callable[[Store], object] = lambda store: None) -> None:
        """Seal the store, read it back, let `confirm` veto it by raising, and rename it to `path`."""
        written = self._crc
        self.put(MANIFEST_KEY, with_checksum(MANIFEST_KEY, manifest.to_json()))
        with writing(self.path):
            self._transaction.commit()
            page_size = self._environment.stat()["psize"]
            self._environment.close()
            with open(self.new, "r+b") as file:
                seal(file, page_size, manifest.game.name)
                file.flush()
                os.fsync(file.fileno())
        with self._read_back(), Store(self.new, manifest.game) as store:
            crc = 0
            for _, value in store.records():
                crc = zlib.crc32(value, crc)
            if crc != written or store.manifest != manifest:
                raise store.damaged("it holds something else")
            confirm(store)
        try:
            with writing(self.path):
                replace_file(self.new, self.path)
        finally:
            self.in_place = not self.new.exists()  # also right after an interrupt while the folder was synced

    @contextmanager
    def _read_back(self) -> Iterator[None]:
        """Turn what is wrong with the new file into StoreUnwritable: nobody can rebuild it under its temporary name."""
        try:
            yield
        except StoreUnwritable:
            raise
        except StoreError as error:
            why = str(error).replace(str(self.new), str(self.path))
            raise StoreUnwritable(f"what was written does not read back: {why}", str(self.path)) from error


@contextmanager
def writing(path: Path, also: str = "") -> Iterator[None]:
    """Turn LMDB and operating system errors into StoreUnwritable, whose message ends with `also`."""
    try:
        yield
    except (lmdb.Error, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        if _full(path):  # LMDB takes a short write for an input/output error
            why = os.strerror(errno.ENOSPC)
        raise StoreUnwritable(f"cannot write store {str(path)!r}: {why}{also}", str(path)) from error


def _full(path: Path) -> bool:
    """Tell whether the disk has no room left for a file at a path."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _NO_ROOM
