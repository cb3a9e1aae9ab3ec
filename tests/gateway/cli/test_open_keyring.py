"""The keyring for commands."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.cli.open_keyring import open_keyring
from gateway.errors import SettingsInvalid
from gateway.model.caller import ActorKind
from gateway.settings import Settings


async def test_what_one_issues_another_finds(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    async with open_keyring(settings) as keyring:
        key = await keyring.issue(actor="a", kind=ActorKind.AGENT)
    async with open_keyring(settings) as keyring:
        assert await keyring.find(key.id) == key


async def test_a_short_master_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="at least 32"):
        async with open_keyring(Settings(data=tmp_path / "data", master_key=SecretStr("short"))):
            pass
