"""What a build would take, and where it fits, before anything is built."""

import os
import shutil
from contextlib import suppress
from typing import Any, NamedTuple

from solver.games.board import BoardGame, require_solvable
from solver.games.lines import Game
from solver.kinds import kind_of
from solver.proof.plan import Holder, Plan, available_memory, size_in_words
from solver.proof.progress import Progress, ProgressCallback, duration
from solver.text import printable


class Way(NamedTuple):
    """One way to hold pages: what it takes, and whether there is room."""

    holder: Holder
    memory: int
    scratch: int
    fits: bool


class Outlook(NamedTuple):
    """What a build of a game would take on this machine."""

    game: BoardGame[Any]
    plan: Plan
    free_memory: int
    store_folder: str
    free_store: int | None
    scratch: str
    free_scratch: int | None
    """Bytes that are free; None if nobody knows, as in an object store."""
    one_disk: bool
    """Whether the store and the scratch share a disk."""

    def ways(self) -> list[Way]:
        """Return the ways to hold pages, the fastest first."""
        return [self._way(holder) for holder in (Holder if isinstance(self.game, Game) else [Holder.RAW])]

    def _way(self, holder: Holder) -> Way:
        memory, scratch = self.plan.memory(holder), self.plan.scratch(holder)
        room = self.free_scratch is None or scratch <= self.free_scratch
        store = self.free_store is None or self.plan.store + scratch * self.one_disk <= self.free_store
        return Way(holder, memory, scratch, memory <= self.free_memory and room and store)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it; sizes are in bytes."""
        return {
            "game": self.game.name,
            "cells": self.game.cells,
            "places": self.plan.filled,
            "store": self.plan.store,
            "core_hours": round(self.plan.core_seconds / 3600, 2),
            "seconds": round(self.plan.seconds),
            "free_memory": self.free_memory,
            "free_scratch": self.free_scratch,
            "ways": [way._asdict() | {"holder": way.holder.name.lower()} for way in self.ways()],
        }

    def in_words(self) -> list[str]:
        """Return it in lines, of at most 80 columns if the names of folders allow."""
        rows = [("pages are held", "memory", "scratch", "here")]
        for way in self.ways():
            sizes = size_in_words(way.memory), size_in_words(way.scratch)
            rows.append((way.holder.value, *sizes, "fits" if way.fits else "does not fit"))
        free = "unknown" if self.free_scratch is None else size_in_words(self.free_scratch)
        rows.append(("free", size_in_words(self.free_memory), free, f"scratch in {printable(self.scratch)}"))
        rows.append(("store", "", size_in_words(self.plan.store), f"in {self.store_folder}"))
        hours = self.plan.core_seconds / 3600
        cores = f"{hours:,.0f} core-hours" if hours >= 10 else f"{self.plan.core_seconds:,.0f} core-seconds"
        return [
            f"{self.game.name}: {self.plan.filled:,} places on {self.game.cells} cells",
            *(f"{name:17}{memory:>14}{scratch:>14}   {note}" for name, memory, scratch, note in rows),
            f"time                {cores}: {duration(self.plan.seconds)} with {self.plan.hands} threads here",
            "All of this is estimated. On a cluster, each machine needs the memory of pages",
            "in files, and all share the scratch.",
        ]


def outlook(game: BoardGame[Any], store: str, scratch: str | None, jobs: int, on_progress: ProgressCallback) -> Outlook:
    """Return what a build would take, if its store is at `store` and its unfinished work in `scratch` or beside it."""
    require_solvable(game)
    on_progress(Progress("compiling"))
    kind = kind_of(game)
    kind.compile_kernels()
    from solver.proof.crew import threads

    with threads(jobs) as crew:
        plan = kind.proof(game, kind.symmetries(game), None, crew=crew, on_progress=on_progress).plan
    folder = os.path.dirname(os.path.abspath(store))
    there = scratch or folder
    local = "://" not in there
    one_disk = local and os.stat(_above(folder)).st_dev == os.stat(_above(there)).st_dev
    free = _free(there) if local else None
    return Outlook(game, plan, available_memory(), folder, _free(folder), there, free, one_disk)


def _free(folder: str) -> int | None:
    """Return how many bytes are free in a folder, which need not be there yet."""
    with suppress(OSError):
        return shutil.disk_usage(_above(folder)).free
    return None


def _above(folder: str) -> str:
    """Return a folder, or the first above it that is there."""
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder or "."
