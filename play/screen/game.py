"""What keys do in a match on a screen: all that the prompt knows, and what a screen can do besides."""

from collections.abc import Callable, Mapping

from play.match import MatchError
from play.opening import Opening, board_rules, names_for, usual_opponent
from play.players.player import BEST_LEVEL, LEVELLED, best_level, read_player
from play.players.roster import board_of, set_rules_of
from play.records.files import export_record
from play.screen.app import App
from play.screen.board_view import Command
from play.screen.canvas import NAMES
from play.screen.evening import Evening
from play.screen.lines import Ask, Page
from play.screen.match_view import MatchView
from play.sitting import Sitting
from play.terminal.asking import command_in, not_understood
from play.words import in_sentences, reasons, sentence, summary
from solver.errors import Ttt4Error


class GameView(MatchView):
    """A match, and a key for whatever can be done in it."""

    def __init__(self, app: App, opening: Opening, sitting: Sitting, evening: Evening) -> None:
        """Show a sitting's match, and go on with it."""
        super().__init__(app, opening, sitting, evening)
        self._table = self._all_commands()
        self._resigning = False

    @property
    def commands(self) -> Mapping[str, Command]:
        """What keys do now, the most important first."""
        over, past = bool(self.match.outcome), self._viewed is not None
        first = (["n", "v"] if over else []) + (["escape", "o"] if past else [])
        hidden = {"enter"} if over or past else {"escape", "o"}
        return {
            key: self._table[key] for key in dict.fromkeys([*first, *self._table]) if key not in hidden - set(first)
        }

    def _all_commands(self) -> dict[str, Command]:
        """Return what every key does, the most important first."""
        return {
            "enter": Command(self._enter, "play", "claim the cell of the cursor"),
            "?": Command(self._help, "help", "this list", "help"),
            "q": Command(self._quit, "quit", "leave; ttt4-play resume continues the game", "quit"),
            "m": Command(self._open_menu, "menu", "another game, other players, another level", "menu"),
            "u": Command(self._undo, "undo", "take back your last move", "undo"),
            "t": Command(self._hint, "hint", "a tip: what the oracle would play", "hint"),
            "s": Command(self._toggle_showing, "show", "what every move leads to, from here on", "show"),
            "w": Command(self._why, "why", "what the last moves changed", "why"),
            "r": Command(self._redo, "redo", "make it again", "redo"),
            "!": Command(self._strongest, "best", "let the opponent play its best, or as before", "best"),
            "z": Command(self._exchange, "swap", "change sides with the opponent", "swap"),
            "n": Command(self._new, "new", "another game between the same players", "new"),
            "v": Command(self._step_review, "review", "what the game has taught, step by step", "review"),
            "i": Command(self._toggle_lines, "lines", "the lines through the cursor", "lines"),
            "p": Command(self._puzzle, "puzzle", "find the only move", "puzzle"),
            "x": Command(self._resign, "resign", "give up", "resign"),
            "escape": Command(self._return, "back", "back to the game"),
            "o": Command(self._play_on, "play on from here", "go on from the position that is shown"),
            "+": Command(lambda: self._raise_level(1), "", "let the opponent play better"),
            "-": Command(lambda: self._raise_level(-1), "", "let the opponent play worse"),
            "[": Command(lambda: self._view(self._at - 1), "", "the position before; also PgUp, and the wheel"),
            "]": Command(lambda: self._view(self._at + 1), "", "the position after it; also PgDn"),
            "page up": Command(lambda: self._view(self._at - 1), "", ""),
            "page down": Command(lambda: self._view(self._at + 1), "", ""),
            "home": Command(lambda: self._view(0), "", "the first position"),
            "end": Command(self._return, "", "the position of the game"),
            ":": Command(
                self._ask_words, "", "a line to type: save FILE, restart, level 5, game 3,4,3, lines b2, look b2"
            ),
        }

    def _play_on(self) -> None:
        """Go on from the position that is shown."""
        if self._viewed is not None:
            self.sitting.session.return_to(self._viewed)
            self._moved()

    def _step_review(self) -> None:
        """Show the next move from which something can be learned."""
        review = self._knowledge.review
        board_of(self.rules, "an oracle")
        if review is None:
            if not self.match.moves:
                raise MatchError("no move has been made yet")
            self.message = "Reviewing …"
            self._knowledge.ask_review(lambda _: self._step_review())
        elif not review.lessons:
            self.message = " ".join(summary(review))
        else:
            at = 0 if self._lesson is None else (self._lesson + 1) % len(review.lessons)
            self._view(review.lessons[at].number)
            self._lesson = at
            self.message = f"{at + 1} of {len(review.lessons)}: {in_sentences(review.lessons[at])}"

    def _hint(self) -> None:
        version = len(self.match)
        self.sitting.require_ongoing("hint at")

        def take(hint: tuple[str, str]) -> None:
            if version == len(self.match):
                self._return()
                self._hinted = self.game.cell(hint[0])
                self.message = f"The oracle would play {hint[0]}: {hint[1]}."

        self._wait("The oracle is thinking …", self.sitting.hint, take)

    def _why(self) -> None:
        sitting = self.sitting
        self._wait(
            "The oracle is thinking …", lambda: list(reasons(sitting)),
            lambda lines: self.app.open(Page(self.app, "Why", "\n".join(lines))),
        )  # fmt: skip

    def _toggle_showing(self) -> None:
        board_of(self.rules, "an oracle")
        self._showing = not self._showing
        if self._showing:
            self._ask_what_is_known()

    def _toggle_lines(self) -> None:
        if self.rules.captures:
            raise MatchError(f"{self.rules.name} has no lines")
        set_rules_of(self.rules, "lines to point at")
        self._pointing = not self._pointing

    def _undo(self) -> None:
        self.sitting.session.undo()
        self._moved()

    def _redo(self) -> None:
        self.sitting.redo()
        self._moved()

    def heed(self, key: str) -> None:
        """Heed a key; only the same key a second time resigns."""
        asked, self._resigning = self._resigning, False
        if asked and key.removeprefix("do ") == "x":
            self._give_up()
        else:
            super().heed(key)

    def _resign(self) -> None:
        self.sitting.require_may_resign()
        self._resigning = True
        self._take_notice("Resign? x again gives this game up; any other key goes on.")

    def _give_up(self) -> None:
        self._notice = ""
        try:
            self.sitting.resign()
        except Ttt4Error as error:
            self.tell(sentence(str(error)))
        else:
            self._moved()

    def _restart(self) -> None:
        self.sitting.session.start_over()
        self._moved()

    def _new(self) -> None:
        self.sitting.begin_another()
        self._moved()

    def _exchange(self) -> None:
        self.sitting.exchange()
        self._seated(f"{'You' if len(self.sitting.people) == 1 else 'The players'} have changed sides.")

    def _opponent(self) -> str:
        """Return the side whose level can be set: the machine's."""
        sides = [side for side in self.rules.sides if side not in self.sitting.people]
        if len(sides) != 1:
            raise MatchError("there is not one opponent whose level could be set; m chooses players")
        return sides[0]

    def _strongest(self) -> None:
        side, best = self._opponent(), usual_opponent(self.rules, None)
        now = self.sitting.names[side]
        if read_player(now) == read_player(best):
            self._replace(side, self._usual or usual_opponent(self.rules))
        else:
            self._usual = now
            self._replace(side, best)

    def _raise_level(self, by: int) -> None:
        side = self._opponent()
        kind, level = read_player(self.sitting.names[side])
        if kind not in LEVELLED:
            raise MatchError(f"{self._called(side)} has no levels; ! calls the strongest opponent")
        self._replace(side, f"{kind}:{max(0, min(level + by, best_level(self.rules)))}")

    def _replace(self, side: str, name: str) -> None:
        self.sitting.replace(side, name)
        self._seated(f"{side} is {self._called(side)} from now on.")

    def _puzzle(self) -> None:
        from play.screen.puzzle import open_puzzle  # only now: the first board does not wait for it

        open_puzzle(self.app, self.sitting.roster.oracle, self.rules, self._wait)

    def _open_menu(self) -> None:
        from play.screen.menu import Menu  # only now: the first board does not wait for it

        self.app.open(Menu(self.app, self.rules, self.sitting.names, self.begin))

    def _help(self) -> None:
        first, last = self.game.cell_name(0), self.game.cell_name(self.game.cells - 1)
        text = (
            f"Move with the arrow keys or h j k l and claim with Enter, type a cell ({first} to {last}), or click.\n\n"
        )
        told = [f"{NAMES.get(key, key):6} {each.meaning}" for key, each in self._table.items() if each.meaning]
        self.app.open(Page(self.app, "Keys", text + "\n".join(told)))

    def _quit(self) -> None:
        self.app.close(self)

    def _ask_words(self) -> None:
        self.app.open(Ask(self.app, ":", self._heed_words))

    def _heed_words(self, line: str) -> None:
        """Do what a line says that could be typed at the prompt."""
        run: dict[str, Callable[[], object]] = {each.word: each.run for each in self._table.values() if each.word}
        run |= {"restart": self._restart}
        given = {
            "save": self._save, "level": self._set_level, "game": self._set_game, "lines": self._point_at_lines,
            "look": self._look,
        }  # fmt: skip
        try:
            named = command_in(line, {**run, **given}, given)
            if named and named[0] in given and (named[1] or named[0] not in run):
                given[named[0]](named[1])
            elif named:
                run[named[0]]()
            else:
                self._play_line(line, {**run, **given})
        except Ttt4Error as error:
            self.tell(sentence(str(error)))

    def _play_line(self, line: str, commands: Mapping[str, object]) -> None:
        """Make the move that a line names; say what is wrong if it names none."""
        try:
            cell = self.rules.read(line)
        except Ttt4Error as error:
            self.tell(not_understood(line, commands, error))
        else:
            self.claim(cell)

    def _point_at_lines(self, name: str) -> None:
        self.cursor = self.game.cell(name)
        self._toggle_lines()

    def _look(self, name: str) -> None:
        self.cursor = self.game.cell(name)

    def _save(self, path: str) -> None:
        if not path:
            raise MatchError("no file named: save FILE")
        export_record(self.sitting.session.record, path)
        self.message = f"Saved to {path}."

    def _set_level(self, level: str) -> None:
        side = self._opponent()
        if level not in map(str, range(BEST_LEVEL + 1)):
            raise MatchError(f"no level {level!r}: choose 0 to {BEST_LEVEL}")
        kind = read_player(self.sitting.names[side]).kind
        self._replace(side, f"{kind if kind in LEVELLED else self.rules.opponent}:{level}")

    def _set_game(self, name: str) -> None:
        rules = board_rules(name)
        self.begin(rules, names_for(rules, list(self.sitting.names.values())))
