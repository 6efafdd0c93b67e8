"""Compiled code that is loaded in the background, while plain Python answers.

Importing numba takes a third of a second, and compiling for the first time some seconds. Small answers
do not wait for either.
"""

import fcntl
import os
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from time import monotonic
from typing import Any, ClassVar
from weakref import WeakSet

from solver.child import child_command
from solver.errors import refusal_of

_ALL: "WeakSet[Loader]" = WeakSet()
"""Everything in this process that loads compiled code, so that a forked one can renew it."""

LOADING = 300.0
"""How long compiled code may take to be there where nothing goes on without it, in seconds."""


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
        """Return what searches in compiled code, when it is there before the deadline; None if not."""
        self.load()
        if self._loading and self._compiled is None:
            self._loading.join(min(max(0.0, deadline - monotonic()), threading.TIMEOUT_MAX))
        return self._compiled

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
