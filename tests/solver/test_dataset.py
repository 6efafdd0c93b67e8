"""Datasets: every row, score and column is as documented, in both formats, and what cannot be written is refused."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest

from solver.arrays.dataset import write_dataset
from solver.arrays.positions import Positions
from solver.cli.main import main
from solver.store.scores import Scores
from solver.store.store import Store

Run = Callable[..., Any]
NPZ_4X4 = 1_000_000
"""A dataset of 4x4 has no more bytes."""


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where no store is found."""
    monkeypatch.delenv("TTT4_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def dataset(run: Run, tmp_path: Path) -> Callable[..., Any]:
    """Run the command on a game: what it said, and the file."""

    def running(game: str, store: object, name: str = "d.npz", *more: str) -> Any:
        return run(main, "dataset", "--game", game, "--store", store, "--out", tmp_path / name, *more)

    return running


def npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return dict(arrays)


def test_a_row_says_what_minimax_says_of_its_position(dataset: Any, store3: Path, tmp_path: Path) -> None:
    rules, found = naive.Game(3, 3, 3), Counter[str]()
    ran = dataset("3,3,3", store3)
    assert (ran.code, ran.err) == (0, "")
    columns = npz(tmp_path / "d.npz")
    assert {name: str(array.dtype) for name, array in columns.items()} == {
        "game": "<U5", "x": "uint32", "o": "uint32", "ply": "uint8", "orbit": "uint16", "score": "int8",
        "scores": "int8",
    }  # fmt: skip
    assert columns.pop("game") == "3,3,3"
    for x, o, ply, orbit, score, scores in zip(*(array.tolist() for array in columns.values()), strict=True):
        board = naive.board(rules, x, o)
        assert naive.stones(board) == ply
        images = {naive.turned(board, g) for g in naive.geometric(rules)}
        assert orbit == len(images)
        found.update(images)
        assert score == naive.score(rules, board)
        moves = naive.move_scores(rules, board)
        assert scores == [moves.get(cell, -128) for cell in range(9)]
    assert found == Counter(naive.open_boards(rules))


@pytest.mark.slow
def test_the_dataset_of_4x4_is_its_store(dataset: Any, store4: Path, tmp_path: Path) -> None:
    ran = dataset("4,4,4", store4)
    path = tmp_path / "d.npz"
    assert ran.out == f"{path}: 286,602 rows for 9,062,619 positions of 4,4,4 ({path.stat().st_size:,} bytes)\n"
    assert path.stat().st_size <= NPZ_4X4
    columns = npz(path)
    with Store(store4) as store:
        for ply in store.manifest.plies:
            assert (columns["ply"] == ply.ply).sum() == ply.canonical - ply.over
        scores, game = Scores(store), store.game
        for row in np.random.default_rng(1).integers(len(columns["x"]), size=300).tolist():
            position = game.at(int(columns["x"][row]), int(columns["o"][row]))
            assert columns["score"][row] == scores.score(position)
            moves = {cell: -scores.score(position.play(cell)) for cell in position.legal}
            assert columns["scores"][row].tolist() == [moves.get(cell, -128) for cell in range(16)]


@pytest.mark.parametrize("game", ["3,3,3", pytest.param("4,4,4", marks=pytest.mark.slow)])
def test_parquet_has_what_npz_has(game: str, dataset: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    store = request.getfixturevalue(f"store{game[0]}")
    for name in ("d.npz", "d.parquet"):
        assert dataset(game, store, name).code == 0
    columns, table = npz(tmp_path / "d.npz"), parquet.read_table(tmp_path / "d.parquet")
    rows = int(game[0])
    cells = [f"{'abcd'[column]}{row + 1}" for row in range(rows) for column in range(rows)]
    names = ["x", "o", "ply", "orbit", "score"]
    assert table.column_names == [*names, *(f"score_{cell}" for cell in cells)]
    assert table.schema.metadata[b"game"] == game.encode() == str(columns["game"]).encode()
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
    write_dataset(str(tmp_path / "d.npz"), positions)
    orbits = npz(tmp_path / "d.npz")["orbit"]
    assert orbits.max() > 255
    assert orbits.sum() == len(naive.open_boards(rules))


def test_json_tells_the_same_facts(dataset: Any, store3: Path, tmp_path: Path) -> None:
    ran = dataset("3,3,3", store3, "d.npz", "--json")
    path = tmp_path / "d.npz"
    facts = {"game": "3,3,3", "rows": 627, "positions": 4520, "file": str(path), "bytes": path.stat().st_size}
    assert json.loads(ran.out) == facts


def refused(ran: Any, code: int, folder: Path) -> str:
    """The one line that a command says on stderr when it is refused, with no file left behind."""
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("Error: ")
    assert "Traceback" not in ran.err
    assert not [path for path in folder.iterdir() if path.name.startswith("d")]
    return str(ran.err)


@pytest.mark.parametrize("name", ["d.csv", "d", "d.NPZ", "d.npz.gz", "d.parquet "])
def test_a_file_whose_name_is_of_no_format_is_refused(name: str, dataset: Any, store3: Path, tmp_path: Path) -> None:
    said = refused(dataset("3,3,3", store3, name), 2, tmp_path)
    assert repr(str(tmp_path / name)) in said
    assert ".npz or .parquet" in said


def test_parquet_without_pyarrow_is_refused_before_any_work(
    dataset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pyarrow" in refused(dataset("3,3,3", "no store", "d.parquet"), 2, tmp_path)


def test_a_store_that_is_missing_has_exit_code_3(dataset: Any, run: Run, tmp_path: Path) -> None:
    refused(dataset("3,3,3", tmp_path / "none.ttt4"), 3, tmp_path)
    refused(run(main, "dataset", "--game", "3,3,3", "--out", tmp_path / "d.npz"), 3, tmp_path)


def test_a_store_of_another_game_has_exit_code_3_and_a_damaged_one_4(
    dataset: Any, store3: Path, tmp_path: Path
) -> None:
    refused(dataset("3,4,3", store3), 3, tmp_path)
    (tmp_path / "s.ttt4").write_bytes(store3.read_bytes()[:-5000])
    refused(dataset("3,3,3", tmp_path / "s.ttt4"), 4, tmp_path)


def test_the_duel_and_games_with_too_many_positions_are_refused(dataset: Any, store3: Path, tmp_path: Path) -> None:
    refused(dataset("duel,3,3", store3), 2, tmp_path)
    assert "5,263,083,811 positions" in refused(dataset("5,5,5", store3), 1, tmp_path)


def test_a_file_that_cannot_be_written_is_refused(dataset: Any, store3: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot write" in refused(dataset("3,3,3", store3, "file/d.npz"), 2, tmp_path)


def test_a_dataset_is_replaced_whole(dataset: Any, store3: Path, tmp_path: Path) -> None:
    (tmp_path / "d.npz").write_bytes(b"something else, and longer than a dataset" * 9999)
    assert dataset("3,3,3", store3).code == 0
    assert npz(tmp_path / "d.npz")["x"].shape == (627,)
