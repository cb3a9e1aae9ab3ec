"""Settings of notices: signed webhooks, and approvals in a chat."""

import base64
import binascii
import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from gateway.core.errors import SettingsInvalid
from gateway.core.model.verdict import Verdict
from gateway.core.records.notice import NoticeType
from gateway.core.settings.table import SettingsTable

_PREFIX: Final = "whsec_"
_MOST_SECRETS: Final = 3
"""Secrets that sign at a time: the new one and those that are being retired."""
_SECRET_BYTES: Final = range(24, 65)
"""How long the specification wants a secret to be."""
CHAT: Final = "chat-slack"
"""The name under which the cards of the chat are delivered and listed. No webhook may have it."""
_SHORTEST_SECRET: Final = 16
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_HOURS: Final = 3600.0
_RETRIES: Final = (5.0, 300.0, *(hours * _HOURS for hours in (0.5, 2, 5, 10, 14, 20, 24)))
"""What Standard Webhooks recommends: over three days in all."""
_ONE_SOURCE: Final = "Set one of `secret`, `secret_file` and `secret_env`: what the webhook is signed with."


def signing_key(secret: str) -> bytes:
    """The key of a secret: base64 of 24 to 64 bytes, after `whsec_`. Raises ValueError, without the secret in its text."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) not in _SECRET_BYTES:
        message = f"The secret of a webhook is `{_PREFIX}` and 24 to 64 bytes in base64: openssl rand -base64 32."
        raise ValueError(message)
    return key


def require_url(url: str, *, http: bool) -> None:
    """Raise ValueError unless it is a URL to send to: https, or with `http` also http; with a host, without a user or a fragment."""
    try:
        parts = urlsplit(url)
        host, user, _ = parts.hostname, parts.username or parts.password, parts.port
    except ValueError:
        host, user, parts = None, None, urlsplit("")
    allowed = ("https", "http") if http else ("https",)
    odd = not url.isascii() or not url.isprintable() or " " in url or "\\" in url
    if not host or user or parts.fragment or parts.scheme not in allowed or odd:
        raise ValueError("A URL to send to begins with https:// and has a host, no user and no fragment.")


class WebhookSettings(SettingsTable):
    """One receiver of webhooks, and what it is told."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    """Names the receiver for good: what was delivered is remembered by it. A new name starts with what is recorded from then on."""
    url: Annotated[str, Field(max_length=2048)]
    """Over https; over http only to addresses that `private_addresses` lists."""
    secret: SecretStr = SecretStr("")
    """`whsec_` and 24 to 64 bytes in base64 (`openssl rand -base64 32`)."""
    previous_secret: SecretStr = SecretStr("")
    """The one before, while it is being retired: each webhook then has a signature with both."""
    secret_file: Path | None = None
    """File that holds the secrets instead, one a line, the newest first, at most three. It is read at each use, so that they can be rotated."""
    secret_env: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    """Name of the environment variable that holds it instead."""
    events: Annotated[tuple[NoticeType, ...], Field(min_length=1)] = tuple(NoticeType)
    """What it is told; default: all types."""
    stacks: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = ()
    """Only of these stacks, with `*`; default: all, also what belongs to no stack."""
    actors: tuple[Annotated[str, Field(min_length=1, max_length=256)], ...] = ()
    """Only what these actors asked for, with `*`; default: all."""
    verdicts: tuple[Verdict, ...] = ()
    """Only decisions with these verdicts (`mutation.decided`); default: all."""
    private_addresses: tuple[str, ...] = ()
    """Networks of your own that it may be in, e.g. `["10.20.0.0/16"]`. Without any, only addresses of the public internet are reached."""
    timeout_seconds: Annotated[float, Field(ge=0.1, le=60)] = 10.0
    """How long it has to answer. Acknowledge first, then work."""
    retry_seconds: Annotated[tuple[Annotated[float, Field(ge=0, le=7 * 24 * _HOURS)], ...], Field(max_length=20)] = (
        _RETRIES
    )
    """How long to wait after each failure; after the last one it is given up, and kept for `sentinel deliveries resend`."""

    def keys(self) -> Sequence[bytes]:
        """The keys that sign now, the newest first. Raises `errors.SettingsInvalid`, without the secrets in its text."""
        given = [each.get_secret_value() for each in (self.secret, self.previous_secret)]
        if self.secret_file is not None:
            try:
                given = self.secret_file.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsInvalid(
                    f"The file of the secret of the webhook {self.name} cannot be read ({type(error).__name__})."
                ) from error
        elif self.secret_env:
            given = os.environ.get(self.secret_env, "").splitlines()
        try:
            keys = [signing_key(each) for each in given if each.strip()][:_MOST_SECRETS]
        except ValueError as error:
            raise SettingsInvalid(f"webhooks: {self.name}: {error}") from None
        if not keys:
            raise SettingsInvalid(f"The webhook {self.name} has no secret now, so it is not sent. {_ONE_SOURCE}")
        return keys

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.name == CHAT:
            raise ValueError(f"No webhook can have the name {CHAT!r}: the cards of the chat have it.")
        if sum((bool(self.secret.get_secret_value()), self.secret_file is not None, bool(self.secret_env))) != 1:
            raise ValueError(_ONE_SOURCE)
        for secret in (self.secret, self.previous_secret):
            if secret.get_secret_value():
                signing_key(secret.get_secret_value())
        for network in self.private_addresses:
            ipaddress.ip_network(network)
        require_url(self.url, http=bool(self.private_addresses))
        return self


class SlackSettings(SettingsTable):
    """Approvals in Slack, or in a chat with its interface. Off without `signing_secret`."""

    signing_secret: SecretStr = SecretStr("")
    """The app's signing secret; `SENTINEL_CHAT__SLACK__SIGNING_SECRET` keeps it out of the file."""
    webhook_url: SecretStr = SecretStr("")
    """The app's incoming webhook: where the cards are posted. It is a secret. Cards posted so cannot be edited later; they are answered."""
    bot_token: SecretStr = SecretStr("")
    """The app's bot token (`xoxb-…`, scope `chat:write`), instead of `webhook_url`: then cards are edited, wherever they were decided."""
    channel: Annotated[str, Field(pattern=r"^([A-Z0-9]{2,32})?$")] = ""
    """Id of the channel (`C…`) that the bot posts to; it must be a member. Without this and `webhook_url` no cards are posted."""
    team: Annotated[str, Field(pattern=r"^([A-Z0-9]{2,32})?$")] = ""
    """Id of the workspace, `T…`. Requests of other workspaces are refused."""
    host: str = "https://hooks.slack.com"
    """Where answers, and cards through `webhook_url`, are sent. Nothing in a request changes it. Over http only on this machine."""
    api_host: str = "https://slack.com"
    """Where the bot's cards are sent. Over http only on this machine."""
    private_addresses: tuple[str, ...] = ()
    """Networks of your own that `host` and `api_host` may be in, as for webhooks."""
    stacks: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = ()
    """Only cards of these stacks, with `*`; default: all."""
    longest_grant_hours: Annotated[float, Field(ge=0, le=24)] = 8.0
    """What changes rights has buttons only if it is wanted for at most this long."""

    @property
    def on(self) -> bool:
        """Whether it is used at all."""
        return bool(self.signing_secret.get_secret_value())

    @property
    def posts(self) -> bool:
        """Whether cards are posted."""
        return bool(self.webhook_url.get_secret_value() or self.bot_token.get_secret_value())

    @model_validator(mode="after")
    def _complete(self) -> Self:
        secret, url = self.signing_secret.get_secret_value(), self.webhook_url.get_secret_value()
        if url and not secret:
            raise ValueError(
                "`webhook_url` needs `signing_secret`: a card without it has buttons that nothing answers."
            )
        if secret and len(secret) < _SHORTEST_SECRET:
            raise ValueError(f"`signing_secret` needs at least {_SHORTEST_SECRET} characters.")
        if secret and not self.team:
            raise ValueError("`signing_secret` needs `team`, the id of the workspace.")
        for network in self.private_addresses:
            ipaddress.ip_network(network)
        for name, host in (("host", self.host), ("api_host", self.api_host)):
            require_url(host, http=urlsplit(host).hostname in LOOPBACK)
            if urlsplit(host).path.strip("/"):
                raise ValueError(f"`{name}` is a scheme and a host, such as https://hooks.slack.com.")
        if url and not url.startswith(f"{self.host.rstrip('/')}/"):
            raise ValueError("`webhook_url` must be a URL of `host`.")
        return self

    @model_validator(mode="after")
    def _bot_is_complete(self) -> Self:
        token = bool(self.bot_token.get_secret_value())
        if token and not self.on:
            raise ValueError("`bot_token` needs `signing_secret`: a card without it has buttons that nothing answers.")
        if token and self.webhook_url.get_secret_value():
            raise ValueError("Set `webhook_url` or `bot_token`, not both: each is a way to post the cards.")
        if token != bool(self.channel):
            raise ValueError("`bot_token` and `channel` need each other: who posts the cards, and where.")
        return self


class ChatSettings(SettingsTable):
    """Chats in which people are asked."""

    slack: SlackSettings = SlackSettings.default()


def distinct_webhooks(webhooks: Sequence[WebhookSettings]) -> Sequence[WebhookSettings]:
    """The webhooks. Raises ValueError if two have the same name."""
    names = [webhook.name for webhook in webhooks]
    if len(set(names)) != len(names):
        raise ValueError("Two webhooks have the same name.")
    return webhooks


def receiver_names(webhooks: Sequence[WebhookSettings], chat: ChatSettings) -> Sequence[str]:
    """Under which names notices are delivered and listed."""
    cards = [CHAT] if chat.slack.posts else []
    return [*(webhook.name for webhook in webhooks), *cards]
