"""Stores that somebody made on purpose, all checksums right: each is read or refused, quickly, in little memory."""

import json
import os
import random
import struct
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from limits import faults, wrong_with
from stores import sealed

from solver.errors import StoreDamaged, StoreMismatch, Ttt4Error
from solver.games.lines import grid
from solver.games.position import Position
from solver.proof.build import build_store
from solver.proof.verify import verify_store
from solver.store.record import with_checksum
from solver.store.scores import Scores
from solver.store.sealed import Damaged, SealedFile
from solver.store.store import MANIFEST_KEY, Store
from solver.store.writer import StoreWriter

PAGE = 4096
GAME = grid(4, 4, 3)
Case = tuple[str, bytes]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a branch page, leaves below it, and large values in pages of their own."""
    path = tmp_path_factory.mktemp("good") / "s"
    build_store(GAME, path, jobs=2)
    return path


# What may be written into a page, or into one of its nodes: where, in which form, and which numbers.
IN_PAGE = {
    "ends its list at": (12, "<H", (0, 16, 17, 4095, 4096, 65535)),
    "has flags": (10, "<H", (0, 1, 2, 4, 8, 0x40, 0x7FFF)),
    "has node 0 at": (16, "<H", (0, 10, 17, 4090, 4095, 4096, 65535)),
}
IN_NODE = {
    "has a key of": (6, "<H", (0, 1, 511, 4096, 65535)),
    "has a value of": (0, "<L", (0, 3, 4096, 1 << 20, (1 << 32) - 1)),
    "has node flags": (4, "<H", (1, 2, 4, 7, 65535)),
}


def pages_of(whole: bytes, kind: int) -> list[int]:
    end = len(whole) // (PAGE + 4) * PAGE
    return [at for at in range(2 * PAGE, end, PAGE) if struct.unpack_from("<H", whole, at + 10)[0] == kind]


def tree_changes(whole: bytes) -> dict[str, tuple[int, str, int]]:
    """Pointers, lengths and flags that lead astray, in branches and in leaves: where, in which form, and which."""
    (branch, *_), leaves, large = pages_of(whole, 1), pages_of(whole, 2), pages_of(whole, 4)
    pages = {"branch": branch, "leaf": leaves[0], "last leaf": leaves[-1], "large value": large[0]}
    changes: dict[str, tuple[int, str, int]] = {}

    def start(page: int, node: int) -> int:
        return page + int(struct.unpack_from("<H", whole, page + 16 + 2 * node)[0])

    for target in (0, 1, branch // PAGE, leaves[0] // PAGE, 7, 10**6, (1 << 48) - 1):
        for node in (0, 1):
            changes[f"child {node} is page {target}"] = start(branch, node), "<L", target & 0xFFFFFFFF
        for meta in (0, PAGE):
            changes[f"root in {meta} is page {target}"] = meta + 128, "<Q", target
    for name, page in pages.items():
        for what, (at, form, numbers) in IN_PAGE.items():
            changes |= {f"{name} {what} {number}": (page + at, form, number) for number in numbers}
        for what, (at, form, numbers) in IN_NODE.items() if name != "large value" else ():
            changes |= {f"{name} {what} {number}": (start(page, 0) + at, form, number) for number in numbers}
    return changes


def changed(whole: bytes, at: int, form: str, number: int) -> bytes:
    file = bytearray(whole)
    struct.pack_into(form, file, at, number)
    return sealed(bytes(file), PAGE)


def broken_trees(whole: bytes) -> Iterator[Case]:
    """Trees with one of these changes, and trees with noise."""
    for name, change in tree_changes(whole).items():
        yield name, changed(whole, *change)
    branch, leaves, rng = pages_of(whole, 1)[0], pages_of(whole, 2), random.Random(3)
    for number in range(20):
        file = bytearray(whole)
        for page in rng.choices([branch, *leaves], k=3):
            for at in rng.sample(range(10, 200), 4):
                file[page + at] = rng.randrange(256)
        yield f"noise {number}", sealed(bytes(file), PAGE)


def made(path: Path, entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A store with these keys and values, written by LMDB itself."""
    with StoreWriter(path) as writer:
        for key, value in entries:
            writer.put(key, value)
        writer._transaction.commit()
        writer._environment.close()
        return sealed(writer.new.read_bytes(), PAGE)


