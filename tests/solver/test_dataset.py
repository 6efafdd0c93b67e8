"""Datasets: every row, score and column is as documented, in both formats, and what cannot be written is refused."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest

from solver.arrays.dataset import as_dataset
from solver.arrays.positions import Positions
from solver.cli.main import main

pytestmark = pytest.mark.usefixtures("nowhere")


@pytest.fixture
def dataset(run: Any, tmp_path: Path) -> Callable[..., Any]:
    """Run the command on a game: what it said, and the file."""

    def running(game: str, store: object, name: str = "d.npz", *more: str) -> Any:
        return run(main, "dataset", "--game", game, "--store", store, "--out", tmp_path / name, *more)

    return running


def npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return dict(arrays)


def test_the_columns_are_the_arrays_of_all_positions_and_json_tells_the_facts(
    dataset: Any, store3: Path, tmp_path: Path
) -> None:
    path = tmp_path / "d.npz"
    path.write_bytes(b"something else, and longer than a dataset" * 9999)
    ran = dataset("3,3,3", store3, "d.npz", "--json", "--force")
    assert (ran.code, ran.err) == (0, "")
    facts = {"game": "3,3,3", "rows": 627, "positions": 4520, "file": str(path), "bytes": path.stat().st_size}
    assert json.loads(ran.out) == facts
    columns = npz(path)
    assert {name: str(array.dtype) for name, array in columns.items()} == {
        "game": "<U5", "x": "uint32", "o": "uint32", "ply": "uint8", "orbit": "uint16", "score": "int8",
        "scores": "int8",
    }  # fmt: skip
    assert columns.pop("game") == "3,3,3"
    positions = Positions("3,3,3", store3)
    for name, array in columns.items():
        np.testing.assert_array_equal(array, getattr(positions, name), name)


def test_parquet_has_what_npz_has(dataset: Any, store3: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    for name in ("d.npz", "d.parquet"):
        path, ran = tmp_path / name, dataset("3,3,3", store3, name)
        assert ran.out == f"{path}: 627 rows for 4,520 positions of 3,3,3 ({path.stat().st_size:,} bytes)\n"
    columns, table = npz(tmp_path / "d.npz"), parquet.read_table(tmp_path / "d.parquet")
    cells = [f"{column}{row}" for row in "123" for column in "abc"]
    names = ["x", "o", "ply", "orbit", "score"]
    assert table.column_names == [*names, *(f"score_{cell}" for cell in cells)]
    assert table.schema.metadata[b"game"] == b"3,3,3" == str(columns["game"]).encode()
    for name in names:
        assert str(table.schema.field(name).type) == str(columns[name].dtype)
        assert (table[name].to_numpy() == columns[name]).all()
    for number, cell in enumerate(cells):
        scores, taken = table[f"score_{cell}"], (columns["x"] | columns["o"]) >> number & 1 == 1
        assert (scores.is_null().to_numpy() == taken).all()
        assert (columns["scores"][:, number] == -128).tolist() == taken.tolist()
        assert (scores.fill_null(-128).to_numpy() == columns["scores"][:, number]).all()


def test_a_row_may_stand_for_hundreds_of_positions(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "data" / "games" / "affine3.toml"
    rules, positions = naive.Game.described(path.read_text()), Positions(str(path))
    (tmp_path / "d.npz").write_bytes(as_dataset("d.npz", positions))
    orbits = npz(tmp_path / "d.npz")["orbit"]
    assert orbits.max() > 255
    assert orbits.sum() == len(naive.open_boards(rules))


NO_FORMAT = ["d.csv", "d", "d.NPZ", "d.npz.gz", "d.parquet "]


@pytest.mark.parametrize(
    ("name", "game", "store", "code", "said"),
    [
        *((name, "3,3,3", "good", 2, f"/{name}': name a file that ends in .npz or .parquet") for name in NO_FORMAT),
        ("d.npz", "3,3,3", "none", 3, "no store at"),
        ("d.npz", "3,4,3", "good", 3, "3,3,3"),
        ("d.npz", "3,3,3", "damaged", 4, "damaged"),
        ("d.npz", "duel,3,3", "good", 2, "duel"),
        ("d.npz", "5,5,5", "good", 1, "5,263,083,811 positions"),
        ("file/d.npz", "3,3,3", "good", 1, "cannot write"),
        ("d.parquet", "3,3,3", "none", 2, "pyarrow"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line_that_leaves_no_file(
    name: str, game: str, store: str, code: int, said: str, dataset: Any, store3: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """What is wrong with the file is said before a store is looked for."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "file").touch()
    (tmp_path / "damaged").write_bytes(store3.read_bytes()[:-5000])
    there = sorted(tmp_path.iterdir())
    ran = dataset(game, store3 if store == "good" else tmp_path / store, name)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert ran.err.startswith("Error: ")
    assert said in ran.err
    assert sorted(tmp_path.iterdir()) == there


def test_without_a_store_that_is_named_the_usual_one_has_to_be_there(run: Any, tmp_path: Path) -> None:
    assert run(main, "dataset", "--game", "3,3,3", "--out", tmp_path / "d.npz").code == 3
