"""Three ways to solve a game, and they agree: the sweep, alpha-beta, and minimax as naive as it gets."""

import math
import random
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import position_at
from queens import queens
from whole import whole

from solver.errors import SolversDisagree
from solver.games.notation import parse_game
from solver.games.position import Position, is_reachable
from solver.index.places import UNREACHED
from solver.index.symmetry import symmetries
from solver.proof.build import build_store
from solver.proof.check import check_all, check_sample
from solver.proof.plan import Holder
from solver.proof.verify import verify_store
from solver.scratch.folder import LocalFolder
from solver.search.alphabeta import AlphaBeta
from solver.search.live import Search
from solver.store.digests import content_digest
from solver.store.scores import Scores
from solver.store.store import Store
from solver.sweep.layers import Filled, Layer

BOTH = ["3,3,3", "3,4,3", "4,4,3", "4,4,4"]
TINY = [f"{m},{n},{k}" for m, n in product(range(1, 9), repeat=2) if m * n <= 8 for k in range(1, max(m, n) + 1)]
UP_TO_TWELVE = [
    f"{m},{n},{k}" for m, n in product(range(1, 13), repeat=2) if m * n <= 12 for k in range(1, max(m, n) + 1)
]  # fmt: skip
ODD = ["5,2,2", "1,8,3", "2,6,2", "1,10,4", "5,2,3", "2,5,5", "3,3,1", "3,3,2", "1,11,3"]


def assert_every_place_is_minimax(game: Any) -> None:
    """Each place of each page holds minimax's score, or the mark that no game reaches it."""
    rules = naive.Game.named(game.game.name)
    reachable = naive.reachable(rules)
    for (empty, half), page in game.page.items():
        for place, score in enumerate(page.tolist()):
            board = naive.board(rules, *position_at(game.game, empty, half, place))
            expected = naive.score(rules, board) if board in reachable else UNREACHED
            assert score == expected, board
    for board in reachable:
        if naive.completer(rules, board) != "X":
            half = game.index.locate(*naive.masks(board))[0]
            assert (board.count("."), half) in game.page, board


@pytest.mark.parametrize("suffix", ["", ",misere"])
@pytest.mark.parametrize("name", BOTH)
def test_both_solvers_agree_on_every_place(solved: Callable[..., Any], name: str, suffix: str) -> None:
    game = solved(name + suffix)
    places = sum(pages.scores.size for pages in game.filled)
    assert game.summary.checked == places > 0
    assert game.summary.abandoned == 0
    assert game.summary.nodes > 0


@pytest.mark.parametrize("suffix", ["", ",misere"])
@pytest.mark.parametrize("name", UP_TO_TWELVE)
def test_both_solvers_agree_on_every_place_of_every_board_of_up_to_12_cells(name: str, suffix: str) -> None:
    game = parse_game(name + suffix)
    layers, summary = whole(game, symmetries(game), places_of)
    assert summary.checked == sum(map(sum, layers)) > 0
    assert summary.abandoned == 0


@pytest.mark.parametrize("suffix", ["", ",misere"])
@pytest.mark.parametrize("name", [*TINY, *ODD])
def test_what_is_built_is_verified(name: str, suffix: str, tmp_path: Path) -> None:
    game = parse_game(name + suffix)
    report = build_store(game, tmp_path / "s", jobs=1)
    assert verify_store(tmp_path / "s", game, jobs=1, sample=0).positions == report.manifest.total("canonical")
    with Store(tmp_path / "s") as store:
        assert content_digest(store) == store.manifest.digest


@pytest.mark.parametrize("suffix", ["", ",misere"])
@pytest.mark.parametrize("name", ["3,3,3", "3,4,3"])
def test_minimax_sweep_and_alpha_beta_agree_on_every_reachable_position(
    solved: Callable[..., Any], name: str, suffix: str
) -> None:
    game, rules = solved(name + suffix), naive.Game.named(name + suffix)
    solver = AlphaBeta(game.game, game.index.group)
    for board in naive.reachable(rules):
        position = Position(game.game, *naive.masks(board))
        expected = naive.score(rules, board)
        assert game.value(position) == expected, board
        assert solver.score(position) == expected, board


