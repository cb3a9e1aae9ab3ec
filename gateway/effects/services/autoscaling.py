"""The operations of EC2 Auto Scaling.

`TerminateInstanceInAutoScalingGroup` and `SetInstanceHealth` name only an instance. The state does not record which group an instance
belongs to, so they are not understood. Operations that change the capacity to a value only AWS knows are an INVOKE of the group's
`desired_capacity`.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import attributes
from gateway.effects.operation import (
    CREATE,
    DELETE,
    INVOKE,
    Argument,
    Identify,
    Operation,
    Translate,
    any_value,
    controls,
)
from gateway.effects.translators import added, comma_list, recorded_list, removed
from gateway.effects.values import NotUnderstood

_GROUP = "aws_autoscaling_group"
_TAG, _ATTACHMENT = "aws_autoscaling_group_tag", "aws_autoscaling_attachment"
_CAPACITY = "desired_capacity"
_on_group = partial(Operation, resource_type=_GROUP, identity={"AutoScalingGroupName": "name"})
_PROCESSES = (
    "Launch", "Terminate", "AddToLoadBalancer", "AlarmNotification", "AZRebalance", "HealthCheck", "InstanceRefresh",
    "ReplaceUnhealthy", "ScheduledActions",
)  # fmt: skip


def _tag_blocks(target: Target, value: object) -> Mapping[str, Json]:
    """The group's `tag` blocks, with the tags of the call added or replaced."""
    blocks = {str(tag["key"]): tag for tag in recorded_list(target, "tag") if isinstance(tag, Mapping)}
    for tag in value if isinstance(value, (list, tuple)) else ():
        if set(tag) - {"ResourceId", "ResourceType", "Key", "Value", "PropagateAtLaunch"}:
            raise NotUnderstood("a tag in an unknown form")
        key = str(tag["Key"])
        blocks[key] = {
            "key": key,
            "propagate_at_launch": bool(tag.get("PropagateAtLaunch", False)),
            "value": str(tag.get("Value") or ""),
        }
    return {"tag": list(blocks.values())}


def _tags(context: CallContext) -> tuple[Effect, ...]:
    """CreateOrUpdateTags and DeleteTags, in which every tag names its group."""
    context.allow_only("Tags")
    groups: dict[str, list[Mapping[str, object]]] = {}
    tags = context.call.parameters.get("Tags")
    for tag in tags if isinstance(tags, (list, tuple)) else ():
        if tag.get("ResourceType", "auto-scaling-group") != "auto-scaling-group":
            raise NotUnderstood("tags of another kind of resource than a group")
        groups.setdefault(str(tag.get("ResourceId") or ""), []).append(tag)
    deletes = context.call.operation == "DeleteTags"
    effects: list[Effect] = []
    for name, all_tags in groups.items():
        target = context.target(_GROUP, {"name": name})
        group_tags = []
        for tag in all_tags:
            own = _separate_tag(context, name, str(tag["Key"]))
            if own is None:
                group_tags.append(tag)
            elif deletes:
                effects.append(own.whole(DELETE))
            else:
                effects += _written(own, _tag_blocks(own, [tag]))
        if not group_tags:
            continue
        keys = {str(tag["Key"]) for tag in group_tags}
        kept = [tag for tag in recorded_list(target, "tag") if isinstance(tag, Mapping) and tag.get("key") not in keys]
        value = kept if deletes else _tag_blocks(target, group_tags)["tag"]
        effects.append(target.put("tag", value))
    return tuple(effects)


def _separate_tag(context: CallContext, group: str, key: str) -> Target | None:
    """The resource that declares one tag of a group, if there is one."""
    target = context.target(_TAG, {"autoscaling_group_name": group, "tag.key": key})
    return target if target.declared else None


def _written(target: Target, values: Mapping[str, Json]) -> tuple[Effect, ...]:
    """The effects that give a resource these values, which the state may not have yet."""
    if target.recorded:
        return target.put_all(values)
    effects = (target.whole(CREATE), *target.put_all(values, action=CREATE))
    return tuple(replace(effect, upserted=True) for effect in effects)


