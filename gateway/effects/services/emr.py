"""The operations of EMR on clusters and their instance groups: a cluster runs code, so each parameter has to be known."""

import json
from collections.abc import Callable, Mapping
from functools import partial

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.limits import refuse_long_list
from gateway.effects.operation import CREATE, DELETE, SET, Operation, Translate
from gateway.effects.tags import set_tags, tag_map
from gateway.effects.translators import as_json_text
from gateway.effects.values import NotUnderstood

_CLUSTER, _GROUP = "aws_emr_cluster", "aws_emr_instance_group"
_GROUP_NAMES = {
    "BidPrice": "bid_price",
    "InstanceCount": "instance_count",
    "InstanceType": "instance_type",
    "Name": "name",
}
_FLEET_NAMES = {
    "Name": "name",
    "TargetOnDemandCapacity": "target_on_demand_capacity",
    "TargetSpotCapacity": "target_spot_capacity",
}
_TYPE_NAMES = {
    "BidPrice": "bid_price", "BidPriceAsPercentageOfOnDemandPrice": "bid_price_as_percentage_of_on_demand_price",
    "InstanceType": "instance_type", "WeightedCapacity": "weighted_capacity",
}  # fmt: skip
_VOLUME_NAMES = {"Iops": "iops", "SizeInGB": "size", "Throughput": "throughput", "VolumeType": "type"}
_ON_DEMAND_NAMES = {"AllocationStrategy": "allocation_strategy"}
_SPOT_NAMES = {
    **_ON_DEMAND_NAMES, "BlockDurationMinutes": "block_duration_minutes", "TimeoutAction": "timeout_action",
    "TimeoutDurationMinutes": "timeout_duration_minutes",
}  # fmt: skip
_PARTS = {"MASTER": "master", "CORE": "core"}
"""Role of a group or fleet → how the blocks of a cluster begin that have it."""
_as_text: Callable[[Json], str] = partial(json.dumps, separators=(",", ":"))
_Inside = Mapping[str, Callable[[object], Mapping[str, Json]]]
"""Member → what makes the provider's members of the structure in it."""


def _block(value: object, names: Mapping[str, str], inside: _Inside) -> dict[str, Json]:
    """The members of a structure by the provider's names. Raises `NotUnderstood` for a member that has none."""
    if not isinstance(value, Mapping):
        raise NotUnderstood("a value where a structure is expected")
    found: dict[str, Json] = {}
    for name, item in value.items():
        if item is None:
            continue
        if name in names:
            found[names[name]] = to_json(item)
        elif name in inside:
            found |= inside[name](item)
        else:
            raise NotUnderstood(f"member {name}")
    return found


def _blocks(value: object, make: Callable[[object], dict[str, Json]]) -> list[Json]:
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("a value where a list is expected")
    refuse_long_list(value)
    return [make(item) for item in value]


def _volumes(value: object) -> dict[str, Json]:
    """`EbsConfiguration` → the blocks `ebs_config`, and the switch beside them."""

    def volume(item: object) -> dict[str, Json]:
        return _block(
            item,
            {"VolumesPerInstance": "volumes_per_instance"},
            {"VolumeSpecification": lambda one: _block(one, _VOLUME_NAMES, {})},
        )

    inside: _Inside = {"EbsBlockDeviceConfigs": lambda items: {"ebs_config": _blocks(items, volume)}}
    return _block(value, {"EbsOptimized": "ebs_optimized"}, inside)


def _group(value: object, *roles: str) -> tuple[str, dict[str, Json]]:
    """Role and attributes of one instance group. Raises `NotUnderstood` for another role, and for a market that contradicts the price."""
    given = dict(value) if isinstance(value, Mapping) else {}
    role, market = given.pop("InstanceRole", None), given.pop("Market", None)
    if role not in roles:
        raise NotUnderstood(f"an instance group with the role {role}")
    if market not in (None, "SPOT" if given.get("BidPrice") else "ON_DEMAND"):
        raise NotUnderstood(f"the market {market} {'beside' if given.get('BidPrice') else 'without'} a bid price")
    inside: _Inside = {
        "AutoScalingPolicy": lambda policy: {"autoscaling_policy": _as_text(to_json(policy))},
        "Configurations": lambda entries: {"configurations_json": _as_text(to_json(entries))},
        "EbsConfiguration": _volumes,
    }
    return str(role), _block(given, _GROUP_NAMES, inside)


