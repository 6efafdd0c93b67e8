"""Matches over HTTP: begun, played, taken back, resigned, begun again and reviewed, and only by who sits there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgi import InProcess
from web import Answer

from oracle.oracle import Oracle
from play.records.json_form import record_as_dict, record_from_json
from play.review import review_match
from play.server.desk import review_dict
from solver.games.rules import Rules

PEOPLE = {"X": "human", "O": "human"}
AGAINST_MACHINE = {"X": "human", "O": "oracle"}
WON_BY_X = ["a1", "a2", "b1", "b2", "c1"]  # of 3,3,3
YES, NO = {"agree": True}, {"agree": False}
OWN_STANDING = ("version", "state", "to_move", "outcome")
WRONG = {"none": None, "empty": "", "foreign": "AAAAAAAAAAAAAAAAAAAAAAAA", "not ASCII": "\xff\xe9", "long": "A" * 4000}


def step(server: InProcess, match: Any, what: str, side: str, version: int, **body: Any) -> Answer:
    """Send a step of a side's, such as `undo`, by default with an id that follows from what it is."""
    sent = {"version": version, "id": f"{what} {side} {version}", **body}
    return server.post(f"/api/matches/{match['id']}/{what}", sent, match["tokens"][side])


# Beginning


def test_a_match_begins_at_version_0_with_a_token_for_each_seat_and_says_where_it_is(server: InProcess) -> None:
    answer = server.post("/api/matches", {"game": "3,3,3", "players": PEOPLE})
    match, here = answer.json, f"/api/matches/{answer.json['id']}"
    assert (answer.status, answer.headers["location"]) == (201, here)
    assert (match["version"], match["to_move"], match["players"], match["outcome"]) == (0, "X", PEOPLE, None)
    assert list(match["tokens"]) == ["X", "O"]
    assert len({*match["tokens"].values()}) == 2
    assert all(len(token) == 24 for token in match["tokens"].values())
    seats = {side: f"/match/{match['id']}#{side}.{token}" for side, token in match["tokens"].items()}
    assert match["links"] == {
        "match": here, "events": f"{here}/events", "watch": f"/match/{match['id']}", "seats": seats,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "game", "players"),
    [
        ({}, "4,4,4", PEOPLE),
        ({"game": "3,3,3", "players": {"X": " random "}}, "3,3,3", {"X": "random", "O": "human"}),
        ({"players": {"O": "oracle"}}, "4,4,4", {"X": "human", "O": "oracle"}),
    ],
)
def test_who_is_not_named_is_a_person_and_only_people_have_tokens(
    wish: Any, game: str, players: Any, server: InProcess
) -> None:
    match = server.post("/api/matches", wish).json
    people = [side for side in players if players[side] == "human"]
    assert (match["game"], match["players"]) == (game, players)
    assert list(match["tokens"]) == list(match["links"]["seats"]) == people


def test_no_two_matches_share_an_id_or_a_token(server: InProcess) -> None:
    begun = [server.begin("3,3,3") for _ in range(20)]
    assert len({match["id"] for match in begun}) == 20
    assert len({token for match in begun for token in match["tokens"].values()}) == 40


def test_a_match_can_begin_from_a_board(server: InProcess) -> None:
    match = server.post("/api/matches", {"game": "3,3,3", "board": "X../.O./..."}).json
    assert (match["board"], match["state"], match["version"]) == ("X../.O./...", "X../.O./...", 0)
    assert server.move(match, "X", 0, "b2").status == 400
    assert server.move(match, "X", 0, "c3").json["state"] == "X../.O./..X"


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ({"players": {"Z": "human"}}, "bad-side", "the sides are X, O"),
        ({"players": {"X": "random", "O": "oracle"}}, "bad-player", "at least one player be human"),
        ({"players": {"X": "me"}}, "bad-player", "no player 'me'"),
        ({"game": "15,15,5", "players": {"X": "gomocup:/bin/sh"}}, "bad-player", "not served"),
        ({"game": "mine:Game"}, "bad-game", "no game 'mine:Game' is served"),
        ({"game": "30,30,5", "players": {"O": "oracle:5"}}, "bad-player", "its players are human, random, rules"),
        ({"game": "3,3,3", "board": "XXX/OO./..."}, "bad-board", "is a finished game: X completed a line"),
        ({"game": "3,3,3", "board": "XXO/OOX/XXO"}, "bad-board", "is a finished game: the board is full"),
        ({"game": "3,3,3", "board": "XX./.../..."}, "bad-board", "XX./.../..."),
        ({"player": {}}, "bad-body", "unknown field `player`"),
    ],
)
def test_what_cannot_be_begun_is_refused_with_the_reason(body: Any, kind: str, said: str, server: InProcess) -> None:
    answer = server.post("/api/matches", body)
    assert answer.error == (400, kind)
    assert said in answer.json["message"]


