"""A live read is one call of the table, with what the state records; its secrets are masked, and its failures are sentences."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.aws.client.live_reads import AwsLive
from gateway.aws.client.mutations import Aws
from gateway.context.live_values import LiveTarget
from gateway.core.errors import UpstreamUnavailable
from gateway.core.model.masking import Masker, holds_mask
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, InDoubt, Reply, Sent
from gateway.core.service_models import ServiceModels

GROUP = LiveTarget(
    address="aws_autoscaling_group.web",
    resource_type="aws_autoscaling_group",
    recorded={"name": "web"},
    region="eu-west-1",
)
XML = b"""<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups><member>
<AutoScalingGroupName>web</AutoScalingGroupName><DesiredCapacity>6</DesiredCapacity><HealthCheckType>password=hunter2hunter2</HealthCheckType>
</member></AutoScalingGroups></DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>"""


@dataclass
class _Aws:
    outcome: Sent
    calls: list[Call] = field(default_factory=list)

    async def prepare(self, call: Call, mutation_id: str) -> Any:
        assert mutation_id.startswith("live_")
        self.calls.append(call)
        return self

    async def send(self, prepared: Any) -> Sent:
        return self.outcome


def live(outcome: Sent, account: str = "") -> tuple[AwsLive, _Aws]:
    double: Any = _Aws(outcome)
    aws: Aws = double
    masker = Masker(key=b"k" * 32)
    return AwsLive(aws=aws, models=ServiceModels(), masker=masker, account=account, region="us-east-1"), double


async def test_the_values_come_by_one_call_in_the_region_of_the_resource() -> None:
    source, aws = live(Applied(reply=Reply(status=200, headers=(), body=XML), request_id="r"))
    values = await source.read(GROUP)
    [call] = aws.calls
    assert (call.service, call.operation, call.region) == ("autoscaling", "DescribeAutoScalingGroups", "eu-west-1")
    assert call.parameters == {"AutoScalingGroupNames": ["web"]}
    assert values["desired_capacity"] == 6
    assert "hunter2" not in str(values)
    assert "hmac_sha256" in str(values["health_check_type"]) or holds_mask(values["health_check_type"])


@pytest.mark.parametrize(
    ("outcome", "says"),
    [(Failed(code="AccessDenied", message="secret words"), "AccessDenied"), (InDoubt(reason="cut"), "no whole answer")],
)
async def test_a_failure_is_a_sentence_without_awss_own_words(outcome: Sent, says: str) -> None:
    source, _ = live(outcome)
    with pytest.raises(UpstreamUnavailable, match=says) as raised:
        await source.read(GROUP)
    assert "secret words" not in str(raised.value)


@pytest.mark.parametrize(
    ("target", "account", "says"),
    [
        (GROUP, "", ""),
        (LiveTarget(address="a", resource_type="aws_ssm_parameter", recorded={"name": "n"}), "", "no live values"),
        (LiveTarget(address="a", resource_type="aws_autoscaling_group", recorded={}), "", "No state records"),
        (LiveTarget(address="a", resource_type="aws_sqs_queue", recorded={"url": "u"}, account="1"), "2", "account 1"),
        (LiveTarget(address="a", resource_type="aws_sqs_queue", recorded={"url": "u"}, account="2"), "2", ""),
    ],
)
def test_what_cannot_be_read_says_why(target: LiveTarget, account: str, says: str) -> None:
    source, _ = live(InDoubt(reason=""), account)
    found = source.supports(target)
    assert (says in found) if says else found == ""
