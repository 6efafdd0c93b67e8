"""What tests do to stores as files: read them plainly, damage them, seal them anew, and leave them half built."""

import json
import random
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


def with_a_flipped_bit(content: bytes, where: float) -> bytes:
    """A file in which one bit is not as it was, so far from its beginning (0) to its end (1)."""
    changed = bytearray(content)
    changed[int(where * len(changed))] ^= 8
    return bytes(changed)


def damaged_journal(good: bytes, damage: str, rng: random.Random) -> bytes:
    """A journal that is cut, altered behind its head, or longer than it was."""
    bad, head = bytearray(good), 9 + int.from_bytes(good[:4])
    if damage == "cut":
        del bad[rng.randrange(len(bad)) :]
    elif damage == "altered":
        bad[rng.randrange(head, len(bad))] ^= 1 << rng.randrange(8)
    else:
        bad += rng.randbytes(rng.randrange(1, 200))
    return bytes(bad)


class Decoded:
    """A store read by nothing but what the documentation of the format says; each kind of game has pages of its own."""

    def __init__(self, path: Path) -> None:
        self.pages: dict[tuple[int, int], list[int]] = {}
        self.manifest, records = read_plainly(path)
        self.cells: int = self.manifest["game"]["rows"] * self.manifest["game"]["columns"]
        for key, content in records:
            self._unpack(key, content)

    def page_size(self, empty: int) -> int:
        """How many scores a page has."""
        raise NotImplementedError

    def _unpack(self, key: bytes, content: bytes) -> None:
        size = self.page_size(key[0])
        count, rest = divmod(len(content), 4 + size)
        assert rest == 0
        numbers = [int.from_bytes(content[4 * i : 4 * i + 4], "big") for i in range(count)]
        assert numbers == sorted(numbers)
        assert numbers[-1] == int.from_bytes(key[1:], "big")
        for i, number in enumerate(numbers):
            page = content[4 * count + i * size : 4 * count + (i + 1) * size]
            self.pages[key[0], number] = [byte - 256 if byte > 127 else byte for byte in page]


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
