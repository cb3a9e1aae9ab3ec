"""Explains one mutation from its records alone: what was checked, by which rule, on what facts, against whom, and what to do next."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from gateway.core.model.caller import ActorKind
from gateway.core.model.cost import cost_sentence
from gateway.core.model.json import to_json
from gateway.core.model.mutation import UNREAD
from gateway.core.model.verdict import Verdict
from gateway.core.records.approvals import ConsentBody, RejectedBody, WithdrawnBody
from gateway.core.records.decided import DecidedBody, RecordedDecision, RecordedFinding
from gateway.core.records.record import Record, to_members
from gateway.core.texts import by_rule
from gateway.core.times import utc_text
from gateway.presentation.mutation_state import MutationState, mutation_state
from gateway.presentation.serialize import undone_lines, undone_values

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOR_ALL = ("address", "attribute", "actor", "outcome")
_FOR_PEOPLE = ("kind", "intent", "motivation", "score", "terms")
WINNERS_SHOWN = 12
"""How many of the motives that would have won are listed, the weakest first: those are the nearest to what was asked."""


def contest_of(contest: Mapping[str, Any] | None, *, sees_all: bool) -> dict[str, Any] | None:
    """The contest as this caller may see it; None if there was none."""
    if contest is None:
        return None
    rivals = [
        {"claim": claim, **_rival(rival, sees_all=sees_all)} for claim, rival in sorted(contest["rivals"].items())
    ]
    if not sees_all:
        return {"rivals": rivals}
    winning = sorted(contest["winning"], key=lambda each: (each["score"], each["intent"], each["motivation"]))
    return {
        "incoming": contest["incoming"],
        "rivals": rivals,
        "needed": contest["needed"],
        "winning": winning[:WINNERS_SHOWN],
        "more_winning": max(0, len(winning) - WINNERS_SHOWN),
    }


def _rival(rival: Mapping[str, Any], *, sees_all: bool) -> dict[str, Any]:
    names = (*_FOR_ALL, *_FOR_PEOPLE) if sees_all else _FOR_ALL
    return {
        **{name: rival[name] for name in names},
        "class": rival.get("class", ""),
        "since": _time(rival["since_ns"]),
        "until": _time(rival["until_ns"]),
    }


def _time(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    return utc_text(_EPOCH + timedelta(microseconds=nanoseconds // 1000))


_VERDICTS = {"allow": "allowed", "hold": "held for a human", "deny": "refused"}
_VERBS = {"allow": "allowed it", "hold": "held it for a human", "deny": "refused it"}
_OUTCOMES = {
    "wins": "ranks lower, so it gave way",
    "loses": "ranks higher",
    "close": "ranks about as high, so an approver must decide",
    "unsettled": "is being changed, and its outcome is not known yet",
    "agrees": "wants the same value, so it stands",
}


def explanation_text(document: Mapping[str, Any]) -> str:
    """The explanation as text. Lines that begin with two spaces give the details of the line above."""
    parts = (_head, _checks, _facts, _inner, _contest, _approval, _next)
    return "\n".join(line for part in parts for line in part(document))


def _head(document: Mapping[str, Any]) -> Iterator[str]:
    motive = document["motive"]
    why = f"for {motive['intent']}/{motive['motivation']}" if motive else "without a motive"
    yield (
        f"{document['actor']} ({document['kind']}) asked for {document['operation']} {why} at {document['at']}. "
        f"{_decided(document)} (mutation {document['mutation_id']}). It is now: {document['state'].replace('_', ' ')}."
    )


def _decided(document: Mapping[str, Any]) -> str:
    if document["mode"] == "observe" and document["verdict"] != "allow":
        return f"Sentinel would have {_VERBS[document['verdict']]}, if this stack were not only observed"
    return f"Sentinel {_VERBS[document['verdict']]}"


def _checks(document: Mapping[str, Any]) -> Iterator[str]:
    passed = []
    for check in document["checks"]:
        against = [rule for rule in check["rules"] if rule["verdict"] != "allow"]
        if not against:
            passed.append(check["check"])
            continue
        yield f"Check {check['check']}: {_VERDICTS[check['verdict']]}."
        for named, reasons in by_rule((_named(rule), rule["reason"]) for rule in against).items():
            yield f"  {' '.join(reasons)} [{named}]"
    if passed:
        yield f"Nothing against it: {', '.join(passed)}."


def _named(rule: Mapping[str, Any]) -> str:
    """The rule with its title, the class of the conflict, and where it stands."""
    named = f"{rule['rule']}, {rule['title']}" if rule["title"] else rule["rule"]
    named += f", {rule['conflict']} conflict" if rule.get("conflict") else ""
    return named + (f", {rule['source']}" if rule["source"] else ", built into Sentinel")


def _facts(document: Mapping[str, Any]) -> Iterator[str]:
    facts = document["facts"]
    yield "It was decided on these facts:"
    for effect in facts["effects"]:
        yield f"  {_effect(effect)}"
    if facts["dependants"]:
        yield f"  What depends on it: {', '.join(facts['dependants'])}."
    if facts["cost"]:
        yield f"  {facts['cost']}"
    for attribute, times in facts["flips"].items():
        yield f"  {attribute} changed hands {times} times lately."
    if facts["open_claims"]:
        number = facts["open_claims"]
        yield f"  {document['actor']} held {number} claim{'' if number == 1 else 's'}."
    yield f"  Code {facts['code'][:12] or 'unknown'}, policies {facts['policies'][:12] or 'unknown'}."


def _inner(document: Mapping[str, Any]) -> Iterator[str]:
    inner = document["inner"]
    if inner is None:
        return
    yield "It makes AWS carry out:"
    for call in inner["calls"]:
        role = call.get("role")
        rights = f", with {role}" if role == UNREAD else f", with the rights of {role}" if role else ""
        known = "" if call.get("understood") else ", whose effects are not known"
        given = f": {_value(call['parameters'])}" if call.get("parameters") else ""
        yield f"  {call['service']}:{call['operation']} ({call['class']}){rights}{known}{given}."
    if inner.get("more"):
        yield f"  And {inner['more']} more."


def _effect(effect: Mapping[str, Any]) -> str:
    what = effect["address"] if effect["attribute"] == "*" else f"{effect['address']}.{effect['attribute']}"
    contract = f"; contract {effect['contract']}" if effect["contract"] else ""
    contract = f" by {effect['by']}{contract}" if effect.get("by") else contract
    if effect["action"] != "set":
        return f"{effect['action']} {what}{contract}."
    if effect["sensitive"]:
        return f"{what}: a secret{contract}."
    declared = f", in code {_value(effect['declared'])}" if effect["in_code"] else ", not in code"
    return f"{what}: asked for {_value(effect['value'])}, before it {_value(effect['before'])}{declared}{contract}."


def _contest(document: Mapping[str, Any]) -> Iterator[str]:
    contest = document["contest"]
    if contest is None:
        return
    if "incoming" in contest:
        yield f"This change scored {_score(contest['incoming'])}."
    for rival in contest["rivals"]:
        until = f" until {rival['until']}" if rival["until"] else " until it is superseded, released or merged"
        yield f"{rival['actor']} holds {rival['attribute']} of {rival['address']}{until}; that claim {_OUTCOMES[rival['outcome']]}{_class(rival)}."
        if "terms" in rival:
            motive = f"{rival['intent']}/{rival['motivation']}" if rival["motivation"] else "no stated motive"
            yield f"  It is held for {motive} and scored {_score(rival)}."
    if contest.get("needed") is not None:
        winners = ", ".join(f"{each['intent']}/{each['motivation']} ({each['score']})" for each in contest["winning"])
        more = f" and {contest['more_winning']} more" if contest["more_winning"] else ""
        yield f"To win, it needed {contest['needed']}. With proof, these would have won: {winners or 'none'}{more}."


def _class(rival: Mapping[str, Any]) -> str:
    return f" ({rival['class']} conflict)" if rival.get("class") else ""


def _score(side: Mapping[str, Any]) -> str:
    terms = " ".join(f"{value:+d} {name}" for name, value in sorted(side["terms"].items()) if value)
    return f"{side['score']} ({terms or 'nothing counts'})"


def _approval(document: Mapping[str, Any]) -> Iterator[str]:
    approval = document["approval"]
    if approval["held_as"]:
        yield f"The same call was held already as {approval['held_as']}; one approval is enough for both."
    if (needs := approval["needs"]) and document["verdict"] == "hold":
        roles = ", and ".join(" or ".join(wanted) for wanted in needs["roles"])
        yield f"Who may approve it: people with the role {roles}. {needs['reason']}"
    for answer in approval["answers"]:
        said = {"approved": "approved it", "rejected": "rejected it", "broke_glass": "broke the glass and passed it"}
        reason = f": {answer['reason']}" if answer["reason"] else ""
        door = f" ({answer['door']})" if answer["door"] else ""
        yield f"{answer['by']} {said[answer['stage']]} at {answer['at']}{door}{reason}."
        if key := answer.get("ended_with"):
            yield f"  This counts no more: key {key} was revoked, and the call waits again."
    if used := approval["used"]:
        how = "passed in an emergency by" if used["broke_glass"] else "approved by"
        held = used["held"]
        yield f"It was {how} {', '.join(used['approvers'])} (held as {held}; `sentinel explain {held}` says why)."


def _next(document: Mapping[str, Any]) -> Iterator[str]:
    yield from undone_lines(document.get("undone", ()))
    for offer in document["nearest"]:
        yield f"The nearest legal value of {offer['attribute']} of {offer['address']} is {_value(offer['value'])}."
    come_back = document["come_back"]
    if come_back["at"]:
        yield f"Come back at {come_back['at']}: by then what is in the way has ended, unless it is renewed."
    by_person = document["kind"] == ActorKind.HUMAN.value
    for need in come_back["needs"]:
        yield {
            "human": (
                f"Repeat the identical call once another person has approved it; `sentinel holds {document['mutation_id']}` says who may."
                if by_person
                else "Repeat the identical call once a human has approved it."
            ),
            "repeat": f"Repeat the identical call before {come_back.get('until')}: it passes once.",
            "settled": "Come back when the other change is settled; read the claim to see whether it is.",
            "change": f"Waiting does not help: ask for something else{'' if by_person else ', or ask a human'}.",
            "rejected": "It was rejected: ask for something else, or ask who rejected it.",
        }[need]


def _value(value: object) -> str:
    return "nothing known" if value is None else json.dumps(value, ensure_ascii=False)


def explanation_of(records: Sequence[Record], *, sees_all: bool) -> dict[str, Any]:
    """The explanation of a mutation from its records, oldest first; the first DECIDED is explained.

    Callers that may not see all are not told other actors' motives, evidence and ranks, nor which motives would have won.
    """
    decided, body = next((record, record.body) for record in records if isinstance(record.body, DecidedBody))
    decision = body.decision
    document: dict[str, Any] = {
        "mutation_id": decided.mutation_id,
        "at": to_json(decided.at),
        "actor": decided.actor,
        "kind": body.caller.kind.value,
        "on_behalf_of": body.caller.on_behalf_of,
        "stack": decided.stack,
        "operation": body.call.name,
        "motive": to_members(body.motive),
        "verdict": decision.verdict.value,
        "mode": decision.mode.value,
        "state": mutation_state(records),
        "checks": _explanation_checks(decision.findings),
        "facts": _explanation_facts(body),
        "inner": to_members(body.inner),
        "contest": contest_of(decision.contest, sees_all=sees_all),
        "nearest": _nearest(decision.findings),
        "come_back": _now(come_back(decision), records),
        "approval": _explanation_approval(decision, records),
        "claims": to_members(body.claims),
        "undone": undone_values(records),
        "supersedes": list(decision.supersedes),
        "left_out": to_members(body.cut),
        "records": [{"seq": record.seq, "stage": record.stage.value, "at": to_json(record.at)} for record in records],
    }
    return {**document, "text": explanation_text(document)}


def _explanation_checks(findings: Sequence[RecordedFinding]) -> list[dict[str, Any]]:
    """The checks in the order in which they ran, each with what its rules found."""
    by_check: dict[str, list[RecordedFinding]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding)
    return [
        {"check": name, "verdict": _strongest(found), "rules": [_rule(finding) for finding in found]}
        for name, found in by_check.items()
    ]


def _rule(finding: RecordedFinding) -> dict[str, Any]:
    offer = finding.offer
    shown = ("rule", "verdict", "reason", "address", "attribute", "title", "source")
    return {
        **{name: to_members(getattr(finding, name)) for name in shown},
        "conflict": finding.conflict.value if finding.conflict else "",
        "nearest": to_members(offer.nearest) if offer else None,
        "holder": offer.holder if offer else "",
        "retry_after": offer.retry_after if offer else None,
    }


def _strongest(findings: Sequence[RecordedFinding]) -> str:
    verdicts = {finding.verdict for finding in findings}
    return next(verdict.value for verdict in Verdict if verdict in verdicts)


def _explanation_facts(body: DecidedBody[Any]) -> dict[str, Any]:
    """What the decision was based on: what is asked for, what was there before, and by which code and policies it was judged."""
    facts = body.facts
    shown = ("address", "attribute", "action", "before", "value", "declared", "in_code", "sensitive", "implied", "by")
    return {
        "effects": [
            {
                **{name: to_members(getattr(effect, name)) for name in shown},
                "contract": facts.contracts.get(effect.address, ""),
            }
            for effect in body.effects
        ],
        **{name: to_members(getattr(facts, name)) for name in ("claims", "dependants", "flips", "open_claims")},
        "cost": _cost(body),
        "code": body.decision.code,
        "policies": body.decision.bundle,
    }


def _cost(body: DecidedBody[Any]) -> str:
    """The estimate as a sentence; empty where it is known to be nothing, and where the policies had no price table."""
    cost = body.facts.cost
    if cost is not None:
        return cost_sentence(cost.known_cents, cost.unknown, cost.unknown_count, cost.dated)
    return "" if body.effects else "Estimated cost: not known, because the effects of the call are not."


def _nearest(findings: Sequence[RecordedFinding]) -> list[dict[str, Any]]:
    """The nearest legal value of each attribute whose value was refused."""
    offers = (finding.offer for finding in findings)
    return [
        {"address": offer.address, "attribute": offer.attribute, "value": to_members(offer.nearest)}
        for offer in offers
        if offer is not None and offer.nearest is not None
    ]


def come_back(decision: RecordedDecision) -> dict[str, Any]:
    """When the same call may pass: `at` is a time if only time is in the way, `needs` says what else is (`human`, `change`, `settled`)."""
    match decision.verdict:
        case Verdict.ALLOW:
            return {"at": None, "needs": []}
        case Verdict.HOLD:
            return {"at": None, "needs": ["human"]}
    against = [finding.offer for finding in decision.findings if finding.verdict is Verdict.DENY]
    times = [offer.retry_after for offer in against if offer and offer.retry_after]
    waiting = [offer for offer in against if offer and offer.holder]
    if len(times) == len(against):
        return {"at": max(times), "needs": []}
    if len(waiting) == len(against):
        return {"at": None, "needs": ["settled"]}
    return {"at": None, "needs": ["change"]}


def _now(told: dict[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """The same for a call that was held, now that people have answered."""
    match mutation_state(records):
        case MutationState.APPROVED:
            until = next(record.body.until for record in reversed(records) if isinstance(record.body, ConsentBody))
            return {"at": None, "needs": ["repeat"], "until": until}
        case MutationState.REJECTED:
            return {"at": None, "needs": ["rejected"]}
    return told


def _explanation_approval(decision: RecordedDecision, records: Sequence[Record]) -> dict[str, Any]:
    """Who may approve it, who did or refused to (and the revoked key that ended it), which claims end then, and the approval that it used itself."""
    ended = {record.body.approval: record.body.key for record in records if isinstance(record.body, WithdrawnBody)}
    answers = [
        {
            "stage": record.stage.value,
            "by": record.actor,
            "at": to_json(record.at),
            "reason": record.body.reason,
            "door": record.body.door,
            "ended_with": ended.get(record.body.approval, "") if isinstance(record.body, ConsentBody) else "",
        }
        for record in records
        if isinstance(record.body, ConsentBody | RejectedBody)
    ]
    return {
        "needs": to_members(decision.needs),
        "answers": answers,
        "used": to_members(decision.consent),
        "held_as": decision.attached,
        "would_end": list(decision.binding.contests) if decision.binding else [],
    }
