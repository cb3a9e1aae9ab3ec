"""Bearer keys."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import NotAuthenticated
from gateway.core.model.caller import ActorKind
from gateway.identity.bearer import Bearer

KEY_ID, SECRET = "SNTL0000000000000001", "s3cret.with.dots"


async def test_a_valid_key_authenticates_its_actor(ring: Any, clock: Any, inbound_of: Any) -> None:
    ring.add(KEY_ID, SECRET, roles=("approver",), kind=ActorKind.HUMAN, actor="ada")
    caller = await Bearer(ring, clock).authenticate(
        inbound_of(headers=[("Authorization", f"Bearer {KEY_ID}.{SECRET}")])
    )
    assert (caller.actor, caller.kind, caller.key_id, caller.roles) == ("ada", ActorKind.HUMAN, KEY_ID, ("approver",))


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        pytest.param([], "MissingAuthenticationToken", id="none"),
        pytest.param([f"Basic {KEY_ID}.{SECRET}"], "IncompleteSignature", id="another scheme"),
        pytest.param([f"Bearer {KEY_ID}"], "IncompleteSignature", id="no secret"),
        pytest.param([f"Bearer .{SECRET}"], "IncompleteSignature", id="no id"),
        pytest.param(["Bearer " + "a." * 300], "IncompleteSignature", id="too long"),
        pytest.param([f"Bearer {KEY_ID}.sécret"], "IncompleteSignature", id="not ASCII"),
        pytest.param([f"Bearer {KEY_ID}.{SECRET}"] * 2, "IncompleteSignature", id="twice"),
        pytest.param([f"Bearer {KEY_ID}.wrong"], "InvalidClientTokenId", id="wrong secret"),
        pytest.param([f"Bearer UNKNOWN.{SECRET}"], "InvalidClientTokenId", id="unknown"),
        pytest.param([f"Bearer REVOKED.{SECRET}"], "InvalidClientTokenId", id="revoked"),
        pytest.param([f"Bearer EXPIRED.{SECRET}"], "InvalidClientTokenId", id="expired"),
    ],
)
async def test_invalid_credentials_are_refused(
    ring: Any, clock: Any, inbound_of: Any, headers: list[str], code: str
) -> None:
    ring.add(KEY_ID, SECRET)
    ring.add("REVOKED", SECRET, revoked=True)
    ring.add("EXPIRED", SECRET, expires_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(NotAuthenticated) as refused:
        await Bearer(ring, clock).authenticate(inbound_of(headers=[("authorization", value) for value in headers]))
    assert refused.value.aws_code == code
    assert SECRET not in str(refused.value)
