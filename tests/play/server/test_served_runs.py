"""Trained runs on the server: offered for their game, played to the end, and nothing else of the disk is reached."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from web import Answer, Served

from play.lab.training import Options, Training, new_run
from play.server.allowance import Allowance
from play.server.documented import OPERATIONS
from play.server.openapi import document
from solver.games.notation import parse_game


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has learned 3,3,3."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    run = new_run(str(folder), "q", parse_game("3,3,3"), 1, episodes=1_000, every=1_000, options=Options())
    with run.held(), Training(run) as training:
        run.begin()
        training.train()
    return folder


@pytest.fixture(scope="module")
def serving(learned: Path, tmp_path_factory: pytest.TempPathFactory, store4: Path) -> Iterator[Served]:
    """A server of that run."""
    with Served(tmp_path_factory.mktemp("state"), "--run", str(learned), TTT4_STORE=str(store4)) as served:
        yield served


def games(server: Served) -> dict[str, Any]:
    answer = server.get("/api/games")
    assert answer.status == 200
    return {game["name"]: game for game in answer.json}


def state_of(server: Served, match: Any) -> Any:
    return server.get(f"/api/matches/{match['id']}").json


def begun(server: Served, player: str, game: str = "3,3,3") -> Answer:
    return server.post("/api/matches", {"game": game, "players": {"O": player}})


def test_a_run_is_listed_for_its_game_alone_and_without_its_folder(serving: Served, learned: Path) -> None:
    listed = games(serving)
    assert listed["3,3,3"]["runs"] == ["run:tiny"]
    assert [name for name, game in listed.items() if "runs" in game] == ["3,3,3"]
    assert str(learned.parent) not in serving.get("/api/games").body.decode()


def test_the_list_has_the_shape_that_the_document_says(serving: Served) -> None:
    described = serving.get("/api/openapi.json").json
    assert described == json.loads(document(OPERATIONS, Allowance()))
    schema = described["paths"]["/api/games"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    validator = jsonschema_rs.validator_for({**schema, "components": described["components"]})
    listed = serving.get("/api/games").json
    validator.validate(listed)
    assert not validator.is_valid([{**game, "runs": "run:tiny"} for game in listed])


@pytest.mark.parametrize("side", ["X", "O"])
def test_a_match_against_a_run_is_played_to_its_end(side: str, serving: Served) -> None:
    other = {"X": "O", "O": "X"}[side]
    match = serving.begin("3,3,3", **{side: "run:tiny"})
    now = state_of(serving, match)
    while not now["outcome"]:
        if now["to_move"] == side:
            now = serving.wait_for(match, now["version"] + 1, within=60)
            assert now["events"][-1]["side"] == side
        else:
            assert serving.move(match, other, now["version"], now["legal"][-1]).status == 200
            now = state_of(serving, match)
    assert now["outcome"]["winner"] in (side, None)  # it plays perfectly
    assert now["players"][side] == "run:tiny"
    assert [event["event"] for event in now["events"]] == ["moved"] * now["version"]


@pytest.mark.parametrize(
    "name",
    ["run:other", "run:/etc", "run:../x", "run:tiny/", "run:./tiny", "run:tiny/../tiny", "run:\x00", "run:tiny\n/x"],
)
def test_a_run_that_is_not_served_is_refused_and_nothing_is_read(name: str, serving: Served, learned: Path) -> None:
    answer = begun(serving, name)
    assert (answer.status, answer.json["error"]) == (400, "bad-player")
    assert "is served: ttt4-play serve --run FOLDER serves one" in answer.json["message"]
    assert str(learned.parent) not in answer.body.decode()


def test_the_folder_of_a_run_that_is_served_is_no_name_of_it(serving: Served, learned: Path) -> None:
    assert begun(serving, f"run:{learned}").status == 400


def test_a_match_of_another_game_than_the_run_has_learned_is_refused(serving: Served) -> None:
    answer = begun(serving, "run:tiny", "4,4,4")
    assert (answer.status, answer.json.get("error")) == (400, "bad-player")


def test_without_runs_no_game_lists_any_and_none_can_be_played(server: Served) -> None:
    assert not any("runs" in game for game in games(server).values())
    answer = begun(server, "run:tiny")
    assert (answer.status, answer.json["error"]) == (400, "bad-player")


def test_a_run_of_a_game_that_is_not_offered_is_listed_with_its_game(
    serve: Callable[..., Served], tmp_path: Path, learned: Path
) -> None:
    run = new_run(str(tmp_path / "row"), "q", parse_game("1,5,3"), 1, episodes=50, every=50, options=Options())
    with run.held(), Training(run) as training:
        run.begin()
        training.train()
    listed = games(serve("--run", str(tmp_path / "row"), "--run", f"{learned}/"))
    assert listed["1,5,3"]["runs"] == ["run:row"]
    assert listed["3,3,3"]["runs"] == ["run:tiny"]


def test_a_match_against_a_run_that_is_served_no_more_waits_and_goes_on_when_it_is_served_again(
    serve: Callable[..., Served], learned: Path
) -> None:
    server = serve("--run", str(learned))
    match, with_run = server.begin("3,3,3", O="run:tiny"), server.options
    server.options = ()
    server.restart()
    assert server.move(match, "X", 0, "b2").status == 200
    wait_until(lambda: f"match {match['id']} waits: learner 'run:tiny' is not served any more" in server.said)
    now = state_of(server, match)
    assert (now["version"], now["to_move"], now["outcome"]) == (1, "O", None)
    server.options = with_run
    server.restart()
    assert server.wait_for(match, 2, within=60)["events"][1]["side"] == "O"


def wait_until(true: Callable[[], bool], within: float = 10.0) -> None:
    ends = time.monotonic() + within
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.parametrize("game", ["99,99,99", "nonsense", "nim:Nim"])
def test_a_run_of_a_game_that_is_not_served_hides_no_other_game(
    game: str, learned: Path, serve: Callable[..., Served], tmp_path: Path
) -> None:
    shutil.copytree(learned, tmp_path / "damaged")
    config = json.loads((learned / "config.json").read_text())
    (tmp_path / "damaged" / "config.json").write_text(json.dumps({**config, "game": game}))
    server = None
    with suppress(AssertionError):  # it may be refused at once
        server = serve("--run", str(tmp_path / "damaged"))
    assert server is None or server.get("/api/games").status == 200
    assert "Traceback" not in (tmp_path / "state" / "server.log").read_text()


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_folder_without_a_run_is_not_served(folder: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no address in ''") as refused:
        Served(tmp_path / "state", "--run", str(tmp_path / folder))
    assert "Error: no run in " in str(refused.value)
    assert "Traceback" not in str(refused.value)


def test_two_runs_of_one_name_are_not_served(tmp_path: Path, learned: Path) -> None:
    (tmp_path / "tiny").symlink_to(learned)
    with pytest.raises(AssertionError, match="two runs are called 'run:tiny': rename a folder"):
        Served(tmp_path / "state", "--run", str(learned), "--run", str(tmp_path / "tiny"))
