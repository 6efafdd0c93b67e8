"""Three ways to solve a game, and they agree: the sweep, alpha-beta, and minimax as naive as it gets."""

import math
import random
import re
import threading
from collections.abc import Collection, Iterator
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
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.position import Position, is_reachable
from solver.index.places import UNREACHED, Index
from solver.index.symmetry import symmetries
from solver.proof.build import build_store
from solver.proof.check import check_all, check_sample
from solver.proof.prove import LineWork
from solver.proof.verify import verify_store
from solver.search.alphabeta import AlphaBeta
from solver.search.live import Search
from solver.store.digests import content_digest
from solver.store.scores import Scores
from solver.store.store import Store
from solver.sweep.layers import Filled, Layer


def names_of(least: int, most: int) -> list[str]:
    """All m,n,k games of so many cells."""
    shapes = [(m, n) for m, n in product(range(1, 13), repeat=2) if least <= m * n <= most]
    return [f"{m},{n},{k}" for m, n in shapes for k in range(1, max(m, n) + 1)]


def sized(names: list[str], always: tuple[str, ...]) -> list[Any]:
    """Names of games, of which those that do not begin in one of these ways are for the slow tests."""
    return [pytest.param(name, marks=[] if name.startswith(always) else [pytest.mark.slow]) for name in names]


def assert_every_place_is_minimax(game: Game, index: Index, filled: list[Filled]) -> None:
    """Each place of each page holds minimax's score, or the mark that no game reaches it."""
    rules, seen = naive.Game.named(game.name), set()
    reachable = naive.reachable(rules)
    for pages in (pages for both in filled for pages in both if pages):
        for half, page in zip(pages.halves.tolist(), pages.scores.tolist(), strict=True):
            seen.add((pages.empty, half))
            for place, score in enumerate(page):
                board = naive.board(rules, *position_at(game, pages.empty, half, place))
                assert score == (naive.score(rules, board) if board in reachable else UNREACHED), board
    for board in reachable:
        if naive.completer(rules, board) != "X":
            assert (board.count("."), index.locate(*naive.masks(board))[0]) in seen, board


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> list[Filled]:
    """All pages that builds fill, and not only those that a store has."""
    seen: list[Filled] = []
    stored = LineWork.stored

    def recorded(self: LineWork, filled: Filled) -> Iterator[Any]:
        seen.append(filled)
        return stored(self, filled)

    monkeypatch.setattr(LineWork, "stored", recorded)
    return seen


@pytest.mark.parametrize(
    "name",
    [*names_of(1, 6), *sized(names_of(7, 8), ("2,4,", "4,2,", "1,8,3")), "3,3,1", "3,3,2", "3,3,3", "5,2,2"]
    + [pytest.param(name, marks=pytest.mark.slow) for name in ("2,5,3", "1,10,4")],
)
def test_both_solvers_minimax_and_the_file_agree_on_every_place(
    name: str, tmp_path: Path, filled: list[Filled]
) -> None:
    for suffix in ("", ",misere"):
        game, path = parse_game(name + suffix), tmp_path / f"s{suffix}"
        rules = naive.Game.named(game.name)
        filled.clear()
        report = build_store(game, path, jobs=1)
        assert report.summary.checked == sum(pages.scores.size for both in filled for pages in both if pages) > 0
        assert report.summary.abandoned == 0
        assert report.manifest.score == naive.score(rules, rules.empty)
        assert_every_place_is_minimax(game, Index(game, symmetries(game)), filled)
        assert verify_store(path, game, jobs=1, sample=0).positions == report.manifest.total("canonical")
        with Store(path) as store:
            assert content_digest(store) == store.manifest.digest == report.manifest.digest


@pytest.mark.parametrize("name", sized(names_of(9, 12), ("3,3,", "3,4,", "4,3,")))
def test_both_solvers_agree_on_every_place_of_boards_of_9_to_12_cells(name: str) -> None:
    for suffix in ("", ",misere"):
        game = parse_game(name + suffix)
        layers, summary = whole(game, symmetries(game), places_of)
        assert summary.checked == sum(map(sum, layers)) > 0
        assert summary.abandoned == 0


