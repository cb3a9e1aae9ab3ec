"""What is said about a checked plan, as JSON: the form that the API answers, and that SARIF and Markdown are made of."""

from typing import Any

from gateway.doors.serialize import decision_to_json, time_to_json
from gateway.model.json import to_json
from gateway.model.motive import motive_to_json
from gateway.model.mutation import EffectAction
from gateway.model.verdict import Verdict
from gateway.plan_check import ContestedClaim, PlanVerdict


def plan_report(verdict: PlanVerdict, *, sees_all: bool) -> dict[str, Any]:
    """The report. A caller that does not see everybody's claims is told who holds an attribute and until when, but neither value nor motive."""
    decision = decision_to_json(verdict.decision)
    findings = [each for each in decision["findings"] if each["verdict"] != Verdict.ALLOW]
    return {
        "plan": {
            "id": verdict.id,
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
        "places": dict(verdict.places),
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
