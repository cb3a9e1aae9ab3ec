"""The AWS credentials that the gateway signs mutations and reads with."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError

from gateway.core.errors import NotSendable
from gateway.core.ports import Clock

CACHE_TIME = timedelta(seconds=60)
"""How long resolved credentials are reused before botocore resolves them again. botocore renews temporary ones 10 to 15 minutes before they expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """One set of AWS credentials."""

    access_key_id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)
    """Session token, empty for long-term keys."""


class CredentialsProvider(Protocol):
    """A source of AWS credentials."""

    async def current(self) -> Credentials:
        """Credentials that stay valid for the next minutes. Raises `errors.NotSendable` if there are none."""
        ...


class FixedCredentials:
    """Always the same credentials, for the simulated AWS, which accepts any."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    async def current(self) -> Credentials:
        """The credentials."""
        return self._credentials


class DefaultChain:
    """boto3's default chain: environment, shared files, SSO, web identity, container, instance. Runs in a thread, because it may block.

    Endpoint overrides (`AWS_ENDPOINT_URL`, profiles' `endpoint_url`) are ignored: in a shell prepared by `sentinel session` they would
    send the gateway's own STS calls to the gateway.
    """

    def __init__(self, clock: Clock, *, session: Any = None) -> None:
        """`session` is a botocore session; by default a new one."""
        self._clock = clock
        self._session: Any = session or _session()
        self._session.set_config_variable("ignore_configured_endpoint_urls", True)
        self._source: Any = None
        self._cached: tuple[Credentials, datetime] | None = None
        self._lock = asyncio.Lock()

    async def current(self) -> Credentials:
        """Credentials resolved at most `CACHE_TIME` ago. Raises `errors.NotSendable`."""
        if (cached := self._unexpired()) is not None:
            return cached
        async with self._lock:
            if (cached := self._unexpired()) is not None:
                return cached
            credentials = await asyncio.to_thread(self._resolve)
            self._cached = credentials, self._clock.now() + CACHE_TIME
            return credentials

    def _unexpired(self) -> Credentials | None:
        return self._cached[0] if self._cached is not None and self._clock.now() < self._cached[1] else None

    def _resolve(self) -> Credentials:
        try:
            self._source = self._source or self._session.get_credentials()
            frozen = self._source.get_frozen_credentials() if self._source is not None else None
        except (BotoCoreError, OSError, ValueError, RuntimeError) as error:
            raise NotSendable(
                f"AWS credentials could not be resolved ({type(error).__name__}); nothing was sent. Check the gateway's AWS configuration."
            ) from error
        if frozen is None or not frozen.access_key or not frozen.secret_key:
            raise NotSendable(
                "The gateway found no AWS credentials (boto3's default chain), so nothing was sent. Give it some, or start it with a simulated AWS."
            )
        return Credentials(access_key_id=frozen.access_key, secret=frozen.secret_key, token=frozen.token or "")


def _session() -> Any:
    """A new botocore session. It is imported here, since a gateway in front of a simulated AWS needs none of its 7 MB."""
    from botocore.session import Session  # noqa: PLC0415

    return Session()
