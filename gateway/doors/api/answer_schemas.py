"""The schemas of successful answers in `/v1/openapi.json`: what the routes that clients use most say, member by member.

They describe and change nothing: an answer is not checked against them at run time, which would cost each call; a test checks real answers.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from fastapi import FastAPI

from gateway.model.claim import ClaimEnd
from gateway.model.hold import HoldState
from gateway.model.record import Stage

Schema: TypeAlias = dict[str, Any]

_ANY: Final[Schema] = {}
_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_NUMBER: Final[Schema] = {"type": "integer"}
_OBJECT: Final[Schema] = {"type": "object"}
_TIME: Final[Schema] = {"type": "string", "format": "date-time"}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _one_of(values: type[Stage | HoldState | ClaimEnd]) -> Schema:
    return {"type": "string", "enum": [each.value for each in values]}


def _members(**schemas: Schema) -> Schema:
    """An object that always has these members. Later versions may add others."""
    return {"type": "object", "required": sorted(schemas), "properties": schemas}


_MOTIVE: Final = _or_null(
    _members(
        intent=_TEXT,
        motivation=_TEXT,
        text=_TEXT,
        evidence=_list(_TEXT),
        wanted_seconds=_or_null({"type": "number"}),
    )
)
_RECORD: Final = _members(
    seq=_NUMBER,
    stage=_one_of(Stage),
    at=_TIME,
    mutation_id=_TEXT,
    actor=_TEXT,
    stack=_TEXT,
    body={"type": "object", "description": "By stage, see gateway/ledger/README.md."},
    previous=_TEXT,
    hash=_TEXT,
)
_CLAIM: Final = _members(
    id=_TEXT,
    mutation_id=_TEXT,
    address=_TEXT,
    attribute=_TEXT,
    value=_ANY,
    actor=_TEXT,
    kind=_TEXT,
    motive=_MOTIVE,
    since=_TIME,
    until=_or_null(_TIME),
    proof=_list(_TEXT),
    undone=_or_null(_OBJECT),
    ended_at=_or_null(_TIME),
    end=_or_null(_one_of(ClaimEnd)),
)
_LISTED_CLAIM: Final = {
    **_CLAIM,
    "required": sorted([*_CLAIM["required"], "goes_back_at"]),
    "properties": {**_CLAIM["properties"], "goes_back_at": _or_null(_TIME)},
}
_HOLD: Final = _members(
    mutation_id=_TEXT,
    state=_one_of(HoldState),
    since=_TIME,
    requester=_TEXT,
    kind=_TEXT,
    on_behalf_of=_TEXT,
    stack=_TEXT,
    service=_TEXT,
    operation=_TEXT,
    account=_TEXT,
    region=_TEXT,
    parameters=_OBJECT,
    whole=_FLAG,
    motive=_MOTIVE,
    approvers=_or_null(_OBJECT),
    effects=_list(_members(address=_TEXT, attribute=_TEXT, action=_TEXT, before=_ANY, value=_ANY)),
    reasons=_list(_members(rule=_TEXT, reason=_TEXT, address=_TEXT, attribute=_TEXT)),
)

ANSWERS: Final[Mapping[tuple[str, str], Schema]] = {
    ("get", "/v1/records"): _members(records=_list(_RECORD)),
    ("get", "/v1/claims"): _members(claims=_list(_LISTED_CLAIM), time_boxes=_list(_OBJECT), data_health=_OBJECT),
    ("get", "/v1/holds"): _members(holds=_list(_HOLD)),
    ("get", "/v1/mutations/{mutation_id}"): _members(mutation_id=_TEXT, state=_TEXT, records=_list(_RECORD)),
    ("post", "/v1/sessions"): _members(access_key_id=_TEXT, secret_access_key=_TEXT, expires_at=_or_null(_TIME)),
    ("post", "/v1/mutations/{mutation_id}/approve"): _members(
        approval_id=_TEXT, mutation_id=_TEXT, approver=_TEXT, approvers=_list(_TEXT), missing=_NUMBER, until=_TIME
    ),
    ("post", "/v1/mutations/{mutation_id}/reject"): _members(mutation_id=_TEXT, rejected_by=_TEXT),
    ("post", "/v1/mutations/{mutation_id}/release"): _members(mutation_id=_TEXT, released=_list(_CLAIM)),
    ("post", "/v1/mutations/{mutation_id}/settle"): _members(mutation_id=_TEXT, outcome=_TEXT, settled_by=_TEXT),
}
"""The schema of the answer with status 200, by method and path."""


def add_answer_schemas(app: FastAPI) -> None:
    """Describe these answers in the application's OpenAPI document."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        document = described()
        for (method, path), schema in ANSWERS.items():
            content = document["paths"].get(path, {}).get(method, {}).get("responses", {}).get("200", {}).get("content")
            if content is not None:
                content["application/json"]["schema"] = schema
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's manual describes extending OpenAPI
