"""Instances, templates and tags."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.masking import PER_RUN
from gateway.core.model.mutation import EffectAction


def test_a_new_instance_is_named_by_its_call(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    interface = {"DeviceIndex": 0, "SubnetId": "subnet-1", "Groups": ["sg-1"], "AssociatePublicIpAddress": True}
    effects = effects_of(
        "ec2",
        "RunInstances",
        {
            "ImageId": "ami-1",
            "InstanceType": "p4d.24xlarge",
            "MinCount": 1,
            "MaxCount": 9,
            "NetworkInterfaces": [interface],
        },
        {},
    )
    assert {effect.action for effect in effects} == {EffectAction.CREATE}
    assert effects[0].address.startswith("aws_instance{call=")
    assert values(effects) == {
        "*": None,
        "ami": "ami-1",
        "instance_type": "p4d.24xlarge",
        "subnet_id": "subnet-1",
        "vpc_security_group_ids": ["sg-1"],
        "associate_public_ip_address": True,
    }


def test_the_ids_say_which_resources_are_tagged(effects_of: Callable[..., Any]) -> None:
    resources = {"aws_instance.i": {"id": "i-1"}, "aws_subnet.s": {"id": "subnet-1"}}
    tags = {"Resources": ["i-1", "subnet-1"], "Tags": [{"Key": "owner", "Value": "x"}]}
    effects = effects_of("ec2", "CreateTags", tags, resources)
    assert [(effect.address, effect.attribute) for effect in effects] == [
        ("aws_instance.i", "tags.owner"),
        ("aws_subnet.s", "tags.owner"),
    ]


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("CreateTags", {"Resources": ["tgw-1"], "Tags": [{"Key": "a", "Value": "b"}]}),
        ("DeleteTags", {"Resources": ["i-1"]}),
        ("ModifyInstanceAttribute", {"InstanceId": "i-1", "Attribute": "instanceType", "Value": "t3.large"}),
        ("ModifyInstanceAttribute", {"InstanceId": "i-1", "BlockDeviceMappings": [{"DeviceName": "/dev/sda1"}]}),
        ("RunInstances", {"ImageId": "ami-1", "NetworkInterfaces": [{"NetworkInterfaceId": "eni-1"}]}),
    ],
)
def test_parameters_that_no_row_accounts_for_are_not_understood(
    effects_of: Callable[..., Any], operation: str, parameters: dict[str, Any]
) -> None:
    assert effects_of("ec2", operation, parameters, {}) == ()


def test_user_data_is_masked(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "ec2", "ModifyInstanceAttribute", {"InstanceId": "i-1", "UserData": {"Value": {"$bytes": 3}}}, {}
    )
    assert (effect.attribute, effect.sensitive) == ("user_data_base64", True)
    assert effect.value == PER_RUN.mask("enp6")


def test_a_launch_template_version_changes_the_template(
    effects_of: Callable[..., Any], values: Callable[..., Any]
) -> None:
    data = {"InstanceType": "m6i.xlarge", "BlockDeviceMappings": [{"DeviceName": "a", "Ebs": {"VolumeSize": 30}}]}
    effects = effects_of(
        "ec2", "CreateLaunchTemplateVersion", {"LaunchTemplateName": "t", "LaunchTemplateData": data}, {}
    )
    assert values(effects) == {
        "instance_type": "m6i.xlarge",
        "block_device_mappings": [{"device_name": "a", "ebs": [{"volume_size": 30}]}],
    }


def test_several_instances_are_several_effects(effects_of: Callable[..., Any]) -> None:
    effects = effects_of(
        "ec2", "TerminateInstances", {"InstanceIds": ["i-1", "i-2"]}, {"aws_instance.i": {"id": "i-1"}}
    )
    assert [(effect.address, effect.action) for effect in effects] == [
        ("aws_instance.i", EffectAction.DELETE),
        ("aws_instance{id=i-2}", EffectAction.DELETE),
    ]


TEMPLATE = {"aws_launch_template.t": {
    "id": "lt-1", "name": "t", "latest_version": 4, "image_id": "ami-1", "instance_type": "m5.large", "user_data": "eA==",
    "vpc_security_group_ids": ["sg-1"], "description": "x", "tags": {"a": "b"}, "ebs_optimized": "",
}}  # fmt: skip


def _version(effects_of: Callable[..., Any], **more: Any) -> dict[str, Any]:
    given = {"LaunchTemplateId": "lt-1", "LaunchTemplateData": {"InstanceType": "m5.xlarge"}, **more}
    return {
        effect.attribute: effect.value for effect in effects_of("ec2", "CreateLaunchTemplateVersion", given, TEMPLATE)
    }


def test_a_version_removes_the_options_that_it_omits(effects_of: Callable[..., Any]) -> None:
    removed: dict[str, Any] = {"image_id": None, "user_data": None, "vpc_security_group_ids": []}
    assert _version(effects_of) == {"instance_type": "m5.xlarge", **removed}


@pytest.mark.parametrize("source", ["4", "$Latest"])
def test_a_version_that_starts_from_the_newest_keeps_the_rest(effects_of: Callable[..., Any], source: str) -> None:
    assert _version(effects_of, SourceVersion=source) == {"instance_type": "m5.xlarge"}


@pytest.mark.parametrize("source", ["1", "$Default", "04"])
def test_a_version_that_starts_from_an_older_one_is_not_understood(effects_of: Callable[..., Any], source: str) -> None:
    assert _version(effects_of, SourceVersion=source) == {}


def test_the_primary_interface_is_the_instances(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    web = {"aws_instance.web": {"id": "i-1", "primary_network_interface_id": "eni-1"}}
    given = {"NetworkInterfaceId": "eni-1", "Groups": ["sg-1"], "SourceDestCheck": {"Value": False}}
    found = effects_of("ec2", "ModifyNetworkInterfaceAttribute", given, web)
    assert {effect.address for effect in found} == {"aws_instance.web"}
    assert values(found) == {"vpc_security_group_ids": ["sg-1"], "source_dest_check": False}


def test_a_recorded_interface_is_itself(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    recorded = {
        "aws_instance.web": {"id": "i-1", "primary_network_interface_id": "eni-1"},
        "aws_network_interface.web": {"id": "eni-1"},
    }
    given = {"NetworkInterfaceId": "eni-1", "Groups": ["sg-1"], "Description": {"Value": "first"}}
    found = effects_of("ec2", "ModifyNetworkInterfaceAttribute", given, recorded)
    assert {effect.address for effect in found} == {"aws_network_interface.web"}
    assert values(found) == {"security_groups": ["sg-1"], "description": "first"}


@pytest.mark.parametrize(
    ("recorded", "more"),
    [
        ({}, {}),
        ({"aws_instance.web": {"id": "i-1", "primary_network_interface_id": "eni-1"}}, {"Description": {"Value": "x"}}),
        (
            {"aws_instance.web": {"id": "i-1", "primary_network_interface_id": "eni-1"}},
            {"Attachment": {"AttachmentId": "a"}},
        ),
        (
            {
                "aws_instance.web": {"id": "i-1", "primary_network_interface_id": "eni-1"},
                "aws_network_interface_sg_attachment.a": {"network_interface_id": "eni-1", "security_group_id": "sg-2"},
            },
            {},
        ),
    ],
)
def test_groups_of_an_interface_that_is_somebody_elses_are_not_understood(
    effects_of: Callable[..., Any], recorded: dict[str, Any], more: dict[str, Any]
) -> None:
    given = {"NetworkInterfaceId": "eni-1", "Groups": ["sg-1"], **more}
    assert effects_of("ec2", "ModifyNetworkInterfaceAttribute", given, recorded) == ()
