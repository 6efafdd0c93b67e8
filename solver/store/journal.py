"""The journal: what a build has solved so far, so that a kill loses at most the layer being worked on.

It is the file `<store>.partial`, locked by the build that writes it, and holds entries one after the other:

    4 bytes    how long the value is, big-endian
    5 bytes    the key
    the value  as in a store: 4 bytes of CRC-32 of the key and the rest, and the rest

The first has the key `begin` and says of which game and format the others are. Then come the records of
each layer, as they will stand in the store, and behind them one with the key `layer`: what the layer
came to, as JSON. Who finds a journal of his game reads it from the front and believes it as far as whole
layers are right; the rest is cut off. Any other file in its place is left alone, and refused.

Nothing is synced: what a loss of power takes is noticed like any other damage.
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
from solver.games.lines import Game
from solver.index.symmetry import Symmetry
from solver.store.manifest import FORMAT, digest_of_layers, game_fields, layer_digest
from solver.store.record import HALF_BYTES, PackedRecord, checked, with_checksum
from solver.store.writer import writing

_BEGIN, _LAYER = b"begin", b"layer"
_LENGTH = 4
_KEY = 1 + HALF_BYTES
_LONGEST = 1 << 24


class Kept(NamedTuple):
    """A layer in the journal: where its records are, their digest, and what it came to."""

    xs: int
    start: int
    stop: int
    digest: bytes
    summary: dict[str, Any]


class Journal:
    """The journal of a build; a context manager, which holds the path for this build alone."""

    def __init__(self, path: str | os.PathLike[str], game: Game, group: tuple[Symmetry, ...]) -> None:
        """Take up what is there of the same game, or begin; StoreUnwritable if another build is at work."""
        self._path = Path(path)
        self._partial = self._path.with_name(self._path.name + ".partial")
        self._begin = with_checksum(_BEGIN, json.dumps([FORMAT, game_fields(game), group]).encode())
        self._first = _LENGTH + _KEY + len(self._begin)
        self.layers: list[Kept] = []
        """Those that are whole, in the order in which they were solved."""
        self.dropped = 0
        """How many bytes behind the last whole layer were cut off: what a kill left unfinished, or was damaged."""
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
            self._file.flush()  # a full disk leaves what fits
        if not self.layers or isinstance(error, SolversDisagree):
            self.remove()
        with suppress(OSError):
            self._file.close()

    @property
    def size(self) -> int:
        """How many bytes it has taken so far."""
        return self.layers[-1].stop if self.layers else self._first

    @property
    def _kept(self) -> str:
        return "; what was solved is kept, and the same command goes on with it" if self.layers else ""

    def put(self, record: PackedRecord) -> None:
        """Add a record of the layer being solved."""
        self._put(record.key, record.value)
        self._digests.append(record.digests)

    def end_layer(self, xs: int, summary: dict[str, Any]) -> None:
        """Say that the layer is whole, and what it came to."""
        made = layer_digest(self._digests)
        fields = {"xs": xs, "records": len(self._digests), "digest": made.hex(), "summary": summary}
        self._put(_LAYER, with_checksum(_LAYER, json.dumps(fields).encode()))
        with writing(self._path, self._kept):
            self._file.flush()
        self.layers.append(Kept(xs, self.size, self._file.tell(), made, summary))
        self._digests = []

    def digest(self) -> str:
        """The digest of a store with these layers."""
        return digest_of_layers([layer.digest for layer in self.layers])

    def records(self, layer: Kept) -> Iterator[tuple[bytes, bytes]]:
        """The records of a layer, keys and values, all of them as they were put."""
        right = layer.start
        with suppress(ValueError):
            for key, value, after in self._entries(layer.start, layer.stop):
                checked(key, value)
                if key != _LAYER:
                    yield key, value
                right = after
        if right != layer.stop:
            raise StoreUnwritable(f"{str(self._partial)!r} was altered meanwhile: build again, from where it is right")

    def remove(self) -> None:
        """Delete the file, as nothing is left to be done."""
        if not self._removed:  # else another build may have begun there
            self._partial.unlink(missing_ok=True)  # ours, as long as we hold the lock
        self._removed = True
        self.layers.clear()

    def _put(self, key: bytes, value: bytes) -> None:
        with writing(self._path, self._kept):
            self._file.write(self._entry(key, value))

    def _read(self) -> None:
        """Collect the layers that are whole and right, cut off what follows them, and stand at the end."""
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
                fields = json.loads(body)
                if fields["records"] != records:
                    break
                made = bytes.fromhex(fields["digest"])
                self.layers.append(Kept(fields["xs"], stop, after, made, fields["summary"]))
                stop, records = after, 0
        elif not self._entry(_BEGIN, self._begin).startswith(self._file.read(self._first)):
            raise StoreUnwritable(self._foreign(begun))
        self._file.seek(stop)
        self._file.truncate()
        self.dropped = size - stop
        if not stop:
            self._put(_BEGIN, self._begin)

    def _foreign(self, begun: tuple[bytes, bytes, int] | None) -> str:
        """What is wrong with a file that is there and is not of this game's build."""
        what = "is no journal of a build, or is damaged"
        with suppress(ValueError, KeyError, TypeError, IndexError):
            if begun and begun[0] == _BEGIN:
                name = json.loads(checked(*begun[:2]))[1]["name"]
                what = f"keeps what was solved of {name!r}, in this format or another"
        return f"{str(self._partial)!r} {what}: delete it if it is not needed, or name another path with --store"

    @staticmethod
    def _entry(key: bytes, value: bytes) -> bytes:
        return len(value).to_bytes(_LENGTH) + key + value

    def _entries(self, start: int, stop: int) -> Iterator[tuple[bytes, bytes, int]]:
        """Keys, values and where they end, between two places in the file, as far as they are there at all."""
        with open(self._partial, "rb") as file:
            file.seek(start)
            while start < stop:
                head = file.read(_LENGTH + _KEY)
                length = int.from_bytes(head[:_LENGTH])
                if len(head) < _LENGTH + _KEY or length > _LONGEST:
                    return
                value = file.read(length)
                if len(value) < length:
                    return
                start += len(head) + length
                yield head[_LENGTH:], value, start


def _take(partial: Path) -> BinaryIO:
    """Open and lock the file that a build writes into."""
    while True:
        file = os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT, 0o644), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), partial.stat()):
                    return file
        except BlockingIOError:
            file.close()
            raise StoreUnwritable(f"another build is writing {str(partial)!r}: wait until it has ended") from None
        file.close()  # the other build ended between our opening and our locking
