"""The report of a checked plan: as JSON, as Markdown for a pull request or a run task, and as SARIF 2.1.0 for code scanning.

Source of the format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gateway.core.model.json import to_json
from gateway.core.model.motive import motive_to_json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.verdict import Mode, Verdict
from gateway.plans.check import ContestedClaim, PlanVerdict
from gateway.presentation.markdown import markdown_table, markdown_text
from gateway.presentation.serialize import decision_to_json, time_to_json


def plan_report(verdict: PlanVerdict, *, sees_all: bool) -> dict[str, Any]:
    """The report. A caller that does not see everybody's claims is told who holds an attribute and until when, but neither value nor motive."""
    decision = decision_to_json(verdict.decision)
    findings = [each for each in decision["findings"] if each["verdict"] != Verdict.ALLOW]
    return {
        "plan": {
            "id": verdict.check_id,
            "stack": verdict.stack,
            "digest": verdict.mutation.call.digest,
            "resources": len(verdict.plan.changes),
            "effects": len(verdict.mutation.effects),
            "actor": verdict.mutation.caller.actor,
            "motive": motive_to_json(verdict.mutation.motive),
        },
        "passes": verdict.passes,
        "decision": {**decision, "findings": findings},
        "claims": [_claim(each, sees_all=sees_all) for each in verdict.claims],
        "cost": {**verdict.cost.to_json(), "text": verdict.cost.sentence()},
        "places": dict(verdict.places),
        "not_understood": [
            {
                "address": each.address,
                "type": each.resource_type,
                "action": each.action.value,
                "with_plan": each.with_plan,
            }
            for each in verdict.unknown
        ],
        "unjudged": [
            {"address": effect.address, "attribute": effect.attribute}
            for effect in verdict.mutation.effects
            if effect.action is EffectAction.INVOKE
        ],
    }


def _claim(contested: ContestedClaim, *, sees_all: bool) -> dict[str, Any]:
    claim = contested.claim
    return {
        "id": claim.id,
        "address": claim.address,
        "attribute": claim.attribute,
        "holder": claim.actor,
        "until": time_to_json(claim.until),
        "fate": contested.fate.value,
        "planned": to_json(contested.planned),
        "value": to_json(claim.value) if sees_all else None,
        "motive": motive_to_json(claim.motive) if sees_all else None,
    }


_NAMED: Final = 10
_FATES: Final = {
    "kept": "stays: the change is refused",
    "undone": "ends: the plan outranks it",
    "held": "a human decides",
}


def plan_headline(report: Mapping[str, Any]) -> str:
    """The verdict in one sentence of plain text."""
    findings, plan = report["decision"]["findings"], report["plan"]
    denied = sum(each["verdict"] == Verdict.DENY for each in findings)
    held = len(findings) - denied
    of = f"plan of stack {plan['stack']} ({plan['resources']} resources)"
    unknown = sum(not each["with_plan"] for each in report["not_understood"])
    counts = f"{_count(denied, 'denial')}, {_count(held, 'hold')}"
    if unknown and not report["passes"]:
        said = f"{counts}, " if findings else ""
        return f"The {of} would not pass: {said}{_count(unknown, 'change')} with calls that nobody understands."
    if not findings:
        return f"The {of} would pass."
    if report["passes"]:
        return f"The {of} would pass, because Sentinel only observes the stack; enforced, it would not: {counts}."
    return f"The {of} would not pass: {counts}."


def plan_markdown(report: Mapping[str, Any]) -> str:
    """The whole report. Nothing in it is interpreted as markup, whatever a plan or a claim says."""
    parts = [f"### Sentinel: {markdown_text(plan_headline(report))}"]
    if rows := [_finding_row(each) for each in report["decision"]["findings"]]:
        parts.append(markdown_table(("", "Rule", "Resource", "Why"), rows))
    if rows := [_claim_row(each) for each in report["claims"]]:
        parts.append(markdown_table(("Claimed by", "Resource", "Claim", "Plan", "After an apply"), rows))
    parts += [markdown_text(note) for note in not_understood_notes(report)]
    if note := unjudged_note(report):
        parts.append(markdown_text(note))
    if cost := report.get("cost"):  # an older gateway tells none
        parts.append(markdown_text(cost["text"]))
    parts.append(
        f"Check `{report['plan']['id']}`, policies `{report['decision']['bundle'][:12]}`. Nothing was changed."
    )
    return "\n\n".join(parts) + "\n"


def not_understood_notes(report: Mapping[str, Any]) -> tuple[str, ...]:
    """Which changes make calls that nobody understands, and which are understood with their plan only: a sentence each, or none."""
    texts = {
        False: "Nobody understands the calls that change {}: an apply is held there, call by call, for a person.",
        True: "Understood only with the plan, so apply it with `sentinel apply`: {}.",
    }
    found = []
    for with_plan, text in texts.items():
        names = [each["address"] for each in report["not_understood"] if each["with_plan"] is with_plan]
        if names:
            found.append(text.format(_named(names)))
    return tuple(found)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def unjudged_note(report: Mapping[str, Any]) -> str:
    """Which values nobody could judge, because they are known only after the apply; empty if there are none."""
    names = [".".join((each["address"], each["attribute"])) for each in report["unjudged"]]
    if not names:
        return ""
    return f"Known only after the apply, and judged then: {_named(names)}."


