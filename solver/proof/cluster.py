"""A crew of dask workers, on this machine or others.

dask's scheduler runs whatever a client sends it. So a scheduler is used over TLS or on this machine only, unless the
caller insists.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from solver.errors import ScratchError, Ttt4Error
from solver.own_code import one_line
from solver.proof.crew import Crew
from solver.proof.version import OtherVersion, in_version, source_version
from solver.scratch.folder import BEGIN, Folder

_LOCAL = {"localhost", "127.0.0.1", "::1"}

CONNECT_SECONDS = 10.0
_GRACE_SECONDS = 5.0
"""A scheduler that has not answered in so many seconds, and some more, is none."""

ALONE_SECONDS = 60.0
"""A build whose cluster has had no worker for so long ends."""

_RETRIES = 3


class DaskCrew(Crew):
    """The workers of a dask scheduler."""

    def __init__(self, address: str, *, unencrypted: bool = False) -> None:
        """Connect to a scheduler, whose workers must have this version of the program."""
        require_safe(address, unencrypted=unencrypted)
        self._client = _connected(address)
        self.address = address
        self._last_seen = monotonic()
        try:
            self._require_version()
        except BaseException:
            self._client.close()
            raise
        super().__init__(self._client.get_executor(pure=False, retries=_RETRIES), max(1, self._threads()))

    def __exit__(self, *error: Any) -> None:
        with suppress(Exception):  # the scheduler may be gone
            self.stop()
        with suppress(Exception):
            self._client.close(timeout=CONNECT_SECONDS)

    @property
    def dashboard(self) -> str:
        """Where the cluster can be watched."""
        return str(self._client.dashboard_link)

    def detail(self) -> str:
        """Return how many workers there are."""
        count = len(self._workers())
        return f"{count:,} worker" + "s" * (count != 1)

    def require_hands(self) -> None:
        """Raise ScratchError if the scheduler is gone, or has had no worker for long."""
        if self._client.status not in ("running", "connecting"):
            raise ScratchError(f"the scheduler at {self.address!r} is gone; the same command resumes the build")
        if self._workers():
            self._last_seen = monotonic()
        elif monotonic() - self._last_seen > ALONE_SECONDS:
            raise ScratchError(
                f"the scheduler at {self.address!r} has had no worker for {ALONE_SECONDS:.0f} s: start some, and the "
                "same command resumes the build"
            )

    def explained(self, error: BaseException) -> BaseException:
        """Return the error to raise for one that a task has ended with."""
        if isinstance(error, CancelledError):  # by nobody here
            return ScratchError(f"the scheduler at {self.address!r} is gone; the same command resumes the build")
        if isinstance(error, Ttt4Error | OSError) or not isinstance(error, Exception):
            return error
        return ScratchError(f"a task of the cluster has failed: {one_line(error)}; the same command resumes the build")

    def submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        """Give a call to a worker that has this version of the program."""
        return super().submit(in_version, (source_version(), function, arguments))

    def require_sees(self, folder: Folder) -> None:
        """Raise ScratchError unless every worker finds the files of a folder."""
        try:
            answers = self._client.run(_begin_of, folder)
        except Exception as error:
            raise ScratchError(
                f"a worker of {self.address!r} cannot read scratch {folder.url!r} ({one_line(error)}): name a folder "
                "or an object store that all machines share"
            ) from error
        if set(answers.values()) - {_begin_of(folder)}:
            raise ScratchError(f"scratch {folder.url!r} is another folder on some workers: name one that all share")

    def _workers(self) -> dict[str, Any]:
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1).get("workers", {})
        return workers

    def _threads(self) -> int:
        return sum(worker["nthreads"] for worker in self._workers().values())

    def _require_version(self) -> None:
        """Raise OtherVersion if a worker has another version of this program, or none."""
        try:
            versions = self._client.run(source_version)
        except Exception as error:
            raise ScratchError(f"a worker of {self.address!r} cannot run ttt4: {one_line(error)}") from error
        for worker, version in versions.items():
            if version != source_version():
                raise OtherVersion(source_version(), version, worker)


def require_safe(address: str, *, unencrypted: bool) -> None:
    """Raise ScratchError unless what is sent to a scheduler is encrypted, or stays on this machine."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme not in ("tls", "tcp"):
        raise ScratchError(f"{address!r} is no address of a scheduler: tls://host:8786, or tcp://127.0.0.1:8786")
    if parts.scheme == "tcp" and host not in _LOCAL and not unencrypted:
        raise ScratchError(
            f"{address!r} is not encrypted, and a scheduler runs whatever it is sent by anybody: use tls://, or "
            "--unencrypted on a network that nobody else can reach"
        )


def _connected(address: str) -> Any:
    """Return dask's client of a scheduler. What dask logs is not for users, who are told in one line."""
    try:
        import distributed
    except ImportError as error:
        raise ScratchError("a cluster takes dask, which is not installed: pip install 'ttt4[cluster]'") from error
    known = (name for name in logging.root.manager.loggerDict if name.startswith(("distributed.", "tornado")))
    for name in ["distributed", *known]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    dask: Any = distributed
    found: SimpleQueue[Any] = SimpleQueue()

    def connect() -> None:
        try:
            found.put(dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
        except Exception as error:  # of many kinds, such as a wrong certificate
            found.put(error)

    threading.Thread(target=connect, daemon=True).start()  # so that a partner who says nothing does not stop us
    try:
        client = found.get(timeout=CONNECT_SECONDS + _GRACE_SECONDS)
    except Empty:
        client = TimeoutError("it does not answer as a scheduler")
    if isinstance(client, Exception):
        tls = "; its certificates are set in dask's configuration, distributed.comm.tls"
        hint = tls if address.startswith("tls") else ""
        raise ScratchError(f"no dask scheduler answers at {address!r}: {one_line(client)}{hint}") from client
    return client


def _begin_of(folder: Folder) -> bytes:
    with folder.reading(BEGIN) as file:
        return file.read()
