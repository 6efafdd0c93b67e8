"""Learning curves: where points are drawn, how numbers are written, and what is said where nothing is known."""

import re
from typing import Any

import pytest

from play.lab.curves import as_text, curve_of, games_text, kept_by_ply, measure_of, power_of, range_of, summary, tick
from play.lab.formats import Checkpoint
from play.lab.runs import Run, RunError
from play.lab.svg import as_svg

UNKNOWN = {**dict.fromkeys(Checkpoint.__struct_fields__), "by_ply": {}}


def told(*decisive: float | None, game: str = "4,4,4", **more: Any) -> Run:
    """A run with a checkpoint every 100 games, whose metrics are not read."""
    run = Run("told", {"game": game})
    lines = [{**UNKNOWN, "games": 100 * (i + 1), "decisive": share, **more} for i, share in enumerate(decisive)]
    run.metrics = lambda: lines  # type: ignore[method-assign]
    return run


def points(*runs: Run) -> list[list[tuple[int, float]]]:
    return measure_of([curve_of(run) for run in runs]).points


def plotted(text: str) -> list[str]:
    """The rows of a plot, without what is beside them."""
    return [line[11:] for line in text.splitlines() if re.match(r"^.{9} \|", line)]


def test_a_curve_is_what_is_given_away_in_decisive_positions() -> None:
    assert points(told(0.5, 0.75, 1.0)) == [[(100, 0.5), (200, 0.25), (300, 0.0)]]


def test_where_no_scores_are_known_it_is_what_is_given_away_against_best_replies() -> None:
    assert points(told(None, None, nash_conv=0.5)) == [[(100, 0.5), (200, 0.5)]]
    assert points(told(0.9, nash_conv=2.0), told(None, nash_conv=0.5)) == [[(100, 2.0)], [(100, 0.5)]]
    text = as_text([told(None, nash_conv=0.5)])
    assert "told: 100 games, gives away 0.5" in text
    assert re.search(r"^ +100 +- +- +- +-$", text, re.M)


def test_a_run_that_was_never_graded_says_which_store_to_build() -> None:
    with pytest.raises(RunError, match=r"^run 'told' was never graded: build the store of 4,4,4, and train$"):
        as_text([told(0.5), told(None, None)])


def test_better_is_lower_and_later_is_further_right() -> None:
    rows = plotted(as_text([told(0.0, 0.9, 0.99, 0.999)]))
    places = [(row.index("a"), number) for number, row in enumerate(rows) if "a" in row]
    assert len(places) == 4
    assert places == sorted(places)
    assert places[0] == (16, 0)


def test_nothing_given_away_is_on_the_lowest_row_which_says_so() -> None:
    text = as_text([told(0.9, 1.0)])
    assert plotted(text)[-1].rstrip().endswith("a")
    assert sum("a" in row for row in plotted(text)) == 2
    assert "     none |" in text
    assert "none" not in as_text([told(0.9, 0.99)])


def test_every_power_of_ten_has_a_tick_in_percent() -> None:
    text = as_text([told(0.0, 0.5, 0.9998)])
    assert re.findall(r"^ *([\d.]+ %) \|", text, re.M) == ["100 %", "10 %", "1 %", "0.1 %", "0.01 %"]
    assert [tick(power, 100) for power in (0, -1, -2, -6)] == ["100 %", "10 %", "1 %", "0.0001 %"]
    assert [tick(power, 1) for power in (1, 0, -2)] == ["10", "1", "0.01"]


def test_the_range_holds_every_point() -> None:
    for shares in ([0.5], [1.0, 1.0], [0.0], [0.2, 0.9999999, 1.0], [0.999999999]):
        measure = measure_of([curve_of(told(*shares))])
        low, high, most = range_of(measure)
        assert (low < high, most) == (True, 100 * len(shares))
        assert all(low <= power_of(share, low) <= high for _, share in measure.points[0])


def test_any_number_of_runs_is_drawn_in_79_columns() -> None:
    last = {"by_ply": {str(ply): 0.5 for ply in range(27)}, "by_cell": [1.0] * 16, "kept": 0.5, "optimal": 0.25}
    for number in (1, 2, 3, 27, 60):
        runs: list[Run] = [told(0.5, 0.9, **last) for _ in range(number)]
        assert max(map(len, as_text(runs).splitlines())) <= 79
        assert as_svg(runs).count("<polyline") == 2 * number


def test_plies_are_shown_as_percent_given_away() -> None:
    text = as_text([told(0.5, by_ply={"0": None, "1": 1.0, "10": 0.5, "2": 0.9876})])
    assert re.search(r"^ +1 +2 +10\na +0.00 +1.24 +50.00$", text, re.M)
    assert kept_by_ply(curve_of(told(0.5, by_ply={"0": None, "3": 0.5}))) == {3: 0.5}


def test_cells_are_shown_where_they_are() -> None:
    run = told(0.5, by_cell=[i / 100 for i in range(9)], game="3,3,3")
    assert as_text([run]).endswith("   0.00 1.00 2.00\n   3.00 4.00 5.00\n   6.00 7.00 8.00")


def test_a_single_run_shows_at_most_ten_checkpoints_and_always_the_last() -> None:
    for number in (1, 9, 10, 11, 40, 95):
        rows = re.findall(r"^ +([\d,]+) +\d+\.\d+ % ", as_text([told(*[0.5] * number)]), re.M)
        assert 1 <= len(rows) <= 10
        assert rows[-1] == f"{100 * number:,}"
        assert number > 10 or len(rows) == number


def test_a_summary_rounds_down_so_that_only_all_reads_100() -> None:
    for kept, said in ((1.0, "100.00 %"), (0.999999, "99.99 %"), (0.12345, "12.34 %"), (0.0, "0.00 %")):
        line = summary(curve_of(told(0.5, kept=kept, nash_conv=0.125)))
        assert line == f"told: 100 games, kept {said}, gives away 0.125"


def test_numbers_of_games_are_short() -> None:
    assert [games_text(games) for games in (0, 5, 2_000, 600_000, 1e6, 2.5e6)] == [
        "0", "5", "2 k", "600 k", "1 M", "2.5 M",
    ]  # fmt: skip
