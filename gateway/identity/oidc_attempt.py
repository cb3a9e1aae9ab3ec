"""One attempt to sign in at an identity provider: what binds the provider's answer to the browser that began, and to nothing else."""

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from gateway.core.errors import NotAuthenticated, Overloaded

LASTS: Final = timedelta(minutes=10)
"""How long a person may take at the provider."""
_MOST_SPENT: Final = 100_000
"""Some 20 MB. Anyone can spend attempts, so there is an end to it; those who are signed in and keys do not need one."""
_REPEATED: Final = "This answer of the identity provider was used already, and counts once. Nobody was signed in by it again; sign in again."


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAttempt:
    """An attempt. State, nonce and verifier are derived from its id by the gateway's key, so the browser's cookie holds no secret, and every
    gateway on the ledger can complete what another one began.
    """

    id: str
    until: datetime
    wanted: str
    """The page of the console that the person goes to afterwards."""
    key: bytes = field(repr=False)

    @classmethod
    def begun(cls, key: bytes, now: datetime, wanted: str) -> Self:
        """A new attempt."""
        until = (now + LASTS).replace(microsecond=0)
        return cls(id=secrets.token_urlsafe(24), until=until, wanted=wanted, key=key)

    @classmethod
    def read(cls, key: bytes, text: str) -> Self | None:
        """The attempt that `text` wrote; None if it is another text. Only a sealed one may be given."""
        try:
            name, until, wanted = text.split(":")
            ends = datetime.fromtimestamp(int(until), UTC)
            return cls(id=name, until=ends, wanted=base64.urlsafe_b64decode(wanted).decode(), key=key)
        except (ValueError, OverflowError, OSError, binascii.Error):
            return None

    @property
    def text(self) -> str:
        """The attempt without its key, in characters that a cookie may have."""
        wanted = base64.urlsafe_b64encode(self.wanted.encode()).decode()
        return f"{self.id}:{int(self.until.timestamp())}:{wanted}"

    @property
    def state(self) -> str:
        """What the provider must send back (RFC 6749 section 10.12)."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """What the ID token must hold."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """What is shown to the provider with the code (RFC 7636)."""
        return self._derived("verifier")

    @property
    def challenge(self) -> str:
        """The S256 challenge of the verifier."""
        return _text(hashlib.sha256(self.verifier.encode()).digest())

    def _derived(self, purpose: str) -> str:
        return _text(hmac.digest(self.key, f"sentinel oidc {purpose}\0{self.id}".encode(), "sha256"))


class SpentAttempts:
    """The attempts that were answered: each counts once. Another gateway does not know them, but the provider takes a code only once."""

    def __init__(self) -> None:
        self._until: dict[str, datetime] = {}
        self._first_ends: datetime | None = None

    def spend(self, attempt: SignInAttempt, now: datetime) -> None:
        """Note that it is answered. Raises `errors.NotAuthenticated` if it was before, `errors.Overloaded` if too many are noted."""
        if attempt.id in self._until:
            raise NotAuthenticated(_REPEATED)
        if len(self._until) >= _MOST_SPENT and (self._first_ends is None or self._first_ends <= now):
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._first_ends = min(self._until.values(), default=None)
        if len(self._until) >= _MOST_SPENT:
            raise Overloaded(
                "Too many people sign in at this moment, so nobody was signed in. Sign in again in a minute."
            )
        self._until[attempt.id] = attempt.until


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
