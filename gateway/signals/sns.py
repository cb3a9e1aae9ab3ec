"""Verifies messages of Amazon SNS by their signature, and confirms subscriptions. The host that is asked follows from the settings, never from a message."""

import base64
import binascii
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol
from urllib.parse import urlencode

import structlog
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256

from gateway.core.errors import Malformed, UpstreamUnavailable
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure, ResponseTooLong
from gateway.core.settings.signals import SignalSourceSettings, topic_region
from gateway.signals.message_proof import refused

log = structlog.get_logger()

OLDEST: Final = timedelta(hours=1)
"""How old a message may be: SNS repeats for a while what could not be delivered."""
_SIGNED: Final = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    "UnsubscribeConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
}
_HASHES: Final = {"1": SHA1, "2": SHA256}
_CERTIFICATE: Final = re.compile(
    r"https://sns\.([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(\.cn)?/(SimpleNotificationService-[0-9a-f]{8,64}\.pem)"
)
_MOST_KNOWN: Final = 32
_MOST_ASKED: Final = 10
_MINUTE: Final = timedelta(minutes=1)


class SnsSite(Protocol):
    """Amazon SNS itself, at the host of a region."""

    async def certificate(self, region: str, name: str) -> bytes:
        """A signing certificate in PEM form. Raises `errors.UpstreamUnavailable`."""
        ...

    async def confirm(self, topic: str, token: str) -> None:
        """Confirm the subscription to a topic. Raises `errors.UpstreamUnavailable`."""
        ...


@dataclass(slots=True, kw_only=True)
class SnsMessages:
    """Opens the envelopes of SNS."""

    site: SnsSite
    _known: dict[tuple[str, str], bytes] = field(default_factory=dict)
    _asked: deque[datetime] = field(default_factory=lambda: deque(maxlen=_MOST_ASKED))

    async def content(self, source: SignalSourceSettings, envelope: Mapping[str, Any], now: datetime) -> str | None:
        """The text that was published on one of the source's topics; None of a message that only confirms or ends the subscription.

        Raises `errors.NotAuthenticated`, `errors.UpstreamUnavailable`.
        """
        kind, topic = _text(envelope, "Type"), _text(envelope, "TopicArn")
        if kind not in _SIGNED or topic not in source.topics or not _is_recent(_text(envelope, "Timestamp"), now):
            raise refused()
        certificate = await self._certificate(source, envelope, topic_region(topic), now)
        if not _is_signed(certificate, envelope, _SIGNED[kind], now):
            raise refused()
        if kind == "Notification":
            return _text(envelope, "Message")
        if kind == "SubscriptionConfirmation":
            await self.site.confirm(topic, _text(envelope, "Token"))
        log.info("sns_subscription", source=source.name, topic=topic, kind=kind)
        return None

    async def _certificate(
        self, source: SignalSourceSettings, envelope: Mapping[str, Any], region: str, now: datetime
    ) -> bytes:
        """The certificate in the file of the settings, else the one that the message names, of the topic's own region."""
        if source.certificate is not None:
            try:
                return source.certificate.read_bytes()
            except OSError as error:
                raise refused() from error
        found = _CERTIFICATE.fullmatch(_text(envelope, "SigningCertURL"))
        if found is None or found[1] != region or bool(found[2]) != region.startswith("cn-"):
            raise refused()
        key = (region, found[3])
        if key not in self._known:
            # Anyone can send a message that names a certificate, so few are asked for in a minute.
            if len(self._asked) == _MOST_ASKED and now - self._asked[0] < _MINUTE:
                raise refused()
            self._asked.append(now)
            certificate = await self.site.certificate(*key)
            while len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[key] = certificate
        return self._known[key]


def _text(envelope: Mapping[str, Any], name: str) -> str:
    value = envelope.get(name, "")
    if not isinstance(value, str):
        raise Malformed(f"`{name}` of the message is not a text, so nothing of it was taken.")
    return value


def _is_recent(text: str, now: datetime) -> bool:
    try:
        return abs(now - datetime.fromisoformat(text).astimezone(UTC)) <= OLDEST
    except (ValueError, OverflowError):
        return False


def _is_signed(certificate: bytes, envelope: Mapping[str, Any], names: tuple[str, ...], now: datetime) -> bool:
    """Whether the certificate's key signed these members."""
    algorithm = _HASHES.get(_text(envelope, "SignatureVersion"))
    lines = [f"{name}\n{_text(envelope, name)}\n" for name in names if name in envelope]
    try:
        signature = base64.b64decode(_text(envelope, "Signature"), validate=True)
        found = x509.load_pem_x509_certificate(certificate)
        key = found.public_key()
        if algorithm is None or not isinstance(key, RSAPublicKey):
            return False
        if not found.not_valid_before_utc <= now <= found.not_valid_after_utc:
            return False
        key.verify(signature, "".join(lines).encode(), PKCS1v15(), algorithm())
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True


_CLIENT: Final = OutboundClient(seconds=10.0, most_bytes=64 * 1024)
_OK: Final = 200


def sns_url(region: str) -> str:
    """The URL of SNS in a region."""
    return f"https://sns.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


class SnsEndpoint:
    """Amazon SNS, asked without credentials: both requests are public."""

    def __init__(self, url_of: Callable[[str], str] = sns_url) -> None:
        """`url_of` gives the URL of a region."""
        self._url_of = url_of

    async def certificate(self, region: str, name: str) -> bytes:
        """A signing certificate in PEM form. Raises `errors.UpstreamUnavailable`."""
        return await self._get(f"{self._url_of(region)}/{name}")

    async def confirm(self, topic: str, token: str) -> None:
        """Confirm the subscription to a topic. Raises `errors.UpstreamUnavailable`."""
        query = urlencode({"Action": "ConfirmSubscription", "TopicArn": topic, "Token": token})
        await self._get(f"{self._url_of(topic_region(topic))}/?{query}")

    async def _get(self, url: str) -> bytes:
        try:
            reply = await _CLIENT.request("GET", url)
            if reply.status == _OK:
                return reply.body
            reason = f"answered {reply.status}"
        except ResponseTooLong as error:
            reason = f"answered {error}"
        except OutboundFailure as error:
            reason = f"did not answer ({error})"
        raise UpstreamUnavailable(
            f"{url.partition('?')[0]} {reason}, so the message was not taken; SNS will repeat it. A gateway that cannot reach SNS needs `certificate` "
            "in the settings of the source, and a person who confirms the subscription."
        )
