"""The journal: the layers that a build has solved so far, so that a kill loses at most the current layer.

It is the file `<store>.partial`, locked by the build that writes it. It holds entries one after the other:

    4 bytes    the length of the value, big-endian
    5 bytes    the key
    the value  as in a store: 4 bytes of CRC-32 of the key and the rest, then the rest

The first entry has the key `begin` and names the format, the game and its symmetries, as JSON. Then come
the records of each layer exactly as the store will have them, and after each layer's records an entry
with the key `layer`: its number (`layer`), the number of records, their digest and the summary of
the proof (solver/proof/proof.py), as JSON.

A build that finds a journal of its game reads it from the front, accepts every layer up to the first
that is incomplete or damaged, and cuts off the rest. It refuses any other file in this place and leaves
it alone.

The file is not synced: what a power failure destroys is detected like any other damage.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

from solver.errors import SolversDisagree, StoreUnwritable
from solver.folders import partial_path
from solver.games.board import BoardGame
from solver.index.layout import first_layer
from solver.index.symmetry import Symmetry
from solver.store.manifest import FORMAT, digest_of_layers, layer_digest
from solver.store.record import KEY_BYTES, PackedRecord, checked, with_checksum
from solver.store.writer import writing

_BEGIN, _LAYER = b"begin", b"layer"
_LENGTH = 4
_LONGEST = 1 << 24
_COUNTS, _PLY_COUNTS = ("filled", "nodes", "checked", "abandoned", "score"), 6
"""What the summary of a layer counts, in all and for each ply."""


class KeptLayer(NamedTuple):
    """A complete layer in the journal: where its records are, their digest, and the proof's summary."""

    number: int
    start: int
    stop: int
    digest: bytes
    summary: dict[str, Any]


