"""What EC2's operations do: instances, volumes, launch templates, networks, tags. Security group rules are in `security_groups`."""

import base64
from collections.abc import Mapping
from dataclasses import replace

from gateway.effects.context import CallContext, Target
from gateway.effects.interpreter import effects_on
from gateway.effects.operation import Operation, Translate, controls
from gateway.effects.services import security_groups
from gateway.effects.tags import drop_tags, set_tags, specified_tags, tag_map
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction

_CREATE, _SET, _DELETE, _INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
_HOW = controls("ClientToken", "DryRun")
_INSTANCE, _VOLUME, _TEMPLATE = "aws_instance", "aws_ebs_volume", "aws_launch_template"
_VPC, _SUBNET, _ROUTE = "aws_vpc", "aws_subnet", "aws_route"
_TAGGED = {
    "eipalloc": "aws_eip", "eni": "aws_network_interface", "i": _INSTANCE, "igw": "aws_internet_gateway",
    "lt": _TEMPLATE, "nat": "aws_nat_gateway", "rtb": "aws_route_table", "sg": security_groups.GROUP,
    "subnet": _SUBNET, "vol": _VOLUME, "vpc": _VPC, "vpce": "aws_vpc_endpoint", "acl": "aws_network_acl",
}  # fmt: skip
"""Resource type by the prefix of its ids."""


def _tags(context: CallContext) -> tuple[Effect, ...]:
    """CreateTags and DeleteTags: what is tagged follows from the ids. DeleteTags without tags takes all, which is not understood."""
    context.allow_only("Resources", "Tags", "DryRun")
    ids, tags = context.call.parameters.get("Resources"), context.call.parameters.get("Tags")
    change: Translate = set_tags if context.call.operation == "CreateTags" else drop_tags
    if not isinstance(ids, (list, tuple)) or not tags:
        raise NotUnderstood("tags that are not named")
    effects: list[Effect] = []
    for resource in ids:
        target = _tagged(context, str(resource))
        effects += [target.put(attribute, value) for attribute, value in change(target, tags).items()]
    return tuple(effects)


def _tagged(context: CallContext, resource: str) -> Target:
    prefix = resource.rpartition("-")[0]
    if prefix == "sgr":
        return security_groups.rule_by_id(context, resource)
    if prefix not in _TAGGED:
        raise NotUnderstood(f"tags of a {prefix}")
    return context.target(_TAGGED[prefix], {"id": resource})


def _template_tags(_target: Target, value: object) -> Mapping[str, Json]:
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("tag specifications that are no list")
    return {
        "tag_specifications": [
            {"resource_type": str(entry["ResourceType"]), "tags": tag_map(entry.get("Tags") or [])} for entry in value
        ]
    }


def _user_data(_target: Target, value: object) -> Mapping[str, Json]:
    """User data as base64, which is what the provider has an attribute for."""
    content = value.get("Value") if isinstance(value, Mapping) else value
    if isinstance(content, (bytes, bytearray)):
        return {"user_data_base64": base64.b64encode(content).decode()}
    if not isinstance(content, str):
        raise NotUnderstood("user data that is no text")
    return {"user_data_base64": content}


def _interfaces(_target: Target, value: object) -> Mapping[str, Json]:
    """One new interface is how a subnet, groups and a public address are asked for together."""
    names = {"AssociatePublicIpAddress": "associate_public_ip_address", "Groups": "vpc_security_group_ids",
             "PrivateIpAddress": "private_ip", "SubnetId": "subnet_id"}  # fmt: skip
    if not isinstance(value, (list, tuple)) or len(value) != 1 or set(value[0]) - {*names, "DeviceIndex"}:
        raise NotUnderstood("network interfaces beyond a plain first one")
    return {names[key]: item for key, item in value[0].items() if key in names}


def _new_version(context: CallContext) -> tuple[Effect, ...]:
    """A version is whole: what the call leaves out is gone, or as in the version it starts from. Only of the newest does the state know
    what it says; starting from another could bring back anything.
    """
    target = _template(context)
    source = context.call.parameters.get("SourceVersion")
    if source is not None and str(source) not in ("$Latest", str(target.recorded.get("latest_version"))):
        raise NotUnderstood("a version that starts from one that the state does not know")
    effects = tuple(effects_on(_VERSION, context, target))
    if source is not None:
        return effects
    given = {effect.attribute.partition(".")[0] for effect in effects}
    gone = [
        name
        for name, value in target.recorded.items()
        if value and name not in given | _NOT_IN_VERSIONS and target.schema.knows(name)
    ]
    return (*effects, *(target.put(name, [] if isinstance(target.recorded[name], list) else None) for name in gone))