def _groups(_target: Target, value: object) -> Mapping[str, Json]:
    """The groups of a new cluster: one block for each role."""
    return _by_role(value, "instance_group", lambda item: _group(item, *_PARTS))


def _fleets(_target: Target, value: object) -> Mapping[str, Json]:
    return _by_role(value, "instance_fleet", _fleet)


def _by_role(value: object, kind: str, read: Callable[[object], tuple[str, dict[str, Json]]]) -> Mapping[str, Json]:
    found: dict[str, Json] = {}
    for item in value if isinstance(value, (list, tuple)) else ():
        role, members = read(item)
        block = f"{_PARTS[role]}_{kind}"
        if any(name.startswith(f"{block}.") for name in found):
            raise NotUnderstood(f"two groups with the role {role}")
        found |= {f"{block}.{name}": each for name, each in members.items()}
    return found


def _fleet(value: object) -> tuple[str, dict[str, Json]]:
    given = dict(value) if isinstance(value, Mapping) else {}
    role = given.pop("InstanceFleetType", None)
    if role not in _PARTS:
        raise NotUnderstood(f"an instance fleet of the type {role}")

    def configuration(item: object) -> dict[str, Json]:
        return _block(item, {"Classification": "classification", "Properties": "properties"}, {})

    def of_type(item: object) -> dict[str, Json]:
        inside: _Inside = {
            "Configurations": lambda each: {"configurations": _blocks(each, configuration)},
            "EbsConfiguration": _volumes,
        }
        return _block(item, _TYPE_NAMES, inside)

    def launch(item: object) -> dict[str, Json]:
        return _block(
            item,
            {},
            {
                "OnDemandSpecification": lambda one: {"on_demand_specification": [_block(one, _ON_DEMAND_NAMES, {})]},
                "SpotSpecification": lambda one: {"spot_specification": [_block(one, _SPOT_NAMES, {})]},
            },
        )

    inside: _Inside = {
        "InstanceTypeConfigs": lambda items: {"instance_type_configs": _blocks(items, of_type)},
        "LaunchSpecifications": lambda one: {"launch_specifications": [launch(one)]},
    }
    return str(role), _block(given, _FLEET_NAMES, inside)


def _applications(_target: Target, value: object) -> Mapping[str, Json]:
    """Names only: the provider has no version beside them."""
    names = _blocks(value, lambda item: _block(item, {"Name": "name"}, {}))
    return {"applications": [each["name"] for each in names if isinstance(each, Mapping) and "name" in each]}


def _scripts(_target: Target, value: object) -> Mapping[str, Json]:
    names = {"Args": "args", "Path": "path"}
    inside: _Inside = {"ScriptBootstrapAction": lambda item: _block(item, names, {})}
    return {"bootstrap_action": _blocks(value, lambda item: _block(item, {"Name": "name"}, inside))}


def _steps(_target: Target, value: object) -> Mapping[str, Json]:
    def jar(item: object) -> Mapping[str, Json]:
        inside: _Inside = {"Properties": lambda pairs: {"properties": dict(tag_map(pairs))}}
        names = {"Args": "args", "Jar": "jar", "MainClass": "main_class"}
        return {"hadoop_jar_step": [_block(item, names, inside)]}

    names = {"ActionOnFailure": "action_on_failure", "Name": "name"}
    return {"step": _blocks(value, lambda item: _block(item, names, {"HadoopJarStep": jar}))}


