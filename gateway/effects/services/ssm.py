"""The operations of Systems Manager on parameters. Those on documents are in `gateway.effects.services.ssm_documents`."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext
from gateway.effects.interpreter import interpret
from gateway.effects.operation import DELETE, Operation, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.translators import ignored_if
from gateway.effects.values import NotUnderstood
from gateway.terraform.secrets import masked_text

_PARAMETER = "aws_ssm_parameter"
_PLAIN_TEXT = frozenset({"String", "StringList"})


def _name(context: CallContext, text: str) -> dict[str, str]:
    """The parameter's name, from a name or an ARN: `parameter/a/b` is `/a/b`, `parameter/a` is `a`."""
    if not text.startswith("arn:"):
        return {"name": text}
    kind, slash, rest = context.arn(text).resource.partition("/")
    if kind != "parameter" or not rest:
        raise NotUnderstood(f"a {kind} where a parameter is expected")
    path = slash + rest
    return {"name": path if path.count("/") > 1 else path.removeprefix("/")}


_on_parameter = partial(Operation, resource_type=_PARAMETER, identity={"Name": _name})
_PUT = _on_parameter(
    upserts=True,
    obliged=frozenset({"Value", "Type"}),
    attributes={"Tags": set_tags, "Policies": ignored_if("", "[]")},
    controls=controls("Overwrite"),
)


def _put(context: CallContext) -> tuple[Effect, ...]:
    """PutParameter. The provider marks every value as sensitive; the effect carries the value if its type is known to be plain text.

    A connection string with a password is masked in plain text too.
    """
    value = context.text("Value")
    target = context.target(_PARAMETER, _name(context, context.text("Name")))
    kind = context.call.parameters.get("Type") or target.recorded.get("type")
    effects = interpret(_PUT, context)
    if kind not in _PLAIN_TEXT:
        return effects
    attribute = "insecure_value" if target.recorded.get("insecure_value") is not None else "value"
    shown = masked_text(value, context.masker)
    return tuple(
        replace(effect, attribute=attribute, value=shown, judged=None, sensitive=shown != value)
        if effect.attribute == "value"
        else effect
        for effect in effects
    )


def _tagging(parameter: str) -> Operation:
    return Operation(
        resource_type=_PARAMETER,
        identity={"ResourceId": _name},
        attributes={"ResourceType": ignored_if("Parameter"), parameter: set_tags if parameter == "Tags" else drop_tags},
    )


OPERATIONS: Mapping[str, Operation] = {
    "PutParameter": replace(_PUT, handler=_put),
    "DeleteParameter": _on_parameter(action=DELETE),
    "DeleteParameters": Operation(resource_type=_PARAMETER, identity={"Names": _name}, action=DELETE),
    "AddTagsToResource": _tagging("Tags"),
    "RemoveTagsFromResource": _tagging("TagKeys"),
}
