"""Third audit, 1: what Sentinel decides by was an ordinary object behind its own doors.

The attacks: an agent reads the Terraform state in S3 whole, passwords included; a service overwrites it, and Sentinel believes what it says;
others delete its bucket, take its lock, copy it, presign it, read it by another service's hand, publish to the topic that proves incidents,
write exports and take events from the trail's queue. What must hold: nobody but the reconciler and the pipelines of that stack reaches
these through the gateway, whatever contract, policy or mode; and a state that is written goes on from the one that is there.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.model.export_format import ExportFormatName
from gateway.core.model.verdict import Mode
from gateway.core.records.record import Stage
from gateway.core.settings import ReconcileSettings, StackSettings
from gateway.core.settings.exports import ExportSettings
from gateway.core.settings.publish import EventSourceKind, EventSourceSettings
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from tests.kit.gate import STACK, Gate
from tests.kit.moto import MotoUpstream

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BUCKET, KEY, LOCKS = "acme-states", "kafka/terraform.tfstate", "acme-locks"
BACKEND = f"""
terraform {{
  backend "s3" {{
    bucket         = "{BUCKET}"
    key            = "{KEY}"
    region         = "us-east-1"
    dynamodb_table = "{LOCKS}"
  }}
}}
"""
TOPIC = "arn:aws:sns:us-east-1:123456789012:alerts"
ROLE = "arn:aws:iam::123456789012:role/sentinel"
STATE: dict[str, Any] = json.loads((STACK / "terraform.tfstate").read_text()) | {"lineage": "aaaa", "serial": 7}


def state(**changed: Any) -> bytes:
    return json.dumps(STATE | changed).encode()


@dataclass
class World(MotoUpstream):
    """AWS with a state, its locks, an export and a topic in it."""

    async def start(self) -> web.AppRunner:
        runner = await super().start()
        self.reset()
        s3 = self.client("s3")
        for bucket in (BUCKET, "acme-audit", "acme-data"):
            s3.create_bucket(Bucket=bucket)
        s3.put_object(Bucket=BUCKET, Key=KEY, Body=state())
        s3.put_object(Bucket=BUCKET, Key="other/terraform.tfstate", Body=b"{}")
        s3.put_object(Bucket="acme-audit", Key="sentinel/1.json", Body=b"{}")
        s3.put_object(Bucket="acme-data", Key="a", Body=b"{}")
        self.client("dynamodb").create_table(
            TableName=LOCKS,
            KeySchema=[{"AttributeName": "LockID", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "LockID", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.client("sns").create_topic(Name="alerts")
        self.client("sqs").create_queue(QueueName="trail")
        return runner

    def reset(self) -> None:
        """Forget what other gateways of this process left."""
        httpx.post(f"{self.url}/moto-api/reset", timeout=300).raise_for_status()


def _gate(directory: Path, mode: Mode = Mode.ENFORCE) -> Gate:
    gate = Gate(
        directory,
        mode=mode,
        upstream=World(),
        exports=(ExportSettings(format=ExportFormatName.JSONL, to="s3://acme-audit/sentinel"),),
        signals=(SignalSourceSettings(name="sns", form=SignalForm.SNS, topics=(TOPIC,)),),
        reconcile=ReconcileSettings(
            gateway_identity=ROLE,
            events=(
                EventSourceSettings(
                    kind=EventSourceKind.QUEUE, url="https://sqs.us-east-1.amazonaws.com/123456789012/trail"
                ),
            ),
        ),
    )
    (gate.stack / "backend.tf").write_text(BACKEND)
    (gate.stack / "terraform.tfstate").unlink()
    return gate


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    with _gate(tmp_path_factory.mktemp("guarded")) as gate:
        gate.issue("other-pipeline", kind=ActorKind.PIPELINE)
        yield gate


def stored(gate: Gate) -> bytes:
    upstream = gate.upstream
    assert isinstance(upstream, World)
    content: bytes = upstream.client("s3").get_object(Bucket=BUCKET, Key=KEY)["Body"].read()
    return content


def refused(call: Any, **parameters: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    said = str(caught.value)
    assert "AccessDenied" in said
    assert "by which Sentinel itself decides or proves" in said or "No state records the access point" in said
    return said


READS = [
    ("get_object", {"Bucket": BUCKET, "Key": KEY}),
    ("get_object", {"Bucket": BUCKET, "Key": KEY, "Range": "bytes=0-10"}),
    ("get_object", {"Bucket": BUCKET, "Key": KEY, "VersionId": "null"}),
    ("get_object", {"Bucket": BUCKET, "Key": "other/terraform.tfstate"}),
    ("get_object", {"Bucket": "states-abcdefghijkl1234567890-s3alias", "Key": KEY}),
    ("get_object_attributes", {"Bucket": BUCKET, "Key": KEY, "ObjectAttributes": ["ETag"]}),
    ("get_object_tagging", {"Bucket": BUCKET, "Key": KEY}),
    (
        "select_object_content",
        {
            "Bucket": BUCKET,
            "Key": KEY,
            "Expression": "SELECT * FROM s3object",
            "ExpressionType": "SQL",
            "InputSerialization": {"JSON": {"Type": "DOCUMENT"}},
            "OutputSerialization": {"JSON": {}},
        },
    ),
    ("get_object", {"Bucket": "acme-audit", "Key": "sentinel/1.json"}),
]


@pytest.mark.parametrize("actor", ["agent", "service"])
@pytest.mark.parametrize(("method", "parameters"), READS)
def test_nobody_else_reads_a_state_or_an_export(
    guarded: Gate, actor: str, method: str, parameters: dict[str, Any]
) -> None:
    client = guarded.new_client("s3", actor, motive=None)
    client.meta.events.unregister("before-parameter-build.s3")
    refused(getattr(client, method), **parameters)


WRITES = [
    ("put_object", {"Bucket": BUCKET, "Key": KEY, "Body": state(serial=8, resources=[])}),
    ("put_object", {"Bucket": BUCKET, "Key": f"{KEY}.tflock", "Body": b"{}"}),
    ("put_object", {"Bucket": BUCKET, "Key": "elsewhere", "Body": b"{}"}),
    ("put_object", {"Bucket": "acme-audit", "Key": "sentinel/2.json", "Body": b"{}"}),
    ("delete_object", {"Bucket": BUCKET, "Key": KEY}),
    ("delete_objects", {"Bucket": BUCKET, "Delete": {"Objects": [{"Key": "a"}, {"Key": KEY}]}}),
    ("create_multipart_upload", {"Bucket": BUCKET, "Key": KEY}),
    ("copy_object", {"Bucket": BUCKET, "Key": KEY, "CopySource": "acme-data/a"}),
    ("copy_object", {"Bucket": "acme-data", "Key": "b", "CopySource": f"{BUCKET}/{KEY}"}),
    ("copy_object", {"Bucket": "acme-data", "Key": "b", "CopySource": f"/acme%2Dstates%2F{KEY}?versionId=1"}),
    ("copy_object", {"Bucket": "acme-data", "Key": "b", "CopySource": {"Bucket": BUCKET, "Key": KEY}}),
    (
        "copy_object",
        {
            "Bucket": "acme-data",
            "Key": "b",
            "CopySource": f"arn:aws:s3:us-east-1:123456789012:accesspoint/states/object/{KEY}",
        },
    ),
    ("put_object_tagging", {"Bucket": BUCKET, "Key": KEY, "Tagging": {"TagSet": []}}),
]


@pytest.mark.parametrize("actor", ["agent", "service"])
@pytest.mark.parametrize(("method", "parameters"), WRITES)
def test_nobody_else_writes_a_state_or_an_export(
    guarded: Gate, actor: str, method: str, parameters: dict[str, Any]
) -> None:
    client = guarded.client("s3", actor, motive=("availability", "incident; evidence=A-1"))
    refused(getattr(client, method), **parameters)
    assert stored(guarded) == state()


BUCKET_WIDE = [
    ("delete_bucket", {}),
    ("create_bucket", {}),
    ("put_bucket_policy", {"Policy": "{}"}),
    ("put_bucket_acl", {"ACL": "public-read"}),
    ("put_bucket_versioning", {"VersioningConfiguration": {"Status": "Suspended"}}),
    ("put_public_access_block", {"PublicAccessBlockConfiguration": {"BlockPublicAcls": False}}),
    (
        "put_bucket_lifecycle_configuration",
        {
            "LifecycleConfiguration": {
                "Rules": [{"Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}]
            }
        },
    ),
    (
        "put_bucket_replication",
        {
            "ReplicationConfiguration": {
                "Role": "arn:aws:iam::123456789012:role/r",
                "Rules": [{"Status": "Enabled", "Destination": {"Bucket": "arn:aws:s3:::x"}}],
            }
        },
    ),
]


@pytest.mark.parametrize("actor", ["agent", "service", "human"])
@pytest.mark.parametrize(("method", "parameters"), BUCKET_WIDE)
def test_nobody_else_changes_the_bucket(guarded: Gate, actor: str, method: str, parameters: dict[str, Any]) -> None:
    refused(getattr(guarded.client("s3", actor), method), Bucket=BUCKET, **parameters)


ELSEWHERE = [
    ("sns", "publish", {"TopicArn": TOPIC, "Message": "{}"}),
    (
        "sns",
        "publish_batch",
        {"TopicArn": TOPIC, "PublishBatchRequestEntries": [{"Id": "1", "Message": "{}"}]},
    ),
    ("sns", "subscribe", {"TopicArn": TOPIC, "Protocol": "https", "Endpoint": "https://example.com"}),
    ("sns", "unsubscribe", {"SubscriptionArn": f"{TOPIC}:11111111-1111-1111-1111-111111111111"}),
    (
        "cloudwatch",
        "put_metric_alarm",
        {
            "AlarmName": "mine",
            "AlarmActions": [TOPIC],
            "EvaluationPeriods": 1,
            "ComparisonOperator": "GreaterThanThreshold",
        },
    ),
    ("sqs", "receive_message", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/trail"}),
    ("sqs", "send_message", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/trail", "MessageBody": "x"}),
    ("sqs", "purge_queue", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/trail"}),
    ("iam", "attach_role_policy", {"RoleName": "sentinel", "PolicyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}),
    (
        "lambda",
        "create_function",
        {"FunctionName": "f", "Role": ROLE, "Code": {"S3Bucket": "acme-data", "S3Key": "a"}},
    ),
    ("lambda", "update_function_code", {"FunctionName": "f", "S3Bucket": BUCKET, "S3Key": KEY}),
    ("dynamodb", "delete_table", {"TableName": LOCKS}),
    ("dynamodb", "put_item", {"TableName": LOCKS, "Item": {"LockID": {"S": f"{BUCKET}/{KEY}"}}}),
    ("dynamodb", "get_item", {"TableName": LOCKS, "Key": {"LockID": {"S": f"{BUCKET}/{KEY}-md5"}}}),
    ("dynamodb", "scan", {"TableName": LOCKS}),
    ("dynamodb", "scan", {"TableName": f"arn:aws:dynamodb:us-east-1:123456789012:table/{LOCKS}"}),
    ("dynamodb", "batch_get_item", {"RequestItems": {LOCKS: {"Keys": [{"LockID": {"S": "x"}}]}}}),
    (
        "dynamodb",
        "batch_write_item",
        {"RequestItems": {LOCKS: [{"DeleteRequest": {"Key": {"LockID": {"S": "x"}}}}]}},
    ),
    ("dynamodb", "execute_statement", {"Statement": 'DELETE FROM "acme-locks" WHERE LockID = 1'}),
    ("dynamodb", "execute_statement", {"Statement": 'SELECT * FROM "acme-locks"'}),
    ("rekognition", "detect_text", {"Image": {"S3Object": {"Bucket": BUCKET, "Name": KEY}}}),
    ("cloudformation", "get_template_summary", {"TemplateURL": f"https://{BUCKET}.s3.amazonaws.com/{KEY}"}),
    ("cloudformation", "get_template_summary", {"TemplateURL": f"https://s3.amazonaws.com/{BUCKET}/{KEY}"}),
    (
        "scheduler",
        "create_schedule",
        {
            "Name": "s",
            "ScheduleExpression": "rate(1 day)",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "Target": {
                "Arn": "arn:aws:scheduler:::aws-sdk:s3:deleteObject",
                "RoleArn": "arn:aws:iam::123456789012:role/r",
                "Input": json.dumps({"Bucket": BUCKET, "Key": KEY}),
            },
        },
    ),
]


@pytest.mark.parametrize("actor", ["agent", "service"])
@pytest.mark.parametrize(("service", "method", "parameters"), ELSEWHERE)
def test_nobody_else_reaches_it_by_another_way(
    guarded: Gate, actor: str, service: str, method: str, parameters: dict[str, Any]
) -> None:
    refused(getattr(guarded.client(service, actor), method), **parameters)


def test_no_access_point_leads_to_it(guarded: Gate) -> None:
    call = {
        "service": "s3control",
        "operation": "CreateAccessPoint",
        "parameters": {"AccountId": "123456789012", "Name": "inner", "Bucket": BUCKET},
    }
    answer = httpx.post(f"{guarded.url}/v1/mutations", json=call, headers=guarded.bearer("agent"), timeout=300)
    assert "never.ground_truth" in answer.text


def test_what_is_beside_it_is_as_ever(guarded: Gate) -> None:
    s3 = guarded.client("s3", "service", motive=None)
    assert s3.get_object(Bucket="acme-data", Key="a")["Body"].read() == b"{}"
    s3.put_object(Bucket="acme-data", Key="c", Body=b"about acme-states")
    s3.put_object(Bucket="acme-audit", Key="sentinel-of-others", Body=b"{}")
    assert guarded.client("dynamodb", "agent", motive=None).describe_table(TableName=LOCKS)["Table"]
    assert guarded.client("s3", "human", motive=None).get_object(Bucket=BUCKET, Key="other/terraform.tfstate")


def test_a_presigned_url_leads_nobody_to_a_state(guarded: Gate) -> None:
    url = guarded.client("s3", "pipeline", signature_version="s3v4").generate_presigned_url(
        "get_object", {"Bucket": BUCKET, "Key": KEY}
    )
    answer = httpx.get(url, timeout=300)
    assert answer.status_code == 403
    assert "signs itself" in answer.text


@pytest.mark.slow
def test_observing_opens_nothing(tmp_path: Path) -> None:
    with _gate(tmp_path, Mode.OBSERVE) as gate:
        refused(gate.client("s3", "agent").delete_bucket, Bucket=BUCKET)
        refused(gate.client("s3", "service").put_object, Bucket=BUCKET, Key=KEY, Body=b"{}")


def test_a_pipeline_keeps_its_state_and_every_write_is_recorded(guarded: Gate) -> None:
    s3 = guarded.client("s3", "pipeline", ("consistency", "routine"))
    assert s3.get_object(Bucket=BUCKET, Key=KEY)["Body"].read() == state()
    before = len(guarded.records(stage=Stage.PASSED))
    try:
        s3.put_object(Bucket=BUCKET, Key=f"{KEY}.tflock", Body=b"{}", IfNoneMatch="*")
        s3.put_object(Bucket=BUCKET, Key=KEY, Body=state(serial=8), ContentType="application/json")
        s3.delete_object(Bucket=BUCKET, Key=f"{KEY}.tflock")
        assert json.loads(stored(guarded))["serial"] == 8
        written = guarded.records(stage=Stage.PASSED)[before:]
        assert any(f"s3://{BUCKET}/{KEY} serial=8 lineage=aaaa" in str(each.body) for each in written)
        assert any("GetObject" in str(each.body) and f"'s3://{BUCKET}/{KEY}'" in str(each.body) for each in written)
        for changed, why in (
            ({"serial": 7}, "serial 7"),
            ({"serial": 8, "outputs": {"a": 1}}, "serial 8"),
            ({"serial": 9, "lineage": "bbbb"}, "lineage"),
            ({"serial": "9"}, "no Terraform state"),
        ):
            with pytest.raises(ClientError, match=why):
                s3.put_object(Bucket=BUCKET, Key=KEY, Body=state(**changed))
        with pytest.raises(ClientError, match="no Terraform state"):
            s3.put_object(Bucket=BUCKET, Key=KEY, Body=b'{"version": 4, "serial": 1, "serial": 99, "lineage": "aaaa"}')
        refused(s3.put_object, Bucket=BUCKET, Key=KEY, Body=state(serial=9), ACL="public-read")
        refused(s3.delete_object, Bucket=BUCKET, Key=KEY)
        assert json.loads(stored(guarded))["serial"] == 8
    finally:
        upstream = guarded.upstream
        assert isinstance(upstream, World)
        upstream.client("s3").put_object(Bucket=BUCKET, Key=KEY, Body=state())


def test_a_pipeline_takes_and_frees_its_lock(guarded: Gate) -> None:
    dynamodb = guarded.client("dynamodb", "pipeline", ("consistency", "routine"))
    name = {"LockID": {"S": f"{BUCKET}/{KEY}"}}
    dynamodb.put_item(TableName=LOCKS, Item=name, ConditionExpression="attribute_not_exists(LockID)")
    assert dynamodb.get_item(TableName=LOCKS, Key=name)["Item"] == name
    dynamodb.delete_item(TableName=LOCKS, Key=name)
    refused(dynamodb.scan, TableName=LOCKS)


def test_the_reconciler_reads_the_state(guarded: Gate) -> None:
    assert guarded.client("s3", "reconciler", motive=None).get_object(Bucket=BUCKET, Key=KEY)


def test_a_state_has_the_keepers_of_its_stack(tmp_path: Path) -> None:
    gate = _gate(tmp_path)
    (gate.stack / "backend.tf").unlink()
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.tf").write_text(BACKEND)
    gate.more_stacks = (StackSettings(name="other", path=other, state_keepers=("pipeline",)),)
    with gate:
        gate.issue("stranger", kind=ActorKind.PIPELINE)
        assert gate.client("s3", "pipeline", motive=None).get_object(Bucket=BUCKET, Key=KEY)
        for actor in ("stranger", "human"):
            refused(gate.client("s3", actor, motive=None).get_object, Bucket=BUCKET, Key=KEY)


def test_the_pipeline_of_one_stack_keeps_no_other_state(tmp_path: Path) -> None:
    gate = _gate(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.tf").write_text(BACKEND.replace(KEY, "new/terraform.tfstate"))
    gate.more_stacks = (StackSettings(name="other", path=other),)
    with gate:
        for name in ("kafka", "other"):
            gate.issue(f"ci-{name}", kind=ActorKind.PIPELINE, roles=(f"stack/{name}",))
        assert gate.client("s3", "ci-kafka", motive=None).get_object(Bucket=BUCKET, Key=KEY)
        for actor in ("ci-other", "pipeline", "human"):
            s3 = gate.client("s3", actor, motive=None)
            refused(s3.get_object, Bucket=BUCKET, Key=KEY)
            refused(s3.put_object, Bucket=BUCKET, Key=KEY, Body=state(serial=8))
            refused(s3.put_object, Bucket=BUCKET, Key=f"{KEY}.tflock", Body=b"{}", IfNoneMatch="*")


def test_a_large_state_is_refused_by_its_first_part(guarded: Gate) -> None:
    s3 = guarded.client("s3", "pipeline", ("consistency", "routine"))
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key=KEY)["UploadId"]
    part = {"Bucket": BUCKET, "Key": KEY, "UploadId": upload, "PartNumber": 1}
    for serial, lineage in ((6, "aaaa"), (9, "bbbb")):
        with pytest.raises(ClientError, match="AccessDenied"):
            s3.upload_part(**part, Body=(HEAD % (serial, lineage)).encode())
    with pytest.raises(ClientError, match="no Terraform state"):
        s3.upload_part(**part, Body=b'{"serial": 9}')
    s3.abort_multipart_upload(Bucket=BUCKET, Key=KEY, UploadId=upload)


HEAD = '{\n  "version": 4,\n  "terraform_version": "1.13.0",\n  "serial": %s,\n  "lineage": "%s",\n'
PART = 5 * 1024 * 1024
"""The least that S3 takes as a part before the last."""


def parts_of(serial: int, end: str) -> list[bytes]:
    """A state in two parts, of which the second is not the end of a state unless `end` is."""
    head = (HEAD % (serial, "aaaa")).encode()
    return [head + b" " * (PART - len(head)), end.encode()]


def _completed(gate: Gate, parts: list[bytes]) -> None:
    s3 = gate.client("s3", "pipeline", ("consistency", "routine"))
    upload = {"Bucket": BUCKET, "Key": KEY, "UploadId": s3.create_multipart_upload(Bucket=BUCKET, Key=KEY)["UploadId"]}
    sent = [
        {"PartNumber": number, "ETag": s3.upload_part(**upload, PartNumber=number, Body=body)["ETag"]}
        for number, body in enumerate(parts, start=1)
    ]
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": sent})


ENDS = {
    "another serial": '"serial": 1, "outputs": {}, "resources": []}',
    "another lineage": '"lineage": "bbbb", "outputs": {}, "resources": []}',
    "no end": '"outputs": {',
    "something else": "\u0000",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_a_large_state_is_judged_as_a_whole(guarded: Gate, end: str) -> None:
    with pytest.raises(ClientError, match="no Terraform state"):
        _completed(guarded, parts_of(9, end))
    assert stored(guarded) == state()


def test_a_large_state_is_judged_by_all_of_its_parts(guarded: Gate) -> None:
    """Parts that came past this gateway, or of which another was sent meanwhile, make no state that anybody has seen."""
    upstream = guarded.upstream
    assert isinstance(upstream, World)
    s3, past = guarded.client("s3", "pipeline", ("consistency", "routine")), upstream.client("s3")
    upload = {"Bucket": BUCKET, "Key": KEY, "UploadId": s3.create_multipart_upload(Bucket=BUCKET, Key=KEY)["UploadId"]}
    first, second = parts_of(9, '"outputs": {}, "resources": []}')
    known = {"PartNumber": 1, "ETag": s3.upload_part(**upload, PartNumber=1, Body=first)["ETag"]}
    unknown = {"PartNumber": 2, "ETag": past.upload_part(**upload, PartNumber=2, Body=second)["ETag"]}
    with pytest.raises(ClientError, match="did not all come through this gateway"):
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [known, unknown]})
    s3.abort_multipart_upload(**upload)
    assert stored(guarded) == state()


def test_a_large_state_is_stored_and_recorded(guarded: Gate) -> None:
    try:
        _completed(guarded, parts_of(9, '"outputs": {}, "resources": []}'))
        assert json.loads(stored(guarded))["serial"] == 9
        [written] = [
            each
            for each in guarded.records(stage=Stage.PASSED)
            if "CompleteMultipartUpload" in str(each.body) and "serial=9 lineage=aaaa" in str(each.body)
        ]
        assert written.actor == "pipeline"
    finally:
        upstream = guarded.upstream
        assert isinstance(upstream, World)
        upstream.client("s3").put_object(Bucket=BUCKET, Key=KEY, Body=state())
