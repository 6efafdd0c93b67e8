"""Positions: reading and writing boards, whose turn, who won, and every refusal."""

import itertools
from itertools import product

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import BoardError
from solver.games.board_text import as_position, parse
from solver.games.lines import Game, grid
from solver.games.notation import parse_game
from solver.games.position import Position, check, is_reachable

GAMES = ["4,4,4", "4,4,4,misere", "3,3,3", "3,4,3", "4,4,3", "3,3,3,misere", "5,5,4", "1,8,3"]


@st.composite
def plays(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A game, and cells in the order in which they are claimed."""
    name = draw(st.sampled_from(GAMES))
    cells = naive.Game.named(name).cells
    order = draw(st.permutations(range(cells)))
    return name, order[: draw(st.integers(0, cells))]


def at(name: str, board: str) -> Position:
    return Position(parse_game(name), *naive.masks(board))


@given(plays())
def test_a_board_that_is_written_is_read_back(play: tuple[str, list[int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: notation round trip
    name, order = play
    rules, game = naive.Game.named(name), parse_game(name)
    board = naive.played(rules, order)
    position = at(name, board)
    assert str(position).replace("/", "") == board
    assert [len(row) for row in str(position).split("/")] == [rules.columns] * rules.rows
    assert parse(game, str(position)) == position


@given(plays())
def test_every_input_form_means_the_same_board(play: tuple[str, list[int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: forms of input
    name, order = play
    position = at(name, naive.played(naive.Game.named(name), order))
    text = str(position)
    runs = text
    for length in range(position.game.columns, 0, -1):
        runs = runs.replace("." * length, str(length) + "\0").replace("\0", "")
    forms = [text.lower(), text.replace(".", "-"), text.replace(".", "_"), text.replace("/", ""), f"  {text}\n", runs]
    assert [parse(position.game, form) for form in forms] == [position] * len(forms)


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_holes_are_not_written_and_such_a_board_is_read_back(rows: int, columns: int, data: st.DataObject) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: notation round trip on boards with holes
    shape = data.draw(st.lists(st.text(". ", min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    shape[0] = f".{shape[0][1:]}"
    holes = sum(1 << square for square, mark in enumerate("".join(shape)) if mark == " ")
    game = Game("holed", rows, columns, (), holes=holes)
    marks = data.draw(st.permutations("XO" * (game.cells // 2) + "." * (game.cells % 2)))
    position = Position(game, *naive.masks("".join(marks)))
    text, left = str(position), list(marks)
    for row, written in zip(filter(str.strip, shape), text.split("/"), strict=True):
        assert list(written) == [left.pop(0) for square in row if square == "."]
    assert not left
    assert parse(game, text) == parse(game, text.replace("/", "").lower()) == position


def test_rows_of_a_board_with_holes_are_as_long_as_they_have_cells() -> None:
    plus = Game("plus", 4, 3, (0b111,), holes=0b111_101_000_101)
    with pytest.raises(BoardError, match=r"'X../.../..\.' has rows of 3, 3, 3 cells: plus has rows of 1, 3, 1"):
        parse(plus, "X../.../...")


@pytest.mark.parametrize("text", ["1X2/4/4/4", ".X../..../..../....", "1X14", "-x--____........", ".X14", "001x0014"])
def test_a_number_is_a_run_of_empty_cells(text: str) -> None:
    assert parse(grid(4, 4, 4), text) == Position(grid(4, 4, 4), x=0b10)


@given(plays())
def test_playing_cell_by_cell_follows_the_rules(play: tuple[str, list[int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: play, turn, end, winner and score of a finished game
    name, order = play
    rules = naive.Game.named(name)
    position, board = Position(parse_game(name)), rules.empty
    for cell in order:
        if naive.over(rules, board):
            break
        assert position.legal == [c for c, mark in enumerate(board) if mark == "."]
        assert position.score_if_over() is None
        position, board = position.play(cell), naive.claim(board, cell)
        assert (position.x, position.o) == naive.masks(board)
        assert (position.stones, position.mover) == (naive.stones(board), naive.mover(board))
        assert [bool(lines) for lines in position.lines] == [naive.completer(rules, board) == side for side in "XO"]
        assert position.winner == naive.winner(rules, board)
        assert position.over == naive.over(rules, board)
    if naive.over(rules, board):
        assert position.score_if_over() == naive.score(rules, board)
        assert position.legal == []


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere", "2,4,2", "1,7,3", "2,2,1", "3,2,3"])
def test_exactly_the_boards_that_some_game_reaches_are_accepted(name: str) -> None:
    rules, game = naive.Game.named(name), parse_game(name)
    reached = naive.reachable(rules)
    for marks in product(".XO", repeat=rules.cells):
        board = "".join(marks)
        position = Position(game, *naive.masks(board))
        assert is_reachable(position) == (board in reached), board
        if board in reached:
            assert parse(game, board) == check(position) == position
        else:
            with pytest.raises(BoardError):
                parse(game, board)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("4,4,4", "X...", r"board 'X...' has 4 cells: 4,4,4 has 16"),
        ("4,4,4", "", r"board '' has 0 cells: 4,4,4 has 16"),
        ("4,4,4", "X" * 200, r"board 'X{55}\.\.\.' is too long: 4,4,4 has 16 cells"),
        ("4,4,4", "..../..../....", r"rows of 4, 4, 4 cells: 4,4,4 has 4 rows of 4"),
        ("4,4,4", ".../...../..../....", r"rows of 3, 5, 4, 4 cells: 4,4,4 has 4 rows of 4"),
        ("4,4,4", "X..Z............", r"board 'X..Z\.+' has 'Z': write X, O and \."),
        ("4,4,4", "X..\n............", r"has '\\n': write X, O and \."),
        ("4,4,4", "٣X............", r"has '٣': write X, O and \."),
        ("4,4,4", "XX../..../..../....", r"board 'XX../\S+' has 2 X and 0 O: X moves first"),
        ("4,4,4", "O.../..../..../....", r"board 'O.../\S+' has 0 X and 1 O: X moves first"),
        ("4,4,4", "XXXX/OOOO/..../....", r"board 'XXXX/\S+' has lines of both X and O"),
        ("4,4,4", "XXXX/OOO./O.../....", r"has a line of X, yet O moved last: the game ended before that move"),
        ("4,4,4", "OOOO/XXX./X.X./....", r"has a line of O, yet X moved last: the game ended before that move"),
        ("3,3,3,misere", "XXX/OO./O..", r"has a line of X, yet O moved last"),
        ("4,4,3", "XXX./OO.O/XXX./O.O.", r"has lines of X that no single move completes: the game ended before"),
        ("4,4,3", "OOO./XX.X/OOO./X.XX", r"has lines of O that no single move completes: the game ended before"),
        ("2,4,2", "..X./OXXO", r"has lines of X that no single move completes: the game ended before"),
        ("25,25,5", "1" * 5000, r"board '1{55}\.\.\.' has 348056 cells: 25,25,5 has 625"),
    ],
)  # fmt: skip
def test_a_board_that_cannot_be_is_refused_and_the_reason_told(name: str, text: str, message: str) -> None:
    with pytest.raises(BoardError, match=message) as refusal:
        parse(parse_game(name), text)
    assert refusal.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "cell", "message"),
    [
        ("X.../..../..../....", 0, "cell 'a1' is taken: choose an empty cell"),
        ("X.../..../..../....", 16, "no cell 16: cells are numbered 0 to 15"),
        ("X.../..../..../....", -1, "no cell -1: cells are numbered 0 to 15"),
        ("XXXX/OOO./..../....", 7, "no move 'd2': the game is over"),
        ("XXOO/OOXX/XXOO/OOXX", 5, "cell 'b2' is taken"),
    ],
)
def test_a_move_that_the_rules_forbid_is_refused(text: str, cell: int, message: str) -> None:
    with pytest.raises(BoardError, match=message):
        parse(grid(4, 4, 4), text).play(cell)


@given(st.one_of(st.text(max_size=200), st.text("XOxo.-_/0123456789 \n", max_size=250)))
def test_reading_a_board_never_fails_but_with_a_refusal(text: str) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: any text is a board that some game reaches, or is refused
    for name in ("4,4,4", "3,3,3,misere", "1,2,2"):
        try:
            position = parse(parse_game(name), text)
        except BoardError:
            continue
        assert naive.board(naive.Game.named(name), position.x, position.o) == str(position).replace("/", "")
        assert is_reachable(position)


@pytest.mark.parametrize(
    ("board", "why"),
    [
        ([0] * 8, "has 8 cells: 3,3,3 has 9"),
        ([0] * 8 + [2], "has 2: write 1 for the first"),
        ([0] * 8 + [0.5], "has 0.5: write 1 for the first"),
        ([0] * 8 + ["X"], "has the type list: give a text"),
        ([0] * 8 + [float("nan")], "has the type list: give a text"),
        ([-1] + [0] * 8, "has 0 X and 1 O"),
        (7, "has the type int: give a text"),
        (None, "has the type NoneType: give a text"),
        (itertools.repeat(0), "has the type repeat: give a text"),
        ({}, "has 0 cells"),
        (b"X........", "has 88: write 1 for the first"),
    ],
)
def test_what_stands_for_no_position_is_refused_in_a_sentence(board: object, why: str) -> None:
    with pytest.raises(BoardError) as refusal:
        as_position(grid(3, 3, 3), board)
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)
