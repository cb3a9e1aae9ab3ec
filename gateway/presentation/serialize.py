"""Serializes the model to JSON for the API's responses and for the command line's `--json`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from gateway.core.model.approval import Hold, HoldState, approval_rule_to_json
from gateway.core.model.claim import Claim, Undone, undone_by_to_json
from gateway.core.model.json import to_json
from gateway.core.model.motive import motive_to_json
from gateway.core.model.mutation import Effect, Mutation
from gateway.core.model.outcome import Applied, Failed, InDoubt, Outcome, Refused
from gateway.core.model.verdict import CounterOffer, Decision, Finding, Verdict
from gateway.core.records.claims import UndoneBody
from gateway.core.records.decided import RecordedEffect
from gateway.core.records.record import Record, to_members
from gateway.core.times import utc_text
from gateway.presentation.headline import effects_headline


def undone_to_json(undone: Undone | None) -> dict[str, Any] | None:
    """The implicit conflict of a claim; None if its value stands."""
    if undone is None:
        return None
    return {
        "conflict": "implicit",
        "at": to_json(undone.at),
        "live": to_json(undone.live),
        "by": undone_by_to_json(undone.by),
    }


def undone_values(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The claimed values of a mutation that are live no more, by its records, oldest first."""
    latest = {record.body.claim: (record.at, record.body) for record in records if isinstance(record.body, UndoneBody)}
    shown = ("claim", "address", "attribute", "conflict", "live", "by")
    return [
        {**{name: to_members(getattr(body, name)) for name in shown}, "at": to_json(at)}
        for at, body in latest.values()
        if not body.stands
    ]


