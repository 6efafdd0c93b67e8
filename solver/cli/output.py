"""Files that a command writes under a name of the user's: nothing is replaced that the user has not given up."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TextIO

import click

from solver.errors import Ttt4Error
from solver.files import write_whole, writing_whole

force_option = click.option("--force", is_flag=True, help="Replace FILE if it exists.")


class OutputError(Ttt4Error):
    """A file that cannot be written."""

    kind = "output-unwritable"


class OutputRefused(OutputError):
    """A file that must not be replaced."""

    kind = "output-refused"
    exit_code = 2


class OutputFile:
    """A file to write when the work is done. Asked for before the work, it refuses early."""

    def __init__(self, path: str, force: bool) -> None:
        """Raise OutputRefused if the file exists, unless it is a regular file and `force` replaces it."""
        self.path = path
        self._force = force
        self._require()

    def write(self, content: bytes) -> int:
        """Write the whole file or nothing; return how many bytes that is."""
        with self._errors():
            write_whole(self.path, content)
        return len(content)

    @contextmanager
    def writing_secret(self) -> Iterator[TextIO]:
        """Open the file for text that only its owner may read; an exception leaves what was there."""
        path = os.path.realpath(self.path)
        with self._errors():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with writing_whole(path, mode=0o600) as file:
                text = TextIOWrapper(file, "ascii")
                yield text
                text.detach()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Look once more whether the file may be written, and turn errors of the system into OutputError."""
        self._require()
        try:
            yield
        except OSError as error:
            raise OutputError(f"cannot write {self.path!r}: {error.strerror}") from error

    def _require(self) -> None:
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise OutputError(f"cannot write {self.path!r}: {why}") from error
        if not stat.S_ISREG(mode):
            raise OutputRefused(f"cannot write {self.path!r}: it is not a regular file; name another one")
        if not self._force:
            raise OutputRefused(f"{self.path!r} exists: name another file, or replace it with --force")
