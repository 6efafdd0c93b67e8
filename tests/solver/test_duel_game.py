"""Infinity Grid Duel: placing, capturing, the end, boards as text, every refusal, and the places of its index."""

import random
from itertools import pairwise, product
from math import inf
from typing import Any

import naive
import numpy as np
import pytest
from duels import at, game_of, geometric
from hypothesis import example, given
from hypothesis import strategies as st

from solver.duel.index import DuelIndex, page_size, rank, unrank
from solver.duel.plain import PlainSearch
from solver.errors import BoardError, GameError
from solver.games.board import require_solvable
from solver.games.board_text import after_moves, as_position, parse
from solver.games.duel import Duel, DuelPosition, movers
from solver.games.notation import parse_game
from solver.games.score import MARGIN
from solver.index import layout
from solver.index.symmetry import image
from solver.kinds import kind_of

SMALL = [(1, 1), (1, 2), (1, 5), (2, 2), (2, 3), (3, 2), (2, 4), (3, 3)]
SIZES = st.builds(naive.Duel, st.integers(1, 6), st.integers(1, 12))
LARGEST = naive.Duel(12, 12)


@st.composite
def games(draw: st.DrawFn, duels: st.SearchStrategy[naive.Duel] = SIZES) -> tuple[naive.Duel, list[str]]:
    """A duel, and the boards of a whole game of it."""
    duel = draw(duels)
    return duel, naive.duelled(duel, draw(st.binary(min_size=duel.cells, max_size=duel.cells)))


@st.composite
def boards(draw: st.DrawFn, duels: st.SearchStrategy[naive.Duel] = SIZES) -> tuple[naive.Duel, str]:
    """A duel, and a board that a game of it reaches."""
    duel = draw(duels)
    return duel, naive.duelled(duel, draw(st.binary(max_size=duel.cells)))[-1]


def board_of(duel: naive.Duel, position: DuelPosition) -> str:
    return naive.duel_board(duel, position.x, position.o)


def sets_of(cells: int, tiles: int) -> list[int]:
    """All sets of so many cells, as numbers in order: a set's place among them is its colexicographic rank."""
    return [filled for filled in range(1 << cells) if filled.bit_count() == tiles]


def set_of(cells: list[int]) -> int:
    return sum(1 << cell for cell in cells)


@given(games(), st.data())
# Feature: infinity-grid-duel, Property 1: Tiles Never Vanish
def test_a_move_adds_one_tile_and_no_tile_ever_vanishes(
    game: tuple[naive.Duel, list[str]], data: st.DataObject
) -> None:
    duel, _ = game
    position = DuelPosition(game_of(duel))
    while not position.over:
        after = position.play(data.draw(st.sampled_from(position.legal)))
        filled = position.x | position.o
        assert after.stones == position.stones + 1
        assert filled & ~(after.x | after.o) == 0
        assert after.x & after.o == 0
        position = after


@given(boards())
# Feature: infinity-grid-duel, Property 2: Captures Are The Enemy Neighbours
def test_a_move_turns_all_enemy_tiles_beside_the_placed_one_and_nothing_else(case: tuple[naive.Duel, str]) -> None:
    duel, board = case
    position, mover = at(duel, board), naive.turn(board)
    for cell in position.legal:
        after = board_of(duel, position.play(cell))
        turned = [other for other in naive.beside(duel, cell) if board[other] == naive.rival(mover)]
        changed = [other for other in range(duel.cells) if after[other] != board[other]]
        assert changed == sorted([cell, *turned])
        assert {after[other] for other in changed} == {mover}
        assert after == naive.placed(duel, board, cell, mover)


@given(games())
# Feature: infinity-grid-duel, Property 3: Every Game Fills The Board
def test_a_game_has_as_many_moves_as_cells_and_a_legal_one_until_then(game: tuple[naive.Duel, list[str]]) -> None:
    duel, played = game
    assert len(played) == duel.cells + 1
    for number, board in enumerate(played):
        position = at(duel, board)
        assert position.stones == number
        assert position.mover == naive.turn(board) == "RG"[number % 2]
        assert position.over == (number == duel.cells)
        assert bool(position.legal) == (number < duel.cells)
        assert position.game.plies_left(0, duel.cells - number) == duel.cells - number


