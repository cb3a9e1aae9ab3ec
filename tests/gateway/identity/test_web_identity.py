"""Workloads assume a role of the gateway with a token of their provider, and without a key."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError
from joserfc import jwk

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.core.settings.roles import RoleSettings, WebIdentitySettings
from tests.kit.gate import Gate
from tests.kit.hcp import serving
from tests.kit.moto import MotoUpstream
from tests.kit.oidc import OidcStub

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ARN = "arn:aws:iam::123456789012:role/"
SUBJECT = "repo:acme/shop:ref:refs/heads/main"


def _roles(issuer: str) -> tuple[RoleSettings, ...]:
    return (
        RoleSettings(
            name="deploy",
            kind=ActorKind.PIPELINE,
            roles=("stack/shop",),
            web_identity=WebIdentitySettings(issuer=issuer, subjects=("repo:acme/shop:*",), on_behalf_of_claim="actor"),
        ),
        RoleSettings(
            name="person",
            kind=ActorKind.HUMAN,
            web_identity=WebIdentitySettings(
                issuer=issuer, subjects=("repo:acme/*:main", SUBJECT), actor_claim="actor"
            ),
        ),
        RoleSettings(name="keyed", trusts=("*",)),
    )


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcStub]:
    # A document as GitHub's: nobody signs in there.
    stub = OidcStub(metadata={"token_endpoint": None, "authorization_endpoint": None, "userinfo_endpoint": None})
    with serving(stub):
        yield stub


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, provider: OidcStub) -> Iterator[Gate]:
    directory = tmp_path_factory.mktemp("web")
    with Gate(directory, upstream=MotoUpstream(), roles=_roles(provider.issuer), account="123456789012") as running:
        yield running


def _token(provider: OidcStub, **claims: Any) -> str:
    now = int(time.time())
    own = {"iss": provider.issuer, "aud": "sts.amazonaws.com", "sub": SUBJECT, "iat": now, "exp": now + 300}
    given = {**own, "actor": "ana", **claims}
    return provider.signed({name: value for name, value in given.items() if value is not None})


def _assume(gate: Gate, token: str, role: str = "deploy", name: str = "GitHubActions") -> dict[str, Any]:
    sts = boto3.client("sts", endpoint_url=gate.url, region_name="us-east-1", config=Config(signature_version=UNSIGNED))
    found: dict[str, Any] = sts.assume_role_with_web_identity(
        RoleArn=ARN + role, RoleSessionName=name, WebIdentityToken=token
    )
    return found


def _refused(call: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call()
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def test_a_token_assumes_the_role(gate: Gate, provider: OidcStub) -> None:
    tags = {"principal_tags": {"sentinel:intent": ["security"], "sentinel:motivation": ["routine"]}}
    found = _assume(gate, _token(provider, **{"https://aws.amazon.com/tags": tags}))
    assert found["SubjectFromWebIdentityToken"] == SUBJECT
    assert found["AssumedRoleUser"]["Arn"] == "arn:aws:sts::123456789012:assumed-role/deploy/GitHubActions"
    key = gate.run(gate.ring.find(found["Credentials"]["AccessKeyId"]))
    assert key is not None
    assert (key.actor, key.kind, key.roles, key.on_behalf_of) == ("deploy", ActorKind.PIPELINE, ("stack/shop",), "ana")
    assert key.motive is not None
    assert (key.motive.intent, key.motive.motivation) == ("security", "routine")
    assert key.assumed is not None
    assert key.assumed.subject == f"{provider.issuer} {SUBJECT}"
    standing = [each.id for each in gate.run(gate.ring.standing())]
    assert key.id not in standing


def test_sdks_find_the_token_by_themselves(
    gate: Gate, provider: OidcStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a pod with IRSA: three variables, and no code."""
    (tmp_path / "token").write_text(_token(provider))
    for name, value in {
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"),
        "AWS_ROLE_ARN": f"{ARN}deploy",
        "AWS_ENDPOINT_URL": gate.url,
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    identity = boto3.session.Session(region_name="us-east-1").client("sts").get_caller_identity()
    assert ":assumed-role/deploy/" in identity["Arn"]


def test_a_person_of_the_provider_decides_nothing(gate: Gate, provider: OidcStub) -> None:
    credentials = _assume(gate, _token(provider, actor="human"), "person")["Credentials"]
    key = gate.run(gate.ring.find(credentials["AccessKeyId"]))
    assert key is not None
    assert (key.actor, key.kind) == ("human", ActorKind.HUMAN)
    token = f"{credentials['AccessKeyId']}.{credentials['SecretAccessKey']}"
    answer = httpx.post(
        f"{gate.url}/v1/stops",
        json={"scope": "all", "reason": "x"},
        headers={"authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 403
    assert "decides nothing" in answer.text


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"sub": "repo:acme/other:ref:refs/heads/main"}, "AccessDenied"),
        ({"sub": "repo:acme/shop"}, "AccessDenied"),
        ({"sub": "x repo:acme/shop:ref"}, "AccessDenied"),
        ({"sub": ["repo:acme/shop:x"]}, "InvalidIdentityToken"),
        ({"sub": None}, "InvalidIdentityToken"),
        ({"aud": "https://github.com/acme"}, "InvalidIdentityToken"),
        ({"aud": ["sts.amazonaws.com", "other"]}, "InvalidIdentityToken"),
        ({"iss": "https://token.actions.githubusercontent.com"}, "InvalidIdentityToken"),
        ({"exp": 1_000_000}, "ExpiredTokenException"),
        ({"exp": None}, "InvalidIdentityToken"),
        ({"nbf": 99_999_999_999}, "InvalidIdentityToken"),
        ({"actor": "a\nb"}, "AccessDenied"),
        ({"actor": None}, "AccessDenied"),
        ({"https://aws.amazon.com/tags": "odd"}, "AccessDenied"),
        ({"https://aws.amazon.com/tags": {"principal_tags": {"sentinel:intent": ["cost"]}}}, "ValidationError"),
    ],
)
def test_another_token_assumes_nothing(gate: Gate, provider: OidcStub, claims: dict[str, Any], code: str) -> None:
    refused, message = _refused(lambda: _assume(gate, _token(provider, **claims)))
    assert refused == code, message
    assert "No key was made" in message
    recorded: Any = gate.records(stage=Stage.TURNED_AWAY)[-1].body
    assert recorded.reason == message


