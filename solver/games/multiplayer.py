"""Games of lines for three or four sides: `3p:5,5,4` is four in a row on 5 by 5 cells, for X, O and Z.

The sides take turns in the order of their marks, and each turn claims an empty cell. The first to fill a line wins, and
the others lose. A full board is a draw between all.

A side that gives up leaves the game: its marks stay, its turns are skipped, and it has lost. The others play on, and
the last one left wins. Those that leave have no part in a draw.

A state is written as its board. When a side has left, the counts no longer tell whose turn it is, so the side to move
and the sides still in the game follow:

    X.O/.Z./.X. Z XZ
"""

from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import Any

from solver.errors import BoardError, GameError
from solver.games.board import BoardGame, cells_of
from solver.games.board_text import stones_of
from solver.games.cell_rules import SetRules
from solver.games.lines import Game, lines_only
from solver.games.rules import Outcome
from solver.text import shown

MARKS = "XOZT"
"""The marks of the sides, in turn order: letters that differ in shape."""

COUNTS = range(3, len(MARKS) + 1)
"""How many sides there can be."""


@dataclass(frozen=True, slots=True)
class MultiplayerState:
    """The cells of every side, whose turn it is, and who still plays."""

    stones: tuple[int, ...]
    """A set of cells for each side."""
    turn: int
    """The number of the side to move or, when the game is over, of the one that would be."""
    playing: tuple[int, ...]
    """The numbers of the sides that have not left."""
    outcome: Outcome | None = None
    last: int | None = None
    """The cell claimed last."""