@given(boards())
# Feature: infinity-grid-duel, Property 4: Placement Beside One's Own
def test_a_tile_stands_beside_one_of_its_side_unless_no_empty_cell_does(case: tuple[naive.Duel, str]) -> None:
    duel, board = case
    position, mover = at(duel, board), naive.turn(board)
    empty = [cell for cell, tile in enumerate(board) if tile == "."]
    near = [cell for cell in empty if any(board[other] == mover for other in naive.beside(duel, cell))]
    assert position.legal == (near or empty) == naive.placings(duel, board, mover)
    assert [cell for cell in empty if position.allows(cell)] == position.legal


@given(games())
@example((LARGEST, naive.duelled(LARGEST, range(144))))
# Feature: infinity-grid-duel, Property 5: Whole Games Agree With The Twin
def test_a_whole_game_is_the_twin_s_on_boards_from_1x1_to_12x12(game: tuple[naive.Duel, list[str]]) -> None:
    duel, played = game
    rules = game_of(duel)
    for before, after in pairwise(played):
        position, side = at(duel, before), naive.turn(before)
        assert position.legal == naive.placings(duel, before, side)
        (cell,) = [cell for cell in range(duel.cells) if before[cell] == "." != after[cell]]
        assert rules.after(position.x, position.o, cell) == (*naive.tiles(after), "." not in after)
        assert board_of(duel, position.play(cell)) == after
        assert position.score_if_over() is None
        assert position.winner is None


@given(games())
# Feature: infinity-grid-duel, Property 6: The Winner Has More Tiles
def test_a_full_board_is_won_by_whoever_has_more_tiles(game: tuple[naive.Duel, list[str]]) -> None:
    duel, played = game
    position, red, green = at(duel, played[-1]), played[-1].count("R"), played[-1].count("G")
    assert position.winner == ("R" if red > green else "G" if green > red else None)
    assert position.score_if_over() == naive.margin(duel, played[-1], position.mover)
    assert position.count() == f"Tiles: R {red}, G {green}"
    assert (position.legal, position.ending()) == ([], set())


@given(boards())
# Feature: infinity-grid-duel, Property 7: Board Text Round Trip
def test_a_board_that_is_written_is_read_back_in_every_form(case: tuple[naive.Duel, str]) -> None:
    duel, board = case
    position = at(duel, board)
    text = str(position)
    assert [len(row) for row in text.split("/")] == [duel.columns] * duel.rows
    assert text.replace("/", "") == board
    runs = text
    for length in range(duel.columns, 0, -1):
        runs = runs.replace("." * length, str(length) + "\0").replace("\0", "")
    plain = text.replace("/", "")
    forms = [text, text.lower(), text.replace(".", "-"), text.replace(".", "_"), plain, f"  {text}\n", runs]
    assert [parse(position.game, form) for form in forms] == [position] * len(forms)
    flat = [{"R": 1, "G": -1, ".": 0}[tile] for tile in board]
    assert as_position(position.game, flat) == position
    array: Any = np.array(flat).reshape(duel.rows, duel.columns)
    assert as_position(position.game, array) == position


@given(boards(), st.data())
# Feature: infinity-grid-duel, Property 8: Symmetry Commutes With Play
def test_a_move_on_a_turned_board_is_the_turned_move(case: tuple[naive.Duel, str], data: st.DataObject) -> None:
    duel, board = case
    g = data.draw(st.sampled_from(geometric(duel)))
    position, turned = at(duel, board), at(duel, naive.turned(board, g))
    assert turned.legal == sorted(g[cell] for cell in position.legal)
    for cell in position.legal:
        assert board_of(duel, turned.play(g[cell])) == naive.turned(board_of(duel, position.play(cell)), g)


