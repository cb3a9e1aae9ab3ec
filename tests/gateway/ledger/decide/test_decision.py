"""The transaction of DECIDED is all or nothing, and in observe mode no claim blocks it."""

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import ClaimTaken, TooManyHeld
from gateway.core.model.claim import Relation, StandingClaim
from gateway.core.model.mutation import EffectAction
from gateway.core.model.verdict import Mode, Verdict
from gateway.ledger.decide import decision

TABLES = ("records", "record_resources", "claims", "attempts", "holds", "approvals")


def _counts(scene: Any) -> Mapping[str, int]:
    connection = sqlite3.connect(scene.ledger._store._engine.url.database)
    try:
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}  # noqa: S608
    finally:
        connection.close()


@pytest.mark.parametrize(
    "step", ["_end_replaced", "_use_approval", "_append", "_take_claims", "_refuse_too_many", "_insert_attempt"]
)
async def test_if_any_step_fails_nothing_is_stored(scene: Any, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fails(*_arguments: object, **_named: object) -> None:
        raise RuntimeError("broke")

    before = _counts(scene)
    monkeypatch.setattr(decision, step, fails)
    change = scene.mutation()
    with pytest.raises(RuntimeError):
        await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    assert _counts(scene) == before


async def test_the_unique_index_refuses_a_second_claim_even_if_the_check_missed_it(
    scene: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.execute(scene.mutation())
    monkeypatch.setattr(decision, "_refuse_taken", lambda *_arguments: None)
    before, rival = _counts(scene), scene.mutation(actor="rival")
    with pytest.raises(ClaimTaken):
        await scene.ledger.record_decision(rival, scene.facts(rival), scene.decision())
    assert _counts(scene) == before


async def test_in_observe_mode_even_a_claim_in_flight_is_superseded(scene: Any) -> None:
    first, second = scene.mutation(), scene.mutation(7, actor="b")
    [old] = await scene.ledger.record_decision(first, scene.facts(first), scene.decision())
    observed = scene.decision(Verdict.DENY, mode=Mode.OBSERVE, supersedes=(old.id,))
    [new] = await scene.ledger.record_decision(second, scene.facts(second, Mode.OBSERVE), observed)
    assert [claim.id for claim in await scene.ledger.claims()] == [new.id]


@pytest.mark.parametrize(("standing", "wanted"), [("tags", "tags.owner"), ("tags.owner", "tags"), ("delay", "delay")])
@pytest.mark.parametrize("value", [4, 7], ids=["restated", "changed"])
async def test_a_claim_that_another_actor_took_since_the_survey_is_in_the_way(
    scene: Any, standing: str, wanted: str, value: int
) -> None:
    await scene.execute(scene.mutation(9, standing, actor="other"))
    before, change = _counts(scene), scene.mutation(value, wanted)
    with pytest.raises(ClaimTaken, match="is held by other"):
        await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    assert _counts(scene) == before


@pytest.mark.parametrize("actor", ["agent", "rival"])
@pytest.mark.parametrize("wanted", ["tags", "tags.owner", "tags.owner.x"])
@pytest.mark.parametrize("value", [4, 7], ids=["restated", "changed"])
async def test_nothing_is_set_over_an_unsettled_claim_whoever_asks(
    scene: Any, actor: str, wanted: str, value: int
) -> None:
    first = scene.mutation(9, "tags.owner")
    claims = await scene.ledger.record_decision(first, scene.facts(first), scene.decision())
    change = scene.mutation(value, wanted, actor=actor)
    seen = tuple(StandingClaim(claim=claim, relation=Relation.SAME) for claim in claims)
    facts = replace(scene.facts(change), claims=seen)
    with pytest.raises(ClaimTaken, match="is being changed, or is in doubt"):
        await scene.ledger.record_decision(change, facts, scene.decision())


async def test_an_invoked_or_created_attribute_is_refused_over_an_unsettled_claim_too(scene: Any) -> None:
    first = scene.mutation(9)
    await scene.ledger.record_decision(first, scene.facts(first), scene.decision())
    for action in (EffectAction.INVOKE, EffectAction.CREATE):
        change = scene.mutation(None, actor="rival", action=action)
        with pytest.raises(ClaimTaken):
            await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    whole = scene.mutation(None, "*", actor="rival", action=EffectAction.INVOKE)
    await scene.ledger.record_decision(whole, scene.facts(whole), scene.decision())


async def test_an_actor_takes_no_more_claims_than_its_limit(scene: Any) -> None:
    limit = {"claims_limit": 2}
    for attribute in ("a", "b"):
        await scene.execute(scene.mutation(9, attribute), obligations=limit)
    before, third = _counts(scene), scene.mutation(9, "c")
    with pytest.raises(ClaimTaken, match="no more than 2 claims"):
        await scene.ledger.record_decision(third, scene.facts(third), scene.decision(obligations=limit))
    assert _counts(scene) == before
    restated = scene.mutation(4, "c")
    await scene.execute(restated, obligations=limit)
    await scene.execute(scene.mutation(9, "c", actor="another"), obligations=limit)


async def test_an_actor_at_its_limit_takes_no_more_claims_than_it_gives_up(scene: Any) -> None:
    limit = {"claims_limit": 2}
    (held,) = await scene.execute(scene.mutation(9, "a"), obligations=limit)
    await scene.execute(scene.mutation(9, "b"), obligations=limit)
    (again,) = await scene.execute(scene.mutation(8, "a"), obligations=limit, supersedes=(held.id,))
    both = scene.mutation(7, "a")
    both = replace(both, effects=(*both.effects, *scene.mutation(7, "c").effects))
    decision = scene.decision(obligations=limit, supersedes=(again.id,))
    with pytest.raises(ClaimTaken, match="no more than 2 claims"):
        await scene.ledger.record_decision(both, scene.facts(both), decision)
    (others,) = await scene.execute(scene.mutation(9, "d", actor="another"), obligations=limit)
    taken = scene.mutation(7, "d")
    decision = scene.decision(obligations=limit, supersedes=(others.id,))
    with pytest.raises(ClaimTaken, match="no more than 2 claims"):  # another's claim is none that it gives up
        await scene.ledger.record_decision(taken, scene.facts(taken), decision)


async def test_no_more_calls_of_an_actor_wait_for_people_than_its_limit(scene: Any) -> None:
    async def ask(value: int, actor: str = "agent", days: float = 0) -> None:
        at = replace(scene, now=scene.now + timedelta(days=days))
        change = at.mutation(value, actor=actor)
        held = at.decision(Verdict.HOLD, obligations={"open_holds": 2})
        await at.ledger.record_decision(change, at.facts(change), held)

    await ask(7)
    await ask(8)
    before = _counts(scene)
    with pytest.raises(TooManyHeld, match="2 calls of agent wait for people already"):
        await ask(9)
    assert _counts(scene) == before
    await ask(9, actor="another")
    await ask(9, days=1.1)


async def test_a_claim_on_what_belongs_together_that_was_taken_since_the_survey_is_in_the_way(scene: Any) -> None:
    [claim] = await scene.execute(scene.mutation(9, "other", actor="rival"))
    change = scene.mutation(7, "delay")
    coupled = ((claim.address, "other"), (claim.address, "third"))
    facts = replace(scene.facts(change), coupled=coupled)
    with pytest.raises(ClaimTaken, match="other is held by rival"):
        await scene.ledger.record_decision(change, facts, scene.decision())
    seen = (StandingClaim(claim=claim, relation=Relation.RESOURCE),)
    await scene.ledger.record_decision(change, replace(facts, claims=seen), scene.decision())


async def test_the_own_claim_on_what_belongs_together_is_in_nobodys_way(scene: Any) -> None:
    [claim] = await scene.execute(scene.mutation(9, "other"))
    change = scene.mutation(7, "delay")
    facts = replace(scene.facts(change), coupled=((claim.address, "other"),))
    assert len(await scene.ledger.record_decision(change, facts, scene.decision())) == 1