def _attach(action: EffectAction) -> Operation:
    """A row that attaches a group to target groups, or detaches it: each by the resource that declares it, else in the group's own list."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("AutoScalingGroupName", "TargetGroupARNs")
        group, arns = context.text("AutoScalingGroupName"), context.call.parameters.get("TargetGroupARNs")
        target, effects, others = context.target(_GROUP, {"name": group}), [], []
        for text in arns if isinstance(arns, (list, tuple)) else ():
            own = context.target(_ATTACHMENT, {"autoscaling_group_name": group, "lb_target_group_arn": str(text)})
            if own.declared:
                effects.append(own.whole(action))
            else:
                others.append(text)
        change = added if action is CREATE else removed
        return (*effects, *(target.put_all(change("target_group_arns")(target, others)) if others else ()))

    return Operation(resource_type=_GROUP, other_types=(_ATTACHMENT,), handler=handler)


def _processes(context: CallContext) -> tuple[Effect, ...]:
    """SuspendProcesses and ResumeProcesses. A call that names no processes means all of them."""
    context.allow_only("AutoScalingGroupName", "ScalingProcesses")
    target = context.target(_GROUP, {"name": context.text("AutoScalingGroupName")})
    named = context.call.parameters.get("ScalingProcesses") or list(_PROCESSES)
    change = added if context.call.operation == "SuspendProcesses" else removed
    return target.put_all(change("suspended_processes")(target, named))


def _policy_name(context: CallContext, text: str) -> Mapping[str, str]:
    """The policy's name; from an ARN, also the name of its group."""
    if not text.startswith("arn:"):
        return {"name": text}
    group, _, name = context.arn(text).resource.partition("autoScalingGroupName/")[2].partition(":policyName/")
    if not group or not name:
        raise NotUnderstood("not the ARN of a scaling policy")
    return {"autoscaling_group_name": group, "name": name}


def _execute_policy(context: CallContext) -> tuple[Effect, ...]:
    """ExecutePolicy changes the capacity of the policy's group to a value that only AWS knows."""
    context.allow_only("AutoScalingGroupName", "PolicyName", "HonorCooldown", "MetricValue", "BreachThreshold")
    given = context.call.parameters.get("AutoScalingGroupName")
    identity = {"autoscaling_group_name": str(given or ""), **_policy_name(context, context.text("PolicyName"))}
    if given and identity["autoscaling_group_name"] != given:
        raise NotUnderstood("a policy of another group than the call names")
    group = identity["autoscaling_group_name"]
    return (
        context.target("aws_autoscaling_policy", identity).whole(INVOKE),
        context.target(_GROUP, {"name": group}).put(_CAPACITY, None, action=INVOKE),
    )


def _refresh(context: CallContext) -> tuple[Effect, ...]:
    """StartInstanceRefresh replaces the instances and sets the desired configuration, if the call has one, on the group."""
    context.allow_only("AutoScalingGroupName", "Strategy", "DesiredConfiguration", "Preferences")
    target = context.target(_GROUP, {"name": context.text("AutoScalingGroupName")})
    wanted = context.call.parameters.get("DesiredConfiguration") or {}
    configured = attributes(_REFRESHED, target, wanted) if isinstance(wanted, Mapping) else ()
    how = {name: to_json(context.call.parameters.get(name)) for name in ("Strategy", "Preferences")}
    asked = {name: value for name, value in how.items() if value is not None}
    return (target.whole(INVOKE, asked or None), *(target.put(name, value) for name, value in configured))


def _declared_instances(context: CallContext, _target: Target, value: object) -> Json:
    """The ids of instances that the state records. Any other one would bring somebody's machine into the group."""
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if not context.inventory.find("aws_instance", "id", str(each)):
            raise NotUnderstood("an instance that nothing declares")
    return to_json(value)


_GROUP_ATTRIBUTES: Mapping[str, str | Translate] = {
    "LaunchConfigurationName": "launch_configuration",
    "LifecycleHookSpecificationList": "initial_lifecycle_hook",
    "LifecycleHookSpecificationList.LifecycleHookName": "initial_lifecycle_hook.name",
    "LifecycleHookSpecificationList.NotificationTargetARN": "initial_lifecycle_hook.notification_target_arn",
    "LifecycleHookSpecificationList.RoleARN": "initial_lifecycle_hook.role_arn",
    "LaunchTemplate.LaunchTemplateId": "launch_template.id",
    "LaunchTemplate.LaunchTemplateName": "launch_template.name",
    "LoadBalancerNames": "load_balancers",
    "NewInstancesProtectedFromScaleIn": "protect_from_scale_in",
    "Tags": _tag_blocks,
    "TargetGroupARNs": "target_group_arns",
    "VPCZoneIdentifier": comma_list("vpc_zone_identifier"),
}
_REFRESHED = Operation(resource_type=_GROUP, attributes=_GROUP_ATTRIBUTES)
_POLICY: Mapping[str, str | Identify] = {"AutoScalingGroupName": "autoscaling_group_name", "PolicyName": _policy_name}
_on_policy = partial(Operation, resource_type="aws_autoscaling_policy", identity=_POLICY)
_SCHEDULE = {"AutoScalingGroupName": "autoscaling_group_name", "ScheduledActionName": "scheduled_action_name"}
_on_schedule = partial(Operation, resource_type="aws_autoscaling_schedule", identity=_SCHEDULE)
_HOOK = {"AutoScalingGroupName": "autoscaling_group_name", "LifecycleHookName": "name"}
_on_hook = partial(Operation, resource_type="aws_autoscaling_lifecycle_hook", identity=_HOOK)