def test_nothing_but_the_providers_signature_counts(gate: Gate, provider: OidcStub) -> None:
    other = OidcStub(key=jwk.RSAKey.generate_key(2048, {"kid": "rsa-1"}), port=provider.port)
    shared = OidcStub(key=jwk.OctKey.import_key("k" * 64), algorithm="HS256", port=provider.port)
    for stub in (other, shared):
        assert _refused(lambda stub=stub: _assume(gate, _token(stub)))[0] == "InvalidIdentityToken"
    for token in ("a.b.c", "x" * 19_999, "....."):
        assert _refused(lambda token=token: _assume(gate, token))[0] == "InvalidIdentityToken"


def test_a_role_of_keys_is_not_for_tokens(gate: Gate, provider: OidcStub) -> None:
    for role in ("keyed", "absent"):
        code, message = _refused(lambda role=role: _assume(gate, _token(provider), role))
        assert code == "AccessDenied"
        assert "may not be assumed by you" in message
    sts = gate.client("sts", "agent", motive=None)
    code, _ = _refused(lambda: sts.assume_role(RoleArn=f"{ARN}deploy", RoleSessionName="by-key"))
    assert code == "AccessDenied"


def test_a_large_body_without_a_signature_is_not_read(gate: Gate) -> None:
    body = "Action=AssumeRoleWithWebIdentity&WebIdentityToken=" + "x" * 100_000
    answer = httpx.post(gate.url + "/", content=body, headers={"content-type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 403
    assert "missing an authentication token" in answer.text


def test_the_ledger_proves_the_keys(gate: Gate) -> None:
    assert gate.run(gate.ledger.verify()) > 0
