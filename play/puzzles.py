"""Puzzles: positions of a game of lines in which exactly one move keeps the outcome, found and rated by the oracle.

They are found in random games in which nobody misses a line to complete or to stop. A position that somebody wins, but
not at once, is also traced backwards: each move that may have led to it is taken back, because just before a lost
position there often was only one way out. Nothing is chosen by hand: a game and a seed always give the same puzzle.
"""

import random
from collections import deque
from collections.abc import Iterator
from datetime import date
from itertools import islice
from math import inf
from time import monotonic
from typing import NamedTuple

from oracle.answers import Analysis, Move, in_moves
from oracle.grading import grade_of
from oracle.oracle import Oracle
from play.graded import led_to
from solver.errors import GameError, NotSettled, Ttt4Error
from solver.games.board import cells_of, column_name, require_solvable
from solver.games.board_text import parse
from solver.games.line_rules import LineRules, LineState
from solver.games.lines import Game, lines_only
from solver.games.position import Position

MOST_STARS = 5

LEAST_DEPTH = 3
"""How many plies a puzzle asks to see, at least: completing a line, or stopping one, is too easy."""

LEAST_EMPTY = 3
"""How many cells are empty in a puzzle, at least."""

LOOKS = 800
"""After so many positions, one of the puzzles found is chosen, if there is any."""

MOST_LOOKS = 60_000
"""After so many positions without a puzzle, the search is given up."""

_LOOKS_A_GAME = 60
"""After so many positions that come from one random game, the next begins, so that not all puzzles are alike."""

_ANSWERS = 10
"""A live search may take as long as for so many answers."""


class NoPuzzle(Ttt4Error):
    """No puzzle of the kind that was asked for was found."""

    kind = "no-puzzle"


class Puzzle(NamedTuple):
    """A position in which exactly one move keeps the outcome."""

    game: str
    """The game's notation."""
    board: str
    to_move: str
    outcome: str
    """`win` or `draw`: what the side to move can reach, by one move only."""
    plies: int | None
    """How many plies to the end of a win; None for a draw."""
    depth: int
    """How many plies one has to see: those of the win or, for a draw, of the longest loss after a wrong move."""
    tempting: int
    """How many wrong moves do not lose within two plies."""
    stars: int
    """How hard it is: 1 to 5."""
    goal: str
    """What to do, such as `X to move and win in 3 moves (5 plies)`."""
    solution: str
    """The move."""
    seed: str
    """The text from which the puzzle was made."""


class Answer(NamedTuple):
    """What a move does in a puzzle."""

    move: str
    right: bool
    grade: str
    """What it does to the outcome, in the words of oracle/grading.py."""
    outcome: str
    """What it leads to, in words: `O wins in 2 moves (3 plies)`, counted after the move."""
    line: tuple[str, ...]
    """The move, and one way in which the game then goes on with best play by both."""
    line_complete: bool
    """Whether the line goes to the end of the game; false if a live search ran out of time."""

    def in_words(self, puzzle: Puzzle) -> str:
        """Return what the move does in a sentence: `Only b2 wins.`, or what a wrong one leads to."""
        if self.right:
            return f"Only {self.move} {'wins' if puzzle.outcome == 'win' else 'holds the draw'}."
        led_to = f"it is {self.outcome}" if self.outcome == "a draw" else self.outcome
        return f"Wrong: {self.move} {self.grade}. Then {led_to}."


def make_puzzle(oracle: Oracle, seed: str, *, outcome: str | None = None, stars: int | None = None) -> Puzzle:
    """Return the puzzle of a game and a seed, with that outcome and so many stars if they are given.

    Each number of stars that comes up is equally likely. A live search takes up to ten times as long as for an answer;
    if it has too little time, its puzzle may be another than a store's. Raise NoPuzzle if none is found.
    """
    game = lines_only(oracle.game)
    require_solvable(game)
    if oracle.estimates:
        raise GameError(
            f"game {game.name!r} has {game.cells} cells: puzzles of more than {game.settled_cells} cells need a store"
        )
    rng = random.Random(f"puzzle of {game.name}: {seed!a}")  # ascii, as not every text can be encoded
    ends = monotonic() + _ANSWERS * oracle.seconds if oracle.source == "search" else inf
    found: dict[int, list[Puzzle]] = {}
    for looks, analysis in enumerate(islice(_analyses(oracle, rng), MOST_LOOKS)):
        if (looks >= LOOKS and found) or monotonic() > ends:
            break
        puzzle = analysis and _puzzle(game, analysis, seed)
        if puzzle and outcome in (None, puzzle.outcome) and stars in (None, puzzle.stars):
            found.setdefault(puzzle.stars, []).append(puzzle)
    if not found:
        raise _none_found(game, looks + 1, outcome, stars)
    return rng.choice(found[rng.choice(sorted(found))])


def daily_puzzle(oracle: Oracle, day: date, *, outcome: str | None = None, stars: int | None = None) -> Puzzle:
    """Return the puzzle of a day: that of the seed `2026-11-19`."""
    return make_puzzle(oracle, day.isoformat(), outcome=outcome, stars=stars)


