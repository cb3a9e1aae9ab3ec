"""The data plane through the door: what passes is sent as it was understood and counted; what does not is decided."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.records.record import Record, Stage
from gateway.core.settings import DataPlaneSettings
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
TABLE = "kafka-offsets"
ITEM = {"id": {"S": "hunter2"}}
WRITES = 50


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with the key of an application."""
    with Gate(directory=tmp_path_factory.mktemp("gate")) as running:
        running.issue("app", kind=ActorKind.SERVICE)
        yield running


def _made(gate: Gate, before: int) -> list[Record]:
    return gate.records()[before:]


CALLS: dict[str, Any] = {
    "PutItem": lambda gate: gate.client("dynamodb", "app", None).put_item(TableName=TABLE, Item=ITEM),
    "DeleteItem": lambda gate: gate.client("dynamodb", "app", None).delete_item(TableName=TABLE, Key=ITEM),
    "BatchWriteItem": lambda gate: gate.client("dynamodb", "app", None).batch_write_item(
        RequestItems={TABLE: [{"DeleteRequest": {"Key": ITEM}}]}
    ),
    "ExecuteStatement": lambda gate: gate.client("dynamodb", "app", None).execute_statement(
        Statement="DELETE FROM \"kafka-offsets\" WHERE id = 'x'"
    ),
    "SendMessage": lambda gate: gate.client("sqs", "app", None).send_message(QueueUrl=QUEUE, MessageBody="x"),
    "ReceiveMessage": lambda gate: gate.client("sqs", "app", None).receive_message(QueueUrl=QUEUE),
    "DeleteMessage": lambda gate: gate.client("sqs", "app", None).delete_message(QueueUrl=QUEUE, ReceiptHandle="r"),
    "PutRecord": lambda gate: gate.client("kinesis", "app", None).put_record(
        StreamName="s", Data=b"x", PartitionKey="k"
    ),
    "PutMetricData": lambda gate: gate.client("cloudwatch", "app", None).put_metric_data(
        Namespace="n", MetricData=[{"MetricName": "m", "Value": 1.0}]
    ),
    "PutEvents": lambda gate: gate.client("events", "app", None).put_events(
        Entries=[{"Source": "s", "DetailType": "t", "Detail": "{}"}]
    ),
    "PUT /b/k": lambda gate: gate.client("s3", "app", None, s3={"addressing_style": "path"}).put_object(
        Bucket="b", Key="k", Body=b"x" * 100_000
    ),
}


@pytest.mark.parametrize("operation", CALLS)
def test_an_application_works_with_its_data_without_a_motive_or_a_record(gate: Gate, operation: str) -> None:
    before = len(gate.records())
    CALLS[operation](gate)
    (asked,) = gate.upstream.asked
    assert asked.endswith(operation)
    assert _made(gate, before) == []


def test_the_gateway_signs_what_it_understood(gate: Gate) -> None:
    gate.upstream.headers.clear()
    gate.upstream.bodies.clear()
    CALLS["PutItem"](gate)
    assert gate.keys["app"].id not in str(gate.upstream.headers)
    assert b"hunter2" in gate.upstream.bodies[0]


def test_an_error_of_aws_reaches_the_client_as_it_is(gate: Gate) -> None:
    gate.upstream.behaviour = "refuse"
    with pytest.raises(ClientError) as caught:
        CALLS["PutItem"](gate)
    assert caught.value.response["Error"]["Code"] == "ResourceNotFoundException"


def test_no_answer_is_an_error_that_clients_may_repeat(gate: Gate) -> None:
    gate.upstream.behaviour = "cut"
    with pytest.raises(ClientError) as caught:
        CALLS["PutItem"](gate)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 503
    assert "not known" in caught.value.response["Error"]["Message"]
    assert len(gate.upstream.asked) == 1


@pytest.mark.parametrize("actor", ["agent", "app"])
def test_a_statement_that_selects_is_a_read(gate: Gate, actor: str) -> None:
    before = len(gate.records())
    gate.client("dynamodb", actor, None).execute_statement(Statement='SELECT * FROM "kafka-offsets" WHERE id = 1')
    assert gate.upstream.asked == ["ExecuteStatement"]
    assert _made(gate, before) == []


