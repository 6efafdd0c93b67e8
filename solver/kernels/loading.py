"""Compiled code that is loaded in the background, while plain Python answers.

Importing numba takes a third of a second, and compiling for the first time some seconds. Small answers
do not wait for either. A command that wants full strength waits for as long as it takes: that is its patience.
"""

import fcntl
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from time import monotonic
from typing import Any, ClassVar
from weakref import WeakSet

from solver.child import child_command
from solver.errors import refusal_of

_ALL: "WeakSet[Loader]" = WeakSet()
"""Everything in this process that loads compiled code, so that a forked one can renew it."""

LOADING = 300.0
"""Timeout, in seconds, for loading compiled code when there is no fallback and no patience."""

COMPILING, READING = "compiling the engine (first use)", "loading the engine"
"""What is under way while a command waits for compiled code."""

_SLICE = 0.1
"""How many seconds pass between two reports."""


class Patience:
    """Waits for compiled code without a timeout, and reports what is under way."""

    def __init__(self, tell: Callable[[str, float], None], done: Callable[[], None] = lambda: None) -> None:
        """Tell what is under way, and for how many seconds; at the end of each wait, say that it is `done`."""
        self._tell, self._done = tell, done
        self._before, self._since = 0.0, 0.0

    @property
    def waiting(self) -> bool:
        """Whether somebody is waiting now."""
        return self._since > 0

    @property
    def seconds(self) -> float:
        """The total time of waiting so far."""
        return self._before + (monotonic() - self._since if self.waiting else 0.0)

    def wait(self, loading: threading.Thread, what: Callable[[], str]) -> float:
        """Wait until a thread has ended; return the number of seconds that took."""
        start = self._since = monotonic()
        try:
            while loading.is_alive():
                loading.join(_SLICE)
                self._tell(what(), monotonic() - start)
        finally:
            waited = monotonic() - start
            self._before, self._since = self._before + waited, 0.0
            self._done()
        return waited


_patience: Patience | None = None


@contextmanager
def patient(patience: Patience | None) -> Iterator[None]:
    """Wait for compiled code with this patience, in every thread; with None, no longer than deadlines allow."""
    global _patience
    before, _patience = _patience, patience
    try:
        yield
    finally:
        _patience = before


def is_patient() -> bool:
    """Tell whether this process waits for as long as it takes."""
    return _patience is not None


def import_compiled(kernel: str, *modules: str) -> float:
    """Import modules that compile code, of which `kernel` tells whether it is cached.

    Return the number of seconds that are not to count because this process is patient.
    """
    waited = 0.0
    if _patience:
        from solver.kernels.cache import is_cached

        what = READING if is_cached(kernel) else COMPILING
        importing = threading.Thread(target=_import_quietly, args=modules, daemon=True)
        with suppress(RuntimeError):  # no thread can be started
            importing.start()
            waited = _patience.wait(importing, lambda: what)
    for module in modules:
        import_module(module)  # which raises what failed above
    return waited


def _import_quietly(*modules: str) -> None:
    with suppress(Exception):
        for module in modules:
            import_module(module)


class Loader(ABC):
    """What goes on in compiled code as soon as that is there. Threads and forked processes may share it."""

    kernel: ClassVar[str]
    """The kernel that tells whether the code is cached, such as `duel/kernels.solve`."""
    module: ClassVar[str]
    """The module whose import compiles it."""

    def __init__(self, *, may_compile: bool) -> None:
        """Load nothing yet."""
        self._may_compile = may_compile
        self._compiled: Any = None
        self._loading: threading.Thread | None = None
        self._compiling = False
        self._searching = threading.Lock()
        _ALL.add(self)

    @abstractmethod
    def make(self) -> Any:
        """Return what searches in compiled code; its module is imported here."""

    def load(self) -> None:
        """Begin to load compiled code in the background, if it can take the game."""
        if self._loading is None and self._may_compile:
            loading = threading.Thread(target=self._load, daemon=True)
            with suppress(RuntimeError):  # no thread can be started: plain Python answers
                loading.start()
                self._loading = loading

    def compiled(self, deadline: float) -> Any:
        """Return what searches in compiled code, when it is there before the deadline; None if not.

        A deadline that has passed waits for nothing; any other means nothing to a patient process.
        """
        self.load()
        left = deadline - monotonic()
        if left > 0:
            self.wait()
        if self._loading and self._compiled is None:
            self._loading.join(min(max(0.0, left), threading.TIMEOUT_MAX))
        return self._compiled

    def wait(self) -> float:
        """If this process is patient, wait for compiled code; return the number of seconds that took."""
        if _patience is None or self._compiled is not None:
            return 0.0
        self.load()
        if self._loading is None:
            return 0.0
        return _patience.wait(self._loading, lambda: COMPILING if self._compiling else READING)

    def _load(self) -> None:
        try:
            self._load_compiled()
        except ImportError:
            pass  # this process was forked while another thread of its parent was importing it
        except Exception as error:
            if refusal_of(error) is None:
                raise

    def _load_compiled(self) -> None:
        from solver.kernels.cache import is_cached  # only now: small answers need none of it

        if not is_cached(self.kernel):
            self._compiling = True
            with suppress(OSError):
                self._compile()
        self._compiled = self.make()

    def _compile(self) -> None:
        """Compile in a process of its own, so that what it compiles is there next time in any case.

        Of processes that ask at once one compiles and the others wait: it has the lock as long as it runs, even if
        whoever has started it has ended.
        """
        import subprocess

        from solver.kernels.cache import CACHE, is_cached

        lock = os.open(CACHE / f"{self.module}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_cached(self.kernel):
                command, quiet = child_command(f"import {self.module}"), subprocess.DEVNULL
                subprocess.Popen(
                    command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, pass_fds=(lock,)
                ).wait()
        finally:
            os.close(lock)

    def renew(self) -> None:
        """Forget locks and threads, which a forked process does not have."""
        self._searching = threading.Lock()
        self._loading = None


def _renew_all() -> None:
    for loader in list(_ALL):
        loader.renew()


os.register_at_fork(after_in_child=_renew_all)
