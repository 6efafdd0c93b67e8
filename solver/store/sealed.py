"""A sealed file: an LMDB file whose pages are compared with their checksums before LMDB reads them.

LMDB follows the pointers in its pages without checking them, and one wrong bit there can crash the
process. So a sealed file has the checksums of its pages at its end (solver/store/store.py describes the
format), and before LMDB looks up a key, every page on the path to that key is checked. The path is short:
from the root through two or three branch pages to a leaf, with a binary search in each.

(In this module a page is one of LMDB's, not of the index.)

    page    offset 0    8 bytes   its number
                   8    2 bytes   unused
                  10    2 bytes   flags
                  12    2 bytes   where its list of nodes ends
                  16              the list of nodes: for each, 2 bytes with its offset, in the order of their keys
    node    offset 0    8 bytes   in a branch page: 6 bytes for the child's page number, 2 for the key's length
                   8              the key. The child has the keys from this one on; the first node's
                                  child has all keys below the second node's.
    meta    page 0 or 1, whichever has the larger number at offset 144; the root's page number is at 128

All numbers have the machine's byte order, which is little-endian wherever numba runs.
"""

import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from struct import Struct
from threading import Lock
from typing import BinaryIO

import lmdb

_NUMBER = 4
_TAIL = 2 * _NUMBER
_PAGE_SIZES = range(512, (1 << 16) + 1)
_PAGE, _LIST = Struct("<8x2xHH"), 16
_LEAF = 2
_AT = Struct("<H")
_NODE = Struct("<LHH")
_ROOT, _WRITTEN = Struct("<128xQ"), Struct("<144xQ")
_SIGNATURE, _SIGNATURE_AT = b"ttt4 store\n", 256


class Damaged(ValueError):
    """The file is not as it was written."""


class Seal:
    """The checksums of a file's pages. Branch pages that were correct once are kept and not read again."""

    def __init__(self, file: int) -> None:
        """Read the seal at the end of an open file; the caller closes the file."""
        self._file = file
        size = os.fstat(file).st_size
        tail = os.pread(file, _TAIL, max(size - _TAIL, 0))
        self._page_size = int.from_bytes(tail[:_NUMBER])
        if len(tail) < _TAIL or self._page_size not in _PAGE_SIZES:
            raise Damaged("the file is cut short, or its seal is broken")
        self.pages, rest = divmod(size - _TAIL, self._page_size + _NUMBER)
        self._sums = os.pread(file, _NUMBER * self.pages, self.pages * self._page_size)
        if rest or tail != _tail(self._sums, self._page_size):
            raise Damaged("the file is cut short, or its seal is broken")
        self._branches: dict[int, bytes] = {}
        newest = max(self._page(0), self._page(1), key=_WRITTEN.unpack_from)
        self._root: int = _ROOT.unpack_from(newest)[0]

    def check_all(self) -> None:
        """Raise Damaged unless every page matches its checksum."""
        for number in range(self.pages):
            self._page(number)

    def check_path_to(self, key: bytes) -> None:
        """Raise Damaged unless every page on the path to the first key at or after this one matches its checksum."""
        number: int | None = self._root
        beyond = None  # the page whose keys come next after all keys under `number`
        while number is not None:
            page = self._branches.get(number) or self._page(number)
            flags, end = _PAGE.unpack_from(page)
            count = (end - _LIST) // _AT.size
            if flags & _LEAF:
                if not count or key <= _key(page, count - 1):
                    return
                number, beyond, key = beyond, None, b""
                continue
            self._branches[number] = page
            chosen = bisect_right(range(1, count), key, key=partial(_key, page))
            if chosen + 1 < count:
                beyond = _child(page, chosen + 1)
            number = _child(page, chosen)

    def _page(self, number: int) -> bytes:
        page = os.pread(self._file, self._page_size, number * self._page_size)
        found = self._sums[_NUMBER * number : _NUMBER * (number + 1)]
        if zlib.crc32(page).to_bytes(_NUMBER) != found:
            raise Damaged(f"its page {number} is not as it was written")
        return page


def _key(page: bytes, node: int) -> bytes:
    """Return the key of a node."""
    at = _AT.unpack_from(page, _LIST + _AT.size * node)[0]
    start = at + _NODE.size
    return page[start : start + _NODE.unpack_from(page, at)[2]]


