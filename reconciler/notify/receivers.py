"""The receivers of notices: who is told what, where, in which form, and how that is signed."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from gateway.core.outbound.standard_webhooks import signed_headers
from gateway.core.records.notice import Notice
from gateway.core.records.record import Record
from gateway.core.settings.notices import WebhookSettings
from reconciler.notify.post import Post
from reconciler.notify.shown_cards import ShownCard

JSON_HEADERS: Final[Mapping[str, str]] = {"content-type": "application/json", "user-agent": "sentinel-webhooks/1"}


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
        """Whether the notice is about cards that the receiver was shown, which `sendings` must then be given."""
        ...

    def sendings(
        self, notice: Notice, record: Record, now: datetime, shown: Sequence[ShownCard] = ()
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
        return self.settings.fits(notice)

    def ends_cards(self, record: Record) -> bool:  # noqa: ARG002  the port
        """It has no cards."""
        return False

    def sendings(
        self,
        notice: Notice,
        record: Record,  # noqa: ARG002  the port
        now: datetime,
        shown: Sequence[ShownCard] = (),  # noqa: ARG002  the port
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
