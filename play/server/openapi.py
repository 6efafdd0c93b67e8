"""The OpenAPI document, made from the table of operations."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from play.players.player import WIDE_LEVEL
from play.server import fair_queue
from play.server.allowance import SEARCH, Allowance
from play.server.events import MOST_FROM_ONE, MOST_STREAMS
from play.server.matches import MOST_EVENTS
from play.server.operations import Operation, Parameter
from play.server.requests import AskMachine
from play.server.retention import KEPT_DAYS, MOST_MATCHES, MOST_OF_ONE, UNPLAYED_DAYS
from play.server.shapes import Error
from solver import __version__
from solver.games.lines import NARROW_CELLS, WIDEST_CELLS

_ALWAYS = {
    400: "Malformed: the message says what.",
    405: "No such method on this path.",
    421: "The Host header names another host.",
    429: "Too many requests: wait as long as Retry-After says.",
    431: "The headers are larger than 64 kB.",
}
_WITH_BODY = {413: "The body is larger than 64 kB.", 415: "The body is not application/json."}
_PROBLEMS = {
    401: "The token is missing, or is not of a seat in this match.",
    403: "The request comes from a page of another origin.",
    404: "There is no such match, no such game, or no such puzzle.",
    409: "It does not hold: the match has ended, or has another version (then `match` or `state` is it as it stands); "
    "or it is not the machine's turn; or the game has no store that could tell.",
    410: "The match is damaged: it is not as it was written.",
    500: "The game's store cannot be used.",
    503: "Too much is going on: try again when Retry-After says. Without that header the file of the matches is "
    "damaged.",
}
_PARTS = {
    "name": {"schema": {"type": "string", "minLength": 1, "maxLength": 80}, "example": "4,4,4"},
    "id": {"schema": {"type": "string", "pattern": "^[0-9a-f]{16}$"}, "example": "0123456789abcdef"},
}
_ABOUT = f"""Perfect play as JSON. Every error has one shape: `error` (a word for programs), `message`, `statusCode`.

Requests are charged by their work: a look-up or a step 1 unit, a batch of n boards n/8, a new game 10. Searches,
puzzles, reviews, and moves of a machine that has to search are charged afterwards, {SEARCH:g} units a second; an
address must be able to afford one second before. {{allowed}} At most {fair_queue.MOST_WAITING} searches wait,
{fair_queue.MOST_OF_ONE} of one address, and addresses get equal shares of the time.

Boards have at most {WIDEST_CELLS:,} cells, and bodies 64 kB. On boards of more than {NARROW_CELLS} cells matches are
played, and nothing is looked up, graded or posed; players are human, random, rules and oracle:0 to oracle:{WIDE_LEVEL}.
Such a board is written as its marks with the numbers of empty cells between them, as in `499999X1O499998`. Such a match
has no `legal`, because every empty cell can be claimed, and its steps have no `state`, which follows from the moves.

A match has at most {MOST_EVENTS:,} steps and is kept for {KEPT_DAYS} days after the last one, or for {UNPLAYED_DAYS} if
nobody moves; {MOST_MATCHES:,} matches are kept in all, {{most_of_one:,}} of them begun by one address; then unplayed
ones make room. At most {MOST_STREAMS:,} streams of events are open at once, {MOST_FROM_ONE} from one address."""


def document(operations: Sequence[Operation], allowance: Allowance, most_of_one: int = MOST_OF_ONE) -> bytes:
    """Return the OpenAPI document of some operations, which charge an allowance."""
    shapes: list[Any] = [Error]
    for operation in operations:
        for shape in (*operation.answers.values(), operation.body):
            shapes += shape if isinstance(shape, tuple) else [shape] if shape is not None else []
    schemas, components = msgspec.json.schema_components(shapes, ref_template="#/components/schemas/{name}")
    schema_of = {str(shape): schema for shape, schema in zip(shapes, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for operation in operations:
        described = paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, schema_of)
        if 201 in operation.answers:
            described["responses"]["201"]["links"] = _links(operation, operations)
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": "ttt4",
            "version": __version__,
            "description": _ABOUT.format(allowed=allowance.described, most_of_one=most_of_one),
            "license": {"name": "MIT"},
        },
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"seat": {"type": "http", "scheme": "bearer"}}},
    }
    return json.dumps(whole).encode()


def _links(begun: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    """Return what can be asked about a match that an operation has begun, by nothing but its id, in its own part."""
    ident, root = "$response.body#/id", begun.path.split("/")[1]
    links: dict[str, Any] = {}
    for each in operations:
        if "{id}" in each.path and each.path.split("/")[1] == root:
            links[each.name] = {"operationId": each.name, "parameters": {"id": ident}}
        elif root == "game" and each.body is AskMachine:
            links[each.name] = {"operationId": each.name, "requestBody": {"gameId": ident}}
    return links


def _described(operation: Operation, schema_of: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about.partition(". ")[0].partition(": ")[0].rstrip("."),
        "description": operation.about,
        "parameters": [*_in_path(operation.path), *(_in_query(name, each) for name, each in operation.query.items())],
        "responses": {str(status): _answer(operation, shape, schema_of) for status, shape in operation.answers.items()},
    }
    problems = {**_ALWAYS, 500: _PROBLEMS[500], **{status: _PROBLEMS[status] for status in operation.problems}}
    if operation.everywhere or operation.path == "/api/matches":
        problems[503] = _PROBLEMS[503]
    if operation.method == "POST":
        problems |= _WITH_BODY
    if operation.method == "POST" and not operation.everywhere:
        problems[403] = _PROBLEMS[403]
    for status, about in sorted(problems.items()):
        described["responses"][str(status)] = _json(about, schema_of[str(Error)])
    if operation.body:
        media = {"schema": schema_of[str(operation.body)], "example": operation.example}
        described["requestBody"] = {"required": True, "content": {"application/json": media}}
    if operation.seat:
        described["security"] = [{"seat": []}]
    return described


def _answer(operation: Operation, shape: Any, schema_of: dict[str, Any]) -> dict[str, Any]:
    if shape is None:
        return {"description": "It has not changed."}
    if shape is str:
        return {"description": "The events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
    if isinstance(shape, tuple):
        return _json(operation.about, {"type": "array", "items": {"anyOf": [schema_of[str(each)] for each in shape]}})
    return _json(operation.about, schema_of[str(shape)])


def _json(about: str, schema: Any) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _in_path(path: str) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, **_PARTS[name]} for name in names]


def _in_query(name: str, parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = dict(parameter.schema) or {"type": "string"}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    described = {"name": name, "in": "query", "description": parameter.about, "schema": schema}
    return {**described, "example": parameter.example} if parameter.example else described