def _child(page: bytes, node: int) -> int:
    """Return the number of the page that a node of a branch page leads to."""
    low, high, _ = _NODE.unpack_from(page, _AT.unpack_from(page, _LIST + _AT.size * node)[0])
    return int(low | high << 32)


def _tail(sums: bytes, page_size: int) -> bytes:
    """Return what follows the checksums."""
    size = page_size.to_bytes(_NUMBER)
    return size + zlib.crc32(sums + size).to_bytes(_NUMBER)


def seal(file: BinaryIO, page_size: int) -> None:
    """Put the signature into a file that is open for reading and writing, and append the seal to its pages."""
    file.seek(_SIGNATURE_AT)
    file.write(_SIGNATURE)
    file.seek(0)
    sums = bytearray()
    while page := file.read(page_size):
        sums += zlib.crc32(page).to_bytes(_NUMBER)
    file.write(sums + _tail(bytes(sums), page_size))


def was_sealed(path: str) -> bool:
    """Tell whether a file is a sealed one, however damaged: it has the signature or a whole seal, or it is empty."""
    try:
        with open(path, "rb") as file:
            start = file.read(_SIGNATURE_AT + len(_SIGNATURE))
            if not start or start[_SIGNATURE_AT:] == _SIGNATURE:
                return True
            Seal(file.fileno())
    except (OSError, Damaged):
        return False
    return True


class SealedFile:
    """An LMDB file opened for reading, in which every page is checked before LMDB reads it.

    LMDB allows a process to open a file only once, so `open_sealed` gives all users of a file the same
    object, in all threads and forked processes.
    """

    def __init__(self, path: str) -> None:
        """Open the file; raise Damaged, lmdb.Error or OSError if that fails."""
        self._descriptor = os.open(path, os.O_RDONLY)
        try:
            self._seal = Seal(self._descriptor)
            self._environment = lmdb.open(path, subdir=False, readonly=True, lock=False)
            if self._seal.pages <= self._environment.info()["last_pgno"]:
                self._environment.close()
                raise Damaged("the file is cut short")
        except BaseException:
            os.close(self._descriptor)
            raise
        self._users = 1
        self.count: int = self._environment.stat()["entries"]
        """The number of keys."""

    def at_or_after(self, key: bytes) -> tuple[bytes, bytes] | None:
        """Return the first key at or after this one, with its value; None if there is none."""
        self._seal.check_path_to(key)
        with self._environment.begin() as transaction:
            cursor = transaction.cursor()
            return cursor.item() if cursor.set_range(key) else None

    def check_all(self) -> None:
        """Raise Damaged unless every page of the file matches its checksum."""
        self._seal.check_all()

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Check the whole file, then yield all keys and values in order."""
        self.check_all()
        with self._environment.begin() as transaction:
            yield from transaction.cursor()

    def close(self) -> None:
        """Close the file unless it has other users."""
        with opening:
            self._users -= 1
            if not self._users:
                for file, held in list(_open_files.items()):
                    if held is self:
                        del _open_files[file]
                self._close()

    def _close(self) -> None:
        self._environment.close()
        os.close(self._descriptor)


_open_files: dict[tuple[int, int], SealedFile] = {}
"""The open files, by device and inode."""

opening = Lock()
"""Held while `_open_files` or a count of users changes. Forks wait for it, so that children get it unlocked."""

os.register_at_fork(before=opening.acquire, after_in_parent=opening.release, after_in_child=opening.release)


def open_sealed(path: str) -> SealedFile:
    """Return the file at a path, shared with its other users; raise Damaged, lmdb.Error or OSError if that fails."""
    with opening:
        while True:
            status = os.stat(path)
            file = status.st_dev, status.st_ino
            shared = _open_files.get(file)
            try:
                opened = shared or SealedFile(path)
            except (Damaged, lmdb.Error):
                if os.path.samestat(os.stat(path), status):
                    raise
                continue  # the file was replaced meanwhile
            if os.path.samestat(os.stat(path), status):
                if shared:
                    shared._users += 1
                _open_files[file] = opened
                return opened
            if not shared:
                opened._close()
