"""The operations of Elastic Load Balancing (v2). Registering a target is an INVOKE of its group, and creates the attachment that is declared."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import interpret
from gateway.effects.naming import arn
from gateway.effects.operation import CREATE, DELETE, INVOKE, Argument, Operation, Translate, any_value, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.translators import first_of, keyed, mapped
from gateway.effects.values import NotUnderstood

_BALANCER = "aws_lb"
_GROUP = "aws_lb_target_group"
_ATTACHMENT = "aws_lb_target_group_attachment"
_LISTENER = "aws_lb_listener"
_RULE = "aws_lb_listener_rule"
_TYPE_BY_KIND = {"loadbalancer": _BALANCER, "targetgroup": _GROUP, "listener": _LISTENER, "listener-rule": _RULE}

_BALANCER_KEYS = {
    "access_logs.s3.bucket": "access_logs.bucket",
    "access_logs.s3.enabled": "access_logs.enabled",
    "access_logs.s3.prefix": "access_logs.prefix",
    "client_keep_alive.seconds": "client_keep_alive",
    "connection_logs.s3.bucket": "connection_logs.bucket",
    "connection_logs.s3.enabled": "connection_logs.enabled",
    "connection_logs.s3.prefix": "connection_logs.prefix",
    "deletion_protection.enabled": "enable_deletion_protection",
    "dns_record.client_routing_policy": "dns_record_client_routing_policy",
    "idle_timeout.timeout_seconds": "idle_timeout",
    "load_balancing.cross_zone.enabled": "enable_cross_zone_load_balancing",
    "routing.http.desync_mitigation_mode": "desync_mitigation_mode",
    "routing.http.drop_invalid_header_fields.enabled": "drop_invalid_header_fields",
    "routing.http.preserve_host_header.enabled": "preserve_host_header",
    "routing.http.x_amzn_tls_version_and_cipher_suite.enabled": "enable_tls_version_and_cipher_suite_headers",
    "routing.http.xff_client_port.enabled": "enable_xff_client_port",
    "routing.http.xff_header_processing.mode": "xff_header_processing_mode",
    "routing.http2.enabled": "enable_http2",
    "waf.fail_open.enabled": "enable_waf_fail_open",
    "zonal_shift.config.enabled": "enable_zonal_shift",
}
_GROUP_KEYS = {
    "deregistration_delay.connection_termination.enabled": "connection_termination",
    "deregistration_delay.timeout_seconds": "deregistration_delay",
    "lambda.multi_value_headers.enabled": "lambda_multi_value_headers_enabled",
    "load_balancing.algorithm.anomaly_mitigation": "load_balancing_anomaly_mitigation",
    "load_balancing.algorithm.type": "load_balancing_algorithm_type",
    "load_balancing.cross_zone.enabled": "load_balancing_cross_zone_enabled",
    "preserve_client_ip.enabled": "preserve_client_ip",
    "proxy_protocol_v2.enabled": "proxy_protocol_v2",
    "slow_start.duration_seconds": "slow_start",
    "stickiness.app_cookie.cookie_name": "stickiness.cookie_name",
    "stickiness.app_cookie.duration_seconds": "stickiness.cookie_duration",
    "stickiness.enabled": "stickiness.enabled",
    "stickiness.lb_cookie.duration_seconds": "stickiness.cookie_duration",
    "stickiness.type": "stickiness.type",
    **{
        f"target_group_health.{block}.minimum_healthy_targets.{unit}": (
            f"target_group_health.{block}.minimum_healthy_targets_{unit}"
        )
        for block in ("dns_failover", "unhealthy_state_routing")
        for unit in ("count", "percentage")
    },
}


def _actions(parameter: str, attribute: str) -> Mapping[str, str | Translate]:
    forward = f"{attribute}.forward"
    return {
        parameter: attribute,
        f"{parameter}.FixedResponseConfig": f"{attribute}.fixed_response",
        f"{parameter}.ForwardConfig": forward,
        f"{parameter}.ForwardConfig.TargetGroupStickinessConfig": f"{forward}.stickiness",
        f"{parameter}.ForwardConfig.TargetGroupStickinessConfig.DurationSeconds": f"{forward}.stickiness.duration",
        f"{parameter}.ForwardConfig.TargetGroups": f"{forward}.target_group",
        f"{parameter}.ForwardConfig.TargetGroups.TargetGroupArn": f"{forward}.target_group.arn",
        f"{parameter}.RedirectConfig": f"{attribute}.redirect",
    }


def _tagging(parameter: str, change: Translate) -> Operation:
    """A row that changes the tags of several resources, each named by its ARN."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("ResourceArns", parameter)
        arns = context.call.parameters.get("ResourceArns")
        effects: list[Effect] = []
        for text in arns if isinstance(arns, (list, tuple)) else ():
            target = _resource(context, str(text))
            effects += target.put_all(change(target, context.call.parameters.get(parameter)))
        return tuple(effects)

    return Operation(resource_type=_BALANCER, other_types=tuple(_TYPE_BY_KIND.values()), handler=handler)


