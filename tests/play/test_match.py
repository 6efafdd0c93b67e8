"""Matches: what is refused and why, taking back and making again, games of lines on any board, and another game."""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from functools import cache
from typing import Any

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from play.match import CellTaken, Match, MatchError, MatchOver, NoSuchMove, NothingToRedo, NothingToUndo, OutOfTurn
from play.rules import LineRules, LineState, Status
from solver.errors import BoardError
from solver.games.lines import Game
from solver.games.notation import parse_game

GAMES = ["4,4,4", "3,3,3", "4,4,4,misere", "3,3,3,misere", "3,4,3"]
LARGE = ["15,15,5", "100,100,5"]
STATUSES = {"X": Status.X_WON, "O": Status.O_WON}


@st.composite
def plays(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A game, and cells in the order in which they are claimed until the game ends or they run out."""
    name = draw(st.sampled_from(GAMES))
    cells = naive.Game.named(name).cells
    order = draw(st.permutations(range(cells)))
    return name, order[: draw(st.integers(0, cells))]


@cache
def rules_of(name: str) -> LineRules:
    return LineRules(parse_game(name))


def match_of(name: str, cells: list[int]) -> Match[LineState]:
    """A match in which these cells were claimed, or as many as it took to end it."""
    match = Match(rules_of(name))
    for cell in cells:
        if match.to_move:
            match.play(match.to_move, cell)
    return match


def seen(match: Match[Any]) -> tuple[object, ...]:
    """All that a match shows of itself."""
    return match.states, match.moves, match.status, match.over, match.to_move, match.hopeless, repr(match)


def naive_status(rules: naive.Game, board: str) -> Status:
    if not naive.over(rules, board):
        return Status.IN_PROGRESS
    return STATUSES.get(naive.winner(rules, board) or "", Status.DRAW)


@given(plays())
def test_a_match_goes_as_the_rules_say(play: tuple[str, list[int]]) -> None:
    name, order = play
    rules, match = naive.Game.named(name), Match(rules_of(name))
    board = rules.empty
    for cell in order:
        if naive.over(rules, board):
            break
        assert match.play(naive.mover(board), cell) is match.status
        board = naive.claim(board, cell)
        position = match.state.position
        empty = [] if naive.over(rules, board) else [c for c, mark in enumerate(board) if mark == "."]
        assert (position.x, position.o) == naive.masks(board)
        assert match.status is naive_status(rules, board)
        assert match.over == naive.over(rules, board)
        assert match.to_move == (None if match.over else naive.mover(board))
        assert match.rules.legal(match.state) == empty
        assert match.state.empty == [c for c, mark in enumerate(board) if mark == "."], "also when the game is over"
        assert match.state.last == cell
        assert [c for c in range(rules.cells) if match.rules.taken(match.state, c)] == [
            c for c, mark in enumerate(board) if mark != "."
        ]


STEPS = st.one_of(st.integers(0, 8), st.sampled_from(["undo", "redo", "undo", "redo", "reset"]))


@given(st.sampled_from(["3,3,3", "3,3,3,misere"]), st.lists(STEPS, max_size=40))
def test_a_match_is_the_moves_made_without_those_taken_back(name: str, steps: list[int | str]) -> None:
    match, made, undone = Match(rules_of(name)), [], []
    for step in steps:
        before = seen(match)
        try:
            if step == "undo":
                undone.append(match.undo())
                assert undone[-1] == made.pop()
            elif step == "redo":
                made.append(match.redo())
                assert made[-1] == undone.pop()
            elif step == "reset":
                match.reset()
                made, undone = [], []
            else:
                match.play(match.to_move or "X", int(step))
                made.append(int(step))
                undone = []
        except MatchError:
            assert seen(match) == before
            assert step != "undo" or not made
            assert step != "redo" or not undone
        assert seen(match) == seen(match_of(name, made))
    for cell in reversed(undone):
        assert match.redo() == cell, "a refused move does not change what can be made again"


@given(plays())
def test_taking_back_all_and_making_all_again_changes_nothing(play: tuple[str, list[int]]) -> None:
    match = match_of(*play)
    before = seen(match)
    for left in reversed(range(len(match.moves))):
        match.undo()
        assert (match.over, len(match.moves), len(match.states)) == (False, left, left + 1)
    assert seen(match) == seen(Match(match.rules))
    for _ in before[1]:
        match.redo()
    assert seen(match) == before


def test_a_match_that_had_ended_goes_on_when_its_last_move_is_taken_back() -> None:
    match = match_of("3,3,3", [0, 3, 1, 4, 2])
    assert (match.status, match.to_move) == (Status.X_WON, None)
    assert match.undo() == 2
    assert (match.status, match.to_move) == (Status.IN_PROGRESS, "X")
    assert match.play("X", 8) is Status.IN_PROGRESS
    with pytest.raises(NothingToRedo, match="no move to make again"):
        match.redo()


def test_nothing_can_be_taken_back_or_made_again_before_the_first_move_nor_after_a_reset() -> None:
    match = match_of("3,3,3", [4, 0])
    match.undo()
    match.reset()
    assert seen(match) == seen(Match(rules_of("3,3,3")))
    with pytest.raises(NothingToUndo, match="no move to take back"):
        match.undo()
    with pytest.raises(NothingToRedo, match="no move to make again"):
        match.redo()


@pytest.mark.parametrize(
    ("moves", "side", "cell", "error", "message"),
    [
        ([0, 3, 1, 4, 2], "X", 99, MatchOver, "the match has ended, X has won: take a move back, or begin anew"),
        ([0, 3, 1, 4, 2], "O", 0, MatchOver, "the match has ended, X has won: "),
        ([0, 3, 1, 4, 8, 5], "X", 2, MatchOver, "the match has ended, O has won: "),
        ([0, 1, 2, 4, 3, 5, 7, 6, 8], "O", 8, MatchOver, "the match has ended, draw: "),
        ([], "O", 99, OutOfTurn, "it is X's turn, not O's"),
        ([4], "X", 4, OutOfTurn, "it is O's turn, not X's"),
        ([4], "Z", 3, OutOfTurn, "it is O's turn, not Z's"),
        ([4], "O", 9, NoSuchMove, "3,3,3 has no cell number 9: choose an empty cell of the board"),
        ([4], "O", -1, NoSuchMove, "3,3,3 has no cell number -1: "),
        ([4], "O", 4, CellTaken, "cell 'b2' is taken: choose an empty one"),
    ],
)  # fmt: skip
def test_a_move_is_refused_for_the_first_reason_that_holds_and_changes_nothing(
    moves: list[int], side: str, cell: int, error: type[MatchError], message: str
) -> None:
    match = match_of("3,3,3", moves)
    before = seen(match)
    with pytest.raises(MatchError) as refusal:
        match.play(side, cell)
    assert type(refusal.value) is error
    assert message in str(refusal.value)
    assert refusal.value.exit_code == 2
    assert seen(match) == before


@given(plays())
def test_a_match_is_hopeless_once_each_line_has_both_marks_and_then_nobody_wins(play: tuple[str, list[int]]) -> None:
    name, order = play
    rules, match = naive.Game.named(name), match_of(name, order)
    board = naive.played(rules, order)
    mixed = all({"X", "O"} <= {board[cell] for cell in line} for line in naive.lines(rules))
    assert match.rules.hopeless(match.state) == mixed
    assert match.hopeless == (mixed and not naive.over(rules, board))
    if match.hopeless:
        now = {board}
        while now:
            assert {naive.winner(rules, reached) for reached in now} == {None}
            now = {child for reached in now for child in naive.children(rules, reached)}


@given(st.data())
def test_five_in_a_row_are_seen_on_a_large_board(data: st.DataObject) -> None:
    rules = rules_of(data.draw(st.sampled_from(LARGE)))
    size = rules.game.rows
    down, right = data.draw(st.sampled_from([(0, 1), (1, 0), (1, 1), (1, -1)]))
    row = data.draw(st.integers(0, size - 1 - 4 * down))
    column = data.draw(st.integers(4 * (right < 0), size - 1 - 4 * (right > 0)))
    line = data.draw(st.permutations([(row + i * down) * size + column + i * right for i in range(5)]))
    others = [cell for cell in range(0, 14 * 5, 2) if cell not in line][:4]
    match = Match(rules)
    for mine, other in zip(line, others, strict=False):
        assert match.play("X", mine) is match.play("O", other) is Status.IN_PROGRESS
    assert match.play("X", line[4]) is Status.X_WON
    assert rules.legal(match.state) == []


@pytest.mark.parametrize("name", LARGE)
def test_a_large_board_begins_empty_and_not_hopeless(name: str) -> None:
    rules = rules_of(name)
    assert rules.legal(rules.start()) == rules.start().empty == list(range(rules.game.rows**2))
    assert not Match(rules).hopeless


@given(plays())
def test_a_state_never_changes(play: tuple[str, list[int]]) -> None:
    match = match_of(*play)
    earlier, shown = match.states, [repr(state) for state in match.states]
    while match.moves:
        match.undo()
    assert [repr(state) for state in earlier] == shown
    for thing, field in ((earlier[-1], "status"), (earlier[-1], "last"), (earlier[-1].position, "x")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field, None)


@given(st.sampled_from([*GAMES, *LARGE, "1,8,3", "30,2,3"]), st.data())
def test_a_cell_is_read_by_its_name_and_by_its_row_and_column(name: str, data: st.DataObject) -> None:
    rules = rules_of(name)
    cell = data.draw(st.integers(0, rules.game.cells - 1))
    row, column = divmod(cell, rules.game.columns)
    written = rules.write(cell)
    forms = [written, written.upper(), f" {written}\n", f"{row + 1} {column + 1}", f"{row + 1},{column + 1}"]
    assert [rules.read(form) for form in [*forms, f" {row + 1}, {column + 1} "]] == [cell] * 6


REFUSED = ["", "b", "3", "b0", "e1", "a5", "b3 b3", "0 1", "1 0", "5 1", "1 5", "1 2 3", "-1 2", "3;2", "1.0 2", "٣ 2"]


@pytest.mark.parametrize("text", [*REFUSED, "9" * 5000 + " 1"])
def test_what_names_no_cell_is_refused(text: str) -> None:
    with pytest.raises(BoardError, match="no cell") as refusal:
        rules_of("4,4,4").read(text)
    assert len(str(refusal.value).splitlines()) == 1


@given(st.one_of(st.text(max_size=9), st.text("abcdefABCDEF0123456789 ,", max_size=6)))
def test_any_text_names_a_cell_or_is_refused(text: str) -> None:
    try:
        cell = rules_of("4,4,4").read(text)
    except BoardError:
        return
    assert cell in range(16)


class Nim:
    """Take one to three of a heap of seven; whoever takes the last has won. A state is what is left, and whose turn."""

    name = "nim"

    def start(self) -> tuple[int, str]:
        return 7, "X"

    def status(self, state: tuple[int, str]) -> Status:
        return Status.IN_PROGRESS if state[0] else Status.O_WON if state[1] == "X" else Status.X_WON

    def to_move(self, state: tuple[int, str]) -> str:
        return state[1]

    def legal(self, state: tuple[int, str]) -> list[int]:
        return [move for move in (1, 2, 3) if move <= state[0]]

    def exists(self, move: int) -> bool:
        return move in (1, 2, 3)

    def taken(self, state: tuple[int, str], move: int) -> bool:
        return move > state[0]

    def play(self, state: tuple[int, str], move: int) -> tuple[int, str]:
        return state[0] - move, "XO"[state[1] == "X"]

    def read(self, text: str) -> int:
        return int(text)

    def write(self, move: int) -> str:
        return str(move)

    def hopeless(self, state: tuple[int, str]) -> bool:
        return False

    def drawn(self, state: tuple[int, str], notes: Mapping[int, str] | None = None) -> str:
        return "|" * state[0]


@given(st.lists(st.integers(1, 3), min_size=7, max_size=7))
def test_a_game_without_lines_is_played_by_the_same_match(takes: list[int]) -> None:
    match, left = Match(Nim()), 7
    for number, take in enumerate(takes):
        side, other = ("X", "O") if number % 2 == 0 else ("O", "X")
        assert (match.to_move, match.state) == (side, (left, side))
        with pytest.raises(OutOfTurn):
            match.play(other, take)
        if take > left:
            with pytest.raises(CellTaken):
                match.play(side, take)
            take = left
        left -= take
        assert match.play(side, take) is (Status.IN_PROGRESS if left else STATUSES[side])
        if not left:
            break
    before = seen(match)
    match.undo()
    assert not match.over
    match.redo()
    assert seen(match) == before


def test_a_hole_is_no_move_by_its_name_nor_by_its_row_and_column() -> None:
    rules = LineRules(Game("ring", 3, 3, (0b111,), holes=1 << 4))
    assert [rules.read(text) for text in ("c2", "2 3", "3,1")] == [4, 4, 5]
    with pytest.raises(BoardError, match="no cell in row 2, column 2: the board has a hole there"):
        rules.read("2 2")
    with pytest.raises(BoardError, match="no cell 'b2'"):
        rules.read("b2")
    assert not rules.exists(8)
