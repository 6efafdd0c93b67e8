"""What the tests of the lab share: runs that are trained once, copies of them to be damaged, and environments."""

import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from play.lab.runs import Run
from play.lab.training import Options, Training, new_run
from solver.games.notation import parse_game

Train = Callable[..., Run]


def _train(
    folder: Path, game: str = "3,3,3", player: str = "q", *, seed: int = 1, episodes: int = 400, every: int = 100,
    until: float | None = None, **options: Any,
) -> Run:  # fmt: skip
    run = new_run(
        str(folder), player, parse_game(game), seed,
        episodes=episodes, every=every, until=until, options=Options(**options),
    )  # fmt: skip
    with run.held(), Training(run) as training:
        run.begin()
        training.train()
    return run


@pytest.fixture(scope="session")
def train() -> Train:
    """Train a run to its end, in this process: by default q on 3,3,3, in 400 games with 4 checkpoints."""
    return _train


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of q on 3,3,3 that plays perfectly after 2,000 games; nobody writes to it."""
    return Path(_train(tmp_path_factory.mktemp("runs") / "tiny", episodes=2_000, every=500).folder)


@pytest.fixture
def copied(tiny: Path, tmp_path: Path) -> Path:
    """A copy of the run, in a folder of the test's own."""
    return Path(shutil.copytree(tiny, tmp_path / "copied"))


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of q on 2,3,3 that has played 20 of 40 games; nobody writes to it."""
    run = _train(tmp_path_factory.mktemp("runs") / "begun", "2,3,3", episodes=20, every=10)
    run.config["episodes"] = 40
    run.begin()
    return Path(run.folder)


@pytest.fixture
def cut_short(begun: Path, tmp_path: Path) -> Path:
    """A copy of the run, in a folder of the test's own."""
    return Path(shutil.copytree(begun, tmp_path / "cut short"))


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few positions for entropy and agreement, which are what takes longest in short trainings."""
    monkeypatch.setattr("play.lab.ntuple._ASKED", 100)
    monkeypatch.setattr("play.lab.training._IMAGES", 50)
    monkeypatch.setattr("play.lab.sampling._AT_ONCE", 1_000)


@pytest.fixture(scope="session")
def rl() -> Any:
    """The module of environments, loaded late, because it brings Gymnasium and PettingZoo with it."""
    return import_module("play.lab.env")
