"""Messages of SNS: only those of the settings' topics, signed by SNS, and lately. Nothing in one chooses a host."""

import base64
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from gateway.signals.sns import SnsMessages

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"
URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SOURCE = SignalSourceSettings(name="s", form=SignalForm.SNS, topics=(TOPIC,))


def certificate(key: Any = KEY, *, ends: datetime = NOW + timedelta(days=9)) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 7, NOW - timedelta(days=99), ends)
    return made.sign(key, SHA256()).public_bytes(Encoding.PEM)


@dataclass
class Site:
    """SNS with one certificate."""

    pem: bytes = field(default_factory=certificate)
    asked: list[tuple[str, str]] = field(default_factory=list)
    confirmed: list[tuple[str, str]] = field(default_factory=list)

    async def certificate(self, region: str, name: str) -> bytes:
        self.asked.append((region, name))
        return self.pem

    async def confirm(self, topic: str, token: str) -> None:
        self.confirmed.append((topic, token))


def signed(key: Any = KEY, *, version: str = "2", **change: str) -> dict[str, str]:
    """A message as SNS signs it, with these members."""
    message = {
        "Type": "Notification",
        "MessageId": "22b80b92",
        "TopicArn": TOPIC,
        "Message": json.dumps({"AlarmName": "x"}),
        "Timestamp": "2026-11-22T11:59:00.000Z",
        "SigningCertURL": URL,
        **change,
    }
    names = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
    text = "".join(f"{name}\n{message[name]}\n" for name in names if name in message)
    signature = key.sign(text.encode(), PKCS1v15(), SHA256() if version == "2" else SHA1())  # noqa: S303  what SNS signs with by default
    return {**message, "SignatureVersion": version, "Signature": base64.b64encode(signature).decode()}


CONFIRM = {"Type": "SubscriptionConfirmation", "Token": "t0k", "SubscribeURL": "https://evil.example/?x"}


@pytest.mark.parametrize("version", ["1", "2"])
async def test_a_signed_message_is_opened_and_the_certificate_asked_for_once(version: str) -> None:
    site = Site()
    messages = SnsMessages(site=site)
    for subject in ({}, {"Subject": "ALARM"}):
        assert await messages.content(SOURCE, signed(version=version, **subject), NOW) == '{"AlarmName": "x"}'
    assert site.asked == [("eu-west-1", URL.rpartition("/")[2])]


async def test_a_subscription_is_confirmed_at_the_host_of_the_topic_s_region() -> None:
    site = Site()
    assert await SnsMessages(site=site).content(SOURCE, signed(**CONFIRM), NOW) is None
    assert site.confirmed == [(TOPIC, "t0k")]
    assert (
        await SnsMessages(site=site).content(SOURCE, signed(**{**CONFIRM, "Type": "UnsubscribeConfirmation"}), NOW)
        is None
    )
    assert len(site.confirmed) == 1


@pytest.mark.parametrize(
    "message",
    [
        signed(OTHER),
        {**signed(), "Message": "{}"},
        {**signed(), "Subject": "added"},
        {**signed(), "Signature": ""},
        {**signed(), "Signature": "!"},
        {**signed(), "SignatureVersion": "3"},
        {**signed(), "Type": "SubscriptionConfirmation"},
        signed(Type="Other"),
        signed(TopicArn="arn:aws:sns:eu-west-1:999999999999:alarms"),
        signed(Timestamp="2026-11-22T10:00:00.000Z"),
        signed(Timestamp="2026-11-22T14:00:00.000Z"),
        signed(Timestamp="now"),
        {},
    ],
)
async def test_any_other_message_is_refused_and_confirms_nothing(message: dict[str, str]) -> None:
    site = Site()
    with pytest.raises(NotAuthenticated):
        await SnsMessages(site=site).content(SOURCE, message, NOW)
    assert site.confirmed == []


@pytest.mark.parametrize(
    "url",
    [
        "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem",
        "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-0123456789abcdef.pem",
        "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem",
        "https://evil@sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem",
        "https://sns.eu-west-1.amazonaws.com:444/SimpleNotificationService-0123456789abcdef.pem",
        "https://sns.eu-west-1.amazonaws.com/../SimpleNotificationService-0123456789abcdef.pem",
        "https://sns.eu-west-1.amazonaws.com/?Action=GetTopicAttributes&x=SimpleNotificationService-0123456789abcdef.pem",
        "https://sns.eu-west-1.amazonaws.com.cn/SimpleNotificationService-0123456789abcdef.pem",
        "https://bucket.s3.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem",
        "",
    ],
)
async def test_a_certificate_from_elsewhere_is_not_even_asked_for(url: str) -> None:
    site = Site()
    with pytest.raises(NotAuthenticated):
        await SnsMessages(site=site).content(SOURCE, signed(SigningCertURL=url), NOW)
    assert site.asked == []


@pytest.mark.parametrize(
    "pem",
    [
        b"",
        b"no certificate",
        certificate(OTHER),
        certificate(ends=NOW - timedelta(seconds=1)),
        certificate(ec.generate_private_key(ec.SECP256R1())),
    ],
)
async def test_a_certificate_that_does_not_fit_proves_nothing(pem: bytes) -> None:
    with pytest.raises(NotAuthenticated):
        await SnsMessages(site=Site(pem=pem)).content(SOURCE, signed(), NOW)


async def test_the_certificate_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sns.pem"
    path.write_bytes(certificate())
    site = Site(pem=b"")
    source = SOURCE.model_copy(update={"certificate": path})
    assert await SnsMessages(site=site).content(source, signed(SigningCertURL=""), NOW)
    assert site.asked == []
    path.unlink()
    with pytest.raises(NotAuthenticated):
        await SnsMessages(site=site).content(source, signed(), NOW)


async def test_few_certificates_are_asked_for_in_a_minute() -> None:
    site = Site(pem=b"none")
    messages = SnsMessages(site=site)
    for number in range(50):
        with pytest.raises(NotAuthenticated):
            await messages.content(SOURCE, signed(SigningCertURL=f"{URL[:-6]}{number:02}.pem"), NOW)
    assert len(site.asked) == 10


async def test_a_member_of_another_type_is_malformed() -> None:
    with pytest.raises(Malformed):
        await SnsMessages(site=Site()).content(SOURCE, {**signed(), "Message": {}}, NOW)
