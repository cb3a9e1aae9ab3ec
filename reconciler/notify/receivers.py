"""The receivers of notices: who is told what, where, in which form, and how that is signed."""

import ipaddress
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import urlsplit

from gateway.model.record import Record
from gateway.notices.notice import Notice
from gateway.notices.slack_card import card
from gateway.notices.standard_webhooks import signed_headers
from gateway.settings_notices import CHAT, SlackSettings, WebhookSettings
from reconciler.notify.addresses import Network
from reconciler.notify.post import Post

_JSON = {"content-type": "application/json", "user-agent": "sentinel-webhooks/1"}
_CHAT_SECONDS = 10.0


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

    def message(self, notice: Notice, record: Record, now: datetime) -> tuple[bytes, Mapping[str, str]]:
        """Body and headers. Raises `errors.SettingsInvalid` if there is no secret to sign with now."""
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

    def message(self, notice: Notice, record: Record, now: datetime) -> tuple[bytes, Mapping[str, str]]:  # noqa: ARG002  the port
        """The notice, signed. The id and the body are the same at each attempt; the time is not."""
        body = notice.body()
        return body, {**_JSON, **signed_headers(notice.id, body, self.settings.keys(), now)}

    def open(self) -> Post:
        """What sends to its URL."""
        return Post(
            self.settings.url,
            networks=[ipaddress.ip_network(text) for text in self.settings.private_addresses],
            seconds=self.settings.timeout_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackReceiver:
    """The chat where held changes are shown."""

    settings: SlackSettings
    public_url: str
    schedule: Sequence[float]

    @property
    def name(self) -> str:
        """One for all chats."""
        return CHAT

    def fits(self, notice: Notice) -> bool:
        """Whether a card is posted."""
        return self.settings.fits(notice)

    def message(self, notice: Notice, record: Record, now: datetime) -> tuple[bytes, Mapping[str, str]]:  # noqa: ARG002  the port
        """The card. Nothing signs it: the URL is the secret."""
        longest = timedelta(hours=self.settings.longest_grant_hours)
        made = card(record, longest_grant=longest, public_url=self.public_url)
        return json.dumps(made, ensure_ascii=False).encode(), dict(_JSON)

    def open(self) -> Post:
        """What sends to the chat."""
        networks = [*map(ipaddress.ip_network, self.settings.private_addresses), *_own(self.settings.host)]
        return Post(self.settings.webhook_url.get_secret_value(), networks=networks, seconds=_CHAT_SECONDS)


def _own(host: str) -> list[Network]:
    """The network of this machine, if the chat is on it: then the settings say so."""
    if urlsplit(host).scheme == "https":
        return []
    return [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]
