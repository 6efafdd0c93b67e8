"""A game of three sides over HTTP: seats, machines, a side that leaves, agreement to take back, and what is refused."""

from typing import Any

import pytest
from asgi import InProcess
from web import Answer

THREE = "3p:3,3,3"
SIDES = "XOZ"


def step(server: InProcess, match: Any, what: str, side: str, version: int, **body: Any) -> Answer:
    sent = {"version": version, "id": f"{what} {side} {version} {body}", **body}
    return server.post(f"/api/matches/{match['id']}/{what}", sent, match["tokens"][side])


def state_of(server: InProcess, match: Any) -> Any:
    return server.get(f"/api/matches/{match['id']}").json


def played(server: InProcess, *steps: str) -> Any:
    """A match of three people after moves and resignations."""
    match = server.post("/api/matches", {"game": THREE}).json
    for version, what in enumerate(steps):
        side = state_of(server, match)["to_move"]
        answer = (
            step(server, match, "resign", what, version) if what in SIDES else server.move(match, side, version, what)
        )
        assert answer.status == 200, answer
    return match


def test_three_people_have_a_seat_each_and_move_in_turn(server: InProcess) -> None:
    match = played(server, "a1", "b2", "c3")
    assert list(match["tokens"]) == list(match["links"]["seats"]) == match["sides"] == ["X", "O", "Z"]
    assert match["players"] == dict.fromkeys(SIDES, "human")
    now = state_of(server, match)
    assert (now["state"], now["to_move"], now["result"]) == ("X../.O./..Z", "X", "*")
    assert server.move(match, "Z", 3, "a2").json["error"] == "refused-step"


def test_a_whole_game_ends_for_all_three(server: InProcess) -> None:
    match = played(server, "a1", "b1", "c1", "a2", "b2", "c2", "a3")
    now = state_of(server, match)
    assert (now["outcome"], now["result"]) == ({"winner": "X", "reason": "X completed a line"}, "1-0-0")
    assert (now["ending"], now["legal"], now["to_move"]) == (["a1", "a2", "a3"], [], None)


def test_one_that_resigns_leaves_and_the_others_play_on(server: InProcess) -> None:
    match = played(server, "a1", "O", "b1")
    now = state_of(server, match)
    assert (now["state"], now["to_move"], now["outcome"]) == ("XZ./.../... X XZ", "X", None)
    assert [event["side"] for event in now["events"]] == ["X", "O", "Z"]
    assert step(server, match, "resign", "O", 3).json["message"] == "O has left the game already"
    ended = step(server, match, "resign", "Z", 3).json
    assert (ended["outcome"], ended["legal"]) == ({"winner": "X", "reason": "the others have left"}, [])


def test_a_draw_names_those_that_have_no_part_in_it(server: InProcess) -> None:
    match = played(server, "Z", "a3", "a2", "b2", "c3", "a1", "c1", "c2", "b3", "b1")
    now = state_of(server, match)
    assert now["outcome"] == {"winner": None, "reason": "the board is full, and Z had left", "lost": ["Z"]}
    assert now["result"] == "1/2-1/2-0"


def test_all_others_have_to_agree_before_a_move_is_taken_back(server: InProcess) -> None:
    match = played(server, "a1", "b1")
    asked = step(server, match, "undo", "O", 2)
    assert (asked.status, asked.json["undo_asked_by"], asked.json["undo_waits_for"]) == (202, "O", ["X", "Z"])
    agreed = step(server, match, "undo", "Z", 2, agree=True)
    assert (agreed.status, agreed.json["undo_asked_by"], agreed.json["undo_waits_for"]) == (202, "O", ["X"])
    assert step(server, match, "undo", "Z", 2, agree=True, id="more").json["error"] == "no-offer"
    again = step(server, match, "undo", "O", 2, id="again")
    assert again.json["undo_waits_for"] == ["X"], "to ask twice does not undo an agreement"
    done = step(server, match, "undo", "X", 2, agree=True)
    assert (done.status, done.json["state"], done.json["to_move"]) == (200, "X../.../...", "O")
    assert state_of(server, match)["undo_waits_for"] == []


def test_one_of_them_can_decline(server: InProcess) -> None:
    match = played(server, "a1", "b1")
    step(server, match, "undo", "X", 2)
    step(server, match, "undo", "Z", 2, agree=True)
    declined = step(server, match, "undo", "O", 2, agree=False)
    assert (declined.status, declined.json["undo_asked_by"], declined.json["undo_waits_for"]) == (202, None, [])