class Journal:
    """The journal of a build: a context manager that locks the path for this build."""

    def __init__(self, path: str | os.PathLike[str], game: BoardGame[Any], group: tuple[Symmetry, ...]) -> None:
        """Open the journal of the same game, or begin one; raise StoreUnwritable if another build has it locked."""
        self._path = Path(path)
        self._partial = Path(partial_path(path))
        self._begin = with_checksum(_BEGIN, json.dumps([FORMAT, game.as_fields(), group]).encode())
        self._first_layer = first_layer(game)
        self._first = _LENGTH + KEY_BYTES + len(self._begin)
        self.layers: list[KeptLayer] = []
        """The complete layers, in the order in which they were solved."""
        self.dropped = 0
        """How many bytes after the last complete layer were cut off: unfinished, or damaged."""
        self._digests: list[bytes] = []
        self._removed = False
        with writing(self._path):
            if self._path.is_dir():
                raise IsADirectoryError(0, "it is a folder")
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _take(self._partial)
            try:
                self._read()
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError):
            self._file.flush()  # on a full disk, what fits is kept
        if not self.layers or isinstance(error, SolversDisagree):
            self.remove()
        with suppress(OSError):
            self._file.close()

    @property
    def size(self) -> int:
        """The number of bytes up to the last complete layer."""
        return self.layers[-1].stop if self.layers else self._first

    @property
    def _kept(self) -> str:
        return " (the layers solved so far are kept, and the same build resumes with them)" if self.layers else ""

    def put(self, record: PackedRecord) -> None:
        """Add a record of the current layer."""
        self._put(record.key, record.value)
        self._digests.append(record.digests)

    def end_layer(self, number: int, summary: dict[str, Any]) -> None:
        """Mark the current layer as complete, and add the proof's summary of it."""
        made = layer_digest(self._digests)
        fields = {"layer": number, "records": len(self._digests), "digest": made.hex(), "summary": summary}
        self._put(_LAYER, with_checksum(_LAYER, json.dumps(fields).encode()))
        with writing(self._path, self._kept):
            self._file.flush()
        self.layers.append(KeptLayer(number, self.size, self._file.tell(), made, summary))
        self._digests = []

    def digest(self) -> str:
        """Return the digest of a store with these layers."""
        return digest_of_layers([layer.digest for layer in self.layers])

    def records(self, layer: KeptLayer) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys and values of a layer's records; raise StoreUnwritable if they are not as they were put."""
        right = layer.start
        with suppress(ValueError):
            for key, value, after in self._entries(layer.start, layer.stop):
                checked(key, value)
                if key != _LAYER:
                    yield key, value
                right = after
        if right != layer.stop:
            raise StoreUnwritable(
                f"{str(self._partial)!r} was changed during the build: the next build resumes at the damaged layer"
            )

    def remove(self) -> None:
        """Delete the file: nothing is left to resume."""
        if not self._removed:  # else the file may belong to another build by now
            self._partial.unlink(missing_ok=True)  # while we hold the lock, the file is ours
        self._removed = True
        self.layers.clear()

    def _put(self, key: bytes, value: bytes) -> None:
        with writing(self._path, self._kept):
            self._file.write(self._entry(key, value))

    def _read(self) -> None:
        """Collect the complete and undamaged layers, cut off what follows them, and move to the end of the file."""
        size = os.fstat(self._file.fileno()).st_size
        entries = self._entries(0, size)
        begun = next(entries, None)
        stop = 0
        if begun == (_BEGIN, self._begin, self._first):
            stop = self._first
            records = 0
            for key, value, after in entries:
                try:
                    body = checked(key, value)
                except ValueError:
                    break
                if key != _LAYER:
                    records += 1
                    continue
                layer = self._layer(body, records, stop, after)
                if layer is None:
                    break
                self.layers.append(layer)
                stop, records = after, 0
        elif not self._entry(_BEGIN, self._begin).startswith(self._file.read(self._first)):
            raise StoreUnwritable(self._foreign(begun), str(self._path))
        self._file.seek(stop)
        self._file.truncate()
        self.dropped = size - stop
        if not stop:
            self._put(_BEGIN, self._begin)

    def _layer(self, body: bytes, records: int, start: int, stop: int) -> KeptLayer | None:
        """Return the layer that an entry completes; None if it says what no build of this program writes."""
        try:
            fields = json.loads(body)
            number, summary = fields["layer"], fields["summary"]
            due = self.layers[-1].number - 1 if self.layers else self._first_layer
            counts = [summary[name] for name in _COUNTS] + [n for ply in summary["plies"].values() for n in ply]
            numbers = [number, *counts, *map(int, summary["plies"])]
            if fields["records"] != records or number != due or {type(each) for each in numbers} != {int}:
                return None
            if any(len(ply) != _PLY_COUNTS or max(map(abs, ply)) >= 1 << 62 for ply in summary["plies"].values()):
                return None
            return KeptLayer(number, start, stop, bytes.fromhex(fields["digest"]), summary)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            return None

    def _foreign(self, begun: tuple[bytes, bytes, int] | None) -> str:
        """Return the message for a file that is not a journal of this game."""
        what = "is not a journal of a build, or is damaged"
        with suppress(ValueError, KeyError, TypeError, IndexError):
            if begun and begun[0] == _BEGIN:
                name = json.loads(checked(*begun[:2]))[1]["name"]
                what = f"is the journal of a build of {name!r}, or of another format"
        return f"{str(self._partial)!r} {what}: this build would keep its own there; delete it"

    @staticmethod
    def _entry(key: bytes, value: bytes) -> bytes:
        return len(value).to_bytes(_LENGTH) + key + value

    def _entries(self, start: int, stop: int) -> Iterator[tuple[bytes, bytes, int]]:
        """Yield key, value and end of each entry between two offsets in the file, up to the first that is cut short."""
        with open(self._partial, "rb") as file:
            file.seek(start)
            while start < stop:
                head = file.read(_LENGTH + KEY_BYTES)
                length = int.from_bytes(head[:_LENGTH])
                if len(head) < _LENGTH + KEY_BYTES or length > _LONGEST:
                    return
                value = file.read(length)
                if len(value) < length:
                    return
                start += len(head) + length
                yield head[_LENGTH:], value, start


def _take(partial: Path) -> BinaryIO:
    """Open the journal and lock it for this build."""
    if partial.exists() and not partial.is_file():
        raise StoreUnwritable(f"{str(partial)!r} is not a regular file: this build would keep its journal there")
    while True:
        file = os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT, 0o644), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), partial.stat()):
                    return file
        except BlockingIOError:
            file.close()
            raise StoreUnwritable(f"another build is writing {str(partial)!r}: wait until it ends") from None
        file.close()  # another build ended, and deleted the file, between our opening and our locking
