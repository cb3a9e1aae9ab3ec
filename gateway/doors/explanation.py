"""Explains one mutation from its records alone: what was checked, by which rule, on what facts, against whom, and what to do next."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.doors.contest import contest_of
from gateway.doors.explanation_text import explanation_text
from gateway.doors.mutation_state import mutation_state
from gateway.doors.undone import undone_values
from gateway.model.json import to_json
from gateway.model.record import Record, Stage
from gateway.model.verdict import Verdict


def explanation_of(records: Sequence[Record], *, sees_all: bool) -> dict[str, Any]:
    """The explanation of a mutation from its records, oldest first; the first DECIDED is explained.

    Callers that may not see all are not told other actors' motives, evidence and ranks, nor which motives would have won.
    """
    decided = next(record for record in records if record.stage is Stage.DECIDED)
    body: Any = to_json(decided.body)
    decision = body["decision"]
    document: dict[str, Any] = {
        "mutation_id": decided.mutation_id,
        "at": to_json(decided.at),
        "actor": decided.actor,
        "kind": body["caller"]["kind"],
        "on_behalf_of": body["caller"]["on_behalf_of"],
        "stack": decided.stack,
        "operation": f"{body['call']['service']}:{body['call']['operation']}",
        "motive": body["motive"],
        "verdict": decision["verdict"],
        "mode": decision["mode"],
        "state": mutation_state(records),
        "checks": _checks(decision["findings"]),
        "facts": _facts(body),
        "contest": contest_of(decision.get("contest"), sees_all=sees_all),
        "nearest": _nearest(decision["findings"]),
        "come_back": come_back(decision),
        "approval": _approval(decision, records),
        "claims": body["claims"],
        "undone": undone_values(records),
        "supersedes": decision["supersedes"],
        "left_out": body.get("cut"),
        "records": [{"seq": record.seq, "stage": record.stage.value, "at": to_json(record.at)} for record in records],
    }
    return {**document, "text": explanation_text(document)}


def _checks(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The checks in the order in which they ran, each with what its rules found."""
    by_check: dict[str, list[dict[str, Any]]] = {}
    for finding in findings:
        by_check.setdefault(finding["check"], []).append(_rule(finding))
    return [{"check": name, "verdict": _strongest(rules), "rules": rules} for name, rules in by_check.items()]


def _rule(finding: Mapping[str, Any]) -> dict[str, Any]:
    offer = finding.get("offer") or {}
    return {
        **{name: finding[name] for name in ("rule", "verdict", "reason", "address", "attribute")},
        "title": finding.get("title", ""),
        "source": finding.get("source", ""),
        "conflict": finding.get("conflict", ""),
        "nearest": offer.get("nearest"),
        "holder": offer.get("holder", ""),
        "retry_after": offer.get("retry_after"),
    }


def _strongest(rules: Sequence[Mapping[str, Any]]) -> str:
    verdicts = {rule["verdict"] for rule in rules}
    return next(verdict.value for verdict in Verdict if verdict in verdicts)


def _facts(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the decision was based on: what is asked for, what was there before, and by which code and policies it was judged."""
    facts: Mapping[str, Any] = body.get("facts", {})
    contracts = facts.get("contracts", {})
    shown = ("address", "attribute", "action", "before", "value", "declared", "in_code", "sensitive", "implied")
    return {
        "effects": [
            {**{name: effect.get(name) for name in shown}, "contract": contracts.get(effect["address"], "")}
            for effect in body["effects"]
        ],
        "claims": facts.get("claims", []),
        "dependants": facts.get("dependants", []),
        "flips": facts.get("flips", {}),
        "open_claims": facts.get("open_claims", 0),
        "code": body["decision"]["code"],
        "policies": body["decision"]["bundle"],
    }


def _nearest(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The nearest legal value of each attribute whose value was refused."""
    offers = (finding.get("offer") or {} for finding in findings)
    return [
        {"address": offer["address"], "attribute": offer["attribute"], "value": offer["nearest"]}
        for offer in offers
        if offer.get("nearest") is not None
    ]


def come_back(decision: Mapping[str, Any]) -> dict[str, Any]:
    """When the same call may pass: `at` is a time if only time is in the way, `needs` says what else is (`human`, `change`, `settled`)."""
    against = [each for each in decision["findings"] if each["verdict"] == decision["verdict"]]
    match decision["verdict"]:
        case Verdict.ALLOW:
            return {"at": None, "needs": []}
        case Verdict.HOLD:
            return {"at": None, "needs": ["human"]}
    times = [offer["retry_after"] for each in against if (offer := each.get("offer")) and offer.get("retry_after")]
    waiting = [each for each in against if (each.get("offer") or {}).get("holder")]
    if len(times) == len(against):
        return {"at": max(times), "needs": []}
    if len(waiting) == len(against):
        return {"at": None, "needs": ["settled"]}
    return {"at": None, "needs": ["change"]}


def _approval(decision: Mapping[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """Who may approve it, who did or refused to, which claims end then, and the approval that it used itself."""
    answers = [
        {
            "stage": record.stage.value,
            "by": record.actor,
            "at": to_json(record.at),
            "reason": record.body.get("reason", ""),
            "door": record.body.get("door", ""),
        }
        for record in records
        if record.stage in (Stage.APPROVED, Stage.REJECTED, Stage.BROKE_GLASS)
    ]
    return {
        "needs": decision.get("needs"),
        "answers": answers,
        "used": decision.get("consent"),
        "held_as": decision.get("attached", ""),
        "would_end": (decision.get("binding") or {}).get("contests", []),
    }
