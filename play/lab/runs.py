"""Runs: the folder that a training leaves behind, which can be continued, graded, and played.

    config.json    what was asked for: learner, game, seed, how many games, and the rest
    metrics.jsonl  one line for each checkpoint: how good it was, and how training went
    games.jsonl    one line for each game that it played to be looked at, against itself and others
    state.npz      what it has learned up to the last checkpoint, and after how many games that was

A checkpoint first adds its lines, and then replaces state.npz, so that a kill leaves this checkpoint or the one before:
lines beyond state.npz are dropped when training resumes. The **digest** of a run covers all that follows from its
config, which is everything but times. No file holds code, and loading one runs none.
"""

import fcntl
import hashlib
import io
import json
import lzma
import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from play.lab.formats import Checkpoint, Config, Sample, read
from play.players.player import PlayerError, read_player
from solver.errors import GameError, Ttt4Error
from solver.files import read_whole, write_whole
from solver.games.board import require_solvable
from solver.games.lines import Game, lines_only
from solver.games.notation import parse_game
from solver.games.registry import may_be_recorded
from solver.text import printable, shown

CONFIG, METRICS, GAMES, STATE = "config.json", "metrics.jsonl", "games.jsonl", "state.npz"

_UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, ArithmeticError, zipfile.BadZipFile, zlib.error,
    lzma.LZMAError, tokenize.TokenError,
)  # fmt: skip
"""What reading a damaged .npz file can raise."""

_SMALL, _LARGEST = 1 << 16, 1 << 30
"""How many bytes a config may have, and any other of the files or all arrays."""

_TIMES = ("seconds", "games_per_second")
"""What differs from one training to the next."""


Arrays = dict[str, np.ndarray]
"""What a learner has learned."""


class RunError(Ttt4Error):
    """A folder that is no run, or a damaged one."""

    kind = "bad-run"
    exit_code = 2


