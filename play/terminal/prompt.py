"""The prompt: a session line by line, in which a wrong word costs one line of explanation and nothing else.

It reads lines and writes lines, so it works the same through a pipe. Only on a terminal does it say that a
player is thinking, and take that away again.
"""

from collections.abc import Callable, Iterator
from typing import Any

import click

from oracle.answers import Analysis
from oracle.cli.drawing import legend, verdicts
from oracle.cli.large import facts_of, is_large, legend_of, notes_of
from play.match import Match, MatchError
from play.picture import picture
from play.players.player import PlayerError
from play.players.roster import Roster, set_rules_of
from play.records.files import export_record
from play.records.text import Record
from play.review import Review
from play.sitting import Sitting
from play.terminal.asking import Leave, command_in, how_to_move, let_edit, not_understood, read_line
from play.terminal.talk import review_lines, say, say_wrapped, thinking
from play.words import ending, reasons, sentence
from solver.errors import Ttt4Error
from solver.games.board import cells_of
from solver.games.board_rules import BoardRules, captured_by
from solver.games.cell_rules import CellRules, SetRules
from solver.games.line_rules import LineRules
from solver.games.lines import lines_only
from solver.games.wide import WideRules

MOST_LINES = 60
"""How many lines of a game `lines` lists without being asked for those of one cell."""

_WITH_WORDS = ("lines", "save", "look")
"""The commands that take words."""

_BOARD_ONLY, _LINES_ONLY, _WIDE_ONLY = ("hint", "show", "why", "review"), ("lines",), ("look",)
"""The commands that only games of two sides on a board have, those of games of lines, and those of wide boards."""


