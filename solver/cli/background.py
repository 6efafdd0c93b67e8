"""Long work in a thread of its own, so that signals are heeded at once: compiled code does not return for them."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

_EVERY = 0.1
"""How many seconds pass between two reports."""

Result = TypeVar("Result")


def in_background(
    work: Callable[[], Result], tell: Callable[[], None], late: Callable[[], bool] = lambda: False
) -> Result:
    """Return what the work returns, or raise what it raises; until then `tell` is called from time to time.

    As soon as it is `late`, raise TimeoutError and leave the work to itself.
    """
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    while not wait([future], _EVERY).done:
        tell()
        if late():
            raise TimeoutError
    return future.result()
