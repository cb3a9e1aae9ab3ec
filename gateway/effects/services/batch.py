"""The operation of Batch that registers a revision of a job definition, whose documents the provider keeps as JSON text."""

import json
from collections.abc import Mapping

from gateway.core.model.json import Json, is_list, to_json
from gateway.effects.call_context import Target
from gateway.effects.operation import Operation, Translate
from gateway.effects.tags import set_tags
from gateway.effects.values import NotUnderstood

_REVISION: Mapping[str, Json] = {
    "container_properties": "", "ecs_properties": "", "node_properties": "", "parameters": {}, "platform_capabilities": [],
    "propagate_tags": False, "retry_strategy": [], "scheduling_priority": None, "timeout": [],
}  # fmt: skip
"""Attribute → its value in a new revision of a job definition that omits it (Batch API reference, RegisterJobDefinition)."""


def _document(attribute: str) -> Translate:
    """The structure as JSON text. Sentinel masks it whole, because people put secrets into it, so policies would not see a role in it."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        if role := _role_in(value):
            raise NotUnderstood(f"a role ({role}) in a document that is masked as a whole")
        return {attribute: json.dumps(to_json(value), separators=(",", ":"), sort_keys=True)}

    return translate


def _role_in(value: object) -> str:
    """The first member at any depth that hands a role to the job; empty if there is none."""
    todo = [value]
    while todo:
        each = todo.pop()
        if isinstance(each, Mapping):
            if named := next((name for name, item in each.items() if "role" in name.lower() and item), ""):
                return named
            todo.extend(each.values())
        elif is_list(each):
            todo.extend(each)
    return ""


OPERATIONS: Mapping[str, Operation] = {
    "RegisterJobDefinition": Operation(
        resource_type="aws_batch_job_definition",
        identity={"jobDefinitionName": "name"},
        upserts=True,
        defaults=_REVISION,
        attributes={
            "containerProperties": _document("container_properties"),
            "ecsProperties": _document("ecs_properties"),
            "nodeProperties": _document("node_properties"),
            "retryStrategy.evaluateOnExit": "retry_strategy.evaluate_on_exit",
            "tags": set_tags,
        },
    )
}