def _comma_text(attribute: str) -> Translate:
    """A list → text with commas, as the provider has it. Of nothing Terraform sends one empty item."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        if not isinstance(value, (list, tuple)):
            raise NotUnderstood("a value where a list is expected")
        return {attribute: ",".join(map(str, value))}

    return translate


_ATTRIBUTES: Mapping[str, str | Translate] = {
    "AdditionalMasterSecurityGroups": _comma_text("ec2_attributes.additional_master_security_groups"),
    "AdditionalSlaveSecurityGroups": _comma_text("ec2_attributes.additional_slave_security_groups"),
    "Ec2KeyName": "ec2_attributes.key_name",
    "Ec2SubnetId": "ec2_attributes.subnet_id",
    "Ec2SubnetIds": "ec2_attributes.subnet_ids",
    "EmrManagedMasterSecurityGroup": "ec2_attributes.emr_managed_master_security_group",
    "EmrManagedSlaveSecurityGroup": "ec2_attributes.emr_managed_slave_security_group",
    "InstanceFleets": _fleets,
    "InstanceGroups": _groups,
    "KeepJobFlowAliveWhenNoSteps": "keep_job_flow_alive_when_no_steps",
    "ServiceAccessSecurityGroup": "ec2_attributes.service_access_security_group",
    "TerminationProtected": "termination_protection",
    "UnhealthyNodeReplacement": "unhealthy_node_replacement",
}  # fmt: skip
"""Members of `Instances` → attributes of the cluster."""


def _add_group(context: CallContext) -> tuple[Effect, ...]:
    """AddInstanceGroups with one group, as Terraform makes it."""
    context.allow_only("InstanceGroups", "JobFlowId")
    groups = context.call.parameters.get("InstanceGroups")
    if not isinstance(groups, (list, tuple)) or len(groups) != 1:
        raise NotUnderstood("not one instance group")
    _, members = _group(groups[0], "TASK")
    target = context.unnamed(_GROUP)
    values = {"cluster_id": context.text("JobFlowId"), **members}
    return (target.whole(CREATE), *target.put_all(values, action=CREATE))


def _resize(context: CallContext) -> tuple[Effect, ...]:
    """ModifyInstanceGroups: how many instances a group has, which is a resource of its own or a block of its cluster.

    Other members (configurations, which instances to end) do more than Terraform's number says.
    """
    context.allow_only("ClusterId", "InstanceGroups")
    groups = context.call.parameters.get("InstanceGroups")
    if not isinstance(groups, (list, tuple)) or not groups:
        raise NotUnderstood("no instance groups")
    refuse_long_list(groups)
    effects: list[Effect] = []
    for each in groups:
        given = _block(each, {"InstanceGroupId": "id", "InstanceCount": "count"}, {})
        if "id" not in given or "count" not in given:
            raise NotUnderstood("an instance group without its id or its number of instances")
        effects.append(_resized(context, str(given["id"]), given["count"]))
    return tuple(effects)


def _resized(context: CallContext, group: str, count: Json) -> Effect:
    own = context.target(_GROUP, {"id": group})
    if own.declared:
        return own.put("instance_count", count, action=SET)
    for block in ("core_instance_group", "master_instance_group"):
        found = context.inventory.find(_CLUSTER, f"{block}.id", group)
        if found:
            target = context.target_among(_CLUSTER, {"id": group}, found)
            return target.put(f"{block}.instance_count", count, action=SET)
    return own.put("instance_count", count, action=SET)


_on_cluster = partial(Operation, resource_type=_CLUSTER)

OPERATIONS: Mapping[str, Operation] = {
    "RunJobFlow": _on_cluster(
        action=CREATE,
        attributes={
            **{f"Instances.{name}": each for name, each in _ATTRIBUTES.items()},
            "Applications": _applications,
            "BootstrapActions": _scripts,
            "Configurations": as_json_text("configurations_json", _as_text),
            "JobFlowRole": "ec2_attributes.instance_profile",
            "Steps": _steps,
            "Tags": set_tags,
        },
    ),
    "AddInstanceGroups": Operation(resource_type=_GROUP, handler=_add_group, action=CREATE),
    "ModifyInstanceGroups": Operation(resource_type=_GROUP, handler=_resize, other_types=(_CLUSTER,)),
    "SetTerminationProtection": _on_cluster(
        identity={"JobFlowIds": "id"}, attributes={"TerminationProtected": "termination_protection"}
    ),
    "SetVisibleToAllUsers": _on_cluster(
        identity={"JobFlowIds": "id"}, attributes={"VisibleToAllUsers": "visible_to_all_users"}
    ),
    "TerminateJobFlows": _on_cluster(identity={"JobFlowIds": "id"}, action=DELETE),
}
"""Operation name → row."""
