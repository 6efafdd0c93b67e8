"""Grades as text of 80 columns."""

from collections.abc import Iterator
from math import floor

from play.lab.grades import ALL, CANONICAL, DECISIVE, Grade, Share
from play.match import FORFEITED
from solver.games.lines import Game
from solver.text import printable

_RESULTS = {1: "a win", 0: "a draw", -1: "a loss"}

_CLASSES = {
    "take": "a win to take",
    "stop": "one to stop",
    "only": "only move",
    "trap": "trap",
    "lost": "lost",
    "indifferent": "indifferent",
}

_BAR, _WIDTH = 40, 76


def report_of(grade: Grade) -> str:
    """Return all that a grade says."""
    return "\n".join([f"{printable(grade.player)} on {grade.game}", "", *_values(grade), *_shares(grade)])


def _values(grade: Grade) -> Iterator[str]:
    sides = list(grade.value)
    if grade.why_not_exact:
        yield from _wrapped(f"Values are not exact: {grade.why_not_exact}.")
    if not sides:
        yield ""
        return
    yield f"{'':19}" + "".join(f"{f'as {side}':>9}" for side in sides)
    away = grade.given_away
    if away is not None:
        nash = grade.nash_conv or 0.0
        yield _row("given away", away) + f"   {'' if grade.exact else 'at least '}{nash:.4g} in all (NashConv)"
        if grade.exact:
            yield f"{'exploitability':19}{nash / 2:>9.4g}{'':9}   as OpenSpiel has it: half of NashConv"
    yield _row("result", grade.value) + f"   {'exact, against best replies' if grade.exact else 'in games, not exact'}"
    if grade.perfect is not None:
        results = [_RESULTS[grade.perfect if side == sides[0] else -grade.perfect] for side in sides]
        yield f"{'perfect play':19}" + "".join(f"{result:>9}" for result in results)
    if grade.v_random:
        yield _row("against random", grade.v_random) + "   exact, on average"
    for side, estimate in grade.estimates.items():
        yield (
            f"As {side}: {estimate.games} games against {estimate.opponent}, 95% interval {estimate.low:+.2f} to "
            f"{estimate.high:+.2f}."
        )
    for side, record in grade.refutations.items():
        moves = [record.match.rules.write(move) for move in record.match.moves]
        foul = (
            " and then a claim of a taken cell" if any(event.kind == FORFEITED for event in record.match.events) else ""
        )
        yield from _wrapped(f"As {side} it goes wrong soonest so: {' '.join(moves)}{foul}")
    yield ""


def _shares(grade: Grade) -> Iterator[str]:
    if grade.shares is None:
        yield f"No scores of {grade.game} are known, so moves were not graded: ttt4-solve build --game {grade.game}"
        return
    yield f"Outcome kept, in {_which(grade.positions, grade.shares.of().positions)}:"
    if grade.varies:
        yield "(It answers differently from time to time: these are the answers of one time.)"
    intervals = grade.intervals
    for name, share in (("decisive", grade.shares.of(*DECISIVE)), ("kept", grade.shares.of())):
        between = f", {100 * intervals[name][0]:.2f} to {100 * intervals[name][1]:.2f}" if name in intervals else ""
        yield f"  {'decisive' if name == 'decisive' else 'all':16}{_percent(share.kept)}{between}{_of(share)}"
    yield f"  {'best move':16}{_percent(grade.optimal)}"
    if grade.shares.invalid:
        yield f"  {'taken cells':16}{_percent(grade.shares.invalid)} of its choices, which lose"
    yield ""
    for kind, share in grade.by_class.items():
        yield f"  {_CLASSES[kind]:16}{_percent(share.kept)}{_of(share)}"
    decisive = [(ply, share.positions, 1 - share.kept) for ply, _, share in grade.by_ply if share.kept is not None]
    worst = max((wrong for _, _, wrong in decisive), default=0.0)
    yield from ("", "Outcomes given away by ply, in decisive positions:" if worst else "No outcome is given away.")
    for ply, positions, wrong in decisive if worst else []:
        yield f"  {ply:2}{positions:14,.0f}{100 * wrong:9.3f} % {'#' * round(_BAR * wrong / worst)}".rstrip()


def _which(positions: str | int, count: float) -> str:
    if positions == ALL:
        return f"all {count:,.0f} positions"
    if positions == CANONICAL:
        return f"the {count:,.0f} canonical positions (symmetric ones count as one)"
    return f"{count:,.0f} random positions, with 95% intervals"


def _row(name: str, numbers: dict[str, float] | dict[str, None]) -> str:
    return f"{name:19}" + "".join(f"{'' if number is None else f'{number:.4g}':>9}" for number in numbers.values())


def _percent(share: float | None) -> str:
    return f"{'-':>10}" if share is None else f"{percent(share, 3):>10}"


def _of(share: Share) -> str:
    return f" of {share.positions:,.0f}"


def _wrapped(text: str, width: int = 79) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = "   "
        line = f"{line} {word}" if line else word
    yield line


def percent(share: float, digits: int = 2) -> str:
    """Return a share in percent, rounded down, so that only all of it reads 100."""
    return f"{floor(share * 100 * 10**digits + 1e-9) / 10**digits:.{digits}f} %"


def board_rows(board: Game, cells: list[str]) -> list[str]:
    """Return what belongs to each cell, laid out as the board or, if that is too wide, cell by cell."""
    width = max(map(len, cells))
    if board.columns * (width + 1) > _WIDTH:
        return list(_wrapped(", ".join(f"{board.cell_name(cell)} {text}" for cell, text in enumerate(cells)), _WIDTH))
    places = dict(zip(board.squares, cells, strict=True))
    return [
        " ".join(f"{places.get(row * board.columns + column, ''):>{width}}" for column in range(board.columns)).rstrip()
        for row in range(board.rows)
    ]
