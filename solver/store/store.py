"""The store: one LMDB file with every score of a game. This docstring is all you need to read one.

The file is an LMDB environment with one unnamed database, which holds records, in the order of their
keys, and one manifest. Cells are numbered row by row from 0, holes in the board left out. A set of cells
is a bit mask.

A **half** is X's cells in canonical form: the smallest image of the set, as a number, under the
symmetries in the manifest. A symmetry g maps cell c to cell g[c]. A **page** has one score for each
way to put O's on the cells outside the half, for one number of O's. To find a position, apply the
symmetry that gives the half to O's cells too. Number the cells outside the half 0, 1, 2, ... in order;
if O is on numbers b_0 < b_1 < ..., the position's **place** in the page, counted from 0, is
C(b_0, 1) + C(b_1, 2) + C(b_2, 3) + ... (solver/index/places.py explains more).

A **record** holds the pages of some consecutive halves with the same number of X's. Only pages
where X is to move are stored, so there are as many O's as X's:

    key      1 byte    the number of empty cells
             4 bytes   the last half in the record, big-endian
    value    4 bytes   CRC-32 of the key followed by the rest of the value, big-endian
             the rest  a zlib stream of
                           for each half 4 bytes: the half, big-endian, ascending
                           the halves' pages in the same order, with one byte for each place:
                           the score for the side to move, a signed number

So the record of a half is the first one whose key is (empty, half) or greater. A score is `cells + 1 -
stones on the board when the game ends with best play`, negated if the side to move loses, and 0 for a
draw; -128 marks a place that no game reaches. Halves that contain a line have no page.

Positions with O to move are not stored, because their scores follow from a single page: O's moves
leave the half as it is, so they all lead to the page of the same half with one O more. The score is
the best score of a move, which is the score at the place it leads to, negated. On a full board it is 0.

Stores of **Infinity Grid Duel** have the same records, with another index: where a half stands above,
they have the number of a page, and a page has a place for each colouring of a set of filled cells,
whichever side is to move. Scores are margins. solver/duel/index.py says all about it. On boards of more
than 20 cells, a page that is not there stands for positions that no game reaches.

The **manifest** has the key `manifest`. Its value is 4 bytes of CRC-32 as above, then a JSON object:

    format      the version of this format
    tool        the program that wrote the file
    game        the name, rows, columns and lines (masks of cells), and whether completing a line loses
                (misere); if the board has holes, a mask of them, over rows * columns squares (holes);
                of the duel, its name, rows and columns, and rules: "duel"
    symmetries  the permutations of the cells that define halves
    score       the score of the empty board
    plies       for each number of stones, the counts of positions: reachable and, up to symmetry,
                all (canonical), by result for the side to move (wins, draws, losses), and over
    digest      the digest of all pages, in hexadecimal

The digest depends only on the game. It is computed in three steps with 32 bytes of BLAKE2b: the
digest of each page; for each layer, the digest of its pages' entries in order, where an entry is the
number of empty cells and the half, as in a key, and the page's digest; and the digest of all layers'
digests, in the order of the keys. A layer is all halves with the same number of X's.

Page 0 has 152 bytes for LMDB. At offset 256 it has the **signature**: the text `ttt4 store of `, the
game's name, a blank, the name's CRC-32 in 8 hexadecimal digits and a line feed. By it a damaged file is still
known to have been a store, and of which game.

After LMDB's last page comes the **seal**: the CRC-32 of each of LMDB's pages in order, 4 bytes each,
then the size of a page in 4 bytes, then 4 bytes of CRC-32 of all these, all big-endian. A reader that
trusts the file can ignore the seal; solver/store/sealed.py uses it to keep a damaged file from
leading a reader astray.

A store never changes, and is read without LMDB (solver/store/sealed.py says why). solver/store/writer.py writes it;
solver/store/scores.py looks up scores.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from solver.errors import NotAStore, StoreDamaged, StoreError, StoreMismatch, StoreMissing, StoreOutdated
from solver.folders import in_data_folder
from solver.games.board import BoardGame
from solver.index.layout import page_size
from solver.index.places import Half
from solver.store.manifest import FORMAT, LONGEST, Manifest, OtherFormat
from solver.store.record import KEY_BYTES, checked, record_key, unpack
from solver.store.sealed import Damaged, SealedFile, signed_for
from solver.text import shown

MANIFEST_KEY = b"manifest"


class Store:
    """A store opened for reading: a context manager. Every record is checked against its checksum, and none is cached.

    Threads may share it, and so may processes forked from the one that opened it.
    """

    def __init__(self, path: str | os.PathLike[str], game: BoardGame[Any] | None = None) -> None:
        """Open the file at `path`; if `game` is given, the file must be a store of that game."""
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
        """Close the file. A read in another thread then raises StoreError."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def record(self, empty: int, half: Half) -> tuple[bytes, list[tuple[Half, memoryview]]]:
        """Return the record that must contain a half: its key, and its halves with their pages."""
        found = self.find(empty, half)
        if found is None:
            raise self.damaged(f"the record of half {half:#x} is missing")
        return found

    def find(self, empty: int, half: Half) -> tuple[bytes, list[tuple[Half, memoryview]]] | None:
        """Return the record that contains a half if any does; None if there is none so large."""
        with self._reading() as file:
            found = file.at_or_after(record_key(empty, half))
        return None if found is None or found[0] == MANIFEST_KEY else (found[0], self._unpack(*found))

    def key_of(self, empty: int, half: Half) -> bytes:
        """Return the key of the record in which a half is looked for; empty if none is so large."""
        with self._reading() as file:
            found = file.at_or_after(record_key(empty, half))
        return found[0] if found else b""

    def records(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield key and value of every record in order, as they are in the file."""
        with self._reading() as file:
            for key, value in file.items():
                if key != MANIFEST_KEY:
                    yield key, value

    def pages(self) -> Iterator[tuple[int, Half, memoryview]]:
        """Yield every page in order: the number of empty cells, the half, the scores."""
        for key, value in self.records():
            for half, page in self._unpack(key, value):
                yield key[0], half, page

    def check_seal(self) -> None:
        """Raise StoreDamaged unless every page of the file matches the seal."""
        with self._reading() as file:
            file.check_all()

    def count(self) -> int:
        """Return the number of records."""
        return sum(1 for _ in self.records())

    def _open(self) -> SealedFile:
        try:
            return SealedFile(self.path)
        except FileNotFoundError:
            raise missing(self.path, self._wanted) from None
        except OSError as error:
            raise self._unusable(f"cannot open store {self.path!r}: {error.strerror}") from error
        except Damaged as error:
            raise self.damaged(str(error)) from error

    @contextmanager
    def _reading(self) -> Iterator[SealedFile]:
        """Turn errors of reading the file into StoreDamaged, or StoreError if the store was closed."""
        file = self._file
        if file is None:
            raise self._closed()
        try:
            yield file
        except (Damaged, OSError) as error:
            if self._file is None:  # another thread closed it meanwhile
                raise self._closed() from error
            raise self.damaged(str(error)) from error

    def _read_manifest(self) -> Manifest:
        """Return the manifest; raise StoreMismatch if it is of another game or format."""
        with self._reading() as file:
            key, value = file.at_or_after(MANIFEST_KEY) or (b"", b"")
        if key != MANIFEST_KEY or len(value) > LONGEST:
            raise self.damaged("it has no manifest, or one that is too long")
        try:
            text = checked(MANIFEST_KEY, value)
        except ValueError as error:
            raise self.damaged(str(error)) from error
        try:
            manifest = Manifest.from_json(text)
        except OtherFormat as error:
            if self._wanted and error.game not in (None, self._wanted.name):
                raise self._mismatch(f"game {shown(error.game)}") from None
            raise StoreOutdated(
                f"store {self.path!r} has format {shown(error.written)}, and this program reads {FORMAT}",
                self.path, self._wanted,
            ) from None  # fmt: skip
        except ValueError as error:
            raise self.damaged(f"its manifest cannot be read ({error})") from error
        if self._wanted not in (None, manifest.game):
            same = manifest.game.name == self._wanted.name
            raise self._mismatch("another game by that name" if same else f"game {manifest.game.name!r}")
        return manifest

    def _unpack(self, key: bytes, value: bytes) -> list[tuple[Half, memoryview]]:
        if len(key) != KEY_BYTES:
            raise self.damaged(f"it has a record with the key {key[:8].hex()}")
        try:
            return list(unpack(key, value, page_size(self.game, key[0])))
        except ValueError as error:
            raise self.damaged(str(error)) from error

    def _mismatch(self, of: str) -> StoreMismatch:
        name = self._wanted.name if self._wanted else ""
        return StoreMismatch(f"store {self.path!r} is of {of}, not of {name!r}", self.path, self._wanted)

    def _closed(self) -> StoreError:
        return StoreError(f"store {self.path!r} was closed: open it again")

    def _unusable(self, why: str) -> StoreError:
        return StoreError(why, self.path, self._wanted)

    def damaged(self, why: str) -> StoreError:
        """Return the error for this store, to be raised: what is wrong with it."""
        return damaged(self.path, self._wanted or getattr(self, "game", None), why)


def missing(path: str, game: BoardGame[Any] | None) -> StoreMissing:
    """Return the error for a file that is not there."""
    return StoreMissing(f"no store at {path!r}", path, game)


def damaged(path: str, game: BoardGame[Any] | None, why: str) -> StoreError:
    """Return the error for a file that is not what was written, is of another game, or never was a store."""
    name = signed_for(path)
    if name is None and not in_data_folder(path):
        return NotAStore(f"{path!r} is not a store", path, game)
    if name and game and name != game.name:
        return StoreMismatch(f"{path!r} is a damaged store of game {shown(name)}, not of {game.name!r}", path, game)
    return StoreDamaged(f"store {path!r} is damaged: {why}", path, game)
