"""The kernel that matches lines with cells: how far a position is from one that pairs of cells settle.

Lines that have two free cells in common can be stopped by the same pair, so they are put into groups; a matching gives
each group cells of its own. solver/certificates/pairing.py says why that stops a side, and does it in plain Python.
"""

from solver.kernels.bits import bit_count, lowest

from solver.kernels.jit import helper  # isort: skip  (it sets numba's cache folder first)

TABLES, MOST_CELLS = 5, 64
"""The size of the room that a matching takes."""

_GROUPS, _OWNER, _TAKER, _PASSES, _QUEUE = range(TABLES)
_MOST_GROUPS = 60


@helper
def group_lines(maker, free, lines, groups):
    """Fill in what the lines of each group have in common, and return how many groups there are.

    Each line that can be completed joins the group with which it shares most free cells, two at least.
    """
    count, dead = 0, ~(maker | free)
    for number in range(len(lines)):
        if lines[number] & dead:
            continue
        need, most, best = lines[number] & free, 1, -1
        for group in range(count):
            shared = bit_count(groups[group] & need)
            if shared > most:
                most, best = shared, group
        if best >= 0:
            groups[best] &= need
        elif count < _MOST_GROUPS:  # more would need more cells than there are: so many lack cells in any case
            groups[count] = need
            count += 1
    return count


@helper
def augment(group, room):
    """Give a group one cell more, by a shortest chain of groups that each pass a cell on; False if there is none."""
    room[_QUEUE, 0] = group
    seen, waiting, at, end = 0, 1 << group, 0, 1
    while at < end:
        taker = room[_QUEUE, at]
        at += 1
        cells = room[_GROUPS, taker] & ~seen
        seen |= cells
        while cells:
            cell = lowest(cells)
            cells &= cells - 1
            owner = room[_OWNER, cell]
            if owner == group:
                continue
            room[_TAKER, cell] = taker
            if owner < 0:
                while room[_TAKER, cell] != group:
                    room[_OWNER, cell] = room[_TAKER, cell]
                    cell = room[_PASSES, room[_TAKER, cell]]
                room[_OWNER, cell] = group
                return True
            if not waiting >> owner & 1:
                waiting |= 1 << owner
                room[_PASSES, owner] = cell
                room[_QUEUE, end] = owner
                end += 1
    return False


@helper
def lacking(maker, free, lines, room):
    """Return how many cells are lacking to give each group two of its own; if none is, the breaker holds by pairs."""
    count = group_lines(maker, free, lines, room[_GROUPS])
    for cell in range(MOST_CELLS):
        room[_OWNER, cell] = -1
    found = 0
    for group in range(count):
        for _ in range(2):
            if not augment(group, room):
                found += 1
    return found