class Run:
    """A run's folder."""

    def __init__(self, folder: str, config: dict[str, Any]) -> None:
        """Name a folder and what was asked for; nothing is written yet."""
        self.folder = folder
        self.config = config

    @staticmethod
    def open(folder: str) -> "Run":
        """Return the run in a folder; raise RunError if there is none, or none that can be read."""
        content = _content(os.path.join(folder, CONFIG), _SMALL)
        if content is None:
            raise RunError(f"no run in {folder!r}: ttt4-play train --out {folder} begins one")
        try:
            run = Run(folder, read(content, Config))
            run.game  # noqa: B018 - it is read, to see that it can be
            require_sparring(run.config["v"])
        except (ValueError, GameError, PlayerError) as error:
            path = os.path.join(folder, CONFIG)
            raise RunError(
                f"{path!r} cannot be used ({printable(str(error))[:100]}): delete {folder} and train again"
            ) from error
        return run

    @cached_property
    def game(self) -> Game:
        """The game that is learned; raise GameError if it has no learners."""
        name = self.config["game"]
        if not may_be_recorded(name):
            raise GameError(f"runs are of games that a name says, and {shown(name)} is a file or code")
        game = lines_only(parse_game(name))
        require_solvable(game)
        return game

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other trainings out of the folder, which is made if it is not there."""
        made = not os.path.lexists(self.folder)
        try:
            os.makedirs(self.folder, exist_ok=True)
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        except (OSError, ValueError) as error:
            raise RunError(f"cannot use {self.folder!r} as a run's folder: {error}") from error
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                why = "is being trained by another process: wait until it ends"
                busy = isinstance(error, BlockingIOError)
                raise RunError(f"run {self.folder!r} {why if busy else f'cannot be locked: {error}'}") from error
            yield
        finally:
            os.close(folder)
            if made:
                with suppress(OSError):
                    os.rmdir(self.folder)  # if nothing was written

    def require_new(self) -> None:
        """Raise RunError if the folder holds anything of a run."""
        for name in (CONFIG, METRICS, GAMES, STATE):
            if os.path.lexists(os.path.join(self.folder, name)):
                raise RunError(
                    f"{self.folder!r} has {name}, so it holds a run: add --resume, delete it, or name another folder"
                )

    def require_trained(self) -> Arrays:
        """Return what was learned; raise RunError if that is nothing yet."""
        games, arrays = self.state()
        if not games:
            raise RunError(f"run {self.folder!r} has learned nothing yet: ttt4-play train --out {self.folder} --resume")
        return arrays

    def begin(self) -> None:
        """Write what was asked for."""
        self._write(CONFIG, (json.dumps(self.config, indent=2) + "\n").encode())

    def state(self) -> tuple[int, Arrays]:
        """Return after how many games the run's state was saved, and its arrays: (0, {}) if it never was."""
        content = _content(os.path.join(self.folder, STATE), _LARGEST)
        if content is None:
            return 0, {}
        try:
            arrays = _read_arrays(content)
            games = arrays.pop("games")
            if games.shape != () or games.dtype.kind != "i" or not 0 < games <= self.config["episodes"]:
                raise ValueError("it says no number of games")
            return int(games), arrays
        except _UNREADABLE as error:
            raise self.damaged(STATE, f"{error}".split("\n")[0]) from error

    def checkpoint(
        self, games: int, arrays: Arrays, metrics: dict[str, Any], samples: Iterable[dict[str, Any]]
    ) -> None:
        """Add a checkpoint: its metrics, the games played to be looked at, and what was learned."""
        self._append(METRICS, [metrics])
        self._append(GAMES, samples)
        file = io.BytesIO()
        np.savez_compressed(file, **{"games": np.array(games), **_sorted(arrays)})  # type: ignore[arg-type]
        self._write(STATE, file.getvalue())

    def metrics(self) -> list[dict[str, Any]]:
        """Return the lines of all checkpoints, the first one first."""
        return self._lines(METRICS, Checkpoint)

    def games(self) -> list[dict[str, Any]]:
        """Return the games that were played to be looked at."""
        return self._lines(GAMES, Sample)

    def forget_after(self, games: int) -> None:
        """Drop lines that were added for a checkpoint whose state was never saved."""
        for name, kind in ((METRICS, Checkpoint), (GAMES, Sample)):
            kept = [line for line in self._lines(name, kind) if line["games"] <= games]
            self._write(name, b"".join(_line(line) for line in kept))

    def digest(self) -> str:
        """Return a digest of all that follows from the run's config."""
        games, arrays = self.state()
        parts: list[Any] = [self.config, games]
        for lines in (self.metrics(), self.games()):
            parts.append([{name: value for name, value in line.items() if name not in _TIMES} for line in lines])
        found = hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=32)
        for name, array in _sorted(arrays).items():
            found.update(f"{name} {array.dtype.str} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def damaged(self, name: str, why: str) -> RunError:
        """Return the error for one of the run's files, to be raised."""
        path = os.path.join(self.folder, name)
        return RunError(f"{path!r} is damaged ({printable(why)[:80]}): delete {self.folder} and train again")

    def _lines(self, name: str, kind: Any) -> list[dict[str, Any]]:
        """Return the lines of a file; one at the end that was cut off is no line."""
        content = _content(os.path.join(self.folder, name), _LARGEST) or b""
        try:
            return [read(line, kind) for line in content.split(b"\n")[:-1]]
        except ValueError as error:
            raise self.damaged(name, f"{error}") from error

    def _append(self, name: str, lines: Iterable[dict[str, Any]]) -> None:
        try:
            with open(os.path.join(self.folder, name), "ab") as file:
                file.write(b"".join(map(_line, lines)))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RunError(f"cannot write {os.path.join(self.folder, name)!r}: {error.strerror}") from error

    def _write(self, name: str, content: bytes) -> None:
        path = os.path.join(self.folder, name)
        try:
            write_whole(path, content)
        except OSError as error:
            raise RunError(f"cannot write {path!r}: {error.strerror}") from error


def require_sparring(v: str) -> None:
    """Raise PlayerError unless a learner can be trained against a player: a file must not make us load code."""
    if v != "self" and read_player(v).kind not in ("random", "rules", "oracle", "first"):
        raise PlayerError(f"cannot train against {shown(v)}: choose self, random, rules, or oracle:0 to oracle:10")


def _read_arrays(content: bytes) -> Arrays:
    """Return the arrays of an .npz file; raise ValueError if what it says of their sizes is not so.

    numpy's own reader would believe a damaged header, and take all memory.
    """
    found: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(info.file_size for info in archive.infolist()) > _LARGEST:
            raise ValueError(f"its arrays take more than {_LARGEST:,} bytes")
        for info in archive.infolist():
            with archive.open(info) as file:
                if np.lib.format.read_magic(file) != (1, 0):
                    raise ValueError(f"{info.filename} has another format")
                shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
                values = file.read()
            if dtype.kind not in "iuf" or by_columns or len(values) != dtype.itemsize * prod(shape):
                raise ValueError(f"{info.filename} is not {dtype} of shape {shape}")
            found[info.filename.removesuffix(".npy")] = np.frombuffer(values, dtype).reshape(shape)
    return found


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def _sorted(arrays: Arrays) -> Arrays:
    return {name: arrays[name] for name in sorted(arrays)}


def _content(path: str, most: int) -> bytes | None:
    """Return what a file holds; None if there is no such file."""
    try:
        return read_whole(path, most)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error
