"""The OpenAPI document: it lists what is served, its examples work, and all that is answered has the shape it says."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from asgi import InProcess
from documented import DOCUMENT
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3 import HTTPResponse

from play.server.documented import OPERATIONS

METHODS = ["get", "head", "post", "put", "delete", "patch"]

# The document says of games, boards and moves that they are texts; which texts are games, which boards a game reaches
# and which moves it has, no schema can say. So these operations may answer 400 to what the document allows.
CHOOSY = {"position", "positions", "game", "puzzle", "begin", "move", "undo", "resign", "make_move"}


@pytest.fixture(scope="module")
def schema() -> Any:
    """The document as schemathesis reads it."""
    import schemathesis

    schema = schemathesis.openapi.from_dict(DOCUMENT)
    rejection = schema.config.checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]  # what is wrong may be too large as well
    return schema


class Adapter(BaseAdapter):
    """The way of `requests` to an application in this process."""

    def __init__(self, served: InProcess) -> None:
        super().__init__()
        self.served = served

    def send(self, request: PreparedRequest, *more: Any, **named: Any) -> Response:
        body = request.body or b""
        data = body if isinstance(body, bytes) else str(body).encode()
        headers = {
            name: str(value, "latin-1") if isinstance(value, bytes) else value
            for name, value in request.headers.items()
        }
        answer = self.served.run(self.served.sending(request.method or "", request.path_url, headers, data))
        raw = HTTPResponse(BytesIO(answer.body), answer.headers, answer.status, preload_content=False)
        return HTTPAdapter().build_response(request, raw)

    def close(self) -> None:
        """Leave the application as it is."""


@pytest.fixture
def asked(serve: Callable[..., InProcess], store4: Path, monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """An application with the store of 4,4,4, which all that schemathesis asks goes to, and which searches briefly."""
    served = serve(store=str(store4), seconds=0.01)
    monkeypatch.setattr(Session, "get_adapter", lambda session, url: Adapter(served))
    return served


def listed() -> Iterator[tuple[str, str, Any]]:
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            yield path, method, operation


def test_the_document_is_what_the_server_says_it_is(server: InProcess) -> None:
    answer = server.get("/api/openapi.json")
    assert (answer.status, answer.json) == (200, DOCUMENT)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"


def test_the_document_lists_exactly_the_operations_that_are_served(server: InProcess) -> None:
    assert [(path, method.upper()) for path, method, _ in listed()] == [(each.path, each.method) for each in OPERATIONS]
    for path, operations in DOCUMENT["paths"].items():
        served = set(operations) | ({"head"} if "get" in operations else set())
        for method in METHODS:
            answer = server.ask(method.upper(), path.format(name="4,4,4", id="0123456789abcdef"))
            assert (answer.status == 405) == (method not in served), (method, path)
            if answer.status == 405:
                assert answer.headers["allow"] == ", ".join(sorted(served)).upper()
            elif "{id}" in path:
                assert answer.status == 404
    words = [operation["operationId"] for _, _, operation in listed()]
    assert len(set(words)) == len(words)


def test_every_operation_and_every_parameter_says_what_it_is() -> None:
    for path, method, operation in listed():
        assert operation["summary"], (path, method)
        assert operation["description"].endswith(".")
        for parameter in operation["parameters"]:
            assert parameter["in"] == "path" or parameter["description"].endswith(".")
        for status, response in operation["responses"].items():
            assert response["description"], (path, method, status)
            if int(status) >= 400:
                schema = response["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Error"}


def test_every_operation_names_the_errors_that_a_request_can_cause() -> None:
    for path, method, operation in listed():
        errors = {400, 405, 421, 429, 431, 500}
        errors |= {413, 415} if method == "post" else set()
        errors |= {404} if "{id}" in path else set()
        errors |= {401, 409} if "security" in operation else set()
        errors |= {403, 503} if method == "post" and path != "/api/positions" else set()
        assert errors <= set(map(int, operation["responses"])), (path, method)


def example_of(path: str, operation: Any, ident: str) -> tuple[str, Any]:
    """The target and the body of an operation's examples, with the id of a match that is there."""
    found = {each["name"]: each["example"] for each in operation["parameters"] if "example" in each} | {"id": ident}
    query = {name: found[name] for name in found if name != "id" and f"{{{name}}}" not in path}
    content = operation.get("requestBody", {"content": {"application/json": {"example": None}}})
    body = content["content"]["application/json"]["example"]
    target = path.format(**found) + (f"?{urlencode(query)}" if query else "")
    return target, {**body, "gameId": ident} if body and "gameId" in body else body


def game_for(served: InProcess, word: str) -> str:
    """Start a game of the duel in which an operation's example can be sent, and return its id."""
    game = served.post("/game/start", {"mode": "PvAI", "level": 0}).json["id"]
    if word == "machine_move":
        move = {"gameId": game, "player": "R", "row": 0, "col": 0}
        assert served.post("/game/move", move).status == 200
    return str(game)


