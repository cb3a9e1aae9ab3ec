"""A workload that a role trusts opens sessions under ever new names until the role has no more, and so shuts out the others that it trusts.

Five of them, each with its share, do so together. What must hold: one web identity has its share of a role's sessions, with those that its sessions
assume in turn, and each other one some that nobody can take from it.
"""

import time
from collections.abc import Iterator
from contextlib import suppress

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.settings.roles import RoleSettings, WebIdentitySettings
from gateway.ledger import keyring
from tests.kit.gate import Gate
from tests.kit.hcp import serving
from tests.kit.oidc import OidcStub

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ROLE = "arn:aws:iam::123456789012:role/"


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcStub]:
    stub = OidcStub(metadata={"token_endpoint": None, "authorization_endpoint": None, "userinfo_endpoint": None})
    with serving(stub):
        yield stub


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, provider: OidcStub) -> Iterator[Gate]:
    identity = WebIdentitySettings(issuer=provider.issuer, subjects=("repo:acme/*",))
    roles = (
        RoleSettings(name="bots", kind=ActorKind.AGENT, web_identity=identity),
        RoleSettings(name="more", trusts=("bots",)),
    )
    with Gate(tmp_path_factory.mktemp("web"), roles=roles, account="123456789012") as running:
        yield running


def _key(gate: Gate, provider: OidcStub, subject: str, name: str) -> dict[str, str]:
    """The credentials of a new session of a workload."""
    now = int(time.time())
    token = provider.signed({
        "iss": provider.issuer, "aud": "sts.amazonaws.com", "sub": f"repo:acme/{subject}", "iat": now, "exp": now + 300,
    })  # fmt: skip
    config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1})
    sts = boto3.client("sts", endpoint_url=gate.url, region_name="us-east-1", config=config)
    found: dict[str, str] = sts.assume_role_with_web_identity(
        RoleArn=f"{ROLE}bots", RoleSessionName=name, WebIdentityToken=token
    )["Credentials"]
    return found


def test_one_workload_leaves_the_others_their_sessions(
    gate: Gate, provider: OidcStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "MOST_SESSIONS", dict.fromkeys(ActorKind, 4 * keyring.SHARE))
    keys = [_key(gate, provider, "evil", name) for name in ("one", "two", "three")]
    sts = boto3.client(
        "sts",
        endpoint_url=gate.url,
        region_name="us-east-1",
        aws_access_key_id=keys[0]["AccessKeyId"],
        aws_secret_access_key=keys[0]["SecretAccessKey"],
        aws_session_token=keys[0]["SessionToken"],
        config=Config(retries={"total_max_attempts": 1}),
    )
    sts.assume_role(RoleArn=f"{ROLE}more", RoleSessionName="in-turn")
    with pytest.raises(ClientError, match="one workload may have no more"):
        sts.assume_role(RoleArn=f"{ROLE}more", RoleSessionName="once-more")
    with pytest.raises(ClientError, match="one workload may have no more"):
        _key(gate, provider, "evil", "four")
    assert _key(gate, provider, "evil", "one")["AccessKeyId"] == keys[0]["AccessKeyId"], "what it has is given again"
    assert _key(gate, provider, "good", "one")["AccessKeyId"]


def test_several_together_leave_each_other_one_what_is_reserved_for_it(
    gate: Gate, provider: OidcStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten a role, so two a workload, and one when it is used up."""
    monkeypatch.setattr(keyring, "MOST_SESSIONS", dict.fromkeys(ActorKind, 2 * keyring.SHARE))
    monkeypatch.setattr(keyring, "CROWD", 2)
    for one in range(keyring.SHARE):
        for name in ("first", "second"):
            with suppress(ClientError):  # the test before has opened some
                _key(gate, provider, f"evil-{one}", name)
    assert _key(gate, provider, "late", "one")["AccessKeyId"]
    with pytest.raises(ClientError, match="that one workload gets when others use up a role"):
        _key(gate, provider, "late", "two")
    most, made = 2 * 2 * keyring.SHARE, 0
    with suppress(ClientError):
        while made < most:
            _key(gate, provider, f"crowd-{made}", "one")
            made += 1
    assert 1 < made < most, "there is an end, or what each leaves would be without one"
    with pytest.raises(ClientError, match="of very many workloads"):
        _key(gate, provider, "one-more", "one")
