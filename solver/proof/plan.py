"""Estimate what solving a game needs, and refuse builds that exceed memory or disk, before any page is filled."""

import os
import resource
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple

from solver.errors import TooLarge
from solver.games.board import BoardGame
from solver.proof.progress import duration
from solver.sweep.layers import page_sizes

CHECKED_WHOLE = 2_000_000
"""Alpha-beta checks every place of a game with at most this many."""

PLACES_A_SECOND = 50_000_000
"""About how many places of a game of lines one core of a 2.6 GHz EPYC fills, counts and packs in a second."""

SEARCH_SECONDS = 0.5
"""About how long one such core searches the sample of one ply."""

_PLACES_PER_BYTE = 5
"""About how many places a store packs into a byte: seven or more in large stores, three in some small ones."""

_FIXED, _PER_HAND = 250 << 20, 4 << 20
"""Memory needed besides halves and pages, in all and per thread: the interpreter with numba, tables, chunks."""

LARGEST_STORE = 1 << 40
"""The largest store, in bytes: solver/store/sealed.py reads no larger file."""

_PACKED = 5
"""Packed pages take about so many times less room; more in most games."""

AROUND_BYTES, _MOST_AROUND = 1 << 26, 1 << 29
"""A task that reads a packed shelf takes about so many bytes of child pages at a time, at least and at most."""

FEW_HALVES_CELLS = 25
"""On boards of up to so many cells, all halves are kept once they are found; on larger ones, those of few layers."""


class Holder(Enum):
    """How the pages of a layer are held until the next one is filled."""

    RAW = "raw in memory"
    PACKED = "packed in memory"
    FILES = "packed in files"


