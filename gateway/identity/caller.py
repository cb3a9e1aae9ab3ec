"""Refuses a key that has ended, and looks at the keys of what stays open for long."""

from datetime import datetime
from typing import Final

from gateway.core.errors import NotAuthenticated, SentinelError
from gateway.core.model.caller import Caller
from gateway.core.ports import Clock, Key, KeyRing


def active(key: Key | None, now: datetime) -> Key:
    """The key. Raises `errors.NotAuthenticated` if it has ended. Only a caller with its secret gets here, so nobody else learns that."""
    if key is None or key.ended(now):
        raise NotAuthenticated(
            "The key has ended. Get a new one with `sentinel key` or `sentinel session`.",
            aws_code="InvalidClientTokenId",
        )
    return key


KEY_SECONDS: Final = 5.0
"""Between two looks at the key of a stream. So a stream outlives its key by so many seconds, and the age of a looked-up key, at most."""


async def still_in(keys: KeyRing, clock: Clock, caller: Caller) -> bool:
    """Whether the caller's key still holds. If that cannot be read it counts as ended: the caller asks again, and is told why."""
    try:
        key = await keys.find(caller.key_id)
    except SentinelError:
        return False
    return key is not None and not key.ended(clock.now())
