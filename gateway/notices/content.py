"""Makes the content of each type of notice. It never has values of secrets or their digests; the words of the requester stand under `requester_says`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from gateway.core.model.json import Json
from gateway.core.model.masking import without_digests
from gateway.core.model.verdict import Verdict
from gateway.core.records.approvals import BrokeGlassBody, ConsentBody, RejectedBody
from gateway.core.records.claims import ExpiredBody
from gateway.core.records.decided import DecidedBody, RecordedEffect, RecordedFinding
from gateway.core.records.drift import DriftedBody
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.notice import Notice, NoticeType, notice_id
from gateway.core.records.record import Record, to_members
from gateway.core.records.settled import SettledBody

MOST_EFFECTS: Final = 20
"""Effects and reasons that a notice names."""
_LONGEST: Final = 500
"""Characters of a text that others wrote."""


def notice_of(record: Record) -> Notice | None:
    """The notice about a record; None if no type of notice is about it."""
    match record.body:
        case DecidedBody() as body:
            return _decided(record, body)
        case RejectedBody() as body:
            return _rejected(record, body)
        case SettledBody() as body:
            kept = ("outcome", "request_id", "code", "message", "sent", "reason", "left_to_human", "settled_by", "why")
            return _notice(record, NoticeType.SETTLED, _only(body, kept))
        case ConsentBody() as body:
            return _approved(record, body)
        case ExpiredBody() as body:
            return _notice(record, NoticeType.CLAIM_EXPIRED, _only(body, ("claim", "address", "attribute", "until")))
        case DriftedBody() as body:
            return _notice(record, NoticeType.DRIFT_FOUND, body.members)
    return None


def _decided(record: Record, body: DecidedBody[Any]) -> Notice | None:
    """A held call is told once: while it waits its agent repeats it, and each repeat has a record of its own that names the first."""
    decision, caller, call = body.decision, body.caller, body.call
    held = decision.verdict is Verdict.HOLD and not decision.carried_out
    if held and decision.attached:
        return None
    data: dict[str, Json] = {
        "verdict": decision.verdict.value,
        "carried_out": decision.carried_out,
        "mode": decision.mode.value,
        "kind": caller.kind.value,
        "on_behalf_of": caller.on_behalf_of or None,
        "call": {name: getattr(call, name) for name in ("service", "operation", "account", "region")},
        "requester_says": _motive(body.motive),
        "effects": [_effect(each) for each in body.effects[:MOST_EFFECTS]],
        "effects_in_all": len(body.effects),
        "reasons": [_reason(each) for each in decision.objections[:MOST_EFFECTS]],
        "ends_claims": decision.supersedes,
        "dependants": body.facts.dependants,
        "approvers": to_members(decision.needs),
    }
    kind = NoticeType.HELD if held else NoticeType.DECIDED
    return _notice(record, kind, data, verdict=decision.verdict.value)


def _rejected(record: Record, body: RejectedBody) -> Notice:
    """A person said no to a held call: that decides it."""
    data: dict[str, Json] = {
        "verdict": "deny",
        "carried_out": False,
        "rejected_by": record.actor,
        "door": body.door or None,
        "reason": _text(body.reason),
    }
    return _notice(record, NoticeType.DECIDED, data, actor=body.requester, verdict="deny")


def _approved(record: Record, body: ConsentBody) -> Notice:
    data: dict[str, Json] = {
        "approval": body.approval,
        "approver": record.actor,
        "approvers": [*body.others, record.actor],
        "missing": body.missing,
        "until": body.until,
        "broke_glass": isinstance(body, BrokeGlassBody),
        "door": body.door or None,
        "reason": _text(body.reason) or None,
    }
    return _notice(record, NoticeType.APPROVAL_GIVEN, data, actor=body.requester)


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


def _effect(effect: RecordedEffect[Any]) -> Json:
    shown = _only(effect, ("address", "attribute", "action", "resource_type", "before", "value"))
    return {**shown, "before": None, "value": None, "sensitive": True} if effect.sensitive else shown


def _reason(finding: RecordedFinding) -> Json:
    kept = _only(finding, ("rule", "verdict", "title", "reason", "address", "attribute", "source"))
    return {name: value for name, value in kept.items() if value}


def _motive(motive: RecordedMotive | None) -> Json:
    kept = _only(motive, ("intent", "motivation", "text", "evidence", "wanted_seconds")) if motive else {}
    return {name: value for name, value in kept.items() if value} or None


def _only(part: msgspec.Struct, names: Sequence[str]) -> dict[str, Json]:
    """These members of a part of a body, as far as it has them."""
    members = to_members(part)
    return {name: _text(members[name]) for name in names if name in members}


def _text(value: Json) -> Json:
    return value if not isinstance(value, str) or len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
