"""The schema of the policies' input document, against which opa checks the names of its members (`policies/README.md` documents them)."""

import json
from collections.abc import Mapping
from typing import Any, Final

_ANY: Final[Mapping[str, Any]] = {}
_TEXT: Final = {"type": "string"}
_YES_NO: Final = {"type": "boolean"}
_NUMBER: Final = {"type": "number"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_FREE: Final = {"type": "object", "additionalProperties": _ANY}
"""An object whose keys are not known beforehand."""


def _object(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "additionalProperties": False}


def _list(item: Any) -> dict[str, Any]:
    return {"type": "array", "items": item}


_CONTRACT: Final = _object(managed_by_agent=_YES_NO, critical=_YES_NO, prevent_delete=_YES_NO, owner=_TEXT)
_PART: Final = {
    "path": _TEXT,
    "class": _TEXT,
    "texts": _TEXTS,
    "fresh": _TEXTS,
    "accounts": _TEXTS,
    "declared": _YES_NO,
    "named": _YES_NO,
}
_EFFECT: Final = _object(
    address=_TEXT,
    attribute=_TEXT,
    action=_TEXT,
    value=_ANY,
    before=_ANY,
    declared_value=_ANY,
    resource_type=_TEXT,
    identity=_FREE,
    declared=_YES_NO,
    implied=_YES_NO,
    by=_TEXT,
    upserted=_YES_NO,
    basis=_TEXT,
    may_change=_TEXTS,
    may_be=_TEXTS,
    parts=_list(_object(**_PART)),
    exists=_YES_NO,
    changes=_YES_NO,
    contract=_CONTRACT,
)
_INNER: Final = {"service": _TEXT, "operation": _TEXT, "class": _TEXT, "role": _TEXT, "understood": _YES_NO}
_CLAIM: Final = _object(
    id=_TEXT,
    address=_TEXT,
    resource_type=_TEXT,
    attribute=_TEXT,
    value=_ANY,
    actor=_TEXT,
    kind=_TEXT,
    intent=_ANY,
    motivation=_ANY,
    evidence=_TEXTS,
    proven=_ANY,
    since_ns=_NUMBER,
    until_ns=_ANY,
    until=_ANY,
    unsettled=_YES_NO,
    relation=_TEXT,
)
_MOTIVE: Final = _object(intent=_TEXT, motivation=_TEXT, text=_TEXT, evidence=_TEXTS, wanted_seconds=_ANY, proven=_ANY)
_CONTROL: Final = _object(**{"parameter": _TEXT, "class": _TEXT, "as_declared": _YES_NO})
_MUTATION: Final = {
    "id": _TEXT,
    "service": _TEXT,
    "operation": _TEXT,
    "account": _TEXT,
    "region": _TEXT,
    "regions": _FREE,
    "parameters": _FREE,
    "accounts": _TEXTS,
    "controls": _list(_CONTROL),
    "class": _TEXT,
    "understood": _YES_NO,
    "effects": _list(_EFFECT),
    "inner": _list(_object(**_INNER)),
}
_DRIFT: Final = _object(
    id=_TEXT,
    address=_TEXT,
    attribute=_TEXT,
    resource_type=_TEXT,
    live=_ANY,
    declared=_ANY,
    sensitive=_YES_NO,
    origin=_ANY,
)
INPUT_SCHEMA: Final[Mapping[str, Any]] = _object(
    now_ns=_NUMBER,
    stack=_TEXT,
    stacks=_TEXTS,
    mode=_TEXT,
    caller=_object(actor=_TEXT, kind=_TEXT, roles=_TEXTS, on_behalf_of=_TEXT, open_claims=_NUMBER, held_before=_TEXTS),
    motive={"anyOf": [_MOTIVE, {"type": "null"}]},
    mutation=_object(**_MUTATION),
    security_groups=_object(of=_FREE, rules=_FREE),
    dependants=_list(_object(address=_TEXT, direct=_YES_NO, critical=_YES_NO)),
    claims=_list(_CLAIM),
    flips=_FREE,
    signals=_TEXTS,
    cost=_object(monthly_cents=_ANY, known_cents=_NUMBER, unknown=_TEXTS, unknown_count=_NUMBER, dated=_TEXT),
    # The other questions: about approvers, budgets and changes from outside.
    held=_list(_object(rule=_TEXT, check=_TEXT, address=_TEXT, attribute=_TEXT)),
    kind=_TEXT,
    contract=_CONTRACT,
    drift=_DRIFT,
)
"""JSON Schema of every input that the policies are asked with."""

VERSION: Final = 1
"""Of the input. Members are only added within a version, so a rule that was written for it stays right."""


def published_schema() -> str:
    """The schema as `docs/policy-input.schema.json` has it, for editors and for `opa check --schema`."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:sentinel:policy-input:{VERSION}",
        "title": f"Input of Sentinel's policies, version {VERSION}",
    }
    return json.dumps({**head, **INPUT_SCHEMA}, indent=2) + "\n"
