"""Estimate what solving a game needs, and refuse builds that exceed memory or disk, before any page is filled."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from solver.errors import TooLarge
from solver.games.board import BoardGame
from solver.proof.progress import duration
from solver.sweep.halves import LayerHalves
from solver.sweep.layers import page_sizes

CHECKED_WHOLE = 2_000_000
"""Alpha-beta checks every place of a game with at most this many."""

PLACES_A_SECOND = 16_000_000
"""About how many places of a game of lines one core of a 2.5 GHz Xeon fills, counts and packs in a second."""

SEARCH_SECONDS = 0.5
"""About how long one such core searches the sample of one ply."""

_PLACES_PER_BYTE = 5
"""About how many places a store packs into a byte: seven or more in large stores, three in some small ones."""

LARGEST_STORE = 1 << 40
"""The largest store, in bytes: solver/store/sealed.py reads no larger file."""

_FIXED, _PER_JOB = 250 << 20, 4 << 20
"""Memory needed besides halves and pages, in all and per thread: the interpreter with numba, tables, chunks."""


class Plan(NamedTuple):
    """How many places a game has, and what solving it needs."""

    filled: int
    """The number of places in all pages."""
    searched: int
    """The number of places in the pages of open halves: the rules decide the others."""
    stored: int
    """The number of places in the file: of games of lines, those where X is to move."""
    pages: int
    """Bytes for all halves, and for the pages of two layers, which is the most that are kept at once."""
    cells: int
    jobs: int
    places_a_second: int = PLACES_A_SECOND
    places_per_byte: int = _PLACES_PER_BYTE

    @property
    def memory(self) -> int:
        """The most memory needed, in bytes."""
        return self.pages + _FIXED + self.jobs * _PER_JOB

    @property
    def disk(self) -> int:
        """The disk space needed, in bytes, about: for the store, and for the journal, which is deleted afterwards."""
        return 2 * (self.stored // self.places_per_byte) + (1 << 20)

    @property
    def seconds(self) -> float:
        """The time needed, in seconds, about."""
        searched = self.cells * SEARCH_SECONDS if self.filled > CHECKED_WHOLE else 0.0
        return (self.filled / self.places_a_second + searched) / min(self.jobs, os.cpu_count() or 1)

    def describe(self) -> str:
        """Return the plan in words."""
        return (
            f"{self.filled:,} places: {_size(self.memory)} of memory at most, "
            f"about {_size(self.disk)} of disk and {duration(self.seconds)}"
        )


def plan_build(cells: int, halves: Sequence[LayerHalves], jobs: int) -> Plan:
    """Return what a build needs, given the halves of every layer."""
    filled = searched = stored = most = last = kept = 0
    for x_count, (open_halves, finished) in reversed(list(enumerate(halves))):
        x_to_move, o_to_move = page_sizes(cells, x_count)
        filled += len(open_halves) * (x_to_move + o_to_move) + len(finished) * o_to_move
        searched += len(open_halves) * (x_to_move + o_to_move)
        stored += len(open_halves) * x_to_move
        most = max(most, last + len(open_halves) * o_to_move)
        last = len(open_halves) * o_to_move
        kept += open_halves.nbytes + finished.nbytes
    return Plan(filled, searched, stored, most + kept, cells, jobs)


def require_storable(game: BoardGame[Any], needed: Plan) -> None:
    """Raise TooLarge, with the numbers, if the store of a plan may be larger than any that can be read."""
    size = needed.stored // needed.places_per_byte
    if size > LARGEST_STORE:
        raise TooLarge(
            f"game {game.name!r} has {needed.stored:,} places to store: its store may take {_size(size)}, "
            f"and the largest takes {_size(LARGEST_STORE)}; choose a smaller board"
        )


def require_room(game: BoardGame[Any], needed: Plan, folder: str | None = None, kept: int = 0) -> None:
    """Raise TooLarge, with the numbers, unless this machine has the memory and the disk space that a plan needs.

    Without `folder` nothing is written. `kept` is the number of bytes that are in the folder already.
    """
    if folder is not None:
        require_storable(game, needed)
    uses = [("memory", needed.memory, available_memory())]
    if folder is not None:
        uses.append(("disk", needed.disk, shutil.disk_usage(folder).free + kept))
    for what, needs, has in uses:
        if needs > has:
            raise TooLarge(
                f"game {game.name!r} has {needed.filled:,} places: solving it needs up to {_size(needs)} of {what}, "
                f"but {_size(has)} is available; free some, or use a larger machine"
            )


def available_memory() -> int:
    """Return how many bytes a process can use without swapping and without starving others."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError), open("/proc/meminfo") as file:
        limits += [int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as file:  # the limit of a container
        limits.append(int(file.read()))
    return min(limits) * 9 // 10


def _size(count: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6)):
        if count >= scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count:,} bytes"