@given(st.data())
# Feature: infinity-grid-duel, Property 9: Symmetric Positions Have Equal Margins
def test_the_twin_gives_symmetric_positions_equal_margins(data: st.DataObject) -> None:
    duel = data.draw(st.sampled_from([naive.Duel(*size) for size in SMALL]))
    _, board = data.draw(boards(st.just(duel)))
    for g in geometric(duel):
        assert naive.margin(duel, naive.turned(board, g), naive.turn(board)) == naive.margin(
            duel, board, naive.turn(board)
        )


@given(st.data())
# Feature: infinity-grid-duel, Property 10: Colours Do Not Matter
def test_exchanging_all_colours_and_the_turn_keeps_the_margin(data: st.DataObject) -> None:
    duel = data.draw(st.sampled_from([naive.Duel(*size) for size in SMALL]))
    _, board = data.draw(boards(st.just(duel)))
    mover = naive.turn(board)
    assert naive.margin(duel, board, mover) == naive.margin(duel, naive.recoloured(board), naive.rival(mover))


@pytest.mark.parametrize("size", SMALL)
def test_every_position_of_a_small_board_moves_as_the_twin_s_do(size: tuple[int, int]) -> None:
    duel = naive.Duel(*size)
    for board in naive.duel_reachable(duel):
        position, mover = at(duel, board), naive.turn(board)
        assert position.legal == naive.placings(duel, board, mover), board
        for cell in position.legal:
            assert board_of(duel, position.play(cell)) == naive.placed(duel, board, cell, mover), board


@pytest.mark.parametrize(
    ("board", "cell", "message"),
    [
        ("R../.../..G", 0, "cell 'a1' is taken: choose an empty cell"),
        ("R../.../..G", 8, "cell 'c3' is taken: choose an empty cell"),
        ("R../.../..G", 9, "no cell 9: cells are numbered 0 to 8"),
        ("R../.../..G", -1, "no cell -1: cells are numbered 0 to 8"),
        ("R../.../..G", 4, "cell 'b2' is not next to a tile of R: b1, a2 are"),
        ("R../.../...", 4, None),
        ("R.G/G.G/...", 8, "cell 'c3' is not next to a tile of R: b1 is"),
        (".R./.../..G", 8, "cell 'c3' is taken"),
        ("..R/.R./G..", 8, "cell 'c3' is not next to a tile of G: a2, b3 are"),
        ("RRR/RRR/RRR", 0, "cell 'a1' is taken: choose an empty cell"),
    ],
)
def test_a_move_that_the_rules_forbid_is_refused_with_the_reason(board: str, cell: int, message: str | None) -> None:
    position = parse(Duel(3, 3), board)
    if message is None:
        assert position.play(cell).stones == position.stones + 1
        return
    with pytest.raises(BoardError) as refusal:
        position.play(cell)
    assert message in str(refusal.value)
    assert refusal.value.exit_code == 2


def test_of_many_cells_next_to_one_s_own_four_are_named() -> None:
    with pytest.raises(BoardError, match=r"'h8' is not next to a tile of R: c2, b3, d3, c4 are$"):
        after_moves(Duel(8, 8), "c3 f7 h8")
    with pytest.raises(BoardError, match=r"'h8' is not next to a tile of R: c2, d2, b3, e3 and others are$"):
        after_moves(Duel(8, 8), "c3 f1 d3 f2 h8")


