"""Providers that read are kept: one process for each configuration, its shape asked for once."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.reads import PluginReads

GROUP = "aws_autoscaling_group.web"
real = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_a_provider_is_started_once_and_its_shape_is_kept(calm: Any, tmp_path: Path) -> None:
    data = calm.terraform().plugin_data
    reads = PluginReads(environment=calm.environment, workdir=tmp_path)
    try:
        for _ in range(2):
            await reads.refresh(calm.path, state=calm.state, targets=[GROUP], data=data)
        (first,) = reads.running.values()
        first.process.kill()
        await first.process.wait()
        live = await reads.refresh(calm.path, state=calm.state, targets=[GROUP], data=data)
        (second,) = reads.running.values()
    finally:
        await reads.close()
    assert live.exists(GROUP)
    assert first is not second
    assert not second.running
    assert len([name for name in os.listdir(tmp_path) if name.startswith("provider-")]) == 1  # noqa: PTH208  not blocking


@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_a_package_that_the_lock_file_does_not_name_is_not_started(calm: Any, tmp_path: Path) -> None:
    root = shutil.copytree(calm.path, tmp_path / "copy", ignore=shutil.ignore_patterns(".terraform"))
    (root / ".terraform.lock.hcl").write_text("")
    reads = PluginReads(environment=calm.environment, workdir=tmp_path)
    with pytest.raises(PluginUnavailable, match="lock"):
        await reads.refresh(root, state=calm.state, targets=[GROUP], data=calm.terraform().plugin_data)
    assert not reads.running


async def test_a_stack_that_is_not_initialised_is_said(tmp_path: Path) -> None:
    with pytest.raises(PluginUnavailable, match="not initialised"):
        await PluginReads(environment={}, workdir=tmp_path).refresh(tmp_path, state=None, targets=["a.b"], data=None)


async def test_code_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("resource {{{")
    (tmp_path / "terraform.tfstate").write_text(json.dumps({"version": 4}))
    with pytest.raises(PluginUnavailable, match="code cannot be read"):
        await PluginReads(environment={}, workdir=tmp_path).refresh(
            tmp_path, state=None, targets=["a.b"], data=tmp_path
        )


class _Provider:
    """Fails for one resource and never answers for another."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    async def call(self, method: str, request: Any, _: str) -> Any:
        assert method == "UpgradeResourceState"
        if request.type_name == "a_fails":
            await asyncio.sleep(0)
            raise PluginUnavailable.because("It failed.")
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append(request.type_name)


async def test_one_read_that_fails_ends_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = _Provider()

    async def started(*_: Any) -> _Provider:
        return provider

    monkeypatch.setattr(PluginReads, "_provider", started)
    (tmp_path / "main.tf").write_text("")
    resources: list[Any] = [
        {"mode": "managed", "type": kind, "name": "x", "provider": "p", "instances": [{"attributes": {}}]}
        for kind in ("a_waits", "a_fails", "b_waits")
    ]
    (tmp_path / "terraform.tfstate").write_text(json.dumps({"version": 4, "resources": resources}))
    reads = PluginReads(environment={}, workdir=tmp_path)
    targets = ["a_waits.x", "a_fails.x", "b_waits.x"]
    with pytest.raises(PluginUnavailable, match="It failed"):
        await reads.refresh(tmp_path, state=None, targets=targets, data=tmp_path)
    assert sorted(provider.ended) == ["a_waits", "b_waits"]
