"""Puzzles: exactly one move keeps the outcome, they are rated as documented, and a seed always gives the same one."""

import datetime
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import Any

import naive
import pytest

from oracle.answers import Analysis
from oracle.oracle import Oracle
from play.puzzles import NoPuzzle, Puzzle, answer_to, daily_puzzle, hint_of, make_puzzle, stars_of
from solver.errors import BoardError, GameError, NotSettled
from solver.games.board import Board
from solver.games.lines import Game
from solver.games.notation import parse_game

SMALL = ["3,3,3", "3,3,3,misere", "3,4,3", "4,4,4"]
OracleOf = Callable[[str], Oracle]
PuzzlesOf = Callable[[str], list[Puzzle]]
LOADED = """
import sys
from oracle.answers import Analysis
from oracle.oracle import Oracle
from play.puzzles import answer_to, make_puzzle
with Oracle("4,4,4", sys.argv[1]) as oracle:
    puzzle = make_puzzle(oracle, "1")
    answer_to(oracle, puzzle, puzzle.solution)
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def oracle_of(store3: Path, store4: Path) -> OracleOf:
    """An oracle of any game, the same whenever it is asked for; two of them have a store."""
    stores = {"3,3,3": store3, "4,4,4": store4}
    oracles: dict[str, Oracle] = {}

    def oracle(name: str) -> Oracle:
        if name not in oracles:
            oracles[name] = Oracle(name, stores.get(name), live=name not in stores, seconds=60)
        return oracles[name]

    return oracle


@pytest.fixture(scope="module")
def puzzles_of(oracle_of: OracleOf) -> PuzzlesOf:
    """Six puzzles of a game, half of them won."""

    def puzzles(name: str) -> list[Puzzle]:
        kinds = product("abc", ["win", "draw"])
        return [make_puzzle(oracle_of(name), seed, outcome=outcome) for seed, outcome in kinds]

    return cache(puzzles)


def scores_of(name: str, board: str) -> dict[str, int]:
    """The minimax score of every move, for the side that makes it."""
    scores = naive.move_scores(naive.Game.named(name), board.replace("/", ""))
    return {parse_game(name).cell_name(cell): score for cell, score in scores.items()}


def plies_of(score: int, empty: int) -> int:
    """How many plies the game goes on: a score is one more than the cells that are left empty."""
    return empty - (abs(score) - 1)


def refuted_at_once(name: str, board: str, move: str) -> bool:
    """Whether a move loses by itself, or to one reply."""
    game, after = naive.Game.named(name), played(name, board, [move])
    other = "XO"[naive.mover(board.replace("/", "")) == "X"]
    return any(naive.winner(game, end) == other for end in naive.children(game, after) or [after])


def played(name: str, board: str, moves: list[str] | tuple[str, ...]) -> str:
    now = board.replace("/", "")
    for move in moves:
        assert not naive.over(naive.Game.named(name), now)
        now = naive.claim(now, parse_game(name).cell(move))
    return now


def sign(score: int) -> int:
    return (score > 0) - (score < 0)


@pytest.mark.parametrize("name", SMALL)
def test_exactly_one_move_keeps_the_outcome(name: str, puzzles_of: PuzzlesOf) -> None:
    for puzzle in puzzles_of(name):
        scores = scores_of(name, puzzle.board)
        best = max(scores.values())
        assert [move for move, score in scores.items() if sign(score) == sign(best)] == [puzzle.solution], puzzle
        assert {1: "win", 0: "draw"}[sign(best)] == puzzle.outcome
        assert puzzle.to_move == naive.mover(puzzle.board.replace("/", ""))


@pytest.mark.parametrize("name", SMALL)
def test_plies_depth_and_tempting_moves_are_those_of_minimax(name: str, puzzles_of: PuzzlesOf) -> None:
    for puzzle in puzzles_of(name):
        scores = scores_of(name, puzzle.board)
        empty, best = len(scores), scores[puzzle.solution]
        wrong = {move: score for move, score in scores.items() if move != puzzle.solution}
        assert puzzle.plies == (plies_of(best, empty) if best else None)
        assert puzzle.depth == (puzzle.plies or max(plies_of(score, empty) for score in wrong.values())), puzzle
        assert puzzle.tempting == sum(not refuted_at_once(name, puzzle.board, move) for move in wrong), puzzle
        assert puzzle.stars == stars_of(puzzle.depth, puzzle.tempting)


@pytest.mark.parametrize("name", SMALL)
def test_no_puzzle_is_solved_at_a_glance(name: str, puzzles_of: PuzzlesOf) -> None:
    for puzzle in puzzles_of(name):
        assert puzzle.depth >= 3
        assert puzzle.board.count(".") >= 3
        assert puzzle.tempting >= 1


@pytest.mark.parametrize(
    ("depth", "tempting", "stars"),
    [(3, 1, 1), (4, 3, 1), (3, 4, 2), (4, 5, 2), (3, 6, 3), (4, 17, 3), (5, 3, 2), (6, 4, 3), (5, 6, 4), (7, 3, 3),
     (7, 4, 4), (8, 6, 5), (9, 1, 4), (11, 1, 5), (15, 15, 5)],
)  # fmt: skip
def test_two_plies_more_four_tempting_moves_and_six_are_worth_a_star_each(
    depth: int, tempting: int, stars: int
) -> None:
    assert stars_of(depth, tempting) == stars


@pytest.mark.parametrize("stars", [1, 2, 3, 4, 5])
def test_puzzles_on_4x4_have_every_number_of_stars(stars: int, oracle_of: OracleOf) -> None:
    puzzle = make_puzzle(oracle_of("4,4,4"), "a", stars=stars)
    assert puzzle.stars == stars == stars_of(puzzle.depth, puzzle.tempting)


@pytest.mark.parametrize("outcome", ["win", "draw"])
@pytest.mark.parametrize("name", ["3,3,3", "4,4,4", "3,3,3,misere"])
def test_a_puzzle_has_the_outcome_that_was_asked_for(outcome: str, name: str, oracle_of: OracleOf) -> None:
    assert make_puzzle(oracle_of(name), "a", outcome=outcome).outcome == outcome
    both = make_puzzle(oracle_of(name), "b", outcome=outcome, stars=2)
    assert (both.outcome, both.stars) == (outcome, 2)


def test_a_misere_puzzle_may_ask_for_the_move_that_is_not_lost_in_three_plies(oracle_of: OracleOf) -> None:
    puzzle = make_puzzle(oracle_of("3,3,3,misere"), "a", outcome="draw", stars=1)
    lost = [score for score in scores_of("3,3,3,misere", puzzle.board).values() if score < 0]
    assert puzzle.depth == max(plies_of(score, len(lost) + 1) for score in lost) == 3
    assert puzzle.tempting == sum(plies_of(score, len(lost) + 1) == 3 for score in lost)


def test_the_goal_says_who_moves_and_how_soon_a_win_comes(oracle_of: OracleOf) -> None:
    won = make_puzzle(oracle_of("4,4,4"), "4", outcome="win", stars=4)
    assert won.goal == f"{won.to_move} to move and win in 3 moves (5 plies)"
    drawn = make_puzzle(oracle_of("4,4,4"), "4", outcome="draw")
    assert drawn.goal == f"{drawn.to_move} to move: only one move holds the draw"


def test_most_seeds_on_4x4_give_a_won_position_and_many_differ(oracle_of: OracleOf) -> None:
    many = [make_puzzle(oracle_of("4,4,4"), str(number)) for number in range(8)]
    assert sum(puzzle.outcome == "win" for puzzle in many) > 4
    assert len({puzzle.stars for puzzle in many}) >= 3
    assert len({puzzle.board for puzzle in many}) >= 7


@pytest.mark.parametrize("name", ["3,3,3", pytest.param("4,4,4", marks=pytest.mark.slow)])
def test_a_seed_gives_the_same_puzzle_from_a_store_and_from_a_live_search(name: str, oracle_of: OracleOf) -> None:
    stored = make_puzzle(oracle_of(name), "a")
    assert make_puzzle(Oracle(name, live=True, seconds=60), "a") == stored
    assert make_puzzle(oracle_of(name), "a") == stored
    assert make_puzzle(oracle_of(name), "b") != stored


@pytest.mark.parametrize("seed", ["", "é", "\udcff", "a\nb\0", "x" * 9999])
def test_any_text_is_a_seed(seed: str, oracle_of: OracleOf) -> None:
    assert make_puzzle(oracle_of("3,3,3"), seed).seed == seed


def test_the_seed_of_a_day_is_its_date(oracle_of: OracleOf) -> None:
    day, oracle = datetime.date(2026, 11, 19), oracle_of("4,4,4")
    assert daily_puzzle(oracle, day) == make_puzzle(oracle, "2026-11-19")
    kind: dict[str, Any] = {"outcome": "win", "stars": 3}
    assert daily_puzzle(oracle, day, **kind) == make_puzzle(oracle, "2026-11-19", **kind)
    assert daily_puzzle(oracle, day) != daily_puzzle(oracle, datetime.date(2026, 11, 20))


def test_a_game_without_puzzles_is_refused_with_what_was_looked_for(
    oracle_of: OracleOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("play.puzzles.MOST_LOOKS", 2_000)
    with pytest.raises(NoPuzzle, match=r"^no puzzle in 2,000 positions of game 'fano': choose another game$") as none:
        make_puzzle(oracle_of("fano"), "a")
    assert (none.value.kind, none.value.exit_code) == ("no-puzzle", 1)
    with pytest.raises(NoPuzzle, match=r"^no draw puzzle of difficulty 5 in .* of game '3,3,3': try another seed, "):
        make_puzzle(oracle_of("3,3,3"), "a", outcome="draw", stars=5)


def test_a_board_too_large_for_a_live_search_has_puzzles_where_it_has_a_store(
    store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Game, "settled_cells", 8)
    with Oracle("3,3,3", store3) as oracle:
        puzzle = make_puzzle(oracle, "a")
        known = oracle.analysis(puzzle.board)
        assert (known.exact, known.outcome) == (True, puzzle.outcome)
    with pytest.raises(GameError, match="9 cells: puzzles of more than 8 cells need a store"):
        make_puzzle(Oracle("3,3,3", live=True), "a")


def test_a_board_too_large_to_be_settled_has_no_puzzles() -> None:
    with pytest.raises(GameError, match="too many to solve"):
        make_puzzle(Oracle("6,6,4", live=True), "a")


class Hurried(Oracle):
    """An oracle that is certain only of boards with up to six empty cells."""

    def analysis(self, board: Board) -> Analysis:
        known = super().analysis(board)
        return known._replace(exact=known.board.count(".") <= 6)


def test_a_puzzle_is_made_only_of_a_position_that_was_settled(store4: Path) -> None:
    with Hurried("4,4,4", store4) as oracle:
        assert {make_puzzle(oracle, seed).board.count(".") for seed in "abcdef"} <= {3, 4, 5, 6}


def test_a_live_search_looks_no_longer_than_for_ten_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoPuzzle, match=r"^no win puzzle in 1 position of game '4,4,4': allow the search more time$"):
        make_puzzle(Oracle("4,4,4", live=True, seconds=0), "a", outcome="win")
    clock = count(0.0, 0.05)
    monkeypatch.setattr("play.puzzles.monotonic", lambda: next(clock))
    with suppress(NoPuzzle):
        make_puzzle(Oracle("5,5,5", live=True, seconds=0.01), "a")
    assert next(clock) <= 0.2


@pytest.mark.parametrize("name", SMALL)
def test_an_answer_says_whether_a_move_is_right_and_how_the_game_goes_on(
    name: str, oracle_of: OracleOf, puzzles_of: PuzzlesOf
) -> None:
    game = naive.Game.named(name)
    for puzzle in puzzles_of(name):
        scores = scores_of(name, puzzle.board)
        other = "XO"[puzzle.to_move == "X"]
        for move, score in scores.items():
            answer = answer_to(oracle_of(name), puzzle, move)
            assert (answer.move, answer.right, answer.line[0]) == (move, move == puzzle.solution, move)
            assert answer.line_complete
            end = played(name, puzzle.board, answer.line)
            assert naive.over(game, end)
            assert naive.winner(game, end) == {1: puzzle.to_move, 0: None, -1: other}[sign(score)]
            assert not score or len(answer.line) == plies_of(score, len(scores))
            words = {("win", 0): "gave away a win", ("win", -1): "turned a win into a loss"}
            wrong = words.get((puzzle.outcome, sign(score)), "turned a draw into a loss")
            assert answer.grade == ("best" if answer.right else wrong)


def test_an_answer_counts_the_plies_after_the_move(oracle_of: OracleOf) -> None:
    puzzle = make_puzzle(oracle_of("4,4,4"), "4", outcome="win", stars=4)
    answer = answer_to(oracle_of("4,4,4"), puzzle, puzzle.solution)
    assert answer.outcome == f"{puzzle.to_move} wins in 2 moves (4 plies)"


def test_a_cell_that_is_taken_or_unknown_is_no_answer(oracle_of: OracleOf) -> None:
    puzzle = make_puzzle(oracle_of("3,3,3"), "a")
    taken = next(f"{'abc'[cell % 4]}{cell // 4 + 1}" for cell, mark in enumerate(puzzle.board) if mark in "XO")
    for move in (taken, "z9", ""):
        with pytest.raises(BoardError):
            answer_to(oracle_of("3,3,3"), puzzle, move)


def test_an_answer_that_a_live_search_cannot_settle_is_refused(oracle_of: OracleOf) -> None:
    puzzle = make_puzzle(oracle_of("4,4,4"), "4", stars=5)
    with pytest.raises(NotSettled, match="was not settled in 0 s"):
        answer_to(Oracle("4,4,4", live=True, seconds=0), puzzle, puzzle.solution)


@pytest.mark.parametrize("name", SMALL)
def test_a_hint_names_the_row_or_the_column_that_says_less(name: str, puzzles_of: PuzzlesOf) -> None:
    for puzzle in puzzles_of(name):
        hint, solution = hint_of(parse_game(name), puzzle), puzzle.solution
        rows = puzzle.board.split("/")
        in_row = rows[int(solution[1]) - 1].count(".")
        in_column = [row["abcd".index(solution[0])] for row in rows].count(".")
        row, column = f"the move is in row {solution[1]}", f"the move is in column {solution[0]}"
        assert hint == (row if in_row >= in_column else column)


def test_making_and_solving_a_puzzle_loads_no_compiler_and_no_server(store4: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", LOADED, store4], capture_output=True, text=True, check=True)
    assert not set(ran.stdout.split()) & {"numba", "numpy", "llvmlite", "lmdb", "asyncio", "uvicorn", "http"}
