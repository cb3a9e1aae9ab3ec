"""A claim ends when the code came to declare its value, and not if the code did so all along."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.model.claim import ClaimEnd
from gateway.model.record import Stage
from gateway.ports import RecordQuery
from tests.kit.history import NOW


async def claim(scene: Any, value: int, attribute: str = "delay") -> Any:
    [taken] = await scene.execute(scene.mutation(value, attribute))
    return taken


async def test_it_ends_with_a_record_once(scene: Any) -> None:
    taken = await claim(scene, 6)
    assert [await scene.ledger.end_unneeded([taken.id, "clm_unknown"], NOW) for _ in range(2)] == [1, 0]
    [ended] = await scene.ledger.claims(open_only=False)
    assert (ended.end, ended.ended_at) == (ClaimEnd.UNNEEDED, NOW)
    [record] = await scene.ledger.records(RecordQuery(stage=Stage.UNNEEDED))
    assert (record.actor, record.body["claim"]) == ("agent", taken.id)
    assert await claim(replace(scene), 7)


@pytest.mark.parametrize("value", [4])
async def test_what_the_code_declared_all_along_stands(scene: Any, value: int) -> None:
    change = scene.mutation(value)
    facts = scene.facts(change)
    facts = replace(facts, subjects=tuple(replace(each, before=9) for each in facts.subjects))
    [taken] = await scene.ledger.record_decision(change, facts, scene.decision())
    await scene.ledger.record_outcome(change, scene.applied, NOW)
    assert await scene.ledger.end_unneeded([taken.id], NOW) == 0
    assert len(await scene.ledger.claims()) == 1


async def test_what_is_in_flight_stands(scene: Any) -> None:
    change = scene.mutation(6)
    [taken] = await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    assert await scene.ledger.end_unneeded([taken.id], NOW) == 0
