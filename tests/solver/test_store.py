"""The store's format and its promises, with no fault in sight; test_faults.py has those."""

import json
import random
import zlib
from math import comb
from pathlib import Path
from typing import Any

import lmdb
import pytest
from stores import Decoded, rewrite_manifest, seal_anew

from solver.advice import with_advice
from solver.cli.main import main
from solver.errors import StoreError, StoreMismatch, StoreMissing
from solver.games.lines import Game, grid
from solver.games.position import Position
from solver.index.places import Half, Index, page_size
from solver.index.symmetry import symmetries
from solver.proof.build import build_store
from solver.store.digests import content_digest
from solver.store.manifest import Manifest, Ply, digest_of_layers
from solver.store.record import new_digest, pack, record_key, unpack
from solver.store.scores import Scores
from solver.store.store import Store
from solver.store.writer import StoreWriter

THREE = grid(3, 3, 3)


class DecodedLines(Decoded):
    """A store of a game of lines."""

    def page_size(self, empty: int) -> int:
        assert (self.cells - empty) % 2 == 0, "X is to move"
        os = (self.cells - empty) // 2
        return comb(empty + os, os)


def test_the_file_decodes_by_its_documentation_alone_to_the_same_pages(store4: Path) -> None:
    decoded = DecodedLines(store4)
    assert len(decoded.pages) == len({half for _, half in decoded.pages})
    with Store(store4) as store:
        assert {(empty, half): page.tolist() for empty, half, page in store.pages()} == decoded.pages


def test_a_file_is_sealed_as_its_documentation_says(tmp_path: Path, store4: Path) -> None:
    (tmp_path / "s").write_bytes(store4.read_bytes())
    seal_anew(tmp_path / "s")
    assert (tmp_path / "s").read_bytes() == store4.read_bytes()


def test_a_store_opened_twice_in_one_process_closes_independently(store3: Path) -> None:
    first, second = Store(store3), Store(store3)
    first.close()
    first.close()
    with pytest.raises(StoreError, match="closed"):
        list(first.records())
    assert Scores(second).score(Position(THREE)) == 0
    with Store(store3) as third:
        second.close()
        assert len(list(third.records())) > 0


def test_an_open_store_survives_a_rebuild_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "s"
    build_store(THREE, path, jobs=1)
    with Store(path) as old:
        build_store(THREE, path, jobs=1)
        with Store(path) as new:
            assert list(old.records()) == list(new.records())


@pytest.mark.parametrize("rest", ["the same", "nothing"])
def test_a_newer_format_is_a_mismatch(rest: str, tmp_path: Path, store3: Path) -> None:
    (tmp_path / "s").write_bytes(store3.read_bytes())
    rewrite_manifest(tmp_path / "s", lambda fields: (rest == "nothing" and fields.clear(), fields.update(format=99)))
    with pytest.raises(StoreMismatch, match="99"):
        Store(tmp_path / "s", THREE)


def test_no_file_is_a_missing_store(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing) as refusal:
        Store(tmp_path / "none")
    assert str(refusal.value) == f"no store at {str(tmp_path / 'none')!r}"
    assert with_advice(refusal.value).endswith(f"; build it: ttt4-solve build --store {tmp_path / 'none'}")


def test_a_4x4_store_takes_at_most_300_kilobytes(store4: Path) -> None:
    assert store4.stat().st_size <= 300 * 1024


def test_a_build_on_an_existing_store_does_nothing_and_says_so(store3: Path, run: Any) -> None:
    before = store3.stat()
    ran = run(main, "build", "--game", "3,3,3", "--store", store3)
    assert (ran.code, ran.err) == (0, "")
    assert "already" in ran.out
    assert "--force" in ran.out
    assert store3.stat() == before


@pytest.mark.parametrize("kept", [0, 0.3, 0.9, 1])
def test_force_rebuilds_a_store_and_a_damaged_one(tmp_path: Path, store3: Path, run: Any, kept: float) -> None:
    path, whole = tmp_path / "s", store3.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    assert run(main, "build", "--game", "3,3,3", "--store", path).code == (0 if kept == 1 else 4)
    assert run(main, "build", "--game", "3,3,3", "--store", path, "--force").code == 0
    with Store(path, THREE) as built, Store(store3) as store:
        assert list(built.records()) == list(store.records())
    assert list(tmp_path.glob("s*")) == [path]


