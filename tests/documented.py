"""What the OpenAPI document says of answers: all that a test is answered in this process is held against it."""

import json
from functools import cache
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
from web import Answer

from play.server.allowance import Allowance
from play.server.documented import OPERATIONS, TABLE
from play.server.openapi import document

DOCUMENT = json.loads(document(OPERATIONS, Allowance()))


def require_documented(method: str, target: str, answer: Answer) -> None:
    """Raise unless an operation's answer has a status and a shape that the document names, and no other fields."""
    operation, _ = TABLE.at(unquote(target.partition("?")[0])).get(method, (None, None))
    if operation:
        validator = _validator(operation.path, method.lower(), answer.status)
        assert bool(validator) == bool(answer.body), (method, target, answer)
        if validator:
            validator.validate(answer.json)


@cache
def _validator(path: str, method: str, status: int) -> Any:
    content = DOCUMENT["paths"][path][method]["responses"][str(status)].get("content")
    if not content:
        return None
    schema = content["application/json"]["schema"]
    return jsonschema_rs.validator_for(_closed({**schema, "components": DOCUMENT["components"]}))


def _closed(schema: Any) -> Any:
    """Return a schema whose objects have no fields but those that it names."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    return {"additionalProperties": False, **closed} if "properties" in schema else closed
