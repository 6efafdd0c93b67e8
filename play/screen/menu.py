"""The menu: which game, which side, against whom, at which level."""

from collections.abc import Callable, Sequence
from typing import Any

from play.opening import LEVEL, board_rules
from play.players.player import LEVELLED, MULTIPLAYER, best_level, is_multiplayer, read_player
from play.screen.app import App
from play.screen.canvas import Area, Canvas, Look
from play.screen.lines import Ask, draw_bar, framed
from play.words import sentence
from solver.errors import Ttt4Error
from solver.games.cell_rules import CellRules
from solver.games.rules import Rules
from solver.games.wide import WideRules

GAMES = (
    "4,4,4", "3,3,3", "3,3,3,misere", "3,4,3", "4,4,4,misere", "5,5,4", "6,7,4", "10,10,5", "15,15,5", "cross",
    "torus4", "cube3", "fano", "3p:5,5,4", "duel,4,4", "duel",
)  # fmt: skip
"""The games that are offered; any other can be typed."""

_ALL, _NONE = "all sides", "none: watch"
"""What people play, besides one side, which its mark names."""

_OTHER = "another …"
_ROWS = ("Game", "You play", "Opponent", "Level", "Begin")


class Menu:
    """What to play next; nothing changes until it is begun."""

    covers = False

    def __init__(
        self,
        app: App,
        rules: CellRules,
        names: dict[str, str],
        begin: Callable[[Rules[Any], dict[str, str]], None],
    ) -> None:
        """Start from what is played now."""
        self._app, self._begin = app, begin
        self._rules = rules
        self._message = ""
        self._row = len(_ROWS) - 1
        people = [side for side, name in names.items() if name.strip() == "human"]
        self._playing = _ALL if len(people) == len(names) else people[0] if people else _NONE
        self._opponent, self._level = rules.opponent, LEVEL
        self._other: str | None = None
        """The row in which something else than what is offered is to be typed."""
        for name in names.values():
            if name.strip() != "human":
                self._take_opponent(name)

    def draw(self, canvas: Canvas) -> None:
        """Draw the choices."""
        inside = framed(canvas, len(_ROWS) + 3, 52, "A new game")
        for row, (name, value) in enumerate(zip(_ROWS, self._values(), strict=True)):
            self._draw_row(canvas, inside, row, name, value)
        canvas.put(inside.row + len(_ROWS) + 2, inside.column, self._message, room=inside.columns)
        canvas.clear(Area(canvas.rows - 1, 0, 1, canvas.columns))
        enter = "type it" if _ROWS[self._row] == self._other else "begin"
        draw_bar(canvas, [("enter", enter), ("escape", "back"), ("down", "next row"), ("right", "change")])

    def _draw_row(self, canvas: Canvas, inside: Area, row: int, name: str, value: str) -> None:
        """Draw a row, which can be clicked, and the arrows that change its value."""
        chosen, at = row == self._row, inside.row + row + (row == len(_ROWS) - 1)
        look = Look.BOLD if chosen else Look.PLAIN
        canvas.put(at, inside.column, "▸" if chosen else " ", Look.BOLD)
        canvas.spot(Area(at, inside.column, 1, inside.columns), f"row {row}")
        if not value:
            canvas.put(at, inside.column + 2, name, look | (Look.REVERSED if chosen else Look(0)))
            return
        canvas.put(at, inside.column + 2, name, look)
        canvas.put(at, inside.column + 14, "←", Look.DIM)
        end = canvas.put(at, inside.column + 16, value, look, inside.columns - 20)
        canvas.put(at, end + 1, "→", Look.DIM)
        canvas.spot(Area(at, inside.column + 13, 1, 3), f"less {row}")
        canvas.spot(Area(at, inside.column + 16, 1, end - inside.column - 13), f"more {row}")

    def heed(self, key: str) -> None:
        """Choose a row, change its value, begin, or close."""
        self._message = ""
        word, _, number = key.partition(" ")
        if word in ("row", "more", "less"):
            self._row = int(number)
        try:
            if key in ("up", "k", "back tab"):
                self._row = (self._row - 1) % len(_ROWS)
            elif key in ("down", "j", "tab"):
                self._row = (self._row + 1) % len(_ROWS)
            elif key in ("left", "h") or word == "less":
                self._change(-1)
            elif key in ("right", "l") or word == "more":
                self._change(1)
            elif key in ("enter", " ") and self._other:
                self._ask()
            elif key in ("enter", " ") or key == f"row {len(_ROWS) - 1}":
                self._app.close(self)
                self._begin(self._rules, self._names())
            elif key in ("escape", "q", "m"):
                self._app.close(self)
        except Ttt4Error as error:
            self._message = sentence(str(error))

    def _values(self) -> tuple[str, ...]:
        sides = self._rules.sides
        playing = {sides[0]: f"{sides[0]}, and begin", _ALL: "both sides" if len(sides) == 2 else _ALL}
        self._level = min(self._level, best_level(self._rules))
        level = str(self._level) if self._levelled else "none"
        if self._level == best_level(self._rules) and self._levelled:
            level += ", the best"
        game = _OTHER if self._other == "Game" else self._rules.name
        opponent = _OTHER if self._other == "Opponent" else self._opponent
        return game, playing.get(self._playing, self._playing), opponent, level, ""

    @property
    def _levelled(self) -> bool:
        return self._opponent in LEVELLED

    def _names(self) -> dict[str, str]:
        """Return the players by their sides."""
        opponent = f"{self._opponent}:{self._level}" if self._levelled else self._opponent
        return {side: "human" if self._playing in (side, _ALL) else opponent for side in self._rules.sides}

    def _change(self, by: int) -> None:
        row = _ROWS[self._row]
        if row == "Game":
            self._turn(GAMES, self._rules.name, by, self._take_game)
        elif row == "You play":
            choices = (*self._rules.sides, _ALL, _NONE)
            self._playing = choices[(choices.index(self._playing) + by) % len(choices)]
        elif row == "Opponent":
            self._turn(self._opponents(), self._opponent, by, self._take_opponent)
        elif row == "Level":
            self._level = max(0, min(self._level + by, best_level(self._rules)))

    def _turn(self, offered: Sequence[str], now: str, by: int, take: Callable[[str], None]) -> None:
        """Take the next of what is offered; behind the last, something else can be typed."""
        choices = [*offered, _OTHER] if now in offered else [now, *offered, _OTHER]
        at = choices.index(_OTHER if self._other == _ROWS[self._row] else now)
        chosen = choices[(at + by) % len(choices)]
        self._other = _ROWS[self._row] if chosen == _OTHER else None
        if chosen != _OTHER:
            take(chosen)

    def _ask(self) -> None:
        if self._other == "Game":
            self._app.open(Ask(self._app, "Game (such as 5,5,4 or a file.toml): ", self._attempt(self._take_game)))
        else:
            self._app.open(
                Ask(self._app, "Player (such as mcts:1000 or run:FOLDER): ", self._attempt(self._take_opponent))
            )

    def _attempt(self, take: Callable[[str], None]) -> Callable[[str], None]:
        def attempt(line: str) -> None:
            try:
                take(line)
                self._other = None
            except Ttt4Error as error:
                self._message = sentence(str(error))

        return attempt

    def _take_game(self, name: str) -> None:
        rules, sides = board_rules(name), self._rules.sides
        if type(rules) is not type(self._rules) or self._opponent == self._rules.opponent:
            self._opponent = rules.opponent
        if self._playing in sides:
            self._playing = rules.sides[min(sides.index(self._playing), len(rules.sides) - 1)]
        self._rules = rules

    def _take_opponent(self, name: str) -> None:
        kind, level = read_player(name)
        self._opponent = name
        if kind in LEVELLED:
            self._opponent = kind
            self._level = level if ":" in name else self._level  # whoever steps past it keeps the level

    def _opponents(self) -> tuple[str, ...]:
        if is_multiplayer(self._rules):
            return MULTIPLAYER
        if self._rules.captures:
            return "search", "oracle", "mcts", "priority", "random"
        if isinstance(self._rules, WideRules):
            return "oracle", "rules", "random"
        return "oracle", "first", "mcts", "rules", "random"