@pytest.mark.parametrize("forced", [[], ["--force"]])
@pytest.mark.parametrize("kind", ["a diary", "zeros", "a database", "another game's store"])
def test_a_build_overwrites_nothing_but_a_store_of_its_game(
    tmp_path: Path, store4: Path, run: Any, kind: str, forced: list[str]
) -> None:
    path = tmp_path / "s"
    if kind == "a database":
        with lmdb.open(str(path), subdir=False, lock=False) as file, file.begin(write=True) as writing:
            writing.put(b"mine", b"and mine alone")
    else:
        there = {"a diary": b"dear diary\n" * 999, "zeros": bytes(1 << 16), "another game's store": store4.read_bytes()}
        path.write_bytes(there[kind])
    before = path.read_bytes()
    ran = run(main, "build", "--game", "3,3,3", "--store", path, *forced)
    assert ran.code in ((1,) if forced else (3, 4))
    assert ran.err.startswith("Error: ")
    assert ("delete it first" in ran.err) == bool(forced)
    assert "--force" not in ran.err
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_meaningless_values_read_back_as_written(tmp_path: Path) -> None:
    game, group, path = grid(3, 4, 3), symmetries(grid(3, 4, 3)), tmp_path / "s"
    index, rng = Index(game, group), random.Random(5)
    wanted: dict[tuple[int, int], bytes] = {}
    layers = []
    with StoreWriter(path) as writer:
        for empty in range(0, game.cells + 1, 2):
            layer = new_digest()
            xs = (game.cells - empty + 1) // 2
            halves = [x for x in range(1 << game.cells) if x.bit_count() == xs and index.locate(x, 0)[0] == x]
            for start in range(0, len(halves), 7):
                held = halves[start : start + 7]
                pages = [rng.randbytes(page_size(game, empty)) for _ in held]
                wanted.update(((empty, half), page) for half, page in zip(held, pages, strict=True))
                record = pack(empty, held, b"".join(pages))
                writer.put(record.key, record.value)
                layer.update(record.digests)
            layers.append(layer.digest())
        manifest = Manifest(game, group, 3, (Ply(0, 1, 1, 1, 0, 0, 0),), digest_of_layers(layers))
        writer.finish(manifest)
    with Store(path, game) as store:
        assert store.manifest == manifest
        assert content_digest(store) == manifest.digest
        scores = Scores(store)
        for (_, half), page in rng.sample(sorted(wanted.items()), len(wanted)):
            assert bytes(scores.page(half)) == page
    assert list(tmp_path.iterdir()) == [path]


def test_records_out_of_order_and_unfinished_stores_leave_nothing(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s") as writer:
        writer.put(b"\3....", b"")
        with pytest.raises(AssertionError, match="order"):
            writer.put(b"\2....", b"")
    assert list(tmp_path.iterdir()) == []
    with StoreWriter(tmp_path / "s") as writer:
        writer.put(b"\3....", b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("holes", [0, 0b10010])
def test_a_manifest_gives_back_its_game_holes_and_all_but_not_what_was_typed_for_it(holes: int) -> None:
    game = Game("odd", 2, 4, (0b11, 0b101), holes=holes, notation="somewhere/odd.toml")
    manifest = Manifest(game, (tuple(range(game.cells)),), 0, (), "d1" * 32)
    written = json.loads(manifest.to_json())["game"]
    assert ("holes" in written, "notation" in written) == (bool(holes), False)
    again = Manifest.from_json(manifest.to_json())
    assert again == manifest
    assert again.game.notation == "odd"


def test_a_half_with_cell_32_keeps_its_place_in_key_and_record() -> None:
    for halves in ([0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], [1 << 27, 1 << 28, 1 << 31]):
        record = pack(30, [Half(half) for half in halves], bytes(range(6)))
        assert record.key == bytes([30]) + halves[-1].to_bytes(4, "big")
        assert [half for half, _ in unpack(record.key, record.value, 2)] == halves
        keys = [record_key(30, Half(half)) for half in halves]
        assert keys == sorted(keys)


@pytest.mark.parametrize("far", [1 << 10, pytest.param((1 << 24) + 5, marks=pytest.mark.slow)])
def test_pages_beyond_a_hole_and_beyond_64_gigabytes_are_found(far: int, tmp_path: Path, store3: Path) -> None:
    path = tmp_path / "far.ttt4"
    with lmdb.open(str(store3), subdir=False, readonly=True, lock=False) as file:
        size, count = file.stat()["psize"], file.info()["last_pgno"] + 1
    pages = [store3.read_bytes()[at * size : (at + 1) * size] for at in range(count)]
    newest = max(range(2), key=lambda meta: int.from_bytes(pages[meta][144:152], "little"))
    root = int.from_bytes(pages[newest][128:136], "little")
    pages[newest] = pages[newest][:128] + far.to_bytes(8, "little") + pages[newest][136:]
    sums = [zlib.crc32(page).to_bytes(4, "big") for page in (*pages, bytes(size), pages[root])]
    seal = b"".join(sums[:count]) + sums[count] * (far - count) + sums[-1] + size.to_bytes(4, "big")
    with open(path, "wb") as file:
        file.write(b"".join(pages))
        file.seek(far * size)
        file.write(pages[root] + seal + zlib.crc32(seal).to_bytes(4, "big"))
    with Store(store3) as near, Store(path) as other:
        assert other.manifest == near.manifest
        assert list(other.records()) == list(near.records())


def test_a_manifest_may_name_a_board_of_32_cells_and_none_of_33(store3: Path) -> None:
    with Store(store3) as store:
        manifest = store.manifest
    games = grid(4, 8, 3), grid(3, 11, 3)
    fits, large = (manifest._replace(game=each, symmetries=(tuple(range(each.cells)),)).to_json() for each in games)
    assert Manifest.from_json(fits).game == games[0]
    with pytest.raises(ValueError, match="no size that a store can have"):
        Manifest.from_json(large)


@pytest.mark.parametrize("wrong", [{"name": 7}, {"name": "x" * 81}, {"name": None}, {"misere": 1}, {"misere": None}])
def test_a_manifest_without_a_name_or_rules_of_its_game_is_refused(wrong: dict[str, Any], store3: Path) -> None:
    with Store(store3) as store:
        fields = json.loads(store.manifest.to_json())
    fields["game"]["name"] = "x" * 80
    assert Manifest.from_json(json.dumps(fields).encode()).game.name == "x" * 80
    fields["game"] |= wrong
    with pytest.raises(ValueError, match=r"^its game has no name$"):
        Manifest.from_json(json.dumps(fields).encode())


def test_a_position_of_another_game_is_not_answered(store4: Path) -> None:
    with Store(store4) as store, pytest.raises(StoreMismatch, match="'4,4,3'"):
        Scores(store).score(Position(grid(4, 4, 3)))
