"""Documents that grow, for the tests of how the policies' work grows: each has one thing many times."""

import json
from collections.abc import Callable
from typing import Any

from tests.policies.documents import document, effect

Make = Callable[[int], dict[str, Any]]


def _statements(count: int, **more: Any) -> str:
    return json.dumps(
        {"Statement": [{"Sid": f"s{number}", "Effect": "Allow", "Action": f"sqs:Act{number}*", "Resource": "*", **more} for number in range(count)]}
    )  # fmt: skip


def _actions(count: int) -> str:
    return json.dumps(
        {"Statement": {"Effect": "Allow", "Action": [f"iam:A{number}" for number in range(count)], "Resource": "*"}}
    )


def _trust(count: int) -> str:
    condition = {"StringLike": {"aws:PrincipalArn": [f"arn:aws:iam::*:role/{number}" for number in range(4)]}}
    return json.dumps(
        {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": f"{number:012}"}, "Condition": condition} for number in range(count)]}
    )  # fmt: skip


def _ranges(count: int) -> list[dict[str, Any]]:
    cidrs = [f"8.{number // 256}.{number % 256}.0/24" for number in range(count)]
    return [{"from_port": 22, "to_port": 22, "protocol": "tcp", "cidr_blocks": cidrs, "ipv6_cidr_blocks": []}]


def _rules(count: int) -> list[dict[str, Any]]:
    return [{**_ranges(1)[0], "from_port": port, "to_port": port} for port in range(1000, 1000 + count)]


def _prefixed(count: int) -> list[dict[str, Any]]:
    return [
        {
            "from_port": 22,
            "to_port": 22,
            "protocol": "tcp",
            "prefix_list_ids": [f"pl-{number}" for number in range(count)],
        }
    ]


def _expiring(count: int) -> list[dict[str, Any]]:
    return [{"id": str(number), "status": "Enabled", "expiration": [{"days": number + 1}]} for number in range(count)]


def _singles(count: int) -> list[dict[str, Any]]:
    rule = {"security_group_id": "sg-1", "from_port": 22, "to_port": 22, "ip_protocol": "tcp"}
    return [
        {**effect("aws_vpc_security_group_ingress_rule", "create", attribute, value), "address": f"a.r{number}"}
        for number in range(count)
        for attribute, value in {**rule, "cidr_ipv4": f"8.0.{number % 256}.0/24"}.items()
    ]


GROWING: dict[str, Make] = {
    "statements of a policy": lambda n: document(effect("aws_iam_role_policy", "set", "policy", _statements(n))),
    "actions of a statement": lambda n: document(effect("aws_iam_role_policy", "set", "policy", _actions(n))),
    "statements of a trust policy": lambda n: document(effect("aws_iam_role", "set", "assume_role_policy", _trust(n))),
    "statements of a bucket policy": lambda n: document(
        effect("aws_s3_bucket_policy", "set", "policy", _statements(n, Principal={"AWS": ["*", "999999999999"]}))
    ),
    "ranges of a rule": lambda n: document(effect("aws_security_group", "set", "ingress", _ranges(n))),
    "rules of a group": lambda n: document(effect("aws_security_group", "set", "ingress", _rules(n))),
    "the world by many ranges": lambda n: document(
        effect("aws_security_group", "set", "ingress", [{**_ranges(1)[0], "cidr_blocks": [f"{number % 223}.{number // 223}.0.0/0" for number in range(n)]}])
    ),
    "ranges that are open already": lambda n: document(
        effect("aws_security_group", "set", "ingress", _ranges(n + 1), before=_ranges(n))
    ),
    "prefix lists that are open already": lambda n: document(
        effect("aws_security_group", "set", "ingress", _prefixed(n + 1), before=_prefixed(n))
    ),
    "rules of their own": lambda n: document(*_singles(n)),
    "alarms": lambda n: document(
        *({**effect("aws_cloudwatch_metric_alarm", "set", "actions_enabled", True), "address": f"a.x{number}"} for number in range(n))
    ),
    "deleted stores": lambda n: document(
        *({**effect("aws_dynamodb_table", "delete", "*", None), "address": f"a.x{number}"} for number in range(n))
    ),
    "rules of a lifecycle": lambda n: document(
        effect("aws_s3_bucket_lifecycle_configuration", "set", "rule", _expiring(n))
    ),
    "rules of a lifecycle as before": lambda n: document(
        effect("aws_s3_bucket_lifecycle_configuration", "set", "rule", _expiring(n), before=_expiring(n))
    ),
    "grants of a list": lambda n: document(
        effect("aws_s3_bucket_acl", "set", "access_control_policy.grant", [{"grantee": [{"id": f"id{number}"}], "permission": "READ"} for number in range(n)])
    ),
    "targets": lambda n: document(service="elbv2", operation="RegisterTargets", parameters={"Targets": [{"Id": f"203.0.113.{number}"} for number in range(n)]}),
}  # fmt: skip


STRICT: dict[str, dict[str, Any]] = {
    "regions": {"allowed": ["eu-west-1"]},
    "tags": {"required": ["owner", "cost-centre"], "values": {"stage": ["prod", "dev"]}},
    "instance_families": {"allowed": ["m7g", "t4*"]},
    "freezes": {
        "calendar": [
            {
                "name": f"f{number}", "verdict": "hold", "stacks": ["k*"], "kinds": ["human"], "except_motivations": ["incident"],
                "begins": "1970-01-01T00:00:00Z", "ends": "2200-01-01T00:00:00Z",
            }
            for number in range(4)
        ]
    },
    "costs": {"held_from_cents": {"human": 1}, "hold_unknown": ["human"]},
    "stages": {"entries": [{"rule": f"SEN-Z{number:03}", "stage": "warn"} for number in range(20)] + [{"pack": "tags", "stage": "warn"}]},
}  # fmt: skip
"""Data under which every rule may object: as shipped, some have an empty list."""


def _many(count: int, resource_type: str, action: str, attribute: str, value: Any, **more: Any) -> list[dict[str, Any]]:
    """The same effect on many resources."""
    return [
        {**effect(resource_type, action, attribute, value, **more), "address": f"{resource_type}.x{number}"}
        for number in range(count)
    ]


def _part(count: int, kind: str, **more: Any) -> dict[str, Any]:
    """A part of a class, with many texts."""
    return {"path": "a", "class": kind, "texts": [f"https://t{number}.example" for number in range(count)], "accounts": [], "fresh": [], "declared": False, "named": False, **more}  # fmt: skip


def _machines(count: int) -> list[dict[str, Any]]:
    """New machines, each with an image, and each with a role."""
    image = [{**_part(0, "runs_code"), "path": "ami"}]
    role = [{**_part(0, "hands_role"), "path": "iam_instance_profile"}]
    return [
        {**effect("aws_instance", "create", attribute, "x", parts=parts), "address": f"aws_instance.x{number}"}
        for number in range(count)
        for attribute, parts in (("ami", image), ("iam_instance_profile", role))
    ]


def _inner(count: int) -> dict[str, Any]:
    asked = document(effect("aws_sfn_state_machine", "set", "definition", "x"))
    inner = [
        {"service": "ecs", "operation": f"Do{number}", "class": "mutation", "role": "arn:aws:iam::123456789012:role/r", "understood": True}
        for number in range(count)
    ]  # fmt: skip
    return {**asked, "mutation": {**asked["mutation"], "inner": inner}}


def _elsewhere(count: int, **more: Any) -> dict[str, Any]:
    """A call in a region that is not allowed, with many effects, or from many stacks."""
    asked = document(*_many(count, "aws_x", "set", "size", 4))
    return {**asked, "mutation": {**asked["mutation"], "region": "us-east-1"}, **more}


def _costing(count: int) -> dict[str, Any]:
    unknown = [f"aws_x.x{number}" for number in range(count)]
    cost = {
        "monthly_cents": None,
        "known_cents": 100,
        "unknown": unknown,
        "unknown_count": count,
        "dated": "2026-06-01",
    }
    return {**document(*_many(count, "aws_x", "create", "*", {})), "cost": cost}


def _whole(count: int, resource_type: str = "aws_x") -> list[dict[str, Any]]:
    """Resources of which only is known that a call touches them."""
    names = ["tags", "instance_type", "policy", "ingress", "kms_key_id"]
    return _many(
        count,
        resource_type,
        "set",
        "*",
        None,
        basis="resource",
        may_change=names,
        may_be=["runs_code", "sends_to", "grants"],
    )


def _silent(count: int) -> dict[str, Any]:
    return {**document(*_many(count, "aws_x", "set", "size", 4), kind="agent"), "motive": None}


def _controlled(count: int) -> dict[str, Any]:
    asked = document(effect("aws_x", "set", "size", 4))
    controls = [{"parameter": f"Force{number}", "class": "forces", "as_declared": False} for number in range(count)]
    return {**asked, "mutation": {**asked["mutation"], "controls": controls}}


UNDER_STRICT_DATA: dict[str, Make] = {
    "resources without required tags": lambda n: document(*_many(n, "aws_sqs_queue", "create", "*", {"name": "q"})),
    "resources whose tags are replaced": lambda n: document(
        *_many(n, "aws_sqs_queue", "set", "tags", {"stage": "none"}, before={"owner": "o"})
    ),
    "tags of a resource": lambda n: document(
        effect("aws_sqs_queue", "set", "tags", {f"t{number}": "v" for number in range(n)})
    ),
    "tags one by one": lambda n: document(*(effect("aws_sqs_queue", "set", f"tags.t{number}", "v") for number in range(n))),
    "tags with values that are not listed": lambda n: document(*_many(n, "aws_sqs_queue", "set", "tags.stage", "none")),
    "instances of other families": lambda n: document(*_many(n, "aws_instance", "create", "instance_type", "x9.large")),
    "instances as wholes": lambda n: document(*_many(n, "aws_instance", "create", "*", {"instance_type": "x9.large"})),
    "effects in another region": _elsewhere,
    "stacks in another region": lambda n: _elsewhere(1, stacks=[f"s{number}" for number in range(n)]),
    "stacks in a freeze": lambda n: {**document(effect("aws_x", "set", "size", 4)), "stacks": [f"k{number}" for number in range(n)]},
    "resources without a price": _costing,
    "calls inside a call": _inner,
    "effects without a motive": _silent,
    "wholes": lambda n: document(*_whole(n)),
    "wholes of a type that is counted": lambda n: document(*_whole(n, "aws_instance")),
    "destinations of an attribute": lambda n: document(effect("aws_x", "set", "a", "v", parts=[_part(n, "sends_to")])),
    "destinations of many": lambda n: document(*_many(n, "aws_x", "set", "a", "v", parts=[_part(1, "sends_to")])),
    "accounts of an attribute": lambda n: document(
        effect("aws_x", "set", "a", "v", parts=[_part(0, "grants", accounts=[f"{number:012}" for number in range(n)])])
    ),
    "parts that nobody classified": lambda n: document(
        effect("aws_x", "set", "*", {}, parts=[{**_part(0, "unclassified"), "path": f"a{number}"} for number in range(n)]), kind="agent"
    ),
    "parts that run code": lambda n: document(*_many(n, "aws_lambda_function", "set", "handler", "v", parts=[_part(0, "runs_code")])),
    "variables of an environment": lambda n: document(
        effect("aws_lambda_function", "set", "environment", {}, parts=[_part(0, "environment", texts=[f"LD_{number}" for number in range(n)])]), kind="service"
    ),
    "new machines with roles": lambda n: document(*_machines(n)),
    "findings of a rule that is tried": lambda n: document(*_many(n, "aws_sqs_queue", "create", "*", {"tags": {"stage": "none"}})),
    "controls of a call": _controlled,
}  # fmt: skip


def _contested(count: int, action: str = "set", flips: int = 0, **more: Any) -> dict[str, Any]:
    """Effects on many resources, and a claim on each."""
    attribute = "*" if action == "delete" else "size"
    effects = [{**effect("aws_x", action, attribute, 4), "address": f"aws_x.x{number}"} for number in range(count)]
    claim = {
        "attribute": "size", "value": 6, "actor": "other", "kind": "agent", "intent": "cost", "motivation": "incident", "evidence": ["A-1"],
        "since_ns": 1, "until_ns": None, "until": None, "unsettled": False, "relation": "same", **more,
    }  # fmt: skip
    claims = [{"id": f"clm_{number}", "address": f"aws_x.x{number}", **claim} for number in range(count)]
    return {
        **document(*effects),
        "claims": claims,
        "flips": {f"aws_x.x{number}.size": flips for number in range(count)},
    }


ARBITRATED: dict[str, Make] = {
    "claims of others": _contested,
    "unsettled claims": lambda n: _contested(n, unsettled=True),
    "claims of its own": lambda n: _contested(n, actor="somebody"),
    "claims on parts": lambda n: _contested(n, attribute="size.a.b.c"),
    "claims on other attributes": lambda n: _contested(n, attribute="other"),
    "frozen attributes": lambda n: _contested(n, flips=9),
    "deletions": lambda n: _contested(n, "delete"),
    "deletions of what others depend on": lambda n: _contested(n, "delete", address="aws_y.y", relation="dependant"),
}


def _called(asked: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The document with other members of the mutation."""
    return {**asked, "mutation": {**asked["mutation"], **more}}


def _critical(count: int, attribute: str, value: Any, **more: Any) -> list[dict[str, Any]]:
    contract = {"managed_by_agent": True, "critical": True, "prevent_delete": False, "owner": ""}
    return _many(count, "aws_ecs_service", "set", attribute, value, contract=contract, **more)


def _denying(count: int) -> dict[str, Any]:
    before, after = (
        json.dumps({"Statement": [{"Effect": "Deny", "Action": f"sqs:{name}{number}", "Resource": "*"} for number in range(count)]})
        for name in ("A", "B")
    )  # fmt: skip
    return document(effect("aws_iam_policy", "set", "policy", after, before=before))


def _principals(count: int, principal: Any) -> str:
    return json.dumps(
        {"Statement": [{"Sid": f"s{number}", "Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal} for number in range(count)]}
    )  # fmt: skip


def _alike(service: str, operation: str, kind: str = "agent", **parameters: Any) -> Make:
    """A call about many resources."""
    return lambda n: document(
        *_many(n, "aws_x", "invoke", "*", None), kind=kind, service=service, operation=operation, parameters=parameters
    )


UNDER_STRICT_DATA |= {
    "protections that are removed": lambda n: document(*_many(n, "aws_db_instance", "set", "deletion_protection", False)),
    "calls that destroy": _alike("dynamodb", "DeleteItem"),
    "data that is kept for a day": lambda n: document(*_many(n, "aws_db_instance", "set", "backup_retention_period", 1)),
    "deleted guards": lambda n: document(*_many(n, "aws_backup_plan", "delete", "*", None)),
    "calls that run code": lambda n: _called(_alike("lambda", "Invoke")(n), **{"class": "execute", "effects": _many(n, "aws_x", "set", "a", 1)}),
    "states of alarms": _alike("cloudwatch", "SetAlarmState"),
    "permissions by an agent": lambda n: document(*_many(n, "aws_iam_role", "set", "path", "/"), kind="agent"),
    "administrators": lambda n: document(
        effect("aws_iam_role", "set", "managed_policy_arns", [f"arn:aws:iam::aws:policy/x{number}/AdministratorAccess" for number in range(n)])
    ),
    "policies that cannot be read": lambda n: document(*_many(n, "aws_iam_role_policy", "set", "policy", "x")),
    "statements for everybody": lambda n: document(effect("aws_iam_role", "set", "assume_role_policy", _principals(n, "*"))),
    "statements for a provider": lambda n: document(
        effect("aws_iam_role", "set", "assume_role_policy", _principals(n, {"Federated": "arn:aws:iam::123456789012:oidc-provider/x.example"}))
    ),
    "versions of policies": _alike("iam", "SetDefaultPolicyVersion", "human"),
    "boundaries": lambda n: document(*_many(n, "aws_iam_role", "set", "permissions_boundary", "arn:aws:iam::123456789012:policy/b")),
    "attached policies": lambda n: document(
        *_many(n, "aws_iam_role_policy_attachment", "create", "policy_arn", "arn:aws:iam::123456789012:policy/p")
    ),
    "detached policies": lambda n: document(
        *_many(n, "aws_iam_role_policy_attachment", "delete", "*", None, identity={"policy_arn": "arn:aws:iam::aws:policy/AWSDenyAll"})
    ),
    "statements that deny": _denying,
    "credentials": lambda n: document(*_many(n, "aws_iam_access_key", "create", "*", {})),
    "rules that cannot be read": lambda n: document(*_many(n, "aws_security_group", "set", "ingress", "x")),
    "groups of other accounts": lambda n: document(
        effect("aws_security_group", "set", "ingress", [{**_ranges(0)[0], "security_groups": [f"999999999999/sg-{number}" for number in range(n)]}])
    ),
    "drained resources that are critical": lambda n: _called(
        document(*_critical(n, "size", 4)), service="ec2", operation="RebootInstances"
    ),
    "stopped resources that are critical": lambda n: document(*_critical(n, "desired_count", 0)),
    "hidden messages": _alike("sqs", "ReceiveMessage", VisibilityTimeout=43200),
    "locks": _alike("s3", "PutObject", "human", ObjectLockMode="COMPLIANCE"),
    "controls of a call about critical resources": lambda n: _called(_controlled(n), effects=_critical(n, "size", 4)),
    "friends by an agent": lambda n: document(*_many(n, "aws_x", "set", "a", "v", parts=[_part(1, "grants")]), kind="agent"),
    "accounts of a call": lambda n: _called(_alike("ec2", "DoSomething")(1), accounts=[f"{number:012}" for number in range(n)]),
    "resource policies that cannot be read": lambda n: document(*_many(n, "aws_s3_bucket_policy", "set", "policy", "x")),
    "switches": lambda n: document(*_many(n, "aws_db_instance", "set", "publicly_accessible", True)),
    "deleted shields": lambda n: document(*_many(n, "aws_s3_bucket_public_access_block", "delete", "*", None)),
    "services on behalf of anybody": lambda n: document(
        *_many(n, "aws_lambda_permission", "create", "principal", "events.amazonaws.com")
    ),
    "services on behalf of somebody": lambda n: document(
        *_many(n, "aws_lambda_permission", "create", "principal", "events.amazonaws.com"),
        *_many(n, "aws_lambda_permission", "create", "source_account", "123456789012"),
    ),
}  # fmt: skip
