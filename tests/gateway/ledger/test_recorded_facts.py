"""The facts of a record name what was known, only what there is, and never without end."""

from dataclasses import replace
from typing import Any

from gateway.ledger.recorded_facts import MOST_NAMED, recorded_facts
from gateway.model.contract import Contract
from gateway.model.facts import Dependant


def test_what_was_not_there_is_not_named(scene: Any) -> None:
    assert recorded_facts(scene.facts(scene.mutation())) == {}


def test_contracts_dependants_flips_and_claims_are_named_up_to_a_number(scene: Any) -> None:
    facts = scene.facts(scene.mutation())
    many = tuple(Dependant(address=f"a.{number:03}", direct=True) for number in range(100))
    subject = replace(facts.subjects[0], contract=Contract(source="x.sentinel.hcl:3"), dependants=many)
    flips = {f"a.b{number}": number for number in range(100)}
    found: Any = recorded_facts(
        replace(facts, subjects=(subject,), flips=flips, held_before=frozenset(flips), open_claims=4)
    )
    assert found["contracts"] == {"aws_sqs_queue.orders": "x.sentinel.hcl:3"}
    assert len(found["held_before"]) == MOST_NAMED
    assert (len(found["dependants"]), len(found["flips"]), found["open_claims"]) == (MOST_NAMED, MOST_NAMED, 4)
