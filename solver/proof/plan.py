"""What solving a game takes, and whether this machine has it: counted before the first page is filled."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from solver.errors import TooLarge
from solver.games.lines import Game
from solver.proof.progress import duration
from solver.sweep.halves import LayerHalves
from solver.sweep.layers import page_sizes

CHECKED_WHOLE = 2_000_000
"""Up to so many places, alpha-beta checks all."""

PLACES_A_SECOND = 16_000_000
"""How many places one core of a 2.5 GHz Xeon fills, counts and packs in a second, about."""

SEARCH_SECONDS = 0.5
"""How long one such core searches a sample of a ply, about."""

_PACKED = 5
"""For so many places a store takes a byte: large ones that were built for seven or more, some small ones for three."""

_FIXED, _A_JOB = 250 << 20, 4 << 20
"""What is needed besides pages, in all and for each thread: the interpreter with numba, tables, chunks."""


class Plan(NamedTuple):
    """How many places a game has, and what they take."""

    filled: int
    """Places of all pages."""
    stored: int
    """Places of those where X is to move."""
    pages: int
    """Bytes of all halves, and of the pages of two layers, which are the most that are held at once."""
    cells: int
    jobs: int

    @property
    def memory(self) -> int:
        """Bytes of memory, at most."""
        return self.pages + _FIXED + self.jobs * _A_JOB

    @property
    def disk(self) -> int:
        """Bytes of the store and of what the build keeps until it is there, about."""
        return 2 * (self.stored // _PACKED) + (1 << 20)

    @property
    def seconds(self) -> float:
        """How long it takes, about."""
        searched = self.cells * SEARCH_SECONDS if self.filled > CHECKED_WHOLE else 0.0
        return (self.filled / PLACES_A_SECOND + searched) / min(self.jobs, os.cpu_count() or 1)

    def describe(self) -> str:
        """The plan in words."""
        return (
            f"{self.filled:,} places: {_size(self.memory)} of memory at most, "
            f"about {_size(self.disk)} of disk and {duration(self.seconds)}"
        )


def plan(cells: int, halves: Sequence[LayerHalves], jobs: int) -> Plan:
    """Return what a build takes, given the halves of every layer."""
    filled = stored = most = last = kept = 0
    for xs, (live, finished) in reversed(list(enumerate(halves))):
        a, b = page_sizes(cells, xs)
        filled += len(live) * (a + b) + len(finished) * a
        stored += len(live) * b
        most = max(most, last + len(live) * a)
        last = len(live) * a
        kept += live.nbytes + finished.nbytes
    return Plan(filled, stored, most + kept, cells, jobs)


def require_room(game: Game, needed: Plan, folder: str | None = None, kept: int = 0) -> None:
    """Nothing, if the machine can do it; TooLarge, with the numbers, if not.

    What is written goes to `folder`, if anything is, of which `kept` bytes are there already.
    """
    uses = [("memory", needed.memory, available_memory())]
    if folder is not None:
        uses.append(("disk", needed.disk, shutil.disk_usage(folder).free + kept))
    for what, needs, has in uses:
        if needs > has:
            raise TooLarge(
                f"game {game.name!r} has {needed.filled:,} places: solving it takes up to {_size(needs)} of {what}, "
                f"and {_size(has)} can be had; use a machine with more, or free some"
            )


def available_memory() -> int:
    """Bytes of memory that a process can take without swapping, and with some left for others."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError), open("/proc/meminfo") as file:
        limits += [int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as file:  # of a container
        limits.append(int(file.read()))
    return min(limits) * 9 // 10


def _size(count: int) -> str:
    """So many bytes, in the unit that fits."""
    for unit, worth in (("GB", 10**9), ("MB", 10**6)):
        if count >= worth:
            return f"{count / worth:,.1f} {unit}"
    return f"{count:,} bytes"
