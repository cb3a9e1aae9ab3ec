"""A resource that was deleted outside and created again keeps its address: real Terraform, simulated AWS, state in a file or elsewhere."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.core.drift_book import DriftAction
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.verdict import Mode
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import PolicySettings
from gateway.core.times import SystemClock
from gateway.drift.decisions import DriftDecisions
from gateway.ledger.ledger import SqlLedger
from gateway.policy.engine import open_engine
from gateway.terraform.stacks import Stacks
from reconciler.__main__ import app
from reconciler.changes.backlog import Backlog
from reconciler.changes.event_sources import EventSources, FileSource
from reconciler.drift.scan import DriftScan
from reconciler.line.loop import Line
from reconciler.line.merged_state import update_merged_state
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.terraform.cli import Terraform
from tests.bench.drift.terraform import Tool

CODE = """\
terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }BACKEND
}

provider "aws" {
  region                      = "eu-west-1"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
}

resource "aws_security_group" "web" {
  name        = "NAME"
  description = "first"
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  security_group_id = aws_security_group.web.id
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
  cidr_ipv4         = "10.0.0.0/8"
}

resource "aws_cloudwatch_log_group" "l" {
  name = "/NAME"
  tags = {
    group = aws_security_group.web.id
  }
}

output "group" {
  value = aws_security_group.web.id
}
"""
BACKEND = '\n  backend "local" {\n    path = "TOP/elsewhere.tfstate"\n  }'


def _applied(tool: Tool, root: Path, name: str, backend: str) -> str:
    """The code of an applied stack."""
    root.mkdir()
    code = CODE.replace("NAME", name).replace("BACKEND", backend).replace("TOP", str(root.parent))
    (root / "main.tf").write_text(code)
    tool.must(root, "init", "-no-color")
    tool.must(root, "apply", "-auto-approve", "-no-color")
    tool.must(root, "apply", "-refresh-only", "-auto-approve", "-no-color")
    return code


def _replace(live: Any, name: str, events: Path) -> tuple[str, str]:
    """Replace the security group by one with another description, its rule and the log group's tag with it. Returns the new ids."""
    ec2 = live.client("ec2")
    (old,) = [each for each in ec2.describe_security_groups()["SecurityGroups"] if each["GroupName"] == name]
    ec2.delete_security_group(GroupId=old["GroupId"])
    new = str(ec2.create_security_group(GroupName=name, Description="second")["GroupId"])
    live.client("logs").tag_log_group(logGroupName=f"/{name}", tags={"group": new})
    port = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22}
    asked = ec2.authorize_security_group_ingress(
        GroupId=new, IpPermissions=[{**port, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}]
    )
    rule = str(asked["SecurityGroupRules"][0]["SecurityGroupRuleId"])
    permission = {"ipProtocol": "tcp", "fromPort": 22, "toPort": 22, "ipRanges": {"items": [{"cidrIp": "10.0.0.0/8"}]}}
    records = [
        _event("CreateSecurityGroup", {"groupName": name, "groupDescription": "second"}, {"groupId": new}),
        _event(
            "AuthorizeSecurityGroupIngress",
            {"groupId": new, "ipPermissions": {"items": [permission]}},
            {"securityGroupRuleSet": {"items": [{"securityGroupRuleId": rule}]}},
        ),
    ]
    events.write_text(json.dumps({"Records": records}))
    return new, rule


def _event(name: str, asked: dict[str, Any], answered: dict[str, Any]) -> dict[str, Any]:
    return {
        "eventSource": "ec2.amazonaws.com",
        "eventName": name,
        "eventTime": datetime.now(UTC).isoformat(),
        "eventID": f"event-{name}",
        "userIdentity": {"type": "IAMUser", "userName": "mallory"},
        "requestParameters": asked,
        "responseElements": answered,
    }


def _import(address: str, import_id: str) -> str:
    return f'\nimport {{\n  to = {address}\n  id = "{import_id}"\n}}\n'


