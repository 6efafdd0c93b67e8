"""Learning curves, of one run or several, as text of 80 columns.

Curves are of the outcomes given away in decisive positions or, where these are not known of all runs, of what is given
away against best replies. The scale is logarithmic, because learners that differ much may all keep more than 99 %.
"""

from collections.abc import Iterator
from math import ceil, floor, log10
from typing import Any, NamedTuple

from play.lab.report import board_rows, percent
from play.lab.runs import Run, RunError
from solver.text import printable

_WIDTH, _HEIGHT = 66, 14
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SEVERAL = "*"
_LEAST = 1e-6
_NAME, _ROWS, _PLIES = 30, 10, 10


class Curve(NamedTuple):
    """How a run has learned."""

    name: str
    metrics: list[dict[str, Any]]
    run: Run

    @property
    def last(self) -> dict[str, Any]:
        """The last checkpoint."""
        return self.metrics[-1]


class Measure(NamedTuple):
    """What curves are drawn of, and their points."""

    title: str
    unit: float
    """What one is shown as: 100 for percent."""
    points: list[list[tuple[int, float]]]
    """For each run, games, and what was given away after them."""


def as_text(runs: list[Run]) -> str:
    """Return curves, the last checkpoints, some earlier ones if there is but one run, and errors by ply and by cell."""
    curves = [curve_of(run) for run in runs]
    parts = [*_plot(measure_of(curves)), "", *_table(curves), *_over_time(curves), *_by_ply(curves), *_by_cell(curves)]
    return "\n".join(parts)


def curve_of(run: Run) -> Curve:
    """Return how a run has learned; raise RunError if it has no checkpoint."""
    metrics = run.metrics()
    if not metrics:
        raise RunError(f"run {run.folder!r} has no checkpoint yet: ttt4-play train --out {run.folder} --resume")
    folder = printable(run.folder)
    name = folder if len(folder) <= _NAME else f"...{folder[3 - _NAME :]}"
    return Curve(name, metrics, run)


def measure_of(curves: list[Curve]) -> Measure:
    """Return what all runs were measured by; raise RunError if there is no such thing."""
    for title, unit, name in (
        ("Outcomes given away in decisive positions, by games", 100.0, "decisive"),
        ("Given away against best replies (NashConv), by games", 1.0, "nash_conv"),
    ):
        points = [
            [(line["games"], 1 - line[name] if unit > 1 else line[name]) for line in curve.metrics
             if line[name] is not None]
            for curve in curves
        ]  # fmt: skip
        if all(points):
            return Measure(title, unit, points)
    unknown = next(curve for curve in curves if curve.last["decisive"] is None and curve.last["nash_conv"] is None)
    raise RunError(
        f"run {unknown.run.folder!r} was never graded: build the store of {unknown.run.game.name}, and train"
    )


def range_of(measure: Measure) -> tuple[int, int, int]:
    """Return the lowest and the highest power of ten, and the most games."""
    shares = [share for points in measure.points for _, share in points]
    least = max(min([share for share in shares if share > 0], default=0.1), _LEAST)
    low = floor(log10(least)) - (min(shares) <= 0)
    return (
        min(low, -1),
        max(0, ceil(log10(max(*shares, _LEAST)))),
        max(games for each in measure.points for games, _ in each),
    )


def power_of(share: float, low: int) -> float:
    """Return the power of ten that a share is, and no less than the lowest."""
    return max(log10(share), low) if share > 0 else low


def _plot(measure: Measure) -> Iterator[str]:
    low, high, most = range_of(measure)
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]

    def row_of(power: float) -> int:
        return round((_HEIGHT - 1) * (high - power) / max(high - low, 1))

    for number, points in enumerate(measure.points):
        letter = _LETTERS[number % 26]
        for games, share in points:
            row, column = row_of(power_of(share, low)), int(_WIDTH * games / (most + 1))
            rows[row][column] = letter if rows[row][column] in (" ", letter) else _SEVERAL
    yield from (measure.title, "")
    marks = {row_of(power): tick(power, measure.unit) for power in range(low, high + 1)}
    if any(share <= 0 for points in measure.points for _, share in points):
        marks[_HEIGHT - 1] = "none"
    for number, marked in enumerate(rows):
        yield f"{marks.get(number, ''):>9} |{''.join(marked)}".rstrip()
    yield f"{'':9} +{'-' * _WIDTH}"
    yield f"{'':11}0{games_text(most):>{_WIDTH - 1}}"


def _table(curves: list[Curve]) -> Iterator[str]:
    for number, curve in enumerate(curves):
        yield f"{_LETTERS[number % 26]}  {summary(curve)}"


def summary(curve: Curve) -> str:
    """Return a run's last checkpoint in a line."""
    last = curve.last
    shares = [f"{name} {percent(last[name])}" for name in ("kept",) if last[name] is not None]
    away = [f"gives away {last['nash_conv']:.3g}"] if last["nash_conv"] is not None else []
    games = f"{last['games']:,} games"
    return f"{curve.name}: {', '.join([games, *shares, *away])}"


def _over_time(curves: list[Curve]) -> Iterator[str]:
    """Yield some checkpoints of a single run, with what was given away as each side."""
    if len(curves) > 1:
        return
    metrics = curves[0].metrics
    yield from ("", f"{'games':>12}{'decisive':>12}{'kept':>12}{'optimal':>12}{'given away as X, O':>22}")
    step = max(1, ceil(len(metrics) / _ROWS))
    for line in metrics[::-1][::step][::-1]:
        shares = "".join(
            f"{'-' if line[name] is None else percent(line[name], 3):>12}" for name in ("decisive", "kept", "optimal")
        )
        away = line["given_away"]
        both = ", ".join(f"{given:.3g}" for given in away.values()) if away else "-"
        yield f"{line['games']:12,}{shares}{both:>22}"


def _by_ply(curves: list[Curve]) -> Iterator[str]:
    plies = sorted({ply for curve in curves for ply in kept_by_ply(curve)})
    if plies:
        yield from ("", "Given away by ply, in percent of decisive positions:")
    for start in range(0, len(plies), _PLIES):
        shown = plies[start : start + _PLIES]
        yield "   " + "".join(f"{ply:7}" for ply in shown)
        for number, curve in enumerate(curves):
            kept = [kept_by_ply(curve).get(ply) for ply in shown]
            yield f"{_LETTERS[number % 26]}  " + "".join(
                f"{'-' if share is None else f'{100 * (1 - share):.2f}':>7}" for share in kept
            )


def _by_cell(curves: list[Curve]) -> Iterator[str]:
    for number, curve in enumerate(curves):
        errors = curve.last["by_cell"]
        if errors and len(errors) == curve.run.game.cells:
            yield from ("", f"{_LETTERS[number % 26]}  Given away by cell, in percent of the moves there:")
            yield from (f"   {row}" for row in board_rows(curve.run.game, [f"{100 * e:.2f}" for e in errors]))


def kept_by_ply(curve: Curve) -> dict[int, float]:
    """Return the share of decisive positions of each ply in which the outcome is kept."""
    return {int(ply): kept for ply, kept in curve.last["by_ply"].items() if kept is not None}


def tick(power: int, unit: float) -> str:
    """Return a power of ten, in percent if one is shown as a hundred."""
    return f"{100 * 10.0**power:g} %" if unit > 1 else f"{10.0**power:g}"


def games_text(games: float) -> str:
    """Return a number of games, short."""
    return f"{games / 1e6:g} M" if games >= 1e6 else f"{games / 1e3:g} k" if games >= 1e3 else f"{games:g}"
