"""The operations of EC2 on instances, volumes, launch templates, networks and tags. Those on security groups and network ACLs have files of their own."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import AttributePath
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import effects_on, interpret
from gateway.effects.operation import (
    CREATE,
    DELETE,
    INVOKE,
    SET,
    Argument,
    Operation,
    Translate,
    any_value,
    as_recorded,
    controls,
)
from gateway.effects.services import images, network_acls, security_groups
from gateway.effects.tags import drop_tags, set_tags, specified_tags, tag_map
from gateway.effects.values import NotUnderstood

_REQUEST_CONTROLS = controls("ClientToken", "DryRun")
_on_gateway = partial(
    Operation, resource_type="aws_internet_gateway", identity={"InternetGatewayId": "id"}, controls=_REQUEST_CONTROLS
)
_on_vpn_gateway = partial(
    Operation, resource_type="aws_vpn_gateway", identity={"VpnGatewayId": "id"}, controls=_REQUEST_CONTROLS
)
_TAG, _STATE = "aws_ec2_tag", "aws_ec2_instance_state"
_FLEET, _BY_DEFAULT = "aws_spot_fleet_request", "aws_ebs_encryption_by_default"
_INSTANCE, _VOLUME, _TEMPLATE = "aws_instance", "aws_ebs_volume", "aws_launch_template"
_on_instance = partial(Operation, resource_type=_INSTANCE, identity={"InstanceId": "id"})
_VPC, _SUBNET, _ROUTE = "aws_vpc", "aws_subnet", "aws_route"
_TYPE_BY_PREFIX = {
    "eipalloc": "aws_eip", "eni": "aws_network_interface", "i": _INSTANCE, "igw": "aws_internet_gateway",
    "lt": _TEMPLATE, "nat": "aws_nat_gateway", "rtb": "aws_route_table", "sg": security_groups.GROUP,
    "subnet": _SUBNET, "vol": _VOLUME, "vpc": _VPC, "vpce": "aws_vpc_endpoint", "acl": "aws_network_acl",
}  # fmt: skip
"""Prefix of the id → resource type."""


def _tags(context: CallContext) -> tuple[Effect, ...]:
    """CreateTags and DeleteTags; the ids say which resources. DeleteTags without tags removes all tags and is not understood."""
    context.allow_only("Resources", "Tags", "DryRun")
    ids, tags = context.call.parameters.get("Resources"), context.call.parameters.get("Tags")
    change: Translate = set_tags if context.call.operation == "CreateTags" else drop_tags
    if not isinstance(ids, (list, tuple)) or not isinstance(tags, (list, tuple)) or not tags:
        raise NotUnderstood("no list of resources, or no tags")
    effects: list[Effect] = []
    for resource in ids:
        own = {key: target for key in _keys(tags) if (target := _separate_tag(context, str(resource), key))}
        others = [tag for tag in tags if str(tag.get("Key")) not in own]
        effects += (effect for key, target in own.items() for effect in _on_tag(target, tag_map(tags)[key], change))
        if others:
            target = _target_by_id(context, str(resource))
            effects += target.put_all(change(target, others))
    return tuple(effects)


def _keys(tags: object) -> tuple[str, ...]:
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, Mapping) for tag in tags):
        raise NotUnderstood("tags that are not a list")
    return tuple(str(tag.get("Key")) for tag in tags)


def _separate_tag(context: CallContext, resource: str, key: str) -> Target | None:
    """The resource that declares one tag of the resource with this id, if there is one."""
    target = context.target(_TAG, {"resource_id": resource, "key": key})
    return target if target.declared else None


def _on_tag(target: Target, value: str, change: Translate) -> tuple[Effect, ...]:
    if change is drop_tags:
        return (target.whole(DELETE),)
    if target.recorded:
        return (target.put("value", value),)
    effects = (target.whole(CREATE), target.put("value", value, action=CREATE))
    return tuple(replace(effect, upserted=True) for effect in effects)


def _target_by_id(context: CallContext, resource: str) -> Target:
    prefix = resource.rpartition("-")[0]
    if prefix == "sgr":
        return security_groups.rule_by_id(context, resource)
    if prefix not in _TYPE_BY_PREFIX:
        raise NotUnderstood(f"tags of a {prefix}")
    return context.target(_TYPE_BY_PREFIX[prefix], {"id": resource})


def _switched(state: str) -> Operation:
    """A row that starts or stops instances. Where code declares the state of one, the call sets that, and only implies the rest."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        effects: list[Effect] = []
        for effect in interpret(_on_instances(INVOKE, "Force", "Hibernate", "SkipOsShutdown"), context):
            own = context.target(_STATE, {"instance_id": effect.identity["id"]})
            if own.recorded:
                effects.append(own.put("state", state))
            effects.append(replace(effect, implied=bool(own.recorded)))
        return tuple(effects)

    return Operation(resource_type=_INSTANCE, other_types=(_STATE,), handler=handler)


