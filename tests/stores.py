"""What tests do to stores as files: seal them when they have changed them."""

import zlib
from pathlib import Path

import lmdb


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
