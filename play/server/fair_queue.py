"""A fair queue: what waits for one worker, in an order that gives each address its share of the worker's time.

The address that has used least time goes first. An address that had nothing waiting starts no lower than the one served
last, so nobody saves up time. An address without recent use waits for the current work and one item of each other
address, at most.
"""

from collections import deque
from heapq import nlargest
from typing import Generic, TypeVar

MOST_WAITING = 64
"""How many items may wait."""

MOST_OF_ONE = 8
"""How many of them may be one address's."""

_REMEMBERED = 1_000
"""The most addresses whose time is remembered."""

T = TypeVar("T")


class QueueFull(Exception):
    """No room for another item of this address."""


class FairQueue(Generic[T]):
    """Items by address."""

    def __init__(self, most: int = MOST_WAITING, most_of_one: int = MOST_OF_ONE) -> None:
        """Hold at most so many items, and so many of one address."""
        self._most = most
        self._most_of_one = most_of_one
        self._waiting: dict[str, deque[T]] = {}
        self._used: dict[str, float] = {}
        self._level = 0.0
        """The time that the address served last had used."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __contains__(self, item: T) -> bool:
        return any(item in items for items in self._waiting.values())

    def put(self, address: str, item: T) -> T | None:
        """Let an item wait, which several addresses may ask for; return the one that lost its place to it, if any.

        Raise QueueFull if the address has its share of all places.
        """
        own = self._waiting.get(address, deque())
        if item in own:
            return None
        if len(own) >= self._most_of_one:
            raise QueueFull
        dropped = self._dropped_for(len(own)) if len(self) >= self._most else None
        if not own:
            self._used[address] = max(self._used_by(address), self._level)
            self._waiting[address] = own
        own.append(item)
        return dropped

    def take(self) -> tuple[str, T]:
        """Remove the next item, and return it and the address whose turn it is."""
        address = min(self._waiting, key=self._used_by)
        item = self._waiting[address].popleft()
        self._level = max(self._level, self._used_by(address))
        self._waiting[address] = self._waiting.pop(address)  # behind others that have used as little
        for items in self._waiting.values():
            if item in items:
                items.remove(item)
        self._waiting = {each: items for each, items in self._waiting.items() if items}
        return address, item

    def charge(self, address: str, seconds: float) -> None:
        """Count the time that an address's item took."""
        self._used[address] = self._used_by(address) + seconds
        self._used = {each: used for each, used in self._used.items() if used > self._level or each in self._waiting}
        if len(self._used) > _REMEMBERED:
            self._used = dict(nlargest(_REMEMBERED // 2, self._used.items(), key=lambda entry: entry[1]))

    def _used_by(self, address: str) -> float:
        return self._used.get(address, self._level)

    def _dropped_for(self, own: int) -> T | None:
        """Drop the last item of the address with most, if that is more than another address would have by one more."""
        longest = max(self._waiting.values(), key=len)
        if len(longest) <= own + 1:
            raise QueueFull
        dropped = longest.pop()
        return None if dropped in self else dropped
