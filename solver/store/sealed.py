"""A sealed file: an LMDB file that is read without LMDB, because LMDB trusts its files and we do not.

LMDB maps a file into memory and follows its pointers unchecked, so one wrong bit can crash the process, and a
crafted file can make it loop. Here every page is read by a system call, compared with its checksum in the seal
(solver/store/store.py describes the format), and taken apart with every offset checked. Whatever is wrong with
a file raises Damaged. Looking up a key reads one path from the root to a leaf: two or three branch pages, with
a binary search in each.

(In this module a page is one of LMDB's, not of the index.)

    page    offset 0    8 bytes   its number
                   8    2 bytes   unused
                  10    2 bytes   flags: 1 branch, 2 leaf, 4 the first page of a large value
                  12    2 bytes   where its list of nodes ends; a large value has its number of pages here (4 bytes)
                  16              the list of nodes: for each, 2 bytes with its offset, in the order of their keys;
                                  or the large value, which goes on in the pages that follow
    node    offset 0    8 bytes   in a branch page: 6 bytes for the child's page number, 2 for the key's length;
                                  in a leaf: 4 bytes for the value's length, 2 for flags, 2 for the key's length
                   8              the key, and in a leaf the value; with flag 1, the number of its first page (8 bytes).
                                  A branch node's child has the keys from this one on; the first node's child has
                                  all keys below the second node's.
    meta    page 0 or 1, whichever has the larger number at offset 144; the root's page number is at 128

All numbers have the machine's byte order, which is little-endian wherever numba runs.
"""

import os
import stat
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from struct import Struct
from typing import BinaryIO, NamedTuple

_NUMBER = 4
_TAIL = 2 * _NUMBER
_PAGE_SIZES = range(512, (1 << 16) + 1)
_PAGE, _LIST = Struct("<8x2xHH"), 16
_BRANCH, _LEAF, _LARGE = 1, 2, 4
_AT = Struct("<H")
_NODE = Struct("<LHH")
_FIRST = Struct("<Q")
_ROOT, _WRITTEN = Struct("<128xQ"), Struct("<144xQ")
_SIGNATURE, _SIGNATURE_AT, _LONGEST_NAME = b"ttt4 store of ", 256, 80
_NAME_SUM = 9
_MOST_PAGES = 1 << 28
"""The most pages that a store can have: 1 TiB of those of 4 KiB, and 1 GiB of checksums, all in memory."""

_DEEPEST = 32
"""LMDB's own limit to the depth of a tree."""

_LMDB_MAGIC = bytes.fromhex("dec0efbe")

_LONGEST = 1 << 24
"""The longest value, in bytes. A record is far shorter."""


class Damaged(ValueError):
    """The file is not as it was written."""


class _Branch(NamedTuple):
    keys: list[bytes]
    """The key of every node but the first."""
    children: list[int]