def rewritten(good: Path, path: Path, records: Callable[[bytes, bytes], bytes], manifest: bytes | None) -> bytes:
    """A store with other values under its keys."""
    with Store(good) as store:
        said = manifest if manifest is not None else store.manifest.to_json()
        entries = [(key, records(key, value)) for key, value in store.records()]
    return made(path, [*entries, (MANIFEST_KEY, with_checksum(MANIFEST_KEY, said))])


def wrong_manifests(good: Path, path: Path) -> Iterator[Case]:
    with Store(good) as store:
        fields: dict[str, Any] = json.loads(store.manifest.to_json())
    game = fields["game"]
    changes: dict[str, Any] = {
        "no rows": {"game": {name: value for name, value in game.items() if name != "rows"}},
        "no game": {"game": None}, "game 1": {"game": 1}, "game []": {"game": []},
        "no symmetries": {"symmetries": []}, "empty symmetry": {"symmetries": [[]]},
        "many symmetries": {"symmetries": fields["symmetries"] * 9999},
        "wrong symmetry": {"symmetries": [[0] * 15]}, "text symmetry": {"symmetries": ["abc"]},
        "odd symmetry": {"symmetries": [[*range(14), 99]]}, "list of lists": {"symmetries": [[[0]] * 15]},
        "score text": {"score": "1"}, "score huge": {"score": 10**300}, "score null": {"score": None},
        "plies null": {"plies": None}, "plies many": {"plies": fields["plies"] * 99},
        "plies odd": {"plies": [{"x": 1}]},
        "plies huge": {"plies": [{**fields["plies"][0], "reachable": 10**99}]},
        "digest null": {"digest": None}, "digest long": {"digest": "a" * 500_000},
        "format null": {"format": None}, "format text": {"format": "3"}, "format 99": {"format": 99, "game": 7},
        "lines negative": {"game": game | {"lines": [-1]}}, "lines huge": {"game": game | {"lines": [1 << 99]}},
        "lines text": {"game": game | {"lines": "abc"}}, "lines none": {"game": game | {"lines": None}},
        "holes negative": {"game": game | {"holes": -1}}, "holes huge": {"game": game | {"holes": 1 << 4000}},
        "name 7": {"game": game | {"name": 7}}, "name long": {"game": game | {"name": "x" * 100_000}},
        "misere 1": {"game": game | {"misere": 1}}, "more": {"game": game | {"more": 1}},
    }  # fmt: skip
    for size in (0, -3, 10**9, 10**18, 1.5, "3", None, True):
        changes[f"rows {size}"] = {"game": game | {"rows": size}}
        changes[f"columns {size}"] = {"game": game | {"columns": size}}
    texts = {name: json.dumps(fields | change).encode() for name, change in changes.items()}
    texts |= {
        "nothing": b"", "not JSON": b"{", "a list": b"[]", "a number": b"1", "not UTF-8": b"\xff" * 99,
        "deep": b"[" * 100_000, "deep objects": b'{"format":' * 50_000,
        "long number": b'{"format":' + b"1" * 10_000 + b"}",
        "too long": b" " * (2 << 20),
    }  # fmt: skip
    for name, text in texts.items():
        yield f"manifest: {name}", rewritten(good, path, lambda key, value: value, text)


