"""Images of instances, their descriptions, and who may launch them."""

from collections.abc import Callable
from typing import Any

import pytest

STATE = {
    "aws_instance.i": {"id": "i-1"},
    "aws_ami_from_instance.image": {"id": "ami-1", "name": "old"},
    "aws_ami_launch_permission.p": {"image_id": "ami-1", "account_id": "210987654321"},
}


def of(effects: Any) -> list[tuple[str, str, str, Any]]:
    return [(each.address, each.attribute, each.action.value, each.value) for each in effects]


def test_an_image_of_an_instance_restarts_the_instance_unless_the_call_says_not_to(
    effects_of: Callable[..., Any],
) -> None:
    tags = [{"ResourceType": "image", "Tags": [{"Key": "team", "Value": "one"}]}]
    given = {"InstanceId": "i-1", "Name": "from", "NoReboot": True, "TagSpecifications": tags, "Description": "d"}
    made = effects_of("ec2", "CreateImage", given, STATE)
    address = "aws_ami_from_instance{name=from}"
    assert of(made) == [
        (address, "*", "create", None),
        (address, "name", "create", "from"),
        (address, "source_instance_id", "create", "i-1"),
        (address, "snapshot_without_reboot", "create", True),
        (address, "tags.team", "create", "one"),
        (address, "description", "create", "d"),
    ]
    for reboots in ({"NoReboot": False}, {"NoReboot": None}):
        *_, last = effects_of("ec2", "CreateImage", {**given, **reboots}, STATE)
        assert (last.address, last.action.value, last.implied) == ("aws_instance.i", "invoke", True)


@pytest.mark.parametrize(
    "more", [{"BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "NoDevice": ""}]}, {"SnapshotLocation": "local"}]
)
def test_what_makes_another_image_is_not_understood(effects_of: Callable[..., Any], more: dict[str, Any]) -> None:
    given = {"InstanceId": "i-1", "Name": "from", "NoReboot": True, **more}
    assert effects_of("ec2", "CreateImage", given, STATE) == ()


def test_a_description_is_that_of_the_image_in_whatever_form_it_is_declared(effects_of: Callable[..., Any]) -> None:
    given = {"ImageId": "ami-1", "Attribute": "description", "Description": {"Value": "second"}}
    assert of(effects_of("ec2", "ModifyImageAttribute", given, STATE)) == [
        ("aws_ami_from_instance.image", "description", "set", "second")
    ]


def test_each_permission_is_a_resource(effects_of: Callable[..., Any]) -> None:
    changes = {"Add": [{"UserId": "111122223333"}, {"Group": "all"}], "Remove": [{"UserId": "210987654321"}]}
    given = {"ImageId": "ami-1", "Attribute": "launchPermission", "LaunchPermission": changes}
    found = of(effects_of("ec2", "ModifyImageAttribute", given, STATE))
    new, public = (
        "aws_ami_launch_permission{account_id=111122223333,image_id=ami-1}",
        "aws_ami_launch_permission{group=all,image_id=ami-1}",
    )
    assert found == [
        (new, "*", "create", None),
        (new, "image_id", "create", "ami-1"),
        (new, "account_id", "create", "111122223333"),
        (public, "*", "create", None),
        (public, "image_id", "create", "ami-1"),
        (public, "group", "create", "all"),
        ("aws_ami_launch_permission.p", "*", "delete", None),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"Attribute": "launchPermission", "Description": {"Value": "x"}},
        {"Description": {"Value": "x"}, "LaunchPermission": {"Add": [{"UserId": "1"}]}},
        {"LaunchPermission": {"Add": [{"UserId": "1", "Group": "all"}]}},
        {"LaunchPermission": {"Add": []}},
        {"LaunchPermission": {"Everybody": [{"UserId": "1"}]}},
        {"Attribute": "launchPermission", "OperationType": "add", "UserIds": ["1"]},
        {"Attribute": "bootMode"},
        {"ImdsSupport": {"Value": "v2.0"}},
    ],
)
def test_every_other_change_of_an_image_is_not_understood(
    effects_of: Callable[..., Any], given: dict[str, Any]
) -> None:
    assert effects_of("ec2", "ModifyImageAttribute", {"ImageId": "ami-1", **given}, STATE) == ()


@pytest.mark.parametrize(
    ("recorded", "ends", "understood"),
    [
        ({}, False, True),
        ({}, True, False),
        ({"terminate_instances_with_expiration": True}, True, True),
        ({"terminate_instances_on_delete": "true"}, True, True),
        ({"terminate_instances_on_delete": "false", "terminate_instances_with_expiration": True}, True, False),
    ],
)
def test_a_spot_fleet_ends_with_its_instances_only_if_the_code_says_so(
    effects_of: Callable[..., Any],
    recorded: dict[str, Any],
    ends: bool,
    understood: bool,
) -> None:
    state = {"aws_spot_fleet_request.f": {"id": "sfr-1", **recorded}}
    given = {"SpotFleetRequestIds": ["sfr-1"], "TerminateInstances": ends}
    found = effects_of("ec2", "CancelSpotFleetRequests", given, state)
    assert [(each.address, each.action.value) for each in found] == (
        [("aws_spot_fleet_request.f", "delete")] if understood else []
    )


@pytest.mark.parametrize(
    ("operation", "enabled"), [("EnableEbsEncryptionByDefault", True), ("DisableEbsEncryptionByDefault", False)]
)
def test_the_encryption_of_new_volumes_is_one_switch(
    effects_of: Callable[..., Any],
    operation: str,
    enabled: bool,
) -> None:
    state = {"aws_ebs_encryption_by_default.e": {"id": "x", "enabled": not enabled}}
    (effect,) = effects_of("ec2", operation, {}, state)
    assert (effect.address, effect.attribute, effect.value) == ("aws_ebs_encryption_by_default.e", "enabled", enabled)
    made = effects_of("ec2", operation, {}, {})
    assert [(each.attribute, each.value) for each in made] == [("*", None), ("enabled", enabled)]
