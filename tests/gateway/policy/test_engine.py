"""The engine the settings ask for."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid, PolicyUnavailable, SettingsInvalid
from gateway.core.settings import PolicyEngineKind, PolicySettings
from gateway.policy import bundle as chooser
from gateway.policy.engine import ReloadingEngine, open_engine


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


GUARDRAILS = "sentinel/guardrails/result"
EXTRA = "package sentinel.rules.extra\n\nfindings contains found if some found in input.flips.extra\n"


@pytest.fixture
async def watched(policies: Path, tmp_path: Path) -> AsyncIterator[ReloadingEngine]:
    """An engine whose thread does not poll, so that the tests decide when it reloads."""
    engine = ReloadingEngine(policies, cache=tmp_path / "cache", deadline_ms=500, memory_mb=64, poll_seconds=3600)
    yield engine
    await engine.close()


async def test_nothing_changed_nothing_is_done(watched: ReloadingEngine) -> None:
    before = watched.revision
    watched.reload_if_changed()
    assert (watched.revision, watched.problem) == (before, "")


@pytest.mark.opa
async def test_an_edit_is_swapped_in(watched: ReloadingEngine, policies: Path) -> None:
    before = watched.revision
    (policies / "guardrails" / "extra.rego").write_text(EXTRA)
    watched.reload_if_changed()
    assert watched.revision != before
    assert "extra" in watched.packages()
    answer = await watched.ask(GUARDRAILS, {})
    assert isinstance(answer, dict)
    assert "extra" in answer["evaluated"]


@pytest.mark.opa
async def test_an_edit_of_the_data_changes_the_flip_window(watched: ReloadingEngine, policies: Path) -> None:
    assert watched.flip_window == timedelta(days=1)
    path = policies / "data" / "priorities.json"
    path.write_text(path.read_text().replace('"window_seconds": 86400', '"window_seconds": 600'))
    watched.reload_if_changed()
    assert watched.flip_window == timedelta(minutes=10)


@pytest.mark.opa
async def test_a_broken_edit_keeps_what_was_good_until_it_is_mended(watched: ReloadingEngine, policies: Path) -> None:
    before = watched.revision
    path = policies / "guardrails" / "extra.rego"
    path.write_text(EXTRA + "\nfindings contains x if y\n")
    watched.reload_if_changed()
    assert watched.revision == before
    assert "extra.rego:5" in watched.problem
    assert "the previous ones still are" in watched.problem
    assert await watched.ask(GUARDRAILS, {})
    path.unlink()
    watched.reload_if_changed()
    assert (watched.revision, watched.problem) == (before, "")


async def test_an_edit_without_opa_is_reported(
    watched: ReloadingEngine, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    before = watched.revision
    (policies / "guardrails" / "extra.rego").write_text(EXTRA)
    watched.reload_if_changed()
    assert watched.revision == before
    assert "no `opa` on PATH" in watched.problem


async def test_policies_that_vanish_stay_in_force(watched: ReloadingEngine, policies: Path, tmp_path: Path) -> None:
    before = watched.revision
    policies.rename(tmp_path / "elsewhere")  # noqa: ASYNC240  a test
    watched.reload_if_changed()
    assert watched.revision == before
    assert watched.problem
    (tmp_path / "elsewhere").rename(policies)
    watched.reload_if_changed()
    assert watched.problem == ""


@pytest.mark.opa
@pytest.mark.slow
async def test_the_thread_polls_by_itself(policies: Path, tmp_path: Path) -> None:
    engine = ReloadingEngine(policies, cache=tmp_path / "cache", deadline_ms=500, memory_mb=64, poll_seconds=0.05)
    try:
        before = engine.revision
        (policies / "guardrails" / "extra.rego").write_text(EXTRA)
        for _ in range(4_000):
            if engine.revision != before:
                break
            await asyncio.sleep(0.05)
            assert await engine.ask(GUARDRAILS, {})
        assert engine.revision != before
    finally:
        await engine.close()


async def test_it_does_not_open_without_policies(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid):
        ReloadingEngine(tmp_path, cache=tmp_path / "cache", deadline_ms=500, memory_mb=64)
