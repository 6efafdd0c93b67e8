"""Every source of scores answers as solver/source.py says: scores are minimax's, and what is uncertain is not exact."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import Any

import naive
import pytest

from solver.engine.live import LiveEngine
from solver.errors import BoardError, NotSettled
from solver.games.board import BoardGame
from solver.games.notation import parse_game
from solver.kinds import kind_of
from solver.source import Source
from solver.store.store import Store

FOREVER = 1e9
ODD = ["1,1,1", "1,2,1", "2,2,2", "1,8,3", "8,1,3", "2,4,3", "5,2,2", "3,3,1", "3,3,2", "2,4,2"]


@dataclass(frozen=True)
class Case:
    """A source of scores, and how it is made."""

    name: str
    kind: str
    make: Callable[[BoardGame[Any], Callable[[str], Path], float], Source]

    def open(self, store_of: Callable[[str], Path], seconds: float = FOREVER) -> Source:
        return self.make(parse_game(self.name), store_of, seconds)


def stored(game: BoardGame[Any], store_of: Callable[[str], Path], seconds: float) -> Source:
    return kind_of(game).scores(Store(store_of(game.name), game), seconds)[0]


def searched(game: BoardGame[Any], store_of: Callable[[str], Path], seconds: float) -> Source:
    kind = kind_of(game)
    return kind.search(game, kind.symmetries(game), seconds)


def engine(game: Any, store_of: Callable[[str], Path], seconds: float) -> Source:
    return LiveEngine(game, seconds)


CASES = [
    Case("3,3,3", "store", stored), Case("3,3,3,misere", "store", stored), Case("fano", "store", stored),
    Case("3,3,3", "search", searched), Case("3,3,3,misere", "search", searched), Case("fano", "search", searched),
    *(Case(name + misere, "search", searched) for name in ODD for misere in ("", ",misere")),
    Case("3,3,3", "engine", engine),
]  # fmt: skip
SMALL = [case for case in CASES if case.name.startswith("3,3,3")]
of_all = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.kind}")
of_some = pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.name}-{case.kind}")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a second at each look, and an engine whose compiled code is not loaded yet."""
    look = count().__next__
    for module in ("search.live", "engine.live"):
        monkeypatch.setattr(f"solver.{module}.monotonic", look)
    monkeypatch.setattr("solver.engine.live.takes", lambda game: False)
    monkeypatch.setattr("solver.engine.live._SETTLE_MOST", FOREVER)


@dataclass(frozen=True)
class Truth:
    """A game by the rules of tests/naive.py: masks of what is reached, with its score and its moves' scores."""

    scores: dict[tuple[int, int], int]
    moves: dict[tuple[int, int], list[tuple[int, int]]]


@cache
def truth_of(name: str) -> Truth:
    """The truth about all positions of a game, or a thousand of them."""
    rules = of_lines(name) if name == "fano" else naive.Game.named(name)
    reached = sorted(naive.reachable(rules))
    boards = {naive.masks(board): board for board in random.Random(1).sample(reached, min(1000, len(reached)))}
    return Truth(
        {at: naive.score(rules, board) for at, board in boards.items()},
        {
            at: list(naive.move_scores(rules, board).items())
            for at, board in boards.items()
            if not naive.over(rules, board)
        },
    )


def of_lines(name: str) -> naive.Game:
    """A game from a file, as one row of cells."""
    game: Any = parse_game(name)
    lines = (tuple(cell for cell in range(game.cells) if line >> cell & 1) for line in game.lines)
    return naive.Game(1, game.cells, 0, given=frozenset(lines))


@of_all
def test_scores_are_minimax_s_and_moves_in_the_order_of_the_cells(case: Case, store_of: Callable[[str], Path]) -> None:
    game, source, truth = parse_game(case.name), case.open(store_of), truth_of(case.name)
    for at, score in truth.scores.items():
        assert source.score(game.at(*at)) == score, at
    source = case.open(store_of)
    for at, moves in truth.moves.items():
        look = source.look(*at, source.deadline())
        assert (look.exact, look.score, look.bound) == (True, truth.scores[at], False)
        found = sorted(look.scores) if case.kind == "engine" else look.scores  # the engine's come best first
        assert found == moves, at
    source = case.open(store_of)
    for at, moves in truth.moves.items():
        score = truth.scores[at]
        first = next(cell for cell, found in moves if found == score)
        assert source.first_best(*at, score, source.deadline()) == first, at


@of_some
def test_a_position_that_no_game_reaches_is_refused(case: Case, store_of: Callable[[str], Path]) -> None:
    game, source = parse_game(case.name), case.open(store_of)
    reached = {naive.masks(board) for board in naive.reachable(naive.Game.named(case.name))}
    pairs = [(x, o) for x, o in product(range(1 << game.cells), repeat=2) if not x & o]
    unreached = random.Random(3).sample([at for at in pairs if at not in reached], 2000)
    for x, o in [*unreached, (1, 1), (0, 1), (1 << game.cells, 0), (1, 1 << game.cells)]:
        with pytest.raises(BoardError):
            source.score(game.at(x, o))


@of_some
def test_without_time_a_store_is_exact_and_a_search_claims_only_what_is_so(
    case: Case, store_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.search.live._NODES_A_LOOK_AT_THE_CLOCK", 1)
    game, truth, settled = parse_game(case.name), truth_of(case.name), []
    for at in random.Random(4).sample(sorted(truth.moves), 100):
        source = case.open(store_of, seconds=0.0)  # which remembers nothing yet
        look = source.look(*at, float("-inf"))
        settled.append(look.exact)
        true = dict(truth.moves[at])
        assert {cell for cell, _ in look.scores} == set(true)
        assert all(score == true[cell] or (not look.exact and score is None) for cell, score in look.scores), at
        own = truth.scores[at]
        assert look.score in ([own] if look.exact else [own, None]) or (look.bound and 0 < look.score < own), at
        with suppress(NotSettled):
            assert source.score(game.at(*at)) == truth.scores[at]
        source.close()
    if case.kind == "store":
        assert all(settled)
    else:
        assert 0 < sum(settled) < len(settled)
