"""A record: the pages of some consecutive halves, packed. solver/store/store.py says how it looks."""

import zlib
from collections.abc import Iterator

from solver.index.places import Half

HALF_BYTES = 4
_CRC = 4
_BYTES = 8192
"""A record's size before compression: what a look-up has to unpack for one score."""


def halves_in_record(size: int) -> int:
    """How many pages of that size a record holds, but the last of a layer: as many as fit, or one."""
    return max(1, _BYTES // size) if size else 1


def record_key(empty: int, half: Half) -> bytes:
    """The key of the record whose last half this is."""
    return bytes([empty]) + half.to_bytes(HALF_BYTES)


def with_checksum(key: bytes, body: bytes) -> bytes:
    """A value: its body behind the checksum of key and body."""
    return zlib.crc32(body, zlib.crc32(key)).to_bytes(_CRC) + body


def checked(key: bytes, value: bytes) -> bytes:
    """The body of a value; ValueError if its checksum is wrong."""
    body = value[_CRC:]
    if len(value) < _CRC or int.from_bytes(value[:_CRC]) != zlib.crc32(body, zlib.crc32(key)):
        raise ValueError(f"the checksum of record {key.hex()} is wrong")
    return body


def unpacked(key: bytes, value: bytes, size: int) -> Iterator[tuple[Half, memoryview]]:
    """The halves in a record and their pages of that size; ValueError if it is not one."""
    longest = halves_in_record(size) * (HALF_BYTES + size)
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
        yield Half(int.from_bytes(content[i * HALF_BYTES : (i + 1) * HALF_BYTES])), pages[i * size : (i + 1) * size]
