"""What was deleted and created again through the gate is one change of its block: real Terraform, simulated AWS, real git."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import Backlog
from reconciler.line.combined_mutation import files_before
from reconciler.line.loop import Line
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.publish.branch import open_branch
from tests.bench.drift.terraform import Tool
from tests.kit import nouns

pytestmark = [pytest.mark.terraform, pytest.mark.allow_hosts(["127.0.0.1"])]

CarryOut = Callable[..., Awaitable[str]]
CODE = """\
terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region                      = "eu-west-1"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
}

resource "aws_security_group" "web" {
  name        = "NAME" # asked for by the auditors
  description = "first"
}

resource "aws_cloudwatch_log_group" "l" {
  name              = "/NAME"
  retention_in_days = 7
  tags = {
    team = "red"
  }
}
"""
GROUP, LOGS = "aws_security_group.web", "aws_cloudwatch_log_group.l"


@pytest.fixture
def again(tool: Tool, fleet: Any, tmp_path: Path, ledger: SqlLedger, git: Callable[..., str]) -> Line:
    """The line of an applied and committed stack, whose name is that of the directory."""
    root = tmp_path / "stack"
    root.mkdir()
    (root / "main.tf").write_text(CODE.replace("NAME", tmp_path.name))
    tool.must(root, "init", "-no-color")
    tool.must(root, "apply", "-auto-approve", "-no-color")
    tool.must(root, "apply", "-refresh-only", "-auto-approve", "-no-color")
    git(root, "init", "--quiet")
    git(root, "add", "main.tf")
    git(root, "commit", "--quiet", "-m", "first")
    terraform = fleet.terraform(environment=dict(tool.environment), shared_data=root / ".terraform")
    return Line(
        stack="shop", source=root, state=root / "terraform.tfstate", branch="sentinel/shop",
        worktree=tmp_path / "worktree", terraform=terraform, queries=ledger, commands=ledger, clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )  # fmt: skip


def _effect(address: str, attribute: str, action: EffectAction, value: Json = None, **identity: str) -> Effect:
    return nouns.effect(address, attribute, value, action=action, identity=identity)


def _created(address: str, **attributes: Json) -> list[Effect]:
    name = str(attributes["name"])
    effects = [_effect(address, each, EffectAction.CREATE, value, name=name) for each, value in attributes.items()]
    return [_effect(address, WHOLE, EffectAction.CREATE, name=name), *effects]


async def _write_back(line: Line) -> list[dict[str, Any]]:
    """Write back all that waits; returns the records in their order."""
    backlog = Backlog(stack="shop")
    await backlog.read(line.queries)
    bodies = []
    for applied in backlog.pending():
        bodies.append((await line.reconcile(applied, backlog)).members)
        await backlog.read(line.queries)
    return bodies


@pytest.mark.long
async def test_both_waiting_are_one_commit_and_the_id_may_be_the_same(
    again: Line, tool: Tool, fleet: Any, carried_out: CarryOut, git: Callable[..., str]
) -> None:
    name = f"/{again.source.parent.name}"
    logs = fleet.client("logs")
    logs.delete_log_group(logGroupName=name)
    logs.create_log_group(logGroupName=name, tags={"team": "blue"})
    logs.put_retention_policy(logGroupName=name, retentionInDays=7)
    call = Call(service="logs", operation="DeleteLogGroup", region="eu-west-1")
    first = await carried_out(_effect(LOGS, WHOLE, EffectAction.DELETE, name=name), call=call)
    call = Call(service="logs", operation="CreateLogGroup", region="eu-west-1")
    second = await carried_out(*_created(LOGS, name=name, **{"tags.team": "blue"}), call=call)

    gone, made = await _write_back(again)

    assert gone["superseded_by"] == [second]
    assert "left" not in made, made
    written = git(again.source, "show", "sentinel/shop:main.tf")
    assert written == (again.source / "main.tf").read_text().replace('"red"', '"blue"')
    log = git(again.source, "log", "--format=%B", "main..sentinel/shop")
    assert (log.count("Sentinel-Mutation: "), log.count(f"Sentinel-With: {first}")) == (1, 1)
    git(again.source, "merge", "--quiet", "--no-edit", "sentinel/shop")
    assert tool.plan(again.source).clean


@pytest.mark.long
async def test_one_that_comes_after_the_deletion_was_written_takes_that_back(
    again: Line, tool: Tool, fleet: Any, carried_out: CarryOut, git: Callable[..., str]
) -> None:
    name = again.source.parent.name
    ec2 = fleet.client("ec2")
    (old,) = [each for each in ec2.describe_security_groups()["SecurityGroups"] if each["GroupName"] == name]
    ec2.delete_security_group(GroupId=old["GroupId"])
    call = Call(service="ec2", operation="DeleteSecurityGroup", region="eu-west-1")
    first = await carried_out(_effect(GROUP, WHOLE, EffectAction.DELETE, id=old["GroupId"]), call=call)
    (gone,) = await _write_back(again)
    assert GROUP.rpartition(".")[2] not in git(again.source, "show", "sentinel/shop:main.tf")

    new = ec2.create_security_group(GroupName=name, Description="second")["GroupId"]
    call = Call(service="ec2", operation="CreateSecurityGroup", region="eu-west-1")
    effects = _created(GROUP, name=name, description="second")
    second = await carried_out(*effects, call=call, made=new)
    (made,) = await _write_back(again)

    assert "left" not in made, made
    code = (again.source / "main.tf").read_text()
    imported = f'\nimport {{\n  to = {GROUP}\n  id = "{new}"\n}}\n'
    assert git(again.source, "show", "sentinel/shop:main.tf") == code.replace('"first"', '"second"') + imported
    message = git(again.source, "log", "-1", "--format=%B", "sentinel/shop")
    assert message.startswith(f"{GROUP}: created again")
    assert f"Sentinel-With: {first}" in message
    assert str(gone["commit"]) in str(made["edits"])
    git(again.source, "merge", "--quiet", "--no-edit", "sentinel/shop")
    backlog = Backlog(stack="shop")
    await backlog.read(again.queries)
    await again.record_merges(backlog)
    assert tool.plan(again.source).clean
    merged = [
        record
        for record in await again.queries.records(RecordQuery(stage=Stage.RECONCILED))
        if record.body.members.get("merged")
    ]
    assert {record.mutation_id for record in merged} == {first, second}


async def test_a_commit_that_has_the_edits_of_other_mutations_too_is_not_taken_back(
    repository: Path, tmp_path: Path
) -> None:
    branch = await open_branch(source=repository, worktree=tmp_path / "worktree", name="sentinel/shop")
    commit = await branch.commit({Path("main.tf"): b"locals {\n  a = 2\n}\n"}, "A change\n")
    combined: Any = SimpleNamespace(applied=SimpleNamespace(together=("mut_1",)))
    alone = Backlog(stack="shop", committed={"mut_1": commit})
    assert await files_before(branch, combined, alone) == {Path("main.tf"): b"locals {\n  a = 1\n}\n"}
    shared = Backlog(stack="shop", committed={"mut_1": commit, "mut_2": commit})
    assert await files_before(branch, combined, shared) == {}