def _ids(root: Path, file: str) -> list[str]:
    state = json.loads((root / file).read_text())
    return [
        instance["attributes"]["id"]
        for resource in state["resources"]
        for instance in resource["instances"]
        if resource["type"] == "aws_security_group"
    ]


@pytest.mark.terraform
@pytest.mark.long
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("backend", "file"),
    [
        pytest.param("", "terraform.tfstate", id="beside"),
        pytest.param(BACKEND, "../elsewhere.tfstate", id="elsewhere"),
    ],
)
def test_the_code_keeps_the_address_and_the_state_gets_the_new_one(
    tool: Tool, fleet: Any, tmp_path: Path, backend: str, file: str
) -> None:
    root, events = tmp_path / "stack", tmp_path / "events.json"
    name = "elsewhere" if backend else "beside"
    code = _applied(tool, root, name, backend)
    new, rule = _replace(fleet, name, events)

    result = CliRunner().invoke(app, ["reconcile", str(root), "--write", "--events", str(events), "--json"])

    output = json.loads(result.stdout.splitlines()[-1])
    assert (result.exit_code, output["left"]) == (0, []), output
    imported = _import("aws_security_group.web", new) + _import("aws_vpc_security_group_ingress_rule.ssh", rule)
    assert (root / "main.tf").read_text() == code.replace('"first"', '"second"') + imported
    assert tool.plan(root).clean
    assert _ids(root, file) == [new]
    assert [path.name for path in root.glob("*.tf")] == ["main.tf"]


@pytest.mark.terraform
@pytest.mark.long
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_after_a_merge_the_state_gets_the_new_one(tool: Tool, fleet: Any, tmp_path: Path) -> None:
    root, events = tmp_path / "stack", tmp_path / "events.json"
    code = _applied(tool, root, "merged", "")
    new, rule = _replace(fleet, "merged", events)
    terraform = fleet.terraform(environment=dict(tool.environment), shared_data=root / ".terraform")
    assert "would change more than the state" in await update_merged_state(
        terraform, root, state=root / "terraform.tfstate", addresses=[]
    ), "the code does not say what took its place"
    imported = _import("aws_security_group.web", new) + _import("aws_vpc_security_group_ingress_rule.ssh", rule)
    (root / "main.tf").write_text(code.replace('"first"', '"second"') + imported)

    assert await update_merged_state(terraform, root, state=root / "terraform.tfstate", addresses=[]) == ""

    assert tool.plan(root).clean
    assert _ids(root, "terraform.tfstate") == [new]


class _Killed(BaseException):
    """The process ends here."""