def _finding_row(finding: Mapping[str, Any]) -> tuple[str, ...]:
    where = _place(finding)
    return (
        "denied" if finding["verdict"] == Verdict.DENY else "held",
        markdown_text(finding["rule"]),
        where,
        markdown_text(finding["reason"]),
    )


def _claim_row(claim: Mapping[str, Any]) -> tuple[str, ...]:
    motive = claim["motive"] or {}
    why = "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part)
    until = f"until {claim['until'][:19]}" if claim["until"] else "without end"
    held = ", ".join(part for part in (_value(claim["value"]), why, until) if part)
    return (
        markdown_text(claim["holder"]),
        _place(claim),
        markdown_text(held),
        markdown_text(_value(claim["planned"])),
        _FATES[claim["fate"]],
    )


def _place(about: Mapping[str, Any]) -> str:
    return markdown_text(".".join(part for part in (about["address"], about["attribute"]) if part) or "the whole plan")


def _value(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


_NOT_UNDERSTOOD: Final = "plan.not_understood"
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_CHECKS: Final = {
    "bounds": "A contract beside the Terraform code (*.sentinel.hcl), or a condition in the code, does not allow the change.",
    "dependencies": "Other resources depend on what the plan changes.",
    "policy": "A guardrail denies the change, or holds it for a human.",
    "arbitration": "Another actor holds the attribute, for a reason that ranks higher or about as high.",
    "quarantine": "The resource was changed past Sentinel and waits for a human.",
}
_OTHER: Final = "Sentinel would not carry out the change."
_UNDONE: Final = "claims.undone"


def plan_sarif(report: Mapping[str, Any], *, plan_file: str, root: str = "") -> dict[str, Any]:
    """The log: a result for each objection, and a note for each claim that the apply would rightly end.

    `plan_file` is where a result without a block in the code points to; `root` is the path of the stack in its repository.
    """
    observed = report["decision"]["mode"] == Mode.OBSERVE
    places = _Places(report["places"], plan_file, root)
    results = [_of_finding(finding, places, observed=observed) for finding in report["decision"]["findings"]]
    results += [_of_claim(claim, places) for claim in report["claims"] if claim["fate"] == "undone"]
    results += [_of_unknown(each, places) for each in report["not_understood"] if not each["with_plan"]]
    rules = _rules([*report["decision"]["findings"], *({"rule": each["ruleId"]} for each in results)])
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "Sentinel", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [{**each, "ruleIndex": numbers[each["ruleId"]]} for each in results],
        "automationDetails": {"id": f"sentinel-plan-check/{report['plan']['stack']}/"},
        "properties": {
            "plan": report["plan"]["id"],
            "passes": report["passes"],
            "bundle": report["decision"]["bundle"],
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


class _Places:
    """Where the blocks of addresses are."""

    def __init__(self, places: Mapping[str, str], plan_file: str, root: str) -> None:
        self._places = places
        self._plan_file = plan_file
        self._root = root.strip("/")

    def location(self, address: str) -> dict[str, Any]:
        """The location of a resource: its block, or else the plan."""
        path, _, line = self._places.get(address, "").rpartition(":")
        uri = "/".join(part for part in (self._root, path) if part) if path else self._plan_file
        found: dict[str, Any] = {
            "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": int(line) if path else 1}}
        }
        return (
            {**found, "logicalLocations": [{"fullyQualifiedName": address, "kind": "resource"}]} if address else found
        )


def _of_finding(finding: Mapping[str, Any], places: _Places, *, observed: bool) -> dict[str, Any]:
    level = {Verdict.DENY.value: "error", Verdict.HOLD.value: "warning"}[finding["verdict"]]
    return _result(finding["rule"], "note" if observed else level, finding["reason"], finding, places)


def _of_claim(claim: Mapping[str, Any], places: _Places) -> dict[str, Any]:
    text = f"The apply would end the claim of {claim['holder']} on {claim['attribute']} of {claim['address']}, which the plan outranks."
    return _result(_UNDONE, "note", text, claim, places)


def _of_unknown(change: Mapping[str, Any], places: _Places) -> dict[str, Any]:
    text = f"Nobody understands the calls that {change['action']} {change['address']}, so an apply is held there for a person."
    return _result(_NOT_UNDERSTOOD, "warning", text, {"address": change["address"], "attribute": ""}, places)


def _result(rule: str, level: str, text: str, about: Mapping[str, Any], places: _Places) -> dict[str, Any]:
    address, attribute = about["address"], about["attribute"]
    print_of = hashlib.sha256(f"{rule}\n{address}\n{attribute}".encode()).hexdigest()
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [places.location(address)],
        "partialFingerprints": {"sentinelFinding/v1": print_of},
        "properties": {"address": address, "attribute": attribute},
    }


def _rules(findings: Iterable[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
    """A description of each rule, once."""
    checks: dict[str, str] = {}
    for finding in findings:
        checks.setdefault(finding["rule"], finding.get("check", ""))
    return [{"id": rule, "shortDescription": {"text": _CHECKS.get(check, _OTHER)}} for rule, check in checks.items()]
