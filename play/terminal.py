"""The terminal: a match at a prompt, in which a wrong word costs a line of explanation and nothing else.

It reads lines and writes lines, so it works the same through a pipe; only on a terminal does it say that
a player is thinking, and take that away again.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from threading import Timer

import click

from oracle.answers import Analysis
from oracle.cli.drawing import verdicts
from oracle.oracle import QUICK_CELLS
from play.match import Match, MatchError, NothingToUndo
from play.players import Cast, NoMove, Player, PlayerError, chosen, may_resume, read_player
from play.records import Record, export_record, save_record
from play.review import BEST, Graded, Review, review, told
from play.rules import LineState, Status
from solver.errors import Ttt4Error

THINKING_AFTER = 0.2
"""After how many seconds it is said that a player is thinking: what is quicker would only flicker."""

LEAVING = ("q", "exit")
"""What else people type to leave."""


class Leave(Exception):
    """The person wants to leave."""


class Terminal:
    """One match at a prompt, and those that follow it."""

    def __init__(self, cast: Cast, record: Record, files: Iterator[str | None], seed: int | str) -> None:
        """Go on with a record's match, between the players that its tags name; keep it, then others, in `files`."""
        self.cast = cast
        self.record = record
        self.files = files
        self.path = next(files)
        self.match: Match[LineState] = record.match
        self.names = {side: record.tags[side] for side in "XO"}
        self.humans = {side for side, name in self.names.items() if read_player(name)[0] == "human"}
        self.players: dict[str, Player] = {
            side: cast.player(name, f"{seed} {side}", self._asked) for side, name in self.names.items()
        }
        self._told_hopeless = self._told_over = False
        self._commands: dict[str, tuple[Callable[[str], None], str]] = {
            "undo": (self._undo, "take back your last move"),
            "redo": (self._redo, "make it again"),
            "hint": (self._hint, "what the oracle would play"),
            "show": (self._show, "what every move leads to"),
            "why": (self._why, "what the last moves changed"),
            "review": (self._review, "every move of the game, graded"),
            "save": (self._save, "write the game to a file: save FILE"),
            "resign": (self._resign, "give up"),
            "new": (self._new, "begin anew"),
            "help": (self._help, "this list"),
            "quit": (self._quit, "leave; ttt4-play resume goes on with the game"),
        }

    def run(self) -> None:
        """Play until the person leaves, or, where nobody is human, until the match has ended."""
        if self.humans and sys.stdin.isatty():
            with suppress(ImportError):  # some Pythons are built without it
                import readline  # noqa: F401 - from here on, what is typed can be edited
        say(f"{self.match.rules.name}: X {self.names['X']}, O {self.names['O']}."
            + (" Moves are b3 or 3 2; help lists what else." if self.humans else ""))  # fmt: skip
        self._show_board()
        try:
            while self.humans or not self._over:
                self._step()
            self._tell_end()
        except Leave:
            pass
        except KeyboardInterrupt:
            say("")
            raise
        finally:
            if self.match.moves and not self._over and self._resumable:
                tell("The game is kept: ttt4-play resume goes on with it." if self.path else "The game was not kept.")

    @property
    def _resumable(self) -> bool:
        return all(may_resume(name) for name in self.names.values())

    @property
    def _over(self) -> bool:
        return self.match.over or self.record.resigned is not None

    def _step(self) -> None:
        """One line of the person's, or one move of another player's."""
        side = self.match.to_move
        if self._over or side is None:
            self._tell_end()
            if self.humans:
                self._heed(self._line("> "))
        elif side in self.humans:
            with suppress(NoMove):
                self._make(side, self.players[side].choose(self.match.state))
        else:
            with thinking(self.names[side]):
                move = chosen(self.players[side], self.match.state)
            try:
                self.match.play(side, move)
            except MatchError as error:
                raise PlayerError(f"{self.names[side]} as {side} made no move: {error}") from error
            say(f"{side} plays {self.match.rules.write(move)}.")
            self._moved()
            self._show_board()

    def _asked(self, state: LineState) -> int:
        """The person's move; NoMove if the line was something else, which is done."""
        line = self._line(f"{state.position.mover}> ")
        word = line.split()[0].lower() if line.split() else ""
        if word and word not in self._commands and word not in LEAVING:
            try:
                return self.match.rules.read(line)
            except Ttt4Error as error:
                self._refuse(line, error)
        else:
            self._heed(line)
        raise NoMove

    def _heed(self, line: str) -> None:
        """Do what a line says when no move is due."""
        word, _, rest = line.partition(" ")
        command = self._commands.get("quit" if word.lower() in LEAVING else word.lower())
        try:
            if command:
                command[0](rest.strip())
            elif word:
                self.match.rules.read(line)
                self._require_on("play")
        except MatchError as error:
            tell(_sentence(str(error)))
        except Ttt4Error as error:
            if command:
                tell(_sentence(str(error)))
            else:
                self._refuse(line, error)

    def _make(self, side: str, move: int) -> None:
        """Make a person's move, or explain why not."""
        try:
            self.match.play(side, move)
        except MatchError as error:
            tell(_sentence(str(error)))
            return
        self._moved()
        if self._over or self.humans == {"X", "O"}:
            self._show_board()

    def _moved(self) -> None:
        """What is due after any move."""
        self._keep()
        if self.match.hopeless and not self._told_hopeless:
            self._told_hopeless = True
            tell("No line can be completed any more: this will be a draw.")

    def _show_board(self) -> None:
        say(f"\n{self.match.rules.drawn(self.match.state)}\n")

    def _refuse(self, line: str, error: Ttt4Error) -> None:
        """Explain a line that is neither a move nor a command."""
        from difflib import get_close_matches  # only now: most lines are right

        word = line.split()[0].lower()
        near = get_close_matches(word, self._commands, 1, 0.6) if word.isalpha() else []
        if near:
            tell(f"No command {word[:20]!r}: did you mean {near[0]!r}?")
        else:
            tell(f"{_sentence(str(error))} Or type help.")

    def _line(self, prompt: str) -> str:
        """What the person types."""
        try:
            return input(prompt).strip()
        except EOFError:
            say("")
            raise Leave from None
        except UnicodeDecodeError:
            tell("That could not be read: write letters and digits.")
            return ""

    def _keep(self) -> None:
        """Write the game down as it is, from the first move on."""
        if self.path is None or not (self.match.moves or os.path.exists(self.path)):
            return
        try:
            save_record(self.record, self.path)
        except OSError as error:
            self.path, self.files = None, repeat(None)
            tell(f"Games cannot be kept: {error.strerror or error}. Save this one elsewhere: save FILE.")

    def _tell_end(self) -> None:
        if self._told_over:
            return
        self._told_over = True
        tell(self._ending())
        try:
            quick = self.cast.oracle().source == "store" or self.cast.game.cells <= QUICK_CELLS
            if self.match.moves and quick:
                say("")
                self._review("")
        except Ttt4Error as error:
            tell(_sentence(str(error)))
        if self.humans:
            tell("new begins another game, undo takes a move back, quit leaves.")

    def _ending(self) -> str:
        if self.record.resigned:
            return f"{self.record.resigned} resigns: {'XO'[self.record.resigned == 'X']} has won."
        return "A draw." if self.match.status is Status.DRAW else f"{self.match.status.value}."

    def _reopen(self) -> None:
        self.record.resigned = None
        self._told_over = self._told_hopeless = False

    def _undo(self, rest: str) -> None:
        if not self.record.resigned:
            if not any("XO"[number % 2] in self.humans for number in range(len(self.match.moves))):
                raise NothingToUndo("you have made no move to take back")
            self.match.undo()
            while self.match.to_move not in self.humans:
                self.match.undo()
        self._reopen()
        self._keep()
        self._show_board()

    def _redo(self, rest: str) -> None:
        if self.record.resigned:
            self._require_on("make again")
        self.match.redo()
        with suppress(MatchError):
            while self.match.to_move not in self.humans:
                self.match.redo()
        self._keep()
        self._show_board()

    def _hint(self, rest: str) -> None:
        self._require_on("hint at")
        analysis = self._analysis()
        if not analysis.exact:
            tell(f"The oracle would play {analysis.moves[0].move}: {analysis.verdict}.")
            return
        with thinking("the oracle"):
            move = self.cast.oracle().best_move(self.match.state.position)
        tell(f"The oracle would play {move.move}: {told(move.score, move.plies, analysis.to_move or 'X')}.")

    def _show(self, rest: str) -> None:
        self._require_on("show")
        analysis, position = self._analysis(), self.match.state.position
        say(f"\n{self.match.rules.drawn(self.match.state, verdicts(position, analysis))}\n")
        unknown = "" if analysis.exact else ", ? is not settled"
        tell(f"{analysis.to_move} to move: {analysis.verdict}. +n wins in n plies, = draws, -n loses in n{unknown}.")

    def _why(self, rest: str) -> None:
        graded = self._graded().moves
        if not graded:
            tell("No move was made yet.")
        for move in graded[-2:]:
            say(explained(move))

    def _review(self, rest: str) -> None:
        for line in review_lines(self._graded()):
            say(line)

    def _save(self, rest: str) -> None:
        if not rest:
            raise MatchError("no file named: save FILE")
        export_record(self.record, rest)
        tell(f"Saved to {rest}.")

    def _resign(self, rest: str) -> None:
        self._require_on("resign")
        self.record.resigned = self.match.to_move
        self._keep()

    def _new(self, rest: str) -> None:
        self.match.reset()
        self.record.remarks = ()
        self._reopen()
        self.path = next(self.files)
        self._show_board()

    def _help(self, rest: str) -> None:
        say("A move is a cell: b3, or its row and column, 3 2. Besides:")
        for name, (_, what) in self._commands.items():
            say(f"  {name:8} {what}")

    def _quit(self, rest: str) -> None:
        raise Leave

    def _require_on(self, command: str) -> None:
        if self._over:
            raise MatchError(f"nothing to {command}: the game is over; undo takes a move back, new begins another")

    def _analysis(self) -> Analysis:
        with thinking("the oracle"):
            return self.cast.oracle().analysis(self.match.state.position)

    def _graded(self) -> Review:
        with thinking("the oracle"):
            return review(self.cast.oracle(), self.match.states)


