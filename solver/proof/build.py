"""Build a store: solve the game, keep what each task has done in a journal, and write the store at the end."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from solver.errors import (
    NotAStore,
    RecordsDamaged,
    ScratchError,
    SolversDisagree,
    StoreDamaged,
    StoreMismatch,
    StoreOutdated,
    StoreUnwritable,
    TooLarge,
)
from solver.folders import partial_path, store_name
from solver.games.board import BoardGame, require_solvable
from solver.games.lines import Game
from solver.index.symmetry import Symmetry
from solver.kinds import kind_of
from solver.proof.progress import Progress, ProgressCallback, silent
from solver.proof.witness import Witness
from solver.scratch.folder import Folder, LocalFolder, folder_at
from solver.scratch.journal import Journal
from solver.store.digests import content_digest, published_digest
from solver.store.manifest import Manifest, digest_of_layers, layer_digest
from solver.store.store import Store
from solver.store.writer import StoreWriter
from solver.text import printable

if TYPE_CHECKING:
    from solver.proof.crew import Crew
    from solver.proof.plan import Holder
    from solver.proof.proof import Proof, Summary, Task

NOTED_SECONDS = 5
"""A build that takes longer says at the start what it needs."""

_DAMAGES = 5
"""A build that finds the files of one task damaged so often has a disk that cannot be trusted."""


@dataclass(frozen=True)
class Report:
    """The results of a build."""

    path: str
    size: int
    manifest: Manifest
    summary: "Summary"
    empty_board: str
    """What a search of the empty board with an empty table took."""
    witnessed: int
    """How many positions of the new file a plain search has confirmed."""
    seconds: dict[str, float]

    def facts(self) -> list[tuple[str, str]]:
        """Return the results as lines of name and text."""
        places = f"{self.summary.checked:,} places agree, {self.summary.nodes:,} nodes"
        if self.summary.abandoned:
            places += f"; {self.summary.abandoned:,} given up"
        return [
            ("alpha-beta", f"{self.empty_board} from the empty board"),
            ("check", places),
            ("witness", f"{self.witnessed:,} positions of the file confirmed by a plain search"),
            ("seconds", ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in self.seconds.items())),
            ("file", f"{printable(self.path)} ({self.size:,} bytes)"),
        ]


def build_store(
    game: BoardGame[Any], path: str | os.PathLike[str], *, jobs: int = 1, scratch: str | None = None,
    crew: "Callable[[], Crew] | None" = None, holder: "Holder | None" = None, on_progress: ProgressCallback = silent,
) -> Report:  # fmt: skip
    """Solve a game with both solvers and write its store. If they disagree, nothing is written.

    What an interrupted build of the same store has done is not done again. A file that is there is replaced only if it
    is a store of the same game, or a damaged one. Unfinished work is kept beside the store, or in the folder `scratch`.
    A `crew` does the tasks instead of as many threads as there are `jobs`; pages are held as `holder` says, or as there
    is room.
    """
    require_solvable(game)
    path = os.path.realpath(path)  # a link stays one: what it leads to is replaced
    _require_writable(path, game)
    if crew and not isinstance(game, Game):
        raise ScratchError(f"{game.name!r} is solved by threads of one machine, not by others")
    folder = scratch_folder(game, scratch)
    kind = kind_of(game)
    group = kind.symmetries(game)
    start = perf_counter()
    with Witness(game) as witness:
        with Journal(path, game, group, folder) as journal:  # so that a build that cannot be is refused at once
            dropped = journal.dropped
        on_progress(Progress("compiling"))
        kind.compile_kernels()
        from solver.proof.crew import threads

        compiled = perf_counter()
        with Journal(path, game, group, folder) as journal, crew() if crew else threads(jobs) as hands:
            hands.require_sees(journal.folder)
            building = _Building(game, group, path, journal, hands, holder, on_progress, dropped)
            return building.report(witness, {"compile": compiled - start})


def scratch_folder(game: BoardGame[Any], scratch: str | None) -> Folder | None:
    """Return the game's own folder in a scratch folder; None if none is named."""
    if not scratch:
        return None
    scheme, found, rest = scratch.rpartition("://")
    if found and not (scheme and rest.strip("/")):
        raise ScratchError(f"scratch {scratch!r} names no folder, such as s3://bucket/ttt4")
    return folder_at(f"{scratch.rstrip('/')}/{partial_path(store_name(game))}")