def undone_lines(values: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The same in English, a sentence for each."""
    for value in values:
        live = "another value or none" if value["live"] is None else json.dumps(value["live"], ensure_ascii=False)
        yield (
            f"What it set is undone: {value['attribute']} of {value['address']} was found to be {live} at {value['at']} "
            f"(implicit conflict). {_by(value['by'])} Its claim stands; set the value again, or release it."
        )


def _by(by: Mapping[str, Any] | None) -> str:
    if by is None:
        return "Nothing tells who did it."
    if by["mutation"]:
        return f"{by['actor']} changed the resource since then (mutation {by['mutation']})."
    return f"CloudTrail names {by['actor']} ({by['event']})."


def time_to_json(moment: datetime | None) -> str | None:
    """The time in ISO 8601, UTC with `Z`; None for None."""
    return None if moment is None else utc_text(moment)


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """All members of a finding; `offer` only if it has a counter-offer."""
    document: dict[str, Any] = {
        "check": finding.check,
        "verdict": finding.verdict.value,
        "rule": finding.rule,
        "reason": finding.reason,
        "address": finding.address,
        "attribute": finding.attribute,
        "source": finding.source,
    }
    if finding.conflict is not None:
        document["conflict"] = finding.conflict.value
    if (offer := finding.offer) is not None:
        document["offer"] = _offer_to_json(offer)
    return document


def _offer_to_json(offer: CounterOffer) -> dict[str, Any]:
    return {
        "nearest": to_json(offer.nearest),
        "holder": offer.holder,
        "retry_after": time_to_json(offer.retry_after),
    }


def offers_to_json(decision: Decision) -> list[dict[str, Any]]:
    """What would be accepted instead of what was refused or held: the rule, the attribute, and the offer as in a finding."""
    return [
        {
            "rule": finding.rule,
            "address": finding.address,
            "attribute": finding.attribute,
            **_offer_to_json(finding.offer),
        }
        for finding in decision.objections
        if finding.offer is not None
    ]


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """A decision with all its findings."""
    return {
        "verdict": decision.verdict.value,
        "mode": decision.mode.value,
        "findings": [finding_to_json(finding) for finding in decision.findings],
        "supersedes": list(decision.supersedes),
        "approval": decision.approval,
        "needs": approval_rule_to_json(decision.needs),
        "held_as": decision.attached,
        "bundle": decision.bundle,
        "code": decision.code,
    }


def effect_to_json(effect: Effect) -> dict[str, Any]:
    """An effect. A sensitive value is already replaced by its digest."""
    return {
        "address": effect.address,
        "attribute": effect.attribute,
        "action": effect.action.value,
        "value": to_json(effect.value),
        "declared": effect.declared,
        "implied": effect.implied,
    }


def outcome_to_json(outcome: Outcome | None) -> dict[str, Any] | None:
    """The outcome without AWS's reply; None for a dry run."""
    match outcome:
        case None:
            return None
        case Applied():
            return {"outcome": "applied", "request_id": outcome.request_id}
        case Failed():
            failed = {"code": outcome.code, "message": outcome.message, "request_id": outcome.request_id}
            return {"outcome": "failed", **failed}
        case InDoubt():
            return {"outcome": "in_doubt", "reason": outcome.reason}
        case Refused():
            return {"outcome": "refused"}


def mutation_to_json(mutation: Mutation) -> dict[str, Any]:
    """A mutation without its call's parameters, which may contain secrets; the effects show what it changes."""
    return {
        "id": mutation.id,
        "actor": mutation.caller.actor,
        "service": mutation.call.service,
        "operation": mutation.call.operation,
        "region": mutation.call.region,
        "motive": motive_to_json(mutation.motive),
        "effects": [effect_to_json(effect) for effect in mutation.effects],
    }


_NOT_SHOWN: Final = frozenset({"asked"})
"""Packed members, which only programs read: `asked` repeats the claims of others."""


def record_to_json(record: Record) -> dict[str, Any]:
    """One record of the ledger with its hash chain members."""
    return {
        "seq": record.seq,
        "stage": record.stage.value,
        "at": time_to_json(record.at),
        "mutation_id": record.mutation_id,
        "actor": record.actor,
        "stack": record.stack,
        "body": {name: value for name, value in record.body.members.items() if name not in _NOT_SHOWN},
        "previous": record.previous,
        "hash": record.hash,
    }


def hold_to_json(hold: Hold) -> dict[str, Any]:
    """A held mutation as its approver must see it: the whole call with secrets masked, what it changes, and why it is held."""
    summary: Any = to_json(hold.summary)
    call = summary["call"]
    needs = summary["decision"].get("needs")
    people = int((needs or {}).get("people", 1))
    return {
        "mutation_id": hold.mutation_id,
        "state": hold.state.value,
        "since": time_to_json(hold.at),
        "requester": hold.actor,
        "kind": summary["caller"]["kind"],
        "on_behalf_of": hold.on_behalf_of,
        "stack": hold.stack,
        "headline": effects_headline(
            _effects_of(summary), f"{call['service']}:{call['operation']}", call["parameters"], done=False
        ),
        "service": call["service"],
        "operation": call["operation"],
        "account": call["account"],
        "region": call["region"],
        "parameters": call["parameters"],
        "whole": call.get("whole") is True and "cut" not in summary,
        "motive": summary["motive"],
        "approvers": needs,
        "approved_by": list(hold.approved_by),
        "missing": max(0, people - len(hold.approved_by)) if hold.state is HoldState.OPEN else 0,
        "effects": [
            {name: effect[name] for name in ("address", "attribute", "action", "before", "value", "sensitive")}
            for effect in summary["effects"]
        ],
        "reasons": [
            {name: finding[name] for name in ("rule", "reason", "address", "attribute")}
            for finding in summary["decision"]["findings"]
            if finding["verdict"] == Verdict.HOLD
        ],
    }


def _effects_of(summary: Mapping[str, Any]) -> tuple[RecordedEffect[Any], ...]:
    """The effects of a hold; none where they do not fit their type any more: a list of holds is shown whatever is in one."""
    try:
        return msgspec.convert(summary["effects"], tuple[RecordedEffect[Any], ...])
    except (KeyError, msgspec.ValidationError):
        return ()


def claim_to_json(claim: Claim) -> dict[str, Any]:
    """All members of a claim."""
    return {
        "id": claim.id,
        "mutation_id": claim.mutation_id,
        "address": claim.address,
        "attribute": claim.attribute,
        "value": to_json(claim.value),
        "actor": claim.actor,
        "kind": claim.kind.value,
        "motive": motive_to_json(claim.motive),
        "since": time_to_json(claim.since),
        "until": time_to_json(claim.until),
        "proof": list(claim.proof),
        "undone": undone_to_json(claim.undone),
        "ended_at": time_to_json(claim.ended_at),
        "end": None if claim.end is None else claim.end.value,
    }
