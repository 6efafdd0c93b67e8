"""Learning curves as an SVG picture: by games, by ply, and by cell. Runs differ by colour and by dashes."""

from collections.abc import Iterable
from html import escape

from play.lab.curves import (
    Curve,
    Measure,
    curve_of,
    games_text,
    kept_by_ply,
    measure_of,
    power_of,
    range_of,
    summary,
    tick,
)
from play.lab.runs import Run

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Okabe's and Ito's, which the colour-blind can tell apart."""

_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 5")

_LEFT, _WIDTH, _HEIGHT = 80, 640, 260
_BOARD = 220
_ABREAST = 3


def as_svg(runs: list[Run]) -> str:
    """Return curves by games, errors by ply, and a heat map of each run's errors by cell."""
    curves = [curve_of(run) for run in runs]
    measure = measure_of(curves)
    low, high, most = range_of(measure)
    parts = [*_axes(50, measure.title, measure.unit, low, high)]
    parts += [
        _text(_LEFT + _WIDTH * share, 50 + _HEIGHT + 18, games_text(most * share), "middle")
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]
    by_games = [[(games / most, power_of(share, low)) for games, share in points] for points in measure.points]
    parts += _lines(50, by_games, low, high)
    top = 50 + _HEIGHT + 50
    for number, curve in enumerate(curves):
        colour, dashes = _style(number)
        parts.append(
            f'<path d="M{_LEFT} {top - 4}h40" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
        )
        parts.append(_text(_LEFT + 50, top, summary(curve)))
        top += 20
    drawn, top = _by_ply(curves, top + 40)
    parts += drawn
    boards = [curve for curve in curves if len(curve.last["by_cell"] or ()) == curve.run.game.cells]
    for number, curve in enumerate(boards):
        row, column = divmod(number, _ABREAST)
        parts += _board(curve, _LEFT + column * _BOARD, top + row * (_BOARD + 30))
    bottom = top + -(-len(boards) // _ABREAST) * (_BOARD + 30)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 40} {bottom}" '
        'font-family="sans-serif" font-size="13"><title>Learning curves</title>'
        "<style>.grid{stroke:#ccc}.title{font-size:16px}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _by_ply(curves: list[Curve], top: int) -> tuple[list[str], int]:
    """Return the errors of each run by ply, and where the picture goes on."""
    kept = [kept_by_ply(curve) for curve in curves]
    last = max((ply for of_run in kept for ply in of_run), default=0)
    if not last:
        return [], top
    wrong = [[(ply, 1 - share) for ply, share in of_run.items()] or [(0, 1.0)] for of_run in kept]
    measure = Measure("Outcomes given away in decisive positions, by ply", 100.0, wrong)
    low, high, _ = range_of(measure)
    parts = [*_axes(top, measure.title, measure.unit, low, high)]
    parts += [_text(_LEFT + _WIDTH * ply / last, top + _HEIGHT + 18, str(ply), "middle") for ply in range(last + 1)]
    points = [[(ply / last, power_of(share, low)) for ply, share in of_run] for of_run in measure.points]
    return parts + _lines(top, points, low, high), top + _HEIGHT + 60


def _axes(top: int, title: str, unit: float, low: int, high: int) -> Iterable[str]:
    yield f'<text x="{_LEFT}" y="{top - 20}" class="title">{title}</text>'
    for power in range(low, high + 1):
        at = _height(top, power, low, high)
        yield f'<path class="grid" d="M{_LEFT} {at:.1f}h{_WIDTH}"/>'
        yield _text(_LEFT - 8, at + 4, tick(power, unit) if power > low else "less", "end")


def _lines(top: int, points: list[list[tuple[float, float]]], low: int, high: int) -> list[str]:
    """Return a line for each run through points: how far to the right, and the power of ten."""
    parts = []
    for number, of_run in enumerate(points):
        colour, dashes = _style(number)
        places = [f"{_LEFT + _WIDTH * right:.1f},{_height(top, power, low, high):.1f}" for right, power in of_run]
        parts.append(
            f'<polyline points="{" ".join(places)}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dashes}"/>'
        )
    return parts


def _board(curve: Curve, x: int, y: int) -> Iterable[str]:
    """Yield the heat map of a run's errors by cell."""
    errors, game = curve.last["by_cell"], curve.run.game
    side = min(45.0, (_BOARD - 20) / max(game.rows, game.columns))
    yield _text(x, y, f"{curve.name[-28:]}: by cell, %")
    for error, square in zip(errors, game.squares, strict=True):
        i, j = divmod(square, game.columns)
        shade = round(255 - 150 * error / max(*errors, 1e-9))
        yield (
            f'<rect x="{x + j * side:.1f}" y="{y + 10 + i * side:.1f}" width="{side - 2:.1f}" '
            f'height="{side - 2:.1f}" fill="rgb(255,{shade},{shade})" stroke="#888"/>'
        )
        yield _text(x + (j + 0.48) * side, y + 14 + (i + 0.5) * side, f"{100 * error:.2f}", "middle", 10)


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _height(top: int, power: float, low: int, high: int) -> float:
    return top + _HEIGHT * (high - power) / max(high - low, 1)


def _style(number: int) -> tuple[str, str]:
    return _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