class _Building:
    """A build, now that the kernels are loaded and the journal is locked."""

    def __init__(
        self, game: BoardGame[Any], group: tuple[Symmetry, ...], path: str, journal: Journal, crew: "Crew",
        holder: "Holder | None", on_progress: ProgressCallback, dropped: int,
    ) -> None:  # fmt: skip
        self._game, self._group, self._path, self._journal = game, group, path, journal
        self._crew, self._holder, self._on_progress = crew, holder, on_progress
        self._dropped = dropped
        self._digests: dict[Task, bytes] = {}
        """The digests of the records of all tasks that were done in this run."""

    def report(self, witness: Witness, seconds: dict[str, float]) -> Report:
        """Solve the game, write its store, and return what came of it."""
        from solver.proof.plan import Holder

        damages: Counter[tuple[int, int]] = Counter()
        while True:
            begun = perf_counter()
            try:
                with self._journal.errors():
                    proof = self._proof()
                    self._solve(proof)
                solved = perf_counter()
                empty_board = proof.search_empty_board()
                manifest, witnessed = self._write(proof, witness)
            except RecordsDamaged as error:
                damages[error.layer, error.number] += 1
                if damages[error.layer, error.number] == _DAMAGES:
                    where = self._journal.folder.url
                    raise ScratchError(f"{error}, again and again: {where!r} cannot be trusted") from error
                self._journal.drop(error.layer, error.number)
                self._on_progress(Progress("solving", note=f"{error}: doing it again"))
                self._journal.reread()
            except MemoryError as error:
                if self._holder is Holder.FILES or not isinstance(self._game, Game):
                    raise TooLarge("there is too little memory; free some, and the same command resumes") from error
                self._holder = Holder.FILES
                self._on_progress(Progress("solving", note="memory has run out: pages go to files from here on"))
                self._journal.reread()
            else:
                break
        summary, hands = proof.summary, self._crew.hands
        phases = {phase: spent / hands for phase, spent in summary.seconds.items()}
        seconds |= phases | {
            "wait": max(0.0, solved - begun - sum(phases.values())),
            "finish": perf_counter() - solved,
        }
        return Report(self._path, os.stat(self._path).st_size, manifest, summary, empty_board, witnessed, seconds)

    def _proof(self) -> "Proof[tuple[Task, bytes]]":
        """Return a proof that keeps what its tasks make."""
        return kind_of(self._game).proof(
            self._game, self._group, self._journal.files.keep,
            crew=self._crew, on_progress=self._on_progress, **self._held(),
        )  # fmt: skip

    def _solve(self, proof: "Proof[tuple[Task, bytes]]") -> None:
        """Do all tasks that are not done."""
        from solver.proof.plan import require_room

        scratch = self._journal.folder.url if isinstance(self._journal.folder, LocalFolder) else None
        here = proof.plan if self._crew.shares_memory else proof.plan._replace(hands=1)  # else others have the memory
        require_room(self._game, here, proof.holder, os.path.dirname(self._path), scratch, self._journal.bytes_here)
        self._on_progress(Progress("solving", note=self._outlook(proof)))
        for stage in proof.stages(self._journal):
            self._digests.update(stage.made)
        self._journal.reread()

    def _held(self) -> "dict[str, Any]":
        """Return where a game of lines may hold pages; other games are small."""
        return {"folder": self._journal.folder, "holder": self._holder} if isinstance(self._game, Game) else {}

    def _write(self, proof: "Proof[Any]", witness: Witness) -> tuple[Manifest, int]:
        """Write the store from what the tasks have kept; return its manifest, and how many positions were witnessed."""
        self._on_progress(Progress("writing"))
        journal, witnessed = self._journal, 0
        with StoreWriter(self._path, journal.size) as writer:
            layers = [layer_digest(self._records(tasks, writer)) for tasks in proof.tasks]
            manifest = Manifest(
                self._game, self._group, proof.summary.score, proof.summary.table(), digest_of_layers(layers)
            )
            require_published(manifest)

            def confirm(store: Store) -> None:
                nonlocal witnessed
                resumed = any(task not in self._digests for tasks in proof.tasks for task in tasks)
                if resumed and content_digest(store) != manifest.digest:
                    raise StoreUnwritable(f"what tasks have kept was altered: delete {journal.folder.url!r}")
                witnessed = witness.confirm(kind_of(self._game).scores(store, 0.0)[0])
                _require_writable(self._path, self._game)  # again: a file may have come there meanwhile

            try:
                writer.finish(manifest, confirm)
            finally:
                if writer.in_place:
                    journal.remove()
        return manifest, witnessed

    def _records(self, tasks: "Iterable[Task]", writer: StoreWriter) -> Iterator[bytes]:
        """Write the records of a layer, and yield what they add to its digest."""
        for task in tasks:
            for key, value, digests in self._journal.files.records(task, self._digests.get(task)):
                writer.put(key, value)
                yield digests

    def _outlook(self, proof: "Proof[Any]") -> str:
        """Return a note for the start: what is left of an interrupted build, or what a long build needs."""
        if self._journal.begun:
            done = f"{self._journal.places / proof.plan.filled:.0%}"
            tasks = "1 task" if self._dropped == 1 else f"{self._dropped:,} tasks"
            lost = f"\ndoing again what was damaged ({tasks})" if self._dropped else ""
            return f"resuming: {done} of {proof.plan.filled:,} places are solved already{lost}"
        return proof.plan.describe(proof.holder) if proof.plan.seconds > NOTED_SECONDS else ""


def _require_writable(path: str, game: BoardGame[Any]) -> None:
    """Raise StoreUnwritable if LMDB cannot take the name, or a file is there that is not ours to replace."""
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise StoreUnwritable(f"cannot write store {path!r}: LMDB takes only names in UTF-8", path, game) from error
    if not os.path.exists(path) or os.path.isdir(path):
        return
    try:
        Store(path, game).close()
    except (StoreMismatch, NotAStore) as error:
        if not isinstance(error, StoreOutdated):
            message = f"{path!r} is not a store of {game.name!r}, and a build replaces nothing else: delete it first"
            raise StoreUnwritable(message, path, game) from error
    except StoreDamaged:
        pass


def require_published(manifest: Manifest) -> None:
    """Raise SolversDisagree if a digest is published for the game, and is another."""
    published = published_digest(manifest.game)
    if published not in (None, manifest.digest):
        raise SolversDisagree(
            f"{manifest.game.name!r} has digest {manifest.digest[:12]}... here, and {published[:12]}... is published"
        )
