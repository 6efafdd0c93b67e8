"""Sealing a store whose pages a test has changed."""

import zlib
from pathlib import Path

import lmdb


def seal_anew(path: Path) -> None:
    """Seal a store whose pages were changed, as the documentation of the format says."""
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as file:
        size, count = file.stat()["psize"], file.info()["last_pgno"] + 1
    pages = path.read_bytes()[: size * count]
    numbers = [zlib.crc32(pages[at : at + size]) for at in range(0, len(pages), size)] + [size]
    sums = b"".join(number.to_bytes(4, "big") for number in numbers)
    path.write_bytes(pages + sums + zlib.crc32(sums).to_bytes(4, "big"))