@pytest.mark.parametrize("suffix", ["", ",misere"])
@pytest.mark.parametrize("name", ["3,3,3", "3,4,3"])
def test_every_place_holds_minimax_s_score_or_the_mark_of_the_unreached(
    solved: Callable[..., Any], name: str, suffix: str
) -> None:
    assert_every_place_is_minimax(solved(name + suffix))


@pytest.mark.parametrize("suffix", ["", ",misere"])
@pytest.mark.parametrize("name", [*TINY, *ODD])
def test_odd_games_are_solved_like_any_other(solved: Callable[..., Any], name: str, suffix: str) -> None:
    game, rules = solved(name + suffix), naive.Game.named(name + suffix)
    assert_every_place_is_minimax(game)
    assert game.summary.score == naive.score(rules, rules.empty)
    solver = AlphaBeta(game.game, game.index.group, table_bits=10)
    assert solver.score(Position(game.game)) == naive.score(rules, rules.empty)


@pytest.mark.parametrize("name", ["4,4,4", "4,4,4,misere", "4,4,3", "4,4,3,misere"])
def test_all_three_agree_on_late_positions_of_4x4(solved: Callable[..., Any], name: str) -> None:
    game, rules, rng = solved(name), naive.Game.named(name), random.Random(name)
    solver = AlphaBeta(game.game, game.index.group)
    boards: set[str] = set()
    while len(boards) < 400:
        boards.add(naive.played(rules, rng.sample(range(16), rng.randint(9, 16))))
        boards = {board for board in boards if naive.stones(board) >= 9}
    for board in sorted(boards):
        position = Position(game.game, *naive.masks(board))
        assert game.value(position) == solver.score(position) == naive.score(rules, board), board