def test_one_that_has_left_has_a_say_only_if_it_would_be_brought_back(server: InProcess) -> None:
    match = played(server, "a1", "Z", "b1", "c1")
    asked = step(server, match, "undo", "X", 4)
    assert asked.json["undo_waits_for"] == ["O"]
    assert step(server, match, "undo", "Z", 4, agree=False).json["error"] == "no-offer"
    assert step(server, match, "undo", "O", 4, agree=True).json["state"] == "XO./.../... X XO"
    asked = step(server, match, "undo", "X", 5)
    assert asked.json["undo_waits_for"] == ["O", "Z"], "before its first move Z was there"


def test_one_s_own_resignation_is_taken_back_if_all_agree(server: InProcess) -> None:
    match = played(server, "a1", "X")
    assert step(server, match, "undo", "X", 2).json["undo_waits_for"] == ["O", "Z"]
    step(server, match, "undo", "O", 2, agree=True)
    back = step(server, match, "undo", "Z", 2, agree=True).json
    assert (back["state"], back["to_move"]) == ("X../.../...", "O")


def test_in_a_rematch_each_takes_the_next_one_s_side(server: InProcess) -> None:
    match = played(server, "X", "O")
    seats = {side: server.post(f"/api/matches/{match['id']}/rematch", {}, match["tokens"][side]).json for side in SIDES}
    assert {side: list(seat["tokens"]) for side, seat in seats.items()} == {"X": ["O"], "O": ["Z"], "Z": ["X"]}
    assert len({seat["id"] for seat in seats.values()}) == 1


def test_two_machines_play_with_a_person_and_play_on_when_that_has_left(server: InProcess) -> None:
    match = server.post("/api/matches", {"game": "3p:4,4,3", "players": {"X": "rules", "Z": "mcts:20"}}).json
    assert (list(match["tokens"]), match["players"]) == (["O"], {"X": "rules", "O": "human", "Z": "mcts:20"})
    now = server.wait_for(match, 1)
    assert server.move(match, "O", 1, now["legal"][0]).status == 200
    now = server.wait_for(match, 4)
    assert [event["side"] for event in now["events"]] == ["X", "O", "Z", "X"]
    assert step(server, match, "resign", "O", 4).status == 200
    while not now["outcome"]:
        now = server.wait_for(match, now["version"] + 1)
    assert "O" not in [event["side"] for event in now["events"][5:]]


@pytest.mark.parametrize(
    ("body", "said"),
    [({"game": THREE, "players": {"T": "random"}}, "no side 'T': the sides are X, O, Z"),
     ({"game": THREE, "players": {"O": "oracle"}}, "of two sides have the player 'oracle', and 3p:3,3,3 has 3: its"),
     ({"game": THREE, "players": dict.fromkeys(SIDES, "random")}, "no seat is a person's"),
     ({"game": "3p:99,99,5"}, "has 9801 cells: at most 400 are served"),
     ({"game": "5p:3,3,3"}, "no game for 5 sides")],
)  # fmt: skip
def test_what_cannot_be_begun_is_refused_with_the_reason(body: Any, said: str, server: InProcess) -> None:
    answer = server.post("/api/matches", body)
    assert (answer.status, said in answer.json["message"]) == (400, True)


def test_what_needs_an_oracle_says_so(server: InProcess) -> None:
    match = played(server, "a1")
    for path in (
        f"/api/position?game={THREE}&board=...",
        f"/api/puzzle?game={THREE}",
        f"/api/matches/{match['id']}/review",
    ):
        answer = server.get(path)
        assert (answer.status, "only games of two sides have" in answer.json["message"]) == (400, True)


def test_the_game_is_listed_and_described(server: InProcess) -> None:
    (listed,) = [game for game in server.get("/api/games").json if "sides" in game]
    assert (listed["name"], listed["sides"], listed["cells"], listed["store"]) == (
        "3p:5,5,4",
        ["X", "O", "Z"],
        25,
        False,
    )
    game = server.get("/api/games/3p%3A5%2C5%2C4").json
    assert (game["name"], game["sides"], game["cell_names"][:2], len(game["lines"])) == (
        "3p:5,5,4",
        ["X", "O", "Z"],
        ["a1", "b1"],
        28,
    )
