"""Flat dotted keys become nested parameters."""

from typing import Any

import pytest

from gateway.aws.door.protocols import form
from gateway.core.errors import Malformed
from gateway.core.service_models import ServiceModels


def _parsed(models: ServiceModels, service: str, operation: str, fields: dict[str, str]) -> dict[str, Any]:
    return form.parse(models.shape(service, operation), fields, ec2=service == "ec2")


def test_ec2_lists_are_numbered_and_may_have_gaps(models: ServiceModels) -> None:
    fields = {"Action": "TerminateInstances", "InstanceId.10": "c", "InstanceId.2": "b", "InstanceId.1": "a"}
    assert _parsed(models, "ec2", "TerminateInstances", fields) == {"InstanceIds": ["a", "b", "c"]}


def test_query_lists_are_under_member(models: ServiceModels) -> None:
    fields = {"AutoScalingGroupNames.member.1": "a"}
    assert _parsed(models, "autoscaling", "DescribeAutoScalingGroups", fields) == {"AutoScalingGroupNames": ["a"]}


def test_an_empty_list_is_sent_as_nothing(models: ServiceModels) -> None:
    fields = {"AutoScalingGroupNames": ""}
    assert _parsed(models, "autoscaling", "DescribeAutoScalingGroups", fields) == {"AutoScalingGroupNames": []}


def test_maps_are_under_entry(models: ServiceModels) -> None:
    fields = {"Name": "t", "Attributes.entry.1.key": "k", "Attributes.entry.1.value": "v"}
    assert _parsed(models, "sns", "CreateTopic", fields) == {"Name": "t", "Attributes": {"k": "v"}}


BAD = {
    "a list without numbers": ("ec2", "TerminateInstances", {"InstanceId": "a"}),
    "a list numbered in words": ("ec2", "TerminateInstances", {"InstanceId.one": "a"}),
    "a list under another name": ("autoscaling", "DescribeAutoScalingGroups", {"AutoScalingGroupNames.entry.1": "a"}),
    "a value and a structure": ("ec2", "TerminateInstances", {"InstanceId.1": "a", "InstanceId.1.x": "b"}),
    "a structure and a value": ("ec2", "TerminateInstances", {"InstanceId.1.x": "b", "InstanceId.1": "a"}),
    "a map key twice": (
        "sns",
        "CreateTopic",
        {
            "Name": "t",
            "Attributes.entry.1.key": "k",
            "Attributes.entry.1.value": "v",
            "Attributes.entry.2.key": "k",
            "Attributes.entry.2.value": "w",
        },
    ),
    "a map entry without a key": ("sns", "CreateTopic", {"Name": "t", "Attributes.entry.1.value": "v"}),
    "an empty part": ("sns", "CreateTopic", {"Name": "t", ".": "v"}),
    "65 dots": ("sns", "CreateTopic", {"Name": "t", "a" + ".a" * 65: "v"}),
    "a parameter of an operation without any": ("sts", "GetCallerIdentity", {"Evil": "1"}),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD.keys())
def test_a_form_that_does_not_fit_is_refused(models: ServiceModels, case: tuple[str, str, dict[str, str]]) -> None:
    with pytest.raises(Malformed):
        _parsed(models, *case)
