"""The right side: players, the graph of values, and the list of moves, within their area."""

from hypothesis import given, settings
from hypothesis import strategies as st

from play.screen.canvas import Area, Canvas, Look
from play.screen.side import GRAPH_ROWS, Listed, draw_graph, draw_moves, draw_players

FEW = settings(max_examples=30)
MOVES = [Listed("XO"[ply % 2], f"{'abcdefgh'[ply % 8]}{ply // 8 + 1}", "?" * (ply % 5 == 0)) for ply in range(60)]
AREA = Area(1, 2, GRAPH_ROWS, 30)


def keys(canvas: Canvas) -> set[str | None]:
    return {canvas.key_at(row, column) for row in range(canvas.rows) for column in range(canvas.columns)}


@FEW
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 12))
def test_the_move_before_the_position_is_listed_and_set_off(count: int, at: int, rows: int) -> None:
    at = min(at, count)
    canvas = Canvas(20, 40)
    draw_moves(canvas, Area(2, 3, rows, 30), MOVES[:count], at)
    set_off = "".join(
        text
        for texts, looks in zip(canvas.texts, canvas.looks, strict=True)
        for text, look in zip(texts, looks, strict=True)
        if look & Look.REVERSED
    )
    assert set_off == (MOVES[at - 1].text + MOVES[at - 1].sign if at else "")
    assert at == 0 or f"ply {at}" in keys(canvas)
    assert all(not line.strip() for number, line in enumerate(canvas.text().split("\n")) if not 2 <= number < 2 + rows)


@FEW
@given(st.dictionaries(st.integers(0, 60), st.floats(-1, 1)), st.integers(0, 60), st.integers(0, 60))
def test_values_of_the_first_side_are_drawn_high(values: dict[int, float], plies: int, at: int) -> None:
    at = min(at, plies)
    canvas = Canvas(8, 40)
    draw_graph(canvas, AREA, values, plies, at, "XO")
    for row in range(canvas.rows):
        for column in range(canvas.columns):
            key = canvas.key_at(row, column)
            ply = int(key.removeprefix("ply ")) if key else None
            if canvas.texts[row][column] == "●":
                assert AREA.holds(row, column)
                middle = AREA.row + GRAPH_ROWS // 2
                assert (row < middle) <= (values[ply] > 0)
                assert (row > middle) <= (values[ply] < 0)
                assert bool(canvas.looks[row][column] & Look.REVERSED) == (ply == at)
    assert f"ply {at}" in keys(canvas)


def test_one_win_and_one_loss_are_drawn_at_both_edges() -> None:
    canvas = Canvas(8, 40)
    draw_graph(canvas, AREA, {0: 1.0, 1: 0.0, 2: -1.0}, 2, 2, "XO")
    column = AREA.column + 2
    assert [canvas.texts[AREA.row + row][column + at] for at, row in enumerate((0, 2, 4))] == ["●"] * 3


def test_whose_turn_it_is_is_marked() -> None:
    canvas = Canvas(4, 30)
    draw_players(canvas, Area(0, 0, 2, 30), [("X", "you"), ("O", "oracle")], "O")
    assert canvas.text().split("\n")[:2] == ["  X you", "▸ O oracle"]