@given(st.permutations(range(16)), st.integers(0, 8))
def test_the_sweep_and_a_fresh_search_agree_on_early_positions_of_4x4(
    solved: Callable[..., Any], order: list[int], plies: int
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: both solvers give the same score
    game = solved("4,4,4")
    board = naive.played(naive.Game(4, 4, 4), order[:plies])
    position = Position(game.game, *naive.masks(board))
    assert AlphaBeta(game.game, game.index.group, table_bits=14).score(position) == game.value(position)


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere"])
def test_one_wrong_score_anywhere_is_found_and_its_board_named(solved: Callable[..., Any], name: str) -> None:
    game, rules = solved(name), naive.Game.named(name)
    solver = AlphaBeta(game.game, game.index.group)
    for pages in game.filled:
        check_all(solver, pages.o_count, pages.halves, pages.scores)
        for i, half in enumerate(pages.halves.tolist()):
            for place in range(pages.scores.shape[1]):
                scores = pages.scores.copy()
                scores[i, place] += 1
                x, o = position_at(game.game, pages.empty, half, place)
                named = str(Position(game.game, x, o))
                with pytest.raises(SolversDisagree) as refusal:
                    check_all(solver, pages.o_count, pages.halves, scores)
                message = str(refusal.value)
                assert repr(named) in message
                assert f"the sweep says {scores[i, place]}," in message
                reached = naive.board(rules, x, o) in naive.reachable(rules)
                assert ("alpha-beta says that no game reaches it" in message) == (not reached)
                assert refusal.value.exit_code == 1


def test_a_sample_of_everything_finds_a_wrong_score_too(solved: Callable[..., Any]) -> None:
    game = solved("3,4,3")
    solver = AlphaBeta(game.game, game.index.group)
    pages = next(pages for pages in game.filled if pages.empty == 7)
    size, rng = pages.scores.size, random.Random(1)
    assert check_sample(solver, pages.o_count, pages.halves, pages.scores, 2 * size, math.inf, rng)[:2] == (size, 0)
    assert check_sample(solver, pages.o_count, pages.halves, pages.scores, 10, math.inf, rng)[:2] == (10, 0)
    scores = pages.scores.copy()
    scores[-1, 0] ^= 1
    board = str(Position(game.game, *position_at(game.game, 7, int(pages.halves[-1]), 0)))
    with pytest.raises(SolversDisagree, match=f"board {board!r} of 3,4,3"):
        check_sample(solver, pages.o_count, pages.halves, scores, size, math.inf, rng)


def test_a_sample_s_searches_that_take_too_long_are_counted_and_confirm_nothing(solved: Callable[..., Any]) -> None:
    game = solved("4,4,4")
    solver = AlphaBeta(game.game, game.index.group, limit=1)
    pages = next(pages for pages in game.filled if pages.empty == 10)
    confirmed, abandoned, _ = check_sample(
        solver, pages.o_count, pages.halves, pages.scores, 50, math.inf, random.Random(1)
    )
    assert abandoned > 0
    assert confirmed + abandoned == 50


@pytest.mark.parametrize("ply", [3, 6, 9])
def test_a_sweep_that_errs_once_is_stopped_by_the_proof(ply: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = Layer.fill

    def erring(self: Layer, *rest: Any) -> Filled:
        filled = fill(self, *rest)
        for pages in filter(None, filled):
            if 9 - pages.empty == ply:
                pages.scores[:] = 1 - pages.scores
        return filled

    monkeypatch.setattr(Layer, "fill", erring)
    game = parse_game("3,3,3")
    with pytest.raises(SolversDisagree, match=r"board '[XO./]{11}' of 3,3,3: the sweep says"):
        whole(game, symmetries(game), places_of, jobs=2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_that_errs_everywhere_stops_the_proof_and_does_not_hang_it(
    jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = Layer.fill

    def erring(self: Layer, *rest: Any) -> Filled:
        filled = fill(self, *rest)
        for pages in filter(None, filled):
            pages.scores[:] = 1 - pages.scores
        return filled

    monkeypatch.setattr(Layer, "fill", erring)
    game, ended = parse_game("4,4,4"), []

    def proving() -> None:
        try:
            whole(game, symmetries(game), places_of, jobs=jobs)
        except SolversDisagree as refusal:
            ended.append(refusal)

    thread = threading.Thread(target=proving, daemon=True)
    thread.start()
    thread.join(60)
    assert len(ended) == 1


@pytest.mark.parametrize("name", ["3,3,3", "2,5,3,misere", "4,4,4"])
def test_pages_do_not_depend_on_the_number_of_threads_or_on_how_they_are_held(name: str, tmp_path: Path) -> None:
    game = parse_game(name)
    found = []
    for jobs, holder in product((1, 3), Holder):
        folder = LocalFolder(str(tmp_path))
        layers, summary = whole(game, symmetries(game), content, jobs=jobs, holder=holder, folder=folder)
        found.append(([b"".join(layer) for layer in layers], summary.table()))
        assert list(tmp_path.iterdir()) == []
    assert found == found[:1] * 6


def places_of(filled: Filled) -> int:
    return sum(pages.scores.size for pages in filled if pages)


def content(filled: Filled) -> bytes:
    """Both pages of some halves, the one where X is to move first."""
    return b"".join(pages.scores.tobytes() for pages in filled if pages)


@pytest.mark.parametrize(
    ("columns", "knights", "score"),
    [(7, False, -20), pytest.param(8, True, -26, marks=pytest.mark.slow)],
)
def test_boards_of_28_and_32_cells_are_built_verified_and_answered(
    columns: int, knights: bool, score: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.proof.proof.CHECKED_WHOLE", 1 << 40)
    monkeypatch.setattr("solver.proof.witness._QUICK", 0.01)
    game = queens(tmp_path, 4, columns, knights=knights)
    assert game.cells == 4 * columns
    report = build_store(game, tmp_path / "s", jobs=1)
    assert report.manifest.score == score
    verdict = verify_store(tmp_path / "s", game, jobs=1, sample=100)
    assert report.summary.checked > verdict.places > 100_000
    rng, plain = random.Random(columns), Search(game, symmetries(game), 60.0)
    with Store(tmp_path / "s", game) as store:
        scores = Scores(store)
        for _ in range(200):
            cells = rng.sample(range(game.cells), rng.randint(4, 9))
            x, o = (sum(1 << cell for cell in cells[side::2]) for side in range(2))
            position = Position(game, x, o)
            if is_reachable(position):
                assert scores.score(position) == plain.score(position)