def _kill_at(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Have the process die at the apply of this number, before it."""
    real, seen = Terraform.apply, []

    async def apply(*given: Any, **named: Any) -> Any:
        seen.append(1)
        if len(seen) == count:
            raise _Killed
        return await real(*given, **named)

    monkeypatch.setattr(Terraform, "apply", apply)


@pytest.mark.terraform
@pytest.mark.long
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("count", "left"),
    [
        pytest.param(1, True, id="the code is written, the state as it was"),
        pytest.param(2, False, id="without the old resource and before the import"),
    ],
)
def test_a_pass_that_was_killed_ends_as_the_next_one_does(
    tool: Tool, fleet: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, *, left: bool
) -> None:
    """The events are gone then."""
    root, events = tmp_path / "stack", tmp_path / "events.json"
    name = f"killed-{count}"
    code = _applied(tool, root, name, "")
    new, rule = _replace(fleet, name, events)
    imported = _import("aws_security_group.web", new) + _import("aws_vpc_security_group_ingress_rule.ssh", rule)
    with monkeypatch.context() as killing:
        _kill_at(killing, count)
        with pytest.raises(_Killed):
            CliRunner().invoke(app, ["reconcile", str(root), "--write", "--events", str(events)])
    assert bool(_ids(root, "terraform.tfstate")) is left, "the old one is in the state, or none"
    assert (root / "main.tf").read_text() == code.replace('"first"', '"second"') + imported

    result = CliRunner().invoke(app, ["reconcile", str(root), "--write", "--json"])

    assert result.exit_code == 0, result.stdout
    assert (root / "main.tf").read_text() == code.replace('"first"', '"second"') + imported
    assert _ids(root, "terraform.tfstate") == [new]
    assert tool.plan(root).clean


def _drifting(root: Path, terraform: Terraform, ledger: SqlLedger, events: Path) -> DriftScan:
    """The service's look from outside at a stack, with CloudTrail's events in a file."""
    line = Line(
        stack="shop", source=root, state=root / "terraform.tfstate", branch="sentinel/shop",
        worktree=root.parent / "worktree", terraform=terraform, queries=ledger, commands=ledger, clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )  # fmt: skip
    sources = EventSources(sources=[FileSource(path=events)])
    backlog = Backlog(stack="shop")
    return DriftScan(line=line, backlog=backlog, events=ledger, stops=ledger, every_seconds=3600, sources=sources)


async def _decided(ledger: SqlLedger, data: Path) -> None:
    """Policy leaves what protects the network to a human, who takes it into the code."""
    policy = await open_engine(PolicySettings(), data)
    try:
        stacks = Stacks((), default_mode=Mode.ENFORCE)
        watch = DriftDecisions(queries=ledger, events=ledger, stacks=stacks, policy=policy, clock=SystemClock())
        await watch.follow()
        assert {each.rule for each in watch.book.open.values()} == {"SEN-F011"}
        ann = Caller(actor="ann", kind=ActorKind.HUMAN, key_id="SNTL1", roles=("approver",))
        for drift in list(watch.book.open):
            await watch.decide(drift, DriftAction.CODIFY, caller=ann, reason="It was planned.")
    finally:
        await policy.close()


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_the_service_proposes_it_once_as_policy_and_people_decide(
    tool: Tool, fleet: Any, tmp_path: Path, ledger: SqlLedger, git: Callable[..., str]
) -> None:
    root, events = tmp_path / "stack", tmp_path / "events.json"
    code = _applied(tool, root, "served", "")
    git(root, "init", "--quiet")
    git(root, "add", "main.tf")
    git(root, "commit", "--quiet", "-m", "first")
    new, rule = _replace(fleet, "served", events)
    terraform = fleet.terraform(environment=dict(tool.environment), shared_data=root / ".terraform")
    drifting = _drifting(root, terraform, ledger, events)

    assert await drifting.scan() == 2, "the group and its rule; the tag that names the group follows"
    found = {
        str(each.body.members["address"]): each.body for each in await ledger.records(RecordQuery(stage=Stage.DRIFTED))
    }
    assert found["aws_security_group.web"].members["live"] == {
        "import_id": new,
        "replaces": found["aws_security_group.web"].members["declared"],
    }
    events.unlink()  # a queue tells of an event only once
    assert await drifting.scan() == 2
    assert len(await ledger.records(RecordQuery(stage=Stage.DRIFTED))) == 2

    await _decided(ledger, tmp_path)

    first, second = [each.id for each in await drifting.follow()]
    body = await drifting.carry_out(first)
    assert body["outcome"] == "codified", body
    assert await drifting.carry_out(second) == {}, "both are one proposal"
    log = git(root, "log", "--format=%s%n%b", "main..sentinel/shop")
    assert log.count("Sentinel-Mutation") == 1
    assert new in log
    imported = _import("aws_security_group.web", new) + _import("aws_vpc_security_group_ingress_rule.ssh", rule)
    written = git(root, "show", "sentinel/shop:main.tf")
    assert written.replace(imported, "") == code.replace('"first"', '"second"')

    git(root, "merge", "--quiet", "--no-edit", "sentinel/shop")
    await drifting.follow_merges()

    assert tool.plan(root).clean
    assert _ids(root, "terraform.tfstate") == [new]
    assert await drifting.scan() == 0
    outcomes = [
        str(each.body.members["outcome"]) for each in await ledger.records(RecordQuery(stage=Stage.DRIFT_SETTLED))
    ]
    assert sorted(outcomes) == ["codified", "codified", "gone", "gone"]
