"""A form is its signer's only if its policy is signed, in force, and names every field."""

import base64
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import NotAuthenticated
from gateway.identity.canonical import signing_key
from gateway.identity.form_policy import allowed_length, authenticate_form, form_proof
from tests.gateway.identity.conftest import NOW, Fixed, Ring

KEY, SECRET = "SNTLAAAAAAAAAAAAAAAA", "s" * 40
SIGNING = {
    "x-amz-algorithm": "AWS4-HMAC-SHA256",
    "x-amz-credential": f"{KEY}/20261121/us-east-1/s3/aws4_request",
    "x-amz-date": "20261121T115900Z",
}
LATER = "2026-11-21T13:00:00Z"


def _form(
    conditions: list[Any] | None = None,
    more: dict[str, str] | None = None,
    *,
    secret: str = SECRET,
    expiration: object = LATER,
) -> dict[str, str]:
    named = [{name: value} for name, value in SIGNING.items()]
    policy = {"expiration": expiration, "conditions": [*named, {"bucket": "b"}, *(conditions or [{"key": "k"}])]}
    text = base64.b64encode(json.dumps(policy).encode()).decode()
    signature = hmac.digest(signing_key(secret, "20261121", "us-east-1", "s3"), text.encode(), "sha256").hex()
    return {**SIGNING, "key": "k", "policy": text, "x-amz-signature": signature, **(more or {})}


async def _ask(form: dict[str, str], bucket: str = "b", ring: Ring | None = None) -> str:
    if ring is None:
        ring = Ring()
        ring.add(KEY, SECRET)
    return (await authenticate_form(ring, Fixed(), form, bucket)).actor


@pytest.mark.parametrize(
    "form",
    [
        _form(),
        _form([["eq", "$key", "k"]]),
        _form([["starts-with", "$key", ""], ["content-length-range", 1, 9]]),
        _form([["starts-with", "$key", "k"], {"Content-Type": "text/plain"}], {"content-type": "text/plain"}),
        _form(None, {"x-ignore-me": "1"}),
        _form([{"key": "k"}, {"success_action_status": 201}], {"success_action_status": "201"}),
        _form([{"key": "k"}, ["eq", "$success_action_status", 201]], {"success_action_status": "201"}),
        _form([{"key": "k"}, ["starts-with", "$Content-Type", "image/"]], {"content-type": "image/png, image/gif"}),
        _form(expiration="2026-11-21T14:00:00+01:00"),
    ],
)
async def test_a_form_that_meets_its_policy_is_its_signers(form: dict[str, str]) -> None:
    assert await _ask(form) == "agent-scaler"


@pytest.mark.parametrize(
    ("form", "code"),
    [
        (_form(secret="guessed"), "SignatureDoesNotMatch"),
        ({**_form(), "policy": _form([{"key": "other"}])["policy"]}, "SignatureDoesNotMatch"),
        (_form(None, {"key": "another"}), "AccessDenied"),
        (_form([["starts-with", "$key", "x"]]), "AccessDenied"),
        (_form([["ends-with", "$key", "k"]]), "AccessDenied"),
        (_form([["eq", "$key"]]), "AccessDenied"),
        (_form([["content-length-range", -1, "x"], {"key": "k"}]), "AccessDenied"),
        (_form(None, {"acl": "public-read"}), "AccessDenied"),
        (
            _form([{"key": "k"}, ["starts-with", "$Content-Type", "image/"]], {"content-type": "image/png, text/html"}),
            "AccessDenied",
        ),
        (_form([{"key": True}]), "AccessDenied"),
        (_form(expiration="2026-11-21T12:00:00Z"), "AccessDenied"),
        (_form(expiration="soon"), "AccessDenied"),
        (_form(expiration=None), "AccessDenied"),
        ({**_form(), "x-amz-algorithm": "none"}, "InvalidArgument"),
        ({**_form(), "x-amz-date": "20261120T000000Z"}, "InvalidArgument"),
        ({**_form(), "x-amz-credential": f"{KEY}/20261121/us-east-1/sqs/aws4_request"}, "InvalidArgument"),
        ({**_form(), "x-amz-signature": "0"}, "InvalidArgument"),
        ({"key": "k"}, "InvalidArgument"),
        ({"awsaccesskeyid": KEY}, "InvalidRequest"),
    ],
)
async def test_any_other_is_refused(form: dict[str, str], code: str) -> None:
    with pytest.raises(NotAuthenticated) as refused:
        await _ask(form)
    assert refused.value.aws_code == code


async def test_a_form_is_for_its_bucket() -> None:
    with pytest.raises(NotAuthenticated, match="condition"):
        await _ask(_form(), "another")


async def test_an_unknown_key_is_answered_as_a_wrong_secret() -> None:
    answers = []
    for ring in (Ring(), None):
        with pytest.raises(NotAuthenticated) as refused:
            await _ask(_form(secret="guessed"), ring=ring)
        answers.append((str(refused.value), refused.value.aws_code, refused.value.key_id))
    assert answers[0] == answers[1]


async def test_a_key_that_ended_signs_no_form() -> None:
    ring = Ring()
    ring.add(KEY, SECRET, expires_at=NOW - timedelta(seconds=1))
    with pytest.raises(NotAuthenticated, match="has ended"):
        await _ask(_form(), ring=ring)


@pytest.mark.parametrize("policy", ["", "!", base64.b64encode(b"[]").decode(), base64.b64encode(b"{}").decode()])
def test_a_policy_that_is_not_one_allows_nothing(policy: str) -> None:
    with pytest.raises(NotAuthenticated, match="not base64 of a JSON object"):
        allowed_length({"policy": policy})


def test_the_length_that_a_policy_allows() -> None:
    assert allowed_length(_form([["content-length-range", 1, "9"]])) == (1, 9)
    assert allowed_length(_form()) == (0, None)


def test_the_proof_names_the_key() -> None:
    assert form_proof(_form()).access_key_id == KEY