class Prompt:
    """One match at a prompt, and those that follow it."""

    def __init__(self, roster: Roster, record: Record, files: Iterator[str | None], seed: int | str) -> None:
        """Go on with a record's match between the players that its tags name; keep it, then others, in `files`."""
        self.roster = roster
        self.rules = record.match.rules
        self.sitting = Sitting(roster, record, files, seed, say_wrapped)
        self._announced_draw = self._announced_end = self._resigning = False
        self._commands: dict[str, tuple[Callable[[str], None], str]] = {
            "undo": (self._undo, "take back your last move"),
            "redo": (self._redo, "make it again"),
            "hint": (self._hint, "what the oracle would play"),
            "show": (self._show, "what every move leads to"),
            "why": (self._why, "what the last moves changed"),
            "lines": (self._lines, "the lines that end the game, or those through a cell: lines b2"),
            "review": (self._review, "every move so far, graded"),
            "look": (self._look, "the part of the board around the last moves, or around a cell: look b2"),
            "save": (self._save, "write the game to a file: save FILE"),
            "resign": (self._resign, "give up"),
            "restart": (self._restart, "take back all moves"),
            "new": (self._new, "begin another game"),
            "help": (self._help, "this list"),
            "quit": (self._quit, "leave; ttt4-play resume continues the game"),
        }

    @property
    def match(self) -> Match[Any]:
        """The match that is played now."""
        return self.sitting.match

    @property
    def people(self) -> set[str]:
        """The sides that people play."""
        return self.sitting.people

    def run(self) -> None:
        """Play until the person leaves or, if nobody is human, until the match has ended."""
        if self.people:
            let_edit()
        else:
            self.roster.ready()  # else nobody would notice that they play weaker than they are until that is so
        sides = ", ".join(f"{side} {name}" for side, name in self.sitting.names.items())
        say_wrapped(
            f"{self.rules.name}: {sides}." + (f" {self._how_to_move()} help lists the commands." if self.people else "")
        )
        self._show_board()
        try:
            while self.people or not self.match.outcome:
                self._step()
            self._announce_end()
        except Leave:
            pass
        except KeyboardInterrupt:
            say("")
            raise
        finally:
            if farewell := self.sitting.farewell:
                say_wrapped(farewell)

    def _how_to_move(self) -> str:
        if isinstance(self.rules, CellRules):
            return f"{how_to_move(self.rules.game)};"
        moves = self.rules.legal(self.match.state)[:3]
        return f"A move is {' or '.join(map(self.rules.write, moves))};" if moves else ""

    def _step(self) -> None:
        """Take one line from the person, or one move from another player."""
        side = self.match.to_move
        if side is None:
            self._announce_end()
            self._heed(read_line("> "))
        elif side in self.people:
            self._heed(read_line(f"{side}> "), side)
        else:
            self._reply(side)

    def _reply(self, side: str) -> None:
        name = self.sitting.names[side]
        try:
            with thinking(name):
                move = self.sitting.session.reply()
        except PlayerError as error:
            raise PlayerError(f"{name} as {side}: {error}") from error
        say(f"{side} plays {self.rules.write(move)}{self._captured()}.")
        self._after_move()
        self._show_board()

    def _heed(self, line: str, side: str | None = None) -> None:
        """Do what a line says; it may be a move if `side` is to move."""
        asked, self._resigning = self._resigning, False
        try:
            if asked and line.lower() == "resign":
                self._give_up()
                return
            named = command_in(line, self._commands, _WITH_WORDS)
            if named:
                self._commands[named[0]][0](named[1])
            elif line:
                move = self._read_move(line)
                if move is None:
                    return
                self.sitting.require_ongoing("play")
                self._play(side or "", move)
        except Ttt4Error as error:
            say_wrapped(sentence(str(error)))

    def _play(self, side: str, move: int) -> None:
        self.sitting.session.play(side, move)
        if captured := self._captured():
            say(f"{side} plays {self.rules.write(move)}{captured}.")
        self._after_move()
        if self.match.outcome or self.people == set(self.rules.sides):
            self._show_board()

    def _read_move(self, line: str) -> int | None:
        """Return the move that a line names; None, with an explanation, if it names none."""
        try:
            return self.rules.read(line)
        except Ttt4Error as error:
            say_wrapped(not_understood(line, self._commands, error))
            return None

    def _after_move(self) -> None:
        rules = self.rules
        if isinstance(rules, LineRules) and not self._announced_draw and rules.drawn_already(self.match.state):
            self._announced_draw = True
            say_wrapped("No line can be completed any more: this will be a draw.")

    def _captured(self) -> str:
        """Return in words what the last move captured."""
        number = captured_by(self.match.state)
        return f" and captures {number}" if number else ""

    def _show_board(self) -> None:
        say(f"\n{picture(self.rules, self.match.state)}\n")

    def _announce_end(self) -> None:
        if self._announced_end:
            return
        self._announced_end = True
        say_wrapped(ending(self.match, self.people))
        try:
            if self.match.moves and self.sitting.answers_quickly:
                say("")
                for line in review_lines(self._reviewed()):
                    say(line)
        except Ttt4Error as error:
            say_wrapped(sentence(str(error)))
        if self.people:
            say_wrapped("new begins another game, undo takes a move back, quit leaves.")

    def _undo(self, rest: str) -> None:
        self.sitting.session.undo()
        self._announced_end = self._announced_draw = False
        self._show_board()

    def _redo(self, rest: str) -> None:
        self.sitting.redo()
        self._show_board()

    def _hint(self, rest: str) -> None:
        with thinking("the oracle"):
            move, meaning = self.sitting.hint()
        say_wrapped(f"The oracle would play {move}: {meaning}.")

    def _show(self, rest: str) -> None:
        analysis = self._analysis("show")
        if is_large(analysis):
            self._show_large(analysis)
            return
        say(f"\n{picture(self.rules, self.match.state, verdicts(analysis))}\n")
        unknown = "" if analysis.exact else ", ? is not settled"
        say_wrapped(f"{analysis.to_move} to move: {analysis.verdict}. {legend(analysis.scale)}{unknown}.")

    def _show_large(self, analysis: Analysis) -> None:
        say(f"\n{picture(self.rules, self.match.state, large=notes_of(analysis))}\n")
        say_wrapped(f"{analysis.to_move} to move: {analysis.verdict}.")
        for title, fact in facts_of(analysis):
            say_wrapped(f"{title}: {fact}.")
        if meaning := legend_of(analysis):
            say_wrapped(meaning)

    def _why(self, rest: str) -> None:
        with thinking("the oracle"):
            told = list(reasons(self.sitting))
        for text in told:
            say(text if "\n" in text else click.wrap_text(text, 79, "", "   "))

    def _lines(self, rest: str) -> None:
        game = lines_only(set_rules_of(self.rules, "lines to list").game)
        lines = game.lines_through[game.cell(rest)] if rest else game.lines
        if len(lines) > MOST_LINES and not rest:
            raise MatchError(f"{game.name} has {len(lines)} lines: name a cell, as in lines {game.cell_name(0)}")
        ends = "loses" if game.misere else "wins"
        through = f" through {rest.lower()}" if rest else ""
        say(f"Completing one of these {len(lines)} lines{through} {ends}:")
        for line in lines:
            say("  " + " ".join(map(game.cell_name, cells_of(line))))

    def _look(self, rest: str) -> None:
        if not isinstance(self.rules, WideRules):
            raise MatchError(f"all of {self.rules.name} is seen at once: look is for boards of which a part is shown")
        from play.window import drawn_part  # only now: other games do without

        say(f"\n{drawn_part(self.rules, self.match.state, self.rules.read(rest) if rest else None)}\n")

    def _review(self, rest: str) -> None:
        review = self._reviewed()
        if not review.moves:
            say_wrapped("No move has been made yet.")
        for line in review_lines(review, every=True):
            say(line)

    def _save(self, rest: str) -> None:
        if not rest:
            raise MatchError("no file named: save FILE")
        export_record(self.sitting.session.record, rest)
        say_wrapped(f"Saved to {rest}.")

    def _resign(self, rest: str) -> None:
        self.sitting.require_may_resign()
        self._resigning = True
        say_wrapped("Resign? resign again gives this game up; anything else goes on.")

    def _give_up(self) -> None:
        self.sitting.resign()
        if self.match.outcome is None:
            say_wrapped(f"{self.match.just_gone} has left; the others play on.")
            self._show_board()

    def _restart(self, rest: str) -> None:
        self.sitting.session.start_over()
        self._announced_end = self._announced_draw = False
        self._show_board()

    def _new(self, rest: str) -> None:
        self.sitting.begin_another()
        self._announced_end = self._announced_draw = False
        self._show_board()

    def _help(self, rest: str) -> None:
        lacking: tuple[str, ...] = () if isinstance(self.rules, SetRules) and not self.rules.captures else _LINES_ONLY
        if not isinstance(self.rules, BoardRules):
            lacking += _BOARD_ONLY
        if not isinstance(self.rules, WideRules):
            lacking += _WIDE_ONLY
        say(f"{self._how_to_move().removesuffix(';')}. Besides:" if not self.match.outcome else "The commands are:")
        for name, (_, what) in self._commands.items():
            if name not in lacking:
                say(f"  {name:8} {what}")

    def _quit(self, rest: str) -> None:
        raise Leave

    def _analysis(self, command: str) -> Analysis:
        with thinking("the oracle"):
            return self.sitting.analysis(command)

    def _reviewed(self, last: int | None = None) -> Review:
        with thinking("the oracle"):
            return self.sitting.review(last)
