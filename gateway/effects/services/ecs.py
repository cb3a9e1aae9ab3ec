"""The operations of ECS. A service is identified by its cluster and name; calls and the state may write either of them as an ARN."""

import json
from collections.abc import Mapping

from gateway.effects.arguments import as_recorded
from gateway.effects.context import CallContext, Target
from gateway.effects.naming import name_or_arn
from gateway.effects.operation import Operation, Translate, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.translators import as_json_text, mapped
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction

_SERVICE = "aws_ecs_service"
_CLUSTER = "aws_ecs_cluster"
_TASK = "aws_ecs_task_definition"
_ASSIGN_PUBLIC_IP: Mapping[str, Json] = {"ENABLED": True, "DISABLED": False}


def _last(text: str) -> str:
    """The name at the end of an ARN, or the name itself."""
    return text.rpartition("/")[2]


def _service(context: CallContext, name: str, cluster: str) -> Target:
    def fits(recorded: Mapping[str, Json]) -> bool:
        return _last(str(recorded.get("cluster") or "default")) == cluster

    return context.target_where(_SERVICE, {"name": name, "cluster": cluster}, "name", fits)


def _of_service(parameter: str, action: EffectAction) -> Operation:
    """A row for the service that `parameter` and `cluster` name."""

    def find_target(context: CallContext) -> Target:
        name, cluster = context.text(parameter), str(context.call.parameters.get("cluster") or "")
        for text in (name, cluster):
            if text.startswith("arn:"):
                context.arn(text)
        return _service(context, _last(name), _last(cluster or "default"))

    return Operation(
        resource_type=_SERVICE,
        identity={parameter: "name"},
        find_target=find_target,
        action=action,
        attributes=_ATTRIBUTES,
        arguments={"force": as_recorded("force_delete")},
        controls=controls("clientToken", "cluster"),
    )


def _tagging(parameter: str, change: Translate) -> Operation:
    """A row that changes the tags of a service or a cluster, whichever the ARN names."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("resourceArn", parameter)
        kind, _, rest = context.arn(context.text("resourceArn")).resource.partition("/")
        if kind == "cluster":
            target = context.target(_CLUSTER, {"name": rest})
        elif kind == "service" and "/" in rest:
            cluster, name = rest.split("/", 1)
            target = _service(context, name, cluster)
        else:
            raise NotUnderstood(f"tags of a {kind}")
        return target.put_all(change(target, context.call.parameters.get(parameter)))

    return Operation(resource_type=_SERVICE, other_types=(_CLUSTER,), handler=handler)


_AWSVPC = "networkConfiguration.awsvpcConfiguration"
_ATTRIBUTES: Mapping[str, str | Translate] = {
    "deploymentConfiguration.maximumPercent": "deployment_maximum_percent",
    "deploymentConfiguration.minimumHealthyPercent": "deployment_minimum_healthy_percent",
    f"{_AWSVPC}.assignPublicIp": mapped(_ASSIGN_PUBLIC_IP, "network_configuration.assign_public_ip"),
    f"{_AWSVPC}.securityGroups": "network_configuration.security_groups",
    f"{_AWSVPC}.subnets": "network_configuration.subnets",
    "enableECSManagedTags": "enable_ecs_managed_tags",
    "role": "iam_role",
    "tags": set_tags,
}
_NAME = {"clusterName": "name"}
_BY_NAME = {"cluster": name_or_arn("name", "cluster")}


def _compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _family(context: CallContext, text: str) -> dict[str, str]:
    """The family of a task definition, from `family:revision` or an ARN that ends with it."""
    name = context.arn(text).resource.rpartition("/")[2] if text.startswith("arn:") else text
    return {"family": name.partition(":")[0]}


OPERATIONS: Mapping[str, Operation] = {
    "CreateService": _of_service("serviceName", EffectAction.CREATE),
    "UpdateService": _of_service("service", EffectAction.SET),
    "DeleteService": _of_service("service", EffectAction.DELETE),
    "RegisterTaskDefinition": Operation(
        resource_type=_TASK,
        identity={"family": "family"},
        upserts=True,
        attributes={
            "containerDefinitions": as_json_text("container_definitions", _compact),
            "tags": set_tags,
        },
    ),
    "DeregisterTaskDefinition": Operation(
        resource_type=_TASK, identity={"taskDefinition": _family}, action=EffectAction.INVOKE
    ),
    "CreateCluster": Operation(
        resource_type=_CLUSTER,
        identity=_NAME,
        action=EffectAction.CREATE,
        attributes={"settings": "setting", "tags": set_tags},
    ),
    "UpdateCluster": Operation(resource_type=_CLUSTER, identity=_BY_NAME, attributes={"settings": "setting"}),
    "UpdateClusterSettings": Operation(resource_type=_CLUSTER, identity=_BY_NAME, attributes={"settings": "setting"}),
    "DeleteCluster": Operation(resource_type=_CLUSTER, identity=_BY_NAME, action=EffectAction.DELETE),
    "TagResource": _tagging("tags", set_tags),
    "UntagResource": _tagging("tagKeys", drop_tags),
}
