"""Clusters of EMR and their instance groups."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.mutation import CallClass, Effect
from gateway.effects.schema import read_schemas
from gateway.plans.call_match import CallMatch, by_effects
from tests.gateway.plans.test_row_match import change, session_call

CLUSTER, GROUP = "aws_emr_cluster", "aws_emr_instance_group"
RUN: dict[str, Any] = {
    "Name": "seed",
    "ReleaseLabel": "emr-6.15.0",
    "Applications": [{"Name": "Spark"}],
    "ServiceRole": "arn:aws:iam::123456789012:role/r",
    "JobFlowRole": "seed",
    "Instances": {
        "AdditionalMasterSecurityGroups": [""],
        "Ec2SubnetId": "subnet-1",
        "Ec2SubnetIds": [],
        "InstanceGroups": [
            {"InstanceRole": "MASTER", "InstanceType": "m5.xlarge", "InstanceCount": 1, "Market": "ON_DEMAND", "Name": "", "EbsConfiguration": {"EbsBlockDeviceConfigs": []}},
            {"InstanceRole": "CORE", "InstanceType": "m5.large", "InstanceCount": 2, "Market": "SPOT", "BidPrice": "0.1",
             "EbsConfiguration": {"EbsOptimized": None, "EbsBlockDeviceConfigs": [{"VolumeSpecification": {"SizeInGB": 9, "VolumeType": "gp3"}, "VolumesPerInstance": 1}]}},
        ],
        "KeepJobFlowAliveWhenNoSteps": True,
    },
    "BootstrapActions": [{"Name": "b", "ScriptBootstrapAction": {"Path": "s3://b/x.sh", "Args": ["one"]}}],
    "Steps": [{"Name": "s", "ActionOnFailure": "CONTINUE", "HadoopJarStep": {"Jar": "command-runner.jar", "Args": ["state-pusher-script"], "Properties": [{"Key": "k", "Value": "v"}]}}],
    "Tags": [{"Key": "team", "Value": "one"}],
    "VisibleToAllUsers": True,
}  # fmt: skip
PLANNED: dict[str, Any] = {
    "name": "seed",
    "release_label": "emr-6.15.0",
    "applications": ["Spark"],
    "service_role": "arn:aws:iam::123456789012:role/r",
    "ec2_attributes.instance_profile": "seed",
    "ec2_attributes.subnet_id": "subnet-1",
    "master_instance_group.instance_type": "m5.xlarge",
    "master_instance_group.instance_count": 1,
    "core_instance_group.instance_type": "m5.large",
    "core_instance_group.instance_count": 2,
    "core_instance_group.bid_price": "0.1",
    "core_instance_group.ebs_config": [{"size": 9, "type": "gp3", "volumes_per_instance": 1}],
    "bootstrap_action": [{"name": "b", "path": "s3://b/x.sh", "args": ["one"]}],
    "step": [
        {
            "name": "s",
            "action_on_failure": "CONTINUE",
            "hadoop_jar_step": [
                {"jar": "command-runner.jar", "args": ["state-pusher-script"], "properties": {"k": "v"}}
            ],
        }
    ],
    "tags.team": "one",
    "visible_to_all_users": True,
    "keep_job_flow_alive_when_no_steps": True,
}


def values(found: tuple[Effect, ...]) -> dict[str, Any]:
    return {effect.attribute: effect.value for effect in found if effect.attribute != "*"}


def test_a_cluster_is_created_with_all_that_the_call_gives(effects_of: Callable[..., Any]) -> None:
    found = values(effects_of("emr", "RunJobFlow", RUN, {}))
    assert {name: found[name] for name in PLANNED} == PLANNED
    assert set(found) - set(PLANNED) == {
        "core_instance_group.ebs_config",
        "ec2_attributes.additional_master_security_groups",
        "ec2_attributes.subnet_ids",
        "master_instance_group.ebs_config",
        "master_instance_group.name",
    } - set(PLANNED)


def test_the_fleets_of_a_cluster_are_blocks(effects_of: Callable[..., Any]) -> None:
    fleet = {
        "InstanceFleetType": "CORE", "Name": "f", "TargetSpotCapacity": 2,
        "InstanceTypeConfigs": [{"InstanceType": "m5.large", "WeightedCapacity": 1,
                                 "Configurations": [{"Classification": "c", "Properties": {"a": "b"}}]}],
        "LaunchSpecifications": {"SpotSpecification": {"AllocationStrategy": "lowest-price", "TimeoutAction": "TERMINATE_CLUSTER"}},
    }  # fmt: skip
    given = {"Name": "seed", "ReleaseLabel": "e", "Instances": {"InstanceFleets": [fleet]}}
    found = values(effects_of("emr", "RunJobFlow", given, {}))
    assert found["core_instance_fleet.target_spot_capacity"] == 2
    assert found["core_instance_fleet.instance_type_configs"] == [
        {
            "instance_type": "m5.large",
            "weighted_capacity": 1,
            "configurations": [{"classification": "c", "properties": {"a": "b"}}],
        }
    ]
    assert found["core_instance_fleet.launch_specifications"] == [
        {"spot_specification": [{"allocation_strategy": "lowest-price", "timeout_action": "TERMINATE_CLUSTER"}]}
    ]


GROUPS = RUN["Instances"]["InstanceGroups"]


@pytest.mark.parametrize(
    "instances",
    [
        {"InstanceGroups": [{**GROUPS[0], "InstanceRole": "TASK"}]},
        {"InstanceGroups": [GROUPS[0], GROUPS[0]]},
        {"InstanceGroups": [{**GROUPS[0], "Market": "SPOT"}]},
        {"InstanceGroups": [{**GROUPS[0], "CustomAmiId": "ami-1"}]},
        {"InstanceFleets": [{"InstanceFleetType": "TASK"}]},
        {"Placement": {"AvailabilityZone": "a"}},
        {"HadoopVersion": "1"},
    ],
)
def test_what_the_provider_has_no_attribute_for_is_not_understood(
    effects_of: Callable[..., Any], instances: dict[str, Any]
) -> None:
    assert effects_of("emr", "RunJobFlow", {"Name": "x", "Instances": instances}, {}) == ()


def session(effects_of: Callable[..., Any], given: dict[str, Any]) -> CallMatch:
    planned = change(kind=CLUSTER, values=PLANNED, free=frozenset({"ec2_attributes.subnet_ids"}))
    asked = session_call(changes=(planned,), **given)
    call = replace(asked.call, service="emr", operation="RunJobFlow")
    found = effects_of("emr", "RunJobFlow", given, {})
    assert found
    schemas = read_schemas({CLUSTER})
    return by_effects(replace(asked, call=call, call_class=CallClass.EXECUTE, effects=found, schemas=schemas))


def test_the_planned_cluster_passes_and_none_that_runs_something_else(effects_of: Callable[..., Any]) -> None:
    assert session(effects_of, RUN).uses

    def unlike(**other: Any) -> bool:
        return bool(session(effects_of, {**RUN, **other}).objection)

    jar = {**RUN["Steps"][0], "HadoopJarStep": {"Jar": "s3://evil/x.jar"}}
    assert unlike(Steps=[jar]), "another program"
    assert unlike(Steps=[*RUN["Steps"], jar]), "a program more"
    assert unlike(
        BootstrapActions=[{"Name": "b", "ScriptBootstrapAction": {"Path": "s3://evil/x.sh", "Args": ["one"]}}]
    )
    assert unlike(JobFlowRole="admin")
    assert unlike(Configurations=[{"Classification": "hadoop-env", "Properties": {"a": "b"}}])
    for group in ({**GROUPS[1], "InstanceCount": 200}, {**GROUPS[1], "InstanceType": "p4d.24xlarge"}):
        assert unlike(Instances={**RUN["Instances"], "InstanceGroups": [GROUPS[0], group]})
    assert unlike(Instances={**RUN["Instances"], "Ec2SubnetId": "subnet-2"})
    assert unlike(Instances={**RUN["Instances"], "EmrManagedMasterSecurityGroup": "sg-evil"})


STATE = {
    "aws_emr_cluster.c": {"id": "j-1", "termination_protection": True, "core_instance_group": [{"id": "ig-core", "instance_count": 1}]},
    "aws_emr_instance_group.g": {"id": "ig-task", "cluster_id": "j-1", "instance_count": 1},
}  # fmt: skip


@pytest.mark.parametrize(
    ("group", "address", "attribute"),
    [
        ("ig-task", "aws_emr_instance_group.g", "instance_count"),
        ("ig-core", "aws_emr_cluster.c", "core_instance_group.instance_count"),
        ("ig-x", "aws_emr_instance_group{id=ig-x}", "instance_count"),
    ],
)
def test_a_group_is_resized_where_it_is_declared(
    effects_of: Callable[..., Any], group: str, address: str, attribute: str
) -> None:
    given = {"InstanceGroups": [{"InstanceGroupId": group, "InstanceCount": 2}]}
    (effect,) = effects_of("emr", "ModifyInstanceGroups", given, STATE)
    assert (effect.address, effect.attribute, effect.value, effect.action) == (address, attribute, 2, "set")


@pytest.mark.parametrize(
    "more", [{"EC2InstanceIdsToTerminate": ["i-1"]}, {"Configurations": []}, {"ReconfigurationType": "OVERWRITE"}]
)
def test_what_does_more_than_resize_is_not_understood(effects_of: Callable[..., Any], more: dict[str, Any]) -> None:
    given = {"InstanceGroups": [{"InstanceGroupId": "ig-task", "InstanceCount": 2, **more}]}
    assert effects_of("emr", "ModifyInstanceGroups", given, STATE) == ()


def test_a_group_is_added_as_planned_and_not_to_another_cluster(effects_of: Callable[..., Any]) -> None:
    group = {
        "InstanceRole": "TASK",
        "InstanceType": "m5.xlarge",
        "InstanceCount": 1,
        "Market": "ON_DEMAND",
        "Name": "seed",
    }
    planned = change(kind=GROUP, values={"cluster_id": "j-1", "instance_type": "m5.xlarge", "instance_count": 1, "name": "seed"})  # fmt: skip

    def added(cluster: str = "j-1", **members: Any) -> CallMatch:
        given: dict[str, Any] = {"JobFlowId": cluster, "InstanceGroups": [{**group, **members}]}
        found = effects_of("emr", "AddInstanceGroups", given, STATE)
        assert found
        asked = session_call(changes=(planned,), **given)
        return by_effects(replace(asked, effects=found, schemas=read_schemas({GROUP})))

    assert added().uses
    assert added("j-2").objection
    assert added(InstanceCount=99).objection
    assert added(AutoScalingPolicy={"Constraints": {"MaxCapacity": 999}}).objection
    assert effects_of("emr", "AddInstanceGroups", {"JobFlowId": "j-1", "InstanceGroups": [group, group]}, STATE) == ()


def test_protection_and_deletion_name_each_cluster(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "emr", "SetTerminationProtection", {"JobFlowIds": ["j-1"], "TerminationProtected": False}, STATE
    )
    assert (effect.address, effect.attribute, effect.value) == ("aws_emr_cluster.c", "termination_protection", False)
    found = effects_of("emr", "TerminateJobFlows", {"JobFlowIds": ["j-1", "j-2"]}, STATE)
    assert [(each.address, each.action) for each in found] == [
        ("aws_emr_cluster.c", "delete"),
        ("aws_emr_cluster{id=j-2}", "delete"),
    ]
