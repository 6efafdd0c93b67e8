"""All positions of a game as arrays: they are those that plain enumeration finds, with the scores of minimax."""

import random
from collections import Counter
from functools import cache
from math import comb
from pathlib import Path

import naive
import numpy as np
import pytest
from stores import rewritten

from solver.arrays.kernels import ABSENT, FULL, LINE, TAKEN, kernel_lines
from solver.arrays.positions import Positions, places
from solver.arrays.walk import walk
from solver.errors import BoardError, GameError, StoreDamaged, StoreMissing, TooLarge
from solver.games.lines import Game, grid
from solver.games.notation import parse_game
from solver.index.places import Index
from solver.index.symmetry import image, symmetries
from solver.proof.build import build_store
from solver.store.store import Store

pytestmark = pytest.mark.usefixtures("nowhere")

FILES = Path(__file__).parents[2] / "data" / "games"
SMALL = ["3,3,3", "3,3,3,misere", "2,5,3", "fano", "cross"]
"""The last two have holes."""


def game_of(name: str) -> Game:
    game = parse_game(str(FILES / f"{name}.toml") if name[0].isalpha() else name)
    assert isinstance(game, Game)
    return game


@cache
def twin(name: str) -> naive.Game:
    return naive.Game.described((FILES / f"{name}.toml").read_text()) if name[0].isalpha() else naive.Game.named(name)


@cache
def positions_of(name: str) -> Positions:
    return Positions(game_of(name))


def boards(name: str) -> list[str]:
    """The board of each row."""
    positions = positions_of(name)
    return [naive.board(twin(name), x, o) for x, o in zip(positions.x.tolist(), positions.o.tolist(), strict=True)]


def counts_by_ply(plies: np.ndarray, weights: np.ndarray | None = None) -> dict[int, int]:
    counts = np.bincount(plies, weights)
    return {ply: int(count) for ply, count in enumerate(counts) if count}


@pytest.mark.parametrize("name", [*SMALL[:4], pytest.param("cross", marks=pytest.mark.slow)])
def test_the_images_of_the_rows_are_all_positions_that_are_not_over_each_of_one_row(name: str) -> None:
    positions, found = positions_of(name), Counter[str]()
    for board, orbit in zip(boards(name), positions.orbit.tolist(), strict=True):
        images = {naive.turned(board, g) for g in positions.group}
        assert orbit == len(images)
        found.update(images)
    assert set(found.values()) == {1}
    assert found.keys() == set(naive.open_boards(twin(name)))
    plies = Counter(map(naive.stones, found))
    assert counts_by_ply(positions.ply, positions.orbit) == plies


@pytest.mark.parametrize("name", SMALL)
def test_rows_are_in_the_order_of_plies_then_of_cells(name: str) -> None:
    positions = positions_of(name)
    rows = list(zip(positions.ply.tolist(), positions.x.tolist(), positions.o.tolist(), strict=True))
    assert rows == sorted(rows)
    assert [ply for ply, _, _ in rows] == [naive.stones(board) for board in boards(name)]
    assert positions.first.tolist() == np.searchsorted(positions.ply, range(len(positions.first))).tolist()
    assert positions.first[-1] == len(positions) <= places(positions.game)
    arrays = (positions.x, positions.ply, positions.orbit, positions.child, positions.scores)
    assert [array.dtype for array in arrays] == [np.int64, np.int8, np.int32, np.int32, np.int8]


@pytest.mark.parametrize("name", [*SMALL, "4,4,4"])
def test_a_child_is_the_canonical_image_of_the_board_after_the_move(name: str) -> None:
    positions, rules = positions_of(name), twin(name)
    index = Index(positions.game, positions.group)
    for row in random.Random(5).sample(range(len(positions)), min(len(positions), 200)):
        x, o = int(positions.x[row]), int(positions.o[row])
        assert index.canonical(x, o)[:2] == (x, o)
        board = naive.board(rules, x, o)
        for cell, child in enumerate(positions.child[row].tolist()):
            assert positions.legal[row, cell] == (board[cell] == ".")
            if board[cell] != ".":
                assert child == TAKEN
                continue
            after = naive.claim(board, cell)
            if naive.completer(rules, after):
                assert child == LINE
            elif "." not in after:
                assert child == FULL
            else:
                assert (positions.x[child], positions.o[child]) == index.canonical(*naive.masks(after))[:2]


@pytest.mark.parametrize("name", [*SMALL[:4], pytest.param("3,4,3", marks=pytest.mark.slow)])
def test_scores_without_a_store_are_those_of_minimax(name: str) -> None:
    positions, rules = positions_of(name), twin(name)
    for board, score, scores in zip(boards(name), positions.score.tolist(), positions.scores.tolist(), strict=True):
        assert score == naive.score(rules, board)
        assert {cell: moved for cell, moved in enumerate(scores) if moved != ABSENT} == naive.move_scores(rules, board)


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere", "fano", pytest.param("4,4,4", marks=pytest.mark.slow)])
def test_scores_are_the_same_with_a_store_as_without(name: str, tmp_path: Path) -> None:
    build_store(game_of(name), tmp_path / "s.ttt4", jobs=2)
    stored, alone = Positions(game_of(name), tmp_path / "s.ttt4"), positions_of(name)
    for field in ("x", "o", "ply", "orbit", "child", "legal", "score", "scores"):
        np.testing.assert_array_equal(getattr(stored, field), getattr(alone, field), field)


