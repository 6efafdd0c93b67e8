"""Large boards: what is drawn and told where an answer is mostly an estimate, or a proof.

A number is about how many percent of the points a move promises, and the most promising move is in parentheses: only
what is certain has a star. Cells of threats have a sign; cells of which nothing is known have a dot.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oracle.answers import Analysis, Move, percent

LINE_SIGN, TWO_SIGN = "!", ":"
"""The signs of cells that complete or block a line, and of those where a side makes two threats at once."""

PROMISING = 3
"""How many moves are named if none has an estimate."""

_CELLS = 8
"""How many cells of one kind of threat are named."""

_FEW = 20
"""So many losing moves are marked on the board; more would be a wall, and what does not lose is named instead."""


class Notes(NamedTuple):
    """What is drawn in the cells of a large board."""

    texts: Mapping[int, str]
    starred: frozenset[int] = frozenset()
    """The cells of moves that are certainly best."""
    promising: int | None = None
    """The cell of the move that looks best."""
    signs: Mapping[int, str] = {}


def is_large(analysis: Analysis) -> bool:
    """Tell whether an answer is about a large board, unless a search has settled every move of it."""
    return analysis.threats is not None and (not analysis.exact or analysis.proof is not None)


def notes_of(analysis: Analysis) -> Notes:
    """Return what is drawn of each move: nothing if all are equally good, or all lose."""
    texts, starred = {}, frozenset[int]()
    if not of_no_matter(analysis):
        few = len(_losing(analysis)) <= _FEW
        told = ("win", "loss") if few else ("win",)
        known = [move for move in analysis.moves if move.estimate is not None or move.outcome in told]
        texts = {move.cell: _text(move) for move in known}
        starred = frozenset([move.cell for move in analysis.moves if move.best])
    first = promising(analysis)[:1]
    cells = {move.move: move.cell for move in analysis.moves}
    threats = analysis.threats or {}
    signs = {cells[name]: TWO_SIGN for kind in ("makes_two", "stops_two") for name in threats.get(kind, ())}
    signs |= {cells[name]: LINE_SIGN for kind in ("completes", "blocks") for name in threats.get(kind, ())}
    for cell in signs.keys() - texts.keys():
        texts[cell] = signs.pop(cell)
    return Notes(texts, starred, first[0].cell if first else None, signs)


def of_no_matter(analysis: Analysis) -> bool:
    """Tell whether it is certain that every move leads to the same outcome."""
    outcomes = {move.outcome for move in analysis.moves}
    return outcomes == {"loss"} or (analysis.exact and outcomes == {"draw"})


def promising(analysis: Analysis) -> Sequence[Move]:
    """Return the moves that look best where none is known to be, the best first."""
    if analysis.best or of_no_matter(analysis):
        return ()
    rated = [move for move in analysis.moves if move.estimate is not None]
    return rated or analysis.moves[: PROMISING if analysis.depth is None else 1]


def facts_of(analysis: Analysis) -> list[tuple[str, str]]:
    """Return what there is to say of the moves, each fact with its title."""
    told = []
    if of_no_matter(analysis):
        told.append(("Moves", f"every move {'draws' if analysis.outcome == 'draw' else 'loses'}"))
    elif analysis.best:
        told.append(("Best", " ".join(analysis.best)))
    else:
        told.append(("Promising", ", ".join(map(_rated, promising(analysis)))))
    others = [move.move for move in analysis.moves if move.outcome != "loss"]
    if len(_losing(analysis)) > _FEW and len(others) <= _FEW and not of_no_matter(analysis):
        told.append(("Losing", f"every move but {' '.join(others)}"))
    if threats := threats_in_words(analysis):
        told.append(("Threats", threats))
    if analysis.mainline and not (of_no_matter(analysis) and analysis.outcome == "draw"):
        title = "Main line" if analysis.score else "Expects"
        told.append((title, " ".join([*analysis.mainline, *([] if analysis.mainline_complete else ["..."])])))
    return told


def threats_in_words(analysis: Analysis) -> str:
    """Return which cells are threats of which side; nothing if there are none."""
    side, threats = analysis.to_move or "", analysis.threats or {}
    other = "O" if side == "X" else "X"
    said = []
    for kind, whose, what in (
        ("completes", side, "completes a line"), ("blocks", other, "completes a line"),
        ("makes_two", side, "makes two threats at once"), ("stops_two", other, "makes two threats at once"),
    ):  # fmt: skip
        if cells := threats.get(kind):
            more = " ..." if len(cells) > _CELLS else ""
            said.append(f"{whose} {what} with {' '.join(cells[:_CELLS])}{more}")
    return "; ".join(said)


def legend_of(analysis: Analysis) -> str:
    """Return what the numbers and signs of the drawing mean; nothing if it has none."""
    texts, starred, first, signs = notes_of(analysis)
    seen = {*texts.values(), *signs.values()}
    said = []
    if any(text.isdigit() for text in seen):
        said.append("n about n% of the points, an estimate")
    said += [f"{sign} {what}" for sign, what in (("+", "wins"), ("-", "loses")) if sign in seen]
    if starred:
        said.append("* best")
    if first is not None:
        said.append("( ) looks best")
    if LINE_SIGN in seen:
        said.append(f"{LINE_SIGN} completes a line, for either side")
    if TWO_SIGN in seen:
        said.append(f"{TWO_SIGN} makes two threats, for either side")
    return f"For {analysis.to_move}: {', '.join(said)}." if said else ""


def _losing(analysis: Analysis) -> list[str]:
    return [move.move for move in analysis.moves if move.outcome == "loss"]


def _text(move: Move) -> str:
    if move.score:
        return "+" if move.score > 0 else "-"
    return str(percent(move.estimate or 0))


def _rated(move: Move) -> str:
    return move.move if move.estimate is None else f"{move.move} {percent(move.estimate)}%"
