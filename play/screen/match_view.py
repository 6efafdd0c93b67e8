"""A match on a screen: the position that is shown, what follows from a move, and how all of it is drawn."""

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from play.match import Match, MatchError
from play.opening import Opening
from play.players.player import LEVELLED, read_player
from play.players.roster import Roster
from play.review import Review
from play.screen.app import App
from play.screen.board_view import BoardView
from play.screen.boards import Shown
from play.screen.canvas import Area, Canvas, Look
from play.screen.evening import Evening
from play.screen.knowledge import Knowledge, Note
from play.screen.side import GRAPH_ROWS, Listed, draw_graph, draw_moves, draw_players
from play.sitting import Sitting
from play.words import ending, in_sentences, sentence, summary
from solver.errors import Ttt4Error
from solver.games.board import cells_of, column_name
from solver.games.board_rules import captured_by
from solver.games.cell_rules import CellRules
from solver.games.line_rules import LineRules
from solver.games.lines import Game
from solver.games.rules import Rules
from solver.games.wide import WideRules

WATCHED = 0.5
"""How many seconds each move takes at least where nobody plays but machines, so that people can watch."""


class MatchView(BoardView):
    """One match after another; what keys do is for a subclass to say."""

    def __init__(self, app: App, opening: Opening, sitting: Sitting, evening: Evening) -> None:
        """Show a sitting's match, and go on with it."""
        self._opening, self._evening = opening, evening
        self._showing = self._pointing = False
        self._notice = ""
        self._take(app, sitting)
        super().__init__(app, self.rules.game)
        self._go_on()

    def listen(self, told: list[str]) -> None:
        """Show what was told already, and what is told from now on, by a sitting or as a warning."""
        warnings.showwarning = lambda message, *where, **more: self._take_notice(str(message))
        self.sitting.listen(self._take_notice)
        self._notice = " ".join(told)

    def _take_notice(self, text: str) -> None:
        """Show what nobody has asked for, before all else, until the next key."""
        self._notice = text

    @property
    def match(self) -> Match[Any]:
        """The match that is played now."""
        return self.sitting.match

    @property
    def _at(self) -> int:
        """After how many moves the position is that is shown."""
        return len(self.match.moves) if self._viewed is None else self._viewed

    @property
    def _state(self) -> Any:
        return self.match.states[self._at]

    def heed(self, key: str) -> None:
        """Heed a key; what it cannot do is told in a sentence."""
        self._notice = ""
        try:
            if key.startswith("ply "):
                self._view(int(key.removeprefix("ply ")))
            else:
                super().heed(key)
        except Ttt4Error as error:
            self.tell(sentence(str(error)))

    def claim(self, cell: int) -> None:
        """Make a move, from the position that is shown."""
        session = self.sitting.session
        if self._viewed is None and session.machine_to_move:
            raise MatchError(
                self._stuck or f"it is {self.match.to_move}'s turn: {self._called(self.match.to_move or '')}"
            )
        side = self.rules.to_move(self._state)
        if refusal := self.rules.refusal(self._state, cell):
            raise MatchError(refusal)
        if self._viewed is not None:
            if side not in self.sitting.people:
                raise MatchError(f"{side} is to move here, {self._called(side or '')}; o plays on from here")
            session.return_to(self._viewed)
        session.play(side or "", cell)
        self._moved()

    def begin(self, rules: Rules[Any], names: dict[str, str]) -> None:
        """Begin a match of perhaps another game between perhaps other players."""
        old, opening = self.sitting, self._opening

        def take(begun: tuple[Sitting, str]) -> None:
            sitting, self._notice = begun
            self.app.left.callback(sitting.roster.close)
            self._take(self.app, sitting)
            self.take_game(self.rules.game)
            self.message = ""
            self.app.ask(old.roster.close, lambda _: None, self._fail)
            self._go_on()

        self._wait("Beginning …", lambda: opening.sitting(rules, names, self._take_notice), take, lane="opening")

    def _take(self, app: App, sitting: Sitting) -> None:
        """Show another sitting."""
        self.sitting = sitting
        self.rules: CellRules = sitting.rules  # type: ignore[assignment]  # the screen shows no other
        self._knowledge = Knowledge(app, sitting, self._fail)
        self._usual: str | None = None  # the opponent before the strongest one was called
        self._begin()

    def _begin(self) -> None:
        """Forget what belonged to the position before this one, and what is under way for it."""
        self._turn = object()
        self._viewed: int | None = None
        self._lesson: int | None = None
        self._hinted: int | None = None
        self._waiting = self._stuck = ""
        self._knowledge.review = None

    def _view(self, ply: int) -> None:
        """Show the position after so many moves."""
        last = len(self.match.moves)
        self._viewed = None if ply >= last else max(0, ply)
        self._lesson = self._hinted = None
        lesson = self._knowledge.lesson(self._at)
        self.message = in_sentences(lesson) if lesson else f"Position after {self._at} of {last} moves."
        if self._showing:
            self._ask_what_is_known()

    def _return(self) -> None:
        self._view(len(self.match.moves))

    def _ask_what_is_known(self) -> None:
        self._knowledge.ask(self._state, self.match.states)

    # What follows from a move

    def _moved(self) -> None:
        """Show what has changed, and go on."""
        self._begin()
        if isinstance(self.rules, WideRules) and self.match.moves:
            self.cursor = self.match.moves[-1]  # which may be far from what was seen
        self.message = ""
        if self.match.outcome:
            people = self.sitting.people
            self._evening.count(self.match, self.match.outcome.winner, next(iter(people)) if len(people) == 1 else None)
        self._go_on()

    def _seated(self, told: str) -> None:
        """Go on with other players."""
        self._begin()
        self.message = told
        if self.sitting.session.machine_to_move:
            self._let_reply()

    def _go_on(self) -> None:
        """Let a machine move if it is its turn; ask what is wanted of the position, and tell what has happened."""
        if self._showing:
            self._ask_what_is_known()
        if self.match.outcome:
            self._announce_end()
        elif self.sitting.session.machine_to_move:
            self._let_reply()
        else:
            turn = f"{self.match.to_move} to move." if len(self.sitting.people) > 1 else "Your turn."
            gone = self.match.just_gone
            self.message = (f"{gone} has left. " if gone else self._told_last()) + turn

    def _let_reply(self) -> None:
        """Let the machine to move choose, and then make its move."""
        session, side = self.sitting.session, self.match.to_move or ""
        name, think = self.sitting.names[side], session.thinking()

        def reply(move: int) -> None:
            session.play(side, move)
            self._moved()

        def fail(error: BaseException) -> None:
            self._fail(error)
            self._stuck = f"{name} as {side}: {error}: u takes your move back, m chooses another opponent"
            self.message = sentence(self._stuck)

        choose = think if self.sitting.people else partial(_choose_watched, self.sitting.roster, think)
        # What the oracle does for others waits until it has moved.
        lane = "oracle" if read_player(name).kind in ("oracle", "first", "search") else "player"
        self._wait(f"{side}, {self._called(side)}, is thinking …", choose, reply, fail, lane=lane, urgent=True)

    def _told_last(self) -> str:
        """Return the last move in words."""
        match = self.match
        if not match.moves:
            return ""
        side, captured = self.rules.to_move(match.states[-2]), captured_by(match.state)
        told = f"{side} played {self.rules.write(match.moves[-1])}"
        told += f" and captured {captured}. " if captured else ". "
        if isinstance(self.rules, LineRules) and self.rules.drawn_already(match.state):
            told += "No line can be completed any more. "
        return told

    def _announce_end(self) -> None:
        self.message = ending(self.match, self.sitting.people)
        if self.match.moves and self.sitting.answers_quickly:
            self._knowledge.ask_review(self._announce_review)

    def _announce_review(self, review: Review) -> None:
        lessons = len(review.lessons)
        steps = (
            f"v steps through {f'{lessons} moves' if lessons > 1 else 'the move'} to learn from. " if lessons else ""
        )
        told = list(summary(review))
        if review.turning_point:  # what matters most is said first: there may be no room for more
            told.insert(0, told.pop())
        self.message = f"{ending(self.match, self.sitting.people)} {steps}{' '.join(told)}"

    def _wait(
        self, told: str, work: Callable[[], Any], then: Callable[[Any], None],
        otherwise: Callable[[BaseException], None] | None = None, *, lane: str = "oracle", urgent: bool = False,
    ) -> None:  # fmt: skip
        """Do something in the background for the position as it is now, and say so until it has ended."""
        turn = self._turn
        self._waiting = told

        def heeding(heed: Callable[[Any], None]) -> Callable[[Any], None]:
            def take(result: Any) -> None:
                if turn is self._turn:  # else the match has gone on, or others play it
                    self._waiting = ""
                    heed(result)

            return take

        self.app.ask(work, heeding(then), heeding(otherwise or self._fail), lane=lane, urgent=urgent)

    # What is drawn

    def header(self, *, brief: bool) -> str:
        """Return the game, whose turn it is if nothing else says so, and the score of the evening."""
        turn = f"{self.match.to_move} to move" if brief and self.match.to_move else ""
        name = self.rules.name.rpartition("/")[2]  # of a file's path, too, the name
        return " · ".join(filter(None, (name, turn, str(self._evening))))

    def status(self) -> str:
        """Return what was told, and what is known of the position; while somebody is thinking, that."""
        known = self._knowledge.told(self._state) if self._showing else ""
        return " ".join(
            filter(
                None, (self._notice, *([self._waiting, self.app.compiling] if self._waiting else [self.message, known]))
            )
        )

    def shown(self) -> Shown:
        """Return what is shown of the board."""
        state, rules = self._state, self.rules
        ended = rules.ending(state) if state.outcome else ()
        last = () if ended or state.last is None else (state.last,)
        barred: dict[int, Note] = {}
        if rules.captures:
            legal = set(rules.legal(state))
            barred = {cell: (" ", Look.PLAIN) for cell in state.empty if cell not in legal}
        return Shown(rules.marked(state), barred | self._notes(), ended, last, self._pointed(), self.cursor)

    @property
    def widest(self) -> int:
        """How wide notes are that have to fit into cells."""
        names = len(column_name(self.game.columns - 1)) + 1 if isinstance(self.rules, WideRules) else 0
        return max([names, *(len(text) for text, _ in self._notes().values())])

    def draw_side(self, canvas: Canvas, area: Area) -> None:
        """Draw the players, the value over the game, and the moves."""
        match, sides = self.match, self.rules.sides
        to_move = match.to_move if self._viewed is None else self.rules.to_move(self._state)
        draw_players(canvas, area, [(side, self._called(side)) for side in sides], to_move)
        row = area.row + len(sides) + 1
        if count := self.rules.count(self._state):
            canvas.put(row - 1, area.column + 2, count, room=area.columns - 2)
            row += 1
        values = self._knowledge.values() if self._showing or match.outcome else {}
        if values and area.row + area.rows - row > GRAPH_ROWS + 3:
            draw_graph(
                canvas, Area(row, area.column, GRAPH_ROWS, area.columns), values, len(match.moves), self._at, sides
            )
            row += GRAPH_ROWS + 1
        left = Area(row, area.column, area.row + area.rows - row, area.columns)
        draw_moves(canvas, left, self._listed(), self._at, len(sides))

    def _listed(self) -> list[Listed]:
        """Return the moves, those with a sign from which something can be learned."""
        return [
            Listed(self.rules.to_move(state) or "", self.rules.write(move), "?" if self._knowledge.lesson(ply) else "")
            for ply, (state, move) in enumerate(zip(self.match.states[:-1], self.match.moves, strict=True), 1)
        ]

    def _called(self, side: str) -> str:
        """Return what to call who plays a side."""
        return self._player_of(side) + (", has left" if side in self.match.gone and len(self.rules.sides) > 2 else "")

    def _player_of(self, side: str) -> str:
        name = self.sitting.names[side]
        if name.strip() == "human":
            return "you" if len(self.sitting.people) == 1 else "a person"
        kind, level = read_player(name)
        return f"{kind}, level {level}" if kind in LEVELLED else name

    def _notes(self) -> dict[int, Note]:
        return self._knowledge.notes(self._state) if self._showing else {}

    def _pointed(self) -> set[int]:
        """Return the cells that are pointed out: of lines, of a hint, and of what would have been better."""
        pointed = set() if self._hinted is None else {self._hinted}
        if self._pointing and isinstance(game := self.rules.game, Game):
            pointed |= {cell for line in game.lines_through[self.cursor] for cell in cells_of(line)}
        if self._lesson is not None and (lesson := self._knowledge.lesson(self._at)):
            pointed |= {self.game.cell(name) for name in lesson.better}
        return pointed


def _choose_watched(roster: Roster, think: Callable[[], int]) -> int:
    """Return what a machine chooses where nobody plays but machines."""
    roster.ready()  # else nobody would notice that they play weaker than they are until that is so
    time.sleep(WATCHED)
    return think()
