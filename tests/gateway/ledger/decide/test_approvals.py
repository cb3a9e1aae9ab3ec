"""Consent: who may give it, how many must, how long it lasts, and what ends it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.approval import USUAL, ApprovalRule, HoldState
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.verdict import Verdict
from gateway.presentation.serialize import hold_to_json
from tests.kit.nouns import BOUND

HOUR = timedelta(hours=1)
TWO = ApprovalRule(roles=(("approver", "dba"),), people=2, longest=2 * HOUR, reason="Two must.")


def person(name: str, roles: Sequence[str] = ("approver",), **members: Any) -> Caller:
    return Caller(actor=name, kind=members.pop("kind", ActorKind.HUMAN), key_id="K", roles=tuple(roles), **members)


ALICE, BOB, ONCALL = person("alice"), person("bob", ["dba"]), person("oncall", ["break-glass"])


async def hold(scene: Any, rule: ApprovalRule = TWO, **members: Any) -> str:
    change = scene.mutation(50)
    decision = scene.decision(Verdict.HOLD, needs=rule, **members)
    await scene.ledger.record_decision(change, scene.facts(change), decision)
    return str(change.id)


async def approve(
    scene: Any, held: str, who: Caller, *, lasts: timedelta = HOUR, late: timedelta = timedelta(0)
) -> Any:
    return await scene.ledger.approve(held, approver=who, at=scene.now + late, lasts=lasts)


async def state(scene: Any, held: str) -> HoldState:
    (found,) = await scene.ledger.holds(state=None, mutation_id=held)
    return HoldState(found.state)


async def test_two_people_consent_and_the_first_to_end_ends_the_approval(scene: Any) -> None:
    held = await hold(scene)
    one = await approve(scene, held, ALICE)
    assert (one.missing, one.others, await state(scene, held)) == (1, (), HoldState.OPEN)
    assert await approve(scene, held, ALICE, late=HOUR / 2) == one
    two = await approve(scene, held, BOB, late=HOUR / 2, lasts=9 * HOUR)
    assert (two.id, two.missing, two.others, two.until) == (one.id, 0, ("alice",), one.until)
    assert await state(scene, held) is HoldState.APPROVED


async def test_a_list_says_who_has_consented_and_how_many_are_missing(scene: Any) -> None:
    """Not who consented to other circumstances, and not once the consent has ended."""
    held, other = await hold(scene), await hold(scene, binding=replace(BOUND, code="other"))
    today = datetime.now(UTC) - scene.now

    async def listed(mutation: str) -> tuple[list[str], int]:
        (found,) = await scene.ledger.holds(state=None, mutation_id=mutation)
        shown = hold_to_json(found)
        return shown["approved_by"], shown["missing"]

    assert await listed(held) == ([], 2)
    await approve(scene, held, ALICE, late=today - 2 * HOUR)
    assert await listed(held) == ([], 2)
    await approve(scene, held, ALICE, late=today)
    assert (await listed(held), await listed(other)) == ((["alice"], 1), ([], 2))
    await approve(scene, held, BOB, late=today)
    assert await listed(held) == (["alice", "bob"], 0)


async def test_a_consent_that_has_ended_does_not_count(scene: Any) -> None:
    held = await hold(scene)
    one = await approve(scene, held, ALICE)
    late = await approve(scene, held, BOB, late=2 * HOUR)
    assert (late.missing, late.id != one.id) == (1, True)
    assert (await approve(scene, held, ALICE, late=2 * HOUR)).missing == 0


async def test_a_consent_to_other_circumstances_does_not_count(scene: Any) -> None:
    held, other = await hold(scene), await hold(scene, binding=replace(BOUND, code="other"))
    await approve(scene, held, ALICE)
    assert (await approve(scene, other, BOB)).missing == 1


async def test_an_approval_lasts_no_longer_than_policy_says(scene: Any) -> None:
    held = await hold(scene, replace(TWO, people=1))
    assert (await approve(scene, held, ALICE, lasts=9 * HOUR)).until == scene.now + 2 * HOUR


@pytest.mark.parametrize(
    "who",
    [
        person("mallory", []),
        person("mallory", ["break-glass"]),
        person("robot", kind=ActorKind.AGENT),
        person("bot", kind=ActorKind.PIPELINE),
        person("agent"),
        person("x", on_behalf_of="agent"),
        person("x", on_behalf_of="alice"),
    ],
    ids=str,
)
async def test_who_may_not(scene: Any, who: Caller) -> None:
    held = await hold(scene)
    await approve(scene, held, ALICE)
    with pytest.raises(NotAllowed):
        await approve(scene, held, who)
    assert await state(scene, held) is HoldState.OPEN


async def test_a_rejection_withdraws_a_first_consent(scene: Any) -> None:
    held = await hold(scene)
    await approve(scene, held, ALICE)
    await scene.ledger.reject(held, approver=BOB, reason="No.", at=scene.now)
    assert await state(scene, held) is HoldState.REJECTED


async def test_the_glass_is_broken_by_the_role_alone_and_once(scene: Any) -> None:
    held = await hold(scene)
    await approve(scene, held, ALICE)
    for who in (ALICE, person("robot", ["break-glass"], kind=ActorKind.AGENT)):
        with pytest.raises(NotAllowed):
            await scene.ledger.break_glass(held, human=who, reason="INC-1", at=scene.now)
    passed = await scene.ledger.break_glass(held, human=ONCALL, reason="INC-1", at=scene.now)
    assert (passed.broke_glass, passed.approver, await state(scene, held)) == (True, "oncall", HoldState.APPROVED)
    with pytest.raises(NotAllowed):
        await scene.ledger.break_glass(held, human=ONCALL, reason="INC-1", at=scene.now)
    with pytest.raises(NotFound):
        await scene.ledger.break_glass("mut_none", human=ONCALL, reason="INC-1", at=scene.now)


async def test_what_was_held_before_there_were_rules_needs_one_approver(scene: Any) -> None:
    change = scene.mutation(50)
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision(Verdict.HOLD))
    assert (await approve(scene, change.id, ALICE)).missing == USUAL.people - 1
