"""The journal: which tasks of a build are done, so that a kill loses at most those that are under way.

It is a folder: `<store>.partial` beside the store, or one in the scratch folder that the user names. The build that
writes it has locked `<store>.partial` in any case. Besides the files of the tasks (solver/scratch/tasks.py) it has

    begin   4 bytes of CRC-32 of "begin" and the rest, then JSON: the format, the game and its symmetries
    lock    an empty file, which the build has locked, in a folder of a file system

A build that finds a journal of its game takes from it every task that is done; it looks at the size of the records,
which are read when the store is written. What is damaged is done again. A folder that holds anything else is refused,
and left alone.

Only `begin` is synced: what a power failure destroys of the rest is detected like any other damage.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from solver.errors import ScratchError, SolversDisagree, StoreUnwritable
from solver.folders import partial_path
from solver.games.board import BoardGame
from solver.index.symmetry import Symmetry
from solver.scratch.folder import BEGIN, LOCK, Folder, LocalFolder, file_name, is_of_task
from solver.scratch.tasks import Done, TaskFiles
from solver.store.manifest import FORMAT
from solver.store.record import checked, with_checksum
from solver.store.writer import writing

if TYPE_CHECKING:
    from solver.proof.proof import Summary, Task, UnpackedPages

_VERSION = 1
"""The version of the journal's own format."""


class Journal:
    """The journal of a build: a context manager that locks the store's path for this build."""

    def __init__(
        self, path: str | os.PathLike[str], game: BoardGame[Any], group: tuple[Symmetry, ...],
        folder: Folder | None = None,
    ) -> None:  # fmt: skip
        """Open the journal of the same game, or begin one; raise StoreUnwritable if another build has it locked."""
        self._path = Path(path)
        self._own = LocalFolder(os.path.abspath(partial_path(path)))
        self.folder = folder or self._own
        self._begin = with_checksum(BEGIN.encode(), json.dumps([FORMAT, _VERSION, game.as_fields(), group]).encode())
        self.files = TaskFiles(self.folder, game, self._begin[:4])
        self._done: dict[tuple[int, int], Done] = {}
        self.dropped = 0
        """How many tasks were not as they were written, and are to be done again."""
        self._removed = self._began = False
        self._locks: list[tuple[LocalFolder, BinaryIO]] = []
        try:
            with writing(self._path):
                if self._path.is_dir():
                    raise IsADirectoryError(0, "it is a folder")
                self._locks.append((self._own, _locked(self._own)))
            with self.errors():
                if isinstance(self.folder, LocalFolder) and self.folder != self._own:
                    self._locks.append((self.folder, _locked(self.folder)))
                self.folder.make()
                self._read()
        except BaseException:
            self._unlock()
            raise

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError):
            alone = self._began or isinstance(self.folder, LocalFolder)  # else another build may have just begun
            if isinstance(error, SolversDisagree) or (alone and not self._anything_done()):
                self.remove()
        self._unlock()

    @property
    def begun(self) -> bool:
        """Whether an earlier build has done any task."""
        return bool(self._done)

    @property
    def size(self) -> int:
        """How many bytes of records a store is to be made of."""
        return sum(done.size for done in self._done.values())

    @property
    def bytes_here(self) -> int:
        """How many bytes the files of tasks take already."""
        return sum(size for name, size in self.folder.sizes().items() if is_of_task(name))

    @property
    def places(self) -> int:
        """How many places are filled already."""
        return sum(done.summary["filled"] for done in self._done.values())

    @property
    def unpacked(self) -> "Callable[[Task], Iterator[UnpackedPages]]":
        """What reads the pages of a task that is done."""
        return self.files.unpacked

    def summary(self, task: "Task") -> "Summary | None":
        """Return the summary of a task; None if it is still to be done."""
        from solver.proof.proof import Summary

        done = self._done.get((task.layer, task.number))
        return Summary.from_fields(done.summary) if done else None

    def drop(self, layer: int, number: int) -> None:
        """Forget a task, so that it is done again."""
        self.files.forget(layer, number)
        self._done.pop((layer, number), None)

    def reread(self) -> None:
        """Look again which tasks are done."""
        self._done.clear()
        self._read()

    def remove(self) -> None:
        """Delete the folder: nothing is left to resume."""
        if not self._removed:  # else it may belong to another build by now
            self._removed = True
            self.folder.remove_all()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what goes wrong with files into an error that says where, and that nothing is lost."""
        try:
            yield
        except OSError as error:
            if self.folder == self._own:
                with writing(self._path, self._kept()):
                    raise
            why = error.strerror or str(error)
            raise ScratchError(f"cannot use scratch {self.folder.url!r}: {why}{self._kept()}") from error

    def _read(self) -> None:
        """Take all tasks that are done, with records of the right size; begin, if there is nothing."""
        sizes = self.folder.sizes()
        if BEGIN in sizes:
            with self.folder.reading(BEGIN) as file:
                found = file.read()
            if found != self._begin:
                raise StoreUnwritable(self._foreign(found), str(self._path))
        elif any(name != LOCK and not is_of_task(name) for name in sizes):
            raise StoreUnwritable(self._foreign(b""), str(self._path))
        else:  # what is there of tasks may be ours, or may have come late from a worker of another build
            self._began = True
            with self.folder.writing(BEGIN) as file:
                file.write(self._begin)
        for name in sizes:
            if not is_of_task(name) or not name.endswith("done"):
                continue
            task = int(name.split(".")[0]), int(name.split(".")[1])
            done = self.files.done(*task)
            if done and sizes.get(file_name(*task, "records")) == done.size:
                self._done[task] = done
            else:
                self.files.forget(*task)
                self.dropped += 1

    def _anything_done(self) -> bool:
        return any(name.endswith(".done") for name in self.folder.sizes())

    def _kept(self) -> str:
        with suppress(OSError):
            if self._anything_done():
                return " (what was solved so far is kept, and the same build resumes with it)"
        return ""

    def _foreign(self, found: bytes) -> str:
        """Return the message for a folder that is not a journal of this game."""
        what = "is not a journal of a build, or is damaged"
        with suppress(ValueError, KeyError, TypeError, IndexError):
            name = json.loads(checked(BEGIN.encode(), found))[2]["name"]
            what = f"is the journal of a build of {name!r}, or of another format"
        return f"{self.folder.url!r} {what}: this build would keep its own there; delete it"

    def _unlock(self) -> None:
        for folder, lock in self._locks:
            with lock, suppress(OSError):
                ours = os.path.samestat(os.fstat(lock.fileno()), os.stat(os.path.join(folder.url, LOCK)))
                if ours and folder.sizes().keys() == {LOCK}:  # nothing is kept there
                    folder.remove_all()


def _locked(folder: LocalFolder) -> BinaryIO:
    """Make a folder, and lock it for this build."""
    if os.path.lexists(folder.url) and not os.path.isdir(folder.url):
        raise StoreUnwritable(f"{folder.url!r} is not a folder: this build would keep its journal there")
    path = os.path.join(folder.url, LOCK)
    while True:
        folder.make()
        with suppress(FileNotFoundError):  # another build ended, and deleted the folder, between these lines
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644), "r+b")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    return file
            except BlockingIOError:
                file.close()
                raise StoreUnwritable(f"another build is writing {folder.url!r}: wait until it ends") from None
            except BaseException:
                file.close()
                raise
            file.close()
