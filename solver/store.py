"""The store: one LMDB file that holds every score of a game. This page is all that is needed to read it.

The file is an LMDB environment of one unnamed database. It holds records, in the order of their
keys, and one manifest.

A **record** holds the pages of some consecutive halves of a layer (solver/index.py says what halves,
pages and places are):

    key      1 byte    how many cells are empty
             4 bytes   the last half in the record, as a big-endian number
    value    4 bytes   CRC-32 of the key followed by the rest of the value, big-endian
             the rest  a zlib stream of
                           4 bytes for each half: the half, big-endian, ascending
                           the halves' pages in the same order, a byte for each place:
                           the score for the side to move, as a signed number

So a half's record is the first whose key is not below (empty, half). A score is `cells + 1 - stones
on the board when the game ends under best play`, negated if the side to move loses, 0 for a draw;
-128 marks a place that no game reaches. Halves with a line of X's have no page.

The **manifest** stands under the key `manifest`: 4 bytes of CRC-32 as above and a JSON object that
names the format, the game and its lines, the symmetries under which halves were chosen, the counts
of positions by ply, and the digest: SHA-256 over, for each page in order, the number of empty cells
and the half as they stand in a key, and the SHA-256 of the page. The digest depends on the game alone.

After LMDB's last page stand the last 4 bytes of the file: the **seal**, CRC-32 of all before it. LMDB
follows the pointers in its pages without asking, and one wrong bit there can end a process. So the
seal is checked before LMDB is given the file, unless that is so large that it would be felt; then a
reader is safe from wrong scores but not from that, and `ttt4-solve verify` tells.

A store is written into `<name>.partial`, synced, read back and renamed, so a kill at any moment leaves
the old store or the new one. It is opened read-only and without a lock, and never changes again.
"""

import fcntl
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import BinaryIO, NamedTuple

import lmdb

from solver.errors import StoreDamaged, StoreError, StoreMismatch, StoreMissing, StoreUnwritable
from solver.folders import build_command
from solver.game import Game
from solver.index import UNREACHED, Index, page_size
from solver.manifest import FORMAT, Manifest
from solver.position import Position, check

_MANIFEST = b"manifest"
_CRC = 4
_HALF = 4
_CACHED_BYTES = 64 << 20
_SEAL_CHECKED = 16 << 20
_MAP_SIZE = 1 << 36  # of address space, not of disk


