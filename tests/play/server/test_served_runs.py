"""Trained runs on the server: offered for their game, played to the end, and nothing else of the disk is reached."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgi import InProcess
from web import Answer

from play.lab.training import Options, Training, new_run
from solver.errors import Ttt4Error
from solver.games.notation import parse_game


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has learned 3,3,3."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    train(folder, "3,3,3", 1_000)
    return folder


def train(folder: Path, game: str, episodes: int) -> None:
    run = new_run(str(folder), "q", parse_game(game), 1, episodes=episodes, every=episodes, options=Options())
    with run.held(), Training(run) as training:
        run.begin()
        training.train()


@pytest.fixture(scope="module")
def serving(learned: Path, tmp_path_factory: pytest.TempPathFactory, store4: Path) -> Iterator[InProcess]:
    """An application that serves that run."""
    with InProcess(tmp_path_factory.mktemp("state"), store=str(store4), runs=[str(learned)]) as served:
        yield served


def games(server: InProcess) -> dict[str, Any]:
    answer = server.get("/api/games")
    assert answer.status == 200
    return {game["name"]: game for game in answer.json}


def begun(server: InProcess, player: str, game: str = "3,3,3") -> Answer:
    return server.post("/api/matches", {"game": game, "players": {"O": player}})


def test_a_run_is_listed_for_its_game_alone_and_without_its_folder(serving: InProcess, learned: Path) -> None:
    listed = games(serving)
    assert listed["3,3,3"]["runs"] == ["run:tiny"]
    assert [name for name, game in listed.items() if "runs" in game] == ["3,3,3"]
    assert str(learned.parent) not in serving.get("/api/games").body.decode()


@pytest.mark.parametrize("side", ["X", "O"])
def test_a_match_against_a_run_is_played_to_its_end(side: str, serving: InProcess) -> None:
    now = serving.play_out(serving.begin("3,3,3", **{side: "run:tiny"}), side)
    assert now["outcome"]["winner"] in (side, None)  # it plays perfectly
    assert now["players"][side] == "run:tiny"
    assert [event["event"] for event in now["events"]] == ["moved"] * now["version"]


@pytest.mark.parametrize(
    "name",
    ["run:other", "run:/etc", "run:../x", "run:tiny/", "run:./tiny", "run:tiny/../tiny", "run:\x00", "run:tiny\n/x"],
)
def test_a_run_that_is_not_served_is_refused_and_nothing_is_read(name: str, serving: InProcess, learned: Path) -> None:
    answer = begun(serving, name)
    assert answer.error == (400, "bad-player")
    assert "is served: ttt4-play serve --run FOLDER serves one" in answer.json["message"]
    assert str(learned.parent) not in answer.body.decode()


def test_the_folder_of_a_run_is_no_name_of_it_and_other_games_are_refused(serving: InProcess, learned: Path) -> None:
    for answer in (begun(serving, f"run:{learned}"), begun(serving, "run:tiny", "4,4,4")):
        assert answer.error == (400, "bad-player")


def test_without_runs_no_game_lists_any_and_none_can_be_played(server: InProcess) -> None:
    assert not any("runs" in game for game in games(server).values())
    assert begun(server, "run:tiny").error == (400, "bad-player")


def test_a_run_of_a_game_that_is_not_offered_is_listed_with_its_game(
    serve: Callable[..., InProcess], tmp_path: Path, learned: Path
) -> None:
    train(tmp_path / "row", "1,5,3", 50)
    listed = games(serve(runs=[str(tmp_path / "row"), f"{learned}/"]))
    assert listed["1,5,3"]["runs"] == ["run:row"]
    assert listed["3,3,3"]["runs"] == ["run:tiny"]


def test_a_match_against_a_run_that_is_served_no_more_waits_and_goes_on_when_it_is_served_again(
    serve: Callable[..., InProcess], learned: Path
) -> None:
    server = serve(runs=[str(learned)])
    match = server.begin("3,3,3", O="run:tiny")
    server.settings["runs"] = []
    server.restart()
    assert server.move(match, "X", 0, "b2").status == 200
    server.run(said(server, f"match {match['id']} waits: learner 'run:tiny' is not served any more"))
    now = server.state_of(match)
    assert (now["version"], now["to_move"], now["outcome"]) == (1, "O", None)
    server.settings["runs"] = [str(learned)]
    server.restart()
    assert server.wait_for(match, 2)["events"][1]["side"] == "O"


async def said(server: InProcess, text: str) -> None:
    """Wait until the server has said something."""
    while text not in server.said:
        await asyncio.sleep(0)


@pytest.mark.parametrize("game", ["99,99,99", "nonsense", "nim:Nim"])
def test_a_run_of_a_game_that_cannot_be_served_is_refused_at_the_start(
    game: str, learned: Path, serve: Callable[..., InProcess], tmp_path: Path
) -> None:
    shutil.copytree(learned, tmp_path / "damaged")
    config = json.loads((learned / "config.json").read_text())
    (tmp_path / "damaged" / "config.json").write_text(json.dumps({**config, "game": game}))
    with pytest.raises(Ttt4Error, match=r"damaged/config.json' cannot be used \(.*train again"):
        serve(runs=[str(tmp_path / "damaged")])


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_folder_without_a_run_is_not_served(folder: str, serve: Callable[..., InProcess], tmp_path: Path) -> None:
    with pytest.raises(Ttt4Error, match="no run in "):
        serve(runs=[str(tmp_path / folder)])


def test_two_runs_of_one_name_are_not_served(serve: Callable[..., InProcess], tmp_path: Path, learned: Path) -> None:
    (tmp_path / "tiny").symlink_to(learned)
    with pytest.raises(Ttt4Error, match="two runs are called 'run:tiny': rename a folder"):
        serve(runs=[str(learned), str(tmp_path / "tiny")])
