"""Pictures: a state as text on a terminal."""

from collections.abc import Mapping
from typing import Any

from oracle.cli.drawing import draw_cells
from oracle.cli.large import Notes
from solver.games.cell_rules import SetRules
from solver.games.rules import Rules
from solver.games.wide import WideRules


def picture(rules: Rules[Any], state: Any, notes: Mapping[int, str] | None = None, large: Notes | None = None) -> str:
    """Return a state drawn, with notes in the cells of some moves; games without a picture show their text.

    On a board the last move is in brackets, and the lines that ended the game are starred. Where tiles are counted,
    their numbers stand below. `large` has the notes of a large board instead. Of a wide board a part is drawn.
    """
    if isinstance(rules, WideRules):
        from play.window import drawn_part  # only now: other games do without

        return drawn_part(rules, state)
    if not isinstance(rules, SetRules):
        return rules.encode(state)
    ended = rules.ending(state) if state.outcome else ()
    drawn = draw_cells(rules.game, rules.marked(state), notes or {}, ended, None if ended else state.last, large)
    return f"{drawn}\n\n{count}" if (count := rules.count(state)) else drawn
