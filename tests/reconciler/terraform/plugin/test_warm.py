"""A provider that keeps running serves Terraform's commands as one that is started each time, or is not used."""

import contextlib
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.errors import TerraformFailed
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plan import read_plan
from reconciler.terraform.plugin.warm import WarmProvider, warm_provider
from reconciler.terraform.state_update import refresh_state

real = pytest.mark.allow_hosts(["127.0.0.1"])


@contextlib.asynccontextmanager
async def _warm(live: Any, **changes: Any) -> AsyncIterator[tuple[Terraform, WarmProvider]]:
    async with warm_provider(live.environment | changes) as warm:
        yield live.terraform(warm=warm), warm


def _text(file: Path) -> str:
    return file.read_text()


async def _document(terraform: Terraform, root: Path, state: Path) -> dict[str, Any]:
    saved = await terraform.saved_plan(root, state=state)
    return await terraform.show(root, saved.file)


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_plans_with_it_are_those_without_it_and_one_process_serves_them(calm: Any, tmp_path: Path) -> None:
    calm.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=5)
    own_one = {name: value for name, value in calm.environment.items() if name != "TF_REATTACH_PROVIDERS"}
    cold = await _document(calm.terraform(environment=own_one), calm.path, calm.state)
    async with _warm(calm) as (terraform, warm):
        first = await _document(terraform, calm.path, calm.state)
        process = warm.process
        calm.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=6)
        second = await _document(terraform, calm.path, calm.state)
        assert process is not None
        assert warm.process is process
        own = tmp_path / "terraform.tfstate"
        shutil.copy(calm.state, own)
        await refresh_state(terraform, calm.path, state=own)
    assert not process.running
    assert read_plan(first) == read_plan(cold)
    assert {**first, "timestamp": ""} == {**cold, "timestamp": ""}
    assert read_plan(second) != read_plan(cold)
    assert '"desired_capacity": 6' in _text(own)


@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_what_fails_with_it_is_run_without_it(calm: Any) -> None:
    async with _warm(calm) as (terraform, warm):
        data = terraform.plugin_data
        assert data is not None
        async with warm.attached(calm.path, data) as settings:
            assert json.loads(settings["TF_REATTACH_PROVIDERS"])
            process = warm.process
            assert process is not None
            os.unlink(process.socket)  # noqa: PTH108  not blocking
        assert await terraform.plan(calm.path, state=calm.state) is None
        assert not process.running
        async with warm.attached(calm.path, data) as settings:
            assert settings == {}


@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_one_command_at_a_time_uses_it_and_another_configuration_gets_another_process(
    calm: Any, tmp_path: Path
) -> None:
    other = shutil.copytree(calm.path, tmp_path / "copy", ignore=shutil.ignore_patterns(".terraform", "*.tfstate"))
    for file in other.glob("*.tf"):
        file.write_text(file.read_text().replace('"eu-west-1"', '"us-east-1"'))
    async with _warm(calm) as (terraform, warm):
        data = terraform.plugin_data
        assert data is not None
        async with warm.attached(calm.path, data) as settings, warm.attached(calm.path, data) as meanwhile:
            assert settings
            assert meanwhile == {}
            first = warm.process
        async with warm.attached(other, data) as settings:
            assert settings
            assert warm.process is not first
        assert first is not None
        assert not first.running


@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_a_package_that_the_lock_file_does_not_name_is_not_started(calm: Any, tmp_path: Path) -> None:
    root = shutil.copytree(calm.path, tmp_path / "copy", ignore=shutil.ignore_patterns(".terraform"))
    (root / ".terraform.lock.hcl").write_text("")
    async with _warm(calm) as (terraform, warm):
        assert terraform.plugin_data is not None
        async with warm.attached(root, terraform.plugin_data) as settings:
            assert settings == {}
            assert warm.process is None


@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_an_own_certificate_bundle_is_not_configured_twice(calm: Any) -> None:
    async with _warm(calm, AWS_CA_BUNDLE="/own.pem") as (terraform, warm):
        assert terraform.plugin_data is not None
        async with warm.attached(calm.path, terraform.plugin_data) as settings:
            assert settings == {}


@pytest.mark.terraform
@pytest.mark.slow
@real
async def test_an_error_of_the_code_is_said_as_without_it(calm: Any, tmp_path: Path) -> None:
    root = shutil.copytree(calm.path, tmp_path / "copy", ignore=shutil.ignore_patterns(".terraform"))
    (root / "wrong.tf").write_text('resource "aws_sqs_queue" "a" {\n  no_such = 1\n}\n')
    async with _warm(calm) as (terraform, warm):
        with pytest.raises(TerraformFailed, match="no_such"):
            await terraform.plan(root, state=calm.state)
        assert warm.process is not None


async def test_a_stack_that_is_not_initialised_gets_none(tmp_path: Path) -> None:
    async with warm_provider({}) as warm, warm.attached(tmp_path, tmp_path / ".terraform") as settings:
        assert settings == {}
