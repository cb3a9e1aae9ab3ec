"""What a decision stores: its claims, and a record that holds the call whole unless it is denied."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateway.ledger.write_set import write_set
from gateway.model.verdict import Verdict
from tests.kit.growth import assert_linear


def test_of_two_effects_on_one_attribute_the_last_is_claimed(scene: Any) -> None:
    first, last = scene.mutation(5), scene.mutation(6)
    change = replace(first, effects=first.effects + last.effects)
    [claim] = write_set(change, scene.facts(change), scene.decision()).claims
    assert claim.value == 6


def test_effects_without_facts_count_as_changes(scene: Any) -> None:
    change = scene.mutation()
    facts = replace(scene.facts(change), subjects=())
    write = write_set(change, facts, scene.decision())
    assert len(write.claims) == 1
    body: Any = write.record.body
    assert body["effects"][0]["changes"] is True


def test_a_denial_takes_no_claims(scene: Any) -> None:
    change = scene.mutation()
    assert write_set(change, scene.facts(change), scene.decision(Verdict.DENY)).claims == ()


def test_a_denied_call_is_kept_in_few_characters_and_a_held_one_whole(scene: Any) -> None:
    change = scene.mutation("x" * 20_000)
    denied: Any = write_set(change, scene.facts(change), scene.decision(Verdict.DENY)).record.body
    held: Any = write_set(change, scene.facts(change), scene.decision(Verdict.HOLD)).record.body
    assert (denied["call"]["whole"], held["call"]["whole"]) == (False, True)
    assert held["call"]["parameters"] == {"Value": "x" * 20_000}
    assert len(str(denied["call"])) < 1_000


def test_the_work_of_recording_grows_with_the_number_of_effects(scene: Any) -> None:
    def write(size: int) -> Callable[[], object]:
        change = scene.mutation()
        effects = tuple(replace(change.effects[0], attribute=f"a{number}") for number in range(size))
        many = replace(change, effects=effects)
        facts = scene.facts(many)
        return lambda: write_set(many, facts, scene.decision())

    assert_linear(write, 50)
