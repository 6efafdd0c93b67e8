"""Operations: what the API can do, and how a request finds the one that it is for."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from play.server.problems import Headers


class Request(NamedTuple):
    """A request, as an operation gets it."""

    scope: Any
    receive: Any
    send: Any
    address: str
    """Whom its work is charged to."""
    named: Mapping[str, str]
    """What stands in the path for each name in braces."""
    words: Mapping[str, str]
    """What the query says by name."""

    def header(self, name: bytes) -> str | None:
        """Return a header's value; None if it is not there."""
        for each, value in self.scope["headers"]:
            if each == name:
                return str(value, "latin-1")
        return None


class Reply(NamedTuple):
    """An answer in JSON."""

    body: bytes
    status: int = 200
    headers: Headers = []  # noqa: RUF012 - it is never changed


class Parameter(NamedTuple):
    """A part of a query."""

    about: str
    example: str = ""
    choices: tuple[str, ...] = ()
    schema: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Operation:
    """One method on one path."""

    method: str
    path: str
    run: Callable[[Any, Request], Awaitable[Reply | None]]
    """A method of the API's, or a function that takes the API; it returns None if it has answered itself."""
    about: str
    answers: Mapping[int, Any]
    """What each status that is no error answers with: a type, or a tuple of the types that a list may hold."""
    body: Any = None
    """The type of the body that it takes, or a union of such types."""
    example: Any = None
    query: Mapping[str, Parameter] = field(default_factory=dict)
    problems: tuple[int, ...] = ()
    """The statuses of errors, besides those that any operation can have."""
    seat: bool = False
    """Whether only a seat's token opens it."""
    everywhere: bool = False
    """Whether pages of any origin may ask."""

    @property
    def name(self) -> str:
        """One word for it."""
        return self.run.__name__

    def pattern(self) -> re.Pattern[str]:
        """Return what its paths look like."""
        return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(self.path)))


class Table:
    """Finds operations by path and method."""

    def __init__(self, operations: tuple[Operation, ...]) -> None:
        """Find these operations."""
        self.operations = operations
        self._patterns = [(operation.pattern(), operation) for operation in operations]

    def at(self, path: str) -> dict[str, tuple[Operation, Mapping[str, str]]]:
        """Return the operations on a path by method, each with what stands for the names in it."""
        found: dict[str, tuple[Operation, Mapping[str, str]]] = {}
        for pattern, operation in self._patterns:
            match = pattern.fullmatch(path)
            if match:
                found.setdefault(operation.method, (operation, match.groupdict()))
        return found
