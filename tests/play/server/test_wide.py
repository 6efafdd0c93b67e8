"""Matches on wide boards over HTTP: what is sent follows the stones, and not the cells."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from asgi import InProcess
from web import Event

from play.match import Match
from play.records.json_form import record_from_json
from play.server.worker import Worker
from solver.games.registry import find_game
from solver.games.wide import EmptyCells, WideRules

MILLION = "1000,1000,5"
WON_BY_X = ["sg500", "a1", "sh500", "c3", "si500", "e5", "sj500", "g7", "sk500"]


def play(server: InProcess, match: Any, moves: list[str]) -> list[Any]:
    """Make moves by turns, and return the steps."""
    answers = [server.move(match, "XO"[at % 2], at, move) for at, move in enumerate(moves)]
    assert {answer.status for answer in answers} == {200}
    return [answer.json for answer in answers]


def test_a_game_is_what_it_is_without_its_cells(server: InProcess) -> None:
    assert server.get(f"/api/games/{MILLION}").json == {
        "name": MILLION, "rows": 1000, "columns": 1000, "cells": 1_000_000, "misere": False, "sides": ["X", "O"],
        "store": None,
    }  # fmt: skip


def test_a_match_has_a_state_of_stones_and_its_steps_have_only_what_has_changed(server: InProcess) -> None:
    match = server.begin(MILLION)
    assert (match["state"], match["to_move"], "legal" in match) == ("1000000", "X", False)
    following = server.follow(match)
    following.some(1)
    steps = play(server, match, WON_BY_X)
    assert following.some(9) == [Event("step", number, step) for number, step in enumerate(steps, 1)]
    following.close()
    for version, step in enumerate(steps[:-1], 1):
        assert list(step) == ["version", "event", "side", "move", "time", "to_move", "outcome", "ending"]
        assert (step["version"], step["outcome"], step["ending"]) == (version, None, [])
    assert steps[-1]["outcome"] == {"winner": "X", "reason": "X completed a line"}
    assert steps[-1]["ending"] == ["sg500", "sh500", "si500", "sj500", "sk500"]
    whole = server.get(f"/api/matches/{match['id']}").json
    rules = find_game(MILLION)
    assert whole["moves"] == WON_BY_X
    assert rules.decode(whole["state"]) == record_from_json(json.dumps(whole)).match.state


def test_a_step_is_as_short_after_2000_moves_as_after_one(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    monkeypatch.delattr(EmptyCells, "__iter__")
    match, rng = served.begin(MILLION), random.Random(1)
    live = served.app.api.matches.find(match["id"])
    for version, cell in enumerate(rng.sample(range(1_000_000), 2000)):
        event = {"event": "moved", "side": "XO"[version % 2], "move": live.rules.write(cell)}
        live.publish([json.dumps(event).encode()])
    assert max(map(len, live.steps)) < 200
    assert len(live.whole) < 2000 * 150


def test_what_is_refused_in_a_step_changes_nothing(server: InProcess) -> None:
    match = server.begin(MILLION)
    play(server, match, ["all1000"])
    for move, kind in (("all1000", "refused-step"), ("alm1", "bad-board"), ("a1001", "bad-board")):
        answer = server.move(match, "O", 1, move)
        assert (answer.status, answer.json["error"]) == (400, kind)
    assert server.get(f"/api/matches/{match['id']}").json["version"] == 1


def test_a_machine_moves_at_once_without_a_worker(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Worker, "ask")
    served = serve()
    for who in ("random", "rules", "oracle:0", "oracle:4"):
        match = served.begin(MILLION, O=who)
        following = served.follow(match)
        following.some(1)
        assert served.move(match, "X", 0, "sg500").status == 200
        mine, reply = following.some(2)
        assert (mine.data["move"], reply.data["side"]) == ("sg500", "O")
        following.close()


def test_a_move_is_taken_back_and_another_made(server: InProcess) -> None:
    match = server.begin(MILLION, O="rules")
    following = server.follow(match)
    following.some(1)
    server.move(match, "X", 0, "sg500")
    following.some(2)
    body = {"version": 2, "id": "back"}
    assert server.post(f"/api/matches/{match['id']}/undo", body, match["tokens"]["X"]).status == 200
    following.some(2)
    assert server.move(match, "X", 4, "b2").status == 200
    following.some(2)
    following.close()
    whole = server.get(f"/api/matches/{match['id']}").json
    assert (whole["moves"][0], len(whole["moves"])) == ("b2", 2)


def test_a_match_is_found_again_after_a_restart(serve: Callable[..., InProcess]) -> None:
    served = serve()
    match = served.begin(MILLION)
    play(served, match, WON_BY_X[:5])
    before = served.get(f"/api/matches/{match['id']}").json
    served.app.api.matches._loaded.clear()
    assert served.get(f"/api/matches/{match['id']}").json == before


def test_a_match_begins_from_a_board_of_stones(server: InProcess) -> None:
    begun = server.post("/api/matches", {"game": MILLION, "board": "X999O998999"})
    assert (begun.status, begun.json["state"], begun.json["to_move"]) == (201, "X999O998999", "X")
    refused = server.post("/api/matches", {"game": MILLION, "board": "X"})
    assert (refused.status, refused.json["error"]) == (400, "bad-board")


@pytest.mark.parametrize("player", ["oracle", "oracle:5", "first", "search", "mcts:10"])
def test_a_player_that_needs_more_is_refused(player: str, server: InProcess) -> None:
    answer = server.post("/api/matches", {"game": MILLION, "players": {"O": player}})
    assert (answer.status, answer.json["error"]) == (400, "bad-player")
    assert "its players are human, random, rules, oracle:0 to oracle:4" in answer.json["message"]


def test_there_is_no_review(server: InProcess) -> None:
    match = server.begin(MILLION)
    answer = server.get(f"/api/matches/{match['id']}/review")
    assert (answer.status, answer.json["error"]) == (400, "bad-game")


def test_the_rules_of_a_match_are_those_of_wide_boards() -> None:
    assert isinstance(Match(find_game(MILLION)).rules, WideRules)
