"""What the tests of the screen share: an empty folder to stand in, a folder with two stores, and screens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from screens import Screen, Show, ShowOnTerminal, TerminalScreen
from sessions import HUMANS, THREE, opening


@pytest.fixture(autouse=True)
def _at_home(home: Path) -> None:
    """Stand in an empty folder in every test."""


@pytest.fixture
def stores(home: Path, store3: Path, store4: Path) -> Path:
    """Return a folder with the stores of 3,3,3 and of 4,4,4."""
    folder = home / "stores"
    folder.mkdir()
    for store in (store3, store4):
        (folder / store.name).symlink_to(store)
    return folder


@pytest.fixture
def show() -> Iterator[Show]:
    yield from opening(Screen)


@pytest.fixture
def people(show: Show, store3: Path) -> Screen:
    """A game of 3,3,3 between two people, before its first move."""
    return show(*THREE, *HUMANS, "--store", store3).until("X to move.")


@pytest.fixture
def show_on_terminal() -> Iterator[ShowOnTerminal]:
    """Start screens on terminals of their own; each is killed at the end, if it has not ended by itself."""
    yield from opening(TerminalScreen)
