"""Draws by pairing: pairs of empty cells such that every line a side can still complete contains a whole pair.

The other side then stops it for good: whenever it claims a cell of a pair, the other claims the mate. No line ever
loses both cells of its pair to one side, so none is completed. Two points make this exact:

- **Whose turn it is does not matter.** Where the side to be stopped has claimed no cell of a pair, or the mate is the
  other side's already, the other side claims any cell. An extra cell never harms it: if the cell is one of a pair, that
  pair has done its work. A line with one empty cell holds no pair, so a threat is never overlooked.
- **Both sides at once.** If X is stopped by one pairing and O by another, or by the same, neither side wins with best
  play, so the position is a draw. A side need not follow both: that each *can* stop the other is enough.

Lines that have stones of the stopping side are dead, and need nothing.

In misère play nothing is claimed. There a side must avoid completing a line itself, so it needs the *other* side to get
a cell of every pair. It can see to that only if it always answers and never has to begin, with all other cells paired
up, too. That serves the side that makes the last move on the full board, never both, and a draw takes both.

How pairs are found: one pair serves all lines that share its cells. So lines are put into groups that have at least two
cells in common, and a matching gives each group two cells of its own. If it does not serve all, a local search goes on
from there. For lines of nine or more there is a pattern (solver/certificates/pattern.py).
"""

import random
from collections.abc import Iterable, Sequence
from itertools import combinations
from time import monotonic

from solver.certificates.pattern import SHORTEST, Pairs, pattern_pairings
from solver.games.board import cells_of
from solver.games.lines import Game

_STEPS = 2_000
"""How many repairs a local search tries."""

_PATIENCE, _SHORT_PATIENCE, _CLOSE = 700, 100, 0.03
"""After how many repairs without success it gives up: where less than a share of the lines have no pair, and before."""

_MOST_LINES = 3_000
"""How many lines are served by matching, at most."""

_MOST_CELLS = 24
"""Of longer lines it looks at so many cells."""

_FRESH = 6
"""For so many steps a pair counts as new."""

_SEED = 8


def live_lines(game: Game, their: int) -> list[int]:
    """Return the lines that a side can still complete: those without a cell of the other side."""
    return [line for line in game.lines if not line & their]


def find_pairing(game: Game, own: int, their: int, deadline: float) -> Pairs | None:
    """Return pairs with which the side of `their` stops the side of `own`; None if none was found by the deadline."""
    free = game.full & ~(own | their)
    lines = live_lines(game, their)
    needs = sorted({line & free for line in lines})
    if any(not need & (need - 1) for need in needs):
        return None
    if min((line.bit_count() for line in lines), default=0) >= SHORTEST:
        for pairs in pattern_pairings(game, free):
            if _serves(pairs, needs):
                return _used(pairs, needs)
            if monotonic() > deadline:
                return None
    if len(needs) > _MOST_LINES or not _possible(needs, free):
        return None
    repaired = _Repair(needs, _matched(_groups(needs))).run(deadline)
    return repaired and _used(repaired, needs)


def matched_pairs(needs: Sequence[int]) -> Pairs | None:
    """Return pairs of cells for lines that need these cells, if matching alone finds them; None if not.

    Each line, in the order given, joins the group with which it shares most cells, two at least, the first of these if
    several do. There are pairs if every group can have two cells of its own, of those that all its lines share.
    """
    if any(not need & (need - 1) for need in needs):
        return None
    groups, cells = _groups(needs), 0
    for group in groups:
        cells |= group
    if 2 * len(groups) > cells.bit_count():
        return None
    pairs = _matched(groups)
    return pairs if len(pairs) == len(groups) else None