def wrong_records(good: Path, path: Path) -> Iterator[Case]:
    """Records that are no zlib stream, or one of the wrong halves, or one without end."""
    rng = random.Random(9)

    def packed(change: Callable[[bytes], bytes]) -> Callable[[bytes, bytes], bytes]:
        return lambda key, value: with_checksum(key, zlib.compress(change(zlib.decompress(value[4:]))))

    bomb = zlib.compress(bytes(64 << 20))
    changes: dict[str, Callable[[bytes, bytes], bytes]] = {
        "no checksum": lambda key, value: b"",
        "nothing": lambda key, value: with_checksum(key, b""),
        "not zlib": lambda key, value: with_checksum(key, b"abc"),
        "cut": lambda key, value: with_checksum(key, value[4:-3]),
        "more behind": lambda key, value: with_checksum(key, value[4:] + b"more"),
        "a bomb": lambda key, value: with_checksum(key, bomb),
        "empty": packed(lambda content: b""),
        "one byte": packed(lambda content: b"x"),
        "no pages": packed(lambda content: content[:4]),
        "reversed": packed(lambda content: content[::-1]),
        "halves beyond the board": packed(lambda content: b"\xff" * 4 + content[4:]),
        "half 0": packed(lambda content: bytes(4) + content[4:]),
        "all unreached": packed(lambda content: content[:4] + b"\x80" * (len(content) - 4)),
        "scores beyond the board": packed(lambda content: content[:4] + b"\x7f" * (len(content) - 4)),
        "noise": packed(lambda content: rng.randbytes(len(content))),
    }
    for name, change in changes.items():
        yield f"records: {name}", rewritten(good, path, change, None)


def asked(path: Path) -> None:
    """Ask a store all that the commands ask: scores, every page, and whether it is right."""
    with Store(path, GAME) as store:
        scores, rng = Scores(store), random.Random(1)
        for _ in range(50):
            position = Position(GAME)
            for cell in rng.sample(range(16), rng.randrange(16)):
                if not position.over:
                    position = position.play(cell)
            scores.score(position)
        list(store.pages())


