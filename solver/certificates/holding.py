"""Proofs that a side holds: a defence against every move of the other, walked through in plain Python.

The side that wants a line is the *maker*, the other the *breaker*. The breaker holds if the maker never completes a
line. The walk takes every move of the maker from every position, and answers each: by the only cell that stops a line
with one gap, or by the next answer of a list. So a proof is that list, and walking it checks it. It does not matter
where the answers come from: the walk fails if one of them does not hold.

There are two kinds of positions, both with the maker to move:

- **Whole**: the cells of both. The breaker may win, too. Where he has completed a line, or could with his next move, he
  holds; so where he has a gap, the maker has to fill it. The breaker may let go of all that and call it a bare one.
- **Bare**: the breaker's own lines count for nothing. Then his stones matter only by the lines that they have killed,
  and the position consists of the maker's cells and the free cells on lines that can still be completed. Much can be
  left out:

  1. A cell on no such line. If the maker claims it, the breaker claims any other: an extra cell never harms him.
  2. *Twins*, cells on exactly the same lines. Whenever the maker claims one, the breaker claims the other, so these
     lines are never completed, and all twins and their lines can go.
  3. A maker's move to a *dominated* cell, where another free cell is on the same lines and on more. If the breaker
     holds after the maker claims the better cell, he holds after the worse one: he answers as if the better one
     had been claimed, with the two in each other's place. Any line that the maker completes in truth he has then
     completed in that imagined game, too, because a line through the worse cell goes through the better one.

  A bare position needs no answers where weights settle it (solver/certificates/weights.py), or pairs that a matching
  finds for its lines (`matched_pairs` in solver/certificates/pairing.py).

Positions equal by symmetry are walked through once. A list of answers is short because it has a number for each only
where the answer is not the *usual* one: the free cell whose lines weigh most, the first of these.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from solver.certificates.pairing import matched_pairs
from solver.certificates.refusals import CheckTooLong, Refuted
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.index.symmetry import Images, Symmetry, image

MOST_POSITIONS = 3_000_000
"""How many positions a walk goes through before it gives up."""

BARE, NOT_BARE = -1, -2
"""The answers that call a whole position a bare one, and that do not."""

CHECKED_CELLS = 400
"""The largest board on which defences and strategies are checked."""


class Whole(NamedTuple):
    """A position with the cells of both sides."""

    maker: int
    breaker: int


class Bare(NamedTuple):
    """A position with the maker's cells and those still free, on lines that can be completed."""

    maker: int
    free: int


Ask = Callable[[Whole | Bare, int], int]
"""Give the breaker's answer in a position in which he is to move; the number is that of the usual one.

In a whole position with the maker to move, it is asked first whether it is a bare one: the usual answer is then BARE,
and NOT_BARE says no.
"""


def walk(game: Game, start: Whole | Bare, group: Sequence[Symmetry], ask: Ask, most: int = MOST_POSITIONS) -> int:
    """Return how many positions it took to see that the breaker holds, the maker to move; raise Refuted if he does not.

    Where the breaker is to move at the start, ask him first.
    """
    if game.misere:
        raise Refuted(f"a defence says nothing of {game.name}, in which completing a line loses")
    if game.cells > CHECKED_CELLS:
        raise CheckTooLong(f"{game.name} has {game.cells} cells: a defence is checked on up to {CHECKED_CELLS}")
    for g in group:
        if sorted(g) != list(range(game.cells)) or {image(g, line) for line in game.lines} != set(game.lines):
            raise Refuted(f"a permutation of the cells is no symmetry of {game.name}")
    return _Walk(game, group, ask, most).run(start)


