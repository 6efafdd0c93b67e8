"""Datasets: every position of a game that is not over, with the score of every move, in one file for other programs.

There is one row for all positions that are equal by symmetry. The columns:

    x, o     the cells of each side, as masks: bit 0 is the first cell of the first row
    ply      the number of stones; X is to move if it is even
    orbit    how many positions the row stands for, itself included
    score    the score for the side to move: cells + 1 - stones at the end, negated for a loss, 0 for a draw
    scores   the score of claiming each cell, for the side that does; -128 on taken cells

In Parquet each cell has a column of its own, `score_a1` and so on, which is null where the cell is taken. The game's
name is `game` in an .npz file, and in the metadata of a Parquet file.
"""

import io
from typing import Any

import numpy as np

from solver.arrays.kernels import ABSENT
from solver.arrays.positions import Positions
from solver.errors import Ttt4Error

FORMATS = (".npz", ".parquet")


class DatasetError(Ttt4Error):
    """A dataset that cannot be written."""

    kind = "bad-dataset"
    exit_code = 2


def require_format(path: str) -> None:
    """Raise DatasetError unless a file's name says how to write it, and what that takes is installed."""
    if not path.endswith(FORMATS):
        raise DatasetError(f"cannot write {path!r}: name a file that ends in {' or '.join(FORMATS)}")
    if path.endswith(".parquet"):
        _pyarrow()


def as_dataset(path: str, positions: Positions) -> bytes:
    """Return the content of a dataset, in the format that the end of its file's name says."""
    require_format(path)
    columns: dict[str, np.ndarray] = {
        "x": positions.x.astype(np.uint32),
        "o": positions.o.astype(np.uint32),
        "ply": positions.ply.astype(np.uint8),
        "orbit": positions.orbit.astype(np.uint16),
        "score": positions.score,
    }
    return _as_npz(positions, columns) if path.endswith(".npz") else _as_parquet(positions, columns)


def _as_npz(positions: Positions, columns: dict[str, np.ndarray]) -> bytes:
    by_cell = np.asfortranarray(positions.scores)  # cell after cell, which takes less than half the space
    file = io.BytesIO()
    arrays: dict[str, Any] = {"game": np.array(positions.game.name), **columns, "scores": by_cell}
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _as_parquet(positions: Positions, columns: dict[str, np.ndarray]) -> bytes:
    pyarrow, parquet = _pyarrow()
    table: dict[str, Any] = dict(columns)
    for cell in range(positions.game.cells):
        scores = positions.scores[:, cell]
        table[f"score_{positions.game.cell_name(cell)}"] = pyarrow.array(scores, mask=scores == ABSENT)
    file = io.BytesIO()
    described = pyarrow.table(table).replace_schema_metadata({"game": positions.game.name})
    parquet.write_table(described, file, compression="zstd")
    return file.getvalue()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DatasetError("Parquet needs pyarrow: pip install 'ttt4[parquet]', or write an .npz file") from None
    return pyarrow, parquet
