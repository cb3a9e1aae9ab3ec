"""The record that a plan was checked: who asked, what was decided and about which resources; none of the plan's values."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from gateway.model.json import Json
from gateway.model.motive import motive_to_json
from gateway.model.record import Record, Stage
from gateway.model.verdict import Finding

if TYPE_CHECKING:
    from gateway.plan_check import PlanVerdict

MOST_NAMED: Final = 50
"""Findings, claims and addresses of each kind that a record names; it counts the others."""


def plan_record(verdict: "PlanVerdict", *, at: datetime, origin: str) -> tuple[Record, list[tuple[str, str]]]:
    """The record of a checked plan, and the attributes that it is about. A finding's sentence may quote a value, so it is left out."""
    named = [
        *((finding.address, finding.attribute) for finding in verdict.decision.objections if finding.address),
        *((each.claim.address, each.claim.attribute) for each in verdict.claims),
    ]
    record = Record(
        stage=Stage.PLAN_CHECKED,
        at=at,
        mutation_id=verdict.id,
        actor=verdict.mutation.caller.actor,
        stack=verdict.stack,
        body=_body(verdict, origin),
    )
    return record, list(dict.fromkeys(named))[:MOST_NAMED]


def _body(verdict: "PlanVerdict", origin: str) -> Mapping[str, Json]:
    caller, decision = verdict.mutation.caller, verdict.decision
    objections = decision.objections
    return {
        "caller": {"kind": caller.kind.value, "key_id": caller.key_id, "on_behalf_of": caller.on_behalf_of},
        "origin": origin,
        "motive": motive_to_json(verdict.mutation.motive),
        "plan": {
            "digest": verdict.mutation.call.digest,
            "terraform_version": verdict.plan.terraform_version,
            "resources": len(verdict.plan.changes),
            "effects": len(verdict.mutation.effects),
        },
        "decision": {
            "verdict": decision.verdict.value,
            "passes": verdict.passes,
            "mode": decision.mode.value,
            "bundle": decision.bundle,
            "priorities": decision.priorities,
            "code": decision.code,
            "objections": [_objection(finding) for finding in objections[:MOST_NAMED]],
            "more": max(0, len(objections) - MOST_NAMED),
        },
        "claims": [
            {"id": each.claim.id, "fate": each.fate.value, "holder": each.claim.actor}
            for each in verdict.claims[:MOST_NAMED]
        ],
    }


def _objection(finding: Finding) -> Json:
    return {
        "check": finding.check,
        "verdict": finding.verdict.value,
        "rule": finding.rule,
        "address": finding.address[:512],
        "attribute": finding.attribute[:512],
        "source": finding.source,
    }
