"""Converts an authenticated `Key` into a `Caller`, and refuses a key that has ended."""

from datetime import datetime

from gateway.core.errors import NotAuthenticated
from gateway.core.model.caller import Caller
from gateway.core.ports import Key


def caller_of(key: Key) -> Caller:
    """The owner of the key, without the secret."""
    return Caller(
        actor=key.actor,
        kind=key.kind,
        key_id=key.id,
        roles=key.roles,
        on_behalf_of=key.on_behalf_of,
        motive=key.motive,
        motive_only=key.motive_only,
        plan=key.plan,
    )


def active(key: Key | None, now: datetime) -> Key:
    """The key. Raises `errors.NotAuthenticated` if it has ended. Only a caller with its secret gets here, so nobody else learns that."""
    if key is None or key.ended(now):
        raise NotAuthenticated(
            "The key has ended. Get a new one with `sentinel key` or `sentinel session`.",
            aws_code="InvalidClientTokenId",
        )
    return key
