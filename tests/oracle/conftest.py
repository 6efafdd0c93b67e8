"""What the oracle's tests share: a store of any small game."""

from collections.abc import Callable
from pathlib import Path

import pytest

from solver.games.notation import parse_game
from solver.proof.build import build_store


@pytest.fixture
def usual(home: Path) -> Path:
    """The usual place of stores, in which there is none."""
    (home / "data" / "ttt4").mkdir(parents=True)
    return home / "data" / "ttt4"


@pytest.fixture(scope="session")
def store_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The path of a game's store, built when first asked for."""
    folder, built = tmp_path_factory.mktemp("stores"), dict[str, Path]()
    shared = {"3,3,3": "store3", "4,4,4": "store4"}

    def store(name: str) -> Path:
        if name in shared:
            built[name] = request.getfixturevalue(shared[name])
        elif name not in built:
            built[name] = folder / f"{name}.ttt4"
            build_store(parse_game(name), built[name], jobs=2)
        return built[name]

    return store