class Store:
    """A store opened for reading; a context manager. Every read is checked before it is believed."""

    def __init__(self, path: str | os.PathLike[str], game: Game | None = None) -> None:
        """Open the file at `path`, which must be a store of `game` if one is given."""
        self.path = Path(path)
        self._wanted = game
        self._environment: lmdb.Environment | None = _open(self.path, game)
        self._cached: dict[tuple[int, int], memoryview] = {}
        self._cached_bytes = 0
        try:
            self.manifest = self._read_manifest()
            self.game = self.manifest.game
            self.index = Index(self.game, self.manifest.symmetries)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._environment is not None:
            _release(self._environment)
            self._environment = None

    def score(self, position: Position) -> int:
        """The score of a position for the side to move; BoardError if no game reaches it."""
        if position.game != self.game:
            raise StoreMismatch(
                f"store {str(self.path)!r} is of game {self.game.name!r}, not of {position.game.name!r}"
            )
        over = check(position).score_if_over()
        if over is not None:
            return over
        place = self.index.locate(position.x, position.o)
        score: int = self.page(place.empty, place.half)[place.place]
        if score == UNREACHED:
            raise self.damaged(f"it says that board {str(position)!r} is never reached")
        return score

    def page(self, empty: int, half: int) -> memoryview:
        """The scores of a page, by place, as signed bytes."""
        found = self._cached.get((empty, half))
        if found is None:
            key = _key(empty, half)
            with self._reading() as cursor:
                if not cursor.set_range(key):
                    raise self.damaged(f"the record of half {half:#x} is missing")
                key, value = bytes(cursor.key()), bytes(cursor.value())
            for held, page in self._split(key, self._inflate(key, value)):
                self._keep(key[0], held, page)
                if (key[0], held) == (empty, half):
                    found = page
            if found is None:
                raise self.damaged(f"half {half:#x} is missing from its record")
        return found

    def records(self) -> Iterator[tuple[bytes, bytes]]:
        """Every record in order: its key, and its content after its checksum was found right."""
        with self._reading() as cursor:
            for key, value in cursor:
                if key != _MANIFEST:
                    yield bytes(key), self._inflate(bytes(key), bytes(value))

    def pages(self) -> Iterator[tuple[int, int, memoryview]]:
        """Every page in order: how many cells are empty, the half, the scores."""
        for key, content in self.records():
            for half, page in self._split(key, content):
                yield key[0], half, page

    @contextmanager
    def _reading(self) -> Iterator[lmdb.Cursor]:
        try:
            if self._environment is None:
                raise StoreError(f"store {str(self.path)!r} was closed: open it again")
            with self._environment.begin() as transaction:
                yield transaction.cursor()
        except lmdb.Error as error:
            raise self.damaged(str(error)) from error

    def _read_manifest(self) -> Manifest:
        with self._reading() as cursor:
            value = cursor.get(_MANIFEST)
        if value is None:
            raise self.damaged("it has no manifest")
        text = self._checked(_MANIFEST, bytes(value))
        try:
            written = json.loads(text)["format"]
            if written != FORMAT:
                raise StoreMismatch(
                    f"store {str(self.path)!r} has format {written!r}, this program reads {FORMAT}: "
                    f"install a newer ttt4, or build it anew: {build_command(self._wanted, self.path, force=True)}"
                )
            manifest = Manifest.from_json(text)
        except (ValueError, KeyError, TypeError) as error:
            raise self.damaged(f"its manifest cannot be read ({error!r})") from error
        if self._wanted not in (None, manifest.game):
            raise StoreMismatch(
                f"store {str(self.path)!r} is of game {manifest.game.name!r}, not of {self._wanted.name!r}: "
                f"name another with --store, or put that in its place: "
                f"{build_command(self._wanted, self.path, force=True)}"
            )
        return manifest

    def _split(self, key: bytes, content: bytes) -> Iterator[tuple[int, memoryview]]:
        """The halves of a record and their pages."""
        size = page_size(self.game, key[0]) if key[0] <= self.game.cells else 0
        count, rest = divmod(len(content), _HALF + size)
        if rest or not count or not size:
            raise self.damaged(f"record {key.hex()} has a wrong length")
        pages = memoryview(content).cast("b")[count * _HALF :]
        for i in range(count):
            yield int.from_bytes(content[i * _HALF : (i + 1) * _HALF]), pages[i * size : (i + 1) * size]

    def _inflate(self, key: bytes, value: bytes) -> bytes:
        try:
            return zlib.decompress(self._checked(key, value))
        except zlib.error as error:
            raise self.damaged(f"record {key.hex()}: {error}") from error

    def _checked(self, key: bytes, value: bytes) -> bytes:
        body = value[_CRC:]
        if int.from_bytes(value[:_CRC]) != zlib.crc32(body, zlib.crc32(key)):
            raise self.damaged(f"the checksum of record {key.hex()} is wrong")
        return body

    def _keep(self, empty: int, half: int, page: memoryview) -> None:
        if self._cached_bytes > _CACHED_BYTES:
            self._cached.clear()
            self._cached_bytes = 0
        self._cached[empty, half] = page
        self._cached_bytes += len(page)

    def damaged(self, why: str) -> StoreDamaged:
        """The error for this store, to be raised: what is wrong, and what mends it."""
        return damaged(self.path, self._wanted or getattr(self, "game", None), why)


def missing(path: Path, game: Game | None) -> StoreMissing:
    """The error for a file that is not there: what to type to have it."""
    return StoreMissing(f"no store at {str(path)!r}: build it: {build_command(game, path)}")


def damaged(path: Path, game: Game | None, why: str) -> StoreDamaged:
    """The error for a file that is not what was written: what is wrong, and what to type to mend it."""
    command = build_command(game, path, force=True)
    return StoreDamaged(
        f"store {str(path)!r} is damaged, or was never one: {why}; put a new one in its place: {command}"
    )


