"""What the oracle knows of a match on a screen: asked for in the background, kept, and put into notes and words."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from oracle.answers import Analysis
from oracle.cli.drawing import legend, verdicts
from oracle.cli.large import is_large, legend_of, notes_of
from oracle.oracle import Oracle
from play.advice import analyse
from play.graded import Graded
from play.match import Match
from play.review import Review
from play.screen.app import App
from play.screen.canvas import Look
from play.sitting import Sitting
from solver.games.board_rules import BoardState
from solver.games.cell_rules import CellRules
from solver.games.score import MARGIN

Note = tuple[str, Look]

_LOOKS = {"win": Look.WIN, "draw": Look.PLAIN, "loss": Look.LOSS, None: Look.DIM}
"""How verdicts look; their signs say the same."""


class Known(NamedTuple):
    """What is known of a position."""

    analysis: Analysis
    wrong: dict[int, int]
    """By the cell of a move, how many replies to it would go wrong; empty unless all moves are equally good."""


class Knowledge:
    """What is known of a sitting's matches."""

    def __init__(self, app: App, sitting: Sitting, fail: Callable[[BaseException], None]) -> None:
        """Know nothing yet; `fail` is told of errors."""
        self._app, self._sitting, self._fail = app, sitting, fail
        self._rules: CellRules = sitting.rules  # type: ignore[assignment]  # the screen shows no other
        self._known: dict[object, Known] = {}
        self._asked: set[object] = set()
        self.review: Review | None = None
        """The review of the match as it stands; None if nobody has asked for it."""

    def of(self, state: BoardState[Any]) -> Known | None:
        """Return what is known of a state; None if nothing is, yet."""
        return self._known.get(self._rules.key(state)) if self._known else None

    def ask(self, state: BoardState[Any], others: Iterable[BoardState[Any]]) -> None:
        """Ask about a state and, where that takes no time, about others."""
        for each in [state, *(others if self._sitting.answers_quickly else ())]:
            key = self._rules.key(each)
            if key not in self._asked:
                self._asked.add(key)
                self._ask_about(each, key)

    def _ask_about(self, state: BoardState[Any], key: object) -> None:
        sitting, rules = self._sitting, self._rules
        match, counting = sitting.match.copy(), sitting.answers_quickly

        def look() -> Known:
            oracle = sitting.roster.oracle()
            analysis = analyse(oracle, match, state)
            alike = counting and len({(move.score, move.outcome) for move in analysis.moves}) == 1
            return Known(analysis, _wrong_replies(rules, oracle, match, state, analysis) if alike else {})

        self._app.ask(look, lambda known: self._known.update({key: known}), self._fail)

    def ask_review(self, then: Callable[[Review], None]) -> None:
        """Review the match as it stands."""
        sitting, match, version = self._sitting, self._sitting.match, len(self._sitting.match)

        def take(review: Review) -> None:
            if match is sitting.match and version == len(match):
                self.review = review
                self.ask(match.state, match.states)
                then(review)

        self._app.ask(sitting.review, take, self._fail)

    @property
    def lessons(self) -> list[Graded]:
        """The moves from which something can be learned, if the match was reviewed."""
        return self.review.lessons if self.review else []

    def lesson(self, number: int) -> Graded | None:
        """Return the grade of a move, if something can be learned from it."""
        return next((move for move in self.lessons if move.number == number), None)

    def values(self) -> dict[int, float]:
        """Return by ply what the known positions of the match are worth: from 1, the first side's win, to -1."""
        first, found = self._rules.sides[0], dict[int, float]()
        for ply, state in enumerate(self._sitting.match.states):
            known = self.of(state)
            value = known and _value(known.analysis, first, self._rules.game.cells)
            if value is not None:
                found[ply] = value
        return found

    def notes(self, state: BoardState[Any]) -> dict[int, Note]:
        """Return what every move leads to, in short, as far as it is known: the best are marked as in a query."""
        known = self.of(state)
        if known is None or known.analysis.over:
            return {}
        analysis, wrong = known
        looks = {move.cell: _LOOKS[move.outcome] | (Look.BOLD if move.best else Look(0)) for move in analysis.moves}
        if is_large(analysis):
            return {cell: (text, looks[cell]) for cell, text in _large_notes(analysis).items()}
        best = {move.cell for move in analysis.moves if move.best} if not wrong else set()
        return {
            cell: (text + (f"/{wrong[cell]}" if wrong.get(cell) else "") + "*" * (cell in best), looks[cell])
            for cell, text in verdicts(analysis).items()
        }

    def told(self, state: BoardState[Any]) -> str:
        """Return in words what is known of a state, and what its notes mean."""
        known = self.of(state)
        if known is None:
            return "Looking …" if self._rules.key(state) in self._asked else ""
        if known.analysis.over:
            return ""
        analysis, wrong = known
        told = f"{analysis.to_move}: {analysis.verdict}."
        if is_large(analysis):
            return f"{told} {legend_of(analysis)}"
        if any(wrong.values()):
            return f"{told} All moves are equally good; /n: n replies would go wrong."
        return f"{told} {'All moves are equally good' if wrong else legend(analysis.scale)}."


def _large_notes(analysis: Analysis) -> dict[int, str]:
    notes = notes_of(analysis)
    signs, stars = notes.signs, notes.starred
    texts = {cell: text + signs.get(cell, "") + "*" * (cell in stars) for cell, text in notes.texts.items()}
    if notes.promising is not None:
        texts[notes.promising] = f"({texts.get(notes.promising, '·')})"
    return texts


def _wrong_replies(
    rules: CellRules, oracle: Oracle, match: Match[Any], state: BoardState[Any], analysis: Analysis
) -> dict[int, int]:
    """Return by move how many replies to it would change the outcome for the worse."""
    wrong = {}
    for move in analysis.moves:
        after = analyse(oracle, match, rules.play(state, move.cell))
        wrong[move.cell] = sum(reply.outcome != after.outcome for reply in after.moves)
    return wrong


def _value(analysis: Analysis, first: str, cells: int) -> float | None:
    """Return what a position is worth for a side: the sooner a win, the more; None if nothing is known."""
    sign = 1 if analysis.to_move in (first, None) else -1
    if analysis.over:
        return 0.0 if analysis.winner is None else 1.0 if analysis.winner == first else -1.0
    if analysis.estimate is not None:
        return sign * (2 * analysis.estimate - 1) * 0.9
    if analysis.outcome is None:
        return None
    if not analysis.score:
        return 0.0
    counted = analysis.scale == MARGIN
    near = min(1.0, abs(analysis.score) / 10) if counted else 1 - (analysis.plies or 0) / (cells + 1)
    return sign * (0.5 + near / 2) * (1 if analysis.score > 0 else -1)
