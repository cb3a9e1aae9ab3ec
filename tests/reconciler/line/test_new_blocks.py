"""What was created beside the code, through the gateway or round it, is written, recognised or named: real Terraform, simulated AWS."""

import json
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.drift_book import ForeignDrift
from gateway.core.model.adopt import Adopt
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.records.drift import RecordedOrigin
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.applied_mutation import mutation_of_drift
from reconciler.changes.backlog import Backlog
from reconciler.changes.creating_events import KnownCreation
from reconciler.drift.created_outside import CreatedBesideCode, is_created_outside, known_creation
from reconciler.line.loop import Line
from reconciler.proof.proved_edit import DeclaredCache
from tests.kit import nouns
from tests.reconciler.adoption.conftest import event
from tests.reconciler.conftest import Live, World

pytestmark = [pytest.mark.terraform, pytest.mark.allow_hosts(["127.0.0.1"])]

Apply = Callable[..., Awaitable[str]]
FILTER = {"logGroupName": "/shop/app", "filterName": "errors", "filterPattern": "ERROR", "metricTransformations": [{"metricName": "Errors", "metricNamespace": "Shop", "metricValue": "1", "unit": "None"}]}  # fmt: skip
PUT_FILTER = Call(service="logs", operation="PutMetricFilter", region="eu-west-1", parameters=FILTER)
CREATE_TOPIC = Call(service="sns", operation="CreateTopic", region="eu-west-1", parameters={"Name": "elsewhere"})
TOPIC = "arn:aws:sns:eu-west-1:123456789012:elsewhere"


@pytest.fixture
def line(calm: Any, ledger: SqlLedger, tmp_path: Path) -> Line:
    return _line_of(calm, ledger, tmp_path)


def _line_of(calm: Any, ledger: SqlLedger, tmp_path: Path) -> Line:
    top = calm.path.parent.parent
    if not (top / ".git").exists():
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        files = [f"infra/{calm.path.name}/*.tf"]
        files += ["infra/fleet/*.tfvars", "infra/fleet/modules"] if calm.path.name == "fleet" else []
        for argv in (["init", "-q", "-b", "main"], ["add", *files], [*identity, "commit", "-qm", "first"]):
            subprocess.run(["git", *argv], cwd=top, check=True, capture_output=True)
    return Line(
        stack="shop", source=calm.path, state=calm.state, branch=f"sentinel/{tmp_path.name}",
        worktree=tmp_path / "worktree", terraform=calm.terraform(), queries=ledger, commands=ledger,
        clock=SystemClock(), declared_cache=DeclaredCache(),
    )  # fmt: skip


@pytest.fixture
def filtered(calm: Any) -> Any:
    """The stack with a filter that somebody added to one of its log groups."""
    calm.client("logs").put_metric_filter(**FILTER)
    yield calm
    calm.client("logs").delete_metric_filter(logGroupName="/shop/app", filterName="errors")


@pytest.fixture
def topic(calm: Any) -> Any:
    """The stack, and a topic that has nothing to do with it."""
    calm.client("sns").create_topic(Name="elsewhere")
    yield calm
    calm.client("sns").delete_topic(TopicArn=TOPIC)


async def _written_back(line: Line, ledger: SqlLedger, mutation: str) -> Any:
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    return await line.reconcile(backlog.decided[mutation], backlog)


def _added(body: Any) -> str:
    lines = str(body.diff).splitlines()
    return "\n".join(row[1:] for row in lines if row.startswith("+") and not row.startswith("+++"))


async def test_a_call_of_the_ledger_that_no_row_explains_is_written_if_it_belongs_to_the_stack(
    line: Line, ledger: SqlLedger, carried_out: Apply, filtered: Any
) -> None:
    body = await _written_back(line, ledger, await carried_out(call=PUT_FILTER))
    assert body.left == ()
    assert 'resource "aws_cloudwatch_log_metric_filter" "errors"' in _added(body)
    assert "log_group_name = aws_cloudwatch_log_group.app." in _added(body)
    assert 'id = "/shop/app:errors"' in _added(body)
    assert {each.name for each in body.proofs if each.held} >= {"parses", "plan_clean", "nothing_else"}


@pytest.mark.long
async def test_what_belongs_to_nothing_is_named_with_its_maker_or_written_if_all_is(
    line: Line, ledger: SqlLedger, carried_out: Apply, topic: Any
) -> None:
    first = await carried_out(call=CREATE_TOPIC, made=TOPIC)
    (left,) = (await _written_back(line, ledger, first)).left
    assert left.address == f"aws_sns_topic{{{TOPIC}}}"
    for word in ("aws_sns_topic", TOPIC, "agent-builder", "sns:CreateTopic", "belongs to no resource"):
        assert word in left.reason
    second = await carried_out(call=CREATE_TOPIC, made=TOPIC)
    (none,) = (await _written_back(replace(line, adopt=Adopt.NONE), ledger, second)).left
    assert "only listed" in none.reason
    third = await carried_out(call=CREATE_TOPIC, made=TOPIC)
    body = await _written_back(replace(line, adopt=Adopt.ALL), ledger, third)
    assert 'resource "aws_sns_topic" "elsewhere"' in _added(body)


