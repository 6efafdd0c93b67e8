"""The page that `ttt4-query` prints: the board, the verdict, the best moves, and where the answer comes from."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

import click

from oracle.answers import Analysis
from oracle.cli.drawing import draw_verdicts, legend
from oracle.cli.large import PROMISING, facts_of, is_large, legend_of
from oracle.oracle import Oracle
from solver.engine import CELLS_MOST, takes
from solver.games.board import BoardPosition
from solver.games.lines import Game
from solver.index.layout import stored_plies
from solver.text import plies_in_words

PROVED = {
    "strategy": "a strategy", "defence": "a defence", "dead": "dead lines", "pairing": "a pairing",
    "weights": "the weights of the lines",
}  # fmt: skip
"""Kinds of proofs in words."""


def page(oracle: Oracle, position: BoardPosition, analysis: Analysis) -> str:
    """Return all that is known of a position, as text within 80 columns."""
    said = [draw_verdicts(position, analysis), ""]
    if analysis.over:
        said.append(f"{analysis.verdict[0].upper()}{analysis.verdict[1:]}.")
    else:
        said += _large(analysis) if is_large(analysis) else _settled(analysis)
    return "\n".join([*said, _origin(oracle, position, analysis)])


def _settled(analysis: Analysis) -> Iterator[str]:
    yield f"{analysis.to_move} to move: {analysis.verdict}."
    if analysis.best:
        yield _listed("Best", analysis.best)
    else:
        yield _listed("Promising", [move.move for move in analysis.moves[:PROMISING]])
    if analysis.mainline:
        cut = () if analysis.mainline_complete else ("... (cut short by --time)",)
        yield _listed("Main line", [*analysis.mainline, *cut])
    yield ""
    unsettled = "" if analysis.exact else ", ? not settled"
    yield f"For {analysis.to_move}: {legend(analysis.scale)}, * best{unsettled}."


def _large(analysis: Analysis) -> Iterator[str]:
    yield f"{analysis.to_move} to move: {analysis.verdict}."
    for title, fact in facts_of(analysis):
        yield _listed(title, fact.split(" "))
    yield ""
    if meaning := legend_of(analysis):
        yield click.wrap_text(meaning, 79)


def _listed(title: str, words: Sequence[str]) -> str:
    return click.wrap_text(" ".join(words), 79, f"{title:10} ", " " * 11)


def _origin(oracle: Oracle, position: BoardPosition, analysis: Analysis) -> str:
    if analysis.source == "store":
        return f"From the store {_path(oracle)}."
    if analysis.proof:
        proved = f"Proved by {PROVED[analysis.proof['kind']]}"
        where = f", in proofs/{analysis.proof['file']}" if "file" in analysis.proof else ""
        return f"{proved}{where}: --why shows it."
    if analysis.exact:
        return "From a live search: exact."
    if analysis.depth is not None:
        plies = plies_in_words(analysis.depth)
        searched = f"From a live search, {plies} deep, {analysis.nodes:,} positions"
        return click.wrap_text(f"{searched}: an estimate. Allow more with --time.", 79)
    if isinstance(oracle.game, Game) and oracle.estimates:
        if not takes(oracle.game):
            return f"From a plain search: the engine takes boards of up to {CELLS_MOST} cells."
        late = "From a plain search: the engine was not loaded in time, as on its first use, when it is compiled."
        return click.wrap_text(f"{late} Ask again in some seconds.", 79)
    unfinished = f"not finished in {oracle.seconds:g} s: allow more with --time."
    if oracle.source == "book" and position.stones <= stored_plies(position.game):
        return click.wrap_text(f"From the store {_path(oracle)}, its moves from a live search, {unfinished}", 79)
    return f"From a live search, {unfinished}"


def _path(oracle: Oracle) -> str:
    with suppress(OSError):  # somebody deleted the current folder
        path = os.path.relpath(oracle.path)
        return oracle.path if path.startswith(os.pardir) else path
    return oracle.path
