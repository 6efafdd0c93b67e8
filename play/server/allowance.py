"""The allowance: how much work each address may ask for, as a rate with a burst.

The generic cell rate algorithm: one number for each address, the time at which all its work would be paid for at
the steady rate. Work is let through as long as that time is no further ahead than the burst.

    a look-up, a step in a game, a stream    1
    a batch of n boards                      n / 8
    a game's lines                           1 for each 1,000 cells in them
    a new game                              10
    a search, a puzzle, a review            50 for each second that it takes

What a search takes shows afterwards. Before, an address has to afford one second of it (play/server/worker.py).
"""

import ipaddress
import time

from play.server.problems import Problem

LINES = 1 / 1000
"""For each cell of a game's lines, where they are told."""

LOOKUP, BEGIN = 1.0, 10.0
BATCH = 1 / 8

SEARCH = 50.0
"""For each second of the worker's time."""

RATE = 50.0
"""Units a second for each address that is not this machine."""

BURST = 500.0
"""Units that an address may ask for at once."""

THIS_MACHINE = "127.0.0.1"
"""The address that all addresses of this machine are charged to."""

_MOST_ADDRESSES = 20_000


class Allowance:
    """Charges addresses for work."""

    def __init__(self, rate: float | None = None) -> None:
        """Allow `rate` units a second for every address; by default RATE, and any amount for this machine."""
        self._interval = 1 / (rate or RATE)
        self._burst = max(BURST, 10 * (rate or RATE)) * self._interval
        self._spares_loopback = rate is None
        self._paid_until: dict[str, float] = {}

    @property
    def described(self) -> str:
        """What is allowed, in words."""
        rate, burst = 1 / self._interval, self._burst / self._interval
        free = "; requests from the server's own machine are free" if self._spares_loopback else ""
        return f"Each address may ask for {rate:g} units a second, and for {burst:g} at once{free}."

    def charge(self, address: str, cost: float, now: float | None = None) -> float:
        """Charge an address; return 0, or after how many seconds it can afford this, and then nothing is charged."""
        now = time.monotonic() if now is None else now
        wait = self.wait(address, cost, now)
        if not wait:
            self.settle(address, cost, now)
        return wait

    def wait(self, address: str, cost: float, now: float | None = None) -> float:
        """Return after how many seconds an address can afford this: 0 if it can now."""
        if self._spares_loopback and is_loopback(address):
            return 0.0
        now = time.monotonic() if now is None else now
        return max(0.0, self._until(address, cost, now) - now - self._burst)

    def settle(self, address: str, cost: float, now: float | None = None) -> None:
        """Charge an address for work that is done, even if it cannot afford it, or give something back."""
        if self._spares_loopback and is_loopback(address):
            return
        now = time.monotonic() if now is None else now
        if len(self._paid_until) >= _MOST_ADDRESSES:
            self._forget(now)
        self._paid_until[address] = self._until(address, cost, now)

    def _until(self, address: str, cost: float, now: float) -> float:
        return max(self._paid_until.get(address, now), now) + cost * self._interval

    def _forget(self, now: float) -> None:
        """Forget the addresses that owe nothing, and if that is not enough, the half that owes least."""
        owing = sorted((until, address) for address, until in self._paid_until.items() if until > now)
        self._paid_until = {address: until for until, address in owing[-_MOST_ADDRESSES // 2 :]}


def charge(allowance: Allowance, address: str, cost: float) -> None:
    """Charge an address for work; raise Problem if it has asked for too much."""
    _require_no(allowance.charge(address, cost))


def require_affordable(allowance: Allowance, address: str, cost: float) -> None:
    """Raise Problem if an address cannot afford some work; charge nothing."""
    _require_no(allowance.wait(address, cost))


def _require_no(wait: float) -> None:
    if wait:
        raise Problem(429, "too-many-requests", f"too many requests: try again in {wait:.1f} s", wait=wait)


def address_of(scope: dict[str, object]) -> str:
    """Return the address that a request is charged to: of IPv6, the network of 56 bits that one user may have."""
    client = scope.get("client")
    host = str(client[0]) if isinstance(client, tuple | list) else ""
    if is_loopback(host):
        return THIS_MACHINE if host else ""
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return host
    if address.ipv4_mapped:  # a server that listens on :: gets these for whoever comes by IPv4
        return address_of({"client": (str(address.ipv4_mapped), 0)})
    return str(ipaddress.IPv6Network((int(address), 56), strict=False).network_address)


def is_loopback(address: str) -> bool:
    """Tell whether an address is this machine's own."""
    return address.startswith("127.") or address in ("::1", "")