class Plan(NamedTuple):
    """How many places a game has, and what solving it needs."""

    filled: int
    """The number of places in all pages."""
    searched: int
    """The number of places in the pages of open halves: the rules decide the others."""
    stored: int
    """The number of places in the file: of games of lines, those where X is to move."""
    pages: int
    """Bytes for the pages of two layers, which is the most that are held at once."""
    always: int
    """Bytes of memory that are needed however pages are held: of games of lines, for their halves."""
    cells: int
    hands: int
    places_a_second: int = PLACES_A_SECOND
    places_per_byte: int = _PLACES_PER_BYTE

    def memory(self, holder: Holder) -> int:
        """Return the most memory needed, in bytes."""
        if holder is Holder.RAW:
            return self.always + _FIXED + self.hands * _PER_HAND + self.pages
        packed = self.pages // _PACKED if holder is Holder.PACKED else 0
        return self.always + _FIXED + self.hands * (_PER_HAND + 2 * min(AROUND_BYTES, self.pages)) + packed

    @property
    def store(self) -> int:
        """The size of the store in bytes, about."""
        return self.stored // self.places_per_byte + (1 << 19)

    def scratch(self, holder: Holder) -> int:
        """Return the most bytes needed for what an unfinished build keeps, about."""
        return self.store + (self.pages // _PACKED if holder is Holder.FILES else 0)

    @property
    def core_seconds(self) -> float:
        """The time that one core needs, in seconds, about."""
        searched = self.cells * SEARCH_SECONDS if self.filled > CHECKED_WHOLE else 0.0
        return self.filled / self.places_a_second + searched

    @property
    def seconds(self) -> float:
        """The time needed on this machine, in seconds, about."""
        return self.core_seconds / min(self.hands, os.cpu_count() or 1)

    def choose(self, *, files: bool = True) -> Holder:
        """Return the fastest way to hold pages that the free memory allows, or else the one that needs least."""
        free = available_memory()
        fits = [holder for holder in Holder if self.memory(holder) <= free]
        return fits[0] if fits and (files or fits[0] is not Holder.FILES) else Holder.FILES if files else Holder.PACKED

    def describe(self, holder: Holder) -> str:
        """Return the plan in words."""
        return (
            f"{self.filled:,} places: {size_in_words(self.memory(holder))} of memory at most, "
            f"about {size_in_words(self.store + self.scratch(holder))} of disk and {duration(self.seconds)}"
        )


def plan_lines(cells: int, layout: Mapping[int, tuple[int, int]], hands: int) -> Plan:
    """Return what a build of a game of lines needs, given how many open and finished halves each layer has."""
    filled = searched = stored = most = last = halves = kept = 0
    for x_count, (open_halves, finished) in sorted(layout.items(), reverse=True):
        x_to_move, o_to_move = page_sizes(cells, x_count)
        filled += open_halves * (x_to_move + o_to_move) + finished * o_to_move
        searched += open_halves * (x_to_move + o_to_move)
        stored += open_halves * x_to_move
        most = max(most, last + open_halves * o_to_move)
        last = open_halves * o_to_move
        kept = max(kept, 2 * 8 * (open_halves + finished))
        halves += 8 * (open_halves + finished)
    always = halves if cells <= FEW_HALVES_CELLS else 2 * kept
    return Plan(filled, searched, stored, most, always, cells, hands)


def require_storable(game: BoardGame[Any], plan: Plan) -> None:
    """Raise TooLarge, with the numbers, if the store of a plan may be larger than any that can be read."""
    if plan.store > LARGEST_STORE:
        raise TooLarge(
            f"game {game.name!r} has {plan.stored:,} places to store: its store may take {size_in_words(plan.store)}, "
            f"and the largest takes {size_in_words(LARGEST_STORE)}; choose a smaller board"
        )


def require_room(game: BoardGame[Any], plan: Plan, holder: Holder, store: str | None = None, scratch: str | None = None,
                 kept: int = 0) -> None:  # fmt: skip
    """Raise TooLarge, with the numbers, unless there is the memory and the disk space that a plan needs.

    `store` and `scratch` are the folders that are written to, as far as they are on this machine, and `kept` is the
    number of bytes that the second has already.
    """
    if store is not None:
        require_storable(game, plan)
    uses = [("memory", plan.memory(holder), available_memory())]
    disks: dict[int, tuple[str, int]] = {}
    for folder, needs in ((store, plan.store), (scratch, plan.scratch(holder) - kept)):
        if folder is not None:
            device = os.stat(folder).st_dev
            disks[device] = folder, disks.get(device, (folder, 0))[1] + needs
    uses += [("disk", needs, shutil.disk_usage(folder).free) for folder, needs in disks.values()]
    for what, needs, has in uses:
        if needs > has:
            raise TooLarge(
                f"game {game.name!r} has {plan.filled:,} places: solving it needs up to {size_in_words(needs)} of "
                f"{what}, but {size_in_words(has)} is available; free some, or use a larger machine"
            )


def around_bytes(hands: int) -> int:
    """Return how many bytes of child pages a task may take at a time: the more, the fewer pages are read twice.

    So many hands share the free memory; as many as there are cores, if that is 0.
    """
    return min(max(AROUND_BYTES, available_memory() // (8 * (hands or os.cpu_count() or 1))), _MOST_AROUND)


def available_memory() -> int:
    """Return how many bytes a process can use without swapping and without starving others."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError), open("/proc/meminfo") as file:
        limits += [int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:")]
    for path in _limit_files():
        with suppress(OSError, ValueError), open(path) as file:  # the limit of a container, or of a job
            limits.append(int(file.read()))
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY:
        with suppress(OSError, ValueError), open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            limits.append(max(0, allowed - used + _FIXED))  # because every plan counts the interpreter
    return min(limits) * 9 // 10


def _limit_files() -> Iterator[str]:
    """Yield where limits of this process's memory may be: of both versions of control groups."""
    yield "/sys/fs/cgroup/memory.max"
    with suppress(OSError), open("/proc/self/cgroup") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if not controllers:
                yield f"/sys/fs/cgroup{path}/memory.max"
            elif "memory" in controllers.split(","):
                yield f"/sys/fs/cgroup/memory{path}/memory.limit_in_bytes"


def size_in_words(count: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6)):
        if count >= scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count:,} bytes"
