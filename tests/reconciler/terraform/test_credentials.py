"""Credentials are checked at the start, with a sentence that says how to get working ones; terraform gets only listed variables."""

import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.core.errors import SettingsInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.settings import ReconcileSettings, Settings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import open_ledger
from reconciler.terraform.credentials import check_credentials, passed_environment
from tests.kit.stores import KEYS, MASTER

NOW = SystemClock().now()


@pytest.fixture
async def keys(tmp_path: Path) -> AsyncIterator[SqlKeyRing]:
    async with open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS) as ledger:
        yield SqlKeyRing(ledger, master=MASTER, clock=SystemClock())


@pytest.fixture
async def issued(keys: SqlKeyRing) -> Key:
    return await keys.issue(actor="reconciler", kind=ActorKind.SERVICE, lasts=timedelta(days=1))


def settings(key_id: str = "", secret: str = "", endpoint: str = "") -> Settings:
    return Settings(reconcile=ReconcileSettings(key_id=key_id, key_secret=SecretStr(secret), endpoint=endpoint))


async def refused(keys: SqlKeyRing, given: Settings, environ: dict[str, str], days: int = 0) -> str:
    with pytest.raises(SettingsInvalid) as error:
        await check_credentials(given, keys, environ, NOW + timedelta(days=days))
    assert "`sentinel key create reconciler --kind service --role reconciler`" in str(error.value)
    return str(error.value)


async def test_an_issued_key_is_accepted_from_the_settings_and_from_the_environment(
    keys: SqlKeyRing, issued: Key, tmp_path: Path
) -> None:
    await check_credentials(settings(issued.id, issued.secret), keys, {}, NOW)
    environ = {"HOME": str(tmp_path), "AWS_ACCESS_KEY_ID": issued.id, "AWS_SECRET_ACCESS_KEY": issued.secret}
    await check_credentials(settings(), keys, environ, NOW)


async def test_without_a_key_it_is_said_at_once(keys: SqlKeyRing, tmp_path: Path) -> None:
    assert "has no key to read live values through the gateway" in await refused(
        keys, settings(), {"HOME": str(tmp_path)}
    )


async def test_half_a_key_is_none(keys: SqlKeyRing) -> None:
    assert "`key_secret` in [reconcile] is missing" in await refused(keys, settings("SNTL1"), {})
    assert "`key_id` in [reconcile] is missing" in await refused(keys, settings("", "secret"), {})


async def test_a_key_that_the_gateway_refuses_is_said(keys: SqlKeyRing, issued: Key) -> None:
    unknown = settings("SNTL" + "1" * 16, "secret")
    assert "was not issued by this gateway" in await refused(keys, unknown, {})
    own = settings(issued.id, issued.secret)
    assert "has expired" in await refused(keys, own, {}, days=2)
    wrong = await refused(keys, settings(issued.id, "a-wrong-one"), {})
    assert "is not the one that was issued" in wrong
    assert issued.secret not in wrong
    await keys.revoke(issued.id)
    assert "is revoked" in await refused(keys, own, {})


async def test_credentials_that_are_not_sentinels_are_left_to_terraform(keys: SqlKeyRing, tmp_path: Path) -> None:
    await check_credentials(settings("AKIA1", "s", "https://aws"), keys, {}, NOW)
    await check_credentials(settings(endpoint="https://aws"), keys, {"HOME": str(tmp_path)}, NOW)
    await check_credentials(settings(), keys, {"HOME": str(tmp_path), "AWS_PROFILE": "infra"}, NOW)
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").touch()
    await check_credentials(settings(), keys, {"HOME": str(tmp_path)}, NOW)


SECRETS = ("SENTINEL_MASTER_KEY", "DATABASE_URL", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "TF_VAR_password", "VAULT_TOKEN")


def test_only_what_is_listed_is_passed_on() -> None:
    environ = {"PATH": "/bin", "HOME": "/h", "AWS_REGION": "eu-west-1", **dict.fromkeys(SECRETS, "secret")}
    assert passed_environment(environ, more=(), own_key=False) == {
        "PATH": "/bin",
        "HOME": "/h",
        "AWS_REGION": "eu-west-1",
    }


def test_the_settings_may_add_variables_but_none_of_our_own() -> None:
    environ = dict.fromkeys(SECRETS, "secret")
    passed = passed_environment(environ, more=["TF_VAR_password", "SENTINEL_MASTER_KEY"], own_key=False)
    assert passed == {"TF_VAR_password": "secret"}


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONFIG_FILE"])
def test_with_a_key_of_its_own_the_machines_credentials_stay_out_of_reach(name: str) -> None:
    assert passed_environment({name: "mine"}, more=(), own_key=False) == {name: "mine"}
    passed = passed_environment({name: "mine"}, more=(), own_key=True)
    assert "mine" not in passed.values()
    assert passed["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