def answer_to(oracle: Oracle, puzzle: Puzzle, move: str) -> Answer:
    """Return what a move does in a puzzle, and how the game goes on after it; raise BoardError if it cannot be made."""
    position = parse(oracle.game, puzzle.board)
    cell = oracle.game.cell(move)
    after = position.play(cell)
    before = oracle.analysis(position)
    if not before.exact:
        raise NotSettled(f"board {puzzle.board!r} was not settled in {oracle.seconds:g} s")
    made = next(each for each in before.moves if each.cell == cell)
    following = oracle.analysis(after)
    return Answer(
        made.move,
        made.outcome == before.outcome,
        grade_of(before.score or 0, made.score or 0),
        led_to(made.score or 0, made.plies and made.plies - 1, before.scale, puzzle.to_move, "XO"),
        (made.move, *following.mainline),
        following.mainline_complete,
    )


def hint_of(game: Game, puzzle: Puzzle) -> str:
    """Return the row or the column of the solution, whichever has more empty cells: `the move is in row 2`."""
    position = parse(game, puzzle.board)
    squares = {cell: divmod(game.squares[cell], game.columns) for cell in position.legal}
    row, column = squares[game.cell(puzzle.solution)]
    in_row = sum(other == row for other, _ in squares.values())
    in_column = sum(other == column for _, other in squares.values())
    return f"the move is in {f'row {row + 1}' if in_row >= in_column else f'column {column_name(column)}'}"


def stars_of(depth: int, tempting: int) -> int:
    """Return how hard a puzzle is, from 1 to 5.

    A depth of 3 or 4 plies gives one star, and every two plies more give another. At least 4 tempting moves give one
    more, and at least 6 yet another.
    """
    return min(MOST_STARS, (depth - 1) // 2 + (tempting >= 4) + (tempting >= 6))


def _none_found(game: Game, looks: int, outcome: str | None, stars: int | None) -> NoPuzzle:
    wanted = f"{outcome or ''} puzzle{'' if stars is None else f' of difficulty {stars}'}".lstrip()
    if looks < MOST_LOOKS:
        advice = "allow the search more time"
    else:
        advice = "try another seed, outcome or difficulty" if outcome or stars else "choose another game"
    return NoPuzzle(f"no {wanted} in {looks:,} position{'s' * (looks != 1)} of game {game.name!r}: {advice}")


def _puzzle(game: Game, analysis: Analysis, seed: str) -> Puzzle | None:
    """Return the puzzle that a position is; None if it is none, or too easy. Of a lost one every move is kept."""
    kept = [move for move in analysis.moves if move.outcome == analysis.outcome]
    if len(kept) != 1:
        return None
    wrong = [move for move in analysis.moves if move not in kept]
    depth = analysis.plies or max(move.plies or 0 for move in wrong)
    tempting = sum(not _refuted_at_once(move) for move in wrong)
    if depth < LEAST_DEPTH or not tempting:
        return None
    return Puzzle(
        game=game.notation,
        board=analysis.board,
        to_move=analysis.to_move or "",
        outcome=kept[0].outcome or "",
        plies=analysis.plies,
        depth=depth,
        tempting=tempting,
        stars=stars_of(depth, tempting),
        goal=f"{analysis.to_move} to move"
        + (f" and win in {in_moves(analysis.plies)}" if analysis.plies else ": only one move holds the draw"),
        solution=kept[0].move,
        seed=seed,
    )


def _refuted_at_once(move: Move) -> bool:
    return move.outcome == "loss" and (move.plies or 0) <= 2


def _analyses(oracle: Oracle, rng: random.Random) -> Iterator[Analysis | None]:
    """Yield what is known of position after position, without end; None for one that is not looked into.

    Boards emptier than in the middle of the game are left out: few of them are puzzles, and a live search takes long
    for them. So are boards as empty as one that a live search could not settle.
    """
    game, most_settled = lines_only(oracle.game), oracle.game.cells
    seen: set[tuple[int, int]] = set()
    while True:
        waiting = deque(reversed(_random_game(game, rng)))
        most_empty = game.cells - (len(waiting) - 1) // 2
        for _ in range(_LOOKS_A_GAME):
            if not waiting:
                break
            position = waiting.popleft()
            cells, empty = (position.x, position.o), game.cells - position.stones
            if cells in seen or not LEAST_EMPTY <= empty <= min(most_empty, most_settled):
                yield None
                continue
            seen.add(cells)
            analysis = oracle.analysis(position)
            if not analysis.exact:
                most_settled = empty - 1
            elif analysis.plies and analysis.plies >= LEAST_DEPTH:
                waiting.extend(_taken_back(position))
            yield analysis if analysis.exact else None


def _random_game(game: Game, rng: random.Random) -> list[Position]:
    """Return the positions of a random game, but for the last, in which it is over."""
    rules, positions = LineRules(game), []
    state = rules.start()
    while not state.outcome:
        positions.append(state.position)
        state = rules.play(state, rng.choice(_sensible(game, state)))
    return positions


def _sensible(game: Game, state: LineState) -> list[int]:
    """Return the moves of a player who completes a line if possible, or stops one; in misère play, completes none."""
    x, o = state.position.x, state.position.o
    own, their = (x, o) if state.position.mover == "X" else (o, x)
    completing = [cell for cell in state.empty if game.completes(own | 1 << cell, cell)]
    if game.misere:
        return [cell for cell in state.empty if cell not in completing] or state.empty
    stopping = [cell for cell in state.empty if game.completes(their | 1 << cell, cell)]
    return completing or stopping or state.empty


def _taken_back(position: Position) -> list[Position]:
    """Return the positions one move before, whichever cell was claimed last."""
    game, x, o = position.game, position.x, position.o
    if position.mover == "X":
        return [Position(game, x, o & ~(1 << cell)) for cell in cells_of(o)]
    return [Position(game, x & ~(1 << cell), o) for cell in cells_of(x)]
