"""Games: their lines, their notation, the names of their cells."""

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.engine.live import LiveEngine
from solver.errors import BoardError, GameError, Ttt4Error
from solver.games.board import cells_of, require_solvable
from solver.games.lines import SETTLED_CELLS, SOLVABLE_CELLS, Game, grid
from solver.games.notation import parse_game
from solver.kinds import kind_of
from solver.search.live import Search

SIZES = [(m, n, k) for m in range(1, 7) for n in range(1, 7) for k in range(1, max(m, n) + 1)]


def test_the_lines_are_the_straight_runs_of_k_neighbours_and_each_cell_knows_those_through_it() -> None:
    for size in (*SIZES, (9, 9, 5), (3, 11, 4), (1, 20, 7)):
        game, lines = grid(*size), naive.lines(naive.Game(*size))
        assert {tuple(cells_of(line)) for line in game.lines} == lines, size
        assert list(game.lines) == sorted(set(game.lines))
        for cell in range(game.cells):
            through = {tuple(cells_of(line)) for line in game.lines_through[cell]}
            assert through == {line for line in lines if cell in line}, size


def test_the_flagship_has_ten_lines_and_their_masks_are_known() -> None:
    rows = [0x000F, 0x00F0, 0x0F00, 0xF000]
    columns = [0x1111, 0x2222, 0x4444, 0x8888]
    assert sorted(grid(4, 4, 4).lines) == sorted([*rows, *columns, 0x8421, 0x1248])