def test_moves_are_named_and_the_first_that_cannot_be_made_is_told() -> None:
    assert str(after_moves(Duel(3, 3), "b2 a2, A1")) == str(after_moves(Duel(3, 3), "b2 a2 a1X1")) == "R../RG./..."
    for moves, message in (
        ("b2 b2", "move 2, 'b2': cell 'b2' is taken"),
        ("b2 d1", "move 2, 'd1': no cell 'd1' on a duel,3,3 board: cells run from 'a1' to 'c3'"),
        ("a1 c3 b2", "move 3, 'b2': cell 'b2' is not next to a tile of R: b1, a2 are"),
    ):
        with pytest.raises(BoardError) as refusal:
            after_moves(Duel(3, 3), moves)
        assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X../.../...", r"has 'X': write R, G and \. for an empty cell, rows joined by /"),
        ("r../.o./...", r"has 'o': write R, G and \."),
        ("R../...", r"has rows of 3, 3 cells: duel,3,3 has 3 rows of 3"),
        ("R../..../..", r"has rows of 3, 4, 2 cells"),
        ("R.......", r"has 8 cells: duel,3,3 has 9"),
        ("", r"has 0 cells"),
        ("R" * 101, r"is too long: duel,3,3 has 9 cells"),
        ("G../.../...", r"board 'G../.../...' has no tile of R, which moved last"),
        ("RR./.../...", r"has no tile of G, which moved last"),
        ("RRR/R../...", r"has no tile of G, which moved last"),
        ("RG./G../...", r"has no tile of R that can be the last: each is next to one of G"),
        ("RG./.../...", r"has no tile of G that can be the last: each is next to one of R"),
    ],
)
def test_a_board_that_cannot_be_is_refused_and_the_reason_told(text: str, message: str) -> None:
    with pytest.raises(BoardError, match=message) as refusal:
        parse(Duel(3, 3), text)
    assert (refusal.value.exit_code, len(str(refusal.value).splitlines())) == (2, 1)


@pytest.mark.parametrize(("x", "o"), [(1, 1), (1 << 9, 0), (0, -1), (-1, 0), (3, 2)])
def test_tiles_that_overlap_or_lie_off_the_board_are_refused(x: int, o: int) -> None:
    with pytest.raises(BoardError, match="overlap, or are not all on the board"):
        DuelPosition(Duel(3, 3), x, o).checked()


@pytest.mark.parametrize("size", [*SMALL[:-1], pytest.param((3, 3), marks=pytest.mark.slow)])
def test_a_board_is_refused_if_no_tile_can_be_the_last_and_never_if_a_game_reaches_it(size: tuple[int, int]) -> None:
    duel = naive.Duel(*size)
    reachable = naive.duel_reachable(duel)
    refused = 0
    for tiles in product(".RG", repeat=duel.cells):
        board = "".join(tiles)
        last = naive.rival(naive.turn(board))
        may_be = not board.strip(".") or any(
            tile == last and naive.rival(last) not in [board[other] for other in naive.beside(duel, cell)]
            for cell, tile in enumerate(board)
        )
        assert may_be or board not in reachable
        if may_be:
            assert parse(game_of(duel), board) == at(duel, board).checked() == at(duel, board)
            continue
        refused += 1
        with pytest.raises(BoardError, match=r"has no tile of [RG]"):
            parse(game_of(duel), board)
    assert refused > 0


@given(st.one_of(st.text(max_size=30), st.text("RGrg.-_/0123456789 \n", max_size=60)))
# Feature: infinity-grid-duel, Property 11: Any Text Is A Board Or Refused
def test_reading_a_board_never_fails_but_with_a_refusal(text: str) -> None:
    for size in ((3, 3), (1, 5), (6, 6)):
        try:
            position = parse(Duel(*size), text)
        except BoardError:
            continue
        assert parse(Duel(*size), str(position)) == position


def test_a_position_of_another_board_is_refused() -> None:
    with pytest.raises(GameError, match=r"is of game 'duel,2,2', not of 'duel,3,3'"):
        as_position(Duel(3, 3), DuelPosition(Duel(2, 2)))


