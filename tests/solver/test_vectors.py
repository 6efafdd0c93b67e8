"""Vectors: each operation does in every lane what numpy does, and pages are the same without fast permutations."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from solver.games.notation import parse_game
from solver.index.symmetry import symmetries
from solver.kernels import vectors
from solver.kernels.bits import WIDTH, carried, fill_table, permuting
from solver.kernels.jit import jit
from solver.kernels.vectors import (
    LANES,
    chosen,
    equal,
    filled,
    larger,
    load,
    looked_up,
    negated,
    permuted,
    smaller,
    store,
    united,
)  # fmt: skip
from solver.sweep.halves import all_halves, kernel_game
from solver.sweep.layers import sweep
from solver.sweep.pages import SPARE, empty_pages

MARK = 77  # no score
GAMES = ["1,1,1", "3,4,3,misere", "2,5,2", "4,4,4", "4,4,3,misere"]


@jit("void(int8[::1], int64, int8[::1], int64, int8[::1])")
def every_operation(one, at, other, number, found):
    """Apply each operation once; the words of `equal` go where the last lanes are."""
    a, b = load(one, at), load(other, 0)
    store(found, 0 * LANES, chosen(number, a, b))
    store(found, 1 * LANES, smaller(a, b))
    store(found, 2 * LANES, larger(a, b))
    store(found, 3 * LANES, negated(a))
    store(found, 4 * LANES, filled(number))
    store(found, 5 * LANES, united(a, number))
    store(found, 6 * LANES, permuted(a, load(other, LANES)))
    store(found, 7 * LANES, looked_up(one, at, load(other, 2 * LANES)))
    store(found, 8 * LANES, chosen(equal(a, number), filled(1), filled(0)))


def every_operation_by_numpy(one: np.ndarray, at: int, other: np.ndarray, number: int) -> list[np.ndarray]:
    a, b = one[at : at + LANES], other[:LANES]
    byte = np.int64(number).astype(np.int8)
    lanes = np.array([number >> i & 1 for i in range(LANES)], bool)
    return [
        np.where(lanes, a, b), np.minimum(a, b), np.maximum(a, b), -a, np.full(LANES, byte), a | byte,
        a[other[LANES : 2 * LANES]], one[at + other[2 * LANES :].astype(int)], (a == byte).astype(np.int8),
    ]  # fmt: skip


def all_pages(name: str) -> Iterator[np.ndarray]:
    """The pages of a game, as far as they were filled together."""
    game = parse_game(name)
    known = kernel_game(game, symmetries(game))
    for both in sweep(known, all_halves(known)):
        yield from (pages.scores for pages in both if pages)


def digest_of_pages(name: str) -> str:
    return hashlib.sha256(b"".join(scores.tobytes() for scores in all_pages(name))).hexdigest()


def test_each_operation_does_in_every_lane_what_numpy_does() -> None:
    rng = np.random.default_rng(0)
    found = np.zeros((9, LANES), np.int8)
    for _ in range(200):
        at = int(rng.integers(0, 3 * LANES))
        one = rng.integers(-128, 128, at + 2 * LANES).astype(np.int8)
        indexes = rng.integers(0, LANES, LANES), rng.integers(0, 2 * LANES, LANES)
        other = np.concatenate([rng.integers(-128, 128, LANES), *indexes]).astype(np.int8)
        number = int(rng.integers(-1 << 63, (1 << 63) - 1))
        every_operation(one, at, other, number, found.ravel())
        np.testing.assert_array_equal(found, every_operation_by_numpy(one, at, other, number))


@pytest.mark.slow
def test_pages_are_the_same_where_permutations_are_not_fast() -> None:
    code = f"import test_vectors as ours; print(ours.vectors.FAST, *map(ours.digest_of_pages, {GAMES}))"
    env = os.environ | {"NUMBA_CPU_NAME": "generic", "PYTHONPATH": str(Path(__file__).parent)}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", *map(digest_of_pages, GAMES)]


@pytest.mark.parametrize(("features", "has"), [("", False), ("+avx2,+avx512vbmi2", False), ("+avx2,+avx512vbmi", True)])
def test_the_processor_s_features_decide_what_is_fast(
    features: str, has: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vectors._has("avx512vbmi") == vectors.FAST
    monkeypatch.setattr("numba.core.config.CPU_FEATURES", features)
    assert vectors._has("avx512vbmi") == has


def test_permuting_and_looking_up_in_plain_steps_do_what_numpy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "FAST", False)

    @njit("void(int8[::1], int64, int8[::1])")
    def read(table, at, indexes):
        store(indexes, 2 * LANES, permuted(load(table, at), load(indexes, 0)))
        store(indexes, 3 * LANES, looked_up(table, at, load(indexes, LANES)))

    rng = np.random.default_rng(1)
    for at in (0, 1, 77):
        table = rng.integers(-128, 128, at + 2 * LANES).astype(np.int8)
        few, many = rng.integers(0, LANES, LANES), rng.integers(0, 2 * LANES, LANES)
        indexes = np.concatenate([few, many, np.zeros(2 * LANES)]).astype(np.int8)
        read(table, at, indexes)
        assert indexes[2 * LANES :].tolist() == table[at + np.concatenate([few, many])].tolist()


@pytest.mark.parametrize(("count", "size"), [(0, 0), (1, 1), (3, 35), (2, 64), (7, 1000)])
def test_pages_have_bytes_to_spare_behind_their_end(count: int, size: int) -> None:
    pages = empty_pages(count, size)
    assert pages.shape == (count, size)
    assert pages.dtype == np.int8
    assert pages.flags.c_contiguous
    assert len(split_memory(pages)[2]) == SPARE == LANES


def test_filling_writes_nothing_behind_its_own_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.sweep.layers.empty_pages", marked_pages)
    monkeypatch.setattr("solver.sweep.shelf.empty_pages", marked_pages)
    monkeypatch.setattr("solver.sweep.layers.CHUNK_PLACES", 1 << 8)
    chunks = 0
    for scores in all_pages("3,4,3"):
        before, own, behind = split_memory(scores)
        assert not (own == MARK).any()
        assert (behind == MARK).all()  # of the same layer, what is filled later
        assert (before[:SPARE] == MARK).all()
        chunks += len(before) > SPARE
    assert chunks, "some pages stood behind others"


def marked_pages(count: int, size: int) -> np.ndarray:
    """Empty pages full of a number that is no score, with as much of it before and behind them."""
    whole = np.full(2 * SPARE + count * size, MARK, np.int8)
    return whole[SPARE : SPARE + count * size].reshape(count, size)


def split_memory(pages: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The memory before some pages, of the pages, and behind them."""
    whole = pages
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    start = pages.ctypes.data - whole.ctypes.data
    return whole[:start], whole[start : start + pages.size], whole[start + pages.size :]


