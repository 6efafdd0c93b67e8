"""What the oracle knows of a match's state, with the marks that people see."""

from typing import Any

from oracle.answers import Analysis
from oracle.oracle import Oracle
from play.match import Match
from solver.games.board_rules import BoardState
from solver.games.line_rules import LineRules


def analyse(oracle: Oracle, match: Match[Any], state: BoardState[Any]) -> Analysis:
    """Return the oracle's analysis of a state of a game on a board, with marks exchanged where O began."""
    analysis = oracle.analysis(state.position)
    rules = match.rules
    if not isinstance(rules, LineRules) or rules.first == "X":
        return analysis
    exchanged = {None: None, "X": "O", "O": "X"}
    return analysis._replace(
        to_move=exchanged[analysis.to_move], winner=exchanged[analysis.winner], board=rules.encode(state)
    )
