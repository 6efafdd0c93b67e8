"""Strategies by which a side wins, and their checker: plain Python that shares no code with the engine.

A strategy is a tree. The winner plays `move`. If that completes a line, the game is won. Otherwise the loser may reply
with any empty cell:

- a reply with an entry in `replies` is answered by the strategy there;
- after any other reply it is enough that the winner can complete a line at once, because the loser did not block it;
- where he cannot, `other` must work with the reply on the board: every move in it legal, and every line in it a win.

A reply that completes a line of the loser's refutes the strategy, and so does a full board. In misère play completing a
line loses: then the winner has won as soon as the loser has completed one, and a move of his own that completes one
refutes.

The checker considers every legal reply. It may pass over many at once, and here is why that is sound. Let the loser's
stones be the same as before his reply, as if he had passed, and let `other` be checked in that position. The check
notes a *zone*: every cell that a move of the winner needs to be empty, and every cell of a line that the loser has not
completed only because he lacks a few cells. A reply outside the zone then changes nothing: the winner's moves are still
legal and complete what they did; and the loser completes no line that he could not complete without it. The one point
to take care of is that such passes can be nested, so that the loser has `spare` stones on the board that the check does
not see. So the zone has all empty cells of each line without the winner's stones in which at most spare + 1 cells are
empty, where the loser is to reply: to complete such a line, one of the spare stones would have to lie on it, or the
reply completes it. Where so few cells are empty that spare stones could fill the board, the zone has every cell.

Misère strategies are checked reply by reply.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from solver.certificates.refusals import CheckTooLong, Refuted
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.text import shown

WAIT = -1
"""Stands for the first move of a strategy where the loser is to move."""

MOST_MOVES = 150
"""How many moves of the winner a strategy may take in a row: the checker calls itself for each."""

MOST_STEPS = 2_000_000
"""How many positions a check looks at before it gives up."""

_FEW = 2
"""So few replies are checked one by one at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """A move of the winner, and how it goes on after each reply."""

    move: int
    replies: "Mapping[int, Strategy]" = field(default_factory=dict)
    other: "Strategy | None" = None


def check_strategy(game: Game, x: int, o: int, strategy: Strategy, *, most_steps: int = MOST_STEPS) -> int:
    """Return the number of plies in which the strategy wins at most; raise Refuted, with the moves, if it does not win.

    It wins for the side to move; for the other side if its first move is WAIT. CheckTooLong says that the check was
    given up.
    """
    if x & o or (x | o) & ~game.full or min(x, o) < 0 or x.bit_count() - o.bit_count() not in (0, 1):
        raise Refuted(f"cells {x:#x} of X and {o:#x} of O are no position of {game.name}")
    if game.completed(x) or game.completed(o):
        raise Refuted(f"a line of {game.name} is complete before the strategy begins")
    x_to_move = x.bit_count() == o.bit_count()
    check = _Check(game, most_steps)
    if strategy.move == WAIT:
        return check.replied(strategy, *((o, x) if x_to_move else (x, o)), 0, ()).plies
    return check.played(strategy, *((x, o) if x_to_move else (o, x)), 0, ()).plies


def holds(game: Game, own: int, their: int, strategy: Strategy, *, most_steps: int = MOST_STEPS) -> int:
    """Return the replies that refute a strategy which wins against a pass; every empty cell if it loses even then."""
    check, failed = _Check(game, most_steps), 0
    free = game.full & ~(own | their)
    with suppress(Refuted):
        zone = check.played(strategy, own, their, 1, (WAIT,)).zone
        for reply in cells_of(free & zone):
            try:
                check.played(strategy, own, their | 1 << reply, 0, (reply,))
            except Refuted:
                failed |= 1 << reply
        return failed
    return free


def longest_line(game: Game, own: int, their: int, strategy: Strategy) -> tuple[int, ...]:
    """Return how a strategy that wins goes on for the side of `own` if the loser gives the answers it says most of."""
    sizes: dict[int, int] = {}
    line: list[int] = []
    part: Strategy | None = strategy
    while part:
        if part.move != WAIT:
            line.append(part.move)
            own |= 1 << part.move
            if game.completes(own, part.move):
                break
        wins, replies = 0 if game.misere else gaps(game, own, their), part.replies
        most = max([(_size(after, sizes), -cell) for cell, after in replies.items()], default=(0, 1))[1]
        reply = -most if most <= 0 else next(cells_of(wins or game.full & ~(own | their)))
        line.append(reply)
        their |= 1 << reply
        if game.completes(their, reply):  # in misère play only
            break
        wins &= ~(1 << reply)
        following = replies.get(reply) or (None if wins else part.other)
        if following is None:
            line += list(cells_of(wins))[:1]
        part = following
    return tuple(line)


def _size(strategy: Strategy, sizes: dict[int, int]) -> int:
    """Return how many moves of the winner a strategy takes in a row, at most; `sizes` has what was found before."""
    found = sizes.get(id(strategy))
    if found is None:
        parts = (*strategy.replies.values(), *filter(None, [strategy.other]))
        found = sizes[id(strategy)] = 1 + max([_size(part, sizes) for part in parts], default=0)
    return found