def _create_in(
    resource_type: str, parent: str, attribute: str, number: str, attributes: Mapping[str, str | Translate]
) -> Operation:
    """A row that creates a resource within its parent, identified by the parent's ARN and a number (port or priority)."""

    def find_target(context: CallContext) -> Target:
        context.arn(context.text(parent))
        identity = {attribute: context.text(parent), number.lower(): str(context.call.parameters.get(number) or "")}
        return context.target(resource_type, identity)

    return Operation(
        resource_type=resource_type,
        identity={parent: attribute},
        find_target=find_target,
        action=CREATE,
        attributes=attributes,
        controls=_FIELD,
    )


def _resource(context: CallContext, text: str) -> Target:
    kind = context.arn(text).resource.partition("/")[0]
    if kind not in _TYPE_BY_KIND:
        raise NotUnderstood(f"tags of a {kind}")
    return context.target(_TYPE_BY_KIND[kind], {"arn": text})


_TARGETS = (
    ("aws_instance", "id"), ("aws_instance", "private_ip"), ("aws_network_interface", "private_ip"),
    ("aws_lambda_function", "arn"), (_BALANCER, "arn"),
)  # fmt: skip
"""Resources that a target group may send requests to: their type, and the attribute by which a target names them."""


def _declared_targets(context: CallContext, _target: Target, value: object) -> Json:
    """The targets. Raises `NotUnderstood` for one that nothing declares: the group would send its requests to a stranger."""
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("targets that are not a list")
    for target in value:
        if not isinstance(target, Mapping) or set(target) - {"Id", "Port"}:
            # An availability zone is given for addresses outside the VPC.
            raise NotUnderstood("a target in an unknown form")
        name = str(target.get("Id") or "")
        if not any(context.inventory.find(resource_type, by, name) for resource_type, by in _TARGETS):
            raise NotUnderstood("a target that nothing declares")
    return to_json(value)


def _switched(action: EffectAction, argument: Argument) -> Operation:
    """A row that registers or deregisters targets: an effect on each attachment that code declares, and an INVOKE of the group.

    If all are declared, the call only implies the INVOKE.
    """
    on_group = _on_group(action=INVOKE, arguments={"Targets": argument})

    def handler(context: CallContext) -> tuple[Effect, ...]:
        group = interpret(on_group, context)
        targets = context.call.parameters.get("Targets")
        named = [
            context.target(_ATTACHMENT, _attachment(context, each))
            for each in (targets if isinstance(targets, (list, tuple)) else ())
        ]
        all_declared = bool(named) and all(target.declared for target in named)
        return (
            *(target.whole(action) for target in named if target.declared),
            *(replace(effect, implied=all_declared) for effect in group),
        )

    return Operation(resource_type=_GROUP, other_types=(_ATTACHMENT,), handler=handler)


def _attachment(context: CallContext, target: Mapping[str, object]) -> dict[str, str]:
    """The identity of the attachment that registers the target."""
    identity = {"target_group_arn": context.text("TargetGroupArn"), "target_id": str(target.get("Id") or "")}
    return {**identity, "port": str(target["Port"])} if target.get("Port") else identity