def _possible(needs: Sequence[int], free: int) -> bool:
    """Return False if there are more lines than pairs can serve: a pair serves only those through both its cells."""
    through = _through(needs)
    most = 0
    for cell, lines in through.items():
        near = 0
        for number in cells_of(lines):
            near |= needs[number]
        most = max([most, *((lines & through[other]).bit_count() for other in cells_of(near >> cell + 1 << cell + 1))])
    return len(needs) <= most * (free.bit_count() // 2)


def _through(needs: Sequence[int]) -> dict[int, int]:
    """Return, for each cell, the numbers of the lines that need it, as a set of bits."""
    through: dict[int, int] = {}
    for number, need in enumerate(needs):
        for cell in cells_of(need):
            through[cell] = through.get(cell, 0) | 1 << number
    return through


def _serves(pairs: Pairs, needs: Iterable[int]) -> bool:
    """Tell whether every line contains a pair."""
    by_cell = {cell: 1 << a | 1 << b for a, b in pairs for cell in (a, b)}
    return all(any(by_cell.get(cell, -1) & ~need == 0 for cell in cells_of(need)) for need in needs)


def _used(pairs: Pairs, needs: Sequence[int]) -> Pairs:
    """Return the pairs that some line contains, each with its smaller cell first, in order."""
    through = _through(needs)
    return tuple(sorted((min(a, b), max(a, b)) for a, b in pairs if through.get(a, 0) & through.get(b, 0)))


def _groups(needs: Iterable[int]) -> list[int]:
    """Return what the lines of each group have in common, at least two cells: each joins where it shares most."""
    groups: list[int] = []
    for need in needs:
        shared = [(group & need).bit_count() for group in groups]
        most = max(shared, default=0)
        if most >= 2:
            groups[shared.index(most)] &= need
        else:
            groups.append(need)
    return groups


def _matched(groups: Sequence[int]) -> Pairs:
    """Return a pair for as many groups as a matching gives two cells of their own."""
    owner: dict[int, int] = {}
    for group in sorted(range(len(groups)), key=lambda number: groups[number].bit_count()):
        if _augment(group, groups, owner):
            _augment(group, groups, owner)
    held: dict[int, list[int]] = {}
    for cell, group in owner.items():
        held.setdefault(group, []).append(cell)
    return tuple((cells[0], cells[1]) for cells in held.values() if len(cells) == 2)


def _augment(group: int, groups: Sequence[int], owner: dict[int, int]) -> bool:
    """Give a group one cell more, by a shortest chain of groups that each pass a cell on; False if there is none."""
    taker_of: dict[int, int] = {}
    passes: dict[int, int] = {group: -1}
    queue = [group]
    for taker in queue:
        for cell in cells_of(groups[taker]):
            if cell in taker_of or owner.get(cell) == group:
                continue
            taker_of[cell] = taker
            if cell not in owner:
                while cell >= 0:
                    taker = owner[cell] = taker_of[cell]
                    cell = passes[taker]
                return True
            if owner[cell] not in passes:
                passes[owner[cell]] = cell
                queue.append(owner[cell])
    return False


class _Repair:
    """A local search: take a line without a pair, and give it the pair that costs the other lines least.

    Where every pair costs as much as it brings, the lines without a pair become more important; and a pair that was
    added a few steps ago is not broken again if that can be helped. Both lead out of dead ends.
    """

    def __init__(self, needs: Sequence[int], pairs: Pairs) -> None:
        self._needs = needs
        self._through = _through(needs)
        self._held = [0] * len(needs)
        self._importance = [1] * len(needs)
        self._missing = dict.fromkeys(range(len(needs)))
        self._pair_at: dict[int, tuple[int, int]] = {}
        self._added: dict[tuple[int, int], int] = {}
        self._random = random.Random(_SEED)
        for pair in pairs:
            self._add(pair)

    def run(self, deadline: float) -> Pairs | None:
        """Return pairs that serve every line; None if time or steps run out."""
        fewest, since = len(self._missing), 0
        for step in range(_STEPS):
            if not self._missing:
                return tuple(set(self._pair_at.values()))
            if len(self._missing) < fewest:
                fewest, since = len(self._missing), step
            hopeless = step > since + (_PATIENCE if fewest < _CLOSE * len(self._needs) else _SHORT_PATIENCE)
            if hopeless or monotonic() > deadline:
                return None
            gain, pair = self._best(self._random.choice(list(self._missing)), step)
            if gain <= 0:
                for number in self._missing:
                    self._importance[number] += 1
            for broken in self._broken(pair):
                self._remove(broken)
            self._add(pair)
            self._added[pair] = step
        return None

    def _best(self, number: int, step: int) -> tuple[int, tuple[int, int]]:
        """Return the pair in a line that gains most, and its gain; ties are broken at random."""
        ranked = []
        cells = list(cells_of(self._needs[number]))
        if len(cells) > _MOST_CELLS:
            cells = sorted(self._random.sample(cells, _MOST_CELLS))
        for pair in combinations(cells, 2):
            broken = self._broken(pair)
            fresh = any(self._added.get(each, -_FRESH) > step - _FRESH for each in broken)
            ranked.append(((not fresh, self._gain(pair, broken), self._random.random()), pair))
        (_, gain, _), pair = max(ranked)
        return gain, pair

    def _gain(self, pair: tuple[int, int], broken: set[tuple[int, int]]) -> int:
        serves = self._through[pair[0]] & self._through[pair[1]]
        held, importance = self._held, self._importance
        gain = sum([importance[number] for number in cells_of(serves) if not held[number]])
        for a, b in broken:
            lost = self._through[a] & self._through[b] & ~serves
            gain -= sum([importance[number] for number in cells_of(lost) if held[number] == 1])
        return gain

    def _broken(self, pair: tuple[int, int]) -> set[tuple[int, int]]:
        return {self._pair_at[cell] for cell in pair if cell in self._pair_at}

    def _add(self, pair: tuple[int, int]) -> None:
        for cell in pair:
            self._pair_at[cell] = pair
        for number in cells_of(self._through[pair[0]] & self._through[pair[1]]):
            self._held[number] += 1
            self._missing.pop(number, None)

    def _remove(self, pair: tuple[int, int]) -> None:
        for cell in pair:
            del self._pair_at[cell]
        for number in cells_of(self._through[pair[0]] & self._through[pair[1]]):
            self._held[number] -= 1
            if not self._held[number]:
                self._missing[number] = None
