"""What each task of a build leaves in the build's folder. Tasks write these files wherever they are done.

    12.000345.records   the records of task 345 of layer 12, as the store will have them, and their pages' digests
    12.000345.pages     what the next layer needs of it, until that is filled (solver/sweep/shelf.py)
    12.000345.done      that the task is done, and what came of it

A `.records` file holds entries one after the other, two for each record: the record, and what its pages add to the
store's digest.

    4 bytes    the length of the value, big-endian
    5 bytes    the key of the record
    the value  4 bytes of CRC-32 of the key and the rest, then the rest

A `.done` file, which is written last, holds 4 bytes of CRC-32 of the build's identity (the first 4 bytes of its
`begin`, see solver/scratch/journal.py), the file's name and the rest, and the rest: JSON with the number of `records`,
the size of their file in `bytes` and the `summary` of the proof (solver/proof/proof.py). So a task is done or not,
doing it twice does no harm, and what comes late from another build is not believed.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from solver.errors import RecordsDamaged
from solver.games.board import BoardGame
from solver.index.layout import page_size
from solver.scratch.folder import Folder, file_name
from solver.store.record import KEY_BYTES, checked, new_digest, pack, pages_in_record, unpack, with_checksum

if TYPE_CHECKING:
    from solver.proof.proof import StoredPages, Summary, Task, UnpackedPages

_LENGTH = 4
_LONGEST = 1 << 27
_LONGEST_DONE = 1 << 20
COUNTS, _PLY_COUNTS = ("filled", "nodes", "checked", "abandoned", "score"), 6
"""What the summary of a task counts, in all and for each ply."""


class Done(NamedTuple):
    """What came of a task: the number of records, the size of their file, and the proof's summary."""

    records: int
    size: int
    summary: dict[str, Any]


@dataclass(frozen=True)
class TaskFiles:
    """Writes and reads the files of tasks in one folder. It can be sent to other machines."""

    folder: Folder
    game: BoardGame[Any]
    identity: bytes

    def keep(self, task: "Task", summary: "Summary", pages: "Iterator[StoredPages]") -> "tuple[Task, bytes]":
        """Write the records of a task as its pages come, and then that it is done; return a digest of their file."""
        records, size, digest = 0, 0, new_digest()
        with self.folder.writing(_name(task, "records")) as file:
            for each in pages:
                for key, value, digests in _packed(each):
                    entry = _entry(key, value) + _entry(key, with_checksum(key, digests))
                    file.write(entry)
                    digest.update(entry)
                    records, size = records + 1, size + len(entry)
        name = _name(task, "done")
        fields = {"records": records, "bytes": size, "summary": summary.to_fields()}
        with self.folder.writing(name) as file:
            file.write(with_checksum(self.identity + name.encode(), json.dumps(fields).encode()))
        return task, digest.digest()

    def done(self, layer: int, number: int) -> Done | None:
        """Return what came of a task; None if that is not what a build writes. The records are not read."""
        name = file_name(layer, number, "done")
        try:
            with self.folder.reading(name) as file:
                fields = json.loads(checked(self.identity + name.encode(), file.read(_LONGEST_DONE)))
            records, size, summary = fields["records"], fields["bytes"], fields["summary"]
            numbers = [records, size, *(summary[name] for name in COUNTS), *map(int, summary["plies"])]
            plies = list(summary["plies"].values())
            if any(len(ply) != _PLY_COUNTS or max(map(abs, ply)) >= 1 << 62 for ply in plies):
                return None
            if {type(each) for each in numbers + [n for ply in plies for n in ply]} != {int}:
                return None
            return Done(records, size, summary)
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            return None  # what else goes wrong with the file may do so only now

    def records(self, task: "Task", digest: bytes | None = None) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Yield key, value and digests of each record; raise RecordsDamaged if they are not as they were written.

        Given the digest that `keep` returned, this also notices records that were altered with their checksums.
        """
        done, whole = self.done(task.layer, task.number), new_digest()
        try:
            with self.folder.reading(_name(task, "records")) as file:
                count = 0
                while first := _read_entry(file):
                    count += 1
                    second = _read_entry(file)
                    if second is None or second[0] != first[0]:
                        raise ValueError("it is cut short")
                    checked(*first)
                    if digest is not None:
                        whole.update(_entry(*first) + _entry(*second))
                    yield *first, checked(*second)
                if done is None or count != done.records or digest not in (None, whole.digest()):
                    raise ValueError("it lacks records, or has others")
        except (FileNotFoundError, ValueError) as error:
            raise RecordsDamaged(task.layer, task.number) from error

    def unpacked(self, task: "Task") -> "Iterator[UnpackedPages]":
        """Yield the pages in the records of a task, with their numbers."""
        import numpy as np

        numbers: list[int] = []
        pages: list[Any] = []
        for key, value, _ in self.records(task):
            try:
                for number, page in unpack(key, value, page_size(self.game, key[0])):
                    numbers.append(number)
                    pages.append(np.asarray(page))
            except ValueError as error:
                raise RecordsDamaged(task.layer, task.number) from error
            if len(pages) * pages[0].size >= _AT_ONCE:
                yield numbers, np.stack(pages)
                numbers, pages = [], []
        if pages:
            yield numbers, np.stack(pages)

    def forget(self, layer: int, number: int) -> None:
        """Delete the files of a task, so that it is done again."""
        self.folder.remove([file_name(layer, number, kind) for kind in ("done", "records", "pages")])


_AT_ONCE = 1 << 18
"""Pages are unpacked until there are so many bytes of them."""


def _name(task: "Task", kind: str) -> str:
    return file_name(task.layer, task.number, kind)


def _packed(pages: "StoredPages") -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the records of some pages."""
    numbers, step = pages.numbers.tolist(), pages_in_record(pages.scores.shape[1])
    for i in range(0, len(numbers), step):
        yield pack(pages.empty, numbers[i : i + step], pages.scores[i : i + step].tobytes())


def _entry(key: bytes, value: bytes) -> bytes:
    return len(value).to_bytes(_LENGTH) + key + value


def _read_entry(file: BinaryIO) -> tuple[bytes, bytes] | None:
    """Return the next key and value; None at the end of the file. Raise ValueError if it is cut short."""
    head = file.read(_LENGTH + KEY_BYTES)
    if not head:
        return None
    length = int.from_bytes(head[:_LENGTH])
    value = file.read(length) if length <= _LONGEST else b""
    if len(head) < _LENGTH + KEY_BYTES or len(value) < length:
        raise ValueError("an entry is cut short")
    return head[_LENGTH:], value