class _Walk:
    """One walk: positions to go through, last first, and those that were met."""

    def __init__(self, game: Game, group: Sequence[Symmetry], ask: Ask, most: int) -> None:
        self._game = game
        self._ask = ask
        self._most = most
        self._images = Images(group) if len(group) > 1 else None
        self._met: set[tuple[bool, int, int]] = set()
        self._todo: list[Whole | Bare] = []

    def run(self, start: Whole | Bare) -> int:
        self._meet(start)
        while self._todo:
            position = self._todo.pop()
            if isinstance(position, Whole):
                self._take_whole(position)
            else:
                self._take_bare(position)
        return len(self._met)

    def _meet(self, position: Whole | Bare) -> None:
        """Remember a position to go through, unless it needs nothing or was met before."""
        if isinstance(position, Bare):
            position, settled = stripped(self._game.lines, position)
            if settled:
                return
        if self._images:
            images = zip(self._images.of(position[1]), self._images.of(position[0]), strict=True)
            second, first = min(images)
            position = type(position)(first, second)
        key = (isinstance(position, Whole), *position)  # a tuple has no kind: Whole(1, 2) == Bare(1, 2)
        if key not in self._met:
            if len(self._met) >= self._most:
                raise CheckTooLong(f"the proof has more than {self._most:,} positions: nothing is known of it")
            self._met.add(key)
            self._todo.append(position)

    def _take_bare(self, position: Bare) -> None:
        """Answer every move of the maker in a bare position."""
        live = live_in(self._game.lines, position)
        if any(not (rest := line & position.free) & (rest - 1) for line in live):
            raise self._refuted(position)
        for cell in undominated(live, position.free):
            maker, free = position.maker | 1 << cell, position.free & ~(1 << cell)
            gaps = _gaps(live, maker, free)
            if gaps & (gaps - 1):
                raise self._refuted(position)
            after = Bare(maker, free)
            answer = gaps or 1 << self._answered(after, free)
            self._meet(Bare(maker, free & ~answer))

    def _take_whole(self, position: Whole) -> None:
        """Answer every move of the maker in a whole position, or call it a bare one."""
        maker, breaker = position
        lines, full = self._game.lines, self._game.full
        free = full & ~(maker | breaker)
        bare = Bare(maker, free)
        if not any(line & ~maker & ~free == 0 for line in lines):
            return
        if self._ask(position, BARE) == BARE:
            self._meet(bare)
            return
        if _gaps(lines, maker, free):
            raise self._refuted(position)
        own = _gaps(lines, breaker, free)
        if own & (own - 1):
            return
        for cell in cells_of(own or free):
            mine, left = maker | 1 << cell, free & ~(1 << cell)
            gaps = _gaps(lines, mine, left)
            if gaps & (gaps - 1):
                raise self._refuted(position)
            if left:
                answer = gaps or 1 << self._answered(Whole(mine, breaker), left)
                self._take_answer(mine, breaker | answer, answer)

    def _take_answer(self, maker: int, breaker: int, answer: int) -> None:
        if not any(line & answer and not line & ~breaker for line in self._game.lines):
            self._meet(Whole(maker, breaker))

    def _answered(self, position: Whole | Bare, free: int) -> int:
        """Return the breaker's answer, which must be a free cell."""
        usual = usual_answer(self._game.lines, position.maker, free)
        cell = self._ask(position, usual)
        if not 0 <= cell < self._game.cells or not free >> cell & 1:
            raise self._refuted(position)
        return cell

    def _refuted(self, position: Whole | Bare) -> Refuted:
        maker = " ".join(map(self._game.cell_name, cells_of(position.maker)))
        return Refuted(f"the defence fails where the attacker holds {maker}")


def live_in(lines: Sequence[int], position: Bare) -> list[int]:
    """Return the lines that the maker can still complete."""
    dead = ~(position.maker | position.free)
    return [line for line in lines if not line & dead]


def stripped(lines: Sequence[int], position: Bare) -> tuple[Bare, bool]:
    """Return a bare position without what can be left out, and whether it is settled as held."""
    maker, free = position
    while True:
        lines = live_in(lines, Bare(maker, free))
        through = _through(lines, free)
        same: dict[int, int] = {}
        for cell, numbers in through.items():
            same[numbers] = same.get(numbers, 0) | 1 << cell
        twins = sum([cells for cells in same.values() if cells & (cells - 1)])
        if not twins:
            break
        free = sum([1 << cell for cell in through]) & ~twins
    free = sum([1 << cell for cell in through])
    empties = [(line & free).bit_count() for line in lines]
    most = max(empties, default=0)
    heaviest = max(
        [sum([1 << most - empties[n] for n in cells_of(numbers)]) for numbers in through.values()], default=0
    )
    held = sum([1 << most - count for count in empties]) + heaviest < 1 << most
    held = held or _is_paired([line & free for line in lines])
    kept = 0
    for line in lines:
        kept |= line
    return Bare(maker & kept, free), held


def _is_paired(needs: Sequence[int]) -> bool:
    """Tell whether a matching finds disjoint pairs of cells such that every line has one."""
    pairs = matched_pairs(needs)
    if pairs is None:
        return False
    cells = [1 << cell for pair in pairs for cell in pair]
    return sum(cells).bit_count() == len(cells) and all(
        any(need >> a & need >> b & 1 for a, b in pairs) for need in needs
    )


def undominated(live: Sequence[int], free: int) -> list[int]:
    """Return the free cells that are on live lines such that no other free cell is on all of these and on more."""
    through = _through(live, free)
    found = []
    for cell, numbers in through.items():
        near = live[numbers.bit_length() - 1] & free & ~(1 << cell)
        if not any(numbers & ~through[other] == 0 and numbers != through[other] for other in cells_of(near)):
            found.append(cell)
    return found


def usual_answer(lines: Sequence[int], maker: int, free: int) -> int:
    """Return the free cell whose lines weigh most for the maker, the first of these."""
    dead = ~(maker | free)
    weights: dict[int, int] = {}
    longest = max(map(int.bit_count, lines))
    for line in lines:
        if not line & dead:
            rest = line & free
            weight = 1 << longest - rest.bit_count()
            while rest:
                low = rest & -rest
                weights[low] = weights.get(low, 0) + weight
                rest ^= low
    if not weights:
        return next(cells_of(free))
    return max(weights, key=lambda bit: (weights[bit], -bit)).bit_length() - 1


def _through(lines: Sequence[int], free: int) -> dict[int, int]:
    """Return, for each free cell, the numbers of the lines through it, as a set of bits."""
    through: dict[int, int] = {}
    for number, line in enumerate(lines):
        rest = line & free
        while rest:
            cell = (rest & -rest).bit_length() - 1
            through[cell] = through.get(cell, 0) | 1 << number
            rest &= rest - 1
    return through


def _gaps(lines: Sequence[int], own: int, free: int) -> int:
    """Return the free cells that complete a line for the side of `own`."""
    found = 0
    for line in lines:
        gap = line & ~own
        if not gap & ~free and not gap & (gap - 1):
            found |= gap
    return found
