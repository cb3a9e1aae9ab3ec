"""The cookie of a sign-in: it names a session key of the key ring, and is worth nothing anywhere but at the console."""

import base64
import hmac
from dataclasses import dataclass, field
from typing import Final

from gateway.doors.asgi import Scope

_PURPOSE: Final = b"sentinel console session\0"
_LONGEST: Final = 4096
"""Characters of a Cookie header that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCookies:
    """Makes and reads the cookies. The secret of the session key is not in them, so a stolen one opens neither the API nor the AWS door."""

    key: bytes = field(repr=False)
    """Derived from the master key, so every gateway on the ledger reads the cookies of the others."""
    https: bool
    """Whether browsers reach the console by https, as `public_url` says."""

    def made(self, key_id: str, seconds: int, *, https: bool) -> str:
        """The Set-Cookie header that names this session key."""
        return self._header(f"{key_id}.{self._seal(key_id)}", seconds, https=https)

    def ended(self, *, https: bool) -> str:
        """The Set-Cookie header that takes it away."""
        return self._header("", 0, https=https)

    def key_id(self, scope: Scope) -> str:
        """The session key that the request's cookie names; empty without one that was made here."""
        secure = self._secure(https=scope.get("scheme") == "https")
        value = _cookie(scope, self._name(https=secure))
        key_id, _, seal = value.partition(".")
        return key_id if hmac.compare_digest(self._seal(key_id).encode(), seal.encode()) else ""

    def _seal(self, key_id: str) -> str:
        mac = hmac.digest(self.key, _PURPOSE + key_id.encode(), "sha256")
        return base64.urlsafe_b64encode(mac).decode().rstrip("=")

    def _secure(self, *, https: bool) -> bool:
        return https or self.https

    def _header(self, value: str, seconds: int, *, https: bool) -> str:
        secure = self._secure(https=https)
        # The prefix __Host- keeps other hosts of the domain from setting it; browsers accept it only with Secure and Path=/.
        path = "; Path=/; Secure" if secure else "; Path=/console"
        return f"{self._name(https=secure)}={value}{path}; Max-Age={seconds}; HttpOnly; SameSite=Lax"

    @staticmethod
    def _name(*, https: bool) -> str:
        return "__Host-sentinel-console" if https else "sentinel-console"


def _cookie(scope: Scope, name: str) -> str:
    """The value of a cookie that was sent once; empty else."""
    text = ";".join(value.decode("latin-1") for header, value in scope["headers"] if header == b"cookie")
    if len(text) > _LONGEST:
        return ""
    pairs = [part.strip().partition("=") for part in text.split(";")]
    found = [value for given, _, value in pairs if given == name]
    return found[0] if len(found) == 1 else ""
