"""The operations of Step Functions on state machines. The calls of a definition are unpacked in `gateway.effects.proxies.state_machines`."""

from collections.abc import Mapping

from gateway.effects.call_context import CallContext, Target
from gateway.effects.naming import arn
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, controls
from gateway.effects.tags import set_tags, tag_rows
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
    **tag_rows(_MACHINE, {"resourceArn": arn}, tags="tags", keys="tagKeys"),
}
