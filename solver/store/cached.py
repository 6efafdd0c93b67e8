"""What all sources of scores have in common that answer from a store: the store, and the pages read from it."""

from typing import Any

from solver.store.store import Store

_PAGE_BYTES = 64 << 20
"""How many bytes of unpacked pages are cached."""


class CachedPages:
    """A source of scores (solver/source.py) that answers from a store and caches what it has read.

    Threads may share it, and so may a process forked from the one that opened the store.
    """

    name = "store"
    seconds = 0.0

    def __init__(self, store: Store) -> None:
        """Answer from an open store, which `close` closes."""
        self.store = store
        self._pages: dict[Any, Any] = {}
        self._page_bytes = 0

    def close(self) -> None:
        """Close the store and forget what was read: from now on, every question raises StoreError."""
        self.store.close()
        self.forget()

    def forget(self) -> None:
        """Empty the cache."""
        self._pages.clear()
        self._page_bytes = 0

    def knows(self, stones: int) -> bool:
        """Return True: the store has every position."""
        return True

    def deadline(self) -> float:
        """Return any number: a store needs no deadline."""
        return 0.0

    def _keep(self, pages: dict[Any, Any]) -> None:
        """Cache the pages of a record."""
        if self._page_bytes > _PAGE_BYTES:
            self._pages.clear()
            self._page_bytes = 0
        self._pages.update(pages)
        self._page_bytes += sum(map(len, pages.values()))
