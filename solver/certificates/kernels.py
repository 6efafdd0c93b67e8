"""The kernel that searches for a side that holds: whether one side can complete a line though the other only defends.

The side that wants a line is the *maker*, the other the *breaker*, and the breaker's own lines count for nothing. So a
position is two sets: the maker's cells and the cells still free, as far as they are on lines that can still be
completed; solver/certificates/holding.py says what else is left out, and why, and does it in the same way.

`maker_wins` returns 0 if the breaker holds with the maker to move. Otherwise it returns a zone: free cells such that
the maker wins even if all others were the breaker's. So a reply that is not in the zone of a win that the maker has
after another reply loses just as well, and after each reply that fails only the cells of its zone are left to try.
Two things make the search short. Most boards are won, or held, in one corner, which zones show. And those replies are
tried first that come closest to pairs which settle everything (solver/certificates/matching.py): on 7,7,5 that leaves
one position in a hundred.
"""

from solver.certificates.matching import MOST_CELLS, lacking
from solver.kernels.bits import bit_count, lowest

from solver.kernels.jit import helper, jit  # isort: skip  (it sets numba's cache folder first)

NODES, LIMIT, WORDS = range(3)
"""Of `work`: what is returned after more nodes than the limit means nothing."""

DEPTHS = 64
CHUNKS = 8
BUCKET = 4
MOST_LINES = 124
HALF = 62
"""The lines through a cell are two sets of so many."""

MIX = 0x0951FC53D859B747
FIRST, SECOND, WEIGHT, LACKING, ROWS = range(5)


@helper
def _carried(cells, images, symmetry):
    """Return the image of a set of cells."""
    moved = 0
    for chunk in range(CHUNKS):
        moved |= images[symmetry, chunk, cells >> 8 * chunk & 255]
    return moved


@helper
def _scan(maker, free, lines, longest, room):
    """Fill in, for each free cell, the lines through it that can be completed, and their weight.

    Return the free cells on such lines, and the sum of the weights.
    """
    for cell in range(MOST_CELLS):
        room[FIRST, cell] = room[SECOND, cell] = room[WEIGHT, cell] = 0
    both, used, total = maker | free, 0, 0
    for number in range(len(lines)):
        line = lines[number]
        if line & ~both:
            continue
        rest = line & free
        used |= rest
        weight = 1 << longest - bit_count(rest)
        total += weight
        half = FIRST if number < HALF else SECOND
        bit = 1 << (number if number < HALF else number - HALF)
        while rest:
            cell = lowest(rest)
            rest &= rest - 1
            room[half, cell] |= bit
            room[WEIGHT, cell] += weight
    return used, total


@helper
def _twins(free, room):
    """Return two free cells that are on the same lines, the first such pair; 0 if there is none."""
    rest = free
    while rest:
        cell = lowest(rest)
        rest &= rest - 1
        others = rest
        while others:
            other = lowest(others)
            others &= others - 1
            if room[FIRST, cell] == room[FIRST, other] and room[SECOND, cell] == room[SECOND, other]:
                return 1 << cell | 1 << other
    return 0


@helper
def _dominated(cell, free, room):
    """Tell whether another free cell is on all lines of a cell, and on more."""
    rest = free & ~(1 << cell)
    while rest:
        other = lowest(rest)
        rest &= rest - 1
        if not (room[FIRST, cell] & ~room[FIRST, other] or room[SECOND, cell] & ~room[SECOND, other]):
            return True
    return False


@helper
def _heaviest(cells, room):
    """Return the cell of most weight in a set."""
    best = lowest(cells)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        if room[WEIGHT, cell] > room[WEIGHT, best]:
            best = cell
    return best


@helper
def _rank(cells, maker, free, lines, room, pairs):
    """Fill in how many cells are lacking for pairs after each of several replies."""
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        room[LACKING, cell] = lacking(maker, free & ~(1 << cell), lines, pairs)


@helper
def _closest(cells, room):
    """Return the reply of a set after which fewest cells are lacking for pairs, of these that of most weight."""
    best = lowest(cells)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        better = room[LACKING, cell] - room[LACKING, best]
        if better < 0 or (better == 0 and room[WEIGHT, cell] > room[WEIGHT, best]):
            best = cell
    return best


@helper
def _missing(own, free, lines, count):
    """Return the free cells of lines that lack just so many of them for the side of `own`."""
    both, found = own | free, 0
    for number in range(len(lines)):
        line = lines[number]
        if not line & ~both:
            rest = line & free
            if bit_count(rest) == count:
                found |= rest
    return found