class SealedFile:
    """A sealed file opened for reading. Threads and forked processes may share it; it is closed when dropped."""

    def __init__(self, path: str) -> None:
        """Open the file and read its seal; raise Damaged or OSError if that fails."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # which does not wait for a pipe's writer
        try:
            status = os.fstat(self._descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Damaged("it is not a regular file")
            self._read_seal(status.st_size)
            self._branches: dict[int, _Branch] = {}
            newest = max(self._page(0), self._page(1), key=_WRITTEN.unpack_from)
            self._root: int = _ROOT.unpack_from(newest)[0]
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. A read that goes on in another thread then raises Damaged or OSError."""
        descriptor, self._descriptor = getattr(self, "_descriptor", -1), -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def at_or_after(self, key: bytes) -> tuple[bytes, bytes] | None:
        """Return the first key at or after this one, with its value; None if there is none."""
        number: int | None = self._root
        beyond = None  # the page whose keys come next after all keys under `number`
        for _ in range(2 * _DEEPEST):
            if number is None:
                return None
            branch = self._branches.get(number)
            if branch is None:
                page = self._page(number)
                keys, nodes = self._nodes(page)
                if page[10] & _LEAF:
                    chosen = bisect_left(keys, key)
                    if chosen < len(keys):
                        return keys[chosen], self._value(page, nodes[chosen])
                    number, beyond = beyond, None
                    continue
                branch = self._branches[number] = self._branch(page, keys, nodes)
            chosen = bisect_right(branch.keys, key)
            if chosen + 1 < len(branch.children):
                beyond = branch.children[chosen + 1]
            number = branch.children[chosen]
        raise Damaged("its tree is too deep")

    def check_all(self) -> None:
        """Raise Damaged unless every page of the file matches its checksum."""
        for number in range(self._pages):
            self._page(number)

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all keys and values in ascending order of the keys."""
        before = None
        for key, value in self._items(self._root, 1):
            if before is not None and key <= before:
                raise Damaged("its keys are out of order")
            before = key
            yield key, value

    def _items(self, number: int, depth: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield what is under a page. No page is visited twice, or `items` would find its keys out of order."""
        if depth > _DEEPEST:
            raise Damaged("its tree is too deep")
        page = self._page(number)
        keys, nodes = self._nodes(page)
        if page[10] & _LEAF:
            for key, node in zip(keys, nodes, strict=True):
                yield key, self._value(page, node)
        else:
            for child in self._branch(page, keys, nodes).children:
                yield from self._items(child, depth + 1)

    def _read_seal(self, size: int) -> None:
        tail = os.pread(self._descriptor, _TAIL, max(size - _TAIL, 0))
        self._page_size = int.from_bytes(tail[:_NUMBER])
        if len(tail) < _TAIL or self._page_size not in _PAGE_SIZES:
            raise Damaged("the file is cut short, or its seal is broken")
        self._pages, rest = divmod(size - _TAIL, self._page_size + _NUMBER)
        if rest or self._pages > _MOST_PAGES:
            raise Damaged("the file is cut short, or its seal is broken")
        first = os.pread(self._descriptor, _NUMBER, self._pages * self._page_size)
        if first != zlib.crc32(os.pread(self._descriptor, self._page_size, 0)).to_bytes(_NUMBER):
            raise Damaged("its page 0 is not as it was written")  # before as many sums are read as the file claims
        self._sums = os.pread(self._descriptor, _NUMBER * self._pages, self._pages * self._page_size)
        if tail != _tail(self._sums, self._page_size):
            raise Damaged("the file is cut short, or its seal is broken")

    def _page(self, number: int) -> bytes:
        """Return a page that matches its checksum."""
        return self._read(number, 1)

    def _read(self, number: int, count: int) -> bytes:
        """Return consecutive pages that all match their checksums."""
        size = self._page_size
        if number + count > self._pages:
            raise Damaged(f"it has no page {number + count - 1}")
        pages = os.pread(self._descriptor, count * size, number * size)
        for i in range(count):
            at = _NUMBER * (number + i)
            if zlib.crc32(pages[i * size : (i + 1) * size]).to_bytes(_NUMBER) != self._sums[at : at + _NUMBER]:
                raise Damaged(f"its page {number + i} is not as it was written")
        return pages

    def _nodes(self, page: bytes) -> tuple[list[bytes], list[int]]:
        """Return the keys and the offsets of a page's nodes."""
        flags, end = _PAGE.unpack_from(page)
        if flags not in (_BRANCH, _LEAF) or end <= _LIST or end > len(page) or end % _AT.size:
            raise Damaged("one of its pages has no list of nodes")
        keys, nodes = [], [at for (at,) in _AT.iter_unpack(page[_LIST:end])]
        for at in nodes:
            start = at + _NODE.size
            if at < end or start > len(page):
                raise Damaged("one of its nodes lies outside its page")
            stop = start + _NODE.unpack_from(page, at)[2]
            if stop > len(page):
                raise Damaged("one of its keys is cut short")
            keys.append(page[start:stop])
        return keys, nodes

    def _branch(self, page: bytes, keys: list[bytes], nodes: list[int]) -> _Branch:
        children = []
        for at in nodes:
            low, high, _ = _NODE.unpack_from(page, at)
            children.append(low | high << 32)
        return _Branch(keys[1:], children)

    def _value(self, page: bytes, at: int) -> bytes:
        """Return the value of a leaf's node."""
        length, flags, key_length = _NODE.unpack_from(page, at)
        start = at + _NODE.size + key_length
        if flags == 0 and start + length <= len(page):
            return page[start : start + length]
        if flags != 1 or start + _FIRST.size > len(page) or length > _LONGEST:
            raise Damaged("one of its values is cut short")
        (first,) = _FIRST.unpack_from(page, start)
        pages = self._read(first, -(-(_LIST + length) // self._page_size))
        if _PAGE.unpack_from(pages)[0] != _LARGE:
            raise Damaged("one of its values is not where it should be")
        return pages[_LIST : _LIST + length]


def seal(file: BinaryIO, page_size: int, name: str) -> None:
    """Sign a file that is open for reading and writing with the name of its game, and append the seal to its pages."""
    file.seek(_SIGNATURE_AT)
    signed = name.encode()[:_LONGEST_NAME]
    file.write(_SIGNATURE + signed + _name_sum(signed) + b"\n")
    file.seek(0)
    sums = bytearray()
    while page := file.read(page_size):
        sums += zlib.crc32(page).to_bytes(_NUMBER)
    file.write(sums)
    file.write(_tail(sums, page_size))


def signed_for(path: str) -> str | None:
    """Return the name of the game that a file was sealed for, however damaged it is; empty if only that is lost.

    None if the file shows no sign that it was ever sealed. An empty file may be what a full disk left of one.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            start = file.read(_SIGNATURE_AT + len(_SIGNATURE) + _LONGEST_NAME + _NAME_SUM + 1)
            file.seek(-min(_TAIL, os.fstat(file.fileno()).st_size), os.SEEK_END)
            page_size = int.from_bytes(file.read(_NUMBER))
    except OSError:
        return None
    signature, rest = start[_SIGNATURE_AT:][: len(_SIGNATURE)], start[_SIGNATURE_AT + len(_SIGNATURE) :]
    signed = rest.partition(b"\n")[0]
    name, check = signed[:-_NAME_SUM], signed[-_NAME_SUM:]
    if signature == _SIGNATURE and check == _name_sum(name):
        return name.decode(errors="replace")
    whole = start[16:20] == _LMDB_MAGIC and page_size in _PAGE_SIZES
    return "" if not start or signature == _SIGNATURE or whole else None


def _name_sum(name: bytes) -> bytes:
    """Return what follows a name in the signature."""
    return b" %08x" % zlib.crc32(name)


def _tail(sums: bytes | bytearray, page_size: int) -> bytes:
    """Return what follows the checksums."""
    size = page_size.to_bytes(_NUMBER)
    return size + zlib.crc32(size, zlib.crc32(sums)).to_bytes(_NUMBER)