def _ends_instances(_context: CallContext, target: Target, value: object) -> Json:
    """Whether the instances of a spot fleet end with it: only where the code says so, as the provider reads it."""
    on_delete = target.recorded.get("terminate_instances_on_delete")
    ends = on_delete == "true" if on_delete else target.recorded.get("terminate_instances_with_expiration") is True
    if value not in (False, ends):
        raise NotUnderstood("an end of the instances that the declared fleet does not ask for")
    return to_json(value)


def _encryption(*, enabled: bool) -> Operation:
    """A row that switches the encryption of new volumes: one resource in an account and region, which no parameter names."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("DryRun")
        found = [each for text in ("true", "false") for each in context.inventory.find(_BY_DEFAULT, "enabled", text)]
        target = context.target_among(_BY_DEFAULT, {"region": context.call.region}, tuple(found))
        if target.recorded:
            return (target.put("enabled", enabled),)
        return (target.whole(CREATE), target.put("enabled", enabled, action=CREATE))

    return Operation(resource_type=_BY_DEFAULT, handler=handler)


def _template_tags(_target: Target, value: object) -> Mapping[str, Json]:
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("tag specifications that are not a list")
    return {
        "tag_specifications": [
            {"resource_type": str(entry["ResourceType"]), "tags": tag_map(entry.get("Tags") or [])} for entry in value
        ]
    }


def _no_vpc(_target: Target, _value: object) -> Mapping[str, Json]:
    return {"vpc_id": None}


def _user_data(_target: Target, value: object) -> Mapping[str, Json]:
    """User data in base64: the provider has an attribute for that form."""
    content = value.get("Value") if isinstance(value, Mapping) else value
    if isinstance(content, (bytes, bytearray)):
        return {"user_data_base64": base64.b64encode(content).decode()}
    if not isinstance(content, str):
        raise NotUnderstood("user data that is not text")
    return {"user_data_base64": content}


def _interfaces(_target: Target, value: object) -> Mapping[str, Json]:
    """The attributes of the first network interface. To request a public address, a call must list the interface with its subnet and groups."""
    names = {"AssociatePublicIpAddress": "associate_public_ip_address", "Groups": "vpc_security_group_ids",
             "PrivateIpAddress": "private_ip", "SubnetId": "subnet_id"}  # fmt: skip
    if not isinstance(value, (list, tuple)) or len(value) != 1 or set(value[0]) - {*names, "DeviceIndex"}:
        raise NotUnderstood("network interfaces other than one new interface")
    return {names[key]: item for key, item in value[0].items() if key in names}


_INTERFACE = "aws_network_interface"
_ATTACHMENT = "aws_network_interface_sg_attachment"


def _interface_attribute(context: CallContext) -> tuple[Effect, ...]:
    """ModifyNetworkInterfaceAttribute. What AWS keeps of an instance's primary interface, code declares with the instance.

    Of an interface that no state records nobody knows whose it is, and groups that attachments add are not the interface's own.
    """
    context.allow_only("NetworkInterfaceId", "Groups", "SourceDestCheck", "Description", "DryRun")
    name, given = context.text("NetworkInterfaceId"), context.call.parameters
    if context.inventory.find(_ATTACHMENT, "network_interface_id", name):
        raise NotUnderstood("an interface whose groups are declared as attachments")
    own = context.target(_INTERFACE, {"id": name})
    values = {
        "security_groups": given.get("Groups"),
        "source_dest_check": _plain(given.get("SourceDestCheck")),
        "description": _plain(given.get("Description")),
    }
    if own.recorded:
        return own.put_all({key: to_json(value) for key, value in values.items() if value is not None})
    owner = context.target_among(_INSTANCE, {_PRIMARY: name}, context.inventory.find(_INSTANCE, _PRIMARY, name))
    if not owner.recorded or values["description"] is not None:
        raise NotUnderstood("a network interface that no state records")
    values["vpc_security_group_ids"] = values.pop("security_groups")
    return owner.put_all({key: to_json(value) for key, value in values.items() if value is not None})


_PRIMARY = "primary_network_interface_id"
"""The attribute of an instance that names the interface which AWS makes and ends with it."""


def _plain(value: object) -> object:
    """The value of a structure that has nothing else."""
    return value.get("Value") if isinstance(value, Mapping) else value


def _new_version(context: CallContext) -> tuple[Effect, ...]:
    """CreateLaunchTemplateVersion. An option that the call omits is removed, or is as in the source version.

    The state records the options of the latest version only, so a call with another source version is not understood.
    """
    target = _template(context)
    source = context.call.parameters.get("SourceVersion")
    if source is not None and str(source) not in ("$Latest", str(target.recorded.get("latest_version"))):
        raise NotUnderstood("a source version that the state does not record")
    effects = tuple(effects_on(_VERSION, context, target))
    if source is not None:
        return effects
    effects = tuple(replace(effect, obliged=True) for effect in effects)
    given = {AttributePath(effect.attribute).top for effect in effects}
    removed: dict[str, Json] = {
        name: [] if isinstance(value, list) else None
        for name, value in target.recorded.items()
        if value and name not in given | _NOT_IN_VERSIONS and target.schema.knows(name)
    }
    return (*effects, *target.put_all(removed))


def _template(context: CallContext) -> Target:
    identity = {
        key: str(context.call.parameters[name])
        for name, key in _TEMPLATE_ID.items()
        if context.call.parameters.get(name)
    }
    if len(identity) > 1:
        raise NotUnderstood("a launch template by both id and name")
    return context.target(_TEMPLATE, identity)


def _create_and_delete(
    resource_type: str, parameter: str, kind: str, **attributes: str | Translate
) -> dict[str, Operation]:
    """The rows that create and delete a resource whose id AWS chooses: `VpcId` gives `CreateVpc` and `DeleteVpc`."""
    noun = parameter.removesuffix("Id")
    return {
        f"Create{noun}": Operation(
            resource_type=resource_type,
            action=CREATE,
            attributes={"TagSpecifications": specified_tags(kind), **attributes},
            controls=_REQUEST_CONTROLS,
        ),
        f"Delete{noun}": Operation(
            resource_type=resource_type, identity={parameter: "id"}, action=DELETE, controls=_REQUEST_CONTROLS
        ),
    }


def _on_instances(action: EffectAction, *arguments: str, **constants: Json) -> Operation:
    return Operation(
        resource_type=_INSTANCE,
        identity={"InstanceIds": "id"},
        action=action,
        arguments=dict.fromkeys(arguments, any_value),
        constants=constants,
        controls=_REQUEST_CONTROLS,
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
_ONE_TEMPLATE = frozenset(_TEMPLATE_ID)
_on_template = partial(Operation, resource_type=_TEMPLATE, identity=_TEMPLATE_ID, one_of=_ONE_TEMPLATE)
_VERSION = _on_template(attributes=_TEMPLATE_OPTIONS, controls=_REQUEST_CONTROLS | controls("SourceVersion"))
_NOT_IN_VERSIONS = {
    "arn", "default_version", "description", "id", "latest_version", "name", "name_prefix", "tags", "tags_all",
    "update_default_version",
}  # fmt: skip
"""Attributes of the launch template, not of its versions."""
_BY_ROUTE = {
    "DestinationCidrBlock": "destination_cidr_block",
    "DestinationIpv6CidrBlock": "destination_ipv6_cidr_block",
    "DestinationPrefixListId": "destination_prefix_list_id",
    "RouteTableId": "route_table_id",
}
_on_route = partial(Operation, resource_type=_ROUTE, identity=_BY_ROUTE, controls=_REQUEST_CONTROLS)
_ROUTE_TARGETS = (
    "carrier_gateway_id", "core_network_arn", "egress_only_gateway_id", "gateway_id", "local_gateway_id",
    "nat_gateway_id", "network_interface_id", "transit_gateway_id", "vpc_endpoint_id", "vpc_peering_connection_id",
)  # fmt: skip
"""A route has one of them, and the one that a call gives takes the place of the one before."""
_METADATA_NAMES = {
    "HttpEndpoint": "http_endpoint", "HttpProtocolIpv6": "http_protocol_ipv6", "HttpTokens": "http_tokens",
    "HttpPutResponseHopLimit": "http_put_response_hop_limit", "InstanceMetadataTags": "instance_metadata_tags",
}  # fmt: skip
_TAGGING = Operation(
    resource_type=_INSTANCE,
    other_types=(_TAG, *_TYPE_BY_PREFIX.values(), *security_groups.RULE_BY_DIRECTION.values()),
    handler=_tags,
)
_FORCED: Mapping[str, Argument] = {"Force": as_recorded("force_detach")}
_ATTACHMENT_ID = {"VolumeId": "volume_id", "InstanceId": "instance_id", "Device": "device_name"}
_on_attachment = partial(
    Operation, resource_type="aws_volume_attachment", identity=_ATTACHMENT_ID, controls=_REQUEST_CONTROLS
)

OPERATIONS: Mapping[str, Operation] = {
    **security_groups.OPERATIONS,
    **network_acls.OPERATIONS,
    **images.OPERATIONS,
    "RunInstances": Operation(
        resource_type=_INSTANCE,
        action=CREATE,
        attributes=_INSTANCE_OPTIONS,
        controls=_REQUEST_CONTROLS | controls("MaxCount", "MinCount"),
    ),
    "CancelSpotFleetRequests": Operation(
        resource_type=_FLEET,
        identity={"SpotFleetRequestIds": "id"},
        action=DELETE,
        arguments={"TerminateInstances": _ends_instances},
        controls=_REQUEST_CONTROLS,
    ),
    "DisableEbsEncryptionByDefault": _encryption(enabled=False),
    "EnableEbsEncryptionByDefault": _encryption(enabled=True),
    "StartInstances": _switched("running"),
    "StopInstances": _switched("stopped"),
    "RebootInstances": _on_instances(INVOKE),
    "TerminateInstances": _on_instances(DELETE, "Force", "SkipOsShutdown"),
    "MonitorInstances": _on_instances(SET, monitoring=True),
    "UnmonitorInstances": _on_instances(SET, monitoring=False),
    "ModifyInstanceAttribute": _on_instance(
        attributes={"Groups": "vpc_security_group_ids", "UserData": _user_data}, controls=_REQUEST_CONTROLS
    ),
    "ModifyNetworkInterfaceAttribute": Operation(
        resource_type=_INTERFACE, handler=_interface_attribute, other_types=(_INSTANCE, _ATTACHMENT)
    ),
    "ModifyInstanceMetadataOptions": _on_instance(
        attributes={name: f"metadata_options.{attribute}" for name, attribute in _METADATA_NAMES.items()},
        controls=_REQUEST_CONTROLS,
    ),
    "AssociateIamInstanceProfile": _on_instance(attributes={"IamInstanceProfile.Name": "iam_instance_profile"}),
    "CreateTags": _TAGGING,
    "DeleteTags": _TAGGING,
    "CreateLaunchTemplate": Operation(
        resource_type=_TEMPLATE,
        identity={"LaunchTemplateName": "name"},
        action=CREATE,
        attributes=_TEMPLATE_OPTIONS,
        controls=_REQUEST_CONTROLS,
    ),
    "CreateLaunchTemplateVersion": replace(_VERSION, handler=_new_version),
    "ModifyLaunchTemplate": _on_template(controls=_REQUEST_CONTROLS),
    "DeleteLaunchTemplate": _on_template(action=DELETE, controls=_REQUEST_CONTROLS),
    **_create_and_delete(_VOLUME, "VolumeId", "volume", VolumeType="type"),
    "ModifyVolume": Operation(
        resource_type=_VOLUME,
        identity={"VolumeId": "id"},
        attributes={"VolumeType": "type"},
        controls=_REQUEST_CONTROLS,
    ),
    "AttachVolume": _on_attachment(action=CREATE),
    "DetachVolume": _on_attachment(action=DELETE, arguments=_FORCED),
    **_create_and_delete(_VPC, "VpcId", "vpc", AmazonProvidedIpv6CidrBlock="assign_generated_ipv6_cidr_block"),
    "ModifyVpcAttribute": Operation(resource_type=_VPC, identity={"VpcId": "id"}),
    **_create_and_delete(_SUBNET, "SubnetId", "subnet"),
    "ModifySubnetAttribute": Operation(resource_type=_SUBNET, identity={"SubnetId": "id"}),
    **_create_and_delete("aws_route_table", "RouteTableId", "route-table"),
    **_create_and_delete("aws_internet_gateway", "InternetGatewayId", "internet-gateway"),
    "AttachInternetGateway": _on_gateway(attributes={"VpcId": "vpc_id"}),
    "DetachInternetGateway": _on_gateway(attributes={"VpcId": _no_vpc}),
    "AttachVpnGateway": _on_vpn_gateway(attributes={"VpcId": "vpc_id"}),
    "DetachVpnGateway": _on_vpn_gateway(attributes={"VpcId": _no_vpc}),
    "AssociateRouteTable": Operation(
        resource_type="aws_route_table_association",
        identity={"RouteTableId": "route_table_id", "SubnetId": "subnet_id", "GatewayId": "gateway_id"},
        action=CREATE,
        controls=_REQUEST_CONTROLS,
    ),
    "DisassociateRouteTable": Operation(
        resource_type="aws_route_table_association",
        identity={"AssociationId": "id"},
        action=DELETE,
        controls=_REQUEST_CONTROLS,
    ),
    "CreateRoute": _on_route(action=CREATE),
    "ReplaceRoute": _on_route(defaults=dict.fromkeys(_ROUTE_TARGETS, "")),
    "DeleteRoute": _on_route(action=DELETE),
}