# Moves


def test_a_move_is_answered_with_the_step_and_shown_to_everybody(server: InProcess) -> None:
    match = server.begin("3,3,3")
    taken = server.move(match, "X", 0, "b2").json
    now = server.state_of(match)
    assert (taken["event"], taken["side"], taken["move"], taken["version"]) == ("moved", "X", "b2", 1)
    assert now["events"] == [{name: taken[name] for name in ("event", "side", "move", "time")}]
    assert {name: taken[name] for name in OWN_STANDING} == {name: now[name] for name in OWN_STANDING}
    assert (now["state"], now["to_move"], now["moves"]) == (".../.X./...", "O", ["b2"])
    assert (taken["legal"], now["legal"]) == (["a1", "b1", "c1", "a2", "c2", "a3", "b3", "c3"],) * 2


def test_the_last_step_of_a_game_says_how_it_ended_and_on_which_cells(server: InProcess) -> None:
    match = server.begin("3,3,3")
    last = server.play(match, WON_BY_X)[-1]
    assert last["outcome"] == {"winner": "X", "reason": "X completed a line"}
    assert (last["to_move"], last["legal"], last["ending"]) == (None, [], ["a1", "b1", "c1"])
    assert server.state_of(match)["result"] == "1-0"
    assert server.move(match, "O", 5, "c3").error == (409, "refused-step")


@pytest.mark.parametrize("version", [0, 1, 3, 1_000_000])
def test_a_step_for_another_version_is_409_with_the_match_as_it_stands(version: int, server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["a1", "b2"])
    now = server.state_of(match)
    for what, side in (("moves", "X"), ("undo", "X"), ("resign", "O")):
        answer = step(server, match, what, side, version, **({"move": "c3"} if what == "moves" else {}))
        assert answer.error == (409, "stale-version")
        assert answer.json["match"] == now == server.state_of(match)


@pytest.mark.parametrize(
    ("side", "move", "expected"),
    [("O", "a1", 409), ("X", "b2", 400), ("X", "d4", 400), ("X", "", 400), ("X", "b2 b3", 400), ("X", "\x00", 400)],
)
def test_a_move_that_the_rules_refuse_changes_nothing(side: str, move: str, expected: int, server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["b2", "c3"])
    now = server.state_of(match)
    answer = server.move(match, side, 2, move)
    assert answer.error[0] == expected
    assert side == "X" or "it is X's turn, not O's" in answer.json["message"], "a token moves for its own side alone"
    assert server.state_of(match) == now


# Retries


def test_a_repeated_id_gets_the_same_bytes_and_makes_no_second_move_even_after_later_moves(server: InProcess) -> None:
    match = server.begin("3,3,3")
    first = server.move(match, "X", 0, "a1", "mine")
    assert server.move(match, "X", 0, "a1", "mine")[::2] == first[::2]
    play_on = server.move(match, "O", 1, "b2", "mine")
    assert (play_on.status, play_on.json["move"]) == (200, "b2"), "the other player may use the same id"
    server.move(match, "X", 2, "c3", "next")
    now = server.state_of(match)
    for version in (0, 3, 99):
        again = server.move(match, "X", version, "a1", "mine")
        assert (again.status, again.body) == (200, first.body)
    assert server.state_of(match) == now