@pytest.mark.parametrize(
    ("text", "rows", "columns", "name"),
    [
        ("duel", 6, 6, "duel"),
        ("DUEL, 6, 6", 6, 6, "duel"),
        (" Duel ", 6, 6, "duel"),
        ("duel,4,5", 4, 5, "duel,4,5"),
        ("duel , 12 ,1 ", 12, 1, "duel,12,1"),
        ("duel,1,1", 1, 1, "duel,1,1"),
        ("duel,012,03", 12, 3, "duel,12,3"),
    ],
)
def test_a_duel_is_named_by_its_size(text: str, rows: int, columns: int, name: str) -> None:
    game = parse_game(text)
    assert game == Duel(rows, columns)
    assert (game.rows, game.columns, game.cells, game.holes) == (rows, columns, rows * columns, 0)
    assert game.name == game.notation == name
    assert parse_game(game.name) == game
    assert (game.marks, game.scale) == ("RG", MARGIN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("duel,0,4", "no game duel,0,4: rows and columns go from 1 to 12"),
        ("duel,4,0", "no game duel,4,0: rows and columns go from 1 to 12"),
        ("duel,13,2", "no game duel,13,2: rows and columns go from 1 to 12"),
        ("duel,2,999", "no game duel,2,999: rows and columns go from 1 to 12"),
        *((text, f"cannot read game {text!r}: write duel, or duel,rows,columns, such as duel,4,4")
          for text in ("duel,4", "duel,a,b", "duel,4,4,4", "duel,", "duel,4,", "duel,-1,4", "duel,4,4,misere",
                       "duel,1.5,2", "duel,٣,3", "duel,1000,1", "duel,4 4")),
    ],
)  # fmt: skip
def test_what_names_no_duel_is_refused_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(GameError) as refusal:
        parse_game(text)
    assert message in str(refusal.value)
    assert (refusal.value.exit_code, len(str(refusal.value).splitlines())) == (2, 1)


def test_a_duel_of_more_than_36_cells_is_too_large_for_a_store() -> None:
    for size in ((4, 5), (5, 4), (2, 10), (1, 12), (6, 6), (3, 12)):
        require_solvable(Duel(*size))
    for size in ((4, 10), (6, 7), (12, 12)):
        with pytest.raises(GameError, match="too many to solve: choose a board of at most 36 cells, such as duel"):
            require_solvable(Duel(*size))


def test_duels_are_equal_if_their_sizes_are_and_only_then() -> None:
    assert Duel(3, 4) == Duel(3, 4)
    assert len({Duel(), Duel(6, 6), Duel(3, 4), Duel(4, 3)}) == 3
    assert Duel(3, 3) != parse_game("3,3,3")


@pytest.mark.parametrize("size", [*SMALL, (4, 4), (3, 5), (6, 6), (12, 12), (1, 12), (12, 7)])
def test_neighbours_and_symmetries_are_the_twin_s(size: tuple[int, int]) -> None:
    duel, game = naive.Duel(*size), Duel(*size)
    around = [naive.beside(duel, cell) for cell in range(duel.cells)]
    assert list(game.neighbours) == [set_of(cells) for cells in around]
    pairs = {1 << cell | 1 << other for cell, cells in enumerate(around) for other in cells}
    assert sorted(game.pairs) == sorted(pairs)
    group = kind_of(game).symmetries(game)
    assert sorted(group) == naive.geometric(naive.Game(*size, 1))
    assert group[0] == tuple(range(duel.cells))


@given(boards())
# Feature: infinity-grid-duel, Property 12: Reach
def test_what_some_tiles_reach_is_every_cell_next_to_one_and_nothing_round_the_edge(
    case: tuple[naive.Duel, str],
) -> None:
    duel, board = case
    for tiles in naive.tiles(board):
        near = {other for cell in range(duel.cells) if tiles >> cell & 1 for other in naive.beside(duel, cell)}
        assert game_of(duel).reach(tiles) | tiles == set_of(sorted(near)) | tiles


@given(st.integers(0, (1 << 20) - 1), st.data())
# Feature: infinity-grid-duel, Property 13: Rank And Unrank Are Inverse
def test_a_place_names_the_mover_s_tiles_and_they_the_place(filled: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, (1 << filled.bit_count()) - 1))
    own = unrank(filled, place)
    cells = [cell for cell in range(20) if filled >> cell & 1]
    assert own == set_of([cell for number, cell in enumerate(cells) if place >> number & 1])
    assert rank(filled, own) == place


