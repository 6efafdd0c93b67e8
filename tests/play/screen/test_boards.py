"""Boards on a canvas: as large as fits, never outside their area, with every mark, and the cursor always seen."""

from hypothesis import given, settings
from hypothesis import strategies as st

from play.screen.boards import Fit, Shown, draw_board, fit, margin
from play.screen.canvas import Area, Canvas, Look
from solver.games.cell_rules import Cells
from solver.games.notation import parse_game
from solver.games.wide import WideGame

GAMES: list[Cells] = [
    parse_game(name)
    for name in ("3,3,3", "4,4,4", "3,4,3", "6,7,4", "15,15,5", "19,19,5", "cross", "torus4", "cube3", "fano", "duel",
                 "duel,4,4")
]  # fmt: skip
WIDE: list[Cells] = [WideGame(1000, 1000, 5), WideGame(21, 20, 5), WideGame(2, 5000, 3), WideGame(9999, 1, 3)]
Room = tuple[int, int]
FEW = settings(max_examples=30)
games, all_games = st.sampled_from(GAMES), st.sampled_from(GAMES + WIDE)
rooms = st.tuples(st.integers(1, 70), st.integers(1, 220))
notes = st.integers(0, 5)


def area_of(game: Cells, how: Fit) -> int:
    height, width = how.size(game)
    return height * width


@given(all_games, rooms, st.integers(0, 30), st.integers(0, 80), notes)
def test_more_room_shrinks_no_board(game: Cells, room: Room, taller: int, wider: int, widest: int) -> None:
    small, large = fit(game, *room, widest), fit(game, room[0] + taller, room[1] + wider, widest)
    assert area_of(game, small) <= area_of(game, large)
    assert small.mark <= large.mark


def test_arrows_say_where_the_board_goes_on() -> None:
    game, how = parse_game("15,15,5"), Fit(1, 4, False, 1)
    for name, arrows in (("a1", "→↓"), ("h8", "←→↑↓"), ("o15", "←↑")):
        canvas = Canvas(24, 80)
        draw_board(canvas, Area(0, 0, 10, 40), game, how, Shown(cursor=game.cell(name)))
        assert "".join(canvas.texts[0][: margin(game)]).strip() == arrows
    canvas = Canvas(24, 80)
    draw_board(canvas, Area(0, 0, 20, 80), game, how, Shown(cursor=0))
    assert not "".join(canvas.texts[0][: margin(game)]).strip()


@given(all_games, rooms, notes)
def test_a_board_fits_and_has_room_for_notes(game: Cells, room: Room, widest: int) -> None:
    how = fit(game, *room, widest)
    least = Fit(1, 2, False, 1) if widest <= 2 else Fit(1, 4, False, 1)
    height, width = how.size(game)
    if height > room[0] or width > room[1]:
        assert how == least
    elif widest <= how.columns or widest <= 4:
        assert how.columns >= min(widest, 4)


@FEW
@given(all_games, rooms, st.data())
def test_nothing_is_drawn_outside_the_area(game: Cells, room: Room, data: st.DataObject) -> None:
    cells = st.integers(0, game.cells - 1)
    filled = data.draw(st.dictionaries(cells, st.sampled_from(game.marks)))
    shown = Shown(
        filled, dict.fromkeys(data.draw(st.sets(cells)), ("+12*", Look.BOLD)), data.draw(st.sets(cells)),
        data.draw(st.sets(cells, max_size=1)), data.draw(st.sets(cells)), data.draw(st.none() | cells),
    )  # fmt: skip
    rows, columns = max(room[0], 6), max(room[1], margin(game) + 6)
    canvas = Canvas(rows + 4, columns + 6)
    area = Area(2, 3, rows, columns)
    draw_board(canvas, area, game, fit(game, rows, columns, 4), shown)
    outside = [
        (row, column)
        for row in range(canvas.rows)
        for column in range(canvas.columns)
        if not area.holds(row, column) and (canvas.texts[row][column] != " " or canvas.looks[row][column])
    ]
    assert not outside


@FEW
@given(all_games, st.tuples(st.integers(8, 40), st.integers(26, 110)), st.data())
def test_the_cursor_is_seen_and_can_be_clicked(game: Cells, room: Room, data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, game.cells - 1))
    canvas = Canvas(*room)
    draw_board(canvas, Area(0, 0, *room), game, fit(game, *room), Shown(cursor=cursor))
    name = game.cell_name(cursor)
    meant = {canvas.key_at(row, column) for row in range(room[0]) for column in range(room[1])}
    assert name in meant
    set_off = any(look & Look.REVERSED for looks in canvas.looks for look in looks)
    assert set_off or any("┏" in line for line in canvas.texts)


@FEW
@given(games, st.data())
def test_a_board_with_room_shows_every_cell_and_mark(game: Cells, data: st.DataObject) -> None:
    filled = data.draw(st.dictionaries(st.integers(0, game.cells - 1), st.sampled_from(game.marks)))
    rows, columns = 25, 90
    canvas = Canvas(rows, columns)
    how = fit(game, rows, columns)
    draw_board(canvas, Area(0, 0, rows, columns), game, how, Shown(filled))
    meant = [canvas.key_at(row, column) for row in range(rows) for column in range(columns)]
    for cell in range(game.cells):
        assert meant.count(game.cell_name(cell)) == how.rows * how.columns
    if how.mark == 1:
        drawn = [text for line in canvas.texts for text in line]
        for mark in game.marks:
            assert drawn.count(mark) == sum(each == mark for each in filled.values())


@FEW
@given(st.sampled_from("XOZTRG"), st.sampled_from("XOZTRG"), st.sampled_from([8, 12, 24, 40, 60]))
def test_marks_differ_in_shape_in_every_size(one: str, other: str, rows: int) -> None:
    drawn = []
    for mark in (one, other):
        canvas = Canvas(rows, 200)
        draw_board(canvas, Area(0, 0, rows, 200), GAMES[0], fit(GAMES[0], rows, 200), Shown({0: mark}))
        drawn.append(canvas.text())
    assert (drawn[0] == drawn[1]) == (one == other)