@given(st.integers(0, 0xFFFF))
def test_a_set_completes_the_lines_that_it_contains(stones: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a set of cells holds a line iff all the line's cells are in it
    game = grid(4, 4, 4)
    held = {line for line in naive.lines(naive.Game(4, 4, 4)) if set(line) <= set(cells_of(stones))}
    assert {tuple(cells_of(line)) for line in game.completed(stones)} == held
    for cell in cells_of(stones):
        assert game.completes(stones, cell) == any(cell in line for line in held)


@given(st.integers(0, 3), st.integers(0, 0xFFFF))
def test_a_full_row_is_a_line_whatever_else_is_taken(row: int, others: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 8: Row Win Detection
    game = grid(4, 4, 4)
    assert 0xF << 4 * row in game.completed(0xF << 4 * row | others)


@pytest.mark.parametrize(
    ("text", "name", "misere"),
    [(" 3 , 4 ,3 ", "3,4,3", False), ("3,3,3,misère", "3,3,3,misere", True), ("04,4,4", "4,4,4", False)],
)
def test_a_game_is_read_from_its_notation(text: str, name: str, misere: bool) -> None:
    game = parse_game(text)
    assert (game.name, game.misere) == (name, misere)


@pytest.mark.parametrize("misere", [False, True])
def test_the_name_of_a_game_is_its_notation(misere: bool) -> None:
    for m, n, k in SIZES:
        game = grid(m, n, k, misere=misere)
        assert parse_game(game.name) == game
        assert (game.name, game.rows, game.columns) == (f"{m},{n},{k}" + misere * ",misere", m, n)
        assert game.cells == m * n


NO_NOTATION = ["", "4,4", "a,b,c", "4,4,4,foo", "4,4,4,misere,misere", "4,4,misere", "-4,4,4", "4.0,4,4", "٤,4,4",
               "4,,4", "4,4,10000", "1e1,4,4", "²,3,3"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((text, f"cannot read game {text!r}") for text in NO_NOTATION),
        *((text, f"no game {text}: .*1 or more") for text in ("0,4,4", "4,0,4", "4,4,0")),
        ("4,4,9", "no game 4,4,9: .* k can be at most 4"), ("3,4,5", "no game 3,4,5: .* k can be at most 4"),
    ],
)  # fmt: skip
def test_what_names_no_game_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(GameError, match=why) as refusal:
        parse_game(text)
    assert refusal.value.exit_code == 2


def test_a_game_too_large_to_solve_exists_but_is_refused_to_the_solvers() -> None:
    with pytest.raises(GameError, match=r"'9,9,5' has 81 cells.*at most 32 cells"):
        require_solvable(parse_game("9,9,5"))
    with pytest.raises(GameError, match="33 cells"):
        require_solvable(parse_game("3,11,3"))
    require_solvable(parse_game("4,8,4"))
    assert grid(4, 8, 4).cells == SOLVABLE_CELLS


def test_boards_of_more_than_27_cells_are_estimated_where_there_is_no_store_and_a_witness_searches_plainly() -> None:
    for name, cells, source in (("3,9,3", SETTLED_CELLS, Search), ("2,14,3", SETTLED_CELLS + 1, LiveEngine)):
        game = parse_game(name)
        assert game.cells == cells
        assert isinstance(kind_of(game).search(game, (tuple(range(cells)),), 1.0), source)
        assert isinstance(kind_of(game).witness(game, (tuple(range(cells)),), 1.0), Search)


@given(st.text(max_size=20))
def test_reading_a_game_never_fails_but_with_a_refusal(text: str) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: any text names a game or is refused
    try:
        game = parse_game(text)
    except Ttt4Error as error:
        assert isinstance(error, GameError)  # noqa: PT017  (any other error fails the test by itself)
    else:
        assert parse_game(game.name) == game


def test_cells_are_named_by_column_and_row_from_the_top_left_and_columns_after_z_have_two_letters() -> None:
    assert [grid(4, 4, 4).cell_name(cell) for cell in (0, 1, 3, 4, 12, 15)] == ["a1", "b1", "d1", "a2", "a4", "d4"]
    wide = [grid(1, 800, 3).cell_name(cell) for cell in (25, 26, 27, 51, 52, 701, 702)]
    assert wide == ["z1", "aa1", "ab1", "az1", "ba1", "zz1", "aaa1"]


@pytest.mark.parametrize(("m", "n"), [(4, 4), (3, 5), (1, 60), (30, 2)])
def test_a_cell_and_its_name_lead_to_each_other(m: int, n: int) -> None:
    game = grid(m, n, 1)
    assert [game.cell(game.cell_name(cell)) for cell in range(game.cells)] == list(range(game.cells))
    assert game.cell(f" {game.cell_name(m * n - 1).upper()} ") == m * n - 1


def test_a_hole_has_no_cell_and_the_cells_around_it_keep_the_names_of_their_squares() -> None:
    ring = Game("ring", 3, 3, (0b111,), holes=1 << 4)
    assert (ring.cells, ring.full) == (8, 0xFF)
    assert [ring.cell_name(cell) for cell in range(8)] == ["a1", "b1", "c1", "a2", "c2", "a3", "b3", "c3"]
    assert [ring.cell(ring.cell_name(cell)) for cell in range(8)] == list(range(8))
    assert ring.squares == (0, 1, 2, 3, 5, 6, 7, 8)
    with pytest.raises(BoardError, match="no cell 'b2' on a ring board: cells run from 'a1' to 'c3', with holes"):
        ring.cell("b2")


def test_holes_make_another_game_and_a_notation_does_not() -> None:
    lines = (0b11, 0b110)
    assert Game("one", 2, 2, lines, holes=1) != Game("one", 2, 2, lines, holes=2)
    assert Game("one", 1, 3, lines, notation="here/one.toml") == Game("one", 1, 3, lines)
    assert (Game("one", 1, 3, lines).notation, Game("one", 1, 3, lines, notation="two").notation) == ("one", "two")


@pytest.mark.parametrize("name", ["", "a0", "a5", "e1", "1a", "a", "4", "a01", "d44", "ä1"])
def test_a_name_of_no_cell_is_refused_and_the_last_cell_named(name: str) -> None:
    with pytest.raises(BoardError, match="cells run from 'a1' to 'd4'") as refusal:
        grid(4, 4, 4).cell(name)
    assert repr(name) in str(refusal.value)
