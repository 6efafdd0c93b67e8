"""What tests do to stores as files: read them, seal them when they have changed them, and leave them half built."""

import json
import zlib
from pathlib import Path
from typing import Any

import lmdb
import pytest

from solver.games.board import BoardGame
from solver.proof.build import build_store
from solver.store.journal import Journal


def seal_anew(path: Path) -> None:
    """Seal a store whose pages were changed, as the documentation of the format says."""
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as file:
        size, count = file.stat()["psize"], file.info()["last_pgno"] + 1
    path.write_bytes(sealed(path.read_bytes()[: size * count], size))


def sealed(content: bytes, size: int) -> bytes:
    """A file whose pages are changed, or that has no seal yet, with the right one."""
    count = len(content) // (size + 4) if len(content) % size else len(content) // size
    pages = content[: size * count]
    numbers = [zlib.crc32(pages[at : at + size]) for at in range(0, len(pages), size)] + [size]
    sums = b"".join(number.to_bytes(4, "big") for number in numbers)
    return pages + sums + zlib.crc32(sums).to_bytes(4, "big")


def break_off(game: BoardGame[Any], path: Path, layers: int, patch: pytest.MonkeyPatch) -> None:
    """Build until so many layers are whole, and leave the rest."""
    ending = Journal.end_layer

    def end(self: Journal, number: int, summary: dict[str, Any]) -> None:
        ending(self, number, summary)
        if len(self.layers) == layers:
            raise KeyboardInterrupt

    with patch.context() as patched:
        patched.setattr(Journal, "end_layer", end)
        with pytest.raises(KeyboardInterrupt):
            build_store(game, path, jobs=2)


def read_plainly(path: Path) -> tuple[dict[str, Any], list[tuple[bytes, bytes]]]:
    """A store's manifest, and the key and the unpacked content of each record, by nothing but LMDB and zlib."""
    records: list[tuple[bytes, bytes]] = []
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as file, file.begin() as reading:
        for key, value in reading.cursor():
            assert int.from_bytes(value[:4], "big") == zlib.crc32(key + value[4:]), key
            records.append((key, value[4:]))
    manifests = [json.loads(body) for key, body in records if key == b"manifest"]
    assert len(manifests) == 1
    return manifests[0], [(key, zlib.decompress(body)) for key, body in records if key != b"manifest"]