@helper
def _place(maker, free, table):
    mixed = (maker * MIX ^ free) * MIX
    return ((mixed ^ mixed >> 29) & len(table) // BUCKET - 1) * BUCKET


@helper
def _keep(table, place, first, second, found):
    """Remember what was found of a position, in place of the oldest of its bucket."""
    for slot in range(place + BUCKET - 1, place, -1):
        for word in range(3):
            table[slot, word] = table[slot - 1, word]
    table[place, 0], table[place, 1], table[place, 2] = first, second, found


@jit(
    "int64(int64, int64, int64, int64[::1], int64, int64[:, :, ::1], int64[:, :, ::1], int64[:, :, ::1], "
    "int64[:, ::1], int64[:, ::1], int64[::1])"
)
def maker_wins(maker, free, depth, lines, longest, images, backward, rooms, pairs, table, work):
    """Return a zone in which the maker, who is to move, wins; 0 if the breaker holds."""
    room, ahead = rooms[2 * depth], rooms[2 * depth + 1]
    while True:
        free, total = _scan(maker, free, lines, longest, room)
        twins = _twins(free, room)
        if not twins:
            break
        free &= ~twins
    if not free:
        return 0
    now = _missing(maker, free, lines, 1)
    if now:
        return now & -now
    if total + room[WEIGHT, _heaviest(free, room)] < 1 << longest:
        return 0
    symmetry, best_maker, best_free = 0, maker, free
    for number in range(1, len(images)):
        moved = _carried(free, images, number)
        if moved <= best_free:
            other = _carried(maker, images, number)
            if moved < best_free or other < best_maker:
                symmetry, best_maker, best_free = number, other, moved
    place = _place(best_maker, best_free, table)
    for slot in range(place, place + BUCKET):
        if table[slot, 0] == best_maker and table[slot, 1] == best_free:
            return _carried(table[slot, 2], backward, symmetry)
    if lacking(maker, free, lines, pairs) == 0:
        return 0
    work[NODES] += 1
    if work[NODES] > work[LIMIT]:
        return 0
    found, todo = 0, free
    while todo:
        cell = _heaviest(todo, room)
        todo &= ~(1 << cell)
        if _dominated(cell, free, room):
            continue
        mine, left = maker | 1 << cell, free & ~(1 << cell)
        zone = _missing(mine, left, lines, 1)
        tries = left if not zone else zone if not zone & (zone - 1) else 0
        if tries & (tries - 1):
            _scan(mine, left, lines, longest, ahead)
            _rank(tries, mine, left, lines, ahead, pairs)
        while tries:
            reply = _closest(tries, ahead)
            rest = left & ~(1 << reply)
            after = maker_wins(mine, rest, depth + 1, lines, longest, images, backward, rooms, pairs, table, work)
            if work[NODES] > work[LIMIT]:
                return 0
            if after == 0:
                break
            zone |= after
            tries &= after & ~(1 << reply)
        else:
            found = zone | 1 << cell
            break
    _keep(table, place, best_maker, best_free, _carried(found, images, symmetry))
    return found


@jit(
    "int64(int64, int64, int64, int64, int64[::1], int64, int64[:, :, ::1], int64[:, :, ::1], int64[:, :, ::1], "
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1])"
)
def maker_completes(maker, breaker, full, depth, lines, longest, images, backward, rooms, pairs, table, whole, work):
    """Return 0 if the breaker holds with the maker to move, 1 if no defence was found.

    The breaker's replies are those in a zone of the maker's, and those that threaten to complete a line themselves. A
    quiet move elsewhere that prepares such threats is not tried, so 1 proves nothing.
    """
    free = full & ~(maker | breaker)
    if _missing(maker, free, lines, 1):
        return 1
    own = _missing(breaker, free, lines, 1)
    if own & (own - 1):
        return 0
    if not maker_wins(maker, free, depth + 1, lines, longest, images, backward, rooms, pairs, table, work):
        return 0
    best_maker, best_breaker = maker, breaker
    for number in range(1, len(images)):
        moved = _carried(maker, images, number)
        if moved <= best_maker:
            other = _carried(breaker, images, number)
            if moved < best_maker or other < best_breaker:
                best_maker, best_breaker = moved, other
    place = _place(best_maker, best_breaker, whole)
    for slot in range(place, place + BUCKET):
        if whole[slot, 0] == best_maker and whole[slot, 1] == best_breaker and whole[slot, 2]:
            return whole[slot, 2] - 1
    work[NODES] += 1
    room, ahead = rooms[2 * depth], rooms[2 * depth + 1]
    _scan(maker, free, lines, longest, room)
    found, todo = 0, own if own else free
    while todo and not found:
        cell = _heaviest(todo, room)
        todo &= ~(1 << cell)
        mine, left = maker | 1 << cell, free & ~(1 << cell)
        tries = _missing(mine, left, lines, 1)
        if tries & (tries - 1):
            found = 1
            break
        if not tries:
            tries = maker_wins(mine, left, depth + 1, lines, longest, images, backward, rooms, pairs, table, work)
            if tries == 0:
                continue
            tries = (tries | _missing(breaker, left, lines, 2)) & left
            _scan(mine, left, lines, longest, ahead)
            _rank(tries, mine, left, lines, ahead, pairs)
        wins = _missing(breaker, left, lines, 1)
        found = 1
        while tries and found:
            reply = _closest(tries, ahead)
            tries &= ~(1 << reply)
            found = 0
            if not wins >> reply & 1:
                found = maker_completes(
                    mine,
                    breaker | 1 << reply,
                    full,
                    depth + 1,
                    lines,
                    longest,
                    images,
                    backward,
                    rooms,
                    pairs,
                    table,
                    whole,
                    work,
                )
            if work[NODES] > work[LIMIT]:
                return 0
    _keep(whole, place, best_maker, best_breaker, found + 1)
    return found


@jit("int64(int64, int64, int64, int64[::1], int64, int64[:, :, ::1], int64[:, ::1])")
def next_reply(maker, free, tries, lines, longest, rooms, pairs):
    """Return the reply that comes closest to pairs, of several with which the breaker may answer."""
    _scan(maker, free, lines, longest, rooms[0])
    _rank(tries, maker, free, lines, rooms[0], pairs)
    return _closest(tries, rooms[0])