@given(boards(st.sampled_from([naive.Duel(2, 2), naive.Duel(3, 3), naive.Duel(2, 8), naive.Duel(4, 5)])), st.data())
# Feature: infinity-grid-duel, Property 14: Images Share A Place
def test_images_of_a_position_have_the_same_page_and_places_that_are_copies(
    case: tuple[naive.Duel, str], data: st.DataObject
) -> None:
    duel, board = case
    game = game_of(duel)
    group = kind_of(game).symmetries(game)
    index, other = DuelIndex(game, group), naive.turned(board, data.draw(st.sampled_from(group)))
    own, their = (naive.sides(each, naive.turn(each)) for each in (board, other))
    pages = [index.locate(mine | yours, mine) for mine, yours in (own, their)]
    filled = min(image(g, own[0] | own[1]) for g in group)
    first = index.locate(filled, 0)[0]
    found = [unrank(filled, (number - first) * 8192 + place) for number, place in pages]
    copies = {image(g, own[0]) for g in group if image(g, own[0] | own[1]) == filled}
    assert set(found) <= copies
    assert len({index.canonical(*naive.tiles(each))[:2] for each in (board, other)}) == 1


@given(boards(st.sampled_from([naive.Duel(2, 3), naive.Duel(3, 3), naive.Duel(4, 4)])))
# Feature: infinity-grid-duel, Property 15: The Canonical Form Is The Smallest Image
def test_the_canonical_position_is_the_smallest_image_by_filled_cells_and_then_by_red_ones(
    case: tuple[naive.Duel, str],
) -> None:
    duel, board = case
    game = game_of(duel)
    group = kind_of(game).symmetries(game)
    red, green, g = DuelIndex(game, group).canonical(*naive.tiles(board))
    images = [naive.tiles(naive.turned(board, each)) for each in group]
    assert (red | green, red) == min((x | o, x) for x, o in images)
    assert (red, green) == naive.tiles(naive.turned(board, g))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (2, 8), (4, 4), (4, 5)])
def test_a_page_has_at_most_2_to_the_13_places_and_a_full_board_none(rows: int, columns: int) -> None:
    game = Duel(rows, columns)
    assert [page_size(game, empty) for empty in range(game.cells + 2)] == [
        0, *(2 ** min(game.cells - empty, 13) for empty in range(1, game.cells + 1)), 0
    ]  # fmt: skip
    assert [layout.page_size(game, empty) for empty in (0, 1)] == [0, page_size(game, 1)]


@pytest.mark.parametrize("empty", [1, 2, 4, 7])
def test_more_than_13_tiles_take_several_pages_in_the_order_of_their_places(empty: int) -> None:
    game, rng = Duel(4, 5), random.Random(empty)
    index = DuelIndex(game, kind_of(game).symmetries(game)[:1])
    filled = set_of(rng.sample(range(20), 20 - empty))
    last = (1 << 20 - empty) - 1
    places = sorted({*(rng.randrange(last) for _ in range(200)), *range(0, last, 8192), last})
    found = [index.locate(filled, unrank(filled, place)) for place in places]
    first = sets_of(20, 20 - empty).index(filled) * max(1, 2 ** (20 - empty - 13))
    assert [(number - first) * 8192 + place for number, place in found] == places
    assert all(0 <= place < page_size(game, empty) for _, place in found)
    assert found == sorted(found)
    assert len({number for number, _ in found}) == max(1, 2 ** (20 - empty - 13))


def test_any_subgroup_of_the_symmetries_will_do() -> None:
    game = Duel(3, 3)
    group = kind_of(game).symmetries(game)
    alone = DuelIndex(game, group[:1])
    assert alone.group == group[:1]
    assert alone.locate(0b100000000, 0b100000000) == (8, 1)
    assert DuelIndex(game, group).locate(0b100000000, 0) == (0, 0)


def test_a_promising_move_loses_less_than_an_unpromising_one() -> None:
    game, rng = Duel(3, 4), random.Random(1)
    search, lost = PlainSearch(game), {True: 0, False: 0}
    for _ in range(200):
        position = game.at(0, 0)
        for _ in range(rng.randrange(3, 9)):
            position = position.play(rng.choice(position.legal))
        mover, margins, promises = position.stones % 2, {}, {}
        for cell in position.legal:
            x, o, _ = game.after(position.x, position.o, cell)
            margins[cell] = -search.bounds(*movers(x, o), -99, 99, inf)
            promises[cell] = game.promise(x, o, mover)
        best = max(margins.values())
        for most in (True, False):
            lost[most] += best - margins[(max if most else min)(promises, key=promises.__getitem__)]
    assert 2 * lost[True] < lost[False], lost
