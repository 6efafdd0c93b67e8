"""What the oracle knows of a match's state, with the marks that people see."""

import re
from typing import Any

from oracle.answers import Analysis
from oracle.oracle import Oracle
from play.match import Match
from solver.games.board_rules import BoardState
from solver.games.line_rules import LineRules


def analyse(oracle: Oracle, match: Match[Any], state: BoardState[Any], seconds: float | None = None) -> Analysis:
    """Return the oracle's analysis of a state of a game on a board, with marks exchanged where O began.

    A live search takes up to `seconds`, if they are given, but as nodes: so it finds the same each time.
    """
    analysis = oracle.analysis(state.position, seconds, steady=seconds is not None)
    rules = match.rules
    if not isinstance(rules, LineRules) or rules.first == "X":
        return analysis
    return analysis._replace(
        to_move=_OTHER[analysis.to_move], winner=_OTHER[analysis.winner], board=rules.encode(state),
        proof=analysis.proof and _exchanged(analysis.proof),
    )  # fmt: skip


_OTHER = {None: None, "X": "O", "O": "X"}


def _exchanged(proof: dict[str, Any]) -> dict[str, Any]:
    """Return a proof with the marks exchanged: those of the sides that it is about, and those in its text."""
    told = {**proof, "text": re.sub(r"\b[XO]\b", lambda mark: str(_OTHER[mark[0]]), proof["text"])}
    if "side" in proof:
        told["side"] = _OTHER[proof["side"]]
    if "stops" in proof:
        told["stops"] = [{**stop, "side": _OTHER[stop["side"]]} for stop in proof["stops"]]
    return told
