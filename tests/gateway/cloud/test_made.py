"""Only an id that belongs to the one resource a call created is taken from its reply."""

from typing import Any

import pytest

from gateway.cloud.made import made_id


@pytest.mark.parametrize(
    ("operation", "parsed", "found"),
    [
        ("RunInstances", {"Instances": [{"InstanceId": "i-1"}]}, "i-1"),
        ("RunInstances", {"Instances": [{"InstanceId": "i-1"}, {"InstanceId": "i-2"}]}, ""),
        ("RunInstances", {"Instances": []}, ""),
        ("CreateSecurityGroup", {"GroupId": "sg-1", "ResponseMetadata": {}}, "sg-1"),
        ("CreateSubnet", {"Subnet": {"SubnetId": "subnet-1"}}, "subnet-1"),
        ("AuthorizeSecurityGroupIngress", {"SecurityGroupRules": [{"SecurityGroupRuleId": "sgr-1"}]}, "sgr-1"),
        ("CreateSecurityGroup", {"GroupId": 3}, ""),
        ("CreateSecurityGroup", {"GroupId": "x" * 501}, ""),
        ("CreateVpc", {}, ""),
        ("TerminateInstances", {"Instances": [{"InstanceId": "i-1"}]}, ""),
    ],
)
def test_the_id_of_one_new_resource_is_known(operation: str, parsed: Any, found: str) -> None:
    assert made_id("ec2", operation, parsed) == found