def test_4x4_has_286602_rows_for_9062619_positions_as_published_and_as_the_store_counts_them(store4: Path) -> None:
    positions = positions_of("4,4,4")
    assert len(positions) == 286_602
    assert positions.orbit.sum() == 9_062_619
    reached = counts_by_ply(positions.ply, positions.orbit)
    rows = counts_by_ply(positions.ply)
    with Store(store4) as store:
        for ply in store.manifest.plies:
            assert rows.get(ply.ply, 0) == ply.canonical - ply.over
            assert reached.get(ply.ply, 0) <= ply.reachable
            if not ply.over:
                assert reached[ply.ply] == ply.reachable
            if ply.ply < 16:  # who completes a line has won, so positions that are over are lost
                scores = positions.score[positions.ply == ply.ply]
                found = [(scores > 0).sum(), (scores == 0).sum(), (scores < 0).sum()]
                assert found == [ply.wins, ply.draws, ply.losses - ply.over]


@pytest.mark.parametrize("name", [*SMALL, "4,4,4"])
def test_every_image_of_a_position_is_found_in_its_row(name: str) -> None:
    positions, rng = positions_of(name), random.Random(7)
    rows = [rng.randrange(len(positions)) for _ in range(500)]
    turns = [rng.choice(positions.group) for _ in rows]
    x, o = (np.array(list(map(image, turns, cells[rows].tolist()))) for cells in (positions.x, positions.o))
    found, symmetry_ids = positions.rows(x, o)
    assert found.tolist() == rows
    back = [positions.group[symmetry_id] for symmetry_id in symmetry_ids]
    for turned, cells in ((x, positions.x), (o, positions.o)):
        assert list(map(image, back, turned.tolist())) == cells[rows].tolist()
    assert positions.score_of(x, o).tolist() == positions.score[rows].tolist()


def test_rows_are_found_of_exactly_the_positions_that_are_not_over() -> None:
    positions, rules = positions_of("3,3,3"), twin("3,3,3")
    known = set(naive.open_boards(rules))
    for x in range(-1, 1 << 9):
        others = random.Random(x).sample(range(-1, 513), 12)
        for o in others:
            inside = x >= 0 and 0 <= o < 512 and not x & o
            if inside and naive.board(rules, x, o) in known:
                positions.rows(np.array([x]), np.array([o]))
                continue
            with pytest.raises(BoardError, match="is over, or no game reaches it"):
                positions.rows(np.array([0, x]), np.array([0, o]))


def test_a_refused_row_is_shown_and_arrays_that_are_no_masks_are_refused() -> None:
    positions = positions_of("3,3,3")
    with pytest.raises(BoardError, match=r"^x=0x7, o=0x18 is over, or no game reaches it$"):
        positions.rows(np.array([0, 7, 3]), np.array([0, 24, 0]))
    for x, o in ([0.0], [0]), ([[0]], [[0]]), ([0, 0], [0]), ([False], [False]), (0, 0), (["0"], ["0"]):
        with pytest.raises(BoardError):
            positions.rows(np.array(x), np.array(o))
    rows, symmetry_ids = positions.rows(np.array([]), np.array([]))
    assert len(rows) == len(symmetry_ids) == 0


@pytest.mark.parametrize("name", ["5,5,5", "4,5,4", "2,9,3", "6,6,4", "4,8,4", "3,11,4"])
def test_a_game_with_too_many_positions_is_refused_at_once(name: str) -> None:
    with pytest.raises(TooLarge, match=f"^{name} has .* positions"):
        Positions(name)


def test_positions_are_bounded_by_the_ways_to_place_os_beside_canonical_xs_and_a_walk_stops_at_its_bound() -> None:
    game, group = game_of("3,3,3"), naive.geometric(twin("3,3,3"))
    assert places(game) == sum(naive.orbits(group, x, 0) * comb(9 - x, o) for x in range(6) for o in {x - 1, x} - {-1})
    lines = kernel_lines(game, symmetries(game))
    assert len(walk(lines, 627).x) == 627
    with pytest.raises(TooLarge):
        walk(lines, 626)


def test_a_store_whose_scores_do_not_follow_from_each_other_is_damaged(store3: Path, tmp_path: Path) -> None:
    def alter(empty: int, half: int, page: bytearray) -> None:
        if empty == 5 and not altered:
            altered.append(half)
            page[:] = [3 if score != 0x80 else score for score in page]

    altered: list[int] = []
    rewritten(tmp_path / "s.ttt4", store3, alter)
    with pytest.raises(StoreDamaged, match="has its score"):
        _ = Positions("3,3,3", tmp_path / "s.ttt4").score


def test_the_duel_has_no_lines() -> None:
    with pytest.raises(GameError):
        Positions("duel,3,3")


def test_a_store_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        _ = Positions("3,3,3", tmp_path / "none.ttt4").score
    assert Positions("3,3,3", tmp_path / "none.ttt4", live=True).score[0] == 0  # then none is read


@pytest.mark.parametrize("cells", [27, 28, 31, 32])
def test_a_walk_on_the_last_cells_of_a_large_board_meets_what_games_on_these_cells_meet(cells: int) -> None:
    game, last = grid(1, cells, 3), range(cells - 5, cells)

    def on_the_last(ply: int, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        return np.tile(np.isin(np.arange(cells), last), (len(x), 1))

    met = walk(kernel_lines(game), 1000, on_the_last)
    small = naive.Game(1, 5, 3)
    boards = {board for board in naive.reachable(small) if naive.completer(small, board) is None}
    rows = list(zip(met.x.tolist(), met.o.tolist(), strict=True))
    assert sorted(rows) == sorted(naive.masks("." * (cells - 5) + board) for board in boards)
    for row, (x, o) in enumerate(rows):
        for cell in last:
            child = met.child[row, cell]
            if child >= 0:
                x_after, o_after, _ = game.after(x, o, cell)
                assert rows[child] == (x_after, o_after)
