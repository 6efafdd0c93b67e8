"""Why an answer is so: its proof, if it has one, and how much is certain if it has none."""

from collections.abc import Iterator
from typing import Any

import click

from oracle.answers import Analysis
from oracle.cli.drawing import draw
from solver.games.board import BoardGame, BoardPosition

_LETTERS = "abcdefghijklmnpqrstuvwyz"
"""The letters that mark pairs: x and o look like marks of the sides."""

STORED = (
    "The store has the exact score of every position. Two solvers that share no search had to agree before it was "
    "written: on every position of a small board, on a sample of a large one."
)
SEARCHED = "The search has followed every way to go on as far as it matters: all scores are exact."
FOUND = "The outcome is certain, because every reply was searched; a shorter way may exist."
KNOWN = "The score is exact, although the scores of some moves are not known."
ESTIMATE = "Nothing is proved: this is an estimate."
NOTHING = "Nothing is proved: no forced win was found in time."


def why(position: BoardPosition, analysis: Analysis, marks: str = "") -> str:
    """Return the reason for an answer as text within 80 columns, a certificate with its pairs drawn on the board.

    `marks` are those of the side that began and the other, if they are not the game's own.
    """
    said = [click.wrap_text(f"Why: {_reason(position, analysis)}", 79)]
    if analysis.proof:
        for title, drawn in _drawn(position, analysis.proof, marks):
            said += ["", drawn, "", click.wrap_text(title, 79)]
    return "\n".join(said)


def _reason(position: BoardPosition, analysis: Analysis) -> str:
    if analysis.over:
        cells = " ".join(position.game.cell_name(cell) for cell in sorted(position.ending()))
        return f"the cells of a whole line are taken by one side: {cells}." if cells else "the board is full."
    if analysis.proof:
        return str(analysis.proof["text"])
    if analysis.source == "store":
        return STORED
    if analysis.exact:
        return SEARCHED
    if analysis.settled:
        return FOUND if analysis.bound else KNOWN
    return NOTHING if analysis.estimate is None else ESTIMATE


def _drawn(position: BoardPosition, proof: dict[str, Any], marks: str) -> Iterator[tuple[str, str]]:
    """Yield what a proof looks like on the board, each drawing with what it shows."""
    game = position.game
    if "line" in proof:
        numbers = {game.cell(name): str(number) for number, name in enumerate(proof["line"], 1)}
        yield "The numbers are the moves of that line.", draw(position, numbers, marks=marks)
    stops = [stop for stop in proof.get("stops", ()) if "pairs" in stop]
    if len(stops) == 2 and all(stops[0].get(part) == stops[1].get(part) for part in ("pairs", "first")):
        yield "Cells with the same letters are a pair.", _pairs(position, stops[0], marks)
        return
    for stop in stops:
        first = f", after {stop['first']} in brackets" if "first" in stop else ""
        yield f"Pairs that stop {stop['side']}{first}: the same letters are a pair.", _pairs(position, stop, marks)


def _pairs(position: BoardPosition, stop: dict[str, Any], marks: str) -> str:
    game: BoardGame[Any] = position.game
    notes = {game.cell(name): _code(number) for number, pair in enumerate(stop["pairs"]) for name in pair}
    first = game.cell(stop["first"]) if "first" in stop else None
    return draw(position, notes, bracketed=first, marks=marks)


def _code(number: int) -> str:
    """Return the letters that stand for a pair: `a` to `z` without o and x, then `aa` and so on."""
    letters, number = "", number + 1
    while number:
        number, letter = divmod(number - 1, len(_LETTERS))
        letters = _LETTERS[letter] + letters
    return letters