def outcome(path: Path) -> str:
    """What is wrong with how a store is treated; nothing if it is read or refused as it should be."""
    for ask in (asked, lambda path: verify_store(path, GAME, jobs=1, sample=0)):
        wrong = wrong_with(partial(ask, path), (Ttt4Error,))
        if wrong and not isinstance(wrong, StoreDamaged | StoreMismatch):
            return repr(wrong)
    return ""


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 8])
@pytest.mark.parametrize("kind", [broken_trees, wrong_manifests, wrong_records])
def test_a_crafted_store_is_read_or_refused(
    kind: Callable[..., Iterator[Case]], step: int, good: Path, tmp_path: Path, forked: Any
) -> None:
    cases = list(kind(good.read_bytes()) if kind is broken_trees else kind(good, tmp_path / "made"))
    path = tmp_path / "s.ttt4"
    assert faults(forked, path, cases[::step], lambda _: outcome(path)) == ""
    assert len(cases) >= {broken_trees: 100, wrong_manifests: 50, wrong_records: 15}[kind]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("root in {newest} is page 1000000", "it has no page 1000000"),
        ("child 0 is page {branch}", "its tree is too deep"),
        ("leaf has flags 4", "one of its pages has no list of nodes"),
        ("leaf ends its list at 17", "one of its pages has no list of nodes"),
        ("leaf has node 0 at 10", "one of its nodes lies outside its page"),
        ("leaf has a key of 65535", "one of its keys is cut short"),
        ("leaf has a value of 4294967295", "one of its values is cut short"),
    ],
)
def test_what_is_wrong_with_a_tree_is_said(change: str, said: str, good: Path, tmp_path: Path) -> None:
    whole, path = good.read_bytes(), tmp_path / "s"
    newest = max((0, PAGE), key=lambda meta: int(struct.unpack_from("<Q", whole, meta + 144)[0]))
    name = change.format(newest=newest, branch=pages_of(whole, 1)[0] // PAGE)
    path.write_bytes(changed(whole, *tree_changes(whole)[name]))
    file = SealedFile(str(path))
    for read in (lambda: file.at_or_after(b""), lambda: list(file.items())):
        with pytest.raises(Damaged, match=f"^{said}$"):
            read()


def test_a_store_in_which_a_query_would_look_for_a_page_elsewhere_is_not_verified(good: Path, tmp_path: Path) -> None:
    whole, path = good.read_bytes(), tmp_path / "s"
    branch = pages_of(whole, 1)[0]
    keys = [key for key, _ in SealedFile(str(good)).items()]
    (nodes,) = struct.unpack_from("<H", whole, branch + 12)
    astray = 0
    for node in range(1, (nodes - 16) // 2):
        at = branch + struct.unpack_from("<H", whole, branch + 16 + 2 * node)[0]
        length = struct.unpack_from("<H", whole, at + 6)[0]
        separator = whole[at + 8 : at + 8 + length]
        before = keys[bisect_left(keys, separator) - 1]  # whose last half is then looked for one page too far
        file = bytearray(whole)
        file[at + 8 : at + 8 + length] = before[:length]
        path.write_bytes(sealed(bytes(file), PAGE))
        found = SealedFile(str(path)).at_or_after(before)
        if found is None or found[0] != before:
            astray += 1
            with pytest.raises(StoreDamaged):
                verify_store(path, GAME, jobs=1, sample=0)
    assert astray > 0


def test_a_huge_file_with_holes_is_refused_before_its_checksums_are_read(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tail, most = tmp_path / "s", good.read_bytes()[-8:], [0]
    with open(path, "wb") as file:
        pages = 1 << 28
        file.truncate(pages * (PAGE + 4) + 8)
        file.seek(-8, os.SEEK_END)
        file.write(tail)

    def watched(descriptor: int, count: int, at: int) -> bytes:
        most[0] = max(most[0], count)
        return pread(descriptor, count, at)

    pread = os.pread
    monkeypatch.setattr(os, "pread", watched)
    with pytest.raises(Damaged, match="its page 0"):
        SealedFile(str(path))
    assert 0 < most[0] <= PAGE


def test_there_is_no_key_after_the_last(good: Path) -> None:
    file = SealedFile(str(good))
    last, value = list(file.items())[-1]
    assert file.at_or_after(last) == (last, value)
    assert file.at_or_after(last + b"0") is None


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: whole[:400],
        lambda whole: whole[:-8] + bytes(8),
        lambda whole: whole[:-9] + whole[-8:],
        lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]),
        lambda whole: whole[:-12] + bytes([whole[-12] ^ 1]) + whole[-11:],
    ],
    ids=["less than a page", "no page size", "one byte less", "another sum of sums", "another sum"],
)
def test_a_store_with_a_wrong_seal_is_damaged(change: Callable[[bytes], bytes], good: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(change(good.read_bytes()))
    with pytest.raises(StoreDamaged, match="the file is cut short, or its seal is broken"):
        Store(tmp_path / "s")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([(b"\1abcd", b"")], "it has no manifest, or one that is too long"),
        ([(b"manifesto", b"{}")], "it has no manifest, or one that is too long"),
        ([(MANIFEST_KEY, b" " * (1 << 20))], "it has no manifest, or one that is too long"),
        ([(b"\1abc", b""), (MANIFEST_KEY, None)], "it has a record with the key 01616263"),
        ([(b"\1abcd", b"abc"), (MANIFEST_KEY, None)], "record 0161626364: Error -3 "),
        ([(b"\1abcd", zlib.compress(b"abc")), (MANIFEST_KEY, None)], "record 0161626364 has a wrong length"),
        ([(b"\1abcd", zlib.compress(bytes(4 + 5 + 1))), (MANIFEST_KEY, None)], "record 0161626364 has a wrong length"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said(
    entries: list[tuple[bytes, bytes | None]], said: str, store3: Path, tmp_path: Path
) -> None:
    """None stands for a manifest that is right."""
    with Store(store3) as store:
        right = store.manifest.to_json()
    found = [(key, with_checksum(key, right if value is None else value)) for key, value in entries]
    (tmp_path / "made").write_bytes(made(tmp_path / "s", found))
    with pytest.raises(StoreDamaged, match=said), Store(tmp_path / "made") as store:
        list(store.pages())


def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.ttt4")
    for path in (str(tmp_path / "s.ttt4"), "/dev/zero", "/dev/null"):
        with pytest.raises(StoreDamaged):
            Store(path)


def test_a_store_that_is_cut_while_it_is_open_is_damaged(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(good.read_bytes())
    with Store(path) as store:
        os.truncate(path, 3 * PAGE)
        with pytest.raises(StoreDamaged):
            list(store.pages())


def test_stores_that_are_dropped_keep_no_file_open(good: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        Scores(Store(good)).score(Position(GAME))
    assert len(os.listdir("/proc/self/fd")) <= before + 1
