"""The receivers of notices: who is told what, in which form, how that is signed, and how it is sent."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import ClassVar, Final, Protocol

from gateway.core.outbound.addresses import Network
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import (
    AddressRefused,
    HttpResponse,
    OutboundFailure,
    ResponseOverdue,
    ResponseTooLong,
)
from gateway.core.outbound.standard_webhooks import signed_headers
from gateway.core.records.notice import Notice, NoticeType
from gateway.core.records.record import Record
from gateway.core.settings.notices import WebhookSettings
from reconciler.notify.posted_cards import PostedCard

JSON_HEADERS: Final[Mapping[str, str]] = {"content-type": "application/json", "user-agent": "sentinel-webhooks/1"}
_TAKEN: Final = range(200, 300)
_MOVED: Final = range(300, 400)
_LONGEST_PAUSE: Final = 24 * 3600.0
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PostAnswer:
    """What the receiver answered; nothing of it is a text that the receiver wrote."""

    status: int = 0
    error: str = ""
    """A sentence; empty if it was taken."""
    retry_after: float = 0.0
    message: str = ""
    """Where a chat has what it took, as `CHANNEL/TIME`; empty elsewhere."""


class Post:
    """Sends to one receiver."""

    most_bytes: ClassVar[int] = 0
    """How much of an answer's body is read."""

    def __init__(self, url: str, *, networks: Sequence[Network], seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._client = OutboundClient(seconds=seconds, most_bytes=self.most_bytes, networks=networks)

    async def send(self, body: bytes, headers: Mapping[str, str], path: str = "") -> PostAnswer:
        """The answer to one POST, to the URL with this path after it. Never raises, and no text of it holds the URL, which may be a secret."""
        try:
            return self._answer(await self._client.request("POST", self._url + path, headers=headers, body=body))
        except ResponseTooLong as error:
            return self._answer(error.head)
        except AddressRefused as error:
            return PostAnswer(error=str(error))
        except ResponseOverdue:
            return PostAnswer(error=f"It did not answer within {self._seconds:g} seconds.")
        except OutboundFailure as error:
            return PostAnswer(error=f"It could not be reached, or its answer is not HTTP ({error}).")

    def _answer(self, reply: HttpResponse) -> PostAnswer:
        """What its head says; its body is not read."""
        return _answer_of(reply.status, reply.header("retry-after"))


def matches(text: str, patterns: Sequence[str]) -> bool:
    """Whether one of the patterns, with `*`, fits the text, or there is none."""
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """One request to a receiver."""

    body: bytes
    headers: Mapping[str, str]
    path: str = ""
    """What follows the URL that `Receiver.open` sends to."""


class Receiver(Protocol):
    """Somebody who is told."""

    @property
    def name(self) -> str:
        """Under which deliveries are listed."""
        ...

    @property
    def schedule(self) -> Sequence[float]:
        """How long to wait after each failure."""
        ...

    def fits(self, notice: Notice) -> bool:
        """Whether the receiver is told."""
        ...

    def ends_cards(self, record: Record) -> bool:
        """Whether the record ends cards that were posted to the receiver, which `sendings` must then be given."""
        ...

    def sendings(
        self, notice: Notice, record: Record, now: datetime, posted: Sequence[PostedCard] = ()
    ) -> Sequence[Sending]:
        """The requests that tell it, in this order. Raises `errors.SettingsInvalid` if there is no secret to sign with now."""
        ...

    def open(self) -> Post:
        """What sends to it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReceiver:
    """A receiver of signed webhooks."""

    settings: WebhookSettings

    @property
    def name(self) -> str:
        """Its name in the settings."""
        return self.settings.name

    @property
    def schedule(self) -> Sequence[float]:
        """From the settings."""
        return self.settings.retry_seconds

    def fits(self, notice: Notice) -> bool:
        """Whether its filters let the notice through."""
        settings = self.settings
        return (
            notice.type in settings.events
            and matches(notice.stack, settings.stacks)
            and matches(notice.actor, settings.actors)
            and (notice.type is not NoticeType.DECIDED or not settings.verdicts or notice.verdict in settings.verdicts)
        )

    def ends_cards(self, record: Record) -> bool:  # noqa: ARG002  the port
        """It has no cards."""
        return False

    def sendings(
        self,
        notice: Notice,
        record: Record,  # noqa: ARG002  the port
        now: datetime,
        posted: Sequence[PostedCard] = (),  # noqa: ARG002  the port
    ) -> Sequence[Sending]:
        """The notice, signed. The id and the body are the same at each attempt; the time is not."""
        body = notice.body()
        return [
            Sending(body=body, headers={**JSON_HEADERS, **signed_headers(notice.id, body, self.settings.keys(), now)})
        ]

    def open(self) -> Post:
        """What sends to its URL."""
        return Post(
            self.settings.url,
            networks=[ipaddress.ip_network(text) for text in self.settings.private_addresses],
            seconds=self.settings.timeout_seconds,
        )


def _answer_of(status: int, retry_after: str) -> PostAnswer:
    if status in _TAKEN:
        return PostAnswer(status=status)
    if status in _MOVED:
        return PostAnswer(status=status, error=f"It answered {status}; redirects are not followed.")
    known = retry_after.isascii() and retry_after.isdigit() and len(retry_after) <= _DIGITS
    wait = min(float(retry_after), _LONGEST_PAUSE) if known else 0.0
    return PostAnswer(status=status, error=f"It answered {status}.", retry_after=wait)
