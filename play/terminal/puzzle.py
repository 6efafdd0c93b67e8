"""A puzzle at the prompt: a board, a goal, and the refutation of every wrong move."""

from collections.abc import Callable

import click

from oracle.oracle import Oracle
from play.picture import picture
from play.puzzles import MOST_STARS, Answer, Puzzle, answer_to, hint_of
from play.terminal.asking import LEAVING, Leave, how_to_move, let_edit, read_line
from play.terminal.talk import say, say_wrapped, thinking
from play.words import sentence
from solver.errors import Ttt4Error
from solver.games.line_rules import LineRules
from solver.games.lines import lines_only
from solver.text import printable


class PuzzlePrompt:
    """One puzzle at a prompt, and those that follow it."""

    def __init__(self, oracle: Oracle, puzzle: Puzzle, make: Callable[[str], Puzzle]) -> None:
        """Begin with a puzzle; `make` returns the one of another seed."""
        self.oracle = oracle
        self.rules = LineRules(lines_only(oracle.game))
        self.puzzle = puzzle
        self.solved = False
        self._make = make
        self._seed, self._number = puzzle.seed, 1
        self._commands: dict[str, tuple[Callable[[], None], str]] = {
            "hint": (self._hint, "the row or the column of the move"),
            "solution": (self._solution, "the move, and how the game goes on"),
            "next": (self._next, "another puzzle"),
            "help": (self._help, "this list"),
            "quit": (self._quit, "leave"),
        }

    def run(self) -> None:
        """Show the puzzle and heed one line after the other until the person leaves."""
        let_edit()
        self._show()
        try:
            while True:
                self._heed(read_line("> " if self.solved else f"{self.puzzle.to_move}> "))
        except Leave:
            pass
        except KeyboardInterrupt:
            say("")
            raise

    def _heed(self, line: str) -> None:
        """Do what a line says: a command, or a move."""
        word = line.lower()
        command = self._commands.get("quit" if word in LEAVING else word)
        try:
            if command:
                command[0]()
            elif word:
                self._try(line)
        except Ttt4Error as error:
            say_wrapped(sentence(str(error)))

    def _try(self, line: str) -> None:
        """Say whether a move is right and, if it is wrong, show its refutation."""
        try:
            cell = self.rules.read(line)
        except Ttt4Error as error:
            say_wrapped(f"{sentence(str(error))} Or type help.")
            return
        refusal = self.rules.refusal(self.rules.decode(self.puzzle.board), cell)
        if refusal:
            say_wrapped(sentence(refusal))
            return
        answer = self._answer(self.rules.write(cell))
        if answer.right:
            self._end("Right", answer)
            return
        say_wrapped(answer.in_words(self.puzzle))
        self._show_line(answer)

    def _answer(self, move: str) -> Answer:
        with thinking("the oracle"):
            return answer_to(self.oracle, self.puzzle, move)

    def _end(self, word: str, answer: Answer) -> None:
        """Say what the move of the puzzle does."""
        self.solved = True
        say_wrapped(f"{word}. {answer.in_words(self.puzzle)}")
        self._show_line(answer)
        say_wrapped("next gives another puzzle, quit leaves.")

    def _show(self) -> None:
        puzzle = self.puzzle
        say_wrapped(
            f"{self.rules.name}: puzzle {printable(puzzle.seed)}, difficulty {puzzle.stars} of {MOST_STARS}. "
            f"{'Completing a line loses. ' if self.rules.game.misere else ''}"
            f"{how_to_move(self.rules.game)}; help lists the commands."
        )
        say(f"\n{picture(self.rules, self.rules.decode(puzzle.board))}\n")
        say_wrapped(sentence(puzzle.goal))

    def _show_line(self, answer: Answer) -> None:
        """Show how the game goes on, each move in its cell by its number."""
        numbers = {self.rules.read(move): str(number) for number, move in enumerate(answer.line, 1)}
        rest = "" if answer.line_complete else " ..."
        say(click.wrap_text(f"{' '.join(answer.line)}{rest}", 79, "Line: ", "      "))
        say(f"\n{picture(self.rules, self.rules.decode(self.puzzle.board), numbers)}\n")

    def _hint(self) -> None:
        say_wrapped(sentence(hint_of(self.rules.game, self.puzzle)))

    def _solution(self) -> None:
        self._end("Solution", self._answer(self.puzzle.solution))

    def _next(self) -> None:
        self._number += 1
        with thinking("the oracle"):
            self.puzzle = self._make(f"{self._seed} {self._number}")
        self.solved = False
        self._show()

    def _help(self) -> None:
        say(f"{how_to_move(self.rules.game)}. Besides:")
        for name, (_, what) in self._commands.items():
            say(f"  {name:8} {what}")

    def _quit(self) -> None:
        raise Leave
