"""One suite for both ways to read live resources: the provider itself, and a refresh-only plan. The first falls back to the second."""

import json
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from reconciler.errors import CodeRefused, TerraformFailed
from reconciler.terraform.cli import Terraform
from reconciler.terraform.code_guard import CodeGuard
from reconciler.terraform.live_reads import LiveReads
from reconciler.terraform.plugin.reads import PluginReads
from reconciler.terraform.refresh import Refreshed

GROUP, RED = "aws_autoscaling_group.web", 'aws_cloudwatch_log_group.team["red"]'


@pytest.fixture(params=[pytest.param("plan", marks=pytest.mark.long), "provider"])
async def reader(request: pytest.FixtureRequest, calm: Any) -> AsyncIterator[Any]:
    """Either way to read the applied stack. That both read the same is a test of its own, which runs every time."""
    terraform = calm.terraform()
    if request.param == "plan":
        yield terraform
        return
    plugin = PluginReads(environment=calm.environment, workdir=calm.workdir)
    yield _OnlyProvider(plugin=plugin, data=terraform.plugin_data)
    await plugin.close()


class _OnlyProvider:
    """Reads through the provider, without the fallback that would hide a failure."""

    def __init__(self, plugin: PluginReads, data: Path | None) -> None:
        self._plugin, self._data = plugin, data

    async def refresh(self, root: Path, *, state: Path | None, targets: Sequence[str]) -> Refreshed:
        return await self._plugin.refresh(root, state=state, targets=targets, data=self._data)


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
class TestEitherWay:
    """What both readers promise."""

    async def test_live_values_are_read(self, reader: Any, calm: Any) -> None:
        calm.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName="web", DesiredCapacity=5)
        calm.client("logs").put_retention_policy(logGroupName="/team/red", retentionInDays=90)
        live = await reader.refresh(calm.path, state=calm.state, targets=[GROUP, "aws_cloudwatch_log_group.team"])
        assert live.objects[GROUP]["desired_capacity"] == 5
        assert live.objects[RED]["retention_in_days"] == 90
        assert live.exists(RED)

    async def test_what_is_gone_does_not_exist(self, reader: Any, calm: Any) -> None:
        calm.client("logs").delete_log_group(logGroupName="/team/red")
        try:
            live = await reader.refresh(calm.path, state=calm.state, targets=[RED])
        finally:
            calm.client("logs").create_log_group(logGroupName="/team/red")
        assert live.exists(RED) is False

    async def test_what_is_not_asked_for_is_not_known(self, reader: Any, calm: Any) -> None:
        live = await reader.refresh(calm.path, state=calm.state, targets=[RED])
        assert live.exists(GROUP) is None
        assert live.exists("aws_sqs_queue.nowhere") is None


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_both_ways_read_the_same(calm: Any) -> None:
    """Every attribute of every resource, but for those that are null or empty: the plan shows some of either as the other."""
    plugin = PluginReads(environment=calm.environment, workdir=calm.workdir)
    terraform = calm.terraform()
    targets = sorted(set(_addresses(calm.state)))
    by_plan = await terraform.refresh(calm.path, state=calm.state, targets=targets)
    try:
        by_provider = await plugin.refresh(calm.path, state=calm.state, targets=targets, data=terraform.plugin_data)
    finally:
        await plugin.close()
    assert len(by_plan.objects) > 8
    assert {address: _filled(live) for address, live in by_provider.objects.items()} == {
        address: _filled(live) for address, live in by_plan.objects.items()
    }


def _addresses(state: Path) -> list[str]:
    found = [each for each in json.loads(state.read_text())["resources"] if each["mode"] == "managed"]
    return [each.get("module") or f"{each['type']}.{each['name']}" for each in found]