@dataclass(frozen=True)
class MultiplayerRules(SetRules):
    """A game of lines for so many sides."""

    game: Game
    players: int

    @property
    def name(self) -> str:
        """The game's notation."""
        return f"{self.players}p:{self.game.notation}"

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides, in turn order."""
        return tuple(MARKS[: self.players])

    @property
    def opponent(self) -> str:
        """Who plays against people, unless told otherwise: no oracle knows games of more than two sides."""
        return "mcts"

    def start(self) -> MultiplayerState:
        """Return the empty board."""
        return MultiplayerState((0,) * self.players, 0, tuple(range(self.players)))

    def to_move(self, state: MultiplayerState) -> str | None:
        """Return the mark whose turn it is; None when the game is over."""
        return None if state.outcome else MARKS[state.turn]

    def outcome(self, state: MultiplayerState) -> Outcome | None:
        """Return how the game ended; None while it goes on."""
        return state.outcome

    def legal(self, state: MultiplayerState) -> list[int]:
        """Return the empty cells, in order; none when the game is over."""
        return [] if state.outcome else list(cells_of(self.game.full & ~self.taken(state)))

    def play(self, state: MultiplayerState, move: int) -> MultiplayerState:
        """Return the state after the side to move claims an empty cell."""
        turn = state.turn
        own = state.stones[turn] | 1 << move
        stones = (*state.stones[:turn], own, *state.stones[turn + 1 :])
        outcome = None
        if self.game.completes(own, move):
            outcome = Outcome(MARKS[turn], f"{MARKS[turn]} completed a line")
        elif reduce(or_, stones) == self.game.full:
            outcome = self._drawn(state.playing)
        return MultiplayerState(stones, _after(state.playing, turn), state.playing, outcome, move)

    def leave(self, state: MultiplayerState, side: str) -> MultiplayerState:
        """Return the state after a side has left a game that is not over; raise BoardError if it has left already."""
        number = MARKS.index(side)
        if number not in state.playing:
            raise BoardError(f"{side} has left the game already")
        playing = tuple(each for each in state.playing if each != number)
        turn = _after(playing, number) if state.turn == number else state.turn
        return replace(state, turn=turn, playing=playing, outcome=self._won_by_last(playing))

    def marked(self, state: MultiplayerState) -> dict[int, str]:
        """Return the mark of every filled cell."""
        return {cell: mark for mark, own in zip(MARKS, state.stones, strict=False) for cell in cells_of(own)}

    def ending(self, state: MultiplayerState) -> set[int]:
        """Return the cells of all complete lines."""
        return set(cells_of(reduce(or_, [line for own in state.stones for line in self.game.completed(own)], 0)))

    def taken(self, state: MultiplayerState) -> int:
        """Return the set of filled cells."""
        return reduce(or_, state.stones)

    def in_turn(self, state: MultiplayerState) -> tuple[int, ...]:
        """Return the cells of every side that still plays, from the side to move on."""
        at = state.playing.index(state.turn)
        return tuple(state.stones[each] for each in state.playing[at:] + state.playing[:at])

    def encode(self, state: MultiplayerState) -> str:
        """Return the board and, if a side has left, the side to move and those still in the game."""
        marked = self.marked(state)
        cells = "".join(marked.get(cell, ".") for cell in range(self.game.cells))
        board = "/".join(cells[first : first + width] for first, _, width in self.game.row_runs)
        if len(state.playing) == self.players:
            return board
        return f"{board} {MARKS[state.turn]} {''.join(MARKS[each] for each in state.playing)}"

    def decode(self, text: str) -> MultiplayerState:
        """Return the state that a text describes; raise BoardError if no game reaches it."""
        board, *rest = text.split()[:4] or [""]
        stones = stones_of(self.game, board, MARKS[: self.players])
        turn, playing = self._who(rest, sum(map(int.bit_count, stones)), text)
        state = MultiplayerState(stones, turn, playing)
        self._check_counts(state, text)
        return replace(state, outcome=self._outcome(state, text))

    def key(self, state: MultiplayerState) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        """Return what makes two states the same."""
        return state.stones, state.turn, state.playing

    def _who(self, words: list[str], filled: int, text: str) -> tuple[int, tuple[int, ...]]:
        """Return whose turn it is, and who still plays, from what follows a board."""
        if not words:
            return filled % self.players, tuple(range(self.players))
        marks = "".join(self.sides)
        if len(words) == 2 and len(words[0]) == 1 and words[0] in words[1]:
            playing = tuple(number for number, mark in enumerate(marks) if mark in words[1])
            if "".join(marks[each] for each in playing) == words[1] != marks:
                return marks.index(words[0]), playing
        raise BoardError(
            f"board {shown(text)}: write the board alone or, if a side has left, then the side to move and those still "
            f"in the game, such as {marks[1]} {marks[1:]}"
        )

    def _check_counts(self, state: MultiplayerState, text: str) -> None:
        """Raise BoardError unless those who play have moved in turn, and the others at most as often."""
        counts = [own.bit_count() for own in state.stones]
        rounds = counts[state.turn]
        for number, count in enumerate(counts):
            due = rounds + (number < state.turn)
            if count > due or (count < due and number in state.playing):
                said = ", ".join(f"{each} {mark}" for each, mark in zip(counts, self.sides, strict=True))
                raise BoardError(f"board {shown(text)} has {said}: {', '.join(self.sides)} take turns, X first")

    def _outcome(self, state: MultiplayerState, text: str) -> Outcome | None:
        """Return how a game has ended that is described by a text."""
        before = state.playing[state.playing.index(state.turn) - 1]
        for number, own in enumerate(state.stones):
            lines = self.game.completed(own)
            if lines and (number != before or len(state.playing) == 1 or not reduce(and_, lines)):
                mark = MARKS[number]
                raise BoardError(f"board {shown(text)} has a line of {mark} that the last move did not complete")
            if lines:
                return Outcome(MARKS[number], f"{MARKS[number]} completed a line")
        if len(state.playing) > 1 and self.taken(state) == self.game.full:
            return self._drawn(state.playing)
        return self._won_by_last(state.playing)

    def _drawn(self, playing: tuple[int, ...]) -> Outcome:
        lost = tuple(mark for number, mark in enumerate(self.sides) if number not in playing)
        why = f"the board is full, and {' and '.join(lost)} had left" if lost else "the board is full"
        return Outcome(None, why, lost)

    @staticmethod
    def _won_by_last(playing: tuple[int, ...]) -> Outcome | None:
        return Outcome(MARKS[playing[0]], "the others have left") if len(playing) == 1 else None


def multiplayer(game: BoardGame[Any], count: int) -> MultiplayerRules:
    """Return the rules of a game of lines for so many sides; raise GameError if there is no such game."""
    if count not in COUNTS:
        raise GameError(f"no game for {count} sides: write 3p:5,5,4 or 4p:6,6,4; games of two have no prefix")
    lines = lines_only(game)
    if lines.misere:
        raise GameError(f"{lines.name} cannot be played by {count} sides: if completing a line loses, nobody wins")
    return MultiplayerRules(lines, count)


def _after(playing: tuple[int, ...], number: int) -> int:
    """Return the next side in turn order that still plays."""
    return next((each for each in playing if each > number), playing[0])
