"""From a key that proved itself to the `Caller` who holds it."""

from gateway.model.caller import Caller
from gateway.ports import Key


def caller_of(key: Key) -> Caller:
    """Who holds the key. The secret stays behind."""
    return Caller(
        actor=key.actor,
        kind=key.kind,
        key_id=key.id,
        roles=key.roles,
        on_behalf_of=key.on_behalf_of,
        motive=key.motive,
    )
