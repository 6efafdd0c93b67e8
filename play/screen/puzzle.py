"""Puzzles on a screen: a board, a goal, and the refutation of every wrong move."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from oracle.oracle import Oracle
from play.players.roster import lines_of
from play.puzzles import MOST_STARS, Answer, Puzzle, answer_to, hint_of, make_puzzle
from play.screen.app import App
from play.screen.board_view import BoardView, Command
from play.screen.boards import Shown
from play.screen.canvas import SIDES, Area, Canvas, Look
from play.screen.lines import wrapped
from play.words import sentence
from solver.games.board import cells_of
from solver.games.cell_rules import CellRules
from solver.games.line_rules import LineRules

Wait = Callable[[str, Callable[[], Any], Callable[[Any], None]], None]
"""Does something in the background, says so until it has ended, and then does another thing with the result."""


def open_puzzle(app: App, oracle: Callable[[], Oracle], rules: CellRules, wait: Wait) -> None:
    """Show a puzzle of a game when it is found."""
    game = lines_of(rules, "puzzles")
    seed = str(time.time_ns())
    wait(
        "Looking for a puzzle …", lambda: make_puzzle(oracle(), seed),
        lambda puzzle: app.open(PuzzleView(app, oracle(), LineRules(game), puzzle)),
    )  # fmt: skip


class PuzzleView(BoardView):
    """One puzzle, and those that follow it."""

    def __init__(self, app: App, oracle: Oracle, rules: LineRules, puzzle: Puzzle) -> None:
        """Begin with a puzzle."""
        self._oracle, self._rules = oracle, rules
        self._solved_count = self._tried = 0
        self._number = 1
        self._seed = puzzle.seed
        super().__init__(app, rules.game)
        self._take(puzzle)

    def _take(self, puzzle: Puzzle) -> None:
        self._puzzle, self._solved = puzzle, False
        self._answer: Answer | None = None
        self.message = sentence(puzzle.goal)

    @property
    def commands(self) -> Mapping[str, Command]:
        """What keys do now, the most important first."""
        return {
            "enter": Command(self._enter, "try", "try the cell of the cursor"),
            "n": Command(self._next, "next", "another puzzle"),
            "t": Command(self._hint, "hint", "the row or the column of the move"),
            "s": Command(self._solution, "solution", "the move, and how the game goes on"),
            "q": Command(self._close, "back to the game", "back to the game"),
            "escape": Command(self._close, "", ""),
        }

    def header(self, *, brief: bool) -> str:
        """Return the game, and how many puzzles were solved."""
        return f"{self._rules.name} · puzzle {self._number} · {self._solved_count} solved at the first try"

    def claim(self, cell: int) -> None:
        """Say whether a move is right and, if it is wrong, show its refutation."""
        refusal = self._rules.refusal(self._rules.decode(self._puzzle.board), cell)
        if refusal:
            self.tell(sentence(refusal))
        else:
            self._ask(self._rules.write(cell), "Right")

    def _ask(self, move: str, word: str) -> None:
        puzzle = self._puzzle
        self.message = "Looking …"

        def take(answer: Answer) -> None:
            if puzzle is self._puzzle:
                self._show(answer, word)

        self.app.ask(lambda: answer_to(self._oracle, puzzle, move), take, self._fail)

    def _show(self, answer: Answer, word: str) -> None:
        self._answer = answer
        if answer.right:
            self._solved_count += word == "Right" and not self._tried and not self._solved
            self._solved = True
            self.message = f"{word}. {answer.in_words(self._puzzle)} n gives another puzzle."
        else:
            self._tried += 1
            self.message = f"{answer.in_words(self._puzzle)} Try another cell."

    def _next(self) -> None:
        self._number += 1
        self._tried = 0
        seed = f"{self._seed} {self._number}"
        self.message = "Looking for a puzzle …"
        self.app.ask(lambda: make_puzzle(self._oracle, seed), self._take, self._fail)

    def _hint(self) -> None:
        self._tried += 1
        self.message = sentence(hint_of(self._rules.game, self._puzzle))

    def _solution(self) -> None:
        self._tried += 1
        self._ask(self._puzzle.solution, "Solution")

    def _close(self) -> None:
        self.app.close(self)

    def shown(self) -> Shown:
        """Return the puzzle's board and, after a move was tried, how the game goes on, by numbers."""
        position = self._rules.decode(self._puzzle.board).position
        marks = {cell: "XO"[side] for side, cells in enumerate((position.x, position.o)) for cell in cells_of(cells)}
        line = self._answer.line if self._answer else ()
        first = "XO".index(self._puzzle.to_move)
        notes = {
            self._rules.read(move): (str(number + 1), SIDES["XO"[(first + number) % 2]])
            for number, move in enumerate(line)
        }
        return Shown(marks, notes, cursor=self.cursor)

    def draw_side(self, canvas: Canvas, area: Area) -> None:
        """Draw the goal, how hard it is, and the line."""
        stars = "*" * self._puzzle.stars + "·" * (MOST_STARS - self._puzzle.stars)
        canvas.put(area.row, area.column, f"Difficulty {stars}", Look.BOLD)
        row = area.row + 2
        for line in wrapped(sentence(self._puzzle.goal), area.columns):
            canvas.put(row, area.column, line)
            row += 1
        if self._answer:
            rest = "" if self._answer.line_complete else " …"
            for line in wrapped(f"Line: {' '.join(self._answer.line)}{rest}", area.columns):
                canvas.put(row + 1, area.column, line)
                row += 1
