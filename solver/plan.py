"""What solving a game takes, and whether this machine has it: counted before the first page is filled."""

import os
import shutil
from contextlib import suppress
from typing import NamedTuple

from solver.errors import TooLarge
from solver.game import Game
from solver.halves import Board, halves
from solver.progress import duration
from solver.sweep import CHUNK_PLACES, page_sizes

PLACES_A_SECOND = 16_000_000
"""How many places one core of a 2.5 GHz Xeon fills, counts, checks and packs in a second, about."""

_PACKED = 5
"""A store takes at most a byte for so many of its places, in all games that were built."""

_FIXED = 400 << 20
"""What is needed besides pages: the interpreter with numba, tables, and what waits to be written."""


class Plan(NamedTuple):
    """How many places a game has, and what they take."""

    filled: int
    """Places of all pages."""
    stored: int
    """Places of those where X is to move."""
    memory: int
    """Bytes held at once, at most."""
    disk: int
    """Bytes of the store and of what the build keeps until it is there, at most, as far as is known."""

    def seconds(self, jobs: int) -> float:
        """About how long it takes."""
        return self.filled / PLACES_A_SECOND / jobs

    def describe(self, jobs: int) -> str:
        """The plan in words."""
        return (
            f"{self.filled:,} places, at most {_size(self.memory)} of memory and {_size(self.disk)} of disk, "
            f"about {duration(self.seconds(jobs))}"
        )


def plan(board: Board, jobs: int) -> Plan:
    """Count the halves of every layer, and with them what a build takes."""
    filled = stored = most = last = 0
    for xs in range((board.cells + 1) // 2, -1, -1):
        live, finished = map(len, halves(board, xs))
        a, b = page_sizes(board.cells, xs)
        filled += live * (a + b) + finished * a
        stored += live * b
        kept = live * a + 8 * (live + finished)
        most = max(most, last + kept)
        last = kept
    most += _FIXED + jobs * (32 * CHUNK_PLACES + 16 * board.cells * CHUNK_PLACES // 64)
    return Plan(filled, stored, most, 2 * (stored // _PACKED) + (1 << 20))


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
                f"and {_size(has)} are free; use a machine with more, or free some"
            )


def available_memory() -> int:
    """Bytes of memory that a process can still take without swapping; all there are where the system does not say."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError), open("/proc/meminfo") as file:
        limits += [int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max") as file:  # of a container
        limits.append(int(file.read()))
    return min(limits)


def _size(count: int) -> str:
    """So many bytes, in the unit that fits."""
    for unit, worth in (("GB", 10**9), ("MB", 10**6)):
        if count >= worth:
            return f"{count / worth:,.1f} {unit}"
    return f"{count:,} bytes"