def test_every_example_works_when_it_is_sent_as_it_is(server: InProcess) -> None:
    statuses = {}
    for path, method, operation in listed():
        match = server.begin()  # with as many moves as the examples of steps say
        server.play(match, ["a1", "b1", "c1"])
        token, word = match["tokens"]["O"], operation["operationId"]
        if word == "rematch":
            assert server.post(f"/api/matches/{match['id']}/resign", {"version": 3, "id": "1"}, token).status == 200
        ident = match["id"] if path.startswith("/api/") else game_for(server, word)
        target, body = example_of(path, operation, ident)
        # A stream does not end: tests/play/server/test_events.py follows it.
        method = "head" if word == "events" else method
        statuses[word] = server.ask(method.upper(), target, body, token if "security" in operation else None).status
    assert statuses == {
        "position": 200, "positions": 200, "games": 200, "game": 200, "puzzle": 200, "begin": 201, "match": 200,
        "move": 200, "undo": 202, "resign": 200, "rematch": 201, "review": 200, "events": 200,
        "start_game": 201, "game_state": 200, "make_move": 200, "machine_move": 200,
    }  # fmt: skip
    answers = {(each.name, status) for each in OPERATIONS for status in each.answers}
    assert answers == {*statuses.items(), ("position", 304), ("undo", 200)}


ANY_EXAMPLES = {"suppress_health_check": list(HealthCheck), "database": None, "derandomize": True, "deadline": None}


def excluded(operation: Any) -> list[Any]:
    """The checks of schemathesis that do not hold for an operation."""
    return [_acceptance()] if operation.definition.raw["operationId"] in CHOOSY else []


def _acceptance() -> Any:
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    return positive_data_acceptance


def aim(case: Any, served: InProcess) -> None:
    """Let a request that names a game of the duel name one that is there, every other time in which it is R's turn."""
    named = case.body.get("gameId") if isinstance(case.body, dict) else None
    if isinstance(named, str) and len(named) <= 80:
        case.body["gameId"] = game_for(served, "machine_move" if len(named) % 2 else "make_move")


@pytest.mark.parametrize(("path", "method"), [(path, method) for path, method, _ in listed()])
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_whatever_the_document_allows_or_forbids_is_answered_as_it_says(
    count: int, path: str, method: str, asked: InProcess, schema: Any
) -> None:
    # Of streams only refusals are seen here, because their ids are made up: a stream that is there never ends.
    operation = schema[path][method]

    @settings(max_examples=count, **ANY_EXAMPLES)
    def ask(case: Any) -> None:
        aim(case, asked)
        case.call_and_validate(base_url=asked.url, excluded_checks=excluded(operation))

    from schemathesis.generation.hypothesis.builder import HypothesisTestConfig, HypothesisTestMode, create_test

    modes = [HypothesisTestMode.FUZZING] if count == 10 else list(HypothesisTestMode)
    config = HypothesisTestConfig(project=schema.config, modes=modes)
    create_test(operation=operation, test_func=ask, config=config)()  # as the decorator does when tests are collected


def visited_by_links(served: InProcess, schema: Any, paths: str, sequences: int, steps: int) -> set[tuple[str, int]]:
    """Follow the document's links from answer to request, half of the time with a token; return what was answered."""
    machine = schema.include(path_regex=paths).exclude(path_regex="events$").as_state_machine()
    had: set[tuple[str, int]] = set()

    class Following(machine):  # type: ignore[valid-type, misc]
        def setup(self) -> None:
            self.tokens: dict[str, list[str]] = {}
            self.calls = 0

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            tokens = self.tokens.get(case.path_parameters.get("id"), [])
            forbidden = case.meta.generation.mode.is_negative  # perhaps because the token is left out
            if forbidden or not tokens or not case.operation.definition.raw.get("security"):
                return {"base_url": served.url}
            return {"base_url": served.url, "headers": {"Authorization": f"Bearer {tokens[self.calls % len(tokens)]}"}}

        def before_call(self, case: Any) -> None:
            self.calls += 1

        def after_call(self, response: Any, case: Any) -> None:
            super().after_call(response, case)
            had.add((case.operation.definition.raw["operationId"], response.status_code))
            if response.status_code == 201:
                begun = response.json()
                self.tokens.setdefault(begun["id"], []).extend(begun.get("tokens", {}).values())

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            case.validate_response(response, excluded_checks=excluded(case.operation), recorder=self.recorder)

    run_state_machine_as_test(
        Following, settings=settings(max_examples=sequences, stateful_step_count=steps, **ANY_EXAMPLES)
    )
    return had


DUEL = "^/(game|ai)/"


@pytest.mark.parametrize(
    ("paths", "sequences", "steps", "seen"),
    [
        ("^/api/matches", 6, 8, {"begin", "match"}),
        (DUEL, 6, 8, {"start_game", "game_state", "machine_move"}),
        pytest.param("^/api/", 100, 12, {"match", "review", "move", "undo", "resign"}, marks=pytest.mark.slow),
        pytest.param(DUEL, 100, 12, {"start_game", "game_state", "machine_move"}, marks=pytest.mark.slow),
    ],
)
def test_whatever_follows_from_an_answer_is_answered_as_the_document_says(
    paths: str, sequences: int, steps: int, seen: set[str], asked: InProcess, schema: Any
) -> None:
    had = visited_by_links(asked, schema, paths, sequences, steps)
    assert seen <= {word for word, status in had if status not in (400, 401, 404)}
