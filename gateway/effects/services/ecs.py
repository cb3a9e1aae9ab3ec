"""The operations of ECS. A service is identified by its cluster and name; calls and the state may write either of them as an ARN."""

import json
from collections.abc import Mapping
from functools import partial

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext, Target
from gateway.effects.naming import name_or_arn
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, Translate, as_recorded, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.translators import as_json_text, mapped
from gateway.effects.values import NotUnderstood

_SERVICE = "aws_ecs_service"
_CLUSTER = "aws_ecs_cluster"
_TASK = "aws_ecs_task_definition"
_ASSIGN_PUBLIC_IP: Mapping[str, Json] = {"ENABLED": True, "DISABLED": False}


_DEFAULT = "default"
"""The cluster of a call that names none."""


def _cluster_name(context: CallContext, text: str) -> str:
    """The cluster's name, from a name or an ARN; empty if `text` is. Raises `NotUnderstood`."""
    name = name_or_arn("name", "cluster")(context, text)["name"] if text else ""
    if "/" in name:
        raise NotUnderstood("not a valid cluster name")
    return name


def _cluster_and_name(context: CallContext, text: str) -> tuple[str, str]:
    """Cluster and name of a service, from a name or either form of its ARN; the cluster is empty if `text` does not say it."""
    if not text.startswith("arn:"):
        cluster, name = "", text
    else:
        kind, _, rest = context.arn(text).resource.partition("/")
        cluster, _, name = rest.rpartition("/")
        if kind != "service":
            raise NotUnderstood(f"a {kind} where a service is expected")
    if not name or "/" in cluster + name:
        raise NotUnderstood("not a valid service name")
    return cluster, name


def _service(context: CallContext, name: str, cluster: str) -> Target:
    def fits(recorded: Mapping[str, Json]) -> bool:
        try:
            return _cluster_name(context, str(recorded.get("cluster") or _DEFAULT)) == cluster
        except NotUnderstood:
            return False

    return context.target_where(_SERVICE, {"name": name, "cluster": cluster}, "name", fits)


def _of_service(parameter: str, action: EffectAction) -> Operation:
    """A row for the service that `parameter` and `cluster` name."""

    def find_target(context: CallContext) -> Target:
        cluster, name = _cluster_and_name(context, context.text(parameter))
        given = _cluster_name(context, str(context.call.parameters.get("cluster") or ""))
        if cluster and given and cluster != given:
            raise NotUnderstood("a service of another cluster than the call names")
        return _service(context, name, cluster or given or _DEFAULT)

    return Operation(
        resource_type=_SERVICE,
        identity={parameter: "name"},
        find_target=find_target,
        action=action,
        attributes=_ATTRIBUTES,
        overwrites={
            _AWSVPC: {"network_configuration.assign_public_ip": False, "network_configuration.security_groups": []}
        },
        arguments={"force": as_recorded("force_delete")},
        controls=controls("clientToken", "cluster"),
    )


def _tagging(parameter: str, change: Translate) -> Operation:
    """A row that changes the tags of a service or a cluster, whichever the ARN names."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("resourceArn", parameter)
        text = context.text("resourceArn")
        if context.arn(text).resource.startswith("cluster/"):
            target = context.target(_CLUSTER, {"name": _cluster_name(context, text)})
        else:
            cluster, name = _cluster_and_name(context, text)
            if not cluster:
                raise NotUnderstood("the ARN of a service that does not say its cluster")
            target = _service(context, name, cluster)
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
_on_cluster = partial(Operation, resource_type=_CLUSTER, identity={"cluster": name_or_arn("name", "cluster")})


def _compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _family(context: CallContext, text: str) -> dict[str, str]:
    """The family of a task definition, from `family:revision` or an ARN that ends with it."""
    kind, _, name = context.arn(text).resource.partition("/") if text.startswith("arn:") else ("", "", text)
    if kind not in ("", "task-definition") or "/" in name:
        raise NotUnderstood("not a valid task definition")
    return {"family": name.partition(":")[0]}


_REVISION: Mapping[str, Json] = {
    "cpu": "", "enable_fault_injection": False, "ephemeral_storage": [], "execution_role_arn": "",
    "inference_accelerator": [], "ipc_mode": "", "memory": "", "network_mode": "bridge", "pid_mode": "",
    "placement_constraints": [], "proxy_configuration": [], "requires_compatibilities": [], "runtime_platform": [],
    "task_role_arn": "", "volume": [],
}  # fmt: skip
"""Attribute → its value in a new revision of a task definition that omits it (ECS API reference, RegisterTaskDefinition)."""

OPERATIONS: Mapping[str, Operation] = {
    "CreateService": _of_service("serviceName", CREATE),
    "UpdateService": _of_service("service", SET),
    "DeleteService": _of_service("service", DELETE),
    "RegisterTaskDefinition": Operation(
        resource_type=_TASK,
        identity={"family": "family"},
        upserts=True,
        defaults=_REVISION,
        attributes={"containerDefinitions": as_json_text("container_definitions", _compact), "tags": set_tags},
    ),
    "DeregisterTaskDefinition": Operation(resource_type=_TASK, identity={"taskDefinition": _family}, action=INVOKE),
    "CreateCluster": Operation(
        resource_type=_CLUSTER, identity=_NAME, action=CREATE, attributes={"settings": "setting", "tags": set_tags}
    ),
    "UpdateCluster": _on_cluster(attributes={"settings": "setting"}),
    "UpdateClusterSettings": _on_cluster(attributes={"settings": "setting"}),
    "DeleteCluster": _on_cluster(action=DELETE),
    "TagResource": _tagging("tags", set_tags),
    "UntagResource": _tagging("tagKeys", drop_tags),
}
