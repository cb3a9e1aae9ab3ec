"""Named resources are written back without a plan: what was read, what the code sets, and what a plan would have shown."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from reconciler.changes.cloudtrail import Event, events_of
from reconciler.terraform.cli import Terraform
from reconciler.terraform.live_reads import LiveReads
from reconciler.terraform.plugin.state_resources import StoredResource, read_stored
from reconciler.terraform.refresh import Refreshed
from reconciler.working_copy.report import write
from reconciler.working_copy.without_plan import planned_by_code, reconcile_without_plan

RED = 'aws_cloudwatch_log_group.team["red"]'
CODE = """
resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 30
}
"""


def _stored(*sensitive: str, **attributes: Json) -> StoredResource:
    return StoredResource(
        address="aws_sqs_queue.orders", resource_type="aws_sqs_queue", provider="p", schema_version=0, attributes=attributes, private=b"",
        sensitive=frozenset(sensitive),
    )  # fmt: skip


def _planned(tmp_path: Path, state: Mapping[str, Json], live: Mapping[str, Json]) -> list[tuple[str, Json, Json]]:
    (tmp_path / "main.tf").write_text(CODE)
    stored = _stored(**state)
    refreshed = Refreshed(read=frozenset({stored.address}), objects={stored.address: live})
    plan = planned_by_code(load_module(tmp_path), [stored], refreshed)
    return [(change.attribute, change.live, change.other) for change in plan.changes]


def test_what_the_code_sets_and_drifted_is_written(tmp_path: Path) -> None:
    state: dict[str, Json] = {"visibility_timeout_seconds": 30, "delay_seconds": 0}
    assert _planned(tmp_path, state, {**state, "visibility_timeout_seconds": 60}) == [
        ("visibility_timeout_seconds", 60, 30)
    ]


def test_what_the_code_does_not_set_is_left_alone(tmp_path: Path) -> None:
    assert _planned(tmp_path, {"delay_seconds": 0}, {"delay_seconds": 5}) == []


def test_what_the_state_marks_as_sensitive_is_sensitive(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    stored = _stored("visibility_timeout_seconds", visibility_timeout_seconds=30)
    live = Refreshed(read=frozenset({stored.address}), objects={stored.address: {"visibility_timeout_seconds": 60}})
    (change,) = planned_by_code(load_module(tmp_path), [stored], live).changes
    assert change.sensitive


def _event(operation: str, actor: str = "ada", **parameters: Json) -> Event:
    record = {
        "eventSource": "sqs.amazonaws.com",
        "eventName": operation,
        "eventTime": "2026-11-20T10:00:00Z",
        "userIdentity": {"type": "IAMUser", "userName": actor},
        "requestParameters": parameters,
    }
    (event,) = events_of([record], "trail").events
    return event


@pytest.mark.parametrize("secret", [False, True])
async def test_all_that_the_events_tell_of_is_written_or_named(tmp_path: Path, *, secret: bool) -> None:
    """A value that the code leaves unset, and calls about other resources, which nobody looked at without a plan."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code/main.tf").write_text(CODE.lstrip())
    attributes = {"id": "https://sqs/1/orders", "name": "orders", "visibility_timeout_seconds": 30, "delay_seconds": 0}
    marks = [[{"type": "get_attr", "value": "delay_seconds"}]] if secret else []
    instance = {"schema_version": 0, "attributes": attributes, "sensitive_attributes": marks}
    queue = {"mode": "managed", "type": "aws_sqs_queue", "name": "orders", "instances": [instance]}
    state = tmp_path / "terraform.tfstate"
    state.write_text(json.dumps({"version": 4, "resources": [queue]}))
    reads: Any = _Reads(_Formats(environment={}, workdir=tmp_path / "work"), {"delay_seconds": 5})
    events = [
        _event("SetQueueAttributes", QueueUrl="https://sqs/1/orders", attributes={"DelaySeconds": "5"}),
        _event("SetQueueAttributes", actor="bob", QueueUrl="https://sqs/1/jobs"),
        _event("SetQueueAttributes", actor="bob", QueueUrl="https://sqs/1/jobs"),
        _event("TagQueue", actor="autoscaling.amazonaws.com", QueueUrl="https://sqs/1/jobs"),
    ]
    report = await reconcile_without_plan(
        reads, tmp_path / "code", ["aws_sqs_queue.orders"], state=state, events=events, workdir=tmp_path / "w"
    )
    named = {(each.wanted.address, each.wanted.attribute): each.reason for each in report.left}
    other = ("sqs:SetQueueAttributes", "*")
    assert named.keys() == {other, *([("aws_sqs_queue.orders", "delay_seconds")] if secret else [])}
    assert named[other] == "bob did it 2 times. Without a plan only what --only names is looked at."
    assert [drift.wanted.value for drift in report.drifts] == ([] if secret else [5])
    assert not report.clean


