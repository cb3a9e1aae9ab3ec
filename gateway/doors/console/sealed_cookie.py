"""Cookies that only a gateway on the ledger can make: each holds a text and its seal, and is worth nothing anywhere but at the console."""

import base64
import hmac
from dataclasses import dataclass, field
from typing import Final

from gateway.doors.asgi import Scope

_LONGEST: Final = 4096
"""Characters of a Cookie header that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCookie:
    """Makes and reads the cookie of one name. Its text can be read by anyone who has it, so no secret belongs there."""

    key: bytes = field(repr=False)
    """Derived from the master key, so every gateway on the ledger reads the cookies of the others."""
    https: bool
    """Whether browsers reach the console by https, as `public_url` says."""
    name: str = "sentinel-console"
    purpose: str = "session"
    """The seal of one purpose is no seal of another."""

    def made(self, text: str, seconds: int, scope: Scope) -> str:
        """The Set-Cookie header that gives the text, in answer to this request. It must have neither a dot nor what no cookie may have."""
        return self._header(f"{text}.{self._seal(text)}", seconds, scope)

    def ended(self, scope: Scope) -> str:
        """The Set-Cookie header that takes it away."""
        return self._header("", 0, scope)

    def text(self, scope: Scope) -> str:
        """The text of the request's cookie; empty without one that was made here."""
        value = _cookie(scope, self._name(secure=self._secure(scope)))
        text, _, seal = value.partition(".")
        return text if hmac.compare_digest(self._seal(text).encode(), seal.encode()) else ""

    def _seal(self, text: str) -> str:
        mac = hmac.digest(self.key, f"sentinel console {self.purpose}\0{text}".encode(), "sha256")
        return base64.urlsafe_b64encode(mac).decode().rstrip("=")

    def _secure(self, scope: Scope) -> bool:
        return self.https or scope.get("scheme") == "https"

    def _header(self, value: str, seconds: int, scope: Scope) -> str:
        secure = self._secure(scope)
        # The prefix __Host- keeps other hosts of the domain from setting it; browsers accept it only with Secure and Path=/.
        path = "; Path=/; Secure" if secure else "; Path=/console"
        return f"{self._name(secure=secure)}={value}{path}; Max-Age={seconds}; HttpOnly; SameSite=Lax"

    def _name(self, *, secure: bool) -> str:
        return f"__Host-{self.name}" if secure else self.name


def _cookie(scope: Scope, name: str) -> str:
    """The value of a cookie that was sent once; empty else."""
    text = ";".join(value.decode("latin-1") for header, value in scope["headers"] if header == b"cookie")
    if len(text) > _LONGEST:
        return ""
    pairs = [part.strip().partition("=") for part in text.split(";")]
    found = [value for given, _, value in pairs if given == name]
    return found[0] if len(found) == 1 else ""
