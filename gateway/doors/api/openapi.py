"""The description of the API: schemas of successful answers in `/v1/openapi.json`, and `/v1/docs` as a page that loads nothing from elsewhere.

They describe and change nothing: an answer is not checked against them at run time, which would cost each call; a test checks real answers.

The page that FastAPI makes loads scripts from a public host and has a script inside, which a strict content security policy refuses.
"""

import gzip
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from fastapi import FastAPI, Request, Response

from gateway.core.gzip_bytes import gzipped
from gateway.core.model.approval import HoldState
from gateway.core.model.claim import ClaimEnd
from gateway.core.records.record import Stage

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
    body={"type": "object", "description": "By stage, see docs/investigators.md."},
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


_ASSETS: Final = files("gateway.doors.api") / "docs_assets"
_KINDS: Final = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "docs.js": "text/javascript; charset=utf-8",
}
"""The files that the page loads, by name."""
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sentinel: the JSON API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/docs.js"></script>
</head>
<body>
<div id="docs"></div>
<noscript>This page needs scripts. <a href="openapi.json">The description itself</a> does not.</noscript>
</body>
</html>
"""
_GUARDED: Final = {
    # Pictures in the style sheet are `data:` URLs. Calls that the page tries go to this gateway only.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


def add_docs(app: FastAPI) -> None:
    """Add the page and the files it loads. Neither needs a key: they say nothing about this gateway. Call it before `/v1` is routed."""

    @app.get("/v1/docs", include_in_schema=False)
    async def page() -> Response:
        return Response(_PAGE, media_type="text/html", headers=_GUARDED)

    for name in _KINDS:
        app.add_api_route(f"/v1/docs/{name}", _sends(name), include_in_schema=False)


def _sends(name: str) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers with one file."""

    async def send(request: Request) -> Response:
        packed = "gzip" in request.headers.get("accept-encoding", "")
        headers = {**_GUARDED, "cache-control": "public, max-age=3600", "vary": "accept-encoding"}
        if packed:
            headers["content-encoding"] = "gzip"
        return Response(_packed(name) if packed else asset(name), media_type=_KINDS[name], headers=headers)

    return send


def asset(name: str) -> bytes:
    """A file that the page loads, as its authors published it."""
    return gzip.decompress(_packed(name))


@cache
def _packed(name: str) -> bytes:
    """The same, compressed. Read at the first call: most gateways are never asked."""
    packed = _ASSETS / f"{name}.gz"
    return packed.read_bytes() if packed.is_file() else gzipped((_ASSETS / name).read_bytes())