@jit("int64(int64, uint32[:,:,::1], int64)")
def image_of(mask, tables, table_id):
    return carried(mask, tables, table_id)


@jit("void(int64, int64[::1], uint32[:,:,::1])")
def fill_first(m, moved, tables):
    fill_table(m, moved, tables, 0)


@pytest.mark.parametrize("bits", [1, 7, 8, 27, 28, 29, 31, 32])
def test_tables_permute_sets_of_up_to_32_bits(bits: int) -> None:
    rng = np.random.default_rng(bits)
    moves = [rng.permutation(bits) for _ in range(3)]
    tables = permuting([move.tolist() for move in moves])
    own = np.zeros_like(tables)
    assert tables.shape[2] == WIDTH
    masks = [(1 << bits) - 1, 1 << (bits - 1), 0, *rng.integers(0, 1 << bits, 200).tolist()]
    for i, move in enumerate(moves):
        fill_first(bits, move.astype(np.int64), own)
        for mask in masks:
            expected = sum(1 << int(move[bit]) for bit in range(bits) if mask >> bit & 1)
            assert image_of(mask, tables, i) == image_of(mask, own, 0) == expected


def test_what_answers_queries_loads_neither_vectors_nor_what_packs_records() -> None:
    code = "import sys, oracle, solver.store.store; sys.exit(bool({'zlib_ng', 'numba', 'numpy'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)