def _template(context: CallContext) -> Target:
    named = {
        key: str(context.call.parameters[name])
        for name, key in _TEMPLATE_ID.items()
        if context.call.parameters.get(name)
    }
    return context.target(_TEMPLATE, named)


def _plain(resource_type: str, parameter: str, kind: str, **attributes: str | Translate) -> dict[str, Operation]:
    """Creation and deletion of something that AWS names itself. The words of the operations come from the id's parameter."""
    word = parameter.removesuffix("Id")
    return {
        f"Create{word}": Operation(
            resource_type=resource_type,
            action=_CREATE,
            attributes={"TagSpecifications": specified_tags(kind), **attributes},
            controls=_HOW,
        ),
        f"Delete{word}": Operation(resource_type=resource_type, identity={parameter: "id"}, action=_DELETE),
    }


def _on_instances(action: EffectAction, **constants: Json) -> Operation:
    return Operation(
        resource_type=_INSTANCE,
        identity={"InstanceIds": "id"},
        action=action,
        constants=constants,
        controls=_HOW,
    )


_INSTANCE_OPTIONS: Mapping[str, str | Translate] = {
    "BlockDeviceMappings": "ebs_block_device",
    "HibernationOptions.Configured": "hibernation",
    "IamInstanceProfile.Name": "iam_instance_profile",
    "ImageId": "ami",
    "LaunchTemplate.LaunchTemplateId": "launch_template.id",
    "LaunchTemplate.LaunchTemplateName": "launch_template.name",
    "Monitoring.Enabled": "monitoring",
    "NetworkInterfaces": _interfaces,
    "Placement.GroupName": "placement_group",
    "PrivateIpAddress": "private_ip",
    "SecurityGroupIds": "vpc_security_group_ids",
    "TagSpecifications": specified_tags("instance", volume="volume_tags"),
    "UserData": _user_data,
}
_TEMPLATE_OPTIONS: Mapping[str, str | Translate] = {
    "LaunchTemplateData.SecurityGroupIds": "vpc_security_group_ids",
    "LaunchTemplateData.SecurityGroups": "security_group_names",
    "LaunchTemplateData.TagSpecifications": _template_tags,
    "TagSpecifications": specified_tags("launch-template"),
    "VersionDescription": "description",
}
_TEMPLATE_ID = {"LaunchTemplateId": "id", "LaunchTemplateName": "name"}
_VERSION = Operation(
    resource_type=_TEMPLATE,
    identity=_TEMPLATE_ID,
    attributes=_TEMPLATE_OPTIONS,
    controls=_HOW | controls("SourceVersion"),
)
_NOT_IN_VERSIONS = {
    "arn", "default_version", "description", "id", "latest_version", "name", "name_prefix", "tags", "tags_all",
    "update_default_version",
}  # fmt: skip
"""Attributes of the template itself."""
_BY_ROUTE = {
    "DestinationCidrBlock": "destination_cidr_block",
    "DestinationIpv6CidrBlock": "destination_ipv6_cidr_block",
    "RouteTableId": "route_table_id",
}
_METADATA_NAMES = {
    "HttpEndpoint": "http_endpoint", "HttpProtocolIpv6": "http_protocol_ipv6", "HttpTokens": "http_tokens",
    "HttpPutResponseHopLimit": "http_put_response_hop_limit", "InstanceMetadataTags": "instance_metadata_tags",
}  # fmt: skip

