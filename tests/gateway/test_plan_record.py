"""The record of a checked plan is small and holds no value of it."""

import json

from gateway.model.claim import Claim
from gateway.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.model.plan import Plan
from gateway.model.verdict import Decision, Finding, Verdict
from gateway.plan_check import ClaimFate, ContestedClaim, PlanVerdict
from gateway.plan_record import MOST_NAMED, plan_record
from tests.kit.doubles import HUMAN, NOW

CLAIM = Claim(id="clm_1", mutation_id="mut_1", address="a.b", attribute="x", value="claimed-value", actor="other", kind=HUMAN.kind, motive=None, since=NOW)  # fmt: skip


def verdict(findings: int) -> PlanVerdict:
    """A verdict with so many objections."""
    effects = tuple(Effect(address="a.b", attribute=f"x{n}", action=EffectAction.SET, value="planned-value", resource_type="a") for n in range(findings))  # fmt: skip
    mutation = Mutation(id="pln_1", caller=HUMAN, call=Call(service="terraform", operation="apply"), call_class=CallClass.MUTATION, motive=None, effects=effects)  # fmt: skip
    objections = tuple(Finding(check="bounds", verdict=Verdict.DENY, rule="bounds.max", reason="x = planned-value", address="a.b", attribute=f"x{n}") for n in range(findings))  # fmt: skip
    claims = (ContestedClaim(claim=CLAIM, planned="planned-value", fate=ClaimFate.KEPT),)
    return PlanVerdict(id="pln_1", stack="kafka", plan=Plan(changes=()), mutation=mutation, decision=Decision(findings=objections), claims=claims)  # fmt: skip


def test_it_names_what_was_objected_to_and_counts_the_rest() -> None:
    record, resources = plan_record(verdict(80), at=NOW, origin="api")
    text = json.dumps(record.body)
    assert "planned-value" not in text
    assert "claimed-value" not in text
    decision = record.body["decision"]
    assert isinstance(decision, dict)
    assert (len(decision["objections"]), decision["more"], decision["verdict"]) == (MOST_NAMED, 30, "deny")
    assert (len(resources), record.mutation_id, record.actor, record.stack) == (MOST_NAMED, "pln_1", "human", "kafka")
    assert record.body["claims"] == [{"id": "clm_1", "fate": "kept", "holder": "other"}]