async def test_what_was_created_outside_is_found_with_what_it_belongs_to_and_written_once_that_is_decided(
    line: Line, ledger: SqlLedger, filtered: Any, topic: Any
) -> None:
    events = [
        event("logs:PutMetricFilter", FILTER),
        event("sns:CreateTopic", {"name": "elsewhere"}, {"topicArn": TOPIC}),
    ]
    linked, alone = await CreatedBesideCode(line=line).find(events, {})
    assert isinstance(linked.change.live, dict)
    assert isinstance(alone.change.live, dict)
    assert (linked.change.live["adopt"], linked.change.live["of"]) == (True, "aws_cloudwatch_log_group.app")
    assert (alone.change.live["adopt"], alone.change.live["created"]) == (False, TOPIC)
    for found, block in ((linked, "aws_cloudwatch_log_metric_filter"), (alone, "aws_sns_topic")):
        drift = ForeignDrift(
            id=f"fgn_{block}", at=datetime.now(UTC), stack="shop", address=found.change.address, attribute="*",
            live=found.change.live,
            origin=RecordedOrigin(actor="ada", event="x:Create", at="2026-11-20T10:00:00+00:00", event_id="e", service=False),
        )  # fmt: skip
        assert is_created_outside(drift)
        backlog = Backlog(stack="shop")
        applied = mutation_of_drift(drift, known=known_creation(drift))
        body = (await line.publish(applied, backlog, await line.prove(applied, backlog))).body
        assert body.left == ()
        assert f'resource "{block}"' in _added(body)
        assert not await CreatedBesideCode(line=line).is_accounted(drift)


async def test_what_is_gone_meanwhile_is_accounted_for_and_no_block_is_written(line: Line) -> None:
    live = {"created": TOPIC, "arn": TOPIC, "event": "sns:CreateTopic"}
    drift = ForeignDrift(
        id="fgn_1", at=datetime.now(UTC), stack="shop",
        address=f"aws_sns_topic{{{TOPIC}}}", attribute="*", live=live,
    )  # fmt: skip
    assert known_creation(drift) == KnownCreation(resource_type="aws_sns_topic", import_id=TOPIC)
    proposal = await line.prove(mutation_of_drift(drift, known=known_creation(drift)), Backlog(stack="shop"))
    (left,) = proposal.left
    assert "finds no aws_sns_topic" in left.reason
    assert await CreatedBesideCode(line=line).is_accounted(drift)


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory, other_world: World) -> Live:
    return other_world.emptied().applied("adoption", tmp_path_factory)


@pytest.mark.long
async def test_a_rule_takes_the_form_of_the_rules_of_its_group_whoever_tells_of_it(
    orders: Live, ledger: SqlLedger, carried_out: Apply, tmp_path: Path
) -> None:
    """The gate's effects say the older kind, and a call without effects says nothing: the block is of the older kind either way."""
    line = _line_of(orders, ledger, tmp_path)
    resources = json.loads(orders.state.read_text())["resources"]
    attributes = {f"{each['type']}.{each['name']}": each["instances"][0]["attributes"] for each in resources}
    group = attributes["aws_security_group.app"]["id"]
    for port, understood in ((8443, True), (9443, False)):
        permission = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": "10.1.0.0/16"}]}
        asked = {"GroupId": group, "IpPermissions": [permission]}
        reply = orders.client("ec2").authorize_security_group_ingress(**asked)
        call = Call(service="ec2", operation="AuthorizeSecurityGroupIngress", region="eu-west-1", parameters=asked)
        values = {"security_group_id": group, "type": "ingress", "protocol": "tcp", "from_port": port, "to_port": port, "cidr_blocks": ["10.1.0.0/16"]}  # fmt: skip
        address = f"aws_security_group_rule{{port={port}}}"
        members: Any = {"action": EffectAction.CREATE, "declared": False, "identity": {"security_group_id": group}}
        effects = [nouns.effect(address, name, value, **members) for name, value in {"*": None, **values}.items()]
        made = reply["SecurityGroupRules"][0]["SecurityGroupRuleId"]
        mutation = await carried_out(*(effects if understood else ()), call=call, made="" if understood else made)
        body = await _written_back(line, ledger, mutation)
        assert body.left == ()
        assert 'resource "aws_security_group_rule"' in _added(body)
        assert f'id = "{group}_ingress_tcp_{port}_{port}_10.1.0.0/16"' in _added(body)
        assert "aws_vpc_security_group_ingress_rule" not in _added(body)
