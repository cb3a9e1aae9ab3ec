"""What is live of a claimed value is recorded when it changes, and only of claims that stand."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.core.model.claim import SeenValue, UndoneBy
from gateway.core.model.json import Json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from tests.kit.history import FAILED

GONE = UndoneBy(actor="arn:aws:iam::1:user/bob", event="SetQueueAttributes")


async def _bodies(scene: Any) -> list[Any]:
    return [
        each.body.members for each in await scene.ledger.records(RecordQuery(stage=Stage.UNDONE, newest_first=False))
    ]


@pytest.mark.parametrize("live", [None, 0, "é\n", {"b": [1.5, None], "a": {}}])
async def test_another_value_is_news_once(scene: Any, live: Json) -> None:
    [claim] = await scene.execute(scene.mutation())
    for known in (False, True):
        seen = SeenValue(claim=claim.id, stands=False, live=live, by=GONE)
        assert await scene.ledger.record_seen([seen], scene.now) == ([] if known else [claim.id])
    [body] = await _bodies(scene)
    assert (body["conflict"], body["stands"], body["live"], body["attribute"]) == ("implicit", False, live, "delay")
    [now] = await scene.ledger.claims()
    assert (now.undone.live, now.undone.by, now.undone.at) == (live, GONE, scene.now)


async def test_the_claimed_value_is_news_only_after_another(scene: Any) -> None:
    [claim] = await scene.execute(scene.mutation())
    stands = SeenValue(claim=claim.id, stands=True)
    assert await scene.ledger.record_seen([stands], scene.now) == []
    await scene.ledger.record_seen([SeenValue(claim=claim.id, stands=False)], scene.now)
    assert await scene.ledger.record_seen([stands], scene.now) == [claim.id]
    assert (await scene.ledger.claims())[0].undone is None
    assert [body["stands"] for body in await _bodies(scene)] == [False, True]


async def test_of_a_claim_that_does_not_stand_nothing_is_recorded(scene: Any) -> None:
    [ended] = await scene.execute(scene.mutation(), obligations={"claim_seconds": 60})
    await scene.ledger.expire(scene.now + timedelta(hours=1))
    flying = scene.mutation(attribute="other")
    [unsettled] = await scene.ledger.record_decision(flying, scene.facts(flying), scene.decision())
    seen = [SeenValue(claim=each, stands=False) for each in (ended.id, unsettled.id, "clm_unknown")]
    assert await scene.ledger.record_seen(seen, scene.now) == []
    assert await _bodies(scene) == []


async def test_a_reopened_claim_is_still_undone(scene: Any) -> None:
    [claim] = await scene.execute(scene.mutation())
    await scene.ledger.record_seen([SeenValue(claim=claim.id, stands=False, live=9)], scene.now)
    rival = scene.mutation(7, actor="rival")
    await scene.ledger.record_decision(rival, scene.facts(rival), scene.decision(supersedes=(claim.id,)))
    await scene.ledger.record_outcome(rival, FAILED, scene.now)
    [back] = await scene.ledger.claims()
    assert (back.id, back.undone.live) == (claim.id, 9)
