"""Writing a store: what solver/store.py describes, so that a kill at any moment leaves the old file or the new one.

Records go in order into `<name>.partial`, which is locked for this writer alone. It is sealed, synced,
read back and compared, and only then renamed.
"""

import fcntl
import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import lmdb

from solver.errors import StoreUnwritable
from solver.manifest import Manifest
from solver.store import HALF_BYTES, MANIFEST_KEY, Store, record_key, seal, with_checksum

_MAP_SIZE = 1 << 36  # of address space, not of disk


class Record(NamedTuple):
    """A record as it is written, and what it adds to the store's digest."""

    key: bytes
    value: bytes
    digests: bytes


def pack(empty: int, halves: Sequence[int], pages: bytes) -> Record:
    """The record of some consecutive halves, with their pages one after the other."""
    key = record_key(empty, halves[-1])
    content = b"".join(half.to_bytes(HALF_BYTES) for half in halves) + pages
    body = zlib.compress(content, 6)
    size = len(pages) // len(halves)
    digests = (_page_digest(empty, half, pages[i * size : (i + 1) * size]) for i, half in enumerate(halves))
    return Record(key, with_checksum(key, body), b"".join(digests))


class StoreWriter:
    """A store in the making; a context manager, which leaves nothing behind unless `finish` was called."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Take the path for this build alone; StoreUnwritable if that cannot be."""
        self.path = Path(path)
        self.partial = self.path.with_name(self.path.name + ".partial")
        self._digest = hashlib.sha256()
        self._finished = False
        with self._writing():
            if self.path.is_dir():
                raise IsADirectoryError(0, "it is a folder")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _take(self.partial)
            try:
                self._environment = lmdb.open(
                    str(self.partial), subdir=False, lock=False, map_size=_MAP_SIZE, metasync=False, sync=False
                )
                self._transaction = self._environment.begin(write=True)
            except BaseException:
                self._let_go()
                raise

    def __enter__(self) -> "StoreWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._environment.close()
        self._let_go()

    def _let_go(self) -> None:
        if not self._finished:
            self.partial.unlink(missing_ok=True)  # ours, as long as we hold the lock
        os.close(self._lock)

    def put(self, record: Record) -> None:
        """Add a record. Records come in the order of their keys."""
        self._put(record.key, record.value)
        self._digest.update(record.digests)

    def digest(self) -> str:
        """The digest of the records so far."""
        return self._digest.hexdigest()

    def finish(self, manifest: Manifest) -> None:
        """Seal the store, read it back, and only then give it its name."""
        self._put(MANIFEST_KEY, with_checksum(MANIFEST_KEY, manifest.to_json()))
        with self._writing():
            self._transaction.commit()
            self._environment.close()
            with open(self.partial, "r+b") as file:
                file.write(seal(file, os.fstat(file.fileno()).st_size))
                file.flush()
                os.fsync(file.fileno())
        with Store(self.partial, manifest.game) as written:
            if content_digest(written) != manifest.digest:
                raise StoreUnwritable(
                    f"what was written to {str(self.partial)!r} did not read back the same: try again"
                )
        with self._writing():
            os.replace(self.partial, self.path)
        self._finished = True
        with suppress(OSError):  # some file systems cannot sync a folder; the store is in its place
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def _put(self, key: bytes, value: bytes) -> None:
        with self._writing():
            if not self._transaction.put(key, value, append=True):
                raise AssertionError(f"record {key.hex()} came out of order")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (lmdb.Error, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise StoreUnwritable(
                f"cannot write store {str(self.path)!r}: {why}; mend that, or name another path with --store"
            ) from error


def content_digest(store: Store) -> str:
    """The digest of a store's pages as they are; StoreDamaged if one of them cannot be read."""
    digest = hashlib.sha256()
    for empty, half, page in store.pages():
        digest.update(_page_digest(empty, half, page))
    return digest.hexdigest()


def _page_digest(empty: int, half: int, page: bytes | memoryview) -> bytes:
    return record_key(empty, half) + hashlib.sha256(page).digest()


def _take(partial: Path) -> int:
    """Open, lock and empty the file that a build writes into; what a killed build left there goes."""
    while True:
        file = os.open(partial, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), partial.stat()):
                    os.ftruncate(file, 0)
                    return file
        except BlockingIOError:
            os.close(file)
            raise StoreUnwritable(f"another build is writing {str(partial)!r}: wait until it has ended") from None
        os.close(file)  # the other build ended between our opening and our locking
