"""The report of a checked plan as a SARIF 2.1.0 log, for code scanning.

Source of the format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gateway.model.verdict import Mode, Verdict

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
