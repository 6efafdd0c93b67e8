"""What tests do to stores as files: digest what is in them, and seal them when they have changed it."""

import zlib
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import lmdb

from solver.store.manifest import digest_of_layers, layer_digest
from solver.store.record import page_digest
from solver.store.store import Store


def content_digest(store: Store) -> str:
    """The digest of a store's pages as they are."""
    layers = groupby(store.pages(), key=itemgetter(0))
    return digest_of_layers([layer_digest(page_digest(*page) for page in pages) for _, pages in layers])


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
