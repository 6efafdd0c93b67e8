"""Pack and unpack records: the pages of some consecutive halves. solver/store/store.py describes the format."""

import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from solver.errors import StoreUnwritable
from solver.index.places import Half

if TYPE_CHECKING:
    from hashlib import blake2b

HALF_BYTES = 4
KEY_BYTES = 1 + HALF_BYTES
_CRC = 4
_BYTES = 8192
"""The size of a record before compression. A look-up unpacks all of it to read one score."""

_LEVEL = 6
"""zlib-ng's records are smaller than those of zlib at this level, and take half the time."""


class PackedRecord(NamedTuple):
    """A record as it is written, and what it adds to the digest of its layer."""

    key: bytes
    value: bytes
    digests: bytes


def pack(empty: int, halves: Sequence[Half], pages: bytes) -> PackedRecord:
    """Return the record of some consecutive halves, given their pages one after the other.

    It is packed by zlib-ng, and then read back by zlib, as all readers do.
    """
    from zlib_ng import zlib_ng  # imported here because only builds need it

    key = record_key(empty, halves[-1])
    content = b"".join(half.to_bytes(HALF_BYTES) for half in halves) + pages
    body = zlib_ng.compress(content, _LEVEL)
    if zlib.decompress(body) != content:
        raise StoreUnwritable(f"record {key.hex()} does not unpack to what was packed: this machine cannot be trusted")
    size = len(pages) // len(halves)
    digests = (page_digest(empty, half, pages[i * size : (i + 1) * size]) for i, half in enumerate(halves))
    return PackedRecord(key, with_checksum(key, body), b"".join(digests))


def unpack(key: bytes, value: bytes, size: int) -> Iterator[tuple[Half, memoryview]]:
    """Yield each half in a record with its page, given the size of a page; raise ValueError if it is damaged."""
    longest = pages_in_record(size) * (HALF_BYTES + size)
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(checked(key, value), longest + 1)  # so that no file can fill the memory
    except zlib.error as error:
        raise ValueError(f"record {key.hex()}: {error}") from error
    count, rest = divmod(len(content), HALF_BYTES + size)
    if rest or not count or not size or not stream.eof:
        raise ValueError(f"record {key.hex()} has a wrong length")
    pages = memoryview(content).cast("b")[count * HALF_BYTES :]
    for i in range(count):
        half = Half(int.from_bytes(content[i * HALF_BYTES : (i + 1) * HALF_BYTES]))
        yield half, pages[i * size : (i + 1) * size]


def pages_in_record(size: int) -> int:
    """Return how many pages of this size a record holds, at least one. A layer's last record may hold fewer."""
    return max(1, _BYTES // size) if size else 1


def record_key(empty: int, half: Half) -> bytes:
    """Return the key of the record whose last half is `half`."""
    return bytes([empty]) + half.to_bytes(HALF_BYTES)


def with_checksum(key: bytes, body: bytes) -> bytes:
    """Return a value: the checksum of key and body, followed by the body."""
    return zlib.crc32(body, zlib.crc32(key)).to_bytes(_CRC) + body


def checked(key: bytes, value: bytes) -> bytes:
    """Return the body of a value; raise ValueError if its checksum is wrong."""
    body = value[_CRC:]
    if len(value) < _CRC or int.from_bytes(value[:_CRC]) != zlib.crc32(body, zlib.crc32(key)):
        raise ValueError(f"the checksum of record {key.hex()} is wrong")
    return body


def page_digest(empty: int, half: Half, page: bytes | memoryview) -> bytes:
    """Return what a page adds to the digest of its layer."""
    return record_key(empty, half) + new_digest(page).digest()


def new_digest(data: bytes | memoryview = b"") -> "blake2b":
    """Return the hash that all digests use."""
    from hashlib import blake2b  # imported here because a query, which needs no digest, must start fast

    return blake2b(data, digest_size=32)
