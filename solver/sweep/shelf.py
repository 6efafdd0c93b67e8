"""Shelves: where a layer gets the pages of the layer above, in which X has one more.

All hold the same, the `o_to_move` pages of every open half of a layer, in three ways: raw in memory, packed in memory,
and packed in the files of a folder or an object store. The last two differ only in their folder. A file holds the
pages of one task:

    blocks  one after the other; each is 4 bytes of CRC-32 of the rest, and a zlib stream of consecutive pages
    index   8 bytes for each block, where it ends in the file; and 4 bytes of CRC-32 of these numbers

All blocks of a layer but the last of each task have the same number of pages. All numbers are big-endian. A task reads
only blocks that it needs; blocks that are close together are read in one go.
"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np
from zlib_ng import zlib_ng

from solver.errors import PagesDamaged
from solver.scratch.folder import Folder, Range, file_name
from solver.sweep.pages import empty_pages

_BLOCK_BYTES = 1 << 15
"""About how many bytes of pages make a block: a page at least."""

_GAP_PAGES = 8
"""Blocks with no more than about so many pages between them are read in one go."""

_BATCH_BYTES = 1 << 24
"""So many bytes of packed blocks are read at a time."""

_LEVEL = 1
_CRC, _END = 4, 8


class Gathered(NamedTuple):
    """Child pages for some halves: the pages' halves, the pages, and for each half and cell the index of its page."""

    halves: np.ndarray
    pages: np.ndarray
    indexes: np.ndarray


class Part(Protocol):
    """The part of a shelf that one task fills, in order."""

    def room(self, count: int) -> np.ndarray:
        """Return an array for the next so many pages."""

    def put(self, pages: np.ndarray) -> None:
        """Keep the pages that the caller has written to the array of the last call of `room`."""


class Shelf(Protocol):
    """What holds the pages of one layer."""

    def gather(self, halves: np.ndarray, indexes: np.ndarray, most: int) -> Gathered | None:
        """Return at least the pages with the given indexes, -1 left out; None if they have more than `most` bytes.

        `halves` are the open halves of the layer.
        """

    def part(self, number: int) -> AbstractContextManager[Part]:
        """Fill the part of one task, which counts when there was no exception."""

    def held(self) -> set[int]:
        """Return the numbers of the tasks whose pages are here."""

    def remove(self) -> None:
        """Drop all pages."""


class RawShelf:
    """Pages as they are, in memory."""

    def __init__(self, starts: Sequence[int], size: int) -> None:
        """Make room for pages of one size. `starts` are the first half of each task, and the number of all halves."""
        self.pages = empty_pages(starts[-1], size)
        self._starts = starts
        self._held: set[int] = set()

    def gather(self, halves: np.ndarray, indexes: np.ndarray, most: int) -> Gathered:
        """Return all pages."""
        return Gathered(halves, self.pages, indexes)

    @contextmanager
    def part(self, number: int) -> Iterator[Part]:
        """Fill the part of one task."""
        yield _RawPart(self.pages[self._starts[number] : self._starts[number + 1]])
        self._held.add(number)

    def held(self) -> set[int]:
        """Return the numbers of the tasks whose pages are here."""
        return self._held

    def remove(self) -> None:
        """Drop all pages."""
        self.pages = empty_pages(0, self.pages.shape[1])


class _RawPart:
    def __init__(self, pages: np.ndarray) -> None:
        self._pages = pages
        self._filled = 0

    def room(self, count: int) -> np.ndarray:
        return self._pages[self._filled : self._filled + count]

    def put(self, pages: np.ndarray) -> None:
        self._filled += len(pages)


class NoShelf:
    """Keeps nothing: for a layer whose pages nobody will read."""

    def __init__(self, size: int = 0) -> None:
        """Hand out room for pages of one size."""
        self._size = size

    def gather(self, halves: np.ndarray, indexes: np.ndarray, most: int) -> Gathered:
        """Return no pages: no half leads here."""
        return Gathered(halves, empty_pages(0, self._size), indexes)

    @contextmanager
    def part(self, number: int) -> Iterator[Part]:
        """Let a task fill pages that are forgotten."""
        yield self

    def room(self, count: int) -> np.ndarray:
        """Return an array for so many pages."""
        return empty_pages(count, self._size)

    def put(self, pages: np.ndarray) -> None:
        """Forget the pages."""

    def held(self) -> set[int]:
        """Return nothing."""
        return set()

    def remove(self) -> None:
        """Do nothing."""


