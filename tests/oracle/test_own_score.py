"""A query that knows a position's own score says it, even if not every move's is known; what is not known is null."""

import json
import random
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import naive
import pytest
from asgi import InProcess

from oracle.cli.main import main
from oracle.oracle import Oracle
from solver.duel.live import LiveDuel
from solver.games.duel import DuelPosition
from solver.games.notation import parse_game
from solver.kernels.loading import Loader
from solver.search.live import Search

Run = Callable[..., Any]
BOOK = Path(__file__).parents[2] / "data" / "duel.ttt4"
BOARD = "....../....../..RR../...R../....../.GG..."
"""Five tiles, of which the book has the margin: G, which is to move, wins by 2."""


@pytest.fixture(autouse=True)
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no search of the duel end, and no compiled code be loaded."""
    monkeypatch.setattr(Loader, "load", lambda loader: None)
    monkeypatch.setattr("solver.duel.plain._NODES_A_LOOK_AT_THE_CLOCK", 1)


@pytest.fixture
def book() -> Oracle:
    return Oracle("duel", BOOK, seconds=0.0)


def five_tiles(rng: random.Random) -> DuelPosition:
    position = DuelPosition(parse_game("duel"))  # type: ignore[arg-type]
    while position.stones < 5:
        position = position.play(rng.choice(position.legal))
    return position


def test_python_says_the_margin_of_every_board_in_the_book(book: Oracle) -> None:
    for seed in range(20):
        position = five_tiles(random.Random(seed))
        analysis, score = book.analysis(position), book.score(position)
        assert (analysis.score, analysis.bound, analysis.settled) == (score, False, True)
        assert analysis.outcome == ("win" if score > 0 else "loss" if score < 0 else "draw")
        assert not analysis.exact
        assert {(move.score, move.outcome, move.best) for move in analysis.moves} == {(None, None, False)}
        assert analysis.best == ()


def test_the_text_says_it_and_where_it_comes_from(run: Run) -> None:
    ran = run(main, BOARD, "--game", "duel", "--store", BOOK, "--time", "0", "--why")
    assert (ran.code, ran.err) == (0, "")
    assert "\nG to move: G wins by 2.\nPromising  " in ran.out
    said = " ".join(ran.out.split())
    assert "duel.ttt4, its moves from a live search, not finished in 0 s: allow more with --time." in said
    assert said.endswith("Why: The score is exact, although the scores of some moves are not known.")


def test_json_and_http_say_it_and_null_for_each_move(run: Run, tmp_path: Path) -> None:
    asked = ("--game", "duel", "--store", BOOK, "--time", "0", "--json")
    told = json.loads(run(main, BOARD, *asked).out)
    with InProcess(tmp_path, store=str(BOOK), seconds=0.0) as server:
        assert server.get(f"/api/position?game=duel&board={BOARD}").json == told
    assert {key: told[key] for key in ("outcome", "score", "bound", "best", "exact", "source")} == {
        "outcome": "win", "score": 2, "bound": False, "best": [], "exact": False, "source": "search",
    }  # fmt: skip
    assert {move["score"] for move in told["moves"]} == {None}


def test_a_search_of_the_duel_that_knows_the_margin_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The margin is asked for first; then the time is up after any number of moves."""
    duel, asked = naive.Duel(3, 3), LiveDuel._bounds
    for seed in range(12):
        board = naive.duelled(duel, [random.Random(seed * 9 + i).randrange(99) for i in range(1 + seed % 5)])[-1]
        side = naive.turn(board)
        scores = {
            cell: -naive.margin(duel, naive.placed(duel, board, cell, side), naive.rival(side))
            for cell in naive.placings(duel, board, side)
        }
        for known in range(len(scores)):
            asks = count()

            def bounds(self: LiveDuel, *window: Any, known: int = known, asks: Any = asks) -> int:
                return asked(self, *window[:4], float("inf" if next(asks) <= known else "-inf"))

            monkeypatch.setattr(LiveDuel, "_bounds", bounds)
            with Oracle("duel,3,3", live=True) as oracle:
                found = oracle.analysis(DuelPosition(oracle.game, *naive.tiles(board)))  # type: ignore[arg-type]
            assert (found.score, found.bound, found.exact) == (max(scores.values()), False, False)
            told = {move.cell: move.score for move in found.moves if move.score is not None}
            assert len(told) == known
            assert told.items() <= scores.items()
            best = {cell for cell, score in told.items() if score == found.score}
            assert {move.cell for move in found.moves if move.best} == best
            assert [move.cell in best for move in found.moves] == sorted([c in best for c in scores], reverse=True)


@pytest.mark.parametrize("name", ["3,4,3", "4,3,3,misere"])
def test_a_search_of_lines_says_a_win_as_exact_only_if_no_sooner_one_is_possible(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is said after any time is so, by minimax: a score, or a bound of it, and null for the rest."""
    monkeypatch.setattr("solver.search.live._NODES_A_LOOK_AT_THE_CLOCK", 1)
    rules, game, rng, kinds = naive.Game.named(name), parse_game(name), random.Random(1), set()
    for _ in range(150):
        board = naive.played(rules, rng.sample(range(12), rng.randint(3, 8)))
        if naive.over(rules, board):
            continue
        clock = count().__next__
        monkeypatch.setattr("solver.search.live.monotonic", clock)
        look = Search(game, (tuple(range(12)),), 1.0).look(*naive.masks(board), rng.choice([0, 3, 10, 30, 100]))  # type: ignore[arg-type]
        true = {cell: -naive.score(rules, naive.claim(board, cell)) for cell in range(12) if board[cell] == "."}
        own = max(true.values())
        assert all(score in (None, true[cell]) for cell, score in look.scores)
        assert look.exact == all(score is not None for _, score in look.scores)
        if look.bound:
            assert look.score is not None
            assert 0 < look.score <= own
        else:
            assert look.score in (None, own)
        kinds.add((look.exact, look.bound, look.score is None))
    some = {(True, False, False), (False, False, True)}
    assert kinds >= (some if name.endswith("misere") else some | {(False, False, False)})
