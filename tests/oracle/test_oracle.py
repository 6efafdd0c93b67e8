"""The oracle on a store: what it says of a position, in which form, and what it refuses."""

import json
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import Analysis, Move, Oracle
from oracle.oracle import SearchingLive
from solver.errors import BoardError, GameError, StoreDamaged, StoreError, StoreMismatch, StoreMissing
from solver.folders import store_name
from solver.games.board_text import parse
from solver.games.lines import Game, grid
from solver.games.position import Position
from solver.index.symmetry import image, symmetries

FOUR = grid(4, 4, 4)
RULES4 = naive.Game(4, 4, 4)
THREES = ["3,3,3", "3,3,3,misere"]
KEYS = [
    "game", "board", "to_move", "over", "winner", "outcome", "plies", "score", "bound", "scale", "best", "moves",
    "mainline", "mainline_complete", "canonical", "source", "exact",
    "estimate", "depth", "nodes", "proof", "threats",
]  # fmt: skip
IMPOSSIBLE = [
    "XX../..../..../....", "XXXX/..../..../....", "XXXX/OOOO/..../....", "X../.../...", "x", "hello", "",
    *(Position(FOUR, x, o) for x, o in ((1, 1), (1 << 16, 0), (0, 1 << 16), (1 << 16 | 1, 1 << 16))),
]  # fmt: skip

plays = st.tuples(st.permutations(range(16)), st.integers(0, 16))


def meaning(score: int) -> str:
    return "win" if score > 0 else "loss" if score < 0 else "draw"


def plies(rules: naive.Game, board: str, score: int) -> int | None:
    """How far off the end is: the score tells how many stones there are then."""
    return rules.cells + 1 - abs(score) - naive.stones(board) if score else None


def moves_by_minimax(rules: naive.Game, board: str) -> list[Move]:
    """Every move, best first and then by cell."""
    scores = {cell: -naive.score(rules, naive.claim(board, cell)) for cell, mark in enumerate(board) if mark == "."}
    ranked = sorted(scores, key=lambda cell: (-scores[cell], cell))
    found = []
    for cell in ranked:
        (row, column), score = divmod(cell, rules.columns), scores[cell]
        name, best = f"{'abcd'[column]}{row + 1}", score == max(scores.values())
        found.append(Move(name, cell, row, column, meaning(score), plies(rules, board, score), score, best))
    return found


def rows(rules: naive.Game, board: str) -> str:
    return "/".join(board[i : i + rules.columns] for i in range(0, rules.cells, rules.columns))


def by_minimax(name: str, board: str) -> Analysis:
    """What there is to say of a position, but for a line of play and the canonical board."""
    rules = naive.Game.named(name)
    over, score = naive.over(rules, board), naive.score(rules, board)
    moves = [] if over else moves_by_minimax(rules, board)
    return Analysis(
        game=name, board=rows(rules, board), to_move=None if over else naive.mover(board), over=over,
        winner=naive.winner(rules, board), outcome=None if over else meaning(score), plies=plies(rules, board, score),
        scale="plies", score=score, bound=False, moves=tuple(moves),
        best=tuple(move.move for move in moves if move.best),
        mainline=(), mainline_complete=True, canonical="", source="store", exact=True,
    )  # fmt: skip


def assert_best_play_to_the_end(oracle: Oracle, position: Position) -> None:
    """The main line is best play by both, and ends the game when and as it was said."""
    asked = oracle.analysis(position)
    for name in asked.mainline:
        assert name in oracle.analysis(position).best, (asked, name)
        position = position.play(oracle.game.cell(name))
    assert position.over, asked
    if asked.plies is None:
        assert position.winner is None, asked
    else:
        assert len(asked.mainline) == asked.plies, asked
        assert (position.winner == asked.to_move) == (asked.outcome == "win"), asked


@pytest.mark.parametrize("name", THREES)
def test_all_that_is_said_of_a_3x3_position_is_what_minimax_says(name: str, store_of: Callable[[str], Path]) -> None:
    with Oracle(name, store_of(name)) as oracle:
        for board in naive.reachable(naive.Game.named(name)):
            position, expected = Position(oracle.game, *naive.masks(board)), by_minimax(name, board)
            found = oracle.analysis(position)
            assert found._replace(mainline=(), canonical="") == expected
            assert oracle.score(position) == oracle.get_score(position, None) == expected.score
            assert (found.mainline == ()) == expected.over


@pytest.mark.parametrize("name", ["3,4,3", "fano"])
def test_a_move_has_the_number_the_name_and_the_square_of_one_cell(name: str) -> None:
    with Oracle(name, live=True, seconds=60) as oracle:
        game, board = oracle.game, str(oracle.game.cells)
        for move in [*oracle.analysis(board).moves, oracle.best_move(board)]:
            assert move.cell == game.cell(move.move)
            assert game.squares[move.cell] == move.row * game.columns + move.col