def gaps(game: Game, own: int, their: int) -> int:
    """Return the cells that complete a line for the side of `own`."""
    found = 0
    for line in game.lines:
        gap = line & ~own
        if not line & their and not gap & (gap - 1):
            found |= gap
    return found


class _Checked(NamedTuple):
    """What a check of part of a strategy found: the plies it takes at most, and its zone."""

    plies: int
    zone: int


class _Cells(NamedTuple):
    """The cells that matter where the loser is to reply."""

    wins: int
    """Those that complete a line of the winner's."""
    ends: int
    """Those that complete a line of the loser's."""
    zone: int


Path = tuple[int, ...]


class _Check:
    """One check: the game, and the parts that were checked in the same position before.

    `own` and `their` are the cells of the winner and of the loser, and `path` has the moves so far.
    """

    def __init__(self, game: Game, most_steps: int) -> None:
        self.game = game
        self.left = self.most_steps = most_steps
        self.known: dict[tuple[int, int, int, int], _Checked | Refuted] = {}

    def played(self, part: Strategy, own: int, their: int, spare: int, path: Path) -> _Checked:
        """Check part of a strategy where the winner is to move."""
        key = id(part), own, their, spare
        found = self.known.get(key)
        if not found:
            try:
                found = self._played(part, own, their, spare, path)
            except Refuted as error:
                found = error.with_traceback(None)
            self.known[key] = found
        if isinstance(found, Refuted):
            raise found
        return found

    def _played(self, part: Strategy, own: int, their: int, spare: int, path: Path) -> _Checked:
        self.left -= 1
        if self.left < 0 or len(path) > 2 * MOST_MOVES:
            raise CheckTooLong(f"the check was given up after {self.most_steps - self.left:,} steps: nothing is known")
        move, path = part.move, (*path, part.move)
        if not 0 <= move < self.game.cells or (own | their) >> move & 1:
            raise self._refuted(path, "the strategy's last move is not legal")
        own |= 1 << move
        if not self.game.completes(own, move):
            after = self.replied(part, own, their, spare, path)
            return _Checked(after.plies + 1, after.zone | 1 << move)
        if self.game.misere:
            raise self._refuted(path, "the winner completes a line, which loses")
        return _Checked(1, 1 << move)

    def replied(self, part: Strategy, own: int, their: int, spare: int, path: Path) -> _Checked:
        """Check every reply to a move that has completed no line."""
        free = self.game.full & ~(own | their)
        if not free:
            raise self._refuted(path, "the board is full")
        wins, ends, zone = self._cells(own, their, spare)
        if free.bit_count() <= spare:
            zone = self.game.full
        plies, todo = 0, free
        if self.game.misere:
            plies, todo = int(ends > 0), free & ~ends
        elif ends:
            raise self._refuted((*path, next(cells_of(ends))), "the loser completes a line")
        elif wins:
            plies, todo = 2, 0 if wins & (wins - 1) else wins
        zone |= wins
        for reply in cells_of(free & ~ends):
            if reply in part.replies:
                todo &= ~(1 << reply)
                after = self.played(part.replies[reply], own, their | 1 << reply, spare, (*path, reply))
                plies, zone = max(plies, after.plies + 1), zone | after.zone
        after = self._others(part, todo, own, their, spare, path)
        return _Checked(max(plies, after.plies), zone | after.zone)

    def _others(self, part: Strategy, todo: int, own: int, their: int, spare: int, path: Path) -> _Checked:
        """Check `other` after each of several replies: those outside its zone at once, the rest one by one."""
        plies = zone = 0
        other = part.other
        if not todo:
            return _Checked(0, 0)
        if other is None:
            raise self._refuted((*path, next(cells_of(todo))), "the strategy has no answer")
        if todo.bit_count() > _FEW and not self.game.misere:
            with suppress(Refuted):  # it may hold after every reply, and not without one
                passed = self.played(other, own, their, spare + 1, (*path, WAIT))
                if todo & ~passed.zone:
                    plies, zone, todo = passed.plies + 1, passed.zone, todo & passed.zone
        for reply in cells_of(todo):
            after = self.played(other, own, their | 1 << reply, spare, (*path, reply))
            plies, zone = max(plies, after.plies + 1), zone | after.zone
        return _Checked(plies, zone)

    def _cells(self, own: int, their: int, spare: int) -> _Cells:
        """Return the cells that matter where the loser is to reply and has so many spare stones."""
        wins = ends = zone = 0
        for line in self.game.lines:
            if not line & their:
                gap = line & ~own
                if not gap & (gap - 1):
                    wins |= gap
            if not line & own:
                gap = line & ~their
                if not gap & (gap - 1):
                    ends |= gap
                elif spare and gap.bit_count() <= spare + 1:
                    zone |= gap
        return _Cells(wins, ends, zone)

    def _refuted(self, path: Path, why: str) -> Refuted:
        moves = " ".join("pass" if cell == WAIT else self._name(cell) for cell in path)
        return Refuted(f"{why}, after {moves}" if moves else why)

    def _name(self, cell: int) -> str:
        return self.game.cell_name(cell) if 0 <= cell < self.game.cells else shown(cell, 24)
