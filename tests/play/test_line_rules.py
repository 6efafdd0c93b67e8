"""The rules of games of lines: who moves first, boards that are read, cells that are named, and boards of any size."""

from typing import Any

import naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matches import EXCHANGED, NIM, match_of, plays, rules_of

from play.match import Match
from solver.errors import BoardError
from solver.games.line_rules import LineRules
from solver.games.lines import Game
from solver.games.rules import Outcome, set_up

LARGE = ["15,15,5", "100,100,5"]


@given(plays())
def test_with_o_first_the_game_is_the_same_with_the_marks_exchanged(play: tuple[str, list[int]]) -> None:
    name, order = play
    x_first, o_first = match_of(name, order), match_of(name, order, "O")
    assert [state.position for state in o_first.states] == [state.position for state in x_first.states]
    for one, other in zip(x_first.states, o_first.states, strict=True):
        mine, theirs = x_first.rules, o_first.rules
        assert (theirs.to_move(other) or "").translate(EXCHANGED) == (mine.to_move(one) or "")
        assert theirs.encode(other).translate(EXCHANGED) == mine.encode(one)
        assert theirs.legal(other) == mine.legal(one)
        if one.outcome:
            winner, reason, lost = one.outcome
            assert lost == ()
            assert other.outcome == Outcome(winner and winner.translate(EXCHANGED), reason.translate(EXCHANGED))
    assert o_first.rules.sides == x_first.rules.sides


@given(plays())
def test_a_game_is_drawn_already_once_each_line_has_both_marks_and_then_nobody_wins(
    play: tuple[str, list[int]],
) -> None:
    name, order = play
    rules, match = naive.Game.named(name), match_of(name, order)
    board = naive.played(rules, order)
    mixed = all({"X", "O"} <= {board[cell] for cell in line} for line in naive.lines(rules))
    drawn_already = match.rules.drawn_already(match.state)
    assert drawn_already == (mixed and not naive.over(rules, board))
    if drawn_already:
        now = {board}
        while now:
            assert {naive.winner(rules, reached) for reached in now} == {None}
            now = {child for reached in now for child in naive.children(rules, reached)}


@given(plays(), st.sampled_from("XO"))
def test_a_board_is_read_as_it_is_written(play: tuple[str, list[int]], first: str) -> None:
    match = match_of(*play, first)
    rules, state = match.rules, match.state
    again = rules.decode(rules.encode(state))
    assert (again.position, again.outcome, rules.to_move(again)) == (state.position, state.outcome, match.to_move)


@pytest.mark.parametrize(
    ("rules", "board", "message"),
    [(rules_of("3,3,3"), "XXX/OO./...", "board 'XXX/OO./...' is a finished game: X completed a line"),
     (rules_of("3,3,3"), "XOX/XXO/OXO", "is a finished game: the board is full"),
     (rules_of("3,3,3", "O"), "OOO/XX./...", "is a finished game: O completed a line"),
     (rules_of("3,3,3"), "O../.../...", "has 0 X and 1 O: X moves first, so X has as many or one more"),
     (rules_of("3,3,3", "O"), "X../.../...", "has 0 O and 1 X: O moves first, so O has as many or one more"),
     (rules_of("3,3,3"), "XXX/OOO/...", "has lines of both X and O"),
     (rules_of("3,3,3"), "XX", "has 2 cells: 3,3,3 has 9"),
     (NIM, "0 X", "board '0 X' is a finished game: O took the last"), (NIM, "8 X", "no heap '8 X'")],
)  # fmt: skip
def test_a_finished_or_impossible_board_is_refused_with_the_reason(rules: Any, board: str, message: str) -> None:
    with pytest.raises(BoardError) as refusal:
        set_up(rules, board)
    assert message in str(refusal.value)


@settings(max_examples=30)
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
        assert match.play("X", mine) is match.play("O", other) is None
    assert match.play("X", line[4]) == Outcome("X", "X completed a line")
    assert rules.legal(match.state) == []


@given(st.sampled_from(["4,4,4", "3,4,3", *LARGE, "1,8,3", "30,2,3"]), st.data())
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


def test_a_hole_is_no_move_by_its_name_nor_by_its_row_and_column() -> None:
    rules = LineRules(Game("ring", 3, 3, (0b111,), holes=1 << 4))
    assert [rules.read(text) for text in ("c2", "2 3", "3,1")] == [4, 4, 5]
    with pytest.raises(BoardError, match="no cell in row 2, column 2: the board has a hole there"):
        rules.read("2 2")
    with pytest.raises(BoardError, match="no cell 'b2'"):
        rules.read("b2")
    assert rules.refusal(rules.start(), 8) == "ring has no cell number 8: choose an empty cell of the board"