@pytest.mark.parametrize("name", ["4,4,3", "4,4,4", "4,4,4,misere"])
def test_both_solvers_agree_on_every_place_of_4x4(solved: Any, name: str) -> None:
    game = solved(name)
    assert game.summary.checked == sum(pages.scores.size for pages in game.filled) > 0
    assert game.summary.abandoned == 0
    assert game.summary.nodes > 0


@given(st.permutations(range(16)), st.integers(0, 8))
def test_the_sweep_and_a_fresh_search_agree_on_early_positions_of_4x4(
    solved: Any, order: list[int], plies: int
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: both solvers give the same score
    game = solved("4,4,4")
    board = naive.played(naive.Game(4, 4, 4), order[:plies])
    position = Position(game.game, *naive.masks(board))
    assert AlphaBeta(game.game, game.index.group, table_bits=14).score(position) == game.value(position)


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere"])
def test_one_wrong_score_anywhere_is_found_and_its_board_named(solved: Any, name: str) -> None:
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


def test_a_sample_of_everything_finds_a_wrong_score_too(solved: Any) -> None:
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


def test_a_sample_s_searches_that_take_too_long_are_counted_and_confirm_nothing(solved: Any) -> None:
    game = solved("4,4,4")
    solver = AlphaBeta(game.game, game.index.group, limit=1)
    pages = next(pages for pages in game.filled if pages.empty == 10)
    confirmed, abandoned, _ = check_sample(
        solver, pages.o_count, pages.halves, pages.scores, 50, math.inf, random.Random(1)
    )
    assert abandoned > 0
    assert confirmed + abandoned == 50


@pytest.mark.parametrize(("name", "plies", "jobs"), [
    *(("3,3,3", [ply], 2) for ply in (3, 6, 9)), ("4,4,4", range(17), 1), ("4,4,4", range(17), 2)
])  # fmt: skip
def test_a_sweep_that_errs_in_some_plies_or_everywhere_is_stopped_by_the_proof_and_does_not_hang_it(
    name: str, plies: Collection[int], jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill, game, ended = Layer.fill, parse_game(name), list[str]()

    def erring(self: Layer, *rest: Any) -> Filled:
        filled = fill(self, *rest)
        for pages in filter(None, filled):
            if game.cells - pages.empty in plies:
                pages.scores[:] = 1 - pages.scores
        return filled

    def proving() -> None:
        try:
            whole(game, symmetries(game), places_of, jobs=jobs)
        except SolversDisagree as refusal:
            ended.append(str(refusal))

    monkeypatch.setattr(Layer, "fill", erring)
    thread = threading.Thread(target=proving, daemon=True)
    thread.start()
    thread.join(60)
    (said,) = ended
    assert re.search(rf"board '[XO./]+' of {name}: the sweep says", said)


def places_of(filled: Filled) -> int:
    return sum(pages.scores.size for pages in filled if pages)


@pytest.mark.parametrize(
    ("rows", "columns", "knights"),
    [(14, 2, False), *(pytest.param(4, *rest, marks=pytest.mark.slow) for rest in ((7, False), (8, True)))],
)
def test_boards_of_28_and_32_cells_are_built_verified_and_answered(
    rows: int, columns: int, knights: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.proof.proof.CHECKED_WHOLE", 1 << 40)
    monkeypatch.setattr("solver.proof.witness._QUICK", 0.01)
    game = queens(tmp_path, rows, columns, knights=knights)
    report = build_store(game, tmp_path / "s", jobs=1)
    if columns == 7:
        verdict = verify_store(tmp_path / "s", game, jobs=1, sample=100)
        assert report.summary.checked > verdict.places > 100_000
    rng, plain, asked = random.Random(columns), Search(game, symmetries(game), 60.0), 0
    with Store(tmp_path / "s", game) as store:
        scores = Scores(store)
        while asked < 20:
            cells = rng.sample(range(game.cells), rng.randint(2, 9 if columns > 2 else 4))
            x, o = (sum(1 << cell for cell in cells[side::2]) for side in range(2))
            position = Position(game, x, o)
            if is_reachable(position):
                assert scores.score(position) == plain.score(position)
                asked += 1
