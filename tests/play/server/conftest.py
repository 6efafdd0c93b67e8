"""What the tests of the server share: one server for all, and servers of a test's own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from web import Served


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, store4: Path) -> Iterator[Served]:
    """A server with the store of 4,4,4."""
    with Served(tmp_path_factory.mktemp("state"), TTT4_STORE=str(store4)) as served:
        yield served


@pytest.fixture
def serve(tmp_path: Path, store4: Path) -> Iterator[Callable[..., Served]]:
    """Start servers of a test's own, with options, on games kept in one folder; they end with the test."""
    started: list[Served] = []

    def start(*options: str, folder: str = "state", **environment: str) -> Served:
        started.append(Served(tmp_path / folder, *options, **{"TTT4_STORE": str(store4), **environment}))
        return started[-1]

    yield start
    for each in started:
        each.__exit__()
