"""Signatures of webhooks, judged by the specification's own library."""

import base64
import secrets
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from gateway.core.outbound.standard_webhooks import signed_headers
from gateway.core.settings.notices import signing_key

NEW = "whsec_" + base64.b64encode(b"n" * 32).decode()
OLD = "whsec_" + base64.b64encode(b"o" * 24).decode()
BODY = '{"type":"mutation.held","data":{"text":"ü"}}'.encode()


def _headers(*given: str, now: datetime | None = None) -> dict[str, str]:
    keys = [signing_key(each) for each in given or (NEW,)]
    return dict(signed_headers("rec_7_ab", BODY, keys, now or datetime.now(UTC)))


def test_a_receiver_takes_it() -> None:
    assert Webhook(NEW).verify(BODY, _headers())["type"] == "mutation.held"


def test_while_a_secret_is_rotated_receivers_with_either_take_it() -> None:
    headers = _headers(NEW, OLD)
    assert len(headers["webhook-signature"].split()) == 2
    for secret in (NEW, OLD):
        assert Webhook(secret).verify(BODY, headers)


@pytest.mark.parametrize("change", ["body", "id", "time", "secret", "old"])
def test_a_receiver_refuses_what_was_changed(change: str) -> None:
    long_ago = datetime.now(UTC) - timedelta(seconds=400)
    headers = _headers(now=long_ago if change == "old" else None)
    headers |= {"webhook-id": "rec_8_ab"} if change == "id" else {}
    headers |= {"webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)} if change == "time" else {}
    body = BODY.replace(b"held", b"done") if change == "body" else BODY
    with pytest.raises(WebhookVerificationError):
        Webhook(OLD if change == "secret" else NEW).verify(body, headers)


@pytest.mark.parametrize("size", [24, 64])
def test_secrets_have_the_size_that_the_specification_wants(size: int) -> None:
    raw = secrets.token_bytes(size)
    assert signing_key(f" whsec_{base64.b64encode(raw).decode()}\n") == raw


@pytest.mark.parametrize(
    "secret",
    ["", "whsec_", "hunter2", "whsec_" + base64.b64encode(b"x" * 23).decode(), base64.b64encode(b"x" * 65).decode()],
)
def test_another_secret_is_refused_and_not_quoted(secret: str) -> None:
    with pytest.raises(ValueError, match="24 to 64 bytes") as refused:
        signing_key(secret)
    assert "hunter2" not in str(refused.value)