STAY_MUTATIONS: dict[str, Any] = {
    "purging": lambda gate: gate.client("sqs", "app", None).purge_queue(QueueUrl=QUEUE),
    "an object for everybody": lambda gate: gate.client("s3", "app", None).put_object(
        Bucket="b", Key="k", Body=b"", ACL="public-read"
    ),
    "deleting locked versions": lambda gate: gate.client("s3", "app", None).delete_objects(
        Bucket="b", Delete={"Objects": [{"Key": "k", "VersionId": "1"}]}, BypassGovernanceRetention=True
    ),
    "a statement nobody understands": lambda gate: gate.client("dynamodb", "app", None).execute_statement(
        Statement="SELECT * FROM T; DELETE FROM T"
    ),
    "running code": lambda gate: gate.client("stepfunctions", "app", None).start_execution(
        stateMachineArn="arn:aws:states:us-east-1:123456789012:stateMachine:m"
    ),
}


@pytest.mark.parametrize("name", STAY_MUTATIONS)
def test_what_is_more_than_data_is_decided(gate: Gate, name: str) -> None:
    before = len(gate.records())
    with pytest.raises(ClientError):
        STAY_MUTATIONS[name](gate)
    assert gate.upstream.asked == []
    assert Stage.DECIDED in {record.stage for record in _made(gate, before)}


def test_an_agent_s_writes_are_decided(gate: Gate) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        gate.client("dynamodb").put_item(TableName=TABLE, Item=ITEM)
    assert gate.upstream.asked == []


def test_reading_data_is_never_refused_for_want_of_a_motive(gate: Gate) -> None:
    with pytest.raises(ClientError) as caught:
        gate.client("sqs", "agent", None).receive_message(QueueUrl=QUEUE)
    message = caught.value.response["Error"]["Message"]
    assert "allow_invoke" in message
    assert "must state its motive" not in message


def test_the_json_api_decides_every_call(gate: Gate) -> None:
    body = {"service": "dynamodb", "operation": "PutItem", "parameters": {"TableName": TABLE, "Item": ITEM}}
    answer = httpx.post(f"{gate.url}/v1/mutations", json={**body, "dry_run": True}, headers=gate.bearer("app"))
    assert answer.json()["decision"]["verdict"] == "allow"
    select = {**body, "operation": "ExecuteStatement", "parameters": {"Statement": "SELECT * FROM T"}}
    refused = httpx.post(f"{gate.url}/v1/mutations", json=select, headers=gate.bearer("app"))
    assert (refused.status_code, "changes nothing" in refused.text) == (400, True)


def test_what_passed_is_recorded_at_the_end_and_the_ledger_verifies(tmp_path: Path) -> None:
    """An orderly stop loses no count, and a table's traffic is a few records."""
    shared = tmp_path / "shared"
    plane = DataPlaneSettings(agent=DataTreatment.RECORD)
    with Gate(directory=tmp_path / "one", data=shared, data_plane=plane) as first:
        first.issue("app", kind=ActorKind.SERVICE)
        before = len(first.records())
        app, agent = first.client("dynamodb", "app", None), first.client("dynamodb", "agent", None)
        for _ in range(WRITES):
            app.put_item(TableName=TABLE, Item=ITEM)
        agent.put_item(TableName=TABLE, Item=ITEM)
        first.upstream.behaviour = "refuse"
        with pytest.raises(ClientError):
            agent.put_item(TableName=TABLE, Item=ITEM)
        assert len(first.records()) == before
        assert len(first.upstream.asked) == WRITES + 2
    with Gate(directory=tmp_path / "two", data=shared) as second:
        made = [record for record in second.records() if record.stage is Stage.PASSED]
        assert {
            (record.actor, record.stack, record.body.members["count"], record.body.members["errors"]) for record in made
        } == {
            ("app", "kafka", WRITES, 0),
            ("agent", "kafka", 2, 1),
        }
        (by_resource,) = second.records(resource="aws_dynamodb_table.offsets")
        assert by_resource.body.members["resources"] == [{"address": "aws_dynamodb_table.offsets", "count": 2}]
        assert "hunter2" not in str(made)
        assert second.run(second.ledger.verify()) == len(second.records())
