"""The operations of Step Functions on state machines, and on the tags of activities. The calls of a definition are unpacked in `gateway.effects.proxies.state_machines`."""

from collections.abc import Mapping

from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.naming import arn
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, Translate, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.values import NotUnderstood

_MACHINE = "aws_sfn_state_machine"
_BY_ARN = {"stateMachineArn": arn}


def _declared_machine(context: CallContext) -> Target:
    """The machine that the call runs. Raises `NotUnderstood` if nothing declares it: then nobody knows which calls its definition makes."""
    target = context.target(_MACHINE, arn(context, context.text("stateMachineArn")))
    if not target.declared:
        raise NotUnderstood(
            "no Terraform code declares the state machine, so the calls of its definition are not known"
        )
    return target


_TYPE_BY_KIND = {"stateMachine": (_MACHINE, "arn"), "activity": ("aws_sfn_activity", "id")}
"""The kind in an ARN → the resource type, and its attribute that is the ARN: an activity records it as its id only."""


def _tagging(parameter: str, change: Translate) -> Operation:
    """A row that changes the tags of a machine or an activity, as the ARN says."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("resourceArn", parameter)
        text = context.text("resourceArn")
        kind = context.arn(text).resource.partition(":")[0]
        if kind not in _TYPE_BY_KIND:
            raise NotUnderstood(f"tags of a {kind}")
        resource_type, attribute = _TYPE_BY_KIND[kind]
        target = context.target(resource_type, {attribute: text})
        return target.put_all(change(target, context.call.parameters.get(parameter)))

    return Operation(resource_type=_MACHINE, other_types=("aws_sfn_activity",), handler=handler)


OPERATIONS: Mapping[str, Operation] = {
    "CreateStateMachine": Operation(
        resource_type=_MACHINE,
        identity={"name": "name"},
        action=CREATE,
        attributes={"tags": set_tags},
        controls=controls("versionDescription"),
    ),
    "UpdateStateMachine": Operation(
        resource_type=_MACHINE, identity=_BY_ARN, action=SET, controls=controls("versionDescription")
    ),
    "DeleteStateMachine": Operation(resource_type=_MACHINE, identity=_BY_ARN, action=DELETE),
    "StartExecution": Operation(
        resource_type=_MACHINE,
        identity=_BY_ARN,
        find_target=_declared_machine,
        action=INVOKE,
        controls=controls("name", "traceHeader"),
        content=frozenset({"input"}),
    ),
    "TagResource": _tagging("tags", set_tags),
    "UntagResource": _tagging("tagKeys", drop_tags),
}