def _invoked(*after_unknown: str, **arguments: Argument) -> Operation:
    return _on_group(action=INVOKE, after_unknown=after_unknown, arguments=arguments)


OPERATIONS: Mapping[str, Operation] = {
    "CreateAutoScalingGroup": _on_group(action=CREATE, attributes=_GROUP_ATTRIBUTES),
    "UpdateAutoScalingGroup": _on_group(
        attributes=_GROUP_ATTRIBUTES, overwrites={"LaunchTemplate": {"launch_template.version": "$Default"}}
    ),
    "SetDesiredCapacity": _on_group(controls=controls("HonorCooldown")),
    "DeleteAutoScalingGroup": _on_group(action=DELETE, arguments={"ForceDelete": any_value}),
    "CreateOrUpdateTags": Operation(resource_type=_GROUP, other_types=(_TAG,), handler=_tags),
    "DeleteTags": Operation(resource_type=_GROUP, other_types=(_TAG,), handler=_tags),
    "SuspendProcesses": Operation(resource_type=_GROUP, handler=_processes),
    "ResumeProcesses": Operation(resource_type=_GROUP, handler=_processes),
    "EnableMetricsCollection": _on_group(
        attributes={"Metrics": added("enabled_metrics"), "Granularity": "metrics_granularity"},
        obliged=frozenset({"Granularity"}),
    ),
    "DisableMetricsCollection": _on_group(
        constants={"enabled_metrics": []}, attributes={"Metrics": removed("enabled_metrics")}
    ),
    "AttachLoadBalancerTargetGroups": _attach(CREATE),
    "DetachLoadBalancerTargetGroups": _attach(DELETE),
    "PutWarmPool": _on_group(
        attributes={
            "InstanceReusePolicy.ReuseOnScaleIn": "warm_pool.instance_reuse_policy.reuse_on_scale_in",
            "MaxGroupPreparedCapacity": "warm_pool.max_group_prepared_capacity",
            "MinSize": "warm_pool.min_size",
            "PoolState": "warm_pool.pool_state",
        }
    ),
    "DeleteWarmPool": _on_group(constants={"warm_pool": []}, controls=controls("ForceDelete")),
    "AttachInstances": _invoked(_CAPACITY, InstanceIds=_declared_instances),
    "DetachInstances": _invoked(_CAPACITY, InstanceIds=any_value, ShouldDecrementDesiredCapacity=any_value),
    "EnterStandby": _invoked(_CAPACITY, InstanceIds=any_value, ShouldDecrementDesiredCapacity=any_value),
    "ExitStandby": _invoked(_CAPACITY, InstanceIds=any_value),
    "StartInstanceRefresh": Operation(resource_type=_GROUP, handler=_refresh),
    "CancelInstanceRefresh": _invoked(WaitForTransitioningInstances=any_value),
    "RollbackInstanceRefresh": _invoked("launch_template"),
    "PutScalingPolicy": _on_policy(
        upserts=True,
        overwrites={"TargetTrackingConfiguration": {"target_tracking_configuration.disable_scale_in": False}},
        attributes={
            "TargetTrackingConfiguration.CustomizedMetricSpecification.Dimensions": (
                "target_tracking_configuration.customized_metric_specification.metric_dimension"
            )
        },
    ),
    "DeletePolicy": _on_policy(action=DELETE),
    "ExecutePolicy": Operation(resource_type=_GROUP, other_types=("aws_autoscaling_policy",), handler=_execute_policy),
    "PutScheduledUpdateGroupAction": _on_schedule(upserts=True, obliged=frozenset()),
    "DeleteScheduledAction": _on_schedule(action=DELETE),
    "PutLifecycleHook": _on_hook(
        upserts=True,
        obliged=frozenset(),
        attributes={"NotificationTargetARN": "notification_target_arn", "RoleARN": "role_arn"},
    ),
    "DeleteLifecycleHook": _on_hook(action=DELETE),
}
