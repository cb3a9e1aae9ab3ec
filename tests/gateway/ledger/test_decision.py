"""The transaction of DECIDED is all or nothing, and in observe mode no claim blocks it."""

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import ClaimTaken
from gateway.ledger import decision
from gateway.ledger.decision import write_set
from gateway.model.verdict import Mode, Verdict


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


TABLES = ("records", "record_resources", "claims", "attempts", "holds", "approvals")


def _counts(scene: Any) -> Mapping[str, int]:
    connection = sqlite3.connect(scene.ledger._store._engine.url.database)
    try:
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}  # noqa: S608
    finally:
        connection.close()


@pytest.mark.parametrize("step", ["_end_replaced", "_use_approval", "_append", "_take_claims", "_insert_attempt"])
async def test_if_any_step_fails_nothing_is_stored(scene: Any, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fails(*_arguments: object) -> None:
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
