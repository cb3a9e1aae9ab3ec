"""The engine the settings ask for."""

from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid, PolicyUnavailable, SettingsInvalid
from gateway.core.settings import PolicyEngineKind, PolicySettings
from gateway.policy.engine import open_engine


async def test_embedded_is_the_default_and_needs_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    engine = await open_engine(PolicySettings(), data)
    try:
        assert "network" in engine.packages()
        assert engine.problem == ""
        assert await engine.ask("sentinel/guardrails/result", {})
    finally:
        await engine.close()
    assert not data.exists()


async def test_a_directory_without_policies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid):
        await open_engine(PolicySettings(path=tmp_path / "none"), tmp_path)


async def test_a_server_must_be_named_and_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="opa_url"):
        await open_engine(PolicySettings(engine=PolicyEngineKind.OPA), tmp_path)


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_server_that_does_not_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyUnavailable):
        await open_engine(PolicySettings(engine=PolicyEngineKind.OPA, opa_url="http://127.0.0.1:1"), tmp_path)
