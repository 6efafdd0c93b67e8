"""The canvas: nothing is written outside, and a click means what was written last."""

from hypothesis import given, settings
from hypothesis import strategies as st

from play.screen.canvas import NAMES, Area, Canvas, Look, button_width

FEW = settings(max_examples=30)
places = st.integers(-5, 40)
sizes = st.integers(0, 30)
areas = st.builds(Area, places, places, sizes, sizes)


@FEW
@given(st.integers(1, 20), st.integers(1, 30), places, places, st.text(), st.none() | sizes)
def test_text_stays_in_its_room(rows: int, columns: int, row: int, column: int, text: str, room: int | None) -> None:
    canvas = Canvas(rows, columns)
    end = canvas.put(row, column, text, Look.BOLD, room)
    assert [len(line) for line in canvas.texts] == [len(line) for line in canvas.looks] == [columns] * rows
    for at in range(rows):
        for place in range(columns):
            inside = at == row and column <= place < column + len(text) and (room is None or place < column + room)
            wanted = text[place - column] if inside else " "
            assert canvas.texts[at][place] == (wanted if wanted.isprintable() else "?")
            assert canvas.looks[at][place] == (Look.BOLD if inside else Look.PLAIN)
    assert end <= column + len(text)


@FEW
@given(st.lists(st.tuples(areas, st.text(min_size=1))), places, places)
def test_a_click_means_the_last_spot_that_holds_it(spots: list[tuple[Area, str]], row: int, column: int) -> None:
    canvas = Canvas(20, 30)
    for area, key in spots:
        canvas.spot(area, key)
    assert canvas.key_at(row, column) == next((key for area, key in reversed(spots) if area.holds(row, column)), None)


@FEW
@given(areas)
def test_what_is_cleared_is_blank_and_cannot_be_clicked(area: Area) -> None:
    canvas = Canvas(20, 30)
    for row in range(20):
        canvas.put(row, 0, "x" * 30, Look.BOLD)
        canvas.spot(Area(row, 3, 1, 2), "x")
    canvas.clear(area)
    for row in range(20):
        for column in range(30):
            assert canvas.texts[row][column] == (" " if area.holds(row, column) else "x")
        assert (canvas.key_at(row, 3) is None) == area.holds(row, 3)


@FEW
@given(areas)
def test_a_look_is_added_to_an_area_alone(area: Area) -> None:
    canvas = Canvas(20, 30)
    canvas.put(3, 3, "x", Look.DIM)
    canvas.add_look(area, Look.REVERSED)
    for row in range(20):
        for column in range(30):
            before = Look.DIM if (row, column) == (3, 3) else Look.PLAIN
            assert canvas.looks[row][column] == before | (Look.REVERSED if area.holds(row, column) else Look.PLAIN)


@FEW
@given(st.sampled_from([*NAMES, "q", "?"]), st.text("abc xyz"))
def test_a_button_is_as_wide_as_is_said_and_means_its_key(key: str, label: str) -> None:
    canvas = Canvas(3, 60)
    end = canvas.button(1, 2, key, label, "do ")
    assert end - 2 == button_width(key, label)
    assert {canvas.key_at(1, column) for column in range(2, end)} == {f"do {key}"}
    assert canvas.key_at(1, end) is canvas.key_at(0, 2) is None
