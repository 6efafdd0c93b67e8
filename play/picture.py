"""Pictures: a state as text on a terminal."""

from collections.abc import Mapping
from typing import Any

from oracle.cli.drawing import draw, ending_cells
from solver.games.line_rules import LineRules
from solver.games.rules import Rules


def picture(rules: Rules[Any], state: Any, notes: Mapping[int, str] | None = None) -> str:
    """Return a state drawn, with notes in the cells of some moves; games without a picture show their text.

    On a board of lines the last move is in brackets, and the lines that ended the game are starred.
    """
    if not isinstance(rules, LineRules):
        return rules.encode(state)
    ended = ending_cells(state.position) if state.outcome else ()
    return draw(state.position, notes or {}, ended, None if ended else state.last, rules.marks)