_SCHEME: Mapping[str, Json] = {"internal": True, "internet-facing": False}
_BALANCER_ATTRIBUTES: Mapping[str, str | Translate] = {
    "Attributes": keyed(_BALANCER_KEYS),
    "Scheme": mapped(_SCHEME, "internal"),
    "Tags": set_tags,
    "Type": "load_balancer_type",
}
_GROUP_ATTRIBUTES: Mapping[str, str | Translate] = {
    "Attributes": keyed(_GROUP_KEYS),
    "HealthCheckEnabled": "health_check.enabled",
    "HealthCheckIntervalSeconds": "health_check.interval",
    "HealthCheckPath": "health_check.path",
    "HealthCheckPort": "health_check.port",
    "HealthCheckProtocol": "health_check.protocol",
    "HealthCheckTimeoutSeconds": "health_check.timeout",
    "HealthyThresholdCount": "health_check.healthy_threshold",
    "Matcher.GrpcCode": "health_check.matcher",
    "Matcher.HttpCode": "health_check.matcher",
    "Tags": set_tags,
    "UnhealthyThresholdCount": "health_check.unhealthy_threshold",
}
_LISTENER_ATTRIBUTES: Mapping[str, str | Translate] = {
    "AlpnPolicy": lambda _target, value: {"alpn_policy": "".join(value) if isinstance(value, list) else None},
    "Certificates": first_of("certificate_arn", "CertificateArn"),
    "Tags": set_tags,
    **_actions("DefaultActions", "default_action"),
}
_FIELD = controls("Conditions.Field")
"""Repeats which of the condition's structures is set."""
_RULE_ATTRIBUTES: Mapping[str, str | Translate] = {
    "Conditions.HostHeaderConfig": "condition.host_header",
    "Conditions.HttpHeaderConfig": "condition.http_header",
    "Conditions.HttpRequestMethodConfig": "condition.http_request_method",
    "Conditions.PathPatternConfig": "condition.path_pattern",
    "Conditions.QueryStringConfig": "condition.query_string",
    "Conditions.SourceIpConfig": "condition.source_ip",
    "Tags": set_tags,
    **_actions("Actions", "action"),
}
_on_balancer = partial(Operation, resource_type=_BALANCER, identity={"LoadBalancerArn": arn})
_on_group = partial(Operation, resource_type=_GROUP, identity={"TargetGroupArn": arn})
_on_listener = partial(Operation, resource_type=_LISTENER, identity={"ListenerArn": arn})
_on_rule = partial(Operation, resource_type=_RULE, identity={"RuleArn": arn})

OPERATIONS: Mapping[str, Operation] = {
    "CreateLoadBalancer": Operation(
        resource_type=_BALANCER, identity={"Name": "name"}, action=CREATE, attributes=_BALANCER_ATTRIBUTES
    ),
    "DeleteLoadBalancer": _on_balancer(action=DELETE),
    "ModifyLoadBalancerAttributes": _on_balancer(attributes=_BALANCER_ATTRIBUTES),
    "SetSecurityGroups": _on_balancer(),
    "SetSubnets": _on_balancer(),
    "SetIpAddressType": _on_balancer(),
    "CreateTargetGroup": Operation(
        resource_type=_GROUP, identity={"Name": "name"}, action=CREATE, attributes=_GROUP_ATTRIBUTES
    ),
    "ModifyTargetGroup": _on_group(attributes=_GROUP_ATTRIBUTES),
    "ModifyTargetGroupAttributes": _on_group(attributes=_GROUP_ATTRIBUTES),
    "DeleteTargetGroup": _on_group(action=DELETE),
    "RegisterTargets": _switched(CREATE, _declared_targets),
    "DeregisterTargets": _switched(DELETE, any_value),
    "CreateListener": _create_in(_LISTENER, "LoadBalancerArn", "load_balancer_arn", "Port", _LISTENER_ATTRIBUTES),
    "ModifyListener": _on_listener(attributes=_LISTENER_ATTRIBUTES),
    "DeleteListener": _on_listener(action=DELETE),
    "CreateRule": _create_in(_RULE, "ListenerArn", "listener_arn", "Priority", _RULE_ATTRIBUTES),
    "ModifyRule": _on_rule(attributes=_RULE_ATTRIBUTES, controls=_FIELD),
    "DeleteRule": _on_rule(action=DELETE),
    "AddTags": _tagging("Tags", set_tags),
    "RemoveTags": _tagging("TagKeys", drop_tags),
}
