"""Shelves: where a layer gets the pages of the layer above, in which X has one more.

All hold the same, the `o_to_move` pages of every open half of a layer, in three ways: raw in memory, packed in memory,
and packed in the files of a folder or an object store. The last two differ only in their folder. A file holds the
pages of one task:

    blocks  one after the other; each is 4 bytes of CRC-32 of the rest, and a zlib stream of consecutive pages
    index   8 bytes for each block, where it ends in the file; and 4 bytes of CRC-32 of these numbers

All blocks of a layer but the last of each task have the same number of pages. All numbers are big-endian. A task reads
only blocks that it needs; blocks that are close together are read in one go.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np
from zlib_ng import zlib_ng

from solver.errors import PagesDamaged
from solver.scratch.folder import Folder, Range, file_name
from solver.sweep.desk import Desk
from solver.sweep.pages import empty_pages

_BLOCK_BYTES = 1 << 13
"""About how many bytes of pages make a block: a page at least. Of larger ones a task needs only a part."""

_GAP_PAGES = 8
"""Blocks with no more than about so many pages between them are read in one go."""

_BATCH_BYTES = 1 << 24
"""So many bytes of packed blocks are read at a time."""

_LEVEL = 1
_CRC, _END = 4, 8


class Gathered(NamedTuple):
    """Child pages for some halves: the pages' halves, the pages, and for each half and cell the index of its page.

    Others may be among the pages. They stay as they are until the next call with the same desk.
    """

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

    def gather(self, halves: np.ndarray, indexes: np.ndarray, desk: Desk, *, whole: bool) -> Gathered | None:
        """Return the pages with the given indexes, -1 left out; None if the desk has no room, unless `whole`.

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

    def gather(self, halves: np.ndarray, indexes: np.ndarray, desk: Desk, *, whole: bool) -> Gathered:
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

    def gather(self, halves: np.ndarray, indexes: np.ndarray, desk: Desk, *, whole: bool) -> Gathered:
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

    def gather(self, halves: np.ndarray, indexes: np.ndarray, desk: Desk, *, whole: bool) -> Gathered | None:
        """Return the pages with the given indexes, on the desk; None if that has no room, unless `whole`."""
        wanted = np.unique(indexes)
        wanted = wanted[np.searchsorted(wanted, 0) :]
        if len(wanted) * self._size > desk.most and not whole:
            return None
        desk.lay_out(wanted, (self._folder, self._layer), (len(halves), self._size), self._read)
        return Gathered(halves[desk.numbers], desk.pages, desk.rows[indexes].astype(np.int64))

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

    def _read(self, wanted: np.ndarray, pages: np.ndarray, rows: np.ndarray) -> None:
        """Write pages, by their sorted numbers, to some rows."""
        tasks = np.searchsorted(self._starts, wanted, "right") - 1
        blocks, places = np.divmod(wanted - np.asarray(self._starts)[tasks], self._per_block)
        # The first page of each block that is wanted, in the order of tasks and blocks.
        firsts = np.flatnonzero(np.diff(tasks, prepend=-1) | np.diff(blocks, prepend=-1))
        lasts, found = np.append(firsts[1:], len(wanted)), self._blocks(tasks[firsts], blocks[firsts])
        for first, last, (task, content) in zip(firsts.tolist(), lasts.tolist(), found, strict=True):
            block, at = self._unpacked(task, content), places[first:last]
            if len(block) <= at[-1]:
                raise PagesDamaged(self._layer, task)
            pages[rows[first:last]] = block if len(block) == len(at) else block[at]

    def _blocks(self, tasks: np.ndarray, blocks: np.ndarray) -> Iterator[tuple[int, memoryview]]:
        """Yield the task and the content of some blocks, given the numbers of both in order."""
        begins, ends = np.empty((2, len(blocks)), np.int64)
        for task in np.unique(tasks).tolist():
            ends_of, of = self._ends(task), tasks == task
            begins[of] = np.append(0, ends_of)[blocks[of]]
            ends[of] = ends_of[blocks[of]]
        gap = _GAP_PAGES // self._per_block
        firsts = np.flatnonzero(np.diff(tasks, prepend=-1) | (np.diff(blocks, prepend=-1) > gap + 1))
        lasts = np.append(firsts[1:], len(blocks))
        spans = np.stack([tasks[firsts], begins[firsts], ends[lasts - 1]], 1).tolist()
        edges, read = np.stack([begins, ends], 1).tolist(), self._in_batches(spans)
        for first, last, (task, start, _) in zip(firsts.tolist(), lasts.tolist(), spans, strict=True):
            content = memoryview(next(read))
            for begin, end in edges[first:last]:
                yield task, content[begin - start : end - start]

    def _in_batches(self, wanted: list[list[int]]) -> Iterator[bytes]:
        """Yield parts of files, given their tasks, beginnings and ends; few are in memory at a time."""
        batch: list[list[int]] = []
        size = 0
        for each in wanted:
            batch.append(each)
            size += each[2] - each[1]
            if size >= _BATCH_BYTES:
                yield from self._ranges(batch)
                batch, size = [], 0
        yield from self._ranges(batch)

    def _ranges(self, wanted: list[list[int]]) -> list[bytes]:
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
            if int.from_bytes(content[:_CRC]) != zlib_ng.crc32(content[_CRC:]):
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
        self._file.write(index + zlib_ng.crc32(index).to_bytes(_CRC))

    def _write(self, pages: np.ndarray) -> None:
        body = zlib_ng.compress(np.ascontiguousarray(pages).data, _LEVEL)
        self._file.write(zlib_ng.crc32(body).to_bytes(_CRC) + body)
        self._ends.append((self._ends[-1] if self._ends else 0) + _CRC + len(body))


@lru_cache(512)
def _ends(folder: Folder, name: str, count: int) -> np.ndarray:
    """Return where each block of a file ends; raise ValueError if the index is not as it was written."""
    index = folder.end_of(name, _END * count + _CRC)
    body, crc = index[:-_CRC], int.from_bytes(index[-_CRC:])
    ends = np.frombuffer(body, ">u8").astype(np.int64) if len(body) == _END * count else np.empty(0, np.int64)
    if not len(ends) or crc != zlib_ng.crc32(body) or (np.diff(ends, prepend=0) <= _CRC).any():
        raise ValueError(f"the index of {name} is wrong")
    return ends
