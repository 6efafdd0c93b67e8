"""A sealed file: one that LMDB is led through only where it is as it was written.

LMDB follows the pointers in its pages without asking, and one wrong bit there can end a process. So
behind its pages a file has their checksums (solver/store/store.py says how), and each page on the way to a key is
compared with its own before LMDB takes that way. The way is short: from the root through two or three branch
pages to a leaf, in each of which the key is looked up like a word in a dictionary.

    page    8 bytes   its number; then 2 bytes unused, 2 of flags, and 2 that say where its list of nodes ends
            16 on     the list: 2 bytes for each node, where it is in the page, in the order of their keys
    node    8 bytes   in a branch page 6 for the number of the page that it leads to; the last 2 for the key's length
            then      the key: it leads to keys from this one on, the first node to all below the second
    meta    page 0 or 1, the one with the larger number at 144: the root's number is at 128

All numbers are as the machine has them, which in all that numba compiles for is little-endian.
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
_BRANCH, _LEAF = 1, 2
_AT = Struct("<H")
_NODE = Struct("<LHH")
_ROOT, _WRITTEN = Struct("<128xQ"), Struct("<144xQ")


class Damaged(ValueError):
    """A file that is not as it was written."""


class Seal:
    """The checksums of a file's pages, and which of them were found right."""

    def __init__(self, file: int) -> None:
        """Read them from the end of an open file, which is not closed here."""
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
        """Nothing, if every page is as it was written; else Damaged."""
        for number in range(self.pages):
            self._page(number)

    def check_way(self, key: bytes) -> None:
        """Nothing, if every page on the way to the first key that is not below this one is right; else Damaged."""
        number: int | None = self._root
        beyond = None  # the page that has, or leads to, what follows all that `number` does
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
            taken = bisect_right(range(1, count), key, key=partial(_key, page))
            if taken + 1 < count:
                beyond = _child(page, taken + 1)
            number = _child(page, taken)

    def _page(self, number: int) -> bytes:
        page = os.pread(self._file, self._page_size, number * self._page_size)
        found = self._sums[_NUMBER * number : _NUMBER * (number + 1)]
        if zlib.crc32(page).to_bytes(_NUMBER) != found:
            raise Damaged(f"its page {number} is not as it was written")
        return page


def _key(page: bytes, node: int) -> bytes:
    at = _AT.unpack_from(page, _LIST + _AT.size * node)[0]
    start = at + _NODE.size
    return page[start : start + _NODE.unpack_from(page, at)[2]]


def _child(page: bytes, node: int) -> int:
    low, high, _ = _NODE.unpack_from(page, _AT.unpack_from(page, _LIST + _AT.size * node)[0])
    return int(low | high << 32)


def _tail(sums: bytes, page_size: int) -> bytes:
    """What stands behind the checksums."""
    size = page_size.to_bytes(_NUMBER)
    return size + zlib.crc32(sums + size).to_bytes(_NUMBER)


def seal(file: BinaryIO, page_size: int) -> None:
    """Put the seal behind the pages of a file that is open for reading and writing."""
    sums = bytearray()
    while page := file.read(page_size):
        sums += zlib.crc32(page).to_bytes(_NUMBER)
    file.write(sums + _tail(bytes(sums), page_size))


class SealedFile:
    """An LMDB file opened for reading. Whatever is read of it was compared with its seal first.

    LMDB lets a process open a file but once: whoever opens the same again shares it, threads and forked
    processes too.
    """

    def __init__(self, path: str) -> None:
        """Open the file; Damaged, lmdb.Error or OSError if that cannot be."""
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
        """How many keys there are."""

    def at_or_after(self, key: bytes) -> tuple[bytes, bytes] | None:
        """The first key that is not below this one, and its value."""
        self._seal.check_way(key)
        with self._environment.begin() as transaction:
            cursor = transaction.cursor()
            return cursor.item() if cursor.set_range(key) else None

    def check_all(self) -> None:
        """Nothing, if the whole file is as it was written; else Damaged."""
        self._seal.check_all()

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All keys and values, in order."""
        self.check_all()
        with self._environment.begin() as transaction:
            yield from transaction.cursor()

    def close(self) -> None:
        """Let go of the file, if nobody else has it open."""
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
"""What is open, by device and inode."""

opening = Lock()
"""Held while that changes, and by whoever lets go of a file; a process is forked with it free."""

os.register_at_fork(before=opening.acquire, after_in_parent=opening.release, after_in_child=opening.release)


def open_sealed(path: str) -> SealedFile:
    """The file at a path; Damaged, lmdb.Error or OSError if it cannot be opened."""
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
                continue  # another file was put in its place meanwhile
            if os.path.samestat(os.stat(path), status):
                if shared:
                    shared._users += 1
                _open_files[file] = opened
                return opened
            if not shared:
                opened._close()
