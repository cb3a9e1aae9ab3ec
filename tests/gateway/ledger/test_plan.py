"""What a decision will write is worked out without the store."""

from dataclasses import replace
from typing import Any

from gateway.ledger.plan import planned
from gateway.model.verdict import Verdict


def test_of_two_effects_on_one_attribute_the_last_is_claimed(scene: Any) -> None:
    first, last = scene.mutation(5), scene.mutation(6)
    asked = replace(first, effects=first.effects + last.effects)
    [claim] = planned(asked, scene.facts(asked), scene.decision()).claims
    assert claim.value == 6


def test_effects_without_facts_are_taken_to_change_something(scene: Any) -> None:
    asked = scene.mutation()
    facts = replace(scene.facts(asked), subjects=())
    plan = planned(asked, facts, scene.decision())
    assert len(plan.claims) == 1
    body: Any = plan.record.body
    assert body["effects"][0]["changes"] is True


def test_a_denial_plans_no_claims(scene: Any) -> None:
    asked = scene.mutation()
    assert planned(asked, scene.facts(asked), scene.decision(Verdict.DENY)).claims == ()
