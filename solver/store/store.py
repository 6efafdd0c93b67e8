"""The store: one LMDB file that holds every score of a game. This page is all that is needed to read it.

The file is an LMDB environment of one unnamed database. It holds records, in the order of their
keys, and one manifest.

A **record** holds pages of some consecutive halves of a layer (solver/index/places.py says what halves, pages
and places are), those where X is to move, so that there are as many O's as X's:

    key      1 byte    how many cells are empty
             4 bytes   the last half in the record, as a big-endian number
    value    4 bytes   CRC-32 of the key followed by the rest of the value, big-endian
             the rest  a zlib stream of
                           4 bytes for each half: the half, big-endian, ascending
                           the halves' pages in the same order, a byte for each place:
                           the score for the side to move, as a signed number

So a half's record is the first whose key is not below (empty, half). A score is `cells + 1 - stones
on the board when the game ends under best play`, negated if the side to move loses, 0 for a draw;
-128 marks a place that no game reaches. Halves with a line of X's have no page.

Where O is to move nothing is stored, because it stands one page away: O's moves leave the half as it
is, so all of them lead into the page of that half with one O more. The score is the largest that one
of them has, which is that of its place with the sign changed; on a full board it is 0.

The **manifest** stands under the key `manifest`: 4 bytes of CRC-32 as above and a JSON object that
names the format, the game and its lines, the symmetries under which halves were chosen, the counts
of positions by ply, and the digest. It depends on the game alone, and is made in three steps of BLAKE2b
with 32 bytes: of each page; of each layer, over the number of empty cells and the half as they stand in
a key, and the page's digest, for all pages in order; and of the layers' digests in order.

After LMDB's last page stands the **seal**: the CRC-32 of each page in order, 4 bytes each, the size of a
page, 4 bytes, and the CRC-32 of all these, all big-endian. Whoever trusts the file can do without; how a
damaged one is kept from leading LMDB astray is said in solver/store/sealed.py.

A store is opened read-only and without a lock, and never changes; solver/store/writer.py writes it, and
solver/store/scores.py finds a position's score in it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import lmdb

from solver.errors import StoreDamaged, StoreError, StoreMismatch, StoreMissing
from solver.folders import build_command
from solver.games.lines import Game
from solver.index.places import Half, page_size
from solver.store.manifest import FORMAT, Manifest, OtherFormat
from solver.store.record import checked, record_key, unpack
from solver.store.sealed import Damaged, SealedFile, open_sealed, opening

MANIFEST_KEY = b"manifest"


class Store:
    """A store opened for reading; a context manager. Every read is checked before it is believed.

    Threads may share it, and a process forked from the one that opened it may go on using it.
    """

    def __init__(self, path: str | os.PathLike[str], game: Game | None = None) -> None:
        """Open the file at `path`, which must be a store of `game` if one is given."""
        self.path = os.fspath(path)
        self._wanted = game
        self._file: SealedFile | None = self._open()
        try:
            self.manifest = self._read_manifest()
            self.game = game or self.manifest.game
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with opening:  # of two threads one lets go, and who reads meanwhile learns that it was closed
            file, self._file = self._file, None
        if file is not None:
            file.close()

    def record(self, empty: int, half: Half) -> tuple[bytes, list[tuple[Half, memoryview]]]:
        """The record in which a half must be: its key, the halves and their pages."""
        with self._reading() as file:
            found = file.at_or_after(record_key(empty, half))
        if found is None:
            raise self.damaged(f"the record of half {half:#x} is missing")
        key, value = found
        return key, self._unpacked(key, value)

    def records(self) -> Iterator[tuple[bytes, bytes]]:
        """Every record in order: its key and its value, as they stand in the file."""
        with self._reading() as file:
            for key, value in file.items():
                if key != MANIFEST_KEY:
                    yield key, value

    def pages(self) -> Iterator[tuple[int, Half, memoryview]]:
        """Every page in order: how many cells are empty, the half, the scores."""
        for key, value in self.records():
            for half, page in self._unpacked(key, value):
                yield key[0], half, page

    def check_seal(self) -> None:
        """Nothing, if the file is as it was written from its first byte to its last; else StoreDamaged."""
        with self._reading() as file:
            file.check_all()

    def count(self) -> int:
        """How many records there are."""
        with self._reading() as file:
            return file.count - 1

    def _open(self) -> SealedFile:
        try:
            return open_sealed(self.path)
        except FileNotFoundError:
            raise missing(self.path, self._wanted) from None
        except OSError as error:
            why = f"{error.strerror}; name another path with --store"
            raise StoreError(f"cannot open store {self.path!r}: {why}") from error
        except UnicodeEncodeError as error:
            raise StoreError(f"cannot open store {self.path!r}: LMDB takes names in UTF-8 alone; rename it") from error
        except (Damaged, lmdb.Error) as error:
            if os.path.isdir(self.path) or not os.access(self.path, os.R_OK):
                why = f"{error}; name another path with --store"
                raise StoreError(f"cannot open store {self.path!r}: {why}") from error
            raise self.damaged(str(error)) from error

    @contextmanager
    def _reading(self) -> Iterator[SealedFile]:
        file = self._file
        if file is None:
            raise self._closed()
        try:
            yield file
        except (Damaged, lmdb.Error, OSError) as error:
            if self._file is None:  # closed meanwhile, by another thread
                raise self._closed() from error
            raise self.damaged(str(error)) from error

    def _read_manifest(self) -> Manifest:
        with self._reading() as file:
            key, value = file.at_or_after(MANIFEST_KEY) or (b"", b"")
        if key != MANIFEST_KEY:
            raise self.damaged("it has no manifest")
        try:
            text = checked(MANIFEST_KEY, value)
        except ValueError as error:
            raise self.damaged(str(error)) from error
        try:
            manifest = Manifest.from_json(text)
        except OtherFormat as error:
            written = error.written
            raise StoreMismatch(
                f"store {self.path!r} has format {written!r}, this program reads {FORMAT}: "
                f"{'' if written in range(FORMAT) else 'install a newer ttt4, or '}build it anew: "
                f"{build_command(self._wanted, self.path, force=True)}"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise self.damaged(f"its manifest cannot be read ({error!r})") from error
        if self._wanted not in (None, manifest.game):
            same = manifest.game.name == self._wanted.name
            of = "another game by that name" if same else f"game {manifest.game.name!r}"
            raise StoreMismatch(
                f"store {self.path!r} is of {of}, not of {self._wanted.name!r}: "
                f"name another with --store, or put that in its place: "
                f"{build_command(self._wanted, self.path, force=True)}"
            )
        return manifest

    def _unpacked(self, key: bytes, value: bytes) -> list[tuple[Half, memoryview]]:
        empty = key[0]
        size = page_size(self.game, empty) if empty in range(self.game.cells % 2, self.game.cells + 1, 2) else 0
        try:
            return list(unpack(key, value, size))
        except ValueError as error:
            raise self.damaged(str(error)) from error

    def _closed(self) -> StoreError:
        return StoreError(f"store {self.path!r} was closed: open it again")

    def damaged(self, why: str) -> StoreDamaged:
        """The error for this store, to be raised: what is wrong, and what mends it."""
        return damaged(self.path, self._wanted or getattr(self, "game", None), why)


def missing(path: str, game: Game | None) -> StoreMissing:
    """The error for a file that is not there: what to type to have it."""
    begun = "a build of it was broken off, go on with it" if os.path.exists(f"{path}.partial") else "build it"
    return StoreMissing(f"no store at {path!r}: {begun}: {build_command(game, path)}")


def damaged(path: str, game: Game | None, why: str) -> StoreDamaged:
    """The error for a file that is not what was written: what is wrong, and what to type to mend it."""
    command = build_command(game, path, force=True)
    return StoreDamaged(f"store {path!r} is damaged, or was never one: {why}; put a new one in its place: {command}")