class Record(NamedTuple):
    """A record as it is written, and what it adds to the store's digest."""

    key: bytes
    value: bytes
    digests: bytes


def pack(empty: int, halves: Sequence[int], pages: bytes) -> Record:
    """The record of some consecutive halves, with their pages one after the other."""
    key = _key(empty, halves[-1])
    content = b"".join(half.to_bytes(_HALF) for half in halves) + pages
    body = zlib.compress(content, 6)
    size = len(pages) // len(halves)
    digests = (
        _key(empty, half) + hashlib.sha256(pages[i * size : (i + 1) * size]).digest() for i, half in enumerate(halves)
    )
    return Record(key, _sealed(key, body), b"".join(digests))


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
        self._put(_MANIFEST, _sealed(_MANIFEST, manifest.to_json()))
        with self._writing():
            self._transaction.commit()
            self._environment.close()
            with open(self.partial, "r+b") as file:
                file.write(_seal(file, os.fstat(file.fileno()).st_size))
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
        digest.update(_key(empty, half) + hashlib.sha256(page).digest())
    return digest.hexdigest()


def check_seal(path: Path, game: Game | None) -> None:
    """Nothing, if the file at `path` is as it was when it was sealed; else StoreDamaged."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < _CRC:
            raise damaged(path, game, "the file is cut short")
        if _seal(file, size - _CRC) != file.read(_CRC):
            raise damaged(path, game, "its seal is broken")


def _seal(file: BinaryIO, size: int) -> bytes:
    """CRC-32 of so many bytes of a file, which is read as far as that."""
    crc = 0
    while size and (block := file.read(min(size, 1 << 20))):
        crc = zlib.crc32(block, crc)
        size -= len(block)
    return crc.to_bytes(_CRC)


def _key(empty: int, half: int) -> bytes:
    return bytes([empty]) + half.to_bytes(_HALF)


def _sealed(key: bytes, body: bytes) -> bytes:
    return zlib.crc32(body, zlib.crc32(key)).to_bytes(_CRC) + body


_environments: dict[tuple[int, int], tuple[lmdb.Environment, int]] = {}
"""LMDB lets a process open a file but once: what is open, by device and inode, and how often."""

_opening = Lock()
"""Held while that changes."""


def _open(path: Path, game: Game | None) -> lmdb.Environment:
    named = str(path)
    try:
        with _opening:
            while True:
                status = path.stat()
                file = status.st_dev, status.st_ino
                environment, users = _environments.get(file, (None, 0))
                try:
                    environment = environment or _opened(path, game, status.st_size)
                except (StoreDamaged, lmdb.Error):
                    if os.path.samestat(path.stat(), status):
                        raise
                    continue  # another store was put in its place meanwhile
                if os.path.samestat(path.stat(), status):
                    _environments[file] = environment, users + 1
                    return environment
                if not users:
                    environment.close()
    except FileNotFoundError:
        raise missing(path, game) from None
    except OSError as error:
        raise StoreError(f"cannot open store {named!r}: {error.strerror}; name another path with --store") from error
    except lmdb.Error as error:
        if path.is_dir() or not os.access(path, os.R_OK):
            raise StoreError(f"cannot open store {named!r}: {error}; name another path with --store") from error
        raise damaged(path, game, str(error)) from error


def _opened(path: Path, game: Game | None, size: int) -> lmdb.Environment:
    if size <= _SEAL_CHECKED:
        check_seal(path, game)
    environment = lmdb.open(str(path), subdir=False, readonly=True, lock=False)
    # A file cut short would end this process with a signal at the first read beyond its end.
    if size - _CRC < (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]:
        environment.close()
        raise lmdb.CorruptedError("the file is cut short")
    return environment


def _release(environment: lmdb.Environment) -> None:
    with _opening:
        for file, (held, users) in list(_environments.items()):
            if held is environment:
                if users > 1:
                    _environments[file] = held, users - 1
                else:
                    del _environments[file]
                    environment.close()


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
