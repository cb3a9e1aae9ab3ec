"""Writes an explanation in plain English, one idea a line."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.doors.undone import undone_lines

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