@given(plays)
def test_the_main_line_is_best_play_to_the_end(store4: Path, play: tuple[list[int], int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: the main line is best play by both, to the end
    board = naive.played(RULES4, play[0][: play[1]])
    if not naive.over(RULES4, board):
        with Oracle(FOUR, store4) as oracle:
            assert_best_play_to_the_end(oracle, Position(FOUR, *naive.masks(board)))


def test_a_turned_board_gets_the_same_answer_turned(store4: Path) -> None:
    rng, group = random.Random(32), symmetries(FOUR)
    assert len(group) == 32
    with Oracle(FOUR, store4) as oracle, Oracle(FOUR, live=True) as live:
        assert oracle.symmetries == live.symmetries == group
        for _ in range(80):
            board = naive.played(RULES4, rng.sample(range(16), rng.randint(0, 16)))
            x, o = naive.masks(board)
            asked = oracle.analysis(Position(FOUR, x, o))
            canonical = {asked.canonical}
            images = set()
            for g in group:
                turned = Position(FOUR, image(g, x), image(g, o))
                found = oracle.analysis(turned)
                images.add(str(turned))
                canonical.add(found.canonical)
                assert (found.outcome, found.plies, found.score) == (asked.outcome, asked.plies, asked.score)
                assert {FOUR.cell(move) for move in found.best} == {g[FOUR.cell(move)] for move in asked.best}
            assert len(canonical) == 1
            assert canonical <= images


@given(plays, st.booleans())
def test_a_board_as_text_is_answered_as_its_position_is(store4: Path, play: tuple[list[int], int], short: bool) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a board may be given as text or as a position
    board = naive.played(RULES4, play[0][: play[1]])
    text, position = board.lower() if short else rows(RULES4, board), Position(FOUR, *naive.masks(board))
    with Oracle(FOUR, store4) as oracle:
        assert oracle.analysis(text) == oracle.analysis(position)
        assert oracle.score(text) == oracle.score(position)
        if not position.over:
            assert oracle.best_move(text) == oracle.best_move(position)


@pytest.mark.parametrize("board", IMPOSSIBLE)
def test_a_board_that_no_game_reaches_is_refused_or_given_the_default(board: str | Position, store4: Path) -> None:
    for oracle in (Oracle(FOUR, store4), Oracle(FOUR, live=True)):
        with oracle:
            assert oracle.get_score(board, None) is None
            for ask in (oracle.score, oracle.analysis, oracle.best_move):
                with pytest.raises(BoardError):
                    ask(board)


@pytest.mark.parametrize("live", [False, True])
def test_a_position_of_another_game_is_refused_or_given_the_default(live: bool, store4: Path) -> None:
    with Oracle(FOUR, store4, live=live, seconds=0) as oracle:
        for other in (grid(3, 3, 3), grid(4, 4, 3), grid(4, 4, 4, misere=True), grid(5, 5, 4)):
            for position in (Position(other), Position(other, 0b111, 0b11000)):
                assert oracle.get_score(position, 99) == 99
                for ask in (oracle.score, oracle.analysis, oracle.best_move):
                    with pytest.raises(GameError, match=other.name):
                        ask(position)


def test_a_closed_store_is_refused_or_given_the_default(store4: Path) -> None:
    oracle = Oracle(FOUR, store4)
    assert oracle.get_score("16", 99) == oracle.score("16") == oracle.analysis("16").score == 0
    oracle.close()
    oracle.close()
    assert oracle.get_score("16", 99) == 99
    for ask in (oracle.score, oracle.analysis):
        with pytest.raises(StoreError, match="was closed"):
            ask("16")


@pytest.mark.parametrize("board", ["9", "X.../.O../..../....", "XXXX/OOO./..../....", "XOXO/XOXO/OXOX/OXOX", "16"])
def test_json_has_the_fields_in_their_order(board: str, store3: Path, store4: Path) -> None:
    with Oracle("3,3,3", store3) if board == "9" else Oracle(FOUR, store4) as oracle:
        found = oracle.analysis(board)
    assert found.as_json() == json.dumps(found.as_dict())
    fields = json.loads(found.as_json())
    assert list(fields) == KEYS
    for move in fields["moves"]:
        assert list(move) == ["move", "cell", "row", "col", "outcome", "plies", "score", "best", "estimate"]
    assert found == Analysis(**{key: _tupled(value) for key, value in fields.items()})


def _tupled(value: object) -> object:
    """The field that a JSON value was made of."""
    if not isinstance(value, list):
        return value
    return tuple(Move(**item) if isinstance(item, dict) else item for item in value)


def test_without_a_store_positions_are_searched(usual: Path, store3: Path) -> None:
    with pytest.warns(SearchingLive):
        oracle = Oracle("3,3,3")
    with oracle:
        assert (oracle.source, oracle.analysis("9").source) == ("search", "search")
        assert "by search" in repr(oracle)
    (usual / store_name(grid(3, 3, 3))).write_bytes(store3.read_bytes())
    with Oracle("3,3,3") as oracle:
        assert (oracle.source, oracle.analysis("9").source) == ("store", "store")
        assert str(usual) in repr(oracle)
    with Oracle("3,3,3", live=True) as oracle:
        assert (oracle.source, oracle.analysis("9").source) == ("search", "search")


def test_a_store_of_another_game_is_a_mismatch_however_it_was_found(
    usual: Path, store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (usual / store_name(FOUR)).write_bytes(store3.read_bytes())
    with pytest.raises(StoreMismatch):
        Oracle()
    monkeypatch.setenv("TTT4_STORE", str(store3))
    with pytest.raises(StoreMismatch):
        Oracle()
    with Oracle("3,3,3") as oracle:
        assert oracle.score(parse(oracle.game, "9")) == 0
    with pytest.raises(StoreMismatch):
        Oracle("3,3,3,misere", store3)


def test_the_game_may_be_given_as_text_and_is_4x4_unless_said(store4: Path) -> None:
    for oracle in (Oracle(store=store4), Oracle("4,4,4", store4), Oracle(FOUR, str(store4))):
        with oracle:
            assert oracle.game == FOUR
            assert oracle.analysis("16").game == "4,4,4"
    with pytest.raises(GameError):
        Oracle("4,4")


@pytest.mark.parametrize("kind", [list, tuple, np.array, np.int8])
def test_a_board_may_be_a_sequence_of_numbers(kind: Any, store4: Path) -> None:
    marks = [0, 1, 1, 0, -1, 0, -1, 0, -1, 0, 0, -1, 0, 1, 0, 1]
    rows = [marks[i : i + 4] for i in range(0, 16, 4)]
    with Oracle(store=store4) as oracle:
        for board in (marks, rows):
            given = np.array(board, np.int8) if kind is np.int8 else kind(board)
            for ask in (oracle.score, oracle.analysis, oracle.best_move, lambda board: oracle.get_score(board, None)):
                assert ask(given) == ask(".XX./O.O./O..O/.X.X")


@pytest.mark.parametrize(
    "board", [None, 5, 4.0, object(), [0] * 15, [2] * 16, ["X"] * 16, [0.5] * 16, {}, b"16", iter([0] * 16), [[]] * 16]
)
def test_what_is_not_a_board_is_refused_in_a_sentence(board: Any, store4: Path) -> None:
    with Oracle(store=store4) as oracle:
        for ask in (oracle.score, oracle.analysis, oracle.best_move):
            with pytest.raises(BoardError, match="board") as refusal:
                ask(board)
            assert len(str(refusal.value).splitlines()) == 1
        assert oracle.get_score(board, 99) == 99


@pytest.mark.usefixtures("usual")
def test_python_is_warned_once_with_the_command_where_no_store_serves() -> None:
    program = "import oracle\nfor _ in range(3):\n    oracle.Oracle('3,4,3')\noracle.Oracle('3,3,3', live=True)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr.count("SearchingLive: ") == 1
    assert ran.stderr.endswith("For answers at once: ttt4-solve build --game 3,4,3\n")


def test_get_score_never_hides_damage(store4: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(store4.read_bytes())
    with Oracle(store=tmp_path / "s") as oracle:
        with open(tmp_path / "s", "r+b") as file:
            file.seek(2 * 4096)
            file.write(bytes(store4.stat().st_size - 3 * 4096))
        with pytest.raises(StoreDamaged):
            [oracle.get_score(Position(FOUR).play(cell), 0) for cell in range(16)]


@pytest.mark.slow
def test_a_board_of_28_cells_with_a_store_is_answered_like_a_smaller_one(store28: tuple[Game, Path]) -> None:
    game, path = store28
    with Oracle(game, path) as oracle:
        known = oracle.analysis("." * 28)
        assert (known.outcome, known.plies, known.exact, known.source) == ("loss", 9, True, "store")
        boards = [(0, 0), (1 << 27, 1), (1 << 27 | 1 << 8, 1)]
        x, o = (np.array(cells, np.uint32) for cells in zip(*boards, strict=True))
        assert oracle.scores(x, o).tolist() == [oracle.score(game.at(*board)) for board in boards]


def test_a_board_too_large_to_settle_is_answered_by_its_store_like_a_smaller_one(
    store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Oracle("3,3,3", store3) as small:
        known, best = small.analysis("9"), small.best_move("9")
    monkeypatch.setattr(Game, "settled_cells", 8)
    with Oracle("3,3,3", store3) as oracle:
        assert (oracle.source, oracle.estimates) == ("store", False)
        assert (oracle.analysis("9"), oracle.best_move("9")) == (known, best)


def test_a_board_too_large_to_settle_is_estimated_without_its_store_and_nobody_is_warned(
    store3: Path, usual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Game, "settled_cells", 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Oracle("3,3,3", seconds=0.0) as oracle:
            assert (oracle.source, oracle.estimates) == ("search", True)
        monkeypatch.setenv("TTT4_STORE", str(store3))
        with Oracle("3,3,3") as oracle:
            assert (oracle.source, oracle.estimates) == ("store", False)
        with Oracle("3,3,3", live=True, seconds=0.0) as oracle:
            assert (oracle.source, oracle.estimates) == ("search", True)
    with pytest.raises(StoreMissing):
        Oracle("4,7,4", usual / "none")
    with pytest.raises(GameError, match="33 cells, too many to solve: choose a board of at most 32 cells"):
        Oracle("3,11,3", store3)
