"""Authentication by a bearer key, `Authorization: Bearer <key id>.<secret>`, for the JSON API (RFC 6750 section 2.1)."""

import hmac

from gateway.core.errors import NotAuthenticated
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.ports import Clock, KeyRing

_DUMMY_SECRET = "nobody-holds-this-key"  # noqa: S105  compared if the key is unknown, so that timing does not reveal which keys exist
_MAX_LENGTH = 400


class Bearer:
    """An `Authenticator` for keys that are sent with their secret, so use it only over TLS or on loopback."""

    def __init__(self, keys: KeyRing, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def authenticate(self, inbound: Inbound) -> Caller:
        """The owner of the key. Raises the same `errors.NotAuthenticated` for an unknown key, an ended key and a wrong secret."""
        key_id, secret = _credentials(inbound)
        key = await self._keys.find(key_id)
        matches = hmac.compare_digest((key.secret if key else _DUMMY_SECRET).encode(), secret.encode())
        now = self._clock.now()
        if key is None or not matches or key.ended(now):
            raise NotAuthenticated(
                "The bearer key is not one this gateway issued, or it has ended. Get one with `sentinel key` or `sentinel session`.",
                key_id=key_id,
            )
        return key.caller


def _credentials(inbound: Inbound) -> tuple[str, str]:
    values = [value for name, value in inbound.headers if name == "authorization"]
    if not values:
        raise NotAuthenticated(
            "The request has no Authorization header. Send `Authorization: Bearer <key id>.<secret>`.",
            aws_code="MissingAuthenticationToken",
        )
    scheme, _, token = values[0].strip().partition(" ")
    key_id, dot, secret = token.strip().partition(".")
    if (
        len(values) > 1
        or scheme.lower() != "bearer"
        or not (key_id and dot and secret)
        or len(token) > _MAX_LENGTH
        or not token.isascii()
    ):
        raise NotAuthenticated(
            "The Authorization header must read `Bearer <key id>.<secret>`, once.", aws_code="IncompleteSignature"
        )
    return key_id, secret
