"""A copy of the simulated AWS has what was applied; what is done to it is seen by nobody else."""

from pathlib import Path
from typing import Any

import pytest

from tests.bench.drift.made import client
from tests.bench.drift.world import simulated_aws
from tests.kit.up import free_port

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]


def test_a_copy_is_forgotten_at_its_end(tmp_path: Path) -> None:
    with simulated_aws(tmp_path / "log") as world:
        client("logs", world.endpoint).create_log_group(logGroupName="/kept")
        world.freeze()
        port, beside = free_port(), free_port()
        with world.fork(beside) as other:
            with world.fork(port) as endpoint:
                client("logs", endpoint).create_log_group(logGroupName="/lost")
                assert _groups(endpoint) == ["/kept", "/lost"]
                assert _groups(other) == ["/kept"]
            with world.fork(port) as endpoint:
                assert _groups(endpoint) == ["/kept"]


def _groups(endpoint: str) -> list[str]:
    return [group["logGroupName"] for group in client("logs", endpoint).describe_log_groups()["logGroups"]]


def test_metadata_options_that_a_call_does_not_name_stay(tmp_path: Path) -> None:
    with simulated_aws(tmp_path / "log") as world:
        ec2 = client("ec2", world.endpoint)
        (made,) = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)["Instances"]
        before = _options(ec2, made["InstanceId"])
        ec2.modify_instance_metadata_options(InstanceId=made["InstanceId"], HttpTokens="required")
        assert before["HttpTokens"] == "optional"
        assert _options(ec2, made["InstanceId"]) == {**before, "HttpTokens": "required"}


def _options(ec2: Any, instance: str) -> dict[str, Any]:
    (reservation,) = ec2.describe_instances(InstanceIds=[instance])["Reservations"]
    return dict(reservation["Instances"][0]["MetadataOptions"])