class _Formats(Terraform):
    """Terraform that says of every file that it is formatted."""

    async def format(self, source: bytes) -> bytes | None:
        return source


class _Reads:
    """A provider whose answers are given."""

    def __init__(self, terraform: Terraform, live: Mapping[str, Json]) -> None:
        self.terraform, self._live = terraform, live

    async def refresh(self, *_: Any, state: Path, targets: Sequence[str]) -> Refreshed:
        found = {each.address: {**each.attributes, **self._live} for each in read_stored(state, targets)}
        return Refreshed(read=frozenset(found), objects=found)


@pytest.mark.terraform
@pytest.mark.parametrize("shared", [False, True])
async def test_a_module_beside_the_root_is_edited_or_its_call_is(tmp_path: Path, *, shared: bool) -> None:
    top = tmp_path / "code"
    for root in ("test", "live") if shared else ("test",):
        (top / "env" / root).mkdir(parents=True)
        (top / "env" / root / "main.tf").write_text('module "q" {\n  source = "../../modules/queue"\n}\n')
    (top / "modules/queue").mkdir(parents=True)
    (top / "modules/queue/main.tf").write_text(CODE.lstrip())
    (top / ".git").mkdir()
    instance = {"schema_version": 0, "attributes": {"visibility_timeout_seconds": 30}}
    queue = {
        "module": "module.q",
        "mode": "managed",
        "type": "aws_sqs_queue",
        "name": "orders",
        "instances": [instance],
    }
    state = tmp_path / "terraform.tfstate"
    state.write_text(json.dumps({"version": 4, "resources": [queue]}))
    terraform = Terraform(environment=dict(os.environ), workdir=tmp_path / "work")
    reads: Any = _Reads(terraform, {"visibility_timeout_seconds": 60})
    address = "module.q.aws_sqs_queue.orders"
    report = await reconcile_without_plan(
        reads, top / "env/test", [address], state=state, events=(), workdir=tmp_path / "w"
    )
    assert report.clean
    module, call = Path("../../modules/queue/main.tf"), Path("main.tf")
    assert set(report.edited.files) == ({module, call} if shared else {module})
    frozen = await reconcile_without_plan(
        reads, top / "env/test", [address], state=state, events=(), workdir=tmp_path / "f", frozen=["modules"]
    )
    assert "somebody else's code" in frozen.left[0].reason


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_one_value_is_written_without_a_plan(calm: Any, tmp_path: Path) -> None:
    calm.client("logs").put_retention_policy(logGroupName="/team/red", retentionInDays=30)
    async with LiveReads.beside(_NoPlan.of(calm)) as reads:
        report = await reconcile_without_plan(reads, calm.path, [RED], state=calm.state, events=(), workdir=tmp_path)
    assert [(drift.wanted.address, drift.wanted.value, drift.before) for drift in report.drifts] == [(RED, 30, 7)]
    assert {proof.name for proof in report.proofs if proof.held} == {
        "parses",
        "formatted",
        "untouched",
        "nothing_hidden",
        "captured",
    }
    assert report.clean
    assert report.diff.count("\n+") == 2  # the header and the line


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_what_is_gone_or_unknown_is_left(calm: Any, tmp_path: Path) -> None:
    calm.client("logs").delete_log_group(logGroupName="/team/red")
    try:
        async with LiveReads.beside(_NoPlan.of(calm)) as reads:
            report = await reconcile_without_plan(
                reads, calm.path, [RED, "aws_sqs_queue.none"], state=calm.state, events=(), workdir=tmp_path
            )
    finally:
        calm.client("logs").create_log_group(logGroupName="/team/red")
    gone, unknown = (left.reason for left in report.left)
    assert gone.startswith(f"{RED} does not exist any more.")
    assert unknown == "The state has no resource aws_sqs_queue.none."
    write(calm.path, report)
    assert not report.edited.files


class _NoPlan:
    """Terraform that fails the test if it plans."""

    @staticmethod
    def of(live: Any) -> Any:
        class NoPlan(Terraform):
            async def plan(self, *_: Any, **__: Any) -> Path | None:
                raise AssertionError

            async def refresh(self, *_: Any, **__: Any) -> Refreshed:
                raise AssertionError

        return NoPlan(environment=live.environment, workdir=live.workdir, shared_data=live.path / ".terraform")


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_the_command_says_that_no_plan_was_made(calm: Any, tmp_path: Path) -> None:
    calm.client("logs").put_retention_policy(logGroupName="/team/red", retentionInDays=30)
    command = [sys.executable, "-m", "reconciler", "reconcile", str(calm.path), "--no-plan", "--only", RED]
    environment = {**calm.environment, "XDG_CACHE_HOME": str(tmp_path)}
    done = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE)
    out, _ = await done.communicate()
    assert done.returncode == 0
    assert "30" in out.decode()
    assert list((tmp_path / "sentinel/providers").glob("provider-*.json"))
    assert "not proved by a plan" in " ".join(out.decode().split())