OPERATIONS: Mapping[str, Operation] = {
    **security_groups.OPERATIONS,
    "RunInstances": Operation(
        resource_type=_INSTANCE,
        action=_CREATE,
        attributes=_INSTANCE_OPTIONS,
        controls=_HOW | controls("MaxCount", "MinCount"),
    ),
    "StartInstances": _on_instances(_INVOKE),
    "StopInstances": _on_instances(_INVOKE),
    "RebootInstances": _on_instances(_INVOKE),
    "TerminateInstances": _on_instances(_DELETE),
    "MonitorInstances": _on_instances(_SET, monitoring=True),
    "UnmonitorInstances": _on_instances(_SET, monitoring=False),
    "ModifyInstanceAttribute": Operation(
        resource_type=_INSTANCE,
        identity={"InstanceId": "id"},
        attributes={"Groups": "vpc_security_group_ids", "UserData": _user_data},
        controls=_HOW,
    ),
    "ModifyInstanceMetadataOptions": Operation(
        resource_type=_INSTANCE,
        identity={"InstanceId": "id"},
        attributes={name: f"metadata_options.{attribute}" for name, attribute in _METADATA_NAMES.items()},
        controls=_HOW,
    ),
    "AssociateIamInstanceProfile": Operation(
        resource_type=_INSTANCE,
        identity={"InstanceId": "id"},
        attributes={"IamInstanceProfile.Name": "iam_instance_profile"},
    ),
    "CreateTags": Operation(
        resource_type=_INSTANCE,
        other_types=(*_TAGGED.values(), *security_groups.NEW_RULES.values()),
        handler=_tags,
    ),
    "DeleteTags": Operation(
        resource_type=_INSTANCE,
        other_types=(*_TAGGED.values(), *security_groups.NEW_RULES.values()),
        handler=_tags,
    ),
    "CreateLaunchTemplate": Operation(
        resource_type=_TEMPLATE,
        identity={"LaunchTemplateName": "name"},
        action=_CREATE,
        attributes=_TEMPLATE_OPTIONS,
        controls=_HOW,
    ),
    "CreateLaunchTemplateVersion": replace(_VERSION, handler=_new_version),
    "ModifyLaunchTemplate": Operation(resource_type=_TEMPLATE, identity=_TEMPLATE_ID, controls=_HOW),
    "DeleteLaunchTemplate": Operation(resource_type=_TEMPLATE, identity=_TEMPLATE_ID, action=_DELETE),
    **_plain(_VOLUME, "VolumeId", "volume", VolumeType="type"),
    "ModifyVolume": Operation(
        resource_type=_VOLUME, identity={"VolumeId": "id"}, attributes={"VolumeType": "type"}, controls=_HOW
    ),
    "AttachVolume": Operation(
        resource_type="aws_volume_attachment",
        identity={"VolumeId": "volume_id", "InstanceId": "instance_id", "Device": "device_name"},
        action=_CREATE,
        controls=_HOW,
    ),
    "DetachVolume": Operation(
        resource_type="aws_volume_attachment",
        identity={"VolumeId": "volume_id", "InstanceId": "instance_id", "Device": "device_name"},
        action=_DELETE,
    ),
    **_plain(_VPC, "VpcId", "vpc", AmazonProvidedIpv6CidrBlock="assign_generated_ipv6_cidr_block"),
    "ModifyVpcAttribute": Operation(resource_type=_VPC, identity={"VpcId": "id"}),
    **_plain(_SUBNET, "SubnetId", "subnet"),
    "ModifySubnetAttribute": Operation(resource_type=_SUBNET, identity={"SubnetId": "id"}),
    **_plain("aws_route_table", "RouteTableId", "route-table"),
    **_plain("aws_internet_gateway", "InternetGatewayId", "internet-gateway"),
    "AttachInternetGateway": Operation(
        resource_type="aws_internet_gateway",
        identity={"InternetGatewayId": "id"},
        attributes={"VpcId": "vpc_id"},
        controls=_HOW,
    ),
    "DetachInternetGateway": Operation(
        resource_type="aws_internet_gateway",
        identity={"InternetGatewayId": "id"},
        attributes={"VpcId": lambda _target, _vpc: {"vpc_id": None}},
        controls=_HOW,
    ),
    "AssociateRouteTable": Operation(
        resource_type="aws_route_table_association",
        identity={"RouteTableId": "route_table_id", "SubnetId": "subnet_id", "GatewayId": "gateway_id"},
        action=_CREATE,
        controls=_HOW,
    ),
    "DisassociateRouteTable": Operation(
        resource_type="aws_route_table_association", identity={"AssociationId": "id"}, action=_DELETE
    ),
    "CreateRoute": Operation(resource_type=_ROUTE, identity=_BY_ROUTE, action=_CREATE, controls=_HOW),
    "ReplaceRoute": Operation(resource_type=_ROUTE, identity=_BY_ROUTE, controls=_HOW),
    "DeleteRoute": Operation(resource_type=_ROUTE, identity=_BY_ROUTE, action=_DELETE),
}
