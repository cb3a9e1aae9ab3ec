"""Each form proves itself in its own way; a message without that proof is not read further."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import BodyTooLarge, NotAuthenticated
from gateway.core.model.inbound import Inbound
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from gateway.signals.message_proof import secrets_of, verified_body

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SECRET = "whsec_" + base64.b64encode(b"k" * 24).decode()
BODY = b'{"a": 1}'


def source(form: SignalForm, **more: Any) -> SignalSourceSettings:
    return SignalSourceSettings(name="s", form=form, **(more or {"secret": SECRET}))


def inbound(headers: dict[str, str] | list[tuple[str, str]], body: bytes | None = BODY) -> Inbound:
    async def read() -> bytes:
        if body is None:
            raise BodyTooLarge(10)
        return body

    given = tuple(headers.items()) if isinstance(headers, dict) else tuple(headers)
    return Inbound(method="POST", target="/v1/signals/s", headers=given, read_body=read, received_at=NOW)


def pagerduty(body: bytes = BODY, secret: str = SECRET) -> str:
    return "v1=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex()


def standard(*, body: bytes = BODY, at: datetime = NOW, key: bytes = b"k" * 24) -> dict[str, str]:
    sent = str(int(at.timestamp()))
    signature = base64.b64encode(hmac.digest(key, f"msg_1.{sent}.".encode() + body, hashlib.sha256)).decode()
    return {"webhook-id": "msg_1", "webhook-timestamp": sent, "webhook-signature": f"v1,{signature}"}


async def test_the_specification_s_own_example_verifies() -> None:
    """The example of the Standard Webhooks libraries."""
    known = source(SignalForm.STANDARD, secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    given = inbound(headers, b'{"test": 2432232314}')
    then = Inbound(
        method="POST",
        target="/",
        headers=given.headers,
        read_body=given.read_body,
        received_at=datetime.fromtimestamp(1614265330, UTC),
    )
    assert await verified_body(known, then) == b'{"test": 2432232314}'
    with pytest.raises(NotAuthenticated):
        await verified_body(known, given)  # years later


@pytest.mark.parametrize(
    ("form", "headers"),
    [
        (SignalForm.STANDARD, standard()),
        (SignalForm.PAGERDUTY, {"x-pagerduty-signature": f"v1=00, {pagerduty()}"}),
        (SignalForm.DATADOG, {"authorization": f"bearer {SECRET}"}),
        (SignalForm.EVENTBRIDGE, {"authorization": f"Basic {base64.b64encode(f's:{SECRET}'.encode()).decode()}"}),
    ],
)
async def test_a_proven_message_is_read(form: SignalForm, headers: dict[str, str]) -> None:
    assert await verified_body(source(form), inbound(headers)) == BODY
    with pytest.raises(BodyTooLarge):
        await verified_body(source(form), inbound(headers, None))


@pytest.mark.parametrize(
    ("form", "headers"),
    [
        (SignalForm.STANDARD, standard(body=b"{}")),
        (SignalForm.STANDARD, standard(key=b"j" * 24)),
        (SignalForm.STANDARD, standard(at=datetime(2026, 11, 22, 11, 54, tzinfo=UTC))),
        (SignalForm.STANDARD, standard(at=datetime(2026, 11, 22, 12, 6, tzinfo=UTC))),
        (SignalForm.STANDARD, {**standard(), "webhook-timestamp": "-1"}),
        (SignalForm.STANDARD, {**standard(), "webhook-timestamp": "9" * 400}),
        (SignalForm.STANDARD, [*standard().items(), ("webhook-id", "msg_2")]),
        (SignalForm.STANDARD, {**standard(), "webhook-signature": " ".join(["v1,x"] * 10 + [standard()["webhook-signature"]])}),
        (SignalForm.PAGERDUTY, {"x-pagerduty-signature": pagerduty(b"{}")}),
        (SignalForm.PAGERDUTY, {"x-pagerduty-signature": pagerduty(secret="another-secret-here")}),
        (SignalForm.PAGERDUTY, {"x-pagerduty-signature": pagerduty()[3:]}),
        (SignalForm.PAGERDUTY, {"authorization": f"Bearer {SECRET}"}),
        (SignalForm.DATADOG, {"authorization": "Bearer "}),
        (SignalForm.DATADOG, {"authorization": SECRET}),
        (SignalForm.DATADOG, {"authorization": "Bearer \xff"}),
        (SignalForm.DATADOG, [("authorization", f"Bearer {SECRET}"), ("authorization", "Bearer x")]),
        (SignalForm.DATADOG, {"authorization": f"Basic {base64.b64encode(f'x:{SECRET}'.encode()).decode()}"}),
        (SignalForm.DATADOG, {}),
    ],
)  # fmt: skip
async def test_any_other_is_refused(form: SignalForm, headers: Any) -> None:
    with pytest.raises(NotAuthenticated, match="No source of signals"):
        await verified_body(source(form), inbound(headers))


def test_a_file_holds_several_secrets_while_they_are_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_text(f"\n{SECRET}\nshort\n the-next-secret-here \n")
    assert secrets_of(source(SignalForm.DATADOG, secret_file=path)) == [SECRET.encode(), b"the-next-secret-here"]
    monkeypatch.setenv("ITS_SECRET", SECRET)
    assert secrets_of(source(SignalForm.DATADOG, secret_env="ITS_SECRET")) == [SECRET.encode()]
    with pytest.raises(NotAuthenticated):
        secrets_of(source(SignalForm.DATADOG, secret_file=tmp_path / "none"))


async def test_without_a_secret_nobody_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ITS_SECRET", raising=False)
    for header in ("Bearer ", "Bearer", "Basic czo="):
        with pytest.raises(NotAuthenticated):
            await verified_body(source(SignalForm.DATADOG, secret_env="ITS_SECRET"), inbound({"authorization": header}))
