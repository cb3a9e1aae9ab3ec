"""Reads the resource that a call created: its type, the id to import it by, and the attributes that the call gave.

One function a call. A call is a CloudTrail record; member names are those of CloudTrail, which differ from the API's for EC2 and S3.
What else the resource has is read by the import, so only what a block must have is given here.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.core.model.json import Json
from reconciler.terraform.plain_settings import is_plain_setting

Call = Mapping[str, Any]
"""A CloudTrail record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A resource that a call created outside of Terraform."""

    resource_type: str
    import_id: str
    attributes: Mapping[str, Json]
    """The arguments that its block must have. A list of maps is written as blocks, a map in `json` as `jsonencode`."""
    name: str
    """Its name for people; for a resource that belongs to another, the attributes that distinguish it from others of the same owner."""
    parent: str = ""
    """The value by which it names the resource it belongs to; empty if it stands alone."""
    owner: str = ""
    """The address of that resource, where it is known."""
    arn: str = ""
    """Its own ARN; empty if it has none, or that is not known."""
    named_by: Mapping[str, str] = field(default_factory=dict)
    """The attributes by which others name it (`arn`, `id`, `name`), as far as they are known."""


_PART_OF = {
    "aws_s3_bucket_": ("aws_s3_bucket",),
    "aws_iam_role_policy": ("aws_iam_role",),
    "aws_iam_role_policy_attachment": ("aws_iam_role",),
    "aws_route": ("aws_route_table",),
    "aws_lb_listener": ("aws_lb", "aws_alb"),
    "aws_vpc_security_group_": ("aws_security_group",),
    "aws_instance": ("aws_subnet",),
}
"""The types of resources that others belong to, by the type of those others, or by how it begins where that ends with `_`."""


def may_belong(resource_type: str, parent_type: str) -> bool:
    """Whether a resource may belong to one of another type: a function may be named as the role that a policy is attached to."""
    known = [
        types
        for kind, types in _PART_OF.items()
        if resource_type == kind or (kind.endswith("_") and resource_type.startswith(kind))
    ]
    return not known or any(parent_type in types for types in known)


def read_creation(call: Call) -> Created | None:
    """The resource that a call created; None if the call creates none that is known here, or does not name it."""
    source = str(call.get("eventSource") or "").removesuffix(".amazonaws.com")
    read = _CALLS.get(f"{source}:{call.get('eventName')}")
    try:
        return None if read is None else read(call)
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def _asked(call: Call, *names: str) -> Any:
    """The first of the named request parameters that is there. Raises KeyError."""
    return _first(call.get("requestParameters") or {}, names)


def _answered(call: Call, *names: str) -> Any:
    return _first(call.get("responseElements") or {}, names)


def _first(table: Mapping[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        if table.get(name) not in (None, ""):
            return table[name]
    raise KeyError(names[0])


def _rows(value: Any) -> list[Any]:
    """A list, which CloudTrail wraps in `items` for EC2."""
    return list(value["items"]) if isinstance(value, Mapping) else list(value)


def _queue(call: Call) -> Created:
    name = str(_asked(call, "queueName"))
    tags = (call.get("requestParameters") or {}).get("tags") or {}
    return Created(
        resource_type="aws_sqs_queue",
        import_id=str(_answered(call, "queueUrl")),
        attributes={"name": name, **({"tags": tags} if tags else {})},
        name=name,
    )


def _topic(call: Call) -> Created:
    name = str(_asked(call, "name"))
    return Created(
        resource_type="aws_sns_topic", import_id=str(_answered(call, "topicArn")), attributes={"name": name}, name=name
    )


def _log_group(call: Call) -> Created:
    name = str(_asked(call, "logGroupName"))
    return Created(resource_type="aws_cloudwatch_log_group", import_id=name, attributes={"name": name}, name=name)


def _parameter(call: Call) -> Created | None:
    name, kind = str(_asked(call, "name")), str(_asked(call, "type"))
    attributes: dict[str, Json] = {"name": name, "type": kind, "value": str(_asked(call, "value"))}
    if not is_plain_setting("aws_ssm_parameter", ["value"], attributes["value"], attributes):
        return None  # it is or may be a secret, or CloudTrail does not say it, and stays out of code
    return Created(resource_type="aws_ssm_parameter", import_id=name, attributes=attributes, name=name)


def _bucket(call: Call) -> Created:
    name = str(_asked(call, "bucketName", "bucket"))
    return Created(resource_type="aws_s3_bucket", import_id=name, attributes={"bucket": name}, name=name)


def _of_bucket(resource_type: str, read: Callable[[Call], Mapping[str, Json]]) -> Callable[[Call], Created]:
    def created(call: Call) -> Created:
        name = str(_asked(call, "bucketName", "bucket"))
        attributes = {"bucket": name, **read(call)}
        return Created(resource_type=resource_type, import_id=name, attributes=attributes, name="", parent=name)

    return created


def _versioning(call: Call) -> Mapping[str, Json]:
    status = _first(_asked(call, "VersioningConfiguration", "versioningConfiguration"), ("Status", "status"))
    return {"versioning_configuration": [{"status": str(status)}]}


def _encryption(call: Call) -> Mapping[str, Json]:
    asked = _asked(call, "ServerSideEncryptionConfiguration", "serverSideEncryptionConfiguration")
    rules: list[Json] = []
    for rule in _listed(_first(asked, ("Rule", "Rules", "rules"))):
        default = _first(rule, ("ApplyServerSideEncryptionByDefault", "applyServerSideEncryptionByDefault"))
        inner: dict[str, Json] = {"sse_algorithm": str(_first(default, ("SSEAlgorithm", "sSEAlgorithm")))}
        if key := default.get("KMSMasterKeyID") or default.get("kMSMasterKeyID"):
            inner["kms_master_key_id"] = str(key)
        rules.append({"apply_server_side_encryption_by_default": [inner]})
    return {"rule": rules}


def _bucket_policy(call: Call) -> Mapping[str, Json]:
    return {"policy": _policy(_asked(call, "bucketPolicy", "policy"))}


def _lifecycle(call: Call) -> Mapping[str, Json]:
    asked = _asked(call, "LifecycleConfiguration", "lifecycleConfiguration")
    rules: list[Json] = []
    for rule in _listed(_first(asked, ("Rule", "Rules", "rules"))):
        known = {name[:1].lower() + name[1:]: value for name, value in rule.items()}
        own: dict[str, Json] = {"id": str(known["iD"]), "status": str(known["status"])}
        where = {name[:1].lower() + name[1:]: value for name, value in (known.get("filter") or {}).items()}
        if set(where) - {"prefix"} or set(known) - {"iD", "status", "filter", "prefix", "expiration"}:
            raise ValueError("a rule that is not written here")
        own["filter"] = [{"prefix": str(where.get("prefix", known.get("prefix", "")))}]
        days = {name[:1].lower() + name[1:]: value for name, value in (known.get("expiration") or {}).items()}
        own["expiration"] = [{"days": int(days["days"])}]
        rules.append(own)
    return {"rule": rules}


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _policy(value: Any) -> Json:
    return {"json": json.loads(value) if isinstance(value, str) else value}


def _role_policy(call: Call) -> Created:
    role, name = str(_asked(call, "roleName")), str(_asked(call, "policyName"))
    return Created(
        resource_type="aws_iam_role_policy",
        import_id=f"{role}:{name}",
        attributes={"name": name, "role": role, "policy": _policy(_asked(call, "policyDocument"))},
        name=name,
        parent=role,
    )


def _attachment(call: Call) -> Created:
    role, policy = str(_asked(call, "roleName")), str(_asked(call, "policyArn"))
    return Created(
        resource_type="aws_iam_role_policy_attachment",
        import_id=f"{role}/{policy}",
        attributes={"role": role, "policy_arn": policy},
        name=policy.rpartition("/")[2],
        parent=role,
    )


def _route(call: Call) -> Created:
    table = str(_asked(call, "routeTableId"))
    where = str(_asked(call, "destinationCidrBlock"))
    asked = call.get("requestParameters") or {}
    through = {own: str(asked[name]) for name, own in _ROUTES.items() if asked.get(name)}
    return Created(
        resource_type="aws_route",
        import_id=f"{table}_{where}",
        attributes={"route_table_id": table, "destination_cidr_block": where, **through},
        name=where,
        parent=table,
    )


_ROUTES = {
    "gatewayId": "gateway_id",
    "natGatewayId": "nat_gateway_id",
    "transitGatewayId": "transit_gateway_id",
    "vpcPeeringConnectionId": "vpc_peering_connection_id",
    "networkInterfaceId": "network_interface_id",
}


def _listener(call: Call) -> Created:
    balancer, port = str(_asked(call, "loadBalancerArn")), int(_asked(call, "port"))
    actions: list[Json] = [
        {"type": str(_first(each, ("type",))), "target_group_arn": str(_first(each, ("targetGroupArn",)))}
        for each in _rows(_asked(call, "defaultActions"))
    ]
    return Created(
        resource_type="aws_lb_listener",
        import_id=str(_rows(_answered(call, "listeners"))[0]["listenerArn"]),
        attributes={
            "load_balancer_arn": balancer,
            "port": port,
            "protocol": str(_asked(call, "protocol")),
            "default_action": actions,
        },
        name=str(port),
        parent=balancer,
    )


def _security_group(call: Call) -> Created:
    name = str(_asked(call, "groupName"))
    asked = call.get("requestParameters") or {}
    attributes: dict[str, Json] = {"name": name, "description": str(_asked(call, "groupDescription"))}
    attributes |= {"vpc_id": str(asked["vpcId"])} if asked.get("vpcId") else {}
    return Created(
        resource_type="aws_security_group",
        import_id=str(_answered(call, "groupId")),
        attributes=attributes,
        name=name,
    )


def _instance(call: Call) -> Created:
    (made,) = _rows(_answered(call, "instancesSet", "instances"))
    asked = call.get("requestParameters") or {}
    tags = {str(_first(tag, ("key",))): str(tag.get("value") or "") for tag in _tags(asked)}
    wanted = {"ami": made["imageId"], "instance_type": made["instanceType"], "subnet_id": made.get("subnetId")}
    return Created(
        resource_type="aws_instance",
        import_id=str(made["instanceId"]),
        attributes={**{name: value for name, value in wanted.items() if value}, **({"tags": tags} if tags else {})},
        name=tags.get("Name", str(made["instanceId"])),
        parent=str(made.get("subnetId") or ""),
    )


def _tags(asked: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for one in _rows(asked.get("tagSpecificationSet") or asked.get("tagSpecifications") or []):
        if one.get("resourceType") == "instance":
            yield from _rows(one.get("tags") or [])


def _rule(resource_type: str) -> Callable[[Call], Created | None]:
    def created(call: Call) -> Created | None:
        rules = _rows(_answered(call, "securityGroupRuleSet", "securityGroupRules"))
        permissions = _rows(_asked(call, "ipPermissions"))
        if len(rules) != 1 or len(permissions) != 1:
            return None  # which id belongs to which rule is not certain
        (one,) = permissions
        ranges = _rows(one.get("ipRanges") or [])
        if len(ranges) != 1:
            return None
        group = str(_asked(call, "groupId"))
        attributes: dict[str, Json] = {"security_group_id": group, "ip_protocol": str(one["ipProtocol"])}
        if one.get("fromPort") is not None:
            attributes |= {"from_port": int(one["fromPort"]), "to_port": int(one["toPort"])}
        attributes["cidr_ipv4"] = str(ranges[0]["cidrIp"])
        if about := ranges[0].get("description"):
            attributes["description"] = str(about)
        return Created(
            resource_type=resource_type,
            import_id=str(rules[0]["securityGroupRuleId"]),
            attributes=attributes,
            name=str(attributes.get("from_port", "all")),
            parent=group,
        )

    return created


_CALLS: Mapping[str, Callable[[Call], Created | None]] = {
    "sqs:CreateQueue": _queue,
    "sns:CreateTopic": _topic,
    "logs:CreateLogGroup": _log_group,
    "ssm:PutParameter": _parameter,
    "s3:CreateBucket": _bucket,
    "s3:PutBucketVersioning": _of_bucket("aws_s3_bucket_versioning", _versioning),
    "s3:PutBucketEncryption": _of_bucket("aws_s3_bucket_server_side_encryption_configuration", _encryption),
    "s3:PutBucketPolicy": _of_bucket("aws_s3_bucket_policy", _bucket_policy),
    "s3:PutBucketLifecycle": _of_bucket("aws_s3_bucket_lifecycle_configuration", _lifecycle),
    "s3:PutBucketLifecycleConfiguration": _of_bucket("aws_s3_bucket_lifecycle_configuration", _lifecycle),
    "iam:PutRolePolicy": _role_policy,
    "iam:AttachRolePolicy": _attachment,
    "ec2:CreateRoute": _route,
    "ec2:CreateSecurityGroup": _security_group,
    "ec2:RunInstances": _instance,
    "ec2:AuthorizeSecurityGroupIngress": _rule("aws_vpc_security_group_ingress_rule"),
    "ec2:AuthorizeSecurityGroupEgress": _rule("aws_vpc_security_group_egress_rule"),
    "elasticloadbalancing:CreateListener": _listener,
}