def _filled(live: Any) -> Json:
    """The value without empty members; a set in an order of its own."""
    if isinstance(live, dict):
        return {name: _filled(value) for name, value in live.items() if value not in (None, "", [], {})}
    if isinstance(live, list):
        return sorted((_filled(value) for value in live), key=repr)
    return live  # type: ignore[no-any-return]  # a part of JSON


async def test_the_plan_reads_where_the_provider_cannot(tmp_path: Path) -> None:
    read = Refreshed(read=frozenset({"a.b"}), objects={})
    async with LiveReads.beside(_Plans(read, tmp_path)) as reads:
        assert await reads.refresh(tmp_path, state=tmp_path / "no.tfstate", targets=["a.b"]) is read


@pytest.mark.parametrize("guard", [None, CodeGuard()])
async def test_the_package_is_compared_with_the_lock_file_where_the_code_is_guarded(
    tmp_path: Path, guard: CodeGuard | None
) -> None:
    terraform = Terraform(environment={}, workdir=tmp_path, guard=guard)
    async with LiveReads.beside(terraform) as reads:
        assert reads.plugin.check_lock is (guard is not None)
        assert reads.plugin.workdir == tmp_path
    async with LiveReads.beside(terraform, tmp_path / "kept") as reads:
        assert reads.plugin.workdir == tmp_path / "kept"


async def test_code_that_is_refused_is_read_by_neither(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('data "external" "x" {\n}\n')
    terraform = Terraform(environment={}, workdir=tmp_path, guard=CodeGuard())
    async with LiveReads.beside(terraform) as reads:
        with pytest.raises(CodeRefused):
            await reads.refresh(tmp_path, state=None, targets=["a.b"])


async def test_what_terraform_cannot_do_either_is_its_error(tmp_path: Path) -> None:
    terraform = Terraform(environment={"PATH": "/bin:/usr/bin"}, workdir=tmp_path, executable="false")
    async with LiveReads.beside(terraform) as reads:
        with pytest.raises(TerraformFailed):
            await reads.refresh(tmp_path, state=None, targets=["a.b"])


def _Plans(read: Refreshed, workdir: Path) -> Any:  # noqa: N802  stands for a class
    class Plans(Terraform):
        async def refresh(self, *_: Any, **__: Any) -> Refreshed:
            return read

    return Plans(environment={}, workdir=workdir)


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_an_alias_and_an_override_file_are_read_directly(calm: Any, tmp_path: Path) -> None:
    """The block alone would read another region, where none of the resources is, and so would the default instead of the alias."""
    code, state = tmp_path / "code", tmp_path / "terraform.tfstate"
    shutil.copytree(calm.path, code, ignore=shutil.ignore_patterns(".terraform"))
    main = (code / "main.tf").read_text()
    (block,) = re.findall(r'provider "aws" \{.*?\n\}\n', main, re.DOTALL)
    elsewhere = block.replace("eu-west-1", "us-west-2")
    assert elsewhere != block
    (code / "main.tf").write_text(main.replace(block, elsewhere))
    (code / "alias.tf").write_text(elsewhere.replace("{\n", '{\n  alias = "home"\n', 1))
    override = '  region = "eu-west-1"\n}\n'
    (code / "override.tf").write_text(f'provider "aws" {{\n{override}provider "aws" {{\n  alias = "home"\n{override}')
    document = json.loads(calm.state.read_text())
    group, red = (
        next(each for each in document["resources"] if f"{each['type']}.{each['name']}" == name)
        for name in (GROUP, "aws_cloudwatch_log_group.team")
    )
    red["provider"] += ".home"
    state.write_text(json.dumps({**document, "resources": [group, red]}))
    plugin = PluginReads(environment=calm.environment, workdir=calm.workdir)
    try:
        live = await plugin.refresh(code, state=state, targets=[GROUP, RED], data=calm.terraform().plugin_data)
    finally:
        await plugin.close()
    assert {GROUP, RED} == set(live.objects)
    assert live.objects[GROUP]["desired_capacity"] == 2
