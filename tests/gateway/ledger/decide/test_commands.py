"""Who is an approver, and how long an approval lasts."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.verdict import Verdict
from gateway.ledger.decide.commands import is_approver


@pytest.mark.parametrize("kind", ActorKind)
@pytest.mark.parametrize("roles", [(), ("operator",), ("approver",), ("Approver",)])
def test_only_a_human_with_the_role_is_an_approver(kind: ActorKind, roles: tuple[str, ...]) -> None:
    caller = Caller(actor="a", kind=kind, key_id="k", roles=roles)
    assert is_approver(caller) == (kind is ActorKind.HUMAN and roles == ("approver",))


@pytest.mark.parametrize("lasts", [timedelta(0), timedelta(seconds=-1)])
async def test_an_approval_without_duration_is_refused(scene: Any, lasts: timedelta) -> None:
    change = scene.mutation()
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision(Verdict.HOLD))
    alice = Caller(actor="alice", kind=ActorKind.HUMAN, key_id="k", roles=("approver",))
    with pytest.raises(NotAllowed):
        await scene.ledger.approve(change.id, approver=alice, at=scene.now, lasts=lasts)
