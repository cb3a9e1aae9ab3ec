"""One line of `sentinel records`: what was asked and changed, what was decided by which rule and why, and what came of it."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from gateway.cli.changes import few_changes, shortened
from gateway.model.verdict import Verdict

COLUMNS = ("seq", "at", "stage", "actor", "what", "verdict", "rule: reason", "motive", "mutation")


def record_row(record: Mapping[str, Any]) -> list[str]:
    """The cells of one record, for `COLUMNS`."""
    body = record["body"]
    decision = body.get("decision") or {}
    objections = [each for each in decision.get("findings", ()) if each["verdict"] != Verdict.ALLOW]
    motive = body.get("motive") or {}
    return [
        str(record["seq"]),
        record["at"][:19].replace("T", " "),
        record["stage"],
        record["actor"],
        " ".join(part for part in (_operation(body), _changes(body)) if part),
        str(decision.get("verdict", "") or body.get("outcome", "") or _times(body) or _until(body)),
        shortened(
            "; ".join(dict.fromkeys(f"{each['rule']}: {each['reason']}" for each in objections)) or _reason(body)
        ),
        "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part),
        record["mutation_id"],
    ]


def _times(body: Mapping[str, Any]) -> str:
    """How many calls a record counts, and how many of them AWS answered with an error; empty if it counts none."""
    count, errors = body.get("count"), body.get("errors")
    return "" if count is None else f"{count} times" + (f", {errors} errors" if errors else "")


def _until(body: Mapping[str, Any]) -> str:
    """Until when an approval is valid, or a change for a time now lasts; empty if neither."""
    until = body.get("until")
    return f"until {until[:19].replace('T', ' ')}" if isinstance(until, str) and until else ""


def _operation(body: Mapping[str, Any]) -> str:
    call = body.get("call") or {}
    named = ":".join(part for part in (call.get("service", ""), call.get("operation", "")) if part)
    return named or str(body.get("about", "")) or _about_actor(body)


def _about_actor(body: Mapping[str, Any]) -> str:
    """What was stopped or resumed, whose breaker has which state, who was told, or who is who in a chat."""
    if "of" in body:
        return f"breaker of {body['of']}: {body['state']}"
    if "receiver" in body:
        return _about_notices(body)
    if "linked" in body:
        return f"chat user {body['user']} is {body['actor'] if body['linked'] else 'nobody'} now"
    return f"{body['scope']} {body['name']}".strip() if "scope" in body else ""


def _about_notices(body: Mapping[str, Any]) -> str:
    """Which receiver, and what became of how many notices to it."""
    states = Counter(str(each["state"]).replace("_", " ") for each in body.get("results", ()))
    came = ", ".join(f"{count} {state}" for state, count in states.items())
    return f"{body['receiver']}: {came or body.get('id') or 'read on'}"


def _changes(body: Mapping[str, Any]) -> str:
    """What a decision changes, what the reconciler wrote or left, or the key that a record is about."""
    if effects := body.get("effects"):
        return few_changes([{"before": None, **effect} for effect in effects])
    written = [*body.get("edits", ()), *body.get("left", ())]
    values = (f"{each['address']}.{each['attribute']} = {json.dumps(each['value'])}" for each in written)
    return ", ".join(shortened(value) for value in values) or str(body.get("key") or body.get("key_id") or "")


def _reason(body: Mapping[str, Any]) -> str:
    """Why, as far as a record without a decision says: AWS's message, the reason of a refusal, or what the reconciler did."""
    for name in ("reason", "message", "nothing_to_do"):
        if body.get(name):
            return f"{body['code']}: {body[name]}" if body.get("code") else str(body[name])
    if body.get("commit"):
        return f"commit {body['commit'][:12]} on {body.get('branch', '')}"
    if body.get("url"):
        return f"{body.get('state', '')} {body['url']}"
    return " ".join(dict.fromkeys(str(each["reason"]) for each in body.get("left", ())))
