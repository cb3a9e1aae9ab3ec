"""The view covers any number of addresses."""

from datetime import timedelta
from typing import Any

import pytest

DAY = timedelta(days=1)


@pytest.mark.parametrize("count", [0, 1, 501, 2_000])
async def test_a_view_of_many_resources(scene: Any, count: int) -> None:
    await scene.execute(scene.mutation(address="aws_lb.t0"))
    addresses = [f"aws_lb.t{number}" for number in reversed(range(count))]
    view = await scene.ledger.view(addresses=addresses, actor="", call_digest="", now=scene.now, flip_window=DAY)
    assert [claim.address for claim in view.claims] == (["aws_lb.t0"] if count else [])
    assert dict(view.values) == ({("aws_lb.t0", "delay"): 6} if count else {})


async def test_an_address_is_compared_literally(scene: Any) -> None:
    address = 'module.jobs["a\'b"].aws_sqs_queue.this%'
    await scene.execute(scene.mutation(address=address))
    view = await scene.ledger.view(addresses=[address], actor="", call_digest="", now=scene.now, flip_window=DAY)
    assert [claim.address for claim in view.claims] == [address]