class PackedShelf:
    """Packed pages in the files of a folder. Other processes may have it, too, unless the folder is in memory."""

    def __init__(self, folder: Folder, layer: int, starts: Sequence[int], size: int) -> None:
        """Name the layer. `starts` are the first half of each task, and the number of all halves."""
        self._folder = folder
        self._layer = layer
        self._starts = tuple(starts)
        self._size = size
        self._per_block = max(1, _BLOCK_BYTES // max(1, size))

    def gather(self, halves: np.ndarray, indexes: np.ndarray, most: int) -> Gathered | None:
        """Return the pages with the given indexes, side by side; None if they have more than `most` bytes."""
        wanted = np.unique(indexes)
        wanted = wanted[np.searchsorted(wanted, 0) :]
        if len(wanted) * self._size > most:
            return None
        return Gathered(halves[wanted], self._read(wanted), np.where(indexes < 0, -1, np.searchsorted(wanted, indexes)))

    @contextmanager
    def part(self, number: int) -> Iterator[Part]:
        """Fill the part of one task."""
        with self._folder.writing(self._name(number)) as file:
            part = _PackedPart(file, self._size, self._per_block)
            yield part
            part.end()

    def held(self) -> set[int]:
        """Return the numbers of the tasks whose pages are here."""
        sizes = self._folder.sizes()
        return {number for number in range(len(self._starts) - 1) if self._name(number) in sizes}

    def remove(self) -> None:
        """Drop all pages."""
        _ends.cache_clear()
        self._folder.remove([self._name(number) for number in range(len(self._starts) - 1)])

    def _name(self, number: int) -> str:
        return file_name(self._layer, number, "pages")

    def _read(self, wanted: np.ndarray) -> np.ndarray:
        """Return pages by their sorted numbers."""
        pages = empty_pages(len(wanted), self._size)
        if not len(wanted):
            return pages
        tasks = np.searchsorted(self._starts, wanted, "right") - 1
        offsets = wanted - np.asarray(self._starts)[tasks]
        blocks = offsets // self._per_block
        # The first page of each block that is wanted, in the order of tasks and blocks.
        firsts = np.flatnonzero(np.diff(tasks, prepend=-1) | np.diff(blocks, prepend=-1))
        keys = list(zip(tasks[firsts].tolist(), blocks[firsts].tolist(), strict=True))
        lasts = [*firsts[1:].tolist(), len(wanted)]
        for (task, block), content, first, last in zip(keys, self._blocks(keys), firsts.tolist(), lasts, strict=True):
            rows = self._unpacked(task, content)
            at = offsets[first:last] - block * self._per_block
            if len(rows) <= at[-1]:
                raise PagesDamaged(self._layer, task)
            pages[first:last] = rows if len(rows) == len(at) else rows[at]
        return pages

    def _blocks(self, keys: list[tuple[int, int]]) -> Iterator[memoryview]:
        """Yield blocks as they are in their files, given the numbers of their tasks and their own."""
        gap = _GAP_PAGES // self._per_block
        spans: list[tuple[int, int, int]] = []  # task, first block, last block
        for task, block in keys:
            if spans and spans[-1][0] == task and block - spans[-1][2] <= gap + 1:
                spans[-1] = task, spans[-1][1], block
            else:
                spans.append((task, block, block))
        ends = {task: self._ends(task) for task, _ in keys}
        read = self._in_batches([(task, *self._span(ends[task], *span)) for task, *span in spans])
        at = iter(spans)
        task = last = -1
        for key, block in keys:
            if key != task or block > last:
                task, first, last = next(at)
                content, start = memoryview(next(read)), self._span(ends[task], first, first)[0]
            begin, end = self._span(ends[task], block, block)
            yield content[begin - start : end - start]

    def _span(self, ends: np.ndarray, first: int, last: int) -> tuple[int, int]:
        """Return where some blocks begin and end in their file."""
        return int(ends[first - 1]) if first else 0, int(ends[last])

    def _in_batches(self, wanted: list[tuple[int, int, int]]) -> Iterator[bytes]:
        """Yield parts of files, given their tasks, beginnings and ends; few are in memory at a time."""
        batch: list[tuple[int, int, int]] = []
        size = 0
        for each in wanted:
            batch.append(each)
            size += each[2] - each[1]
            if size >= _BATCH_BYTES:
                yield from self._ranges(batch)
                batch, size = [], 0
        yield from self._ranges(batch)

    def _ranges(self, wanted: list[tuple[int, int, int]]) -> list[bytes]:
        ranges: list[Range] = [(self._name(task), start, stop) for task, start, stop in wanted]
        try:
            return self._folder.ranges(ranges)
        except FileNotFoundError as error:
            sizes = self._folder.sizes()
            gone = [task for task, _, _ in wanted if self._name(task) not in sizes]
            raise PagesDamaged(self._layer, gone[0] if gone else wanted[0][0]) from error

    def _ends(self, task: int) -> np.ndarray:
        count = -(-(self._starts[task + 1] - self._starts[task]) // self._per_block)
        try:
            return _ends(self._folder, self._name(task), count)  # type: ignore[arg-type]  # all folders are hashable
        except (ValueError, FileNotFoundError) as error:
            raise PagesDamaged(self._layer, task) from error

    def _unpacked(self, task: int, content: memoryview) -> np.ndarray:
        """Return the pages of a block."""
        try:
            if int.from_bytes(content[:_CRC]) != zlib.crc32(content[_CRC:]):
                raise ValueError("the checksum is wrong")
            return np.frombuffer(zlib_ng.decompress(content[_CRC:]), np.int8).reshape(-1, self._size)
        except (ValueError, zlib_ng.error) as error:  # type: ignore[misc]  # it is an exception
            _ends.cache_clear()
            raise PagesDamaged(self._layer, task) from error


class _PackedPart:
    """Packs pages into blocks as they come."""

    def __init__(self, file: BinaryIO, size: int, per_block: int) -> None:
        self._file = file
        self._size = size
        self._per_block = per_block
        self._rest = np.empty((0, size), np.int8)
        self._ends: list[int] = []

    def room(self, count: int) -> np.ndarray:
        return empty_pages(count, self._size)

    def put(self, pages: np.ndarray) -> None:
        if len(self._rest):
            pages = np.concatenate([self._rest, pages])
        whole = len(pages) - len(pages) % self._per_block
        for start in range(0, whole, self._per_block):
            self._write(pages[start : start + self._per_block])
        self._rest = pages[whole:].copy()

    def end(self) -> None:
        """Write what is left, and the index."""
        if len(self._rest):
            self._write(self._rest)
        index = b"".join(end.to_bytes(_END) for end in self._ends)
        self._file.write(index + zlib.crc32(index).to_bytes(_CRC))

    def _write(self, pages: np.ndarray) -> None:
        body = zlib_ng.compress(np.ascontiguousarray(pages).data, _LEVEL)
        self._file.write(zlib.crc32(body).to_bytes(_CRC) + body)
        self._ends.append((self._ends[-1] if self._ends else 0) + _CRC + len(body))


@lru_cache(512)
def _ends(folder: Folder, name: str, count: int) -> np.ndarray:
    """Return where each block of a file ends; raise ValueError if the index is not as it was written."""
    index = folder.end_of(name, _END * count + _CRC)
    body = index[:-_CRC]
    ends = np.frombuffer(body, ">u8").astype(np.int64) if len(body) == _END * count else np.empty(0, np.int64)
    if not len(ends) or int.from_bytes(index[-_CRC:]) != zlib.crc32(body) or (np.diff(ends, prepend=0) <= _CRC).any():
        raise ValueError(f"the index of {name} is wrong")
    return ends
