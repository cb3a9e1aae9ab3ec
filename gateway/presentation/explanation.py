"""Explains one mutation from its records alone: what was checked, by which rule, on what facts, against whom, and what to do next."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from gateway.core.model.json import to_json
from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Record, Stage
from gateway.core.times import utc_text
from gateway.presentation.mutation_state import mutation_state
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
    "close": "ranks about as high, so a human must decide",
    "unsettled": "is being changed, and its outcome is not known yet",
}


def explanation_text(document: Mapping[str, Any]) -> str:
    """The explanation as text. Lines that begin with two spaces give the details of the line above."""
    parts = (_head, _checks, _facts, _contest, _approval, _next)
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
    for check in document["checks"]:
        against = [rule for rule in check["rules"] if rule["verdict"] != "allow"]
        yield f"Check {check['check']}: {_VERDICTS[check['verdict']] if against else 'nothing against it'}."
        for rule in against:
            named = f"{rule['rule']}, {rule['title']}" if rule["title"] else rule["rule"]
            named += f", {rule['conflict']} conflict" if rule.get("conflict") else ""
            place = f", {rule['source']}" if rule["source"] else ", built into Sentinel"
            yield f"  {rule['reason']} [{named}{place}]"


def _facts(document: Mapping[str, Any]) -> Iterator[str]:
    facts = document["facts"]
    yield "It was decided on these facts:"
    for effect in facts["effects"]:
        yield f"  {_effect(effect)}"
    if facts["dependants"]:
        yield f"  What depends on it: {', '.join(facts['dependants'])}."
    for attribute, times in facts["flips"].items():
        yield f"  {attribute} changed hands {times} times lately."
    if facts["open_claims"]:
        number = facts["open_claims"]
        yield f"  {document['actor']} held {number} claim{'' if number == 1 else 's'}."
    yield f"  Code {facts['code'][:12] or 'unknown'}, policies {facts['policies'][:12] or 'unknown'}."


def _effect(effect: Mapping[str, Any]) -> str:
    what = effect["address"] if effect["attribute"] == "*" else f"{effect['address']}.{effect['attribute']}"
    contract = f"; contract {effect['contract']}" if effect["contract"] else ""
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
    if used := approval["used"]:
        how = "passed in an emergency by" if used["broke_glass"] else "approved by"
        yield f"It was {how} {', '.join(used['approvers'])} (held as {used['held']})."


def _next(document: Mapping[str, Any]) -> Iterator[str]:
    yield from undone_lines(document.get("undone", ()))
    for offer in document["nearest"]:
        yield f"The nearest legal value of {offer['attribute']} of {offer['address']} is {_value(offer['value'])}."
    come_back = document["come_back"]
    if come_back["at"]:
        yield f"Come back at {come_back['at']}: by then what is in the way has ended, unless it is renewed."
    for need in come_back["needs"]:
        yield {
            "human": "Repeat the identical call once a human has approved it.",
            "settled": "Come back when the other change is settled; read the claim to see whether it is.",
            "change": "Waiting does not help: ask for something else, or ask a human.",
        }[need]


def _value(value: object) -> str:
    return "nothing known" if value is None else json.dumps(value, ensure_ascii=False)


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
        "checks": _explanation_checks(decision["findings"]),
        "facts": _explanation_facts(body),
        "contest": contest_of(decision.get("contest"), sees_all=sees_all),
        "nearest": _nearest(decision["findings"]),
        "come_back": come_back(decision),
        "approval": _explanation_approval(decision, records),
        "claims": body["claims"],
        "undone": undone_values(records),
        "supersedes": decision["supersedes"],
        "left_out": body.get("cut"),
        "records": [{"seq": record.seq, "stage": record.stage.value, "at": to_json(record.at)} for record in records],
    }
    return {**document, "text": explanation_text(document)}


def _explanation_checks(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
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


def _explanation_facts(body: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of the decision: the values asked for, the values before, and the revisions of code and policies."""
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


def _explanation_approval(decision: Mapping[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """The approval rule, the answers so far, the claims that an approval would end, and the approval that the mutation used."""
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