def test_an_id_that_was_used_for_another_step_is_refused(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.move(match, "X", 0, "a1", "mine")
    server.move(match, "O", 1, "b2")
    assert server.move(match, "X", 2, "c3", "mine").error == (409, "id-reused")
    for what in ("undo", "resign"):
        assert step(server, match, what, "X", 2, id="mine").error == (409, "id-reused")
    assert server.state_of(match)["version"] == 2


def test_an_id_whose_step_was_refused_may_be_used_again(server: InProcess) -> None:
    match = server.begin("3,3,3")
    assert server.move(match, "X", 0, "z9", "mine").status == 400
    assert server.move(match, "X", 7, "a1", "mine").status == 409
    assert server.move(match, "X", 0, "a1", "mine").json["version"] == 1


def test_the_match_and_the_answers_to_repeated_ids_outlive_a_kill(serve: Callable[..., InProcess]) -> None:
    server = serve()
    match, machine = server.begin("3,3,3"), server.begin("3,3,3", **AGAINST_MACHINE)
    first = server.move(match, "X", 0, "a1", "mine")
    server.move(match, "O", 1, "b2")
    server.move(machine, "X", 0, "b2")
    server.wait_for(machine, 2)
    undone = step(server, machine, "undo", "X", 2)
    resigned = step(server, match, "resign", "O", 2)
    assert undone.status == resigned.status == 200
    before = [server.state_of(each) for each in (match, machine)]
    for _ in range(2):
        assert server.move(match, "X", 0, "a1", "mine").body == first.body
        assert step(server, machine, "undo", "X", 2).body == undone.body
        assert step(server, match, "resign", "O", 2).body == resigned.body
        assert [server.state_of(each) for each in (match, machine)] == before
        server.restart()


# Seats


def test_without_the_seat_s_own_token_nothing_can_be_changed(server: InProcess) -> None:
    match, other = server.begin(**AGAINST_MACHINE), server.begin(**AGAINST_MACHINE)
    now = server.state_of(match)
    tokens = {**WRONG, "another match's": other["tokens"]["X"], "cut": match["tokens"]["X"][:-1]}
    for why, token in tokens.items():
        for what in ("moves", "undo", "resign", "rematch"):
            body = {"version": 0, "id": "a", **({"move": "a1"} if what == "moves" else {})}
            kind = "wrong-token" if token else "no-token"
            answer = server.post(f"/api/matches/{match['id']}/{what}", body, token)
            assert answer.error == (401, kind), (why, what)
    assert server.state_of(match) == now


def test_the_token_is_of_no_use_outside_the_header(server: InProcess) -> None:
    match = server.begin("3,3,3")
    path, token = f"/api/matches/{match['id']}/moves", match["tokens"]["X"]
    body = {"version": 0, "id": "a", "move": "a1"}
    assert server.post(f"{path}?token={token}", body).status == 400
    assert server.post(path, body, Cookie=f"token={token}").status == 401
    assert server.post(path, {**body, "token": token}).status == 401
    assert server.ask("POST", path, body, Authorization=token.join(("Basic ", ""))).status == 401
    assert server.state_of(match)["version"] == 0


def test_tokens_appear_only_in_the_answer_that_gives_them(serve: Callable[..., InProcess]) -> None:
    server = serve()
    match = server.begin("3,3,3")
    server.play(match, WON_BY_X)
    next_one = server.post(f"/api/matches/{match['id']}/rematch", {}, match["tokens"]["X"]).json
    here = f"/api/matches/{match['id']}"
    server.post(f"{here}/moves", b"{", match["tokens"]["X"])
    server.post(f"{here}/nothing", {}, match["tokens"]["X"])
    shown = [server.get(path).body for path in (here, f"{here}/review", f"/api/matches/{next_one['id']}")]
    shown += [step(server, match, "undo", "X", 5).body, server.move(match, "X", 0, "a1").body]
    said = b"".join(shown) + server.said.encode()
    kept = b"".join(path.read_bytes() for path in server.file.parent.iterdir())
    for token in (*match["tokens"].values(), *next_one["tokens"].values()):
        assert token.encode() not in said
        assert token.encode() not in kept, "tokens follow from the match's key, and are not kept"


# Taking back


def test_against_a_machine_undo_takes_back_at_once_to_one_s_own_move(server: InProcess) -> None:
    match = server.begin(**AGAINST_MACHINE)
    server.play(match, ["b2"])
    server.wait_for(match, 2)
    answer = step(server, match, "undo", "X", 2)
    now = server.state_of(match)
    assert (answer.status, answer.json["version"], answer.json["event"]) == (200, 4, "took back")
    assert (now["version"], now["moves"], now["to_move"]) == (4, [], "X")
    assert [event["event"] for event in now["events"]] == ["moved", "moved", "took back", "took back"]


def test_a_lost_game_against_a_machine_can_be_taken_back_too(server: InProcess) -> None:
    match = server.begin(**AGAINST_MACHINE)
    step(server, match, "resign", "X", 0)
    assert server.state_of(match)["outcome"]["winner"] == "O"
    assert step(server, match, "undo", "X", 1).json["to_move"] == "X"
    assert server.move(match, "X", 2, "b2").status == 200


def test_undo_is_refused_when_there_is_nothing_to_take_back(server: InProcess) -> None:
    alone, both = server.begin(O="oracle"), server.begin("3,3,3")
    second = server.begin(X="oracle")
    server.wait_for(second, 1)
    server.play(both, ["a1"])
    for match, side, version in ((alone, "X", 0), (second, "O", 1), (both, "O", 1)):
        before = server.state_of(match)
        assert step(server, match, "undo", side, version).error == (409, "refused-step")
        assert server.state_of(match) == before


def test_between_people_undo_asks_and_the_other_one_agrees(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["a1", "b2"])
    asked = step(server, match, "undo", "X", 2)
    assert (asked.status, asked.json["undo_asked_by"], asked.json["version"]) == (202, "X", 2)
    assert server.state_of(match) == asked.json
    agreed = step(server, match, "undo", "O", 2, agree=True)
    assert (agreed.status, agreed.json["state"], agreed.json["to_move"]) == (200, ".../.../...", "X")
    assert server.state_of(match)["undo_asked_by"] is None
    assert step(server, match, "undo", "O", 2, agree=True).body == agreed.body


def test_who_asks_gets_his_own_last_move_back_whoever_moved_since(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["a1", "b2", "c3"])
    step(server, match, "undo", "O", 3)
    agreed = step(server, match, "undo", "X", 3, agree=True).json
    assert (agreed["state"], agreed["to_move"], agreed["version"]) == ("X../.../...", "O", 5)


OFFERS: dict[str, list[tuple[str, Any, int, str | None]]] = {
    "who asks twice does not agree with himself": [("X", {}, 202, "X"), ("X", {"id": "again"}, 202, "X")],
    "two who ask at once have not agreed": [("X", {}, 202, "X"), ("O", {}, 409, "X")],
    "a declined offer is gone": [("X", {}, 202, "X"), ("O", NO, 202, None), ("O", {**YES, "id": "late"}, 409, None)],
    "a retry does not make it again": [("X", {}, 202, "X"), ("O", NO, 202, None), ("X", {}, 202, None)],
    "who asked may withdraw": [("X", {}, 202, "X"), ("X", {**NO, "id": "no"}, 202, None), ("O", {}, 202, "O")],
}


@pytest.mark.parametrize("steps", OFFERS.values(), ids=OFFERS.keys())
def test_nothing_is_taken_back_unless_the_other_one_agrees(steps: list[Any], server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["a1", "b2"])
    for side, more, status, asker in steps:
        answer = step(server, match, "undo", side, 2, **more)
        now = server.state_of(match)
        assert (answer.status, now["version"], now["undo_asked_by"]) == (status, 2, asker)
        if status == 202:
            assert answer.json == now
        else:
            assert answer.error[1] == ("no-offer" if more else "asked-already")


def test_an_offer_lapses_with_the_next_move(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["a1", "b2"])
    step(server, match, "undo", "O", 2)
    server.move(match, "X", 2, "c3")
    assert server.state_of(match)["undo_asked_by"] is None
    assert step(server, match, "undo", "X", 2).error == (409, "stale-version")
    assert step(server, match, "undo", "X", 3).status == 202
    assert server.state_of(match)["version"] == 3


# Ends


@pytest.mark.parametrize("side", ["X", "O"])
def test_either_side_may_resign_at_any_time_and_once(side: str, server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["a1"])
    answer = step(server, match, "resign", side, 1)
    winner = {"X": "O", "O": "X"}[side]
    assert (answer.status, answer.json["outcome"]) == (200, {"winner": winner, "reason": f"{side} resigned"})
    assert (answer.json["legal"], answer.json["to_move"]) == ([], None)
    for what, body in (("resign", {}), ("moves", {"move": "b2"})):
        assert step(server, match, what, winner, 2, **body).error == (409, "refused-step")
    assert server.state_of(match)["version"] == 2


def test_a_rematch_swaps_sides_and_both_players_get_to_it_with_tokens_of_their_own(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, WON_BY_X)
    path = f"/api/matches/{match['id']}/rematch"
    first, second = (server.post(path, {}, match["tokens"][side]) for side in "OX")
    assert (first.status, second.status) == (201, 201)
    assert first.json["id"] == second.json["id"] == server.state_of(match)["rematch"] != match["id"]
    assert (list(first.json["tokens"]), list(second.json["tokens"])) == (["X"], ["O"])
    both = {"id": first.json["id"], "tokens": {**first.json["tokens"], **second.json["tokens"]}}
    server.play(both, ["a1", "b2"])
    assert server.post(path, {}, match["tokens"]["O"]).json["version"] == 2, "who comes back finds it"


def test_a_rematch_with_a_machine_lets_it_have_the_other_side(server: InProcess) -> None:
    match = server.begin(X="human", O="oracle")
    step(server, match, "resign", "X", 0)
    again = server.post(f"/api/matches/{match['id']}/rematch", {}, match["tokens"]["X"]).json
    assert (again["players"], list(again["tokens"])) == ({"X": "oracle", "O": "human"}, ["O"])
    assert server.wait_for(again, 1)["to_move"] == "O"


def test_both_players_who_ask_for_a_rematch_at_once_get_to_the_same_match(server: InProcess) -> None:
    match = server.begin("3,3,3")
    step(server, match, "resign", "X", 0)
    path = f"/api/matches/{match['id']}/rematch"
    answers = server.together(*(server.asking("POST", path, {}, match["tokens"][side]) for side in "XOXOXO"))
    assert {answer.status for answer in answers} == {201}
    assert len({answer.json["id"] for answer in answers}) == 1
    assert len({json.dumps(answer.json["tokens"]) for answer in answers}) == 2


def test_a_rematch_begins_from_the_same_board_and_is_still_known_after_a_kill(serve: Callable[..., InProcess]) -> None:
    server = serve()
    match = server.post("/api/matches", {"game": "3,3,3", "board": "X../.O./..."}).json
    step(server, match, "resign", "X", 0)
    path = f"/api/matches/{match['id']}/rematch"
    again = server.post(path, {}, match["tokens"]["X"]).json
    assert again["board"] == again["state"] == "X../.O./..."
    server.restart()
    assert server.state_of(match)["rematch"] == again["id"]
    assert server.post(path, {}, match["tokens"]["O"]).json["id"] == again["id"]


def test_there_is_no_rematch_of_a_match_that_goes_on(server: InProcess) -> None:
    match = server.begin("3,3,3")
    answer = server.post(f"/api/matches/{match['id']}/rematch", {}, match["tokens"]["X"])
    assert answer.error == (409, "not-over")
    assert server.state_of(match)["rematch"] is None


# What can be read


@pytest.mark.parametrize(
    ("game", "moves", "turning_point"),
    [
        ("4,4,4", ["a1", "d4", "b1", "c4", "c1", "a2", "d1"], 6),  # O let X complete the row
        ("3,3,3", WON_BY_X, 2),  # there is no store
        ("4,4,4", [], None),
    ],
)
def test_the_review_is_that_of_play_review(
    game: str, moves: list[str], turning_point: int | None, server: InProcess, store4: Path
) -> None:
    match = server.begin(game)
    server.play(match, moves)
    answer = server.get(f"/api/matches/{match['id']}/review")
    with Oracle(game, str(store4)) if game == "4,4,4" else Oracle(game, live=True) as oracle:
        record = record_from_json(server.get(f"/api/matches/{match['id']}").body.decode())
        assert answer.json == json.loads(json.dumps(review_dict(review_match(oracle, record.match))))
    assert (answer.status, answer.json["turning_point"]) == (200, turning_point)


def test_a_game_too_large_to_solve_is_reviewed_by_estimates_and_one_in_between_is_not(brisk: InProcess) -> None:
    large = brisk.begin("15,15,5")
    brisk.play(large, ["h8", "a1"])
    answer = brisk.get(f"/api/matches/{large['id']}/review")
    assert (answer.status, answer.json["exact"], len(answer.json["moves"])) == (200, False, 2)
    between = brisk.begin("5,5,4")
    assert brisk.get(f"/api/matches/{between['id']}/review").error == (409, "no-store")


def test_at_every_step_the_match_is_a_record_that_can_be_read_and_that_says_the_same(server: InProcess) -> None:
    match = server.begin("3,3,3")
    steps = [
        ("moves", "X", "a1"), ("moves", "O", "b2"), ("undo", "O", ""), ("agree", "X", ""), ("moves", "O", "c3"),
        ("moves", "X", "a2"), ("resign", "X", ""), ("undo", "X", ""), ("agree", "O", ""), ("moves", "O", "b2"),
        ("moves", "X", "a3"),
    ]  # fmt: skip
    for number, (what, side, move) in enumerate(steps):
        version = server.state_of(match)["version"]
        more = {"move": move} if move else {"agree": True} if what == "agree" else {}
        answer = step(server, match, "undo" if what == "agree" else what, side, version, id=str(number), **more)
        assert answer.status in (200, 202)
        whole = server.get(f"/api/matches/{match['id']}")
        record = record_from_json(whole.body.decode())
        read = record_as_dict(record)
        assert read == {name: whole.json[name] for name in read}
        assert record.match.rules.encode(record.match.state) == whole.json["state"]
        if answer.status == 200:
            assert {name: answer.json[name] for name in OWN_STANDING} == {name: read[name] for name in OWN_STANDING}
    assert whole.json["outcome"]["winner"] == "X"


# Machines


@pytest.mark.parametrize("name", ["oracle", "oracle:3", "first", "rules", "random", "search"])
@pytest.mark.parametrize("side", ["X", "O"])
def test_a_machine_moves_by_itself_until_the_end(side: str, name: str, server: InProcess) -> None:
    now = server.play_out(server.begin("3,3,3", **{side: name}), side)
    assert [event["side"] for event in now["events"]] == list("XOXOXOXOX"[: now["version"]])


def thinking(server: InProcess) -> Any:
    """Begin a match in which O, a machine, thinks until `searching` is set."""
    server.searching.clear()
    match = server.begin("3,3,3", O="search")
    assert server.move(match, "X", 0, "b2").status == 200
    return match


def test_a_machine_that_was_to_move_when_the_server_was_killed_moves_when_somebody_asks(
    serve: Callable[..., InProcess],
) -> None:
    server = serve()
    match = thinking(server)
    server.restart()
    assert server.state_of(match)["version"] == 1
    assert server.wait_for(match, 2)["events"][1]["side"] == "O"


def test_look_ups_and_machines_with_a_store_do_not_wait_for_those_that_search(
    serve: Callable[..., InProcess], store4: Path
) -> None:
    server = serve(store=str(store4))
    searching = [thinking(server) for _ in range(6)]
    quick = server.begin(O="oracle")
    server.move(quick, "X", 0, "b2")
    assert server.wait_for(quick, 2)["to_move"] == "X"
    assert server.get("/api/position?board=X.../.O../..../....").status == 200
    assert {server.state_of(match)["version"] for match in searching} == {1}
    server.searching.set()
    assert {server.wait_for(match, 2)["to_move"] for match in searching} == {"X"}


def test_what_a_machine_thought_of_is_dropped_if_its_turn_was_taken_back_meanwhile(
    serve: Callable[..., InProcess],
) -> None:
    server = serve()
    match = thinking(server)
    assert step(server, match, "undo", "X", 1).json["version"] == 2
    server.move(match, "X", 2, "a1")
    server.searching.set()
    now = server.wait_for(match, 4)
    assert [event["event"] for event in now["events"]] == ["moved", "took back", "moved", "moved"]
    assert (now["to_move"], len(now["moves"])) == ("X", 2)


# A game of the operator's own


def test_a_game_of_the_operator_s_own_is_played_between_two_people(
    serve: Callable[..., InProcess], nim: Rules[Any]
) -> None:
    server = serve(own=[nim])
    match = server.begin("nim:Nim")
    assert (match["state"], match["legal"]) == ("7 X", ["1", "2", "3"])
    assert server.move(match, "X", 0, "4").error == (400, "refused-step")
    assert server.move(match, "X", 0, "b2").error == (400, "bad-board")
    server.play(match, ["3", "1", "2"])
    server.restart()
    last = server.move(match, "O", 3, "1").json
    assert (last["outcome"], last["state"], last["ending"]) == ({"winner": "O", "reason": "O took the last"}, "0 X", [])
    again = server.post(f"/api/matches/{match['id']}/rematch", {}, match["tokens"]["O"]).json
    assert (again["game"], list(again["tokens"])) == ("nim:Nim", ["X"])


def test_in_a_game_of_the_operator_s_own_the_one_machine_is_random(
    serve: Callable[..., InProcess], nim: Rules[Any]
) -> None:
    server = serve(own=[nim])
    match = server.begin("nim:Nim", X="random")
    assert server.wait_for(match, 1)["to_move"] == "O"
    for name in ("oracle", "search", "rules", "first"):
        answer = server.post("/api/matches", {"game": "nim:Nim", "players": {"X": name}})
        assert answer.error == (400, "bad-player")
    assert server.get(f"/api/matches/{match['id']}/review").error == (400, "bad-game")
