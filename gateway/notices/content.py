"""Makes the content of each type of notice. It never has values of secrets or their digests; the words of the requester stand under `requester_says`."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gateway.core.model.json import Json, items_of
from gateway.core.model.masking import without_digests
from gateway.core.records.notice import Notice, NoticeType, notice_id
from gateway.core.records.record import Record, Stage

MOST_EFFECTS: Final = 20
"""Effects and reasons that a notice names."""
_LONGEST: Final = 500
"""Characters of a text that others wrote."""


def notice_of(record: Record) -> Notice | None:
    """The notice about a record; None if no type of notice is about it."""
    tell = _TOLD.get(record.stage)
    return tell(record) if tell is not None else None


def _decided(record: Record) -> Notice | None:
    """A held call is told once: while it waits its agent repeats it, and each repeat has a record of its own that names the first."""
    decision, caller, call = (_members(record.body.get(name)) for name in ("decision", "caller", "call"))
    held = decision.get("verdict") == "hold" and not decision.get("carried_out")
    if held and decision.get("attached"):
        return None
    data: dict[str, Json] = {
        "verdict": decision.get("verdict"),
        "carried_out": decision.get("carried_out") is True,
        "mode": decision.get("mode"),
        "kind": caller.get("kind"),
        "on_behalf_of": caller.get("on_behalf_of") or None,
        "call": {name: call.get(name) for name in ("service", "operation", "account", "region")},
        "requester_says": _motive(_members(record.body.get("motive"))),
        "effects": [_effect(_members(each)) for each in items_of(record.body.get("effects"))[:MOST_EFFECTS]],
        "effects_in_all": len(items_of(record.body.get("effects"))),
        "reasons": [_reason(_members(each)) for each in _objections(decision)[:MOST_EFFECTS]],
        "ends_claims": list(items_of(decision.get("supersedes"))),
        "dependants": list(items_of(_members(record.body.get("facts")).get("dependants"))),
        "approvers": decision.get("needs"),
    }
    kind = NoticeType.HELD if held else NoticeType.DECIDED
    return _notice(record, kind, data, verdict=str(decision.get("verdict", "")))


def _rejected(record: Record) -> Notice:
    """A person said no to a held call: that decides it."""
    requester = str(record.body.get("requester", ""))
    data: dict[str, Json] = {
        "verdict": "deny",
        "carried_out": False,
        "rejected_by": record.actor,
        "door": record.body.get("door"),
        "reason": _text(record.body.get("reason")),
    }
    return _notice(record, NoticeType.DECIDED, data, actor=requester, verdict="deny")


def _settled(record: Record) -> Notice:
    kept = ("outcome", "request_id", "code", "message", "sent", "reason", "left_to_human", "settled_by", "why")
    data = {name: _text(record.body[name]) for name in kept if name in record.body}
    return _notice(record, NoticeType.SETTLED, data)


def _approved(record: Record) -> Notice:
    body = record.body
    data: dict[str, Json] = {
        "approval": body.get("approval"),
        "approver": record.actor,
        "approvers": [*items_of(body.get("others")), record.actor],
        "missing": body.get("missing", 0),
        "until": body.get("until"),
        "broke_glass": record.stage is Stage.BROKE_GLASS,
        "door": body.get("door"),
        "reason": _text(body.get("reason")),
    }
    return _notice(record, NoticeType.APPROVAL_GIVEN, data, actor=str(body.get("requester", "")))


def _expired(record: Record) -> Notice:
    data = {name: record.body.get(name) for name in ("claim", "address", "attribute", "until")}
    return _notice(record, NoticeType.CLAIM_EXPIRED, data)


def _drifted(record: Record) -> Notice:
    kept = ("address", "attribute", "resource_type", "live", "declared", "sensitive", "origin")
    return _notice(record, NoticeType.DRIFT_FOUND, {name: record.body.get(name) for name in kept})


_TOLD: Final[Mapping[Stage, Callable[[Record], Notice | None]]] = {
    Stage.DECIDED: _decided,
    Stage.REJECTED: _rejected,
    Stage.SETTLED: _settled,
    Stage.APPROVED: _approved,
    Stage.BROKE_GLASS: _approved,
    Stage.EXPIRED: _expired,
    Stage.DRIFTED: _drifted,
}


def _notice(
    record: Record, kind: NoticeType, data: Mapping[str, Json], *, actor: str = "", verdict: str = ""
) -> Notice:
    """The notice, with the members that every type has."""
    who = actor or record.actor
    common: dict[str, Json] = {
        "record": record.seq,
        "stage": record.stage.value,
        "mutation_id": record.mutation_id,
        "actor": who,
        "stack": record.stack,
    }
    shown: Any = without_digests({**common, **data})
    return Notice(
        id=notice_id(record),
        type=kind,
        at=record.at,
        mutation_id=record.mutation_id,
        stack=record.stack,
        actor=who,
        verdict=verdict,
        data=shown,
    )


def _effect(effect: Mapping[str, Any]) -> Json:
    shown = {name: effect.get(name) for name in ("address", "attribute", "action", "resource_type", "before", "value")}
    return {**shown, "before": None, "value": None, "sensitive": True} if effect.get("sensitive") else shown


def _objections(decision: Mapping[str, Any]) -> list[Json]:
    """The findings that are not an allowance."""
    return [each for each in items_of(decision.get("findings")) if _members(each).get("verdict") != "allow"]


def _reason(finding: Mapping[str, Any]) -> Json:
    kept = ("rule", "verdict", "title", "reason", "address", "attribute", "source")
    return {name: _text(finding.get(name)) for name in kept if finding.get(name)}


def _motive(motive: Mapping[str, Any]) -> Json:
    kept = ("intent", "motivation", "text", "evidence", "wanted_seconds")
    return {name: _text(motive[name]) for name in kept if motive.get(name)} or None


def _text(value: Json) -> Json:
    return value if not isinstance(value, str) or len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


def _members(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
