"""The rows of the feed: of each record who did what, for what goal, and with which verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.model.record import Stage

_RESOURCES: Final = 3
"""Resources that a row names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRow:
    """One record in one line."""

    seq: int
    at: str
    stage: str
    actor: str
    kind: str
    motive: str
    what: str
    resources: tuple[str, ...]
    more: int
    """Resources that are not named."""
    result: str
    """The verdict, or what came of it."""
    mutation: str
    stack: str


def feed_row(record: Mapping[str, Any]) -> FeedRow:
    """The row of a record, as the API has it."""
    body = record["body"]
    resources = _resources(body)
    motive = body.get("motive") or {}
    return FeedRow(
        seq=record["seq"],
        at=record["at"],
        stage=record["stage"],
        actor=record["actor"],
        kind=str((body.get("caller") or {}).get("kind", "")),
        motive=" / ".join(str(motive[name]) for name in ("intent", "motivation") if motive.get(name)),
        what=_what(record["stage"], body),
        resources=tuple(resources[:_RESOURCES]),
        more=max(0, len(resources) - _RESOURCES),
        result=_result(record["stage"], body),
        mutation=record["mutation_id"],
        stack=record["stack"],
    )


def _resources(body: Mapping[str, Any]) -> Sequence[str]:
    listed = body.get("effects") or ([body] if body.get("address") else [])
    named = (
        f"{each['address']}.{each['attribute']}" if each.get("attribute") else str(each["address"]) for each in listed
    )
    return list(dict.fromkeys(named))


def _what(stage: str, body: Mapping[str, Any]) -> str:
    call = body.get("call") or {}
    if call.get("operation"):
        count = f", {body['count']} calls" if "count" in body else ""
        return f"{call['service']}:{call['operation']}{count}"
    return str(body.get("about") or body.get("reason") or body.get("key") or stage.replace("_", " "))


def _result(stage: str, body: Mapping[str, Any]) -> str:
    match stage:
        case Stage.DECIDED:
            return str((body.get("decision") or {}).get("verdict", ""))
        case Stage.SETTLED | Stage.DRIFT_SETTLED:
            return str(body.get("outcome", ""))
        case Stage.DRIFT_DECIDED:
            return str(body.get("action", ""))
        case Stage.PROPOSED | Stage.SIGNALLED | Stage.BREAKER:
            return str(body.get("state", ""))
        case _:
            return ""
