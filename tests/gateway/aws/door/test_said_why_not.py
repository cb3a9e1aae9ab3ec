"""What does not work through Sentinel says why not, in the caller's protocol: other partitions, unsigned sign-ins, copies from another region."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.records.record import Stage
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

ROLE, PROVIDER = "arn:aws:iam::123456789012:role/r", "arn:aws:iam::123456789012:saml-provider/p"
SNAPSHOT = "arn:aws:rds:eu-west-1:123456789012:snapshot:s"
WHY: dict[str, tuple[Callable[[Gate], Any], str, str]] = {
    "China": (
        lambda gate: gate.client("sqs", region_name="cn-north-1").list_queues(),
        "AccessDeniedException",
        "Its partition aws-cn needs a Sentinel with credentials of that partition",
    ),
    "GovCloud": (
        lambda gate: gate.client("s3", region_name="us-gov-west-1").list_buckets(),
        "AccessDenied",
        "Its partition aws-us-gov needs a Sentinel",
    ),
    "another region": (
        lambda gate: gate.client("autoscaling", region_name="af-south-1").describe_policies(),
        "AccessDenied",
        "may add a region to `upstream.regions`.",
    ),
    "SAML": (
        lambda gate: gate.client("sts").assume_role_with_saml(
            RoleArn=ROLE, PrincipalArn=PROVIDER, SAMLAssertion="x" * 20
        ),
        "AccessDenied",
        "Sentinel verifies no assertions of SAML",
    ),
    "a copy of a database's snapshot": (
        lambda gate: gate.client("rds").copy_db_snapshot(
            SourceDBSnapshotIdentifier=SNAPSHOT, TargetDBSnapshotIdentifier="t", SourceRegion="eu-west-1"
        ),
        "AccessDenied",
        "rds:CopyDBSnapshot holds an URL that was signed with a key of Sentinel",
    ),
    "a copy of a volume's snapshot": (
        lambda gate: gate.client("ec2").copy_snapshot(SourceRegion="eu-west-1", SourceSnapshotId="snap-1"),
        "UnauthorizedOperation",
        "Copy within the region",
    ),
}


@pytest.mark.parametrize(("call", "code", "said"), WHY.values(), ids=WHY.keys())
def test_it_says_why_not(gate: Gate, call: Callable[[Gate], Any], code: str, said: str) -> None:
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as caught:
        call(gate)
    response = caught.value.response
    assert (response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]) == (403, code)
    assert said in response["Error"]["Message"]
    assert "othing was sent" in response["Error"]["Message"]
    assert gate.upstream.asked == []
    assert gate.records(stage=Stage.TURNED_AWAY)


def test_a_copy_within_the_region_is_judged_as_any_call(gate: Gate) -> None:
    with pytest.raises(ClientError, match=r"SEN-|not understand"):
        gate.client("rds").copy_db_snapshot(SourceDBSnapshotIdentifier="s", TargetDBSnapshotIdentifier="t")


def test_an_url_of_an_object_may_stand_in_a_call(gate: Gate) -> None:
    """It was signed with a key of ours as well, and is for Sentinel."""
    s3 = gate.client("s3", signature_version="s3v4")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k"})
    with pytest.raises(ClientError) as caught:
        gate.client("ssm").send_command(DocumentName="AWS-RunShellScript", Parameters={"commands": [f"curl '{url}'"]})
    assert "signed with a key of Sentinel" not in caught.value.response["Error"]["Message"]
