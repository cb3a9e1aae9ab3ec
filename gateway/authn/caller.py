"""Converts an authenticated `Key` into a `Caller`."""

from gateway.model.caller import Caller
from gateway.ports import Key


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
    )