def say(text: str) -> None:
    """Print to the person, as it stands."""
    click.echo(text)


def tell(text: str) -> None:
    """Print sentences to the person, in lines of 80 columns."""
    click.echo(click.wrap_text(text, 79))


@contextmanager
def thinking(who: str) -> Iterator[None]:
    """Say on a terminal that somebody is thinking, if it takes long."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield
        return
    shown: list[str] = []

    def show() -> None:
        shown.append(f"{who} is thinking...")
        click.echo(shown[0], nl=False, err=True)

    timer = Timer(THINKING_AFTER, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shown:
            click.echo(f"\r{' ' * len(shown[0])}\r", nl=False, err=True)


def explained(move: Graded) -> str:
    """A graded move in one sentence."""
    text = f"{(move.number + 1) // 2}. {move.side} {move.move}: {', '.join(filter(None, (move.grade, move.outcome)))}."
    if move.better:
        text += f" {', '.join(move.better[:6])}{' ...' if len(move.better) > 6 else ''} would have been better."
    return click.wrap_text(text, 79, "", "   ")


def review_lines(result: Review, *, every: bool = False) -> Iterator[str]:
    """A review, line by line: the moves that were not best, or all, how many of which, and the turning point."""
    for move in result.moves:
        if every or move.grade != BEST:
            yield explained(move)
    if not result.exact:
        yield "Not every position could be settled in time; a store would."
    for side in "XO":
        own = [move for move in result.moves if move.side == side]
        if own:
            moves = f"{len(own)} move{'s' * (len(own) != 1)}"
            best, changed = (sum(kinds) for kinds in zip(*((m.grade == BEST, m.changed) for m in own), strict=True))
            yield f"{side} made {moves}: {best} best, {changed} that changed the outcome."
    point = result.turning_point
    if point:
        yield click.wrap_text(
            f"The turning point was {point.side}'s {point.move} (move {(point.number + 1) // 2}): it {point.grade}. "
            f"{', '.join(point.better[:8])} would have held.", 79, "", "  ",
        )  # fmt: skip


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
